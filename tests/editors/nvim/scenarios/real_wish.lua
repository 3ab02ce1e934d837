-- A task that is only a wish gets criteria from the first action, and what its grade misses from the second.

local Project = require('project')
local support = require('support')

local function act(editor, title)
  editor:lua(
    [[
      local title = ...
      vim.fn.cursor(1, 1)
      vim.lsp.buf.code_action({
        apply = true,
        filter = function(action) return vim.startswith(action.title, title) end,
      })
    ]],
    title
  )
end

local function text(editor)
  return table.concat(editor:lua('return vim.api.nvim_buf_get_lines(0, 0, -1, false)'), '\n')
end

return {
  run = function()
    local project = Project.new()
    project:file('go.mod', 'module shop\n')
    project:file('PROMPT.md', '# Refactor the export of orders\n\nIt stays as it is.\n')
    local editor = project:open({ file = 'PROMPT.md' })
    support.wait('criteria', function()
      act(editor, 'Write criteria')
      return text(editor):find('All tests pass: `$ go test ./...`', 1, true)
    end)
    support.wait('limits of scope', function()
      act(editor, 'Add what is missing')
      return text(editor):find('## Limits', 1, true)
    end)
  end,
}
