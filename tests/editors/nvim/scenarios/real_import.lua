-- A text from a register or a selection becomes a task in a new buffer, which the user writes.

local Project = require('project')
local support = require('support')

local name = 'cart-loses-items.ralph.md'
local issue = '# Cart loses items\n\n## Expected behavior\n\nBoth items stay.\n'

return {
  run = function()
    local project = Project.new()
    local editor = project:open()
    editor:lua("vim.fn.setreg('\"', ...)", issue)
    editor:ex('Ralph import clipboard')
    support.unsaved_task(project, editor, name, '- Both items stay.')
    support.write_task(project, editor, name, '- Both items stay.')
    editor:lua("vim.fn.setreg('\"', '')")
    editor:lua("vim.fn.setreg('+', '')")
    editor:ex('Ralph import clipboard')
    editor:wait_message('there is no text in the clipboard')

    project:file('issue.md', issue:gsub('Cart', 'Basket'))
    editor:edit('issue.md')
    editor:ex('normal! ggVG\27')
    editor:ex('Ralph import selection')
    support.wait('the task made of the selection', function()
      return (editor:buffer_text('basket-loses-items.ralph.md') or ''):find('- Both items stay.', 1, true)
    end, function()
      return editor:describe()
    end)
  end,
}
