-- Shows the result of a criterion once: a diagnostic has no text where a code lens contains it, and a less severe one has
-- no sign where our sign marks the line. Only for the diagnostics of our server; the user's own configuration of
-- `vim.diagnostic` applies to everything else, and underlines, floats and lists contain every diagnostic.

local config = require('loopkeeper.config')

local M = {}

-- A handler of our own, because namespaces can turn virtual text off but not select diagnostics for it.
local handler = 'loopkeeper/virtual_text'

-- The text of the lens over the same line.
local in_lens = {
  summary = true,
  failing = true,
  ['could-not-run'] = true,
  ['timed-out'] = true,
  ['no-tests-ran'] = true,
  unstable = true,
  ['never-run'] = true,
}

---@param diagnostic vim.Diagnostic
---@return boolean
local function has_text(diagnostic)
  return diagnostic.source ~= 'ralph' or not in_lens[diagnostic.code]
end

-- Cells before the text of a diagnostic: the end of the line, Neovim's default spacing and prefix.
local lead = 1 + 4 + 2
-- A shorter beginning of a text is of no use.
local least = 12

--- How many cells are left for the text of a diagnostic after its line.
---@param buffer integer
---@param row integer
---@return integer? nil where that is not known
local function room_after(buffer, row)
  local window = vim.fn.bufwinid(buffer)
  local info = window ~= -1 and vim.fn.getwininfo(window)[1]
  local line = vim.api.nvim_buf_get_lines(buffer, row, row + 1, false)[1]
  local width = info and info.width - info.textoff or 0
  if not line or width <= 0 then
    return nil
  end
  local used = vim.fn.strdisplaywidth(line) + require('loopkeeper.lenses').width_after(buffer, row)
  return width - (vim.wo[window].wrap and used % width or used) - lead
end

---@param text string
---@param room integer
---@return string
local function shortened(text, room)
  if vim.fn.strdisplaywidth(text) <= room then
    return text
  end
  while vim.fn.strdisplaywidth(text) >= room do
    text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text) - 1)
  end
  return text .. '…'
end

--- Options with which a text that does not fit into the window ends in `…`, where Neovim would cut it off.
---@param buffer integer
---@param options table
---@return table
local function fitted(buffer, options)
  local own = options.format
  return vim.tbl_extend('force', options, {
    format = function(diagnostic)
      local text = own and own(diagnostic) or diagnostic.message
      local room = room_after(buffer, diagnostic.lnum)
      return text and room and room >= least and shortened(text, room) or text
    end,
  })
end

local handlers = vim.diagnostic.handlers
handlers[handler] = {
  show = function(namespace, buffer, diagnostics, options)
    local settings = options[handler]
    diagnostics = vim.tbl_filter(has_text, diagnostics)
    -- Only Neovim's own layout is known.
    if type(settings) == 'table' and not (settings.virt_text_pos or settings.virt_text_win_col) then
      diagnostics = vim.tbl_filter(function(diagnostic)
        local room = room_after(buffer, diagnostic.lnum)
        return room == nil or room >= math.min(least, vim.fn.strdisplaywidth(diagnostic.message))
      end, diagnostics)
      settings = fitted(buffer, settings)
    end
    handlers.virtual_text.show(namespace, buffer, diagnostics, { virtual_text = settings })
  end,
  hide = function(namespace, buffer)
    handlers.virtual_text.hide(namespace, buffer)
  end,
}
-- An option that the global configuration does not contain is ignored in that of a namespace.
vim.diagnostic.config({ [handler] = false })

--- The user's value of an option as a table, or false.
---@param name "virtual_text"|"signs"
---@param namespace integer
---@param buffer integer
---@return table|false
local function user_option(name, namespace, buffer)
  local value = vim.diagnostic.config()[name]
  if type(value) == 'function' then
    value = value(namespace, buffer)
  end
  if value == true then
    return {}
  end
  return value or false
end

---@param namespace integer
---@param buffer integer
---@return table|false
local function signs(namespace, buffer)
  local user = user_option('signs', namespace, buffer)
  local is_ours = require('loopkeeper.files').is_ours(vim.api.nvim_buf_get_name(buffer))
  if not user or not is_ours or user.severity then
    return user
  end
  return vim.tbl_extend('force', user, { severity = { min = vim.diagnostic.severity.WARN } })
end

---@param client vim.lsp.Client
function M.configure(client)
  local options = config.get()
  if options.repeat_diagnostics then
    return
  end
  local settings = {}
  if options.codelens then
    settings.virtual_text = false
    settings[handler] = function(namespace, buffer)
      return user_option('virtual_text', namespace, buffer)
    end
  end
  if options.signs then
    settings.signs = signs
  end
  vim.diagnostic.config(settings, vim.lsp.diagnostic.get_namespace(client.id))
end

return M
