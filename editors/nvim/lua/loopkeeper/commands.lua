-- `:Ralph`: finds the subcommand and completes its arguments. The subcommands are implemented in `commands/`.

local M = {}

---@class loopkeeper.Call
---@field words string[] arguments after the subcommand
---@field text string the arguments as typed
---@field bang boolean

---@class loopkeeper.Subcommand
---@field run fun(call: loopkeeper.Call)
---@field complete? fun(words: string[]): string[] candidates for the next argument
---@field bang? boolean whether it takes a `!`

---@type table<string, { module: string, name: string }>
local subcommands = {}
for module, names in pairs({
  start = { 'start', 'check' },
  control = { 'stop', 'pause', 'resume', 'reset', 'steer', 'answer', 'import', 'new' },
  iterations = { 'rollback', 'diff', 'output', 'log', 'receipt', 'dashboard' },
  review = { 'review', 'feedback' },
  show = { 'status', 'summary', 'quickfix', 'trust', 'restart' },
}) do
  for _, name in ipairs(names) do
    subcommands[name] = { module = module, name = name }
  end
end

---@return string[]
function M.names()
  local names = vim.tbl_keys(subcommands)
  table.sort(names)
  return names
end

---@param name string
---@return loopkeeper.Subcommand?
local function find(name)
  local entry = subcommands[name]
  return entry and require('loopkeeper.commands.' .. entry.module)[name]
end

---@param call table argument of the `nvim_create_user_command` callback
function M.run(call)
  local word, text = call.args:match('^(%S*)%s*(.-)%s*$')
  local name, bang = word:gsub('!$', '')
  local subcommand = find(name == '' and 'status' or name)
  local ui, t = require('loopkeeper.ui'), require('loopkeeper.l10n').t
  if not subcommand then
    ui.error(t('there is no `:Ralph {name}`. Hint: `:help :Ralph`', { name = name }))
  elseif (bang > 0 or call.bang) and not subcommand.bang then
    ui.error(t('`:Ralph {name}` takes no `!`', { name = name }))
  else
    subcommand.run({ words = vim.split(text, '%s+', { trimempty = true }), text = text, bang = bang > 0 or call.bang })
  end
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(line:gsub('^.-Ralph!?%s*', ''), '%s+')
  local candidates = M.names()
  if #words > 1 then
    local subcommand = find((words[1]:gsub('!$', '')))
    local before = vim.list_slice(words, 2, #words - 1)
    candidates = subcommand and subcommand.complete and subcommand.complete(before) or {}
  end
  return vim.tbl_filter(function(candidate)
    return vim.startswith(candidate, lead)
  end, candidates)
end

return M
