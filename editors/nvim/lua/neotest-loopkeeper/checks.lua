-- Runs checks through the server for neotest, as a process of neotest's: waits for the round and collects its results
-- and outputs. Called in tasks of nvim-nio, which is a dependency of neotest.

local client_module = require('loopkeeper.client')
local files = require('loopkeeper.files')
local l10n = require('loopkeeper.l10n')
local protocol = require('loopkeeper.protocol')
local status = require('loopkeeper.status')

local M = {}

---@class loopkeeper.NeotestProcess
---@field stopped boolean
---@field settle? fun() ends what is awaited, if the process was stopped

local t = l10n.t

local untrusted = l10n.later(
  'The commands of this task are not trusted yet, so nothing was run. Answer the question, or run `:Ralph trust`.'
)
local folder_untrusted =
  l10n.later('This folder is not trusted (`trusted = false` in `vim.g.loopkeeper`), so nothing was run.')
local no_server = l10n.later('The server is not running. See `:checkhealth loopkeeper`.')
local cancelled = l10n.later('The checks were cancelled.')
local no_result = l10n.later('The checks ended without a result. See `:Ralph output`.')

--- Waits, in a task of nvim-nio, for a function that calls back.
---@param start fun(callback: fun(value?: any))
---@return any
local function await(start)
  local nio = require('nio')
  nio.scheduler()
  local future = nio.control.future()
  start(function(value)
    if not future.is_set() then
      future.set(value == nil and false or value)
    end
  end)
  local value = future.wait()
  nio.scheduler()
  return value
end

---@param path string
---@return vim.lsp.Client? whose first status has arrived
local function client_of(path)
  require('nio').scheduler()
  local client = client_module.start(files.root(path))
  if client then
    await(function(callback)
      status.when_known(client, callback)
    end)
  end
  return client
end

--- The tasks of the root of a document.
---@param path string
---@return loopkeeper.TaskEntry[]
function M.tasks(path)
  local client = client_of(path)
  local params = client and status.of(client)
  return params and params.tasks or {}
end

---@param client vim.lsp.Client
---@param task string
---@return loopkeeper.TaskEntry?
local function entry(client, task)
  local params = status.of(client)
  return vim.iter(params and params.tasks or {}):find(function(it)
    return it.uri == task
  end)
end

---@param client vim.lsp.Client
---@param command string
---@param argument table
---@param process? loopkeeper.NeotestProcess whose end cancels the request
---@return { err?: table, result?: table }
local function execute(client, command, argument, process)
  local reply = await(function(callback)
    local params = { command = command, arguments = { argument } }
    local cancel = client_module.request(client, 'workspace/executeCommand', params, function(err, result)
      if type(result) == 'table' and result.status then
        status.update(client, result.status)
      end
      callback({ err = err, result = result })
    end)
    if process then
      process.settle = function()
        cancel()
        callback({ err = { message = t(cancelled) } })
      end
    end
  end)
  if process then
    process.settle = nil
  end
  return reply
end

--- Waits until a round of checks that was ordered at `before` has ended.
---@param client vim.lsp.Client
---@param task string
---@param before integer
---@param process loopkeeper.NeotestProcess
---@return boolean whether it has a result
local function finished(client, task, before, process)
  local has_run = false
  local autocommand
  local value = await(function(callback)
    local function settle()
      local now = entry(client, task)
      if process.stopped or not now then
        callback(false)
      elseif now.checking then
        has_run = true
      elseif (now.rounds or 0) > before then
        callback(true)
      elseif has_run then
        callback(false)
      end
    end
    process.settle = settle
    autocommand = vim.api.nvim_create_autocmd('User', { pattern = 'LoopkeeperStatus', callback = settle })
    settle()
  end)
  vim.api.nvim_del_autocmd(autocommand)
  process.settle = nil
  return value
end

--- Checks without a command have no output.
---@param client vim.lsp.Client
---@param context loopkeeper.NeotestContext
---@param task string
---@param item loopkeeper.CriterionStatus
local function collect(client, context, task, item)
  local key = task .. ' ' .. item.id
  context.items[key] = item
  local argument = { task = task, criterion = item.id, show = false }
  local reply = execute(client, protocol.commands.output, argument)
  local lines = reply.result and reply.result.uri and require('loopkeeper.ui').read(reply.result.uri)
  if lines and #lines > 0 then
    local path = vim.fn.tempname()
    vim.fn.writefile(lines, path)
    context.outputs[key] = path
  end
end

---@param client vim.lsp.Client
---@param context loopkeeper.NeotestContext
---@param argument loopkeeper.CheckArgs
---@param process loopkeeper.NeotestProcess
---@return string? problem
local function run_check(client, context, argument, process)
  local before = entry(client, argument.task)
  if not before then
    return t(no_result)
  end
  require('loopkeeper.questions').expect()
  require('loopkeeper.requests').save(client_module.root(client))
  local reply = execute(client, protocol.commands.check, argument, process)
  if reply.err and process.stopped then
    -- The server may have started them before it read the cancellation.
    execute(client, protocol.commands.cancelChecks, { task = argument.task })
  end
  if reply.err then
    local data = type(reply.err.data) == 'table' and reply.err.data or {}
    return data.code == protocol.errors.untrusted and t(untrusted) or reply.err.message
  elseif reply.result and reply.result.effect then
    -- The loop runs the checks; its results are shown by the plugin.
    context.effects[argument.task] = reply.result.effect
    return nil
  elseif not finished(client, argument.task, before.rounds or 0, process) then
    if process.stopped then
      execute(client, protocol.commands.cancelChecks, { task = argument.task })
      return t(cancelled)
    end
    return t(no_result)
  end
  for _, item in ipairs((entry(client, argument.task) or { criteria = { items = {} } }).criteria.items) do
    if argument.criterion == nil or argument.criterion == item.id then
      collect(client, context, argument.task, item)
    end
  end
end

---@param context loopkeeper.NeotestContext
---@param path string of the file to write
local function write_summary(context, path)
  local lines = vim.list_extend(vim.tbl_values(context.problems), vim.tbl_values(context.effects))
  for _, item in pairs(context.items) do
    local text = t('{name}: {text}', { name = item.name, text = item.fact or '' })
    table.insert(lines, ('%s %s'):format(item.status == 'pass' and '✓' or '✗', text))
  end
  table.sort(lines)
  vim.fn.writefile(lines, path)
end

---@param context loopkeeper.NeotestContext
---@param process loopkeeper.NeotestProcess
---@return integer code
local function run(context, process)
  for _, it in ipairs(context.runs) do
    local client, argument, problem = client_of(it.path), it.argument, nil
    if not client then
      problem = t(no_server)
    elseif status.of(client) and status.of(client).trusted == false then
      problem = t(folder_untrusted)
    elseif not process.stopped then
      problem = run_check(client, context, argument, process)
    end
    context.problems[argument.task] = problem
  end
  local failing = vim.iter(vim.tbl_values(context.items)):any(function(item)
    return item.status ~= 'pass'
  end)
  return (failing or next(context.problems)) and 1 or 0
end

--- A process for neotest. To stop it ends the running checks.
---@param context loopkeeper.NeotestContext
---@return neotest.Process
function M.process(context)
  context.items, context.outputs, context.problems, context.effects = {}, {}, {}, {}
  local nio = require('nio')
  nio.scheduler()
  local process, code = { stopped = false }, nil
  local output, done = vim.fn.tempname(), nio.control.future()
  vim.fn.writefile({}, output)
  nio.run(function()
    local ok, result = pcall(run, context, process)
    nio.scheduler()
    for _, it in ipairs(ok and {} or context.runs) do
      context.problems[it.argument.task] = tostring(result)
    end
    code = ok and result or 1
    write_summary(context, output)
    done.set()
  end)
  return {
    is_complete = function()
      return code ~= nil
    end,
    output = function()
      return output
    end,
    -- The whole output is written at the end.
    output_stream = function()
      local sent = false
      return function()
        done.wait()
        if not sent then
          sent = true
          nio.scheduler()
          return table.concat(vim.fn.readfile(output), '\n') .. '\n'
        end
      end
    end,
    attach = function()
      nio.scheduler()
      vim.cmd('Ralph output')
    end,
    stop = function()
      process.stopped = true
      if process.settle then
        vim.schedule(process.settle)
      end
    end,
    result = function()
      done.wait()
      return code
    end,
  }
end

return M
