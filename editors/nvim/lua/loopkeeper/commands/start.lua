-- `:Ralph start` and `:Ralph check`.

local t = require('loopkeeper.l10n').t
local target = require('loopkeeper.target')
local protocol = require('loopkeeper.protocol')
local status = require('loopkeeper.status')
local ui = require('loopkeeper.ui')

local M = {}

local settings = { agent = 'agent', iterations = 'iterations', duration = 'duration', cost = 'costUsd' }

---@param words string[]
---@return table? argument, string? problem
local function start_argument(words)
  local argument = {}
  for _, word in ipairs(words) do
    local key, value = word:match('^(%a+)=(.+)$')
    if word == 'anyway' then
      argument.anyway = true
    elseif key == 'agent' then
      argument.agent = value
    elseif key and settings[key] then
      argument.limits = argument.limits or {}
      argument.limits[settings[key]] = key == 'duration' and value or tonumber(value) or value
    elseif key then
      return nil, t('`{word}` is not recognised. Hint: `:help :Ralph-start`', { word = word })
    else
      -- File names may contain spaces.
      argument.task = argument.task and argument.task .. ' ' .. word or word
    end
  end
  return argument
end

local function task_ids()
  return vim.tbl_map(function(task)
    return task.id
  end, status.tasks())
end

--- Shows the list, except where nothing may be started: the server says why.
local function show_list()
  local function start_now(client, task)
    require('loopkeeper.requests').send(client, protocol.commands.start, { task = task })
  end
  target.tasks(function(tasks, candidates)
    if status.of(candidates[1].client).trusted == false then
      return start_now(candidates[1].client, candidates[1].it.uri)
    end
    require('loopkeeper.start_list').open(tasks, candidates)
  end, start_now)
end

M.start = {
  bang = true,
  run = function(call)
    if not call.bang and #call.words == 0 then
      return show_list()
    end
    local argument, problem = start_argument(call.words)
    if not argument then
      ui.error(problem)
      return
    end
    target.task(argument.task, function(client, task)
      argument.task = task
      require('loopkeeper.requests').send(client, protocol.commands.start, argument)
    end)
  end,
  complete = function()
    return vim.list_extend(task_ids(), { 'agent=', 'anyway', 'cost=', 'duration=', 'iterations=' })
  end,
}

--- The criterion at the cursor.
---@param entry? loopkeeper.TaskEntry
---@return string?
local function criterion_here(entry)
  local row = vim.api.nvim_win_get_cursor(0)[1]
  local path = vim.fs.normalize(vim.api.nvim_buf_get_name(0))
  for _, item in ipairs(entry and entry.criteria.items or {}) do
    local root = vim.uri_to_fname(entry.root)
    if vim.fs.normalize(root .. '/' .. item.place.file) == path and vim.fn.byte2line(item.place.start + 1) == row then
      return item.id
    end
  end
end

M.check = {
  run = function(call)
    target.task(nil, function(client, task, entry)
      local criterion = call.words[1]
      if criterion == 'cancel' then
        return require('loopkeeper.requests').send(client, protocol.commands.cancelChecks, { task = task })
      elseif criterion == 'here' then
        criterion = criterion_here(entry)
        if not criterion then
          ui.error(t('there is no criterion on this line'))
          return
        end
      end
      require('loopkeeper.requests').send(client, protocol.commands.check, { task = task, criterion = criterion })
    end)
  end,
  complete = function(words)
    local ids = { 'here', 'cancel' }
    for _, task in ipairs(#words == 0 and status.tasks() or {}) do
      for _, item in ipairs(task.criteria.items) do
        table.insert(ids, item.id)
      end
    end
    return #words == 0 and ids or {}
  end,
}

return M
