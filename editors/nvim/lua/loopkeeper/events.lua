-- Fires `User Loopkeeper…` autocommands with data for the changes from one status to the next, and for alerts. The first
-- status of a root contains no changes and fires only `LoopkeeperStatus`.

local M = {}

---@param name string
---@param data table
local function fire(name, data)
  vim.api.nvim_exec_autocmds('User', { pattern = 'Loopkeeper' .. name, modeline = false, data = data })
end

local in_iteration = { iterating = true, checking = true, stopping = true }

--- The number of iterations of a loop that have ended.
---@param loop loopkeeper.LoopStatus
---@return integer
local function finished(loop)
  return in_iteration[loop.phase] and math.max(loop.iteration - 1, 0) or loop.iteration
end

---@param before? loopkeeper.LoopStatus
---@param loop loopkeeper.LoopStatus
---@return boolean whether an iteration or the loop has ended
local function fire_loop_changes(before, loop)
  local was = before or { iteration = 0, phase = 'baseline', state = 'idle', breaker = { state = 'closed' } }
  if not before then
    fire('LoopStarted', { loop = loop })
  end
  for iteration = finished(was) + 1, loop.iteration do
    if iteration > was.iteration then
      fire('IterationStarted', { loop = loop, iteration = iteration })
    end
    if iteration <= finished(loop) then
      fire('IterationFinished', { loop = loop, iteration = iteration })
    end
  end
  if loop.breaker.state ~= was.breaker.state then
    fire('BreakerChanged', { loop = loop, before = was.breaker.state, after = loop.breaker.state })
  end
  if loop.state == 'needsYou' and was.state ~= 'needsYou' then
    fire('NeedsInput', { loop = loop })
  end
  if loop.state == 'done' and was.state ~= 'done' then
    fire('LoopFinished', { loop = loop })
  end
  return finished(loop) > finished(was) or (loop.state == 'done' and was.state ~= 'done')
end

-- The last result of each criterion. A loop begins with unchecked criteria; only the results of their checks count as
-- changes.
local results = {} ---@type table<string, string>

---@param root string
---@param task loopkeeper.TaskEntry
---@param silent boolean
local function fire_criterion_changes(root, task, silent)
  for _, item in ipairs(task.criteria.items) do
    local key = table.concat({ root, task.id, item.id }, '\n')
    local old = results[key]
    results[key] = item.status or old
    if item.status and old ~= item.status and not silent then
      fire('CriterionChanged', { task = task, criterion = item, before = old, after = item.status })
    end
  end
end

---@generic T
---@param list T[]
---@return table<string, T>
local function by_id(list)
  local map = {}
  for _, it in ipairs(list) do
    map[it.id] = it
  end
  return map
end

--- Fires for every alert, also where notifications are off.
---@param alert loopkeeper.AlertParams
function M.alert(alert)
  fire('Alert', { alert = alert })
end

---@param root string
---@param before? loopkeeper.StatusParams
---@param after loopkeeper.StatusParams
function M.fire(root, before, after)
  for _, task in ipairs(after.tasks) do
    fire_criterion_changes(root, task, before == nil)
  end
  local loops, ended = by_id(before and before.loops or {}), false
  for _, loop in ipairs(before and after.loops or {}) do
    ended = fire_loop_changes(loops[loop.id], loop) or ended
  end
  if ended then
    require('loopkeeper.checktime').run(root)
  end
  fire('Status', { root = root, status = after })
end

return M
