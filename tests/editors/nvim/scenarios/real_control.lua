-- A loop is stopped, paused and steered; a check that the user fixed by hand removes its diagnostic; an iteration is
-- viewed and rolled back.

local Project = require('project')
local support = require('support')

local function start()
  local project = Project.new()
  local editor = project:open()
  editor:trust()
  return project, editor
end

local function stops(project, editor, stop)
  editor:ex('Ralph! start')
  editor:wait_statusline('Ralph 1/9')
  project:wait_agent(1, editor)
  stop()
  editor:wait_statusline('Ralph stopped at 1/9')
end

return {
  run = function()
    local project, editor = start()
    stops(project, editor, function()
      editor:ex('Ralph stop!')
    end)

    -- Fixed by hand.
    project.wait_free()
    support.wait('a failing criterion', function()
      return editor:diagnostic('PROMPT.md', 'failing')
    end)
    project:file('a.txt', 'a\n')
    project:file('b.txt', 'hello\n')
    editor:ex('Ralph check')
    support.wait('only c to fail', function()
      local lines = {}
      for _, it in ipairs(editor:diagnostics('PROMPT.md')) do
        if it.code == 'failing' then
          table.insert(lines, it.line)
        end
      end
      return vim.deep_equal(lines, { Project.line.c })
    end, function()
      return editor:describe()
    end)

    project.wait_free()
    -- A second loop: paused after its first iteration, steered, resumed, stopped after its second.
    project.next = 2
    editor:ex('Ralph! start')
    project:wait_agent(2, editor)
    -- The agent may be faster than the notification of its start.
    editor:wait_statusline('^Ralph 1/9')
    editor:ex('Ralph pause')
    editor:wait_message('The loop pauses after this iteration (1).')
    editor:ex('Ralph steer mind the gap')
    editor:wait_message('passes the text on in iteration 2')
    project:agent_does('echo one > note.txt')
    editor:wait_statusline('Ralph paused 1/9')
    editor:ex('Ralph resume')
    project:wait_agent(3, editor)
    support.contains(support.read(project.control .. '/prompt-3'), 'mind the gap')
    editor:ex('Ralph stop')
    editor:wait_message('The loop stops after this iteration (2).')
    project:agent_does('echo two > note.txt; echo more > more.txt')
    editor:wait_statusline('Ralph stopped at 2/9')

    editor:ex('Ralph diff 2')
    editor:wait('the diff', 'return vim.wo.diff and #vim.api.nvim_tabpage_list_wins(0) == 2')
    editor:wait(
      'both files',
      [[
      local bar = vim.wo.winbar
      return bar:find('(1/2)', 1, true) ~= nil
    ]]
    )
    editor:lua("vim.api.nvim_feedkeys(']f', 'x', false)")
    support.wait('the note before and after', function()
      return editor:buffer_text('/before/note.txt') == 'one' and editor:buffer_text('/after/note.txt') == 'two'
    end)
    editor:ex('tabclose')

    editor:edit('note.txt')
    editor:ex('Ralph rollback 1')
    editor:wait_question('Roll the files back to iteration 1?')
    support.same('two\n', project:read('note.txt'), 'note, before the answer')
    editor:answer('Yes (1 written, 1 removed; ')
    editor:wait_message('files are as they were after iteration 1: 1 written, 1 removed.')
    editor:wait_statusline('Ralph rolled back · 2')
    support.same('one\n', project:read('note.txt'), 'note')
    support.same(nil, project:read('more.txt'), 'what came later')
    -- Nothing was edited in between, so there is no question.
    editor:ex('Ralph rollback undo')
    editor:wait_message('the rollback is undone: 2 written, 0 removed.')
    support.same('two\n', project:read('note.txt'), 'note')
    support.same('more\n', project:read('more.txt'), 'what came later')
    -- Later changes of the user are only overwritten after a question.
    project:file('note.txt', 'mine\n')
    editor:ex('Ralph rollback undo')
    editor:wait_question('Undo the last rollback?')
    editor:answer('changed since the last snapshot: note.txt')
    editor:wait_message('the rollback is undone: 1 written, 1 removed.')
    support.same('one\n', project:read('note.txt'), 'note')
    support.same(nil, project:read('more.txt'), 'what came later')
    editor:wait('the buffer', "return vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == 'one'")

    editor:ex('Ralph log')
    support.wait('the history', function()
      return editor:buffer_text('loopkeeper://log')
    end)
    editor:ex('Ralph output 1')
    support.wait('the output', function()
      return (editor:buffer_text('-0001.txt') or ''):find('agent start', 1, true)
    end, function()
      return editor:describe()
    end)
  end,

  -- A loop that was not stopped must not be mistaken for a stopped one.
  control_fails = 'waited for: statusline Ralph stopped at 1/9',
  control = function()
    local project, editor = start()
    stops(project, editor, function() end)
  end,
}
