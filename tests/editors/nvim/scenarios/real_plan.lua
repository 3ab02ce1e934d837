-- Plan edits by the user: an item is skipped and moved in the buffer, together with unsaved edits, and written
-- when the user saves.

local Project = require('project')
local support = require('support')

local plan = '# Plan\n\n- [ ] one\n- [x] two\n- [ ] three\n'

local function start(lua)
  local project = Project.new()
  project:file('fix_plan.md', plan)
  return project, project:open({ file = 'fix_plan.md', lua = lua })
end

--- Chooses the action whose title begins like this, on the line that contains a text.
local function act(editor, line, title)
  editor:lua(
    [[
      local line, title = ...
      vim.fn.cursor(1, 1)
      vim.fn.search(line)
      vim.lsp.buf.code_action({
        apply = true,
        filter = function(action) return vim.startswith(action.title, title) end,
      })
    ]],
    line,
    title
  )
end

local function shows(editor, text)
  support.wait('the plan ' .. vim.inspect(text), function()
    return editor:buffer_text('fix_plan.md') == text
  end, function()
    return editor:buffer_text('fix_plan.md') .. editor:describe()
  end)
end

return {
  run = function()
    local project, editor = start()
    editor:wait(
      'the lenses of two open items',
      [[
        local lenses = vim.lsp.codelens.get(vim.lsp.codelens.enable and { bufnr = 0 } or 0)
        local titles = vim.tbl_map(function(it)
          return (it.lens or it).command.title
        end, lenses or {})
        return table.concat(titles, ' ') == 'Skip Raise Lower Skip Raise Lower'
      ]]
    )
    editor:lua("vim.api.nvim_buf_set_lines(0, 2, 2, false, { '- [ ] zero' })")
    act(editor, 'three', 'Skip')
    shows(editor, '# Plan\n\n- [ ] zero\n- [ ] one\n- [x] two\n- [ ] three (optional)')
    support.same(plan, project:read('fix_plan.md'), 'the file before it is written')
    act(editor, 'one', 'Raise')
    shows(editor, '# Plan\n\n- [ ] one\n- [ ] zero\n- [x] two\n- [ ] three (optional)')
    editor:ex('write')
    support.contains(project:read('fix_plan.md'), '- [ ] one\n- [ ] zero\n')
    act(editor, 'three', 'Take up')
    shows(editor, '# Plan\n\n- [ ] one\n- [ ] zero\n- [x] two\n- [ ] three')
    act(editor, 'one', 'Raise')
    editor:wait_message('is already the first open item of its list')
  end,

  -- An editor that ignores the edit shows the old plan.
  control_fails = 'waited for: the plan',
  control = function()
    local _, editor = start("vim.lsp.handlers['workspace/applyEdit'] = function() return { applied = false } end")
    act(editor, 'three', 'Skip')
    shows(editor, '# Plan\n\n- [ ] one\n- [x] two\n- [ ] three (optional)')
  end,
}
