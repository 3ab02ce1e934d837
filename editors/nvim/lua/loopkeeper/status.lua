-- Stores the latest status of every root: computes the statusline's text, and which `User Loopkeeper…` events to fire.
-- Uses only what the server sent; sends no requests.

require('loopkeeper.highlights')

local loop_details = require('loopkeeper.loop_details')
local l10n = require('loopkeeper.l10n')
local time = require('loopkeeper.time')

local t = l10n.t

local answer_within_ms = 20000
-- Maximum number of cells of the statusline's text.
local widest = 24

local ui_state = { text = '', highlight = 'LoopkeeperIdle' }

local M = {}

---@class loopkeeper.Known
---@field client integer
---@field params loopkeeper.StatusParams

local known = {} ---@type table<string, loopkeeper.Known> by root
local waiting = {} ---@type table<integer, fun()[]> by client
local health_told = {} ---@type table<string, string>

---@param client vim.lsp.Client
---@param params loopkeeper.StatusParams
function M.update(client, params)
  local root = require('loopkeeper.client').root(client)
  local before = known[root]
  if before and before.client == client.id and params.seq < before.params.seq then
    return
  end
  l10n.follow(client)
  known[root] = { client = client.id, params = params }
  M.render()
  M.tell_health(root, params)
  require('loopkeeper.events').fire(root, before and before.params, params)
  require('loopkeeper.signs').refresh_all()
  require('loopkeeper.summary').refresh()
  require('loopkeeper.float').settle(M.alerts())
  local output = package.loaded['loopkeeper.output']
  if output and before and before.client ~= client.id then
    output.subscribe_again(client)
  end
  if output then
    output.observe(params.loops)
  end
  local callbacks = waiting[client.id] or {}
  waiting[client.id] = nil
  for _, callback in ipairs(callbacks) do
    callback()
  end
end

---@param root string
---@param params loopkeeper.StatusParams
function M.tell_health(root, params)
  local message = params.health ~= 'ok' and params.message or nil
  if message and health_told[root] ~= message then
    require('loopkeeper.ui').tell(message, vim.log.levels.WARN)
  end
  health_told[root] = message
end

--- Calls back once the client's first status has arrived.
---@param client vim.lsp.Client
---@param callback fun()
function M.when_known(client, callback)
  local status = known[require('loopkeeper.client').root(client)]
  if status and status.client == client.id then
    callback()
    return
  end
  waiting[client.id] = waiting[client.id] or {}
  table.insert(waiting[client.id], callback)
  vim.defer_fn(function()
    if waiting[client.id] then
      waiting[client.id] = nil
      require('loopkeeper.ui').error(t('the server does not answer. Hint: `:Ralph restart`'))
    end
  end, answer_within_ms)
end

---@param client vim.lsp.Client
---@return loopkeeper.StatusParams?
function M.of(client)
  local status = known[require('loopkeeper.client').root(client)]
  return status and status.params
end

--- The loops of all roots, those that need the user first.
---@return loopkeeper.LoopStatus[]
function M.loops()
  local loops, order = {}, { needsYou = 1, working = 2, paused = 3, done = 4 }
  for root in vim.spairs(known) do
    vim.list_extend(loops, known[root].params.loops)
  end
  local place = {}
  for index, loop in ipairs(loops) do
    place[loop] = index
  end
  table.sort(loops, function(a, b)
    local left, right = order[a.state] or 9, order[b.state] or 9
    if left ~= right then
      return left < right
    end
    return place[a] < place[b]
  end)
  return loops
end

---@return loopkeeper.TaskEntry[]
function M.tasks()
  local tasks = {}
  for root in vim.spairs(known) do
    vim.list_extend(tasks, known[root].params.tasks)
  end
  return tasks
end

--- The status of each root.
---@return { root: string, params: loopkeeper.StatusParams }[]
function M.roots()
  local all = {}
  for root in vim.spairs(known) do
    table.insert(all, { root = root, params = known[root].params })
  end
  return all
end

--- The open alerts of all roots.
---@return loopkeeper.AlertParams[]
function M.alerts()
  local all = {}
  for root in vim.spairs(known) do
    vim.list_extend(all, known[root].params.alerts or {})
  end
  return all
end

--- Loops of Claude Code's plugin, which loopkeeper does not control.
---@return loopkeeper.ForeignLoop[]
function M.foreign()
  local all = {}
  for root in vim.spairs(known) do
    vim.list_extend(all, known[root].params.foreign or {})
  end
  return all
end

---@param loop loopkeeper.LoopStatus
---@return boolean
function M.is_open(loop)
  return loop.state == 'working' or loop.state == 'needsYou' or loop.state == 'paused'
end

--- Whether its breaker is open, so that no iteration runs, with or without an automatic retry.
---@param loop loopkeeper.LoopStatus
---@return boolean
function M.is_tripped(loop)
  return M.is_open(loop) and loop.breaker ~= nil and loop.breaker.state == 'open'
end

---@param loop loopkeeper.LoopStatus
---@return string text, string highlight
local function one(loop)
  local counter = ('%d/%d'):format(loop.iteration, loop.limits.iterations)
  if loop_details.awaits_session(loop) and loop.iteration == 0 then
    return t('Ralph: type in Claude'), 'LoopkeeperWorking'
  elseif loop_details.awaits_session(loop) then
    return t('Ralph {count} · your turn', { count = counter }), 'LoopkeeperNeedsYou'
  elseif M.is_tripped(loop) and loop.state == 'working' and loop.wait then
    return t('Ralph breaker · {time}', { time = time.left(loop.wait.resumesAt) }), 'LoopkeeperNeedsYou'
  elseif M.is_tripped(loop) and loop.state == 'needsYou' and loop.phase == 'paused' then
    return t('Ralph breaker open'), 'LoopkeeperNeedsYou'
  elseif loop.state == 'needsYou' then
    return t('Ralph needs you'), 'LoopkeeperNeedsYou'
  elseif loop.state == 'paused' then
    return t('Ralph paused {count}', { count = counter }), 'LoopkeeperPaused'
  elseif loop.state == 'working' and loop.wait then
    return ('Ralph %s · %s'):format(counter, time.left(loop.wait.resumesAt)), 'LoopkeeperPaused'
  elseif loop.state == 'working' then
    local brief = loop.criteria.brief
    local text = brief and ('Ralph %s · %s'):format(counter, brief) or 'Ralph ' .. counter
    return vim.fn.strdisplaywidth(text) > widest and 'Ralph ' .. counter or text, 'LoopkeeperWorking'
  elseif loop.stale and loop.staleReason ~= 'rolledBack' then
    return t('Ralph outdated · {count}', { count = loop.iteration }), 'LoopkeeperStale'
  elseif loop.stale then
    return t('Ralph rolled back · {count}', { count = loop.iteration }), 'LoopkeeperStale'
  elseif loop.outcome and loop.outcome.kind == 'completed' then
    local values = { count = loop.iteration }
    local text = loop.outcome.verified and t('Ralph done · {count}', values)
      or t('Ralph claims done · {count}', values)
    return text, 'LoopkeeperDone'
  end
  return t('Ralph stopped at {count}', { count = counter }), 'LoopkeeperStopped'
end

--- Whether the server of a root reports an error; its message was shown.
---@return boolean
local function is_unable()
  return vim.iter(known):any(function(_, it)
    return it.params.health == 'error'
  end)
end

---@return string text, string highlight
local function summary()
  local loops = M.loops()
  local open = vim.tbl_filter(M.is_open, loops)
  if #open > 1 then
    local needing = #vim.tbl_filter(function(loop)
      return loop.state == 'needsYou' or M.is_tripped(loop)
    end, open)
    if needing > 0 then
      local values = { count = #open, needing = needing }
      local text = needing == 1 and t('Ralph {count} · 1 needs you', values)
        or t('Ralph {count} · {needing} need you', values)
      return text, 'LoopkeeperNeedsYou'
    end
    return t('Ralph {count} at work', { count = #open }), 'LoopkeeperWorking'
  elseif not open[1] and is_unable() then
    return t('Ralph: error'), 'LoopkeeperStopped'
  elseif not open[1] and M.foreign()[1] then
    local text = t('Ralph {count} (plugin)', { count = loop_details.foreign_count(M.foreign()[1]) })
    while vim.fn.strdisplaywidth(text) > widest do
      text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text) - 1)
    end
    return text, 'LoopkeeperWorking'
  elseif loops[1] then
    return one(loops[1])
  elseif next(M.tasks()) then
    return 'Ralph', 'LoopkeeperIdle'
  end
  return '', 'LoopkeeperIdle'
end

---@type uv.uv_timer_t?
local ticker

--- While the only open loop waits, updates its countdown without messages from the server.
local function tick()
  local open = vim.tbl_filter(M.is_open, M.loops())
  local counts = #open == 1 and open[1].state == 'working' and open[1].wait ~= nil
  if counts and not ticker then
    ticker = assert(vim.uv.new_timer())
    ticker:start(1000, 1000, vim.schedule_wrap(M.render))
  elseif not counts and ticker then
    ticker:stop()
    ticker:close()
    ticker = nil
  end
end

--- Recomputes the statusline and redraws it if it changed.
function M.render()
  tick()
  local text, highlight = summary()
  if text ~= ui_state.text or highlight ~= ui_state.highlight then
    ui_state = { text = text, highlight = highlight }
    vim.cmd.redrawstatus({ bang = true })
  end
end

---@return string
function M.text()
  return ui_state.text
end

---@return string name of a highlight group
function M.highlight()
  return ui_state.highlight
end

--- The root's server has ended permanently, so its status is removed.
---@param root string
function M.forget(root)
  known[root] = nil
  M.render()
  require('loopkeeper.summary').refresh()
end

return M
