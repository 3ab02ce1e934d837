-- `:Ralph status`: lists every task with its criteria and its loop in a buffer that is updated while it is shown.

local facts = require('loopkeeper.facts')
local status = require('loopkeeper.status')
local ui = require('loopkeeper.ui')

local M = {}

local name = 'loopkeeper://status'
local marks = {
  pass = '✓',
  fail = '✗',
  ['timed-out'] = '✗',
  ['no-tests-ran'] = '✗',
  unstable = '?',
  ['could-not-run'] = '!',
  unverified = '·',
}
local states = {
  working = 'working',
  needsYou = 'needs you',
  paused = 'paused',
  done = 'done',
  idle = 'idle',
}
local waits = {
  quota = "waiting for the provider's usage limit",
  backoff = 'waiting to try the agent again',
  calls = 'waiting: the calls of this hour are used up',
  breaker = 'one more try by itself, or now by `:Ralph resume`',
  between = 'waiting before the next iteration',
}

---@param micros integer
---@return string
local function dollars(micros)
  return ('$%.2f'):format(micros / 1e6)
end

---@param loop loopkeeper.LoopStatus
---@return string[]
local function loop_lines(loop)
  local first = ('  loop %s: %s, iteration %d/%d, agent %s'):format(
    loop.id,
    status.is_tripped(loop) and 'breaker open' or states[loop.state] or loop.state,
    loop.iteration,
    loop.limits.iterations,
    loop.agent
  )
  if loop.spent.costMicros then
    first = first .. (', %s of %s'):format(dollars(loop.spent.costMicros), dollars(loop.limits.costMicros))
  end
  local lines = { first }
  if loop.outcome then
    table.insert(lines, '  ' .. loop.outcome.sentence)
  end
  local pause = facts.pause(loop)
  if pause then
    table.insert(lines, '  ' .. pause)
  end
  if loop.wait then
    local why = waits[loop.wait.reason] or 'waiting'
    local next_try = loop.wait.reason == 'breaker' and '%s, next try in %s' or '%s, %s left'
    table.insert(lines, '  ' .. next_try:format(why, status.left(loop.wait.resumesAt)))
  end
  local known = { facts.of_breaker(loop.breaker), facts.of_loop(loop), facts.of_spawns(loop.spawns) }
  for _, fact in ipairs(vim.iter(known):flatten():totable()) do
    table.insert(lines, '  ' .. fact)
  end
  if loop.warnings and #loop.warnings > 0 then
    table.insert(lines, '  note: ' .. table.concat(loop.warnings, ', '))
  elseif loop.forecast and status.is_open(loop) then
    table.insert(lines, '  ' .. loop.forecast)
  end
  if loop.activity and status.is_open(loop) then
    table.insert(lines, '  ' .. loop.activity)
  end
  return lines
end

---@param task loopkeeper.TaskEntry
---@return string[]
local function task_lines(task, loops)
  local criteria = task.criteria
  local title = ('%s (%s): %s'):format(task.title, task.id, criteria.summary or states[task.state] or task.state)
  local lines = { title .. (task.checking and ', checking' or '') }
  if task.unknownCommands > 0 then
    local are = task.unknownCommands == 1 and 'command is' or 'commands are'
    table.insert(lines, ('  %d %s not trusted yet: `:Ralph trust`'):format(task.unknownCommands, are))
  end
  for _, item in ipairs(criteria.items) do
    local fact = item.fact and item.status ~= 'pass' and ': ' .. item.fact or ''
    local never = item.status == nil and ': not checked yet' or ''
    local stale = item.stale and ', files changed since' or ''
    table.insert(lines, ('  %s %s%s%s%s'):format(marks[item.status] or '·', item.name, fact, never, stale))
  end
  for _, loop in ipairs(loops) do
    if loop.id == task.loopId then
      vim.list_extend(lines, loop_lines(loop))
    end
  end
  return lines
end

---@return string[]
local function lines()
  local all, loops = {}, status.loops()
  for _, foreign in ipairs(status.foreign()) do
    vim.list_extend(all, facts.of_foreign(foreign))
  end
  for _, task in ipairs(status.tasks()) do
    if #all > 0 then
      table.insert(all, '')
    end
    vim.list_extend(all, task_lines(task, loops))
  end
  if #all == 0 then
    all = { 'There is no task here. Write PROMPT.md, or run `loopkeeper init` in a terminal.' }
  end
  return vim.tbl_map(function(line)
    local indent, rest = line:match('^( *)(.*)$')
    return indent .. ui.plain(rest)
  end, all)
end

function M.open()
  require('loopkeeper.pick').ready(function()
    local buffer = ui.scratch(name, 'loopkeeper-status')
    ui.set_lines(buffer, 0, -1, lines())
    ui.show_text_below(buffer)
  end)
end

--- Called with every status; does nothing while the buffer is not shown.
function M.refresh()
  local buffer = ui.buffer(name)
  if buffer and vim.fn.bufwinid(buffer) ~= -1 then
    ui.set_lines(buffer, 0, -1, lines())
  end
end

return M
