-- Colours and font styles of a terminal (`ESC [ … m`) as highlight groups. A line is split into its text and the ranges
-- that a group applies to; other escape sequences stay in the text, where they have no effect.

local M = {}

---@class loopkeeper.AnsiStyle
---@field fg? integer|string number of a colour of the terminal, or '#rrggbb'
---@field bg? integer|string
---@field bold? boolean
---@field dim? boolean
---@field italic? boolean
---@field underline? boolean
---@field reverse? boolean
---@field strikethrough? boolean

---@class loopkeeper.AnsiSpan
---@field first integer byte, from 0
---@field last integer the byte after it
---@field group string

local attributes =
  { [1] = 'bold', [2] = 'dim', [3] = 'italic', [4] = 'underline', [7] = 'reverse', [9] = 'strikethrough' }
local resets = { [23] = 'italic', [24] = 'underline', [27] = 'reverse', [29] = 'strikethrough' }
local hues = { 'Red', 'Green', 'Yellow', 'Blue', 'Magenta', 'Cyan' }
-- Output must not use up Neovim's highlight groups, or fill a line with marks.
local most_groups, most_spans = 256, 200

local groups, group_count = {}, 0 ---@type table<string, loopkeeper.AnsiStyle>, integer

--- The colour that `38;5;n` or `38;2;r;g;b` names at `index` of the parameters, and the index of the last one read.
---@param parameters integer[]
---@param index integer of the 38 or 48
---@return integer|string|nil colour, integer index
local function long_colour(parameters, index)
  local kind = parameters[index + 1]
  if kind == 5 then
    local number = parameters[index + 2]
    return number and number <= 255 and number or nil, index + 2
  elseif kind == 2 then
    local red, green, blue = unpack(parameters, index + 2, index + 4)
    local is_colour = blue and red <= 255 and green <= 255 and blue <= 255
    return is_colour and ('#%02x%02x%02x'):format(red, green, blue) or nil, index + 4
  end
  return nil, index
end

---@param style loopkeeper.AnsiStyle changed in place
---@param parameters integer[]
local function apply(style, parameters)
  local index = 1
  while index <= #parameters do
    local it = parameters[index]
    local base, bright = it % 10, it >= 90
    if it == 0 then
      for key in pairs(style) do
        style[key] = nil
      end
    elseif attributes[it] then
      style[attributes[it]] = true
    elseif it == 22 then
      style.bold, style.dim = nil, nil
    elseif resets[it] then
      style[resets[it]] = nil
    elseif it == 38 or it == 48 then
      style[it == 38 and 'fg' or 'bg'], index = long_colour(parameters, index)
    elseif it == 39 or it == 49 then
      style[it == 39 and 'fg' or 'bg'] = nil
    elseif (it >= 30 and it <= 37) or (it >= 90 and it <= 97) then
      style.fg = base + (bright and 8 or 0)
    elseif (it >= 40 and it <= 47) or (it >= 100 and it <= 107) then
      style.bg = base + (it >= 100 and 8 or 0)
    end
    index = index + 1
  end
end

--- A colour of the user's theme for terminals, else one that is readable on the background.
---@param number integer from 0 to 15
---@return string
local function theme_colour(number)
  local own = vim.g['terminal_color_' .. number]
  if type(own) == 'string' then
    return own
  end
  local shade = vim.o.background == 'light' and 'NvimDark' or 'NvimLight'
  local hue = hues[number % 8]
  return shade .. (hue or (number % 8 == 7 and 'Gray2' or 'Gray4'))
end

---@param colour? integer|string
---@return string? for a graphical user interface
local function gui_colour(colour)
  if type(colour) ~= 'number' then
    return colour
  elseif colour < 16 then
    return theme_colour(colour)
  elseif colour >= 232 then
    local grey = 8 + (colour - 232) * 10
    return ('#%02x%02x%02x'):format(grey, grey, grey)
  end
  local cube = colour - 16
  local function level(value)
    return value == 0 and 0 or 55 + value * 40
  end
  return ('#%02x%02x%02x'):format(level(math.floor(cube / 36)), level(math.floor(cube / 6) % 6), level(cube % 6))
end

---@param style loopkeeper.AnsiStyle
---@return vim.api.keyset.highlight
local function definition(style)
  local fg, bg = gui_colour(style.fg), gui_colour(style.bg)
  -- Text in the colour of its background would be hidden.
  if fg and fg == bg then
    bg = nil
  end
  if style.dim and not fg then
    fg = vim.api.nvim_get_hl(0, { name = 'Comment', link = false }).fg
  end
  return {
    fg = fg,
    bg = bg,
    ctermfg = type(style.fg) == 'number' and style.fg or nil,
    ctermbg = bg and type(style.bg) == 'number' and style.bg or nil,
    bold = style.bold,
    italic = style.italic,
    underline = style.underline,
    reverse = style.reverse,
    strikethrough = style.strikethrough,
  }
end

---@param style loopkeeper.AnsiStyle
---@return string? group nil for text without a style
local function group_of(style)
  local parts = {}
  for key, value in vim.spairs(style) do
    table.insert(parts, key .. tostring(value == true and '' or value):gsub('#', 'x'))
  end
  if #parts == 0 then
    return nil
  end
  local name = 'LoopkeeperAnsi_' .. table.concat(parts, '_')
  if not groups[name] then
    if group_count == most_groups then
      return nil
    end
    group_count = group_count + 1
    groups[name] = vim.deepcopy(style)
    vim.api.nvim_set_hl(0, name, definition(style))
  end
  return name
end

vim.api.nvim_create_autocmd('ColorScheme', {
  group = vim.api.nvim_create_augroup('loopkeeper.ansi', {}),
  callback = function()
    for name, style in pairs(groups) do
      vim.api.nvim_set_hl(0, name, definition(style))
    end
  end,
})

--- Splits a line. Each line starts without a style.
---@param line string
---@return string text, loopkeeper.AnsiSpan[] spans
function M.split(line)
  if not line:find('\27[', 1, true) then
    return line, {}
  end
  local text, spans, length, style, from = {}, {}, 0, {}, 1
  local function add(part)
    local group = part ~= '' and #spans < most_spans and group_of(style)
    if group then
      table.insert(spans, { first = length, last = length + #part, group = group })
    end
    table.insert(text, part)
    length = length + #part
  end
  while true do
    local first, last, codes = line:find('\27%[([%d;]*)m', from)
    if not first then
      break
    end
    add(line:sub(from, first - 1))
    local parameters = vim.tbl_map(function(code)
      return tonumber(code) or 0
    end, vim.split(codes, ';', { plain = true }))
    apply(style, parameters)
    from = last + 1
  end
  add(line:sub(from))
  return table.concat(text), spans
end

return M
