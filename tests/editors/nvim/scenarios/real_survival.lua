-- The loop is no child of the editor: it outlives Neovim's exit and a killed server, and a later editor sees
-- everything. Two Neovims on one workspace show the same.

local Project = require('project')
local support = require('support')

local function start()
  local project = Project.new()
  local editor = project:open()
  editor:start_trusted()
  editor:wait_statusline('Ralph 1/9')
  project:wait_agent(1)
  return project, editor
end

return {
  run = function()
    local project, first = start()
    local second = project:open()
    second:wait_statusline('Ralph 1/9 · 0/3')

    -- The server is killed while the loop continues.
    local pid = support.wait('the server', function()
      return first:server_pid()
    end)
    vim.uv.kill(pid, 'sigkill')
    project:agent_does('echo a > a.txt')
    second:wait_statusline('Ralph 2/9 · 1/3')
    first:wait_statusline('Ralph 2/9 · 1/3')
    if first:server_pid() == pid then
      error('it is the same server', 0)
    end
    support.wait('the same diagnostics in both', function()
      local mine, theirs = first:diagnostics('PROMPT.md'), second:diagnostics('PROMPT.md')
      return #mine > 0 and vim.deep_equal(mine, theirs)
    end)

    -- Two Neovims end while the agent is working: one is quit and one killed.
    project:wait_agent(2)
    first:quit()
    vim.uv.kill(second.pid, 'sigkill')
    project:agent_does('echo hello > b.txt')
    project:wait_agent(3)

    local third = project:open()
    third:wait_statusline('Ralph 3/9 · 2/3')
    third:ex('Ralph log')
    support.wait('the history', function()
      return third:buffer_text('loopkeeper://log')
    end)
    for _, line in ipairs({
      'start  0 of 3 criteria pass',
      '    1  1 of 3 criteria pass',
      '    2  2 of 3 criteria pass',
    }) do
      support.contains(third:buffer_text('loopkeeper://log'), line)
    end
    project:agent_does('echo c > c.txt')
    third:wait_statusline('Ralph done · 3')
    support.same(1, #project:loops(), 'loops')
  end,

  -- If the keeper itself is killed, the loop does not continue, and this must be detected.
  control_fails = 'waited for: statusline Ralph 2/9 · 1/3',
  control = function()
    local project, editor = start()
    local loop = project:loops()[1]
    vim.uv.kill(loop.keeper.pid, 'sigkill')
    project:agent_does('echo a > a.txt')
    editor:wait_statusline('Ralph 2/9 · 1/3')
  end,
}
