-- Shows messages that do not fit into the command line in a floating window that never has the focus, because Neovim's
-- own `vim.notify` would require a key press. A message stays until its cause is resolved, or until the user continues
-- to work after enough time to read it.

local M = {}

-- Minimum time that a message stays, for users who are typing when it appears.
M.least_ms = 10000

local widest = 76

---@class loopkeeper.FloatMessage
---@field text string one line
---@field alert? loopkeeper.AlertParams the alert that the message belongs to
---@field listed? boolean whether the server's status contained the alert

local messages = {} ---@type loopkeeper.FloatMessage[]
local window, buffer ---@type integer?, integer?
local shown_at = 0

local group = vim.api.nvim_create_augroup('loopkeeper_float', {})

local function hide()
  if window and vim.api.nvim_win_is_valid(window) then
    pcall(vim.api.nvim_win_close, window, true)
  end
  window = nil
  vim.api.nvim_clear_autocmds({ group = group })
end

---@param lines string[]
---@return vim.api.keyset.win_config
local function config(lines)
  local width = 1
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  local below = vim.o.cmdheight + (vim.o.laststatus > 0 and 1 or 0)
  return {
    relative = 'editor',
    anchor = 'SE',
    row = math.max(vim.o.lines - below, 1),
    col = vim.o.columns,
    width = math.max(math.min(width, widest, vim.o.columns - 2), 1),
    height = 1,
    focusable = false,
    style = 'minimal',
    border = 'rounded',
    title = ' Ralph ',
    noautocmd = true,
  }
end

--- Sets the height of the window to that of the text at its width.
---@param new integer
---@param of vim.api.keyset.win_config
local function fit(new, of)
  local height = vim.api.nvim_win_text_height(new, {}).all
  of.height = math.max(math.min(height, vim.o.lines - 6), 1)
  of.noautocmd = nil
  vim.api.nvim_win_set_config(new, of)
end

local function draw()
  hide()
  if #messages == 0 then
    return
  end
  local lines = vim.tbl_map(function(message)
    return message.text
  end, messages)
  if not (buffer and vim.api.nvim_buf_is_valid(buffer)) then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.bo[buffer].undolevels = -1
  end
  require('loopkeeper.ui').set_lines(buffer, 0, -1, lines)
  local size = config(lines)
  -- Neovim cannot always open a window; the command line shows the beginning of the message.
  local opened, new = pcall(vim.api.nvim_open_win, buffer, false, size)
  if not opened then
    return
  end
  window = new
  vim.wo[window].wrap = true
  vim.wo[window].linebreak = true
  fit(window, size)
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI' }, {
    group = group,
    callback = function()
      if vim.uv.now() - shown_at >= M.least_ms then
        M.close()
      end
    end,
  })
  vim.api.nvim_create_autocmd('VimResized', { group = group, callback = draw })
end

---@param alert? loopkeeper.AlertParams
---@param alerts loopkeeper.AlertParams[]
---@return boolean
local function is_listed(alert, alerts)
  return alert ~= nil
    and vim.iter(alerts):any(function(it)
      return it.loopId == alert.loopId and it.message == alert.message
    end)
end

---@param text string one line
---@param alert? loopkeeper.AlertParams
function M.show(text, alert)
  local listed = is_listed(alert, require('loopkeeper.status').alerts())
  table.insert(messages, { text = text, alert = alert, listed = listed })
  shown_at = vim.uv.now()
  draw()
end

function M.close()
  messages = {}
  hide()
end

--- Removes messages whose alert was in the server's status and no longer is.
---@param alerts loopkeeper.AlertParams[]
function M.settle(alerts)
  local before = #messages
  messages = vim.tbl_filter(function(message)
    local listed = is_listed(message.alert, alerts)
    local over = message.listed and not listed
    message.listed = listed
    return not over
  end, messages)
  if #messages < before then
    draw()
  end
end

---@return integer?
function M.window()
  return window
end

return M
