-- The language client: one server per root. Starts it, attaches buffers, restarts it after a crash, and sends requests.
-- Does not interpret messages.

local config = require('loopkeeper.config')
local files = require('loopkeeper.files')
local l10n = require('loopkeeper.l10n')
local protocol = require('loopkeeper.protocol')
local ui = require('loopkeeper.ui')

local M = {}

M.name = 'loopkeeper'

local new_api = vim.fn.has('nvim-0.11') == 1
-- Maximum number of automatic restarts within this time.
local restarts_allowed, restarts_within_ms = 3, 180000

local roots = {} ---@type table<integer, string> by client, kept until its end was handled
local stopping = {} ---@type table<integer, boolean> clients that we asked to end
local crashes = {} ---@type table<string, integer[]> root to times
local reported_missing = false

---@return string[]
function M.command()
  local server = config.get().server
  local command = type(server) == 'table' and vim.deepcopy(server) or { server }
  command[1] = vim.fs.normalize(command[1])
  table.insert(command, '--stdio')
  return command
end

---@return boolean
local function server_is_executable()
  local program = M.command()[1]
  if vim.fn.executable(program) == 1 then
    return true
  end
  if not reported_missing then
    reported_missing = true
    ui.error(
      l10n.t(
        'the server `{program}` cannot be run. Hint: put `loopkeeper` on your PATH, or name it: '
          .. "vim.g.loopkeeper = { server = '/path/to/loopkeeper' }",
        { program = program }
      )
    )
  end
  return false
end

local function capabilities()
  local announced = vim.lsp.protocol.make_client_capabilities()
  announced.experimental = vim.tbl_extend('force', announced.experimental or {}, {
    loopkeeper = { version = protocol.version },
  })
  announced.workspace.codeLens = { refreshSupport = true }
  return announced
end

--- The configuration of all our clients, without their root.
function M.defaults()
  return {
    name = M.name,
    cmd = M.command(),
    capabilities = capabilities(),
    init_options = { trusted = config.get().trusted },
    handlers = require('loopkeeper.handlers').messages(),
    commands = require('loopkeeper.handlers').commands(),
    on_init = function(client)
      l10n.follow(client)
      roots[client.id] = client.config.root_dir
    end,
    on_exit = function(code, signal, id)
      vim.schedule(function()
        M.ended(code, signal, id)
      end)
    end,
  }
end

-- An autocommand instead of `on_attach`, which is reserved for the user.
vim.api.nvim_create_autocmd('LspAttach', {
  group = vim.api.nvim_create_augroup('loopkeeper.attach', {}),
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == M.name then
      require('loopkeeper.diagnostics').configure(client)
      require('loopkeeper.lenses').enable(client, event.buf)
      require('loopkeeper.signs').refresh(event.buf)
    end
  end,
})

---@param root string
local function client_config(root)
  -- Includes the user's settings of `vim.lsp.config('loopkeeper', …)`, where Neovim supports that.
  local settings = new_api and vim.deepcopy(vim.lsp.config[M.name]) or M.defaults()
  settings.root_dir = root
  settings.filetypes, settings.root_markers = nil, nil
  return settings
end

-- Methods of a client take it as their first argument since 0.11.
local function call(client, method, ...)
  if new_api then
    return client[method](client, ...)
  end
  return client[method](...)
end

--- Clients that were not asked to stop, initialized or not.
---@return vim.lsp.Client[]
function M.all()
  local clients = {}
  for id in vim.spairs(roots) do
    local client = vim.lsp.get_client_by_id(id)
    if client and not stopping[id] and not call(client, 'is_stopped') then
      table.insert(clients, client)
    end
  end
  return clients
end

---@param root string
---@return vim.lsp.Client?
function M.of_root(root)
  for _, client in ipairs(M.all()) do
    if client.config.root_dir == root then
      return client
    end
  end
end

---@param buffer integer
---@return vim.lsp.Client?
function M.of_buffer(buffer)
  return vim.tbl_filter(function(client)
    return client.attached_buffers[buffer]
  end, M.all())[1]
end

---@param buffer integer
function M.attach(buffer)
  local root = files.root(vim.api.nvim_buf_get_name(buffer))
  local client = M.start(root)
  if client then
    vim.lsp.buf_attach_client(buffer, client.id)
  end
end

--- The client of a root, started if necessary.
---@param root string
---@return vim.lsp.Client?
function M.start(root)
  local client = M.of_root(root)
  if client then
    return client
  end
  if not server_is_executable() then
    return
  end
  local id
  if new_api then
    id = vim.lsp.start(client_config(root), { attach = false })
  else
    id = vim.lsp.start_client(client_config(root))
  end
  if id then
    roots[id] = root
    return vim.lsp.get_client_by_id(id)
  end
end

--- The client for a command in the current buffer.
---@return vim.lsp.Client?
function M.current()
  local client = M.of_buffer(vim.api.nvim_get_current_buf())
  if client then
    return client
  end
  local name = vim.bo.buftype == '' and vim.api.nvim_buf_get_name(0) or ''
  if vim.startswith(vim.api.nvim_buf_get_name(0), 'loopkeeper://') then
    -- Our own buffers show what running servers reported; they need no further server.
    client = M.of_root(files.root('')) or M.all()[1]
    if client then
      return client
    end
  end
  -- A command without a server reports that each time.
  reported_missing = false
  return M.start(files.root(name))
end

---@param client vim.lsp.Client
---@param method string
---@param params table
---@param callback fun(err?: lsp.ResponseError, result: any)
---@return fun() cancel cancels the request, whose callback is not called then
function M.request(client, method, params, callback)
  params = next(params) == nil and vim.empty_dict() or params
  local sent, id = call(client, 'request', method, params, callback)
  return function()
    if sent and id then
      call(client, 'cancel_request', id)
    end
  end
end

---@param client vim.lsp.Client
function M.root(client)
  return roots[client.id] or client.config.root_dir or ''
end

---@param root string
---@param buffers integer[]
local function start_again(root, buffers)
  local client = M.start(root)
  for _, buffer in ipairs(client and buffers or {}) do
    if vim.api.nvim_buf_is_loaded(buffer) then
      vim.lsp.buf_attach_client(buffer, client.id)
    end
  end
end

---@param root string
---@return integer[]
local function our_buffers(root)
  return vim.tbl_filter(function(buffer)
    local path = vim.api.nvim_buf_get_name(buffer)
    return vim.api.nvim_buf_is_loaded(buffer)
      and vim.bo[buffer].buftype == ''
      and files.is_ours(path)
      and files.root(path) == root
  end, vim.api.nvim_list_bufs())
end

--- Handles the end of a client's server. Loops are not affected; the server is restarted unless it was stopped on
--- purpose.
---@param code integer
---@param signal integer
---@param id integer
function M.ended(code, signal, id)
  local root, was_intended = roots[id], stopping[id]
  roots[id], stopping[id] = nil, nil
  if was_intended or root == nil or vim.v.exiting ~= vim.NIL or (code == 0 and signal == 0) then
    return
  end
  local now = vim.uv.now()
  crashes[root] = vim.tbl_filter(function(time)
    return now - time < restarts_within_ms
  end, crashes[root] or {})
  table.insert(crashes[root], now)
  if #crashes[root] > restarts_allowed then
    require('loopkeeper.status').forget(root)
    ui.error(
      l10n.t(
        'the server ended several times. Loops keep running. Hint: `:checkhealth loopkeeper`, then `:Ralph restart`.'
      )
    )
    return
  end
  start_again(root, our_buffers(root))
end

--- Restarts the servers; loops keep running.
function M.restart()
  local waiting = M.all()
  crashes, reported_missing = {}, false
  if #waiting == 0 then
    local name = vim.bo.buftype == '' and vim.api.nvim_buf_get_name(0) or ''
    start_again(files.root(name), our_buffers(files.root(name)))
    return
  end
  for _, client in ipairs(waiting) do
    local root = M.root(client)
    stopping[client.id] = true
    call(client, 'stop')
    M.when_stopped(client, function()
      start_again(root, our_buffers(root))
    end)
  end
end

---@param client vim.lsp.Client
---@param callback fun()
function M.when_stopped(client, callback)
  local timer = assert(vim.uv.new_timer())
  local started = vim.uv.now()
  timer:start(
    20,
    20,
    vim.schedule_wrap(function()
      if timer:is_closing() then
        return
      end
      local stopped = vim.lsp.get_client_by_id(client.id) == nil or call(client, 'is_stopped')
      if not stopped and vim.uv.now() - started > 3000 then
        -- It does not respond: kill it and stop waiting.
        call(client, 'stop', true)
        stopped = true
      end
      if stopped then
        timer:close()
        callback()
      end
    end)
  )
end

return M
