-- The trust page: every command that a task would run, verbatim and read-only, then the question. The question is asked
-- when the page's end has been on the screen, and a yes is a yes to exactly the page that was shown.

local client_module = require('loopkeeper.client')
local protocol = require('loopkeeper.protocol')
local ui = require('loopkeeper.ui')

local M = {}

---@param client vim.lsp.Client
---@param task string
---@param page loopkeeper.TrustPageResult
local function ask(client, task, page)
  local new = #vim.tbl_filter(function(command)
    return not command.trusted
  end, page.commands)
  local yes = new == 1 and 'Trust this command' or ('Trust these %d commands'):format(new)
  local function label(choice)
    return choice
  end
  require('loopkeeper.questions').expect()
  ui.select({ yes, 'Not now' }, 'May these run here? ', label, function(choice)
    if choice == yes then
      local argument = { task = task, hash = page.hash }
      require('loopkeeper.orders').send(client, protocol.commands.trust, argument, function()
        ui.info(new == 1 and 'the command is trusted.' or ('%d commands are trusted.'):format(new))
      end)
    end
  end)
end

--- Calls back once the buffer's last line is on the screen.
---@param buffer integer
---@param callback fun()
local function when_read(buffer, callback)
  local group = vim.api.nvim_create_augroup('loopkeeper.trust', {})
  local function look()
    local window = vim.fn.bufwinid(buffer)
    if window == -1 or vim.fn.line('w$', window) < vim.api.nvim_buf_line_count(buffer) then
      return
    end
    vim.api.nvim_clear_autocmds({ group = group })
    vim.cmd.redraw()
    callback()
  end
  vim.api.nvim_create_autocmd({ 'WinScrolled', 'CursorMoved' }, { group = group, callback = vim.schedule_wrap(look) })
  vim.schedule(function()
    vim.cmd.redraw()
    look()
  end)
end

---@param client vim.lsp.Client
---@param task string
---@param page loopkeeper.TrustPageResult
local function show(client, task, page)
  local buffer = ui.scratch('loopkeeper://trust/' .. task:gsub('^file://', ''), 'loopkeeper-trust')
  vim.bo[buffer].bufhidden = 'wipe'
  local lines = ui.lines((page.text:gsub('\n$', '')))
  ui.set_lines(buffer, 0, -1, lines)
  local window = ui.show_below(buffer, math.min(#lines + 1, math.floor(vim.o.lines / 2)), true)
  vim.wo[window].wrap = true
  vim.api.nvim_win_set_cursor(window, { 1, 0 })
  if not page.trusted then
    when_read(buffer, function()
      ask(client, task, page)
    end)
  end
end

---@param client vim.lsp.Client
---@param task string
function M.open(client, task)
  client_module.request(client, protocol.requests.trustPage, { task = task }, function(err, page)
    if err then
      require('loopkeeper.orders').show_error(err)
    else
      show(client, task, page)
    end
  end)
end

return M
