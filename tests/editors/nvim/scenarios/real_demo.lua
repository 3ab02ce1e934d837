-- The steps in the README: the folder that `demo --keep` left is opened and started, without a key and without a
-- question; lenses and code actions work like `:Ralph`.

local Editor = require('editor')
local support = require('support')

local server = vim.env.RALPH_TEST_SERVER

local function start(lua)
  local folder = support.temp .. '/demo'
  local made = vim.system({ server, 'demo', '--keep', folder }, { text = true }):wait(120000)
  support.same(0, made.code, 'exit of the demo')
  local editor = Editor.start({ folder = folder, file = 'PROMPT.md', server = server, lua = lua })
  editor:wait_statusline('^Ralph')
  return editor, folder
end

--- Runs the lens on the first line whose title contains a text.
local function run_lens(editor, title)
  editor:wait(
    'the lens ' .. title,
    [[
      local lenses = vim.lsp.codelens.get(vim.lsp.codelens.enable and { bufnr = 0 } or 0)
      for _, it in ipairs(lenses or {}) do
        local lens = it.lens or it
        if lens.command and lens.command.title:find(..., 1, true) then
          vim.api.nvim_win_set_cursor(0, { lens.range.start.line + 1, 0 })
          return true
        end
      end
    ]],
    title
  )
  editor:lua('vim.lsp.codelens.run()')
  editor:wait_question('Code lenses')
  editor:answer(title)
end

return {
  run = function()
    local editor, folder = start()
    -- Unsaved, so that it must be saved before it starts.
    editor:lua("vim.api.nvim_buf_set_lines(0, 1, 1, false, { '', 'Be quick.' })")
    run_lens(editor, 'Start loop')
    editor:wait_statusline('Ralph 1/8')
    support.contains(support.read(folder .. '/PROMPT.md'), 'Be quick.')
    editor:ex('Ralph quickfix')
    editor:wait('the quickfix list', "return vim.fn.getqflist({ title = 1 }).title == 'Ralph'")
    support.contains(
      editor:lua('return vim.inspect(vim.tbl_map(function(it) return it.text end, vim.fn.getqflist()))'),
      'The tests pass'
    )
    editor:ex('cclose')
    editor:wait_statusline('Ralph done · 4')
    support.same(
      {},
      vim.tbl_map(function(it)
        return it.prompt
      end, editor:lua('return vim.tbl_map(function(it) return { prompt = it.prompt } end, _G.test.questions)')),
      'questions'
    )

    -- One check, by the lens of its line and by the command.
    editor:ex('edit')
    support.write(folder .. '/README.md', 'nothing\n')
    editor:lua("vim.fn.search('The readme')")
    editor:ex('Ralph check here')
    support.wait('the broken criterion', function()
      for _, it in ipairs(editor:diagnostics('PROMPT.md')) do
        if it.message:find('The readme', 1, true) and it.severity < 4 then
          return true
        end
      end
    end, function()
      return editor:describe()
    end)
    editor:lua([[
      vim.lsp.buf.code_action({
        apply = true,
        filter = function(action) return action.title:find('Show changes', 1, true) ~= nil end,
      })
    ]])
    editor:wait('the diff', 'return vim.wo.diff')
  end,

  -- If lenses are disabled there is none to run.
  control_fails = 'waited for: the lens Start loop',
  control = function()
    local editor = start("require('loopkeeper').setup({ codelens = false })")
    run_lens(editor, 'Start loop')
  end,
}
