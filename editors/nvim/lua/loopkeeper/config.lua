-- The options: `vim.g.loopkeeper`, or the argument of `setup()`. Paths and presentation only; the behaviour of loops is
-- configured in `loopkeeper.toml`. An invalid option is reported once and replaced by its default.

local M = {}

---@class loopkeeper.Options
---@field server? string|string[] Program of the server, or the program and its first arguments.
---@field trusted? boolean Whether anything may be started in the folders opened here; `false` starts nothing.
---@field codelens? boolean Show the server's code lenses.
---@field signs? boolean Show in the sign column whether a criterion holds.
---@field repeat_diagnostics? boolean Show text and sign of a diagnostic where a code lens or our sign has the same.
---@field notify? boolean Notify with `vim.notify` when a loop ends, needs you or is likely to stop.
---@field checktime? boolean Reload buffers after an iteration changed their files.
---@field files? string[] Globs of further task files, matched against the whole path.
---@field output? loopkeeper.OutputOptions
---@field summary? loopkeeper.SummaryOptions

---@class loopkeeper.OutputOptions
---@field lines? integer How many lines the output buffer keeps.
---@field height? integer Height of its window.

---@class loopkeeper.SummaryOptions
---@field width? integer Width of its window where there is room beside the text.

M.defaults = {
  server = 'loopkeeper',
  trusted = true,
  codelens = true,
  signs = true,
  repeat_diagnostics = false,
  notify = true,
  checktime = true,
  files = {},
  output = { lines = 5000, height = 15 },
  summary = { width = 50 },
}

local given = {} ---@type loopkeeper.Options
local told = {} ---@type table<string, boolean>

-- Texts are needed for problems alone, and this module is loaded with every file.
local function t(...)
  return require('loopkeeper.l10n').t(...)
end

---@param defaults table
---@param options table
---@param prefix string
---@param complain fun(problem: string)
---@return table
local function merge(defaults, options, prefix, complain)
  local merged = vim.deepcopy(defaults)
  for key, value in pairs(options) do
    local default = defaults[key]
    local name = prefix .. tostring(key)
    if default == nil then
      complain(t('there is no option `{name}`', { name = name }))
    elseif type(default) == 'table' and not vim.islist(default) and type(value) == 'table' then
      merged[key] = merge(default, value, name .. '.', complain)
    elseif type(value) == type(default) or (key == 'server' and type(value) == 'table') then
      merged[key] = value
    else
      complain(t('the option `{name}` must be a {kind}', { name = name, kind = type(default) }))
    end
  end
  return merged
end

---@param complain fun(problem: string)
---@return table
local function read(complain)
  local global = vim.g.loopkeeper
  if global ~= nil and type(global) ~= 'table' then
    complain(t('`vim.g.loopkeeper` must be a table'))
    global = nil
  end
  return merge(M.defaults, vim.tbl_deep_extend('force', global or {}, given), '', complain)
end

--- The options, with defaults filled in.
function M.get()
  return read(function(problem)
    if not told[problem] then
      told[problem] = true
      require('loopkeeper.ui').warn(t('{problem}. See `:help loopkeeper-options`.', { problem = problem }))
    end
  end)
end

--- Problems of the options, for `:checkhealth`.
---@return string[]
function M.problems()
  local problems = {}
  read(function(problem)
    table.insert(problems, problem)
  end)
  return problems
end

---@param options loopkeeper.Options
function M.merge(options)
  given = vim.tbl_deep_extend('force', given, options or {})
end

return M
