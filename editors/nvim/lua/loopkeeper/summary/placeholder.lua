-- The text of the summary without a loop to show: the reason, and the key for the remedy. Pure.

local t = require('loopkeeper.l10n').t

local M = {}

---@param input loopkeeper.SummaryInput
---@return { loops: integer, tasks: integer, foreign: integer, message?: string }
local function count(input)
  local all = { loops = 0, tasks = 0, foreign = 0 }
  for _, it in ipairs(input.roots) do
    all.loops = all.loops + #it.params.loops
    all.tasks = all.tasks + #it.params.tasks
    all.foreign = all.foreign + #(it.params.foreign or {})
    all.message = all.message or (it.params.health ~= 'ok' and it.params.message) or nil
  end
  return all
end

--- Problems, shown above everything else.
---@param input loopkeeper.SummaryInput
---@return string[]
function M.before(input)
  local lines = {}
  if input.server == 'failed' then
    lines = {
      t('The server is not running. Loops are not affected.'),
      t('C restarts it, `:checkhealth loopkeeper` says more.'),
    }
  elseif input.server == 'starting' then
    lines = { t('The server is starting.') }
  end
  table.insert(lines, count(input).message)
  if not input.trusted then
    table.insert(
      lines,
      t('This folder is not trusted (`trusted = false` in `vim.g.loopkeeper`), so no loop can be started.')
    )
  end
  return lines
end

---@param input loopkeeper.SummaryInput
---@return string[]
function M.after(input)
  local all = count(input)
  if input.server ~= 'ready' or all.loops > 0 or all.foreign > 0 then
    return {}
  elseif all.tasks == 0 then
    return {
      t(
        'There is no task in this folder. A task is a file such as PROMPT.md with criteria under a heading such as '
          .. '"Done when".'
      ),
      t('n makes one from a sentence.'),
    }
  end
  return {
    t('No loop has run in this folder yet.'),
    input.trusted and t('L starts one for the task under the cursor, r runs its checks.') or nil,
  }
end

return M
