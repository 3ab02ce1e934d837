-- Asks a question about a page, such as every command that a task would run: the page is in a separate window, verbatim
-- and read-only; the answers are keys listed in the window's bar; and a yes is accepted once the page's end has been on
-- the screen. Closing the page means no.

local l10n = require('loopkeeper.l10n')
local ui = require('loopkeeper.ui')

local t = l10n.t

local M = {}

local open = {} ---@type table<integer, loopkeeper.Question> by buffer
local pages = {} ---@type table<integer, string> URI of the page, by buffer

---@param window integer
---@param question loopkeeper.Question
---@param is_read boolean
local function show_answers(window, question, is_read)
  local yes, no = question.params.actions[1], question.params.actions[2]
  local values = { yes = yes.title, no = no and no.title or t('no') }
  local text = is_read and t('t: {yes}   q: {no}', values) or t('read to the end, then t: {yes}   q: {no}', values)
  vim.wo[window].winbar = ' ' .. text:gsub('%%', '%%%%')
end

--- Calls back once the buffer's last line is on the screen.
---@param buffer integer
---@param callback fun()
local function when_read(buffer, callback)
  local group = vim.api.nvim_create_augroup('loopkeeper.trust.' .. buffer, {})
  local function look()
    local window = vim.fn.bufwinid(buffer)
    if window == -1 or vim.fn.line('w$', window) < vim.api.nvim_buf_line_count(buffer) then
      return
    end
    vim.api.nvim_clear_autocmds({ group = group })
    callback()
  end
  local events = { 'WinScrolled', 'CursorMoved', 'WinResized' }
  vim.api.nvim_create_autocmd(events, { group = group, callback = vim.schedule_wrap(look) })
  vim.schedule(function()
    vim.cmd.redraw()
    look()
  end)
end

---@param lines string[]
---@return integer
local function height(lines)
  return math.min(#lines + 2, math.max(math.floor(vim.o.lines / 2), vim.o.lines - 10))
end

---@param buffer integer
---@param choice? { title: string }
local function answer(buffer, choice)
  local question = open[buffer]
  open[buffer], pages[buffer] = nil, nil
  if question then
    question.answer(choice)
  end
end

---@param buffer integer
---@param choice? { title: string }
local function close(buffer, choice)
  answer(buffer, choice)
  vim.api.nvim_buf_delete(buffer, { force = true })
end

---@param buffer integer
---@param question loopkeeper.Question
local function take_answers(buffer, question)
  local is_read = false
  vim.keymap.set('n', 't', function()
    if is_read then
      close(buffer, question.params.actions[1])
    else
      ui.warn(t('read to the end of the page first.'))
    end
  end, { buffer = buffer, nowait = true, desc = l10n.desc(question.params.actions[1].title) })
  vim.keymap.set('n', 'q', function()
    close(buffer, question.params.actions[2])
  end, { buffer = buffer, nowait = true, desc = l10n.desc(t('no')) })
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buffer,
    callback = function()
      answer(buffer, nil)
    end,
  })
  when_read(buffer, function()
    is_read = true
    show_answers(vim.fn.bufwinid(buffer), question, true)
  end)
end

--- Pages of several folders have the same name; the folders above them are the server's own.
---@param page string
---@return string
local function free_name(page)
  local name, number = 'loopkeeper://trust/' .. page, 1
  while ui.buffer(name) do
    number = number + 1
    name = ('loopkeeper://trust/%d/%s'):format(number, page)
  end
  return name
end

--- Shows the page of a question and accepts the answer there.
---@param question loopkeeper.Question
---@param uri string
function M.ask(question, uri)
  local lines, problem = ui.read(uri)
  if not lines then
    ui.error(problem or '')
    question.answer(nil)
    return
  end
  for before, it in pairs(vim.deepcopy(pages)) do
    if it == uri and open[before] then
      close(before, nil)
    end
  end
  local buffer = ui.scratch(free_name(vim.fs.basename(vim.uri_to_fname(uri))), 'loopkeeper-trust')
  open[buffer], pages[buffer] = question, uri
  vim.bo[buffer].bufhidden = 'wipe'
  ui.set_lines(buffer, 0, -1, lines)
  local window = ui.show_below(buffer, height(lines), true)
  vim.api.nvim_win_set_cursor(window, { 1, 0 })
  show_answers(window, question, false)
  take_answers(buffer, question)
end

--- Requests the trust page; the server shows it and asks about it.
---@param client vim.lsp.Client
---@param task string
function M.open(client, task)
  local requests, protocol = require('loopkeeper.requests'), require('loopkeeper.protocol')
  requests.send(client, protocol.commands.trust, { task = task })
end

return M
