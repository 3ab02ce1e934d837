-- Sends a command to the server and shows its result: files are saved before commands that read them, an error is shown
-- with the server's message, and a result is passed to the module that displays its kind.

local client_module = require('loopkeeper.client')
local files = require('loopkeeper.files')
local l10n = require('loopkeeper.l10n')
local protocol = require('loopkeeper.protocol')
local ui = require('loopkeeper.ui')

local t = l10n.t

local M = {}

local reads_files =
  { [protocol.commands.start] = true, [protocol.commands.check] = true, [protocol.commands.trust] = true }

--- Saves the tasks, plans and configurations of a root that have unsaved changes.
---@param root string
---@return boolean whether all could be saved
function M.save(root)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local path = vim.api.nvim_buf_get_name(buffer)
    local changed = vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].modified and vim.bo[buffer].buftype == ''
    local ours = files.is_ours(path) or client_module.of_buffer(buffer) ~= nil
    if changed and ours and vim.startswith(path, root .. '/') then
      local ok, problem = pcall(vim.api.nvim_buf_call, buffer, function()
        vim.cmd.write({ mods = { silent = true } })
      end)
      if not ok then
        local why = tostring(problem):gsub('^.-(E%d+:)', '%1')
        ui.error(t('cannot save {path}: {why}', { path = vim.fn.fnamemodify(path, ':.'), why = why }))
        return false
      end
    end
  end
  return true
end

--- Offers to open the location to correct.
---@param message string
---@param data loopkeeper.RefusalData
local function offer_place(message, data)
  local path = vim.uri_to_fname(data.uri)
  local several = (data.count or 1) > 1
  local yes = several and t('Show problems') or t('Open {name}', { name = vim.fn.fnamemodify(path, ':t') })
  local function label(choice)
    return choice
  end
  ui.select({ yes, t('Not now') }, message .. ' ', label, function(choice)
    if choice ~= yes then
      return
    end
    vim.cmd.edit(vim.fn.fnameescape(path))
    local last = vim.api.nvim_buf_line_count(0)
    vim.api.nvim_win_set_cursor(0, { math.min((data.line or 0) + 1, last), 0 })
    if several then
      require('loopkeeper.quickfix').open()
    end
  end)
end

---@param err lsp.ResponseError
function M.show_error(err)
  local data = type(err.data) == 'table' and err.data or {}
  -- The server asks the user itself, so a message in addition to its question is not needed.
  if data.code == protocol.errors.untrusted and data.asked then
    return
  end
  local message = require('loopkeeper.command_names').replace(err.message, data.commands)
  local is_place = data.uri and data.code ~= protocol.errors.unsaved
  if is_place and vim.api.nvim_get_mode().mode == 'n' then
    offer_place(message, data)
  else
    ui.tell(message, vim.log.levels.ERROR)
  end
end

--- Executes a command of the server. Without a callback the result is shown according to its kind.
---@param client vim.lsp.Client
---@param command string
---@param argument table
---@param on_result? fun(result: table)
function M.send(client, command, argument, on_result)
  if reads_files[command] and not M.save(client_module.root(client)) then
    return
  end
  local questions = require('loopkeeper.questions')
  questions.expect()
  local argument_or_empty = next(argument) == nil and vim.empty_dict() or argument
  local params = { command = command, arguments = { argument_or_empty } }
  client_module.request(client, 'workspace/executeCommand', params, function(err, result)
    questions.expect()
    if err then
      M.show_error(err)
      return
    end
    result = type(result) == 'table' and result or {}
    if result.status then
      require('loopkeeper.status').update(client, result.status)
    end
    local show = on_result or M.shows[command]
    if show then
      show(result, client, argument)
    end
  end)
end

-- Sentences about a rollback; the keeper of an older version does not report its changes.
local counted = {
  undo = l10n.later(
    'the rollback is undone: {written} written, {removed} removed. `:Ralph rollback undo` rolls back again.'
  ),
  start = l10n.later(
    'files are as they were at the start: {written} written, {removed} removed. `:Ralph rollback undo` undoes it.'
  ),
  iteration = l10n.later(
    'files are as they were after iteration {number}: {written} written, {removed} removed. '
      .. '`:Ralph rollback undo` undoes it.'
  ),
}
local uncounted = {
  undo = l10n.later('the rollback is undone. `:Ralph rollback undo` rolls back again.'),
  start = l10n.later('files are as they were at the start. `:Ralph rollback undo` undoes it.'),
  iteration = l10n.later('files are as they were after iteration {number}. `:Ralph rollback undo` undoes it.'),
}

---@param result loopkeeper.CommandResult
local function show_rollback(result, client, argument)
  require('loopkeeper.checktime').run(client_module.root(client))
  local kind = argument.iteration == nil and 'undo' or argument.iteration == 0 and 'start' or 'iteration'
  local sentences = result.written and result.removed and counted or uncounted
  local values = { written = result.written, removed = result.removed, number = argument.iteration }
  local counts = t(sentences[kind], values)
  if #(result.refused or {}) == 0 then
    ui.info(counts)
    return
  end
  local refused = vim.tbl_map(function(it)
    return t('{path} ({why})', { path = it.path, why = it.why })
  end, result.refused)
  ui.warn(t('{sentence} Not touched: {files}', { sentence = counts, files = l10n.list(refused) }))
end

--- Shows that a command was accepted, and when it takes effect.
---@param result loopkeeper.CommandResult
local function show_effect(result)
  if result.effect then
    ui.tell(result.effect, vim.log.levels.INFO)
  end
end

---@type table<string, fun(result: table, client: vim.lsp.Client, argument: table)>
M.shows = {
  [protocol.commands.stop] = show_effect,
  [protocol.commands.pause] = show_effect,
  [protocol.commands.steer] = show_effect,
  [protocol.commands.check] = show_effect,
  [protocol.commands.cancelChecks] = show_effect,
  [protocol.commands.rollback] = show_rollback,
  [protocol.commands.undoRollback] = show_rollback,
  [protocol.commands.diff] = function(result, _, argument)
    require('loopkeeper.diff').open(argument, result)
  end,
}

return M
