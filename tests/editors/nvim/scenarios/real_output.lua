-- The output of a real loop: what was printed before the first look, results of checks and hints in their places, colours,
-- places that open, and all of it after the end.

local Project = require('project')
local support = require('support')

local function start()
  local project = Project.new()
  local editor = project:open()
  editor:start_trusted()
  project:wait_agent(1, editor)
  editor:wait_statusline('Ralph 1/9')
  return project, editor
end

local function text(editor)
  return editor:buffer_text('loopkeeper://output') or ''
end

local function wait_text(editor, part)
  support.wait('in the output: ' .. part, function()
    return text(editor):find(part, 1, true)
  end, function()
    return text(editor)
  end)
end

--- Each part is after the one before it.
local function in_order(whole, parts)
  local from = 1
  for _, part in ipairs(parts) do
    local _, last = whole:find(part, from, true)
    if not last then
      error(('expected %q next in:\n%s'):format(part, whole:sub(from)), 0)
    end
    from = last + 1
  end
end

local everything = {
  'Three letters',
  'Checks before iteration 1: ',
  '── Iteration 1 ──',
  'agent start 1',
  'a colourful word',
  '» You: mind the gap (sent, read at iteration 2)',
  'Checks: 1 of 3 pass',
  '✓ A is there',
  '✗ C is there: c.txt does not exist',
  '── Iteration 2 ──',
  'look at a.txt:1',
  'Completed, verified',
}

return {
  run = function()
    local project, editor = start()
    editor:ex('Ralph steer mind the gap')
    editor:wait_message('passes the text on in iteration 2')
    project:agent_does('echo "a \27[31mcolourful\27[0m word"; echo a > a.txt')
    project:wait_agent(2, editor)

    -- The first look, in the second iteration.
    editor:ex('Ralph output')
    wait_text(editor, 'agent start 2')
    in_order(text(editor), vim.list_slice(everything, 1, 10))
    local group = editor:lua([[
      local buffer = vim.fn.bufnr('loopkeeper://output')
      local space = vim.api.nvim_get_namespaces()['loopkeeper.output']
      for row, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
        if line:find('colourful', 1, true) then
          local first, last = { row - 1, 0 }, { row - 1, -1 }
          local mark = vim.api.nvim_buf_get_extmarks(buffer, space, first, last, { details = true })[1]
          return { mark[3], mark[4].end_col, mark[4].hl_group }
        end
      end
    ]])
    support.same({ 2, 11, 'LoopkeeperAnsi_fg1' }, group, 'the colour')

    project:agent_does('echo "look at a.txt:1"; echo hello > b.txt; echo c > c.txt')
    wait_text(editor, 'Completed, verified')
    in_order(text(editor), everything)
    editor:wait_statusline('Ralph done · 2')
    in_order(text(editor), everything)

    -- The end is followed, and places open beside it.
    local row = editor:lua([[
      local window = vim.fn.bufwinid('loopkeeper://output')
      vim.api.nvim_set_current_win(window)
      return vim.api.nvim_win_get_cursor(window)[1] - vim.api.nvim_buf_line_count(0)
    ]])
    support.same(0, row, 'lines below the cursor')
    editor:lua("vim.fn.search('look at a.txt', 'b')")
    editor:press('gf')
    support.same('a.txt', editor:lua("return vim.fn.expand('%:t')"), 'the file')

    -- A Neovim that is opened later shows the same.
    local later = project:open()
    later:ex('Ralph output')
    wait_text(later, 'Completed, verified')
    in_order(text(later), everything)
  end,

  -- The text of a loop that has not printed it is missing.
  control_fails = 'waited for: in the output: a colourful word',
  control = function()
    local project, editor = start()
    project:agent_does('true')
    editor:ex('Ralph output')
    wait_text(editor, 'a colourful word')
  end,
}
