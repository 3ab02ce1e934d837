-- The buffer that follows the output of a loop's agent and checks. The number and length of its lines are limited; text
-- is inserted as lines and never interpreted.

local client_module = require('loopkeeper.client')
local config = require('loopkeeper.config')
local protocol = require('loopkeeper.protocol')
local ui = require('loopkeeper.ui')

local M = {}

local longest_line = 4000

---@class loopkeeper.Followed
---@field buffer integer
---@field root string
---@field iteration integer

local followed = {} ---@type table<string, loopkeeper.Followed> by loop

---@param client vim.lsp.Client
---@param loop string
---@param on boolean
local function subscribe(client, loop, on)
  client_module.request(client, protocol.requests.subscribe, { loopId = loop, on = on }, function(err)
    if err and on then
      ui.error(err.message)
    end
  end)
end

--- Opens the buffer of a loop and subscribes to its output.
---@param client vim.lsp.Client
---@param loop loopkeeper.LoopStatus
function M.open(client, loop)
  local name = 'loopkeeper://output/' .. loop.id
  local buffer = ui.scratch(name, 'loopkeeper-output')
  if not followed[loop.id] then
    followed[loop.id] = { buffer = buffer, root = client_module.root(client), iteration = -1 }
    vim.bo[buffer].bufhidden = 'wipe'
    vim.api.nvim_create_autocmd('BufUnload', {
      buffer = buffer,
      once = true,
      callback = function()
        M.close(loop.id)
      end,
    })
    subscribe(client, loop.id, true)
  end
  ui.show_below(buffer, config.get().output.height, false)
end

---@param loop string
function M.close(loop)
  local it = followed[loop]
  followed[loop] = nil
  local client = it and client_module.of_root(it.root)
  if client then
    subscribe(client, loop, false)
  end
end

--- A restarted server has no subscriptions.
---@param client vim.lsp.Client
function M.subscribe_again(client)
  for loop, it in pairs(followed) do
    if it.root == client_module.root(client) then
      subscribe(client, loop, true)
    end
  end
end

---@param line string
---@return string[] pieces none of which is too long
local function cut(line)
  local pieces = {}
  for start = 1, math.max(#line, 1), longest_line do
    table.insert(pieces, line:sub(start, start + longest_line - 1))
  end
  return pieces
end

---@param buffer integer
---@param text string
local function append_text(buffer, text)
  local count = vim.api.nvim_buf_line_count(buffer)
  local last = vim.api.nvim_buf_get_lines(buffer, count - 1, count, false)[1] or ''
  local lines = {}
  for _, line in ipairs(ui.lines(last .. text)) do
    vim.list_extend(lines, cut(line))
  end
  ui.set_lines(buffer, count - 1, count, lines)
  local excess = vim.api.nvim_buf_line_count(buffer) - config.get().output.lines
  if excess > 0 then
    ui.set_lines(buffer, 0, excess, {})
  end
end

--- Handler of `loopkeeper/output`.
---@param params loopkeeper.OutputParams
function M.append(params)
  local it = followed[params.loopId]
  if not it or not vim.api.nvim_buf_is_loaded(it.buffer) then
    return
  end
  local following = {}
  for _, window in ipairs(vim.fn.win_findbuf(it.buffer)) do
    if vim.api.nvim_win_get_cursor(window)[1] == vim.api.nvim_buf_line_count(it.buffer) then
      table.insert(following, window)
    end
  end
  if params.iteration ~= it.iteration then
    it.iteration = params.iteration
    local empty = vim.api.nvim_buf_line_count(it.buffer) == 1
    append_text(it.buffer, ('%s── iteration %d ──\n'):format(empty and '' or '\n', params.iteration))
  end
  append_text(it.buffer, params.text)
  for _, window in ipairs(following) do
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(it.buffer), 0 })
  end
end

return M
