-- A check cannot run on this machine: the loop waits, and continues without it on the command of the user.

local Project = require('project')

local task = [[
# Letters

Write a.

## Done when

- A is there: `exists a.txt`
- The linter has no complaints: `$ no-such-linter a.txt`
]]

local function start()
  local project = Project.new({ task = task })
  local editor = project:open()
  editor:start_trusted()
  editor:wait_statusline('Ralph needs you')
  return project, editor
end

return {
  run = function()
    local project, editor = start()
    editor:ex('Ralph resume anyway')
    project:wait_agent(1, editor)
    project:agent_does('echo a > a.txt')
  end,

  -- Without the word the check is tried again, and is still missing.
  control_fails = 'waited for: start 1 of the agent',
  control = function()
    local project, editor = start()
    editor:ex('Ralph resume')
    project:wait_agent(1, editor)
  end,
}
