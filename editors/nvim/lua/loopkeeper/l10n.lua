-- The plugin's own texts in the language of the server's texts: English in the source, translations in `l10n/`. A text is
-- looked up by its English template, so one without a translation is shown in English.

local M = {}

-- As the server reads them; the first one that is set decides.
local variables = { 'LOOPKEEPER_LANGUAGE', 'LC_ALL', 'LC_MESSAGES', 'LANG' }
local traditional = { tw = true, hk = true, mo = true, hant = true }

---@type table<string, string>|false|nil translations by template; false: none; nil: not decided yet
local rows

---@param locale string such as `zh-CN` or `zh_CN.UTF-8`
---@return boolean
local function is_simplified_chinese(locale)
  local parts = vim.split(locale:lower(), '[-_.@]')
  return parts[1] == 'zh' and not vim.iter(parts):any(function(part)
    return traditional[part]
  end)
end

---@param locale string
local function set(locale)
  rows = is_simplified_chinese(locale) and require('loopkeeper.l10n.zh_cn')
end

local function set_by_environment()
  for _, name in ipairs(variables) do
    local locale = vim.env[name]
    if locale and locale ~= '' then
      return set(locale)
    end
  end
  rows = false
end

--- Takes over the language that a server announces. Older servers announce none.
---@param client vim.lsp.Client
function M.follow(client)
  local experimental = (client.server_capabilities or {}).experimental
  local ours = type(experimental) == 'table' and experimental.loopkeeper
  if type(ours) == 'table' and type(ours.language) == 'string' then
    set(ours.language)
  end
end

--- The translation of a template with named placeholders: `t('Open {name}', { name = file })`.
---@param template string
---@param values? table<string, string|number>
---@return string
function M.t(template, values)
  if rows == nil then
    set_by_environment()
  end
  local text = rows and rows[template] or template
  if not values then
    return text
  end
  return (text:gsub('{(%w+)}', function(name)
    return values[name] and tostring(values[name])
  end))
end

--- Marks a template in a constant, which is translated where it is shown.
---@param template string
---@return string
function M.later(template)
  return template
end

--- Names, one after another.
---@param items string[]
---@return string
function M.list(items)
  return table.concat(items, M.t(', '))
end

--- The description of a map.
---@param text string translated
---@return string
function M.desc(text)
  return M.t('Ralph: {message}', { message = text })
end

return M
