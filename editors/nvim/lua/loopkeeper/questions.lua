-- Handles the server's questions and alerts. A question that follows from the user's last action is asked immediately
-- with `vim.ui.select`; any other is announced by one message and waits for `:Ralph status`, so that it does not
-- capture the keys of a user who is typing. A question about a page is asked next to that page.

local t = require('loopkeeper.l10n').t
local ui = require('loopkeeper.ui')

local M = {}

local user_is_there_ms = 30000
-- The server's timeout for an answer.
local expires_ms = 600000

local levels = { info = vim.log.levels.INFO, warning = vim.log.levels.WARN, error = vim.log.levels.ERROR }

local expected_until = 0
---@class loopkeeper.Question
---@field params { message: string, actions: { title: string, page?: string }[] }
---@field client integer
---@field time integer
---@field answered? boolean
---@field answer fun(choice?: { title: string })

local pending = {} ---@type loopkeeper.Question[]

--- Called after an action of the user that the server may have a question about.
function M.expect()
  expected_until = vim.uv.now() + user_is_there_ms
end

---@param question loopkeeper.Question
local function ask(question)
  local page = question.params.actions[1].page
  if page then
    require('loopkeeper.trust').ask(question, page)
    return
  end
  vim.ui.select(question.params.actions, {
    prompt = question.params.message .. ' ',
    kind = 'loopkeeper',
    format_item = function(action)
      return (action.title:gsub('%s+', ' '))
    end,
  }, question.answer)
end

--- Handler of `window/showMessageRequest`: runs in a coroutine and yields until the answer.
---@param params table
---@param client integer
function M.asked(params, client)
  local running, is_main = coroutine.running()
  if not running or is_main or not params.actions or #params.actions == 0 then
    ui.tell(params.message, vim.log.levels.WARN)
    return vim.NIL
  end
  local question = { params = params, client = client, time = vim.uv.now() }
  question.answer = function(choice)
    -- Further questions that result from the answer follow from the user's action as well.
    M.expect()
    -- The default `vim.ui.select` calls back before it returns, but the coroutine must have yielded first.
    vim.schedule(function()
      if coroutine.status(running) == 'suspended' and not question.answered then
        question.answered = true
        coroutine.resume(running, choice or vim.NIL)
      end
    end)
  end
  if vim.uv.now() <= expected_until and vim.api.nvim_get_mode().mode == 'n' then
    vim.schedule(function()
      ask(question)
    end)
  else
    table.insert(pending, question)
    ui.tell(t('`:Ralph status` answers: {question}', { question = params.message }), vim.log.levels.WARN)
  end
  return coroutine.yield()
end

--- Handler of `loopkeeper/alert`.
---@param params loopkeeper.AlertParams
---@param client vim.lsp.Client
function M.alert(params, client)
  require('loopkeeper.events').alert(params)
  local is_offered = require('loopkeeper.review').remember(params, client)
  if require('loopkeeper.config').get().notify then
    local text = require('loopkeeper.command_names').of_alert(params)
    local sentence = text:gsub('%.$', ''):gsub('。$', '')
    local message = is_offered and t('{sentence}. See `:Ralph review`.', { sentence = sentence }) or text
    ui.tell(message, levels[params.severity] or vim.log.levels.INFO, params)
  end
end

--- Sends the answer to a loop's question; without a text the user is asked for one.
---@param client vim.lsp.Client
---@param argument loopkeeper.AnswerArgs
function M.answer(client, argument)
  local command = require('loopkeeper.protocol').commands.answer
  if argument.text then
    require('loopkeeper.requests').send(client, command, argument)
    return
  end
  local params = require('loopkeeper.status').of(client)
  local loop = vim.iter(params and params.loops or {}):find(function(it)
    return it.id == argument.loopId
  end)
  -- An old lens, or a list that was open meanwhile.
  if loop and loop.outcome then
    local values = { title = loop.task.title, sentence = loop.outcome.sentence }
    ui.info(t('"{title}" no longer waits for an answer: {sentence}', values))
    return
  end
  local question = loop and loop.question and loop.question.text:gsub('%s+', ' ') or t('Answer the agent')
  -- The answer does not apply to a later question.
  local id = loop and loop.question and loop.question.id
  vim.ui.input({ prompt = question .. ' ' }, function(text)
    if text and vim.trim(text) ~= '' then
      require('loopkeeper.requests').send(client, command, { loopId = argument.loopId, text = text, question = id })
    end
  end)
end

--- The oldest question that its server still waits for.
---@return loopkeeper.Question?
local function next_question()
  while #pending > 0 do
    local question = table.remove(pending, 1)
    if vim.lsp.get_client_by_id(question.client) and vim.uv.now() - question.time < expires_ms then
      return question
    end
  end
end

--- The first alert that needs the user, by the last status of each server.
---@param loop? string only one of this loop
---@return { alert: loopkeeper.AlertParams, client: vim.lsp.Client }?
local function first_alert(loop)
  for _, client in ipairs(require('loopkeeper.client').all()) do
    local params = require('loopkeeper.status').of(client)
    for _, alert in ipairs(params and params.alerts or {}) do
      if #alert.actions > 0 and (loop == nil or alert.loopId == loop) then
        return { alert = alert, client = client }
      end
    end
  end
end

--- Runs an action of an alert. An answer without a text is asked for, a rollback is previewed.
---@param client vim.lsp.Client
---@param action lsp.Command
function M.run_action(client, action)
  local commands = require('loopkeeper.protocol').commands
  local argument = (action.arguments or {})[1] or {}
  if action.command == commands.answer then
    M.answer(client, argument)
  elseif action.command == commands.rollback then
    require('loopkeeper.rollback').roll_back(
      client,
      action.command,
      argument,
      t('{action}? ', { action = action.title })
    )
  else
    require('loopkeeper.requests').send(client, action.command, argument)
  end
end

--- Asks which action of an alert to run.
---@param offered { alert: loopkeeper.AlertParams, client: vim.lsp.Client }
local function offer(offered)
  local client = offered.client
  ui.select(offered.alert.actions, require('loopkeeper.command_names').of_alert(offered.alert) .. ' ', function(action)
    return action.title
  end, function(action)
    M.run_action(client, action)
  end)
end

--- Asks the question of one loop, else what its alert offers.
---@param client vim.lsp.Client
---@param loop loopkeeper.LoopStatus
---@return boolean whether there was anything
function M.ask_of(client, loop)
  local offered = first_alert(loop.id)
  if offered then
    offer(offered)
  elseif loop.question then
    M.answer(client, { loopId = loop.id })
  end
  return offered ~= nil or loop.question ~= nil
end

--- Asks the open question: the server's oldest, else the actions of the first loop that needs the user.
---@return boolean whether there was anything
function M.ask_pending()
  require('loopkeeper.float').close()
  local question = next_question()
  if question then
    ask(question)
    return true
  end
  local offered = first_alert()
  if not offered then
    return false
  end
  offer(offered)
  return true
end

return M
