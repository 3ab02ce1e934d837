-- The plugin's texts in Simplified Chinese: none is missing, none is left over, all have the placeholders of their
-- template, and no sentence in the sources is without the call that translates it.

local support = require('support')

-- Several words; no name, path or pattern has a space between two of them.
local prose = '%a%a+ %l%l+'
local command = '^Ralph %l+'

---@class test.Literal
---@field text string
---@field is_template boolean

--- The end of a comment or of a string in long brackets that begins at `at`.
---@param source string
---@param at integer
---@return integer?
local function skipped(source, at)
  local rest = source:sub(at, at + 3)
  if rest:match('^%-%-%[%[') or rest:match('^%[%[') then
    return select(2, source:find(']]', at, true))
  elseif rest:match('^%-%-') then
    return source:find('\n', at, true) or #source
  end
end

--- The string literals of a source, in order. Literals joined by `..` in a call that translates are one template.
---@param source string
---@return test.Literal[]
local function literals(source)
  local found, code, at = {}, '', 1
  while at <= #source do
    local quote = source:sub(at, at):match('[\'"]')
    local last = skipped(source, at)
    if last then
      at = last + 1
    elseif quote then
      last = at + 1
      while source:sub(last, last) ~= quote do
        last = last + (source:sub(last, last) == '\\' and 2 or 1)
      end
      local text = assert(load('return ' .. source:sub(at, last)))()
      local before = code:match('([%w_]+)%(%s*$')
      if code:match('^%s*%.%.%s*$') and found[#found].is_template then
        found[#found].text = found[#found].text .. text
      else
        table.insert(found, { text = text, is_template = before == 't' or before == 'later' })
      end
      code, at = '', last + 1
    else
      code, at = code .. source:sub(at, at), at + 1
    end
  end
  return found
end

---@param source string
---@return string[] templates, string[] untranslated
local function texts(source)
  local templates, untranslated = {}, {}
  for _, it in ipairs(literals(source)) do
    if it.is_template then
      table.insert(templates, it.text)
    elseif it.text:find(prose) and not it.text:find(command) then
      table.insert(untranslated, it.text)
    end
  end
  return templates, untranslated
end

---@param text string
---@return string[]
local function placeholders(text)
  local names = {}
  for name in text:gmatch('{(%w+)}') do
    names[name] = true
  end
  names = vim.tbl_keys(names)
  table.sort(names)
  return names
end

local lua = support.plugin .. '/lua'
local table_file = lua .. '/loopkeeper/l10n/zh_cn.lua'

local function sources()
  local files = vim.fn.glob(lua .. '/**/*.lua', false, true)
  return vim.tbl_filter(function(file)
    return file ~= table_file
  end, files)
end

local function finds_texts()
  local function check(source, templates, untranslated)
    support.same({ templates, untranslated }, { texts(source) }, source)
  end
  check([[ui.info(t('it ended'))]], { 'it ended' }, {})
  check([[ui.info(l10n.t("it's {n}", { n = 'a b' }))]], { "it's {n}" }, {})
  check("x = later(\n  'one '\n    .. 'two'\n)", { 'one two' }, {})
  check([[ui.info('it ended') -- 'a comment here']], {}, { 'it ended' })
  check([[x = at('it ended', '%d/%d')]], {}, { 'it ended' })
  check("x = [[it ended]] --[[ 'it ended' ]] vim.cmd('Ralph output 1')", {}, {})
end

local function is_sorted(text)
  local last = ''
  for key in text:gmatch('\n  %[([\'"].-[\'"])%] =') do
    local template = load('return ' .. key)()
    support.same(true, last < template, ('the order of %q and %q'):format(last, template))
    last = template
  end
end

return {
  run = function()
    finds_texts()
    local rows, used = dofile(table_file), {}
    for _, file in ipairs(sources()) do
      local templates, untranslated = texts(support.read(file))
      support.same({}, untranslated, 'texts of ' .. file .. ' that are not translated')
      for _, template in ipairs(templates) do
        used[template] = true
        support.same('string', type(rows[template]), ('the translation of %q'):format(template))
      end
    end
    support.same(true, vim.tbl_count(used) > 150, 'many templates')
    for template, translation in pairs(rows) do
      support.same(true, used[template], ('a use of %q'):format(template))
      support.same(placeholders(template), placeholders(translation), ('placeholders of %q'):format(template))
      support.same(true, vim.trim(translation) ~= '', ('a translation of %q'):format(template))
    end
    is_sorted(support.read(table_file))
  end,
}
