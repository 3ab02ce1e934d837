-- A loop that needs its user: the breaker opens, the keeper is killed. Reported once, shown until it is resolved,
-- and resolved from the editor.

local Project = require('project')
local support = require('support')

local function start(project)
  local editor = project:open()
  editor:start_trusted()
  editor:wait_statusline('Ralph 1/9')
  return editor
end

local function wait_diagnostic(editor, code)
  support.wait('the diagnostic ' .. code, function()
    return editor:diagnostic('PROMPT.md', code)
  end, function()
    return editor:describe()
  end)
end

local function n_messages(editor, level)
  return #vim.tbl_filter(function(message)
    return message.level >= level
  end, editor:messages())
end

local function breaker(idle)
  local project = Project.new({ settings = '\n[breaker]\nno_progress = 2\nmax_trips = 1\n' })
  local editor = start(project)
  project:agent_does(idle)
  project:agent_does(idle)
  editor:wait_statusline('Ralph breaker open')
  return project, editor
end

return {
  run = function()
    local project, editor = breaker('true')
    wait_diagnostic(editor, 'breaker-open')
    support.same(1, n_messages(editor, vim.log.levels.WARN), 'warnings')
    local names = table.concat(editor:events(), ' ')
    support.contains(names, 'LoopkeeperBreakerChanged')
    support.contains(names, 'LoopkeeperNeedsInput')
    editor:ex('Ralph! start')
    editor:wait('an error', 'return _G.test.messages[#_G.test.messages].level == 4')

    editor:ex('Ralph status')
    editor:answer('Reset')
    project:wait_agent(3, editor)
    editor:wait_statusline('Ralph 3/9')

    -- The keeper is killed immediately, as by a power cut.
    local pid = project:loops()[1].keeper.pid
    vim.uv.kill(pid, 'sigkill')
    wait_diagnostic(editor, 'interrupted')
    editor:wait_statusline('Ralph needs you')
    project:agent_does('true')
    editor:ex('Ralph resume')
    project:agent_does('echo a > a.txt; echo hello > b.txt; echo c > c.txt')
    editor:wait_statusline('Ralph done')
  end,

  -- While the agent makes progress the breaker stays closed.
  control_fails = 'waited for: statusline Ralph breaker open',
  control = function()
    breaker('date +%s%N > note.txt; sleep 1')
  end,
}
