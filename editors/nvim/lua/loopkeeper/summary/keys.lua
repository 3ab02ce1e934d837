-- The keys of the summary. Each applies to the row under the cursor, and to its loop or task.

local client_module = require('loopkeeper.client')
local l10n = require('loopkeeper.l10n')
local protocol = require('loopkeeper.protocol')
local ui = require('loopkeeper.ui')

local later, t = l10n.later, l10n.t

local M = {}

local function summary()
  return require('loopkeeper.summary')
end

---@param row loopkeeper.SummaryRow
---@param command string
---@param argument table
local function send(row, command, argument)
  local client = row.root and client_module.of_root(row.root)
  if client then
    require('loopkeeper.requests').send(client, command, argument)
  end
end

---@param row loopkeeper.SummaryRow
---@param missing string what is said without one
---@return loopkeeper.LoopStatus?
local function loop_of(row, missing)
  if not row.loop then
    ui.info(missing)
  end
  return row.loop
end

---@param row loopkeeper.SummaryRow
---@return string?
local function task_of(row)
  local uri = row.task and row.task.uri or (row.loop and row.loop.task.uri)
  if not uri then
    ui.info(t('no task on this line'))
  end
  return uri
end

---@param row loopkeeper.SummaryRow
local function jump(row)
  local uri = task_of(row)
  if not uri then
    return
  end
  local path = vim.uri_to_fname(uri)
  local place = row.criterion and row.criterion.place
  if place and row.root then
    path = row.root .. '/' .. place.file
  end
  require('loopkeeper.places').go_to_file_window()
  -- Opens a further window where the buffer has unsaved changes.
  vim.cmd.drop(vim.fn.fnameescape(path))
  local line = place and vim.fn.byte2line(place.start + 1) or 0
  if line > 0 then
    vim.api.nvim_win_set_cursor(0, { line, 0 })
  end
end

---@param row loopkeeper.SummaryRow
local function open(row)
  if row.expanded ~= nil then
    summary().toggle(row)
  elseif row.kind == 'file' then
    local files = require('loopkeeper.summary.store').files[('%s %d'):format(row.loop.id, row.iteration)]
    local argument = { loopId = row.loop.id, iteration = row.iteration, path = row.file.path }
    require('loopkeeper.diff').open(argument, { files = files or { row.file } })
  elseif row.kind == 'more' then
    summary().show_more(row.loop.id)
  elseif row.kind == 'criterion' then
    jump(row)
  end
end

---@param row loopkeeper.SummaryRow
local function output(row)
  if row.criterion then
    send(row, protocol.commands.output, { task = task_of(row), criterion = row.criterion.id })
  elseif loop_of(row, t('no loop on this line to show the output of')) then
    local iteration = row.iteration and row.iteration .. ' ' or ''
    vim.cmd(('Ralph output %s%s'):format(iteration, row.loop.id))
  end
end

---@param row loopkeeper.SummaryRow
local function diff(row)
  if loop_of(row, t('no loop on this line to show the changes of')) then
    send(row, protocol.commands.diff, { loopId = row.loop.id, iteration = row.iteration })
  end
end

---@param row loopkeeper.SummaryRow
local function rollback(row)
  if loop_of(row, t('no loop on this line to roll back')) then
    local iteration = row.iteration and row.iteration .. ' ' or ''
    vim.cmd(('Ralph rollback %s%s'):format(iteration, row.loop.id))
  end
end

---@param row loopkeeper.SummaryRow
local function answer(row)
  if not loop_of(row, t('no loop on this line to answer')) then
    return
  end
  local client = row.root and client_module.of_root(row.root)
  if client and not require('loopkeeper.questions').ask_of(client, row.loop) then
    ui.info(t('this loop has no open question'))
  end
end

---@param now boolean
---@return fun(row: loopkeeper.SummaryRow)
local function stop(now)
  return function(row)
    if loop_of(row, t('no loop on this line to stop')) then
      send(row, protocol.commands.stop, { loopId = row.loop.id, now = now })
    end
  end
end

---@param row loopkeeper.SummaryRow
local function pause(row)
  if loop_of(row, t('no loop on this line to pause')) then
    local is_running = row.loop.state == 'working' and row.loop.breaker.state ~= 'open'
    local command = is_running and protocol.commands.pause or protocol.commands.resume
    send(row, command, { loopId = row.loop.id })
  end
end

---@param row loopkeeper.SummaryRow
local function check(row)
  local task = task_of(row)
  if task then
    send(row, protocol.commands.check, { task = task, criterion = row.criterion and row.criterion.id })
  end
end

---@param row loopkeeper.SummaryRow
local function start(row)
  local uri = task_of(row)
  if uri then
    require('loopkeeper.target').tasks(function(tasks)
      local own = vim.tbl_filter(function(entry)
        return entry.it.uri == uri
      end, tasks)
      if #own > 0 then
        return require('loopkeeper.start_list').open(tasks, own)
      end
      send(row, protocol.commands.start, { task = uri })
    end, function() end)
  end
end

---@param row loopkeeper.SummaryRow
local function trust(row)
  local task = task_of(row)
  local client = row.root and client_module.of_root(row.root)
  if task and client then
    require('loopkeeper.trust').open(client, task)
  end
end

---@type { key: string, text: string, run: fun(row: loopkeeper.SummaryRow), anywhere?: boolean }[]
M.keys = {
  { key = '<CR>', text = later('expand, or open the file or criterion'), run = open },
  { key = 'i', text = later('jump to the task or the criterion'), run = jump },
  { key = 'o', text = later('output of the criterion, iteration or loop'), run = output },
  { key = 'd', text = later('changes of the iteration or loop'), run = diff },
  { key = 'R', text = later('roll back to the iteration'), run = rollback },
  { key = 'a', text = later('answer the loop'), run = answer },
  { key = 's', text = later('stop after the iteration'), run = stop(false) },
  { key = 'S', text = later('stop now and end the agent'), run = stop(true) },
  { key = 'p', text = later('pause or resume'), run = pause },
  { key = 'r', text = later('run the check, or all checks of the task'), run = check },
  { key = 'L', text = later('start a loop for the task'), run = start },
  { key = 't', text = later("show the task's commands and trust them"), run = trust },
  {
    key = 'J',
    text = later('next failing criterion'),
    anywhere = true,
    run = function()
      summary().next_failing(1)
    end,
  },
  {
    key = 'K',
    text = later('previous failing criterion'),
    anywhere = true,
    run = function()
      summary().next_failing(-1)
    end,
  },
  {
    key = 'zR',
    text = later('expand all'),
    anywhere = true,
    run = function()
      summary().toggle_all(true)
    end,
  },
  {
    key = 'zM',
    text = later('collapse all'),
    anywhere = true,
    run = function()
      summary().toggle_all(false)
    end,
  },
  {
    key = 'n',
    text = later('new task from a sentence'),
    anywhere = true,
    run = function()
      vim.cmd('Ralph new')
    end,
  },
  {
    key = 'C',
    text = later('restart the server; loops keep running'),
    anywhere = true,
    run = function()
      client_module.restart()
    end,
  },
  {
    key = '?',
    text = later('this help'),
    anywhere = true,
    run = function()
      M.help()
    end,
  },
}

--- Shows the keys in a window that `q`, `?` or <Esc> closes.
function M.help()
  local lines, width = {}, 0
  for _, it in ipairs(M.keys) do
    table.insert(lines, (' %-5s %s '):format(it.key, t(it.text)))
  end
  table.insert(lines, (' %-5s %s '):format('q', t('close')))
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  local buffer = ui.scratch('loopkeeper://summary-keys', 'loopkeeper-help')
  vim.bo[buffer].bufhidden = 'wipe'
  ui.set_lines(buffer, 0, -1, lines)
  local height = math.min(#lines, vim.o.lines - 4)
  width = math.min(width, vim.o.columns - 4)
  vim.api.nvim_open_win(buffer, true, {
    relative = 'editor',
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2) - 1),
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    title = ' Ralph ',
  })
  for _, key in ipairs({ '?', '<Esc>' }) do
    vim.keymap.set('n', key, '<Cmd>close<CR>', { buffer = buffer, nowait = true, desc = l10n.desc(t('close')) })
  end
end

---@param buffer integer
function M.map(buffer)
  for _, it in ipairs(M.keys) do
    vim.keymap.set('n', it.key, function()
      local row = summary().row()
      if row or it.anywhere then
        it.run(row)
      end
    end, { buffer = buffer, nowait = true, desc = l10n.desc(t(it.text)) })
  end
  for _, key in ipairs({ '<2-LeftMouse>', 'za' }) do
    vim.keymap.set('n', key, '<CR>', { buffer = buffer, remap = true, desc = l10n.desc(t('expand')) })
  end
end

return M
