-- Describes additional facts about a loop or an iteration as text. Declares functions; shows nothing.

local l10n = require('loopkeeper.l10n')

local t = l10n.t

local M = {}

---@param entry loopkeeper.IterationEntry
---@return string? '3 files changed (+10 −2)'
function M.changes(entry)
  if not entry.changed or entry.iteration == 0 then
    return nil
  elseif entry.changed == 0 then
    return t('no file changed')
  end
  local files = entry.changed == 1 and t('1 file changed') or t('{count} files changed', { count = entry.changed })
  if not (entry.added and entry.removed) then
    return files
  end
  return t('{files} (+{added} −{removed})', { files = files, added = entry.added, removed = entry.removed })
end

--- The milestones reached in it, its commit, and whether it was undone.
---@param entry loopkeeper.IterationEntry
---@return string[]
function M.reached(entry)
  local reached = vim.list_slice(entry.milestones or {})
  if entry.commit then
    table.insert(reached, t('commit {id}', { id = entry.commit:sub(1, 10) }))
  end
  if entry.takenBack then
    table.insert(reached, t('rolled back'))
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
    return t('type your first message in Claude Code')
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
  local lines = { t('in your own session of {agent}', { agent = loop.agent }) }
  if not loop.spent.costMicros then
    table.insert(lines, t('cost unknown: Claude does not report it in an interactive session'))
  end
  return lines
end

---@param loop loopkeeper.LoopStatus
---@return string[] session, groups, plan, branch, weakened criteria
function M.of_loop(loop)
  local lines = of_own_session(loop)
  local groups = vim.tbl_map(function(group)
    return group.state == 'holds' and t('{name} holds', { name = group.name })
      or t('{name} {passed} of {total}', { name = group.name, passed = group.passed, total = group.total })
  end, loop.groups or {})
  if #groups > 0 then
    table.insert(lines, t('groups: {groups}', { groups = l10n.list(groups) }))
  end
  if loop.plan and loop.plan.total > 0 then
    table.insert(lines, t('plan: {done} of {total} done', { done = loop.plan.done, total = loop.plan.total }))
  end
  if loop.branch then
    table.insert(lines, t('on branch {branch}', { branch = loop.branch }))
  end
  if loop.away then
    table.insert(lines, t('not on its branch: {why}', { why = loop.away }))
  end
  for _, weakening in ipairs(loop.weakened or {}) do
    table.insert(lines, t('weakened by the agent: {what}', { what = weakening.what }))
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
  local lines = { t("A loop of Claude Code's plugin, iteration {number}", { number = M.foreign_count(foreign) }) }
  if foreign.promise then
    table.insert(lines, t('  until <promise>{promise}</promise>', { promise = foreign.promise }))
  end
  table.insert(lines, '  ' .. foreign.prompt)
  table.insert(lines, t('  `:Ralph import` continues it under loopkeeper, `:Ralph stop` stops it'))
  return lines
end

local agent_states = {
  asked = l10n.later('{what} (about to start)'),
  started = l10n.later('{what} (started)'),
  ended = l10n.later('{what} (ended)'),
}

--- The number of subagents, and those of the last iteration, indented below the one that started them.
---@param spawns? loopkeeper.SpawnStatus
---@return string[]
function M.of_spawns(spawns)
  if not spawns or spawns.used == 0 and spawns.refused == 0 then
    return {}
  end
  local parts = { t('{used} of {budget} subagents', { used = spawns.used, budget = spawns.budget }) }
  table.insert(parts, spawns.depth > 1 and t('{count} deep', { count = spawns.depth }) or nil)
  table.insert(parts, spawns.refused > 0 and t('{count} refused', { count = spawns.refused }) or nil)
  local lines = { l10n.list(parts) }
  for _, agent in ipairs(spawns.agents or {}) do
    local indent = ('  '):rep(math.min(agent.depth, 8))
    table.insert(lines, indent .. t(agent_states[agent.state] or '{what}', { what = agent.what }))
  end
  return lines
end

--- The breaker's state unless it is closed, and its preset once a counter is not zero.
---@param breaker loopkeeper.BreakerStatus
---@return string[]
function M.of_breaker(breaker)
  local lines = {}
  local words = { open = t('breaker open'), ['half-open'] = t('breaker trying again') }
  local word = words[breaker.state]
  if word then
    table.insert(lines, breaker.reason and t('{name}: {text}', { name = word, text = breaker.reason }) or word)
  end
  local counts = breaker.state ~= 'closed'
  for _, count in pairs(breaker.counts or {}) do
    counts = counts or count > 0
  end
  if breaker.preset and counts then
    table.insert(lines, t('breaker preset: {preset}', { preset = breaker.preset.because }))
  end
  return lines
end

return M
