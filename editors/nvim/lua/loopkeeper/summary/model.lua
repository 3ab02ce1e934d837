-- Words and groups of the summary, equal to those of the Loops view of Visual Studio Code. Pure.

local loop_details = require('loopkeeper.loop_details')
local l10n = require('loopkeeper.l10n')

local later, t = l10n.later, l10n.t

local M = {}

---@alias loopkeeper.SummaryGroup "needsYou"|"working"|"waiting"|"done"

---@type { id: loopkeeper.SummaryGroup, title: string, highlight: string }[]
M.groups = {
  { id = 'needsYou', title = later('Needs you'), highlight = 'LoopkeeperNeedsYou' },
  { id = 'working', title = later('Working'), highlight = 'LoopkeeperWorking' },
  { id = 'waiting', title = later('Waiting'), highlight = 'LoopkeeperPaused' },
  { id = 'done', title = later('Done'), highlight = 'LoopkeeperDone' },
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
  quota = later("waiting for the provider's usage limit, until {time}"),
  backoff = later('waiting to try the agent again, until {time}'),
  calls = later('waiting: the hourly call limit is reached, until {time}'),
  breaker = later('retries automatically, or now with p, until {time}'),
  between = later('waiting before the next iteration, until {time}'),
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

local outcomes =
  { stopped = later('stopped'), limit = later('limit'), breaker = later('breaker'), failed = later('failed') }

---@param loop loopkeeper.LoopStatus
---@return string text, string highlight
function M.state_of(loop)
  local outcome, group = loop.outcome, M.group_of(loop)
  if outcome and outcome.kind == 'completed' then
    if outcome.verified then
      return t('completed'), 'LoopkeeperDone'
    end
    return t('claimed'), 'LoopkeeperNeedsYou'
  elseif outcome then
    return t(outcomes[outcome.kind] or outcome.kind),
      outcome.kind == 'stopped' and 'LoopkeeperPaused' or 'LoopkeeperStopped'
  elseif is_tripped(loop) then
    return t('breaker open'), 'LoopkeeperStopped'
  elseif group == 'needsYou' then
    return t('needs you'), 'LoopkeeperNeedsYou'
  elseif group == 'waiting' then
    return loop.state == 'paused' and t('paused') or t('waiting'), 'LoopkeeperPaused'
  end
  local values = { number = loop.iteration, limit = loop.limits.iterations }
  return t('iteration {number}/{limit}', values), 'LoopkeeperWorking'
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
  local lines = { t('loop {id}, agent {agent}', { id = loop.id, agent = loop.agent }) }
  if loop.outcome then
    table.insert(lines, loop.outcome.sentence)
  end
  if loop.question then
    table.insert(lines, loop.question.text)
  end
  table.insert(lines, loop_details.pause(loop))
  if loop.wait then
    local template = waits[loop.wait.reason] or later('waiting, until {time}')
    table.insert(lines, t(template, { time = require('loopkeeper.time').clock(loop.wait.resumesAt) }))
  end
  vim.list_extend(lines, loop_details.of_breaker(loop.breaker))
  vim.list_extend(lines, loop_details.of_loop(loop))
  vim.list_extend(lines, loop_details.of_spawns(loop.spawns))
  if loop.stale then
    table.insert(lines, loop.staleReason == 'rolledBack' and t('rolled back since') or t('files changed since'))
  end
  if loop.warnings and #loop.warnings > 0 then
    table.insert(lines, t('note: {notes}', { notes = l10n.list(loop.warnings) }))
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
