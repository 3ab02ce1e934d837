-- The buffer that shows the events of a loop: the output of its agent with the results of checks and the user's hints
-- in their places. The server writes the text, from the loop's stored history; this module requests the rest when the
-- loop has advanced. The number and length of lines are limited; text is inserted as lines and never interpreted.

local ansi = require('loopkeeper.ansi')
local client_module = require('loopkeeper.client')
local config = require('loopkeeper.config')
local l10n = require('loopkeeper.l10n')
local protocol = require('loopkeeper.protocol')
local ui = require('loopkeeper.ui')

local M = {}

local longest_line = 4000
-- Minimum time between two requests while the agent prints.
local pause_ms = 300
local namespace = vim.api.nvim_create_namespace('loopkeeper.output')

---@class loopkeeper.LoopOutput
---@field id string of the loop
---@field buffer integer
---@field root string of the client
---@field cursor? loopkeeper.TranscriptCursor
---@field seq integer the loop's last record according to the status
---@field is_empty boolean
---@field is_reading boolean
---@field has_news boolean
---@field ended boolean

local shown = {} ---@type table<string, loopkeeper.LoopOutput> by loop

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

---@param text string
---@param spans loopkeeper.AnsiSpan[]
---@return { text: string, spans: loopkeeper.AnsiSpan[] }[] pieces none of which is too long
local function cut(text, spans)
  if #text <= longest_line then
    return { { text = text, spans = spans } }
  end
  local pieces, first = {}, 0
  while first < #text do
    local last = math.min(first + longest_line, #text)
    if last < #text then
      last = last + vim.str_utf_start(text, last + 1)
    end
    local piece = { text = text:sub(first + 1, last), spans = {} }
    for _, span in ipairs(spans) do
      local from, to = math.max(span.first, first), math.min(span.last, last)
      if from < to then
        table.insert(piece.spans, { first = from - first, last = to - first, group = span.group })
      end
    end
    table.insert(pieces, piece)
    first = last
  end
  return pieces
end

---@param buffer integer
---@param most integer
local function drop_oldest(buffer, most)
  local excess = vim.api.nvim_buf_line_count(buffer) - most
  if excess > 0 then
    -- Marks outlive their lines.
    vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, excess)
    ui.set_lines(buffer, 0, excess, {})
  end
end

---@param it loopkeeper.LoopOutput
---@param text string
local function append(it, text)
  local pieces = {}
  for _, line in ipairs(ui.lines((text:gsub('\n$', '')))) do
    vim.list_extend(pieces, cut(ansi.split(line)))
  end
  local most = config.get().output.lines
  pieces = vim.list_slice(pieces, math.max(1, #pieces - most + 1))
  local first = it.is_empty and 0 or vim.api.nvim_buf_line_count(it.buffer)
  ui.set_lines(
    it.buffer,
    first,
    -1,
    vim.tbl_map(function(piece)
      return piece.text
    end, pieces)
  )
  it.is_empty = false
  for index, piece in ipairs(pieces) do
    for _, span in ipairs(piece.spans) do
      local range = { end_col = span.last, hl_group = span.group }
      vim.api.nvim_buf_set_extmark(it.buffer, namespace, first + index - 1, span.first, range)
    end
  end
  drop_oldest(it.buffer, most)
end

--- Appends text; windows whose cursor is on the last line stay there.
---@param it loopkeeper.LoopOutput
---@param text string
local function show_text(it, text)
  local following = vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_cursor(window)[1] == vim.api.nvim_buf_line_count(it.buffer)
  end, vim.fn.win_findbuf(it.buffer))
  append(it, text)
  for _, window in ipairs(following) do
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(it.buffer), 0 })
  end
end

local read

---@param it loopkeeper.LoopOutput
local function refresh(it)
  it.has_news = true
  if not it.is_reading then
    read(it)
  end
end

---@param it loopkeeper.LoopOutput
function read(it)
  local client = client_module.of_root(it.root)
  if not client or it.ended or not vim.api.nvim_buf_is_loaded(it.buffer) then
    it.is_reading = false
    return
  end
  it.is_reading, it.has_news = true, false
  local params = { loopId = it.id, after = it.cursor }
  client_module.request(client, protocol.requests.transcript, params, function(err, result)
    it.is_reading = false
    if err then
      return it.cursor == nil and ui.error(err.message)
    elseif not vim.api.nvim_buf_is_loaded(it.buffer) then
      return
    end
    it.cursor, it.ended = result.cursor, result.ended
    if result.text ~= '' then
      show_text(it, result.text)
    end
    it.is_reading = true
    vim.defer_fn(function()
      it.is_reading = false
      if it.has_news then
        read(it)
      end
    end, pause_ms)
  end)
end

--- The folder of a loop's task.
---@param client vim.lsp.Client
---@param loop loopkeeper.LoopStatus
---@return string
local function folder_of(client, loop)
  local task = vim.iter(require('loopkeeper.status').tasks()):find(function(task)
    return task.uri == loop.task.uri
  end)
  return task and vim.uri_to_fname(task.root) or client_module.root(client)
end

---@param buffer integer
---@param root string
local function map_keys(buffer, root)
  for _, key in ipairs({ 'gf', 'gF', '<CR>', '<2-LeftMouse>' }) do
    vim.keymap.set('n', key, function()
      require('loopkeeper.places').open_at_cursor(root)
    end, { buffer = buffer, nowait = true, desc = l10n.desc(l10n.t('open the location on this line')) })
  end
end

--- Opens the buffer of a loop, and follows the loop if it is open.
---@param client vim.lsp.Client
---@param loop loopkeeper.LoopStatus
function M.open(client, loop)
  local buffer = ui.scratch('loopkeeper://output/' .. loop.id, 'loopkeeper-output')
  if not shown[loop.id] then
    local it = { id = loop.id, buffer = buffer, root = client_module.root(client), seq = loop.seq or 0 }
    it.is_empty, it.is_reading, it.has_news, it.ended = true, false, false, false
    shown[loop.id] = it
    vim.bo[buffer].bufhidden = 'wipe'
    vim.api.nvim_create_autocmd('BufUnload', {
      buffer = buffer,
      once = true,
      callback = function()
        M.close(loop.id)
      end,
    })
    map_keys(buffer, folder_of(client, loop))
    if loop.state ~= 'done' then
      subscribe(client, loop.id, true)
    end
  end
  -- Output printed before the subscription causes no notification.
  refresh(shown[loop.id])
  ui.show_below(buffer, config.get().output.height, false)
end

---@param loop string
function M.close(loop)
  local it = shown[loop]
  shown[loop] = nil
  local client = it and client_module.of_root(it.root)
  if client and not it.ended then
    subscribe(client, loop, false)
  end
end

--- A restarted server has no subscriptions.
---@param client vim.lsp.Client
function M.subscribe_again(client)
  for loop, it in pairs(shown) do
    if it.root == client_module.root(client) and not it.ended then
      subscribe(client, loop, true)
      -- The previous server will not answer any more.
      it.is_reading = false
      refresh(it)
    end
  end
end

--- Handler of `loopkeeper/output`. The text of the message is also in the stored output, at its place.
---@param params loopkeeper.OutputParams
function M.append(params)
  if shown[params.loopId] then
    refresh(shown[params.loopId])
  end
end

--- Reads the news of the loops that have newer records than those shown.
---@param loops loopkeeper.LoopStatus[]
function M.observe(loops)
  for _, loop in ipairs(loops) do
    local it = shown[loop.id]
    if it and loop.seq > it.seq then
      it.seq = loop.seq
      refresh(it)
    end
  end
end

return M
