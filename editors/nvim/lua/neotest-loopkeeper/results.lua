-- Criteria as positions of neotest, and their states as results. Pure, except that the text of a document is read.

local l10n = require('loopkeeper.l10n')

local t = l10n.t

local M = {}

-- As in the test view of Visual Studio Code.
local messages = {
  ['could-not-run'] = l10n.later('The check could not run.'),
  ['timed-out'] = l10n.later('The check could not run.'),
}

---@param text string
---@param offset integer in bytes
---@return integer line, integer column both from 0
local function place(text, offset)
  local before = text:sub(1, offset)
  local _, line = before:gsub('\n', '')
  return line, #before:match('[^\n]*$')
end

---@param path string
---@return string
local function read(path)
  local file = io.open(path, 'rb')
  local text = file and file:read('*a') or ''
  if file then
    file:close()
  end
  return text
end

--- The file, and a test for each criterion that is written in it.
---@param path string
---@param tasks loopkeeper.TaskEntry[]
---@return table[]
function M.positions(path, tasks)
  local text, positions, known = read(path), {}, {}
  local last = place(text, #text)
  positions[1] = { id = path, type = 'file', name = vim.fs.basename(path), path = path, range = { 0, 0, last, 0 } }
  for _, task in ipairs(tasks) do
    local root = vim.uri_to_fname(task.root)
    for _, item in ipairs(task.criteria.items) do
      local id = path .. '::' .. item.id
      if not known[id] and vim.fs.normalize(root .. '/' .. item.place.file) == path then
        known[id] = true
        local line, column = place(text, item.place.start)
        local end_line, end_column = place(text, item.place.start + item.place.length)
        table.insert(positions, {
          id = id,
          type = 'test',
          name = item.name,
          path = path,
          range = { line, column, end_line, end_column },
          loopkeeper = { task = task.uri, criterion = item.id },
        })
      end
    end
  end
  return positions
end

---@class loopkeeper.NeotestContext
---@field runs { path: string, argument: loopkeeper.CheckArgs }[]
---@field problems table<string, string> why nothing ran, by task
---@field effects table<string, string> what happens instead, by task
---@field items table<string, loopkeeper.CriterionStatus> by task and criterion
---@field outputs table<string, string> paths, by task and criterion

---@param position table
---@param problem string
---@param output? string
---@return neotest.Result
local function failed(position, problem, output)
  local errors = { { message = problem, line = position.range[1] } }
  return {
    status = 'failed',
    short = t('{name}: {text}', { name = position.name, text = problem }),
    errors = errors,
    output = output,
  }
end

---@param position table
---@param context loopkeeper.NeotestContext
---@param output string
---@return neotest.Result
function M.of(position, context, output)
  local ours = position.loopkeeper
  local key = ours.task .. ' ' .. ours.criterion
  local problem, effect = context.problems[ours.task], context.effects[ours.task]
  if problem then
    return failed(position, problem, output)
  elseif effect then
    return { status = 'skipped', short = effect, output = output }
  end
  local item = context.items[key]
  if not item or item.status == nil or item.status == 'unverified' then
    return { status = 'skipped', short = t('no check has run'), output = output }
  end
  output = context.outputs[key] or output
  if item.status == 'pass' then
    return { status = 'passed', short = item.fact, output = output }
  end
  local fact = item.fact or t(messages[item.status] or l10n.later('The criterion does not hold.'))
  return failed(position, fact, output)
end

return M
