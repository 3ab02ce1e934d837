-- Finds places such as `src/a.rs:3:5` in a line of output, and opens them. The output is of agents and checks, so a place
-- never leaves the folder of its task.

local t = require('loopkeeper.l10n').t
local ui = require('loopkeeper.ui')

local M = {}

---@class loopkeeper.Place
---@field first integer its first byte in the line, from 1
---@field last integer
---@field path string relative to the root
---@field line integer from 1
---@field column integer from 1

---@param file string
---@param root string
---@return string? path relative to the root; nil if it is outside
local function relative(file, root)
  local base = root:gsub('/+$', '') .. '/'
  if vim.startswith(file, '/') then
    if not vim.startswith(file, base) then
      return nil
    end
    file = file:sub(#base + 1)
  end
  local parts = {}
  for part in vim.gsplit(file, '/', { plain = true, trimempty = true }) do
    if part == '..' and #parts == 0 then
      return nil
    elseif part == '..' then
      table.remove(parts)
    elseif part ~= '.' and part ~= '' then
      table.insert(parts, part)
    end
  end
  return #parts > 0 and table.concat(parts, '/') or nil
end

--- The places in a line, in their order.
---@param text string
---@param root string absolute path of the task's folder
---@return loopkeeper.Place[]
function M.of(text, root)
  local found, from = {}, 1
  while true do
    local first, last, file, line = text:find('([%w_@.+/%-]+):(%d+)', from)
    if not first then
      return found
    end
    local column = text:match('^:(%d+)', last + 1)
    local stop = column and last + 1 + #column or last
    -- Part of an address or of a time; a name ends with none of these characters.
    local is_part = text:sub(first - 1, first - 1) == ':' or text:find('^[%w_/]', stop + 1) or file:find('[./]$')
    local path = not is_part and file:find('%a') and #line < 8 and not file:find('//') and relative(file, root)
    if path and tonumber(line) > 0 then
      local place = { first = first, last = stop, path = path, line = tonumber(line) }
      place.column = math.max(1, tonumber(column) or 1)
      table.insert(found, place)
    end
    from = stop + 1
  end
end

--- The window that was used last, or another with a file; a new one if there is none.
function M.go_to_file_window()
  local windows = vim.list_extend({ vim.fn.win_getid(vim.fn.winnr('#')) }, vim.api.nvim_tabpage_list_wins(0))
  for _, window in ipairs(windows) do
    local is_file = window ~= 0 and vim.bo[vim.api.nvim_win_get_buf(window)].buftype == ''
    if is_file and vim.api.nvim_win_get_config(window).relative == '' then
      return vim.api.nvim_set_current_win(window)
    end
  end
  vim.cmd.new({ mods = { split = 'topleft' } })
end

---@param path string
---@param root string
---@return string? absolute path of a file below the root
local function existing(path, root)
  local real, base = vim.uv.fs_realpath(root .. '/' .. path), vim.uv.fs_realpath(root)
  local is_inside = real and base and vim.startswith(real, base .. '/')
  return is_inside and (vim.uv.fs_stat(real) or {}).type == 'file' and real or nil
end

--- Opens the place under the cursor, else the first one of its line.
---@param root string absolute path of the task's folder
function M.open_at_cursor(root)
  local column = vim.api.nvim_win_get_cursor(0)[2] + 1
  local places = M.of(vim.api.nvim_get_current_line(), root)
  local place = vim.iter(places):find(function(it)
    return it.first <= column and column <= it.last
  end) or places[1]
  local file = place and existing(place.path, root)
  if not file then
    ui.info(
      place and t('there is no file {path}', { path = place.path })
        or t('no location such as `src/a.rs:3` on this line')
    )
    return
  end
  M.go_to_file_window()
  -- Opens a further window where the buffer has unsaved changes.
  vim.cmd.drop(vim.fn.fnameescape(file))
  local line = math.min(place.line, vim.api.nvim_buf_line_count(0))
  vim.api.nvim_win_set_cursor(0, { line, place.line == line and place.column - 1 or 0 })
end

return M
