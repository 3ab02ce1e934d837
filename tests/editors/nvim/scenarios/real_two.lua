-- Two projects in one Neovim: each has its server and its loop, and a command applies to the project of the
-- displayed file.

local Editor = require('editor')
local Project = require('project')
local support = require('support')

--- The loop of a project: the command line lists those of every root.
local function loop_of(project)
  for _, loop in ipairs(project:loops()) do
    if vim.startswith(loop.task.uri, vim.uri_from_fname(project.folder)) then
      return loop
    end
  end
  return { id = 'none', state = 'none' }
end

local function open(editor, project)
  editor.folder = project.folder
  editor:edit('PROMPT.md')
  editor:wait('the lines of ' .. project.folder, "return vim.fn.getline(1) == '# Three letters'")
end

local function start()
  local first, second = Project.new({ name = 'first' }), Project.new({ name = 'second' })
  local editor = Editor.start({ folder = first.folder, server = first.server })
  for _, project in ipairs({ first, second }) do
    open(editor, project)
    editor:wait('its diagnostics', 'return #vim.diagnostic.get(0) > 0')
    editor:start_trusted()
    project:wait_agent(1)
  end
  editor:wait_statusline('^Ralph 2 at work$')
  return editor, first, second
end

return {
  run = function()
    local editor, first, second = start()
    support.same(2, editor:lua('return #vim.lsp.get_clients()'), 'clients')
    open(editor, first)
    editor:ex('Ralph stop!')
    editor:wait_statusline('Ralph 1/9 · 0/3')
    support.same('done', loop_of(first).state, 'the first loop')
    second:agent_does('echo a > a.txt; echo hello > b.txt; echo c > c.txt')
    editor:wait_message('Completed')

    -- From a third folder no project is assumed.
    support.write(support.temp .. '/third/notes.txt', 'notes\n')
    editor.folder = support.temp .. '/third'
    editor:edit('notes.txt')
    editor:ex('Ralph! start')
    support.same(2, #editor:wait_question('Task: ').labels, 'tasks to choose from')

    open(editor, second)
    editor:ex('Ralph log')
    support.wait('the history of the second', function()
      return editor:buffer_text('loopkeeper://log/' .. loop_of(second).id)
    end)
  end,

  -- With one of two stopped they are not two any more.
  control_fails = 'waited for: statusline 2 at work',
  control = function()
    local editor = start()
    editor:ex('Ralph stop!')
    editor:wait_statusline('Ralph 1/9')
    editor:wait_statusline('2 at work')
  end,
}
