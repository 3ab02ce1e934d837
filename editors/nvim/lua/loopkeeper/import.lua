-- `:Ralph import clipboard` and `selection`: converts a text (an issue, the log of a failed run) to a task and shows it
-- in a new buffer. Nothing is written before the user saves it.

local client_module = require('loopkeeper.client')
local l10n = require('loopkeeper.l10n')
local protocol = require('loopkeeper.protocol')
local ui = require('loopkeeper.ui')

local M = {}

---@type table<string, fun(): string>
local read = {
  clipboard = function()
    local text = vim.fn.getreg('+')
    return text ~= '' and text or vim.fn.getreg('"')
  end,
  -- The last selection of this buffer, also while it is still selected.
  selection = function()
    local first, last = vim.fn.line("'<"), vim.fn.line("'>")
    if vim.api.nvim_get_mode().mode:match('[vV\22]') then
      first, last = vim.fn.line('v'), vim.fn.line('.')
    end
    if first == 0 or last == 0 then
      return ''
    end
    return table.concat(vim.api.nvim_buf_get_lines(0, math.min(first, last) - 1, math.max(first, last), false), '\n')
  end,
}

local missing = {
  clipboard = l10n.later('there is no text in the clipboard'),
  selection = l10n.later('there is no text in the selection'),
}

---@param result loopkeeper.CommandResult
function M.show(result)
  local path = vim.uri_to_fname(result.uri)
  vim.cmd.split(vim.fn.fnameescape(path))
  vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(vim.trim(result.document), '\n'))
  vim.bo.filetype = 'markdown'
  ui.info(l10n.t('Review the task and `:write` it: until then it exists only here.'))
end

---@param source 'clipboard'|'selection'
function M.text(source)
  local text = read[source]()
  if vim.trim(text) == '' then
    return ui.error(l10n.t(missing[source]))
  end
  local client = client_module.current()
  if not client then
    return
  end
  local folder = vim.uri_from_fname(client_module.root(client))
  require('loopkeeper.requests').send(client, protocol.commands.import, { text = text, folder = folder }, M.show)
end

return M
