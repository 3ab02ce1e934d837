-- Commands about an iteration or a whole loop: `:Ralph rollback`, `diff`, `output`, `log`, `receipt`,
-- `dashboard`.

local client_module = require('loopkeeper.client')
local loop_details = require('loopkeeper.loop_details')
local l10n = require('loopkeeper.l10n')
local target = require('loopkeeper.target')
local protocol = require('loopkeeper.protocol')
local roll_back = require('loopkeeper.rollback').roll_back
local status = require('loopkeeper.status')
local ui = require('loopkeeper.ui')

local t = l10n.t

local M = {}

---@param words string[]
---@return integer? iteration, string? loop, string? problem
local function parse(words)
  local iteration, loop
  for _, word in ipairs(words) do
    if word:match('^%d+$') and not iteration then
      iteration = tonumber(word)
    elseif not loop then
      loop = word
    else
      return nil, nil, t('`{word}` is not recognised', { word = word })
    end
  end
  return iteration, loop
end

local function complete(words)
  local candidates = {}
  local latest = #words == 0 and status.loops()[1]
  for iteration = 0, latest and latest.iteration or -1 do
    table.insert(candidates, tostring(iteration))
  end
  for _, loop in ipairs(status.loops()) do
    table.insert(candidates, loop.id)
  end
  return candidates
end

local function complete_loop(words)
  return #words == 0 and vim.tbl_map(function(loop)
    return loop.id
  end, status.loops()) or {}
end

---@param entry loopkeeper.IterationEntry
---@return string
local function describe(entry)
  local parts = { loop_details.changes(entry) }
  if entry.summary then
    table.insert(parts, entry.summary)
  end
  local name = entry.iteration == 0 and t('the start') or t('iteration {number}', { number = entry.iteration })
  local first = #parts > 0 and t('{name}: {text}', { name = name, text = l10n.list(parts) }) or name
  return table.concat(vim.list_extend({ first }, loop_details.reached(entry)), t('; '))
end

--- Calls back with the iteration in the arguments, or else the one that the user picks.
local function with_iteration(call, prompt, smallest, callback)
  local iteration, named, problem = parse(call.words)
  if problem then
    ui.error(problem)
    return
  end
  target.loop(named, false, function(client, loop)
    if iteration then
      return callback(client, loop, iteration)
    end
    client_module.request(client, protocol.requests.iterations, { loopId = loop.id }, function(err, result)
      if err then
        return require('loopkeeper.requests').show_error(err)
      end
      local entries = vim.tbl_filter(function(entry)
        return entry.iteration >= smallest
      end, result.iterations)
      if #entries == 0 then
        return ui.info(t('there is no iteration yet'))
      end
      ui.select(vim.iter(entries):rev():totable(), prompt, describe, function(entry)
        callback(client, loop, entry.iteration)
      end)
    end)
  end)
end

---@param command string
local function send(command)
  return function(client, loop, iteration)
    require('loopkeeper.requests').send(client, command, { loopId = loop.id, iteration = iteration })
  end
end

local function undo_rollback(client, loop)
  roll_back(client, protocol.commands.undoRollback, { loopId = loop.id }, t('Undo the last rollback?'))
end

M.rollback = {
  complete = function(words)
    local candidates = complete(words)
    if #words == 0 then
      table.insert(candidates, 1, 'undo')
    end
    return candidates
  end,
  run = function(call)
    if call.words[1] == 'undo' then
      return target.loop(call.words[2], false, undo_rollback)
    end
    with_iteration(call, t('Roll back to: '), 0, function(client, loop, iteration)
      local argument = { loopId = loop.id, iteration = iteration }
      local question = iteration == 0 and t('Roll the files back to the start?')
        or t('Roll the files back to iteration {number}?', { number = iteration })
      roll_back(client, protocol.commands.rollback, argument, question, true)
    end)
  end,
}

M.diff = {
  complete = complete,
  run = function(call)
    with_iteration(call, t('Changes of: '), 1, send(protocol.commands.diff))
  end,
}

M.output = {
  complete = complete,
  run = function(call)
    local iteration, named, problem = parse(call.words)
    if problem then
      ui.error(problem)
      return
    end
    target.loop(named, false, function(client, loop)
      if iteration == nil then
        require('loopkeeper.output').open(client, loop)
        return
      end
      local latest = vim.iter(status.tasks()):find(function(task)
        return task.loopId == loop.id
      end)
      if not latest then
        return ui.error(t('an iteration is shown of the latest loop of a task only. Hint: `:Ralph output LOOP`'))
      end
      local argument = { task = loop.task.uri, iteration = iteration }
      require('loopkeeper.requests').send(client, protocol.commands.output, argument)
    end)
  end,
}

M.log = {
  complete = complete,
  run = function(call)
    target.loop(call.words[1], false, function(client, loop)
      client_module.request(client, protocol.requests.iterations, { loopId = loop.id }, function(err, result)
        if err then
          return require('loopkeeper.requests').show_error(err)
        end
        require('loopkeeper.history').show(loop, result)
      end)
    end)
  end,
}

M.dashboard = {
  complete = complete_loop,
  run = function(call)
    target.loop(call.words[1], false, function(client, loop)
      local request = { command = protocol.commands.report, arguments = { { loopId = loop.id } } }
      client_module.request(client, 'workspace/executeCommand', request, function(err, result)
        if err then
          return require('loopkeeper.requests').show_error(err)
        end
        local _, open_problem = vim.ui.open(vim.uri_to_fname(result.uri))
        if open_problem then
          ui.error(open_problem)
        end
      end)
    end)
  end,
}

M.receipt = {
  complete = complete_loop,
  run = function(call)
    target.loop(call.words[1], false, function(client, loop)
      require('loopkeeper.requests').send(client, protocol.commands.receipt, { loopId = loop.id })
    end)
  end,
}

return M
