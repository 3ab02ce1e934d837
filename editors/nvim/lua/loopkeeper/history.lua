-- `:Ralph log`: shows the iterations of a loop, and the results of each criterion in them.

local loop_details = require('loopkeeper.loop_details')
local t = require('loopkeeper.l10n').t
local ui = require('loopkeeper.ui')

local M = {}

---@param ms? integer
---@return string
local function duration(ms)
  if not ms then
    return ''
  elseif ms < 60000 then
    return t('{count} s', { count = math.floor(ms / 1000 + 0.5) })
  end
  return t('{count} min', { count = math.floor(ms / 60000 + 0.5) })
end

---@param entry loopkeeper.IterationEntry
---@return string
local function summary(entry)
  return entry.summary or t('at work')
end

--- Fills a column. `%-8s` counts bytes, a screen cells.
---@param text string
---@param width integer
---@return string
local function filled(text, width)
  return text .. (' '):rep(width - vim.fn.strdisplaywidth(text))
end

---@param entry loopkeeper.IterationEntry
---@param width integer of all summaries
---@return string
local function iteration_line(entry, width)
  local cost = entry.costMicros and ('$%.2f'):format(entry.costMicros / 1e6) or ''
  local changed = table.concat(vim.list_extend({ loop_details.changes(entry) }, loop_details.reached(entry)), t('; '))
  local name = entry.iteration == 0 and t('start') or tostring(entry.iteration)
  local columns = { filled(summary(entry), width), filled(duration(entry.durationMs), 8), filled(cost, 8), changed }
  local lead = (' '):rep(5 - vim.fn.strdisplaywidth(name))
  return (('%s%s  %s'):format(lead, name, table.concat(columns, '  ')):gsub('%s+$', ''))
end

---@param loop loopkeeper.LoopStatus
---@param result loopkeeper.IterationsResult
function M.show(loop, result)
  local lines = { t('{title}: loop {id}', { title = loop.task.title, id = result.loopId }), '' }
  local width = 0
  for _, entry in ipairs(result.iterations) do
    width = math.max(width, vim.fn.strdisplaywidth(summary(entry)))
  end
  for _, entry in ipairs(result.iterations) do
    table.insert(lines, iteration_line(entry, width))
  end
  table.insert(lines, '')
  for _, criterion in ipairs(result.criteria) do
    table.insert(lines, ('%s  %s'):format(criterion.row, criterion.name))
  end
  if loop.outcome then
    vim.list_extend(lines, { '', loop.outcome.sentence })
  end
  lines = vim.tbl_map(function(line)
    return (line:gsub('[\r\n]', ' '))
  end, lines)
  local buffer = ui.scratch('loopkeeper://log/' .. result.loopId, 'loopkeeper-log')
  vim.bo[buffer].bufhidden = 'wipe'
  ui.set_lines(buffer, 0, -1, lines)
  ui.show_text_below(buffer)
end

return M
