-- The summary of real loops in two folders: iterations appear while it is open, a file opens its changes, a criterion
-- its line.

local Project = require('project')
local support = require('support')

local function text_of(editor)
  return editor:buffer_text('loopkeeper://summary') or ''
end

local function wait_text(editor, part)
  support.wait('in the summary: ' .. part, function()
    return text_of(editor):find(part, 1, true)
  end, function()
    return text_of(editor)
  end)
end

local function press(editor, part, keys)
  editor:lua(
    [[
      local part, keys = ...
      vim.api.nvim_set_current_win(vim.fn.bufwinid('loopkeeper://summary'))
      vim.fn.cursor(1, 1)
      assert(vim.fn.search('\\V' .. part, 'wc') > 0, 'no line with ' .. part)
      vim.api.nvim_feedkeys(vim.keycode(keys), 'xt', false)
    ]],
    part,
    keys
  )
end

local function start()
  local first, second = Project.new({ name = 'first' }), Project.new({ name = 'second' })
  local editor = first:open()
  editor:start_trusted()
  first:wait_agent(1, editor)
  editor.folder = second.folder
  editor:edit('PROMPT.md')
  editor:wait('its diagnostics', 'return #vim.diagnostic.get(0) > 0')
  editor:ex('Ralph summary')
  wait_text(editor, 'Working 1\n  ▾ Three letters · iteration 1/9')
  return first, editor
end

return {
  run = function()
    local first, editor = start()
    support.contains(text_of(editor), 'Three letters · iteration 1/9 · 0 of 3 · first')
    support.contains(text_of(editor), '▾ Not started\n  ▾ Three letters')
    wait_text(editor, 'Iteration 1 · at work')
    first:agent_does('echo a > a.txt')
    wait_text(editor, '▸ Iteration 1 · ✓ A is there · 1 file changed (+1 −0)')
    press(editor, '▸ Iteration 1', '<CR>')
    wait_text(editor, '+ a.txt')
    first:agent_does('rm a.txt; echo hello > b.txt')
    wait_text(editor, '▸ Iteration 2 · ✓ B says hello · ✗ A is there')
    -- What was expanded before is still expanded.
    support.contains(text_of(editor), '▾ Iteration 1')

    press(editor, '+ a.txt', '<CR>')
    editor:wait(
      'the changes',
      "return vim.wo.diff and vim.api.nvim_buf_get_name(0):find('after/a.txt', 1, true) ~= nil"
    )
    editor:lua("vim.api.nvim_feedkeys('q', 'x', false)")
    press(editor, '✗ C is there', '<CR>')
    support.same(
      { vim.uv.fs_realpath(first.folder .. '/PROMPT.md'), Project.line.c },
      { vim.uv.fs_realpath(editor:lua('return vim.api.nvim_buf_get_name(0)')), editor:lua("return vim.fn.line('.')") },
      'the line of the criterion'
    )
    press(editor, '▾ Three letters', 'S')
    wait_text(editor, 'Done 1\n  ▾ Three letters · stopped · 1 of 3')
  end,

  -- Without a change of the agent nothing turns.
  control_fails = 'waited for: in the summary: ▸ Iteration 1 · ✓',
  control = function()
    local first, editor = start()
    first:agent_does('true')
    wait_text(editor, '▸ Iteration 1 · ✓ A is there')
  end,
}
