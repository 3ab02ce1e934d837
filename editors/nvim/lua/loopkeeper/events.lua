-- What changed from one status to the next, as `User Loopkeeper…` autocommands with data. The first status of a root
-- tells what is, not what happened, and fires only `LoopkeeperStatus`.

local M = {}

---@param name string
---@param data table
local function fire(name, data)
  vim.api.nvim_exec_autocmds('User', { pattern = 'Loopkeeper' .. name, modeline = false, data = data })
end

local in_iteration = { iterating = true, checking = true, stopping = true }

--- How many iterations of a loop have ended.
---@param loop loopkeeper.LoopStatus
---@return integer
local function finished(loop)
  return in_iteration[loop.phase] and math.max(loop.iteration - 1, 0) or loop.iteration
end

---@param before? loopkeeper.LoopStatus
---@param loop loopkeeper.LoopStatus
local function of_loop(before, loop)
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

---@param before? loopkeeper.TaskEntry
---@param task loopkeeper.TaskEntry
local function of_task(before, task)
  local was = {}
  for _, item in ipairs(before and before.criteria.items or {}) do
    was[item.id] = item
  end
  for _, item in ipairs(task.criteria.items) do
    local old = was[item.id]
    if old and old.status ~= item.status then
      fire('CriterionChanged', { task = task, criterion = item, before = old.status, after = item.status })
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

---@param root string
---@param before? loopkeeper.StatusParams
---@param after loopkeeper.StatusParams
function M.fire(root, before, after)
  if before then
    local loops, tasks, ended = by_id(before.loops), by_id(before.tasks), false
    for _, loop in ipairs(after.loops) do
      -- An ended loop that turns up is one that fell out of the list and back into it, unless it is new.
      ended = of_loop(loops[loop.id], loop) or ended
    end
    for _, task in ipairs(after.tasks) do
      of_task(tasks[task.id], task)
    end
    if ended then
      require('loopkeeper.checktime').run(root)
    end
  end
  fire('Status', { root = root, status = after })
end

return M
