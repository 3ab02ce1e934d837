-- `:Ralph start`: one list with the start itself first, so that a second Enter repeats the last start, and below it the
-- task, the agent and the limits. The server computes the consequences.

local choices = require('loopkeeper.start_choices')
local client_module = require('loopkeeper.client')
local l10n = require('loopkeeper.l10n')
local requests = require('loopkeeper.requests')
local protocol = require('loopkeeper.protocol')
local ui = require('loopkeeper.ui')

local t = l10n.t

local M = {}

---@class loopkeeper.StartDraft
---@field client vim.lsp.Client
---@field task loopkeeper.TaskEntry
---@field tasks loopkeeper.TaskPick[] that can be picked instead
---@field choice loopkeeper.StartChoice

---@class loopkeeper.StartRow
---@field text string
---@field run fun(draft: loopkeeper.StartDraft, preview: loopkeeper.StartPreviewResult)

local show

---@param ms integer
---@return string in the server's notation of a duration
local function duration(ms)
  for _, unit in ipairs({ { 3600000, 'h' }, { 60000, 'm' } }) do
    if ms % unit[1] == 0 then
      return ('%d%s'):format(ms / unit[1], unit[2])
    end
  end
  return ('%ds'):format(math.floor(ms / 1000))
end

---@param draft loopkeeper.StartDraft
local function start(draft)
  choices.keep(draft.task.uri, draft.choice)
  requests.send(draft.client, protocol.commands.start, choices.argument(draft.task.uri, draft.choice))
end

---@param draft loopkeeper.StartDraft
local function change_task(draft)
  ui.select(draft.tasks, t('Task: '), function(entry)
    return ('%s  (%s)'):format(entry.it.title, entry.it.id)
  end, function(entry)
    draft.client, draft.task, draft.choice = entry.client, entry.it, choices.of(entry.it.uri)
    show(draft)
  end, function()
    show(draft)
  end)
end

---@param draft loopkeeper.StartDraft
---@param preview loopkeeper.StartPreviewResult
local function change_agent(draft, preview)
  ui.select(preview.agents, t('Agent: '), tostring, function(agent)
    draft.choice.agent = agent
    show(draft)
  end, function()
    show(draft)
  end)
end

--- Asks for a limit. A text that is none is explained, and nothing changes.
---@param key "iterations"|"duration"|"costUsd"
---@param prompt string
---@param current fun(preview: loopkeeper.StartPreviewResult): string
---@param read fun(text: string): any
---@param expected string
---@return fun(draft: loopkeeper.StartDraft, preview: loopkeeper.StartPreviewResult)
local function change_limit(key, prompt, current, read, expected)
  return function(draft, preview)
    vim.ui.input({ prompt = t(prompt), default = current(preview) }, function(text)
      local value = text and read(vim.trim(text))
      if value then
        draft.choice[key] = value
      elseif text then
        ui.warn(t(expected))
      end
      show(draft)
    end)
  end
end

local function iterations_of(preview)
  return tostring(preview.iterations)
end

local function cost_of(preview)
  return ('%.2f'):format(preview.costMicros / 1e6)
end

local function duration_of(preview)
  return duration(preview.durationMs)
end

local change_iterations = change_limit(
  'iterations',
  l10n.later('At most how many iterations? '),
  iterations_of,
  function(text)
    return text:match('^[1-9]%d*$') and #text < 10 and tonumber(text)
  end,
  l10n.later('enter a whole number from 1.')
)

local change_cost = change_limit('costUsd', l10n.later('At most how much in US dollars? '), cost_of, function(text)
  local value = text:match('^%$?(%d+%.?%d*)$')
  return value and tonumber(value) > 0 and tonumber(value)
end, l10n.later('enter an amount such as 2.50.'))

local change_duration = change_limit(
  'duration',
  l10n.later('At most how long, such as 45m or 8h? '),
  duration_of,
  function(text)
    return text:match('^%d+%s*[smhd]$')
  end,
  l10n.later('enter a duration such as 45m or 8h.')
)

---@param draft loopkeeper.StartDraft
local function reset(draft)
  draft.choice = {}
  show(draft)
end

---@param draft loopkeeper.StartDraft
---@param preview loopkeeper.StartPreviewResult
---@return loopkeeper.StartRow[]
local function rows(draft, preview)
  local list = {}
  local function add(run, ...)
    table.insert(list, { text = table.concat({ ... }, ' · '), run = run })
  end
  add(start, t('Start'), draft.task.title, preview.agent, preview.problem or preview.upperBound)
  if #draft.tasks > 1 or preview.grade then
    add(change_task, t('Task: {title}', { title = draft.task.title }), preview.grade)
  end
  add(change_agent, t('Agent: {agent}', { agent = preview.agent }))
  add(change_iterations, t('Iterations: {count}', { count = iterations_of(preview) }), preview.history)
  add(change_cost, t('Cost: ${amount}', { amount = cost_of(preview) }))
  add(change_duration, t('Duration: {duration}', { duration = duration_of(preview) }))
  if next(draft.choice) then
    add(reset, t('Use the values of the configuration'))
  end
  return list
end

--- Neovim's own list needs a number before Enter. Its own input does not, so the same list is its prompt.
---@param list loopkeeper.StartRow[]
---@param on_choice fun(row: loopkeeper.StartRow)
local function ask_by_number(list, on_choice)
  local lines = { t('Start a loop (Esc cancels)') }
  for number, row in ipairs(list) do
    table.insert(lines, ('%d: %s'):format(number, ui.plain(row.text)))
  end
  -- Short, because Neovim repeats the last line of a prompt that does not fit into the window.
  table.insert(lines, t('Enter starts, a number changes: '))
  vim.ui.input({ prompt = table.concat(lines, '\n') }, function(text)
    local row = text and list[text == '' and 1 or tonumber(text)]
    if row then
      on_choice(row)
    elseif text then
      -- The list is cleared first, so that the message needs no key press.
      vim.schedule(function()
        vim.cmd.redraw()
        ui.warn(t('nothing was started: no such number'))
      end)
    end
  end)
end

---@param list loopkeeper.StartRow[]
---@param on_choice fun(row: loopkeeper.StartRow)
local function ask(list, on_choice)
  if ui.is_built_in(vim.ui.select) and ui.is_built_in(vim.ui.input) then
    return ask_by_number(list, on_choice)
  end
  ui.select(list, t('Start a loop: '), function(row)
    return row.text
  end, on_choice)
end

---@param draft loopkeeper.StartDraft
function show(draft)
  local params = choices.argument(draft.task.uri, draft.choice)
  client_module.request(draft.client, protocol.requests.startPreview, params, function(err, preview)
    if err then
      return requests.show_error(err)
    end
    ask(rows(draft, preview), function(row)
      -- A further list opens once the first has closed.
      vim.schedule(function()
        row.run(draft, preview)
      end)
    end)
  end)
end

--- Shows the list for the first task.
---@param tasks loopkeeper.TaskPick[] at least one
---@param candidates loopkeeper.TaskPick[] of these the one that was started last is shown, else the first
function M.open(tasks, candidates)
  local last = choices.last(vim.tbl_map(function(entry)
    return entry.it.uri
  end, candidates))
  local first = vim.iter(candidates):find(function(entry)
    return entry.it.uri == last
  end) or candidates[1]
  -- The preview describes files, so they are saved before it.
  if requests.save(client_module.root(first.client)) then
    show({ client = first.client, task = first.it, tasks = tasks, choice = choices.of(first.it.uri) })
  end
end

return M
