-- Describes additional facts about a loop or an iteration as text. Declares functions; shows nothing.

local M = {}

---@param entry loopkeeper.IterationEntry
---@return string? '3 files changed (+10 −2)'
function M.changes(entry)
  if not entry.changed or entry.iteration == 0 then
    return nil
  elseif entry.changed == 0 then
    return 'no file changed'
  end
  local files = entry.changed == 1 and '1 file changed' or ('%d files changed'):format(entry.changed)
  return entry.added and entry.removed and ('%s (+%d −%d)'):format(files, entry.added, entry.removed) or files
end

--- The milestones reached in it, its commit, and whether it was undone.
---@param entry loopkeeper.IterationEntry
---@return string[]
function M.reached(entry)
  local reached = vim.list_slice(entry.milestones or {})
  if entry.commit then
    table.insert(reached, 'commit ' .. entry.commit:sub(1, 10))
  end
  if entry.takenBack then
    table.insert(reached, 'taken back')
  end
  return reached
end

--- Whether the loop waits until its user sends a prompt to the session that they opened.
---@param loop loopkeeper.LoopStatus
---@return boolean
function M.awaits_session(loop)
  return loop.state == 'needsYou' and loop.phase == 'paused' and loop.pause ~= nil and loop.pause.reason == 'session'
end

---@param loop loopkeeper.LoopStatus
---@return string? why it is paused
function M.pause(loop)
  if M.awaits_session(loop) and loop.iteration == 0 then
    return 'type your first message in Claude Code'
  end
  return loop.pause and loop.pause.message
end

--- Facts about a session that the user opened, or is about to open.
---@param loop loopkeeper.LoopStatus
---@return string[]
local function of_own_session(loop)
  if not (loop.session and loop.session.own) and not M.awaits_session(loop) then
    return {}
  end
  local lines = { ('in your own session of %s'):format(loop.agent) }
  if not loop.spent.costMicros then
    table.insert(lines, 'cost unknown: Claude does not report it in an interactive session')
  end
  return lines
end

---@param loop loopkeeper.LoopStatus
---@return string[] session, groups, plan, branch, weakened criteria
function M.of_loop(loop)
  local lines = of_own_session(loop)
  local groups = vim.tbl_map(function(group)
    return group.state == 'holds' and group.name .. ' holds'
      or ('%s %d of %d'):format(group.name, group.passed, group.total)
  end, loop.groups or {})
  if #groups > 0 then
    table.insert(lines, 'groups: ' .. table.concat(groups, ', '))
  end
  if loop.plan and loop.plan.total > 0 then
    table.insert(lines, ('plan: %d of %d done'):format(loop.plan.done, loop.plan.total))
  end
  if loop.branch then
    table.insert(lines, 'on branch ' .. loop.branch)
  end
  if loop.away then
    table.insert(lines, 'not on its branch: ' .. loop.away)
  end
  for _, weakening in ipairs(loop.weakened or {}) do
    table.insert(lines, 'made easier by the agent: ' .. weakening.what)
  end
  return lines
end

---@param foreign loopkeeper.ForeignLoop
---@return string 3/20; without a limit 3
function M.foreign_count(foreign)
  return foreign.maxIterations and ('%d/%d'):format(foreign.iteration, foreign.maxIterations)
    or ('%d'):format(foreign.iteration)
end

---@param foreign loopkeeper.ForeignLoop
---@return string[]
function M.of_foreign(foreign)
  local lines = { ("A loop of Claude Code's plugin, iteration %s"):format(M.foreign_count(foreign)) }
  if foreign.promise then
    table.insert(lines, ('  until <promise>%s</promise>'):format(foreign.promise))
  end
  table.insert(lines, '  ' .. foreign.prompt)
  table.insert(lines, '  `:Ralph import` continues it under loopkeeper, `:Ralph stop` stops it')
  return lines
end

--- The number of subagents, and those of the last iteration, indented below the one that started them.
---@param spawns? loopkeeper.SpawnStatus
---@return string[]
function M.of_spawns(spawns)
  if not spawns or spawns.used == 0 and spawns.refused == 0 then
    return {}
  end
  local deep = spawns.depth > 1 and (', %d deep'):format(spawns.depth) or ''
  local refused = spawns.refused > 0 and (', %d refused'):format(spawns.refused) or ''
  local lines = { ('%d of %d subagents%s%s'):format(spawns.used, spawns.budget, deep, refused) }
  local states = { asked = 'about to start', started = 'started', ended = 'ended' }
  for _, agent in ipairs(spawns.agents or {}) do
    local indent = ('  '):rep(math.min(agent.depth, 8))
    table.insert(lines, ('%s%s (%s)'):format(indent, agent.what, states[agent.state]))
  end
  return lines
end

--- The breaker's state unless it is closed, and its preset once a counter is not zero.
---@param breaker loopkeeper.BreakerStatus
---@return string[]
function M.of_breaker(breaker)
  local lines = {}
  local words = { open = 'open', ['half-open'] = 'trying again' }
  if words[breaker.state] then
    local why = breaker.reason and ': ' .. breaker.reason or ''
    table.insert(lines, ('breaker %s%s'):format(words[breaker.state], why))
  end
  local counts = breaker.state ~= 'closed'
  for _, count in pairs(breaker.counts or {}) do
    counts = counts or count > 0
  end
  if breaker.preset and counts then
    table.insert(lines, ('breaker preset: %s'):format(breaker.preset.because))
  end
  return lines
end

return M
