-- A workspace with a task and an agent controlled by the scenario: at each start it waits for the scenario's next
-- script and runs it.

local Editor = require('editor')
local support = require('support')

local Project = {}
Project.__index = Project

local agent = [[
#!/bin/sh
# Waits for the script of this start, for five minutes at most.
control=%s
number=1
while ! mkdir "$control/taken-$number" 2>/dev/null; do number=$((number + 1)); done
cat > "$control/prompt.new"
mv "$control/prompt.new" "$control/prompt-$number"
echo "agent start $number"
waited=0
while [ ! -e "$control/script-$number" ]; do
  sleep 0.05
  waited=$((waited + 1))
  [ $waited -lt 6000 ] || exit 9
done
. "$control/script-$number"
]]

local task = [[
# Three letters

Write a, b and c.

## Done when

- A is there: `exists a.txt`
- B says hello: `$ grep hello b.txt`
- C is there: `exists c.txt`
]]

local configuration = [[
agent = "scripted"

[limits]
iterations = 9

[agents.scripted]
command = ["%s"]
]]

--- Lines of the criteria in the task.
Project.line = { a = 7, b = 8, c = 9 }

---@param options? { task?: string, name?: string, settings?: string }
function Project.new(options)
  options = options or {}
  local name = options.name or 'work'
  local self = setmetatable({ folder = support.temp .. '/' .. name }, Project)
  self.control = support.temp .. '/control-' .. name
  vim.fn.mkdir(self.control, 'p')
  local program = self.control .. '/agent.sh'
  support.write(program, agent:format(self.control))
  vim.uv.fs_chmod(program, tonumber('755', 8))
  self:file('PROMPT.md', options.task or task)
  self:file('loopkeeper.toml', configuration:format(program) .. (options.settings or ''))
  self.server = vim.env.RALPH_TEST_SERVER
  self.next = 1
  return self
end

--- An editor whose server has read the task.
---@param options? { file?: string, lua?: string }
function Project:open(options)
  options = options or {}
  local file = options.file or 'PROMPT.md'
  local editor = Editor.start({ folder = self.folder, file = file, server = self.server, lua = options.lua })
  editor:wait_statusline('^Ralph')
  return editor
end

---@param path string
---@param text string
function Project:file(path, text)
  support.write(self.folder .. '/' .. path, text)
end

---@param path string
---@return string?
function Project:read(path)
  return support.read(self.folder .. '/' .. path)
end

--- Waits until the agent was started for the number-th time.
---@param number integer
---@param editor? table whose state is reported on failure
function Project:wait_agent(number, editor)
  support.wait(('start %d of the agent'):format(number), function()
    return support.read(('%s/prompt-%d'):format(self.control, number))
  end, editor and function()
    return editor:describe()
  end)
end

--- Sets the agent's script for its next start (or for now, if it is waiting for one).
---@param script string
function Project:agent_does(script)
  support.write(('%s/script-%d'):format(self.control, self.next), script .. '\n')
  self.next = self.next + 1
end

--- Number of starts of the agent.
function Project:n_starts()
  local count = 0
  for name in vim.fs.dir(self.control) do
    count = count + (name:find('^taken%-') and 1 or 0)
  end
  return count
end

--- Pids of the keepers of this scenario's loops, and of the wardens of their agents and checks.
---@return integer[]
function Project.keepers()
  return support.processes(support.temp .. '/loopkeeper/workspaces')
end

--- Waits until no keeper is left: a keeper that has ended its loop holds the tree briefly.
function Project.wait_free()
  support.wait('the tree to be free', function()
    return #Project.keepers() == 0
  end)
end

--- Runs the command line in the workspace.
---@param arguments string[]
---@return vim.SystemCompleted
function Project:cli(arguments)
  return vim.system(vim.list_extend({ self.server }, arguments), { cwd = self.folder, text = true }):wait(60000)
end

--- Loops as shown by the command line.
---@return table[]
function Project:loops()
  local result = self:cli({ 'status', '--json' })
  local ok, status = pcall(vim.json.decode, result.stdout)
  return ok and status.loops or {}
end

return Project
