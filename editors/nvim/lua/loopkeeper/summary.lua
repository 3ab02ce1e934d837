-- `:Ralph summary`: the tree of all loops in a window that stays up to date. Lines are replaced only where they differ,
-- and the cursor stays on its row, so that nothing moves under the user.

local client_module = require('loopkeeper.client')
local config = require('loopkeeper.config')
local status = require('loopkeeper.status')
local store = require('loopkeeper.summary.store')
local ui = require('loopkeeper.ui')

local t = require('loopkeeper.l10n').t

local M = {}

local name = 'loopkeeper://summary'
local namespace = vim.api.nvim_create_namespace('loopkeeper.summary')

local rows = {} ---@type loopkeeper.SummaryRow[] as drawn
local expanded = {} ---@type table<string, boolean>
local shown = {} ---@type table<string, integer>

---@return "ready"|"starting"|"failed"
local function server_state()
  if #status.roots() > 0 then
    return 'ready'
  end
  return #client_module.all() > 0 and 'starting' or 'failed'
end

---@return loopkeeper.SummaryRow[]
local function compute()
  local roots = status.roots()
  local trusted = config.get().trusted and vim.iter(roots):all(function(it)
    return it.params.trusted ~= false
  end)
  return require('loopkeeper.summary.rows').of({
    server = server_state(),
    trusted = trusted,
    roots = roots,
    expanded = expanded,
    histories = store.histories,
    files = store.files,
    shown = shown,
  })
end

---@param row loopkeeper.SummaryRow
---@return string line, { first: integer, last: integer, group: string }[] marks in bytes
local function render(row)
  local arrow = row.expanded and '▾ ' or '▸ '
  if row.expanded == nil then
    -- A running iteration is aligned with those that can be expanded.
    arrow = row.kind == 'iteration' and '  ' or ''
  end
  local indent = ('  '):rep(row.depth)
  local line, marks = indent .. arrow, {}
  if arrow ~= '' then
    table.insert(marks, { first = #indent, last = #line, group = 'LoopkeeperDetail' })
  end
  for _, chunk in ipairs(row.chunks) do
    local text = ui.plain(chunk[1])
    if chunk[2] then
      table.insert(marks, { first = #line, last = #line + #text, group = chunk[2] })
    end
    line = line .. text
  end
  return line, marks
end

--- Replaces the lines from the first to the last that differ.
---@param buffer integer
---@param lines string[]
local function set_changed_lines(buffer, lines)
  local old = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local first = 0
  while first < math.min(#old, #lines) and old[first + 1] == lines[first + 1] do
    first = first + 1
  end
  local same_end = 0
  while same_end < math.min(#old, #lines) - first and old[#old - same_end] == lines[#lines - same_end] do
    same_end = same_end + 1
  end
  if first < #old or first < #lines then
    ui.set_lines(buffer, first, #old - same_end, vim.list_slice(lines, first + 1, #lines - same_end))
  end
end

---@param key? string
---@return integer?
local function line_of(key)
  for index, row in ipairs(rows) do
    if row.key == key then
      return index
    end
  end
end

--- Calls `change`, then moves the cursor and the top line of each window to the rows that they were on.
---@param buffer integer
---@param change fun()
local function with_cursors(buffer, change)
  local views = {}
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local view = vim.api.nvim_win_call(window, vim.fn.winsaveview)
    views[window] = { view = view, key = rows[view.lnum] and rows[view.lnum].key }
  end
  change()
  for window, it in pairs(views) do
    local line = line_of(it.key) or math.min(it.view.lnum, #rows)
    it.view.topline = math.max(1, it.view.topline + line - it.view.lnum)
    it.view.lnum = math.max(1, line)
    vim.api.nvim_win_call(window, function()
      vim.fn.winrestview(it.view)
    end)
  end
end

---@param buffer integer
local function draw(buffer)
  local new, lines, marks = compute(), {}, {}
  for index, row in ipairs(new) do
    lines[index], marks[index] = render(row)
    -- A loop that ends while it is shown does not collapse.
    if row.kind == 'loop' and expanded[row.key] == nil and row.expanded then
      expanded[row.key] = true
    end
  end
  with_cursors(buffer, function()
    rows = new
    set_changed_lines(buffer, lines)
    vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
    for index, of_line in ipairs(marks) do
      for _, mark in ipairs(of_line) do
        local options = { end_col = mark.last, hl_group = mark.group }
        vim.api.nvim_buf_set_extmark(buffer, namespace, index - 1, mark.first, options)
      end
    end
  end)
  store.update(rows, M.refresh)
end

--- Called with every status; does nothing while the buffer is not shown.
function M.refresh()
  local buffer = ui.buffer(name)
  if buffer and vim.fn.win_findbuf(buffer)[1] then
    draw(buffer)
  end
end

--- Without the columns of a document; the row of the cursor is visible, and the keys that most users look for.
---@param window integer
local function set_tree_options(window)
  for option, value in pairs({ number = false, relativenumber = false, cursorline = true }) do
    vim.wo[window][option] = value
  end
  vim.wo[window].signcolumn, vim.wo[window].foldcolumn = 'no', '0'
  vim.wo[window].winbar = ' ' .. t('o output · d changes · a answer · ? all keys')
end

--- Beside the text only where a usual width of text is left.
local function is_below()
  return vim.o.columns < config.get().summary.width + 80
end

---@param buffer integer
local function show(buffer)
  local window, width = vim.fn.bufwinid(buffer), config.get().summary.width
  if window ~= -1 then
    return vim.api.nvim_set_current_win(window)
  end
  if is_below() then
    ui.show_text_below(buffer)
    set_tree_options(vim.fn.bufwinid(buffer))
    return ui.grow(buffer)
  end
  window = vim.api.nvim_open_win(buffer, true, { split = 'right', win = -1, width = width })
  vim.wo[window].winfixwidth = true
  ui.set_text_options(window)
  set_tree_options(window)
end

---@return boolean
function M.has_focus()
  return ui.buffer(name) == vim.api.nvim_get_current_buf()
end

function M.open()
  local client = client_module.current()
  local buffer = ui.buffer(name)
  if not (buffer and vim.api.nvim_buf_is_loaded(buffer)) then
    buffer = ui.scratch(name, 'loopkeeper-summary')
    require('loopkeeper.summary.keys').map(buffer)
  end
  draw(buffer)
  show(buffer)
  if client then
    status.when_known(client, function()
      M.refresh()
      -- It was opened with the entries known before the server answered.
      if is_below() then
        ui.grow(buffer)
      end
    end)
  end
end

---@return loopkeeper.SummaryRow? the row under the cursor
function M.row()
  return rows[vim.api.nvim_win_get_cursor(0)[1]]
end

--- Expands or collapses a row.
---@param row loopkeeper.SummaryRow
---@param value? boolean nil: the opposite
function M.toggle(row, value)
  if value == nil then
    value = not row.expanded
  end
  expanded[row.key] = value
  M.refresh()
end

--- Expands or collapses all loops and iterations.
---@param value boolean
function M.toggle_all(value)
  for _, row in ipairs(rows) do
    if row.expanded ~= nil and row.kind ~= 'group' then
      expanded[row.key] = value
    end
  end
  M.refresh()
end

--- Shows a further page of iterations of a loop.
---@param loop string
function M.show_more(loop)
  local page = require('loopkeeper.summary.rows').page_size
  shown[loop] = (shown[loop] or page) + page
  M.refresh()
end

--- Moves the cursor to the next criterion that does not hold.
---@param by 1|-1
function M.next_failing(by)
  local line = vim.api.nvim_win_get_cursor(0)[1] + by
  while rows[line] do
    local criterion = rows[line].criterion
    if criterion and criterion.status and criterion.status ~= 'pass' and criterion.status ~= 'unverified' then
      return vim.api.nvim_win_set_cursor(0, { line, 0 })
    end
    line = line + by
  end
end

return M
