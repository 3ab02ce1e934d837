-- A text from a register or a selection becomes a task in a new buffer, which the user writes.

local Project = require('project')
local support = require('support')

local name = 'cart-loses-items.ralph.md'
local issue = '# Cart loses items\n\n## Expected behavior\n\nBoth items stay.\n'

local function has_task(project, editor)
  support.wait('the task made of it', function()
    return (editor:buffer_text(name) or ''):find('- Both items stay.', 1, true)
  end, function()
    return editor:describe()
  end)
  support.same(nil, project:read(name), 'no file before it is written')
end

return {
  run = function()
    local project = Project.new()
    local editor = project:open()
    editor:lua("vim.fn.setreg('\"', ...)", issue)
    editor:ex('Ralph import clipboard')
    has_task(project, editor)
    editor:ex('write')
    support.wait('the file', function()
      return (project:read(name) or ''):find('- Both items stay.', 1, true)
    end, function()
      return editor:describe()
    end)
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
