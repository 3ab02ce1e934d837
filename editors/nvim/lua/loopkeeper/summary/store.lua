-- Iterations and changed files of the loops in the summary. Requested when their row is expanded, so that a collapsed
-- row sends nothing, and again when the loop has advanced.

local client_module = require('loopkeeper.client')
local protocol = require('loopkeeper.protocol')

local M = {}

M.histories = {} ---@type table<string, loopkeeper.IterationsResult>
M.files = {} ---@type table<string, loopkeeper.ChangedFile[]>

local stamps = {} ---@type table<string, string> the state of a loop or an iteration that was last requested

---@param loop loopkeeper.LoopStatus
---@return string changes when the list of iterations does
local function stamp_of(loop)
  local criteria = loop.criteria
  local parts = { loop.iteration, loop.phase, loop.state, criteria.passed, criteria.failed, tostring(loop.stale) }
  return table.concat(parts, ' ')
end

---@param key string
---@param stamp string
---@param root string
---@param send fun(client: vim.lsp.Client, callback: fun(err?: table, result: any))
---@param store fun(result: table)
---@param on_change fun()
local function update(key, stamp, root, send, store, on_change)
  local client = client_module.of_root(root)
  if not client or stamps[key] == stamp then
    return
  end
  stamps[key] = stamp
  send(client, function(err, result)
    if err or type(result) ~= 'table' then
      -- Requested again with the next status; the last answer stays visible.
      stamps[key] = nil
      return
    end
    store(result)
    on_change()
  end)
end

---@param row loopkeeper.SummaryRow
---@param on_change fun()
local function update_history(row, on_change)
  local id = row.loop.id
  update(row.key, stamp_of(row.loop), row.root, function(client, callback)
    client_module.request(client, protocol.requests.iterations, { loopId = id }, callback)
  end, function(result)
    M.histories[id] = result
  end, on_change)
end

---@param row loopkeeper.SummaryRow
---@param on_change fun()
local function update_files(row, on_change)
  -- Only the last iteration of a running loop can still change.
  local is_last = row.iteration == row.loop.iteration
  local stamp = is_last and stamp_of(row.loop) or 'ended'
  update(row.key, stamp, row.root, function(client, callback)
    local arguments = { { loopId = row.loop.id, iteration = row.iteration } }
    local params = { command = protocol.commands.diff, arguments = arguments }
    client_module.request(client, 'workspace/executeCommand', params, callback)
  end, function(result)
    M.files[row.key] = result.files or {}
  end, on_change)
end

--- Requests what the expanded rows need.
---@param rows loopkeeper.SummaryRow[]
---@param on_change fun() called when an answer has arrived
function M.update(rows, on_change)
  for _, row in ipairs(rows) do
    if row.kind == 'loop' and row.expanded then
      update_history(row, on_change)
    elseif row.kind == 'iteration' and row.expanded then
      update_files(row, on_change)
    end
  end
end

return M
