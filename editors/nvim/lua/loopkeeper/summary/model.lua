-- Words and groups of the summary, equal to those of the Loops view of Visual Studio Code. Pure.

local facts = require('loopkeeper.facts')

local M = {}

---@alias loopkeeper.SummaryGroup "needsYou"|"working"|"waiting"|"done"

---@type { id: loopkeeper.SummaryGroup, title: string, highlight: string }[]
M.groups = {
  { id = 'needsYou', title = 'Needs you', highlight = 'LoopkeeperNeedsYou' },
  { id = 'working', title = 'Working', highlight = 'LoopkeeperWorking' },
  { id = 'waiting', title = 'Waiting', highlight = 'LoopkeeperPaused' },
  { id = 'done', title = 'Done', highlight = 'LoopkeeperDone' },
}

M.marks = {
  pass = { '✓', 'LoopkeeperPass' },
  fail = { '✗', 'LoopkeeperFail' },
  ['timed-out'] = { '✗', 'LoopkeeperFail' },
  ['no-tests-ran'] = { '✗', 'LoopkeeperFail' },
  unstable = { '?', 'LoopkeeperFail' },
  ['could-not-run'] = { '!', 'LoopkeeperStopped' },
}

local waits = {
  quota = "waiting for the provider's usage limit",
  backoff = 'waiting to try the agent again',
  calls = 'waiting: the calls of this hour are used up',
  breaker = 'one more try by itself, or now with p',
  between = 'waiting before the next iteration',
}

---@param loop loopkeeper.LoopStatus
---@return boolean
local function is_open(loop)
  return loop.state == 'working' or loop.state == 'needsYou' or loop.state == 'paused'
end

---@param loop loopkeeper.LoopStatus
---@return boolean
local function is_tripped(loop)
  return is_open(loop) and loop.breaker.state == 'open'
end

---@param loop loopkeeper.LoopStatus
---@return loopkeeper.SummaryGroup
function M.group_of(loop)
  if loop.state == 'needsYou' or is_tripped(loop) then
    return 'needsYou'
  elseif not is_open(loop) then
    return 'done'
  end
  return (loop.state == 'paused' or loop.phase == 'waiting') and 'waiting' or 'working'
end

---@param loop loopkeeper.LoopStatus
---@return string text, string highlight
function M.state_of(loop)
  local outcome, group = loop.outcome, M.group_of(loop)
  if outcome and outcome.kind == 'completed' then
    return outcome.verified and 'completed' or 'claimed', outcome.verified and 'LoopkeeperDone' or 'LoopkeeperNeedsYou'
  elseif outcome then
    return outcome.kind, outcome.kind == 'stopped' and 'LoopkeeperPaused' or 'LoopkeeperStopped'
  elseif is_tripped(loop) then
    return 'breaker open', 'LoopkeeperStopped'
  elseif group == 'needsYou' then
    return 'needs you', 'LoopkeeperNeedsYou'
  elseif group == 'waiting' then
    return loop.state == 'paused' and 'paused' or 'waiting', 'LoopkeeperPaused'
  end
  return ('iteration %d/%d'):format(loop.iteration, loop.limits.iterations), 'LoopkeeperWorking'
end

---@param micros? integer
---@return string[] at most one
function M.cost(micros)
  return micros and { ('$%.2f'):format(micros / 1e6) } or {}
end

--- Facts about a loop beyond its row. Contain no countdown, so that the text changes only with the loop.
---@param loop loopkeeper.LoopStatus
---@return string[]
function M.facts_of(loop)
  local lines = { ('loop %s, agent %s'):format(loop.id, loop.agent) }
  if loop.outcome then
    table.insert(lines, loop.outcome.sentence)
  end
  if loop.question then
    table.insert(lines, loop.question.text)
  end
  table.insert(lines, facts.pause(loop))
  if loop.wait then
    local why = waits[loop.wait.reason] or 'waiting'
    table.insert(lines, ('%s, until %s'):format(why, require('loopkeeper.time').clock(loop.wait.resumesAt)))
  end
  vim.list_extend(lines, facts.of_breaker(loop.breaker))
  vim.list_extend(lines, facts.of_loop(loop))
  vim.list_extend(lines, facts.of_spawns(loop.spawns))
  if loop.stale then
    table.insert(lines, 'rolled back since')
  end
  if loop.warnings and #loop.warnings > 0 then
    table.insert(lines, 'note: ' .. table.concat(loop.warnings, ', '))
  elseif loop.forecast and is_open(loop) then
    table.insert(lines, loop.forecast)
  end
  if is_open(loop) then
    table.insert(lines, loop.activity)
  end
  return lines
end

--- Names of the criteria that began to pass in an iteration, and of those that stopped passing.
---@param history loopkeeper.IterationsResult
---@param iteration integer
---@return string[] turned, string[] broke
function M.changes_of(history, iteration)
  local turned, broke, at = {}, {}, nil
  for index, entry in ipairs(history.iterations) do
    at = entry.iteration == iteration and index or at
  end
  for _, criterion in ipairs(at and at > 1 and history.criteria or {}) do
    local before = vim.fn.strcharpart(criterion.row, at - 2, 1)
    local now = vim.fn.strcharpart(criterion.row, at - 1, 1)
    if now == '✓' and before ~= '✓' then
      table.insert(turned, criterion.name)
    elseif now == '✗' and before == '✓' then
      table.insert(broke, criterion.name)
    end
  end
  return turned, broke
end

M.is_open = is_open

return M
