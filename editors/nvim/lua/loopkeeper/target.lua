-- Resolves the task or loop of a command: the one in the arguments, else the one of the current buffer, else the only
-- one, else the one that the user picks.

local client_module = require('loopkeeper.client')
local files = require('loopkeeper.files')
local t = require('loopkeeper.l10n').t
local status = require('loopkeeper.status')
local ui = require('loopkeeper.ui')

local M = {}

--- Calls back once the server of the current buffer has sent its first status.
---@param callback fun(client: vim.lsp.Client)
function M.ready(callback)
  local client = client_module.current()
  if client then
    status.when_known(client, function()
      callback(client)
    end)
  end
end

---@param matches fun(params: loopkeeper.StatusParams): any[]
---@return { client: vim.lsp.Client, it: any }[]
local function everywhere(matches)
  local found = {}
  for _, client in ipairs(client_module.all()) do
    local params = status.of(client)
    for _, it in ipairs(params and matches(params) or {}) do
      table.insert(found, { client = client, it = it })
    end
  end
  return found
end

---@class loopkeeper.TaskPick
---@field client vim.lsp.Client
---@field it loopkeeper.TaskEntry

---@return loopkeeper.TaskPick[]
local function all_tasks()
  return everywhere(function(params)
    return params.tasks
  end)
end

local function file_of(uri)
  return vim.fs.normalize(vim.uri_to_fname(uri))
end

--- The tasks of the current buffer: the buffer itself, else those of its folder, else those of its root. A buffer
--- without a file belongs to the working directory.
local function tasks_of_buffer(tasks)
  local path = vim.bo.buftype == '' and vim.fs.normalize(vim.api.nvim_buf_get_name(0)) or ''
  local tests = {
    function(task)
      return file_of(task.uri) == path
    end,
    function(task)
      return path ~= '' and vim.fs.dirname(file_of(task.uri)) == vim.fs.dirname(path)
    end,
    function(task)
      return file_of(task.root) == files.root(path)
    end,
  }
  for _, test in ipairs(tests) do
    local found = vim.tbl_filter(function(entry)
      return test(entry.it)
    end, tasks)
    if #found > 0 then
      return found
    end
  end
  return {}
end

--- Matches a path, an id in the project of the current buffer, or an id in any other.
local function task_named(tasks, named)
  local path = vim.fs.normalize(vim.fn.fnamemodify(named, ':p'))
  local root = files.root(vim.bo.buftype == '' and vim.api.nvim_buf_get_name(0) or '')
  local by_id
  for _, entry in ipairs(tasks) do
    if file_of(entry.it.uri) == path then
      return entry
    elseif entry.it.id == named and (by_id == nil or file_of(entry.it.root) == root) then
      by_id = entry
    end
  end
  return by_id
end

--- Calls back with a client and a task's id or URI.
---@param named? string id or path of a task
---@param callback fun(client: vim.lsp.Client, task: string, entry?: loopkeeper.TaskEntry)
function M.task(named, callback)
  M.ready(function(client)
    local tasks = all_tasks()
    local function take(entry)
      callback(entry.client, entry.it.uri, entry.it)
      return true
    end
    if named then
      local entry = task_named(tasks, named)
      -- The server reports an error for an unknown name.
      return entry and take(entry) or callback(client, named)
    end
    local own = tasks_of_buffer(tasks)
    if #own == 0 and client.attached_buffers[vim.api.nvim_get_current_buf()] and #tasks == 0 then
      return callback(client, vim.uri_from_bufnr(0))
    end
    local choice = #own > 0 and own or tasks
    if #own == 1 then
      take(own[1])
    elseif #choice == 0 then
      ui.error(t('there is no task here. Hint: `:Ralph new` makes one from a sentence.'))
    else
      -- A task of another project must be confirmed, even if it is the only one.
      ui.select(choice, t('Task: '), function(entry)
        return ('%s  (%s)'):format(entry.it.id, entry.it.title)
      end, take)
    end
  end)
end

--- Calls back with all tasks, and those of the current buffer or, if it has none, all. Without a task it behaves like
--- `M.task`.
---@param callback fun(tasks: loopkeeper.TaskPick[], candidates: loopkeeper.TaskPick[])
---@param otherwise fun(client: vim.lsp.Client, task: string)
function M.tasks(callback, otherwise)
  M.ready(function()
    local tasks = all_tasks()
    local own = tasks_of_buffer(tasks)
    if #tasks == 0 then
      return M.task(nil, otherwise)
    end
    callback(tasks, #own > 0 and own or tasks)
  end)
end

--- Calls back with a client and a loop of Claude Code's plugin; calls `otherwise` if there is none.
---@param callback fun(client: vim.lsp.Client, foreign: loopkeeper.ForeignLoop)
---@param otherwise fun()
function M.foreign(callback, otherwise)
  M.ready(function()
    local all = everywhere(function(params)
      return params.foreign or {}
    end)
    local function take(entry)
      callback(entry.client, entry.it)
    end
    if #all > 1 then
      ui.select(all, t("Loop of Claude Code's plugin: "), function(entry)
        return vim.fn.fnamemodify(vim.uri_to_fname(entry.it.root), ':~')
      end, take)
    elseif all[1] then
      take(all[1])
    else
      otherwise()
    end
  end)
end

---@param loops { client: vim.lsp.Client, it: loopkeeper.LoopStatus }[]
local function loop_of_buffer(loops)
  for _, entry in ipairs(tasks_of_buffer(all_tasks())) do
    for _, loop in ipairs(loops) do
      if loop.it.id == entry.it.loopId then
        return loop
      end
    end
  end
end

--- The loop with this id, else the only one whose id begins with it.
---@param loops { client: vim.lsp.Client, it: loopkeeper.LoopStatus }[]
---@param named string
local function loop_named(loops, named)
  local matches = {}
  for _, loop in ipairs(loops) do
    if loop.it.id == named then
      return loop
    elseif vim.startswith(loop.it.id, named) then
      table.insert(matches, loop)
    end
  end
  return #matches == 1 and matches[1] or nil
end

--- Calls back with a client and a loop.
---@param named? string id of a loop or its beginning
---@param only_open boolean
---@param callback fun(client: vim.lsp.Client, loop: loopkeeper.LoopStatus)
function M.loop(named, only_open, callback)
  M.ready(function(client)
    local loops = everywhere(function(params)
      return params.loops
    end)
    if named then
      local loop = loop_named(loops, named)
      if loop then
        return callback(loop.client, loop.it)
      end
      -- The server reports an error for an unknown or ambiguous name.
      return callback(client, { id = named, iteration = 0, state = 'idle', task = { uri = '', title = '' } })
    end
    local open = vim.tbl_filter(function(loop)
      return status.is_open(loop.it)
    end, loops)
    local own = loop_of_buffer(only_open and open or loops)
    if own then
      callback(own.client, own.it)
    elseif #open > 1 then
      ui.select(open, t('Loop: '), function(loop)
        return ('%s  (%s)'):format(loop.it.task.title, loop.it.id)
      end, function(loop)
        callback(loop.client, loop.it)
      end)
    elseif open[1] or (loops[1] and not only_open) then
      local loop = open[1] or loops[1]
      callback(loop.client, loop.it)
    else
      ui.error(only_open and t('no loop running here. Hint: `:Ralph start`') or t('there is no loop here yet'))
    end
  end)
end

return M
