-- Shows the changes of one iteration file by file in diff mode, in a separate tab: `]f` and `[f` go to the next and the
-- previous file, `q` closes the tab. It shows copies and never writes a file.

local l10n = require('loopkeeper.l10n')
local ui = require('loopkeeper.ui')

local t = l10n.t

local M = {}

---@class loopkeeper.DiffTab
---@field name string
---@field files loopkeeper.ChangedFile[]
---@field index integer
---@field windows integer[] before and after

---@param tab loopkeeper.DiffTab
---@param side "before"|"after"
---@return integer?
local function side_buffer(tab, side)
  local file = tab.files[tab.index]
  local lines, problem = ui.read(file[side])
  if not lines then
    ui.error(problem or '')
    return
  end
  local buffer = ui.scratch(('loopkeeper://%s/%s/%s'):format(tab.name, side, file.path), '')
  ui.set_lines(buffer, 0, -1, lines)
  vim.bo[buffer].bufhidden = 'hide'
  -- By its name alone, because its content is untrusted.
  vim.bo[buffer].syntax = vim.filetype.match({ filename = file.path, contents = {} }) or ''
  return buffer
end

---@param text string
local function as_statusline(text)
  return (ui.plain(text):gsub('%%', '%%%%'))
end

---@param tab loopkeeper.DiffTab
---@param show fun(tab: loopkeeper.DiffTab)
local function map_keys(tab, buffer, show)
  local function step(by)
    return function()
      tab.index = (tab.index - 1 + by) % #tab.files + 1
      show(tab)
    end
  end
  vim.keymap.set('n', ']f', step(1), { buffer = buffer, desc = l10n.desc(t('next file')) })
  vim.keymap.set('n', '[f', step(-1), { buffer = buffer, desc = l10n.desc(t('previous file')) })
  vim.keymap.set('n', 'q', '<Cmd>tabclose<CR>', { buffer = buffer, desc = l10n.desc(t('close')) })
end

-- The label of a kind of change.
local words = { added = l10n.later('added'), changed = l10n.later('changed'), removed = l10n.later('removed') }

---@param tab loopkeeper.DiffTab
local function show(tab)
  local file = tab.files[tab.index]
  local buffers = { side_buffer(tab, 'before'), side_buffer(tab, 'after') }
  if not (buffers[1] and buffers[2]) then
    return
  end
  for place, window in ipairs(tab.windows) do
    vim.api.nvim_win_call(window, function()
      vim.cmd.diffoff()
      vim.api.nvim_win_set_buf(window, buffers[place])
      vim.cmd.diffthis()
    end)
    local word = place == 1 and t('before') or t('after')
    local kind = t(words[file.kind] or file.kind)
    local bar = (' %s · %s · %s (%d/%d)'):format(word, file.path, kind, tab.index, #tab.files)
    vim.wo[window].winbar = as_statusline(bar)
    map_keys(tab, buffers[place], show)
  end
end

--- Without an iteration: the whole loop. `path`: the file that is shown first.
---@param argument { loopId: string, iteration?: integer, path?: string }
---@param result loopkeeper.CommandResult
function M.open(argument, result)
  if #result.files == 0 then
    local number = argument.iteration
    ui.info(number and t('iteration {number} changed no file.', { number = number }) or t('the loop changed no file.'))
    return
  end
  vim.cmd.tabnew()
  local empty = vim.api.nvim_get_current_buf()
  local before = vim.api.nvim_get_current_win()
  local after = vim.api.nvim_open_win(empty, true, { split = 'right', win = before })
  local name = ('diff/%s/%s'):format(argument.loopId, argument.iteration or 'all')
  local index = 1
  for place, file in ipairs(result.files) do
    index = file.path == argument.path and place or index
  end
  show({ name = name, files = result.files, index = index, windows = { before, after } })
  if vim.api.nvim_buf_is_valid(empty) and vim.fn.bufwinid(empty) == -1 then
    vim.api.nvim_buf_delete(empty, { force = true })
  end
end

return M
