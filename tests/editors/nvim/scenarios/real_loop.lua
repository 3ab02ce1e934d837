-- A complete loop from the user's view: the task is opened, its failing criteria are underlined, the trust question,
-- the counter, *done*; untrusted commands of a folder are never run.

local Project = require('project')
local support = require('support')

local function failing(editor)
  local lines = {}
  for _, it in ipairs(editor:diagnostics('PROMPT.md')) do
    if it.code == 'failing' then
      lines[it.line] = true
    end
  end
  local sorted = vim.tbl_keys(lines)
  table.sort(sorted)
  return sorted
end

local function wait_failing(editor, expected)
  support.wait('failing lines ' .. vim.inspect(expected), function()
    return vim.deep_equal(failing(editor), expected)
  end, function()
    return editor:describe()
  end)
end

local function start()
  local project = Project.new()
  return project, project:open()
end

return {
  run = function()
    local project, editor = start()
    support.same(0, project:n_starts(), 'starts of the agent before anybody asked')
    editor:ex('Ralph! start')
    local question = editor:wait_question('not trusted')
    support.contains(question.prompt, '"Three letters" runs 2 commands you have not trusted yet.')
    support.same({}, project:loops(), 'loops before the answer')
    editor:answer('Trust and start')

    editor:wait_statusline('Ralph 1/9 · 0/3')
    wait_failing(editor, { Project.line.a, Project.line.b, Project.line.c })
    project:agent_does('echo a > a.txt')
    editor:wait_statusline('Ralph 2/9 · 1/3')
    wait_failing(editor, { Project.line.b, Project.line.c })
    project:agent_does('echo hello > b.txt')
    editor:wait_statusline('Ralph 3/9 · 2/3')
    wait_failing(editor, { Project.line.c })
    project:agent_does('echo c > c.txt')
    editor:wait_statusline('Ralph done · 3')
    wait_failing(editor, {})
    editor:wait_message('Completed, verified: all 3 required criteria pass after 3 iterations')

    local counted = {}
    for _, name in ipairs(editor:events()) do
      counted[name] = (counted[name] or 0) + 1
    end
    support.same(1, counted.LoopkeeperLoopStarted, 'LoopStarted')
    support.same(3, counted.LoopkeeperIterationStarted, 'IterationStarted')
    support.same(3, counted.LoopkeeperIterationFinished, 'IterationFinished')
    support.same(1, counted.LoopkeeperLoopFinished, 'LoopFinished')
  end,

  -- An agent that does nothing must not be mistaken for a successful one.
  control_fails = 'waited for: statusline Ralph done',
  control = function()
    local project, editor = start()
    editor:start_trusted()
    project:agent_does('true')
    editor:wait_statusline('Ralph done')
  end,
}
