-- The scenario's side of the fake server, which sends what the scenario specifies.

local Editor = require('editor')
local support = require('support')

local Fake = {}
Fake.__index = Fake

local count = 0

function Fake.new()
  count = count + 1
  local self = setmetatable({ folder = ('%s/fake-%d'):format(support.temp, count), sent = 0, seq = 0 }, Fake)
  vim.fn.mkdir(self.folder, 'p')
  self.command = { support.here .. '/fake_server.py' }
  self.env = { FAKE_SERVER = self.folder }
  return self
end

--- An editor that shows a task in a separate folder, with a fake server.
---@param options? { task?: string, replies?: table<string, { result?: any, error?: table }>, lua?: string, env?: table }
---@return table fake
---@return table editor
---@return string folder
function Fake.open(options)
  options = options or {}
  local fake = Fake.new()
  local folder = support.temp .. '/project'
  support.write(folder .. '/PROMPT.md', options.task or '# A task\n')
  fake:reply(options.replies or {})
  local env = vim.tbl_extend('error', fake.env, options.env or {})
  local editor =
    Editor.start({ folder = folder, file = 'PROMPT.md', server = fake.command, env = env, lua = options.lua })
  return fake, editor, folder
end

function Fake:send(message)
  self.sent = self.sent + 1
  support.write(('%s/send-%d.json'):format(self.folder, self.sent), vim.json.encode(message))
end

---@param replies table<string, { result?: any, error?: table }> by method or command
function Fake:reply(replies)
  support.write(self.folder .. '/reply.json', vim.json.encode(next(replies) and replies or vim.empty_dict()))
end

--- The messages it received, in order.
---@return table[]
function Fake:received()
  local messages = {}
  for line in vim.gsplit(support.read(self.folder .. '/received') or '', '\n', { trimempty = true }) do
    local ok, message = pcall(vim.json.decode, line)
    if ok then
      table.insert(messages, message)
    end
  end
  return messages
end

---@param method string
---@return integer number of received messages of this kind
function Fake:count(method)
  return #vim.tbl_filter(function(message)
    return message.method == method
  end, self:received())
end

---@param method string of a message or name of a command
---@return table? the first of its kind
function Fake:first(method)
  for _, message in ipairs(self:received()) do
    if message.method == method or (message.params and message.params.command == method) then
      return message
    end
  end
end

local no_criteria = { passed = 0, failed = 0, unverified = 0, total = 0, items = {} }

---@param fields? table
function Fake.loop(fields)
  return vim.tbl_deep_extend('force', {
    id = '20261120-abcdef',
    seq = 1,
    task = { uri = 'file:///none/PROMPT.md', title = 'Parse dates' },
    agent = 'mine',
    state = 'working',
    phase = 'iterating',
    iteration = 7,
    limits = { iterations = 25, durationMs = 1, costMicros = 25000000 },
    criteria = { passed = 3, failed = 2, unverified = 0, total = 5, brief = '3/5 pass', items = {} },
    plan = { done = 0, open = 0, total = 0 },
    breaker = { state = 'closed', counts = { noProgress = 0 }, trips = 0 },
    spent = { calls = 1 },
    startedAt = '2026-11-20T14:00:00.000Z',
    pausedMs = 0,
    keeper = { alive = true },
  }, fields or {})
end

---@param folder string
---@param fields? table
function Fake.task(folder, fields)
  return vim.tbl_deep_extend('force', {
    id = 'PROMPT.md',
    uri = vim.uri_from_fname(folder .. '/PROMPT.md'),
    root = vim.uri_from_fname(folder),
    title = 'Parse dates',
    state = 'idle',
    checking = false,
    unknownCommands = 0,
    criteria = no_criteria,
  }, fields or {})
end

---@param loops table[]
---@param tasks? table[]
---@param fields? table
function Fake:status(loops, tasks, fields)
  self.seq = self.seq + 1
  return vim.tbl_extend('force', {
    version = 1,
    seq = self.seq,
    health = 'ok',
    trusted = true,
    loops = loops,
    tasks = tasks or {},
  }, fields or {})
end

--- Sends a status.
function Fake:tell(loops, tasks, fields)
  self:send({ method = 'loopkeeper/status', params = self:status(loops, tasks, fields) })
end

return Fake
