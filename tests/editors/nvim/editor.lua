-- A separate Neovim that a scenario controls by RPC. Its packpath contains the plugin and nothing else of the user's.
-- Questions by `vim.ui.select` stay pending in it until the scenario answers them.

local support = require('support')

local Editor = {}
Editor.__index = Editor

local prelude = [[
  _G.test = { questions = {}, messages = {}, events = {} }
  vim.ui.select = function(items, options, on_choice)
    local labels = vim.tbl_map(options.format_item or tostring, items)
    table.insert(_G.test.questions, {
      prompt = options.prompt, labels = labels, items = items, answer = on_choice,
    })
  end
  vim.notify = function(message, level)
    table.insert(_G.test.messages, { text = message, level = level or 2 })
  end
  vim.api.nvim_create_autocmd('User', {
    pattern = 'Loopkeeper*',
    callback = function(event)
      table.insert(_G.test.events, { name = event.match, data = event.data })
    end,
  })
]]

--- Starts one. `options.lua` runs in it before any file is opened; `options.under` is a command to run it under.
---@param options { folder: string, file?: string, server: string|string[], lua?: string, env?: table, under?: table }
function Editor.start(options)
  local init = support.temp .. '/init-' .. vim.uv.hrtime() .. '.lua'
  local given = ('vim.g.loopkeeper = { server = %s }\n'):format(vim.inspect(options.server))
  support.write(
    init,
    'vim.opt.packpath:prepend(vim.env.RALPH_TEST_PACK)\nvim.o.swapfile = false\n'
      .. prelude
      .. given
      .. (options.lua or '')
  )
  local self = setmetatable({ folder = options.folder }, Editor)
  local command = vim.list_extend(vim.deepcopy(options.under or {}), {
    vim.v.progpath,
    '--headless',
    '--embed',
    '--clean',
    '-u',
    init,
  })
  self.channel = vim.fn.jobstart(command, { rpc = true, cwd = options.folder, env = options.env })
  assert(self.channel > 0, 'Neovim does not start')
  self.pid = vim.fn.jobpid(self.channel)
  support.at_end(function()
    vim.fn.jobstop(self.channel)
  end)
  if options.file then
    self:edit(options.file)
  end
  return self
end

--- Runs Lua in it; arguments arrive as `...`.
function Editor:lua(code, ...)
  return vim.rpcrequest(self.channel, 'nvim_exec_lua', code, { ... })
end

function Editor:edit(file)
  self:lua('vim.cmd.edit(vim.fn.fnameescape(...))', self.folder .. '/' .. file)
end

---@param line string
function Editor:ex(line)
  self:lua('vim.cmd(...)', line)
end

function Editor:wait(what, code, ...)
  local arguments = { ... }
  return support.wait(what, function()
    local value = self:lua(code, unpack(arguments))
    return value ~= vim.NIL and value or nil
  end, function()
    return self:describe()
  end)
end

function Editor:statusline()
  return self:lua("return require('loopkeeper').statusline()")
end

--- Waits until the statusline matches a pattern.
---@param pattern string
function Editor:wait_statusline(pattern)
  return self:wait('statusline ' .. pattern, "return require('loopkeeper').statusline():match(...)", pattern)
end

--- Diagnostics of a buffer: { { line, code, severity, message } }, lines from 1.
---@param file string
function Editor:diagnostics(file)
  return self:lua(
    [[
      local buffer = vim.fn.bufnr(...)
      local list = buffer == -1 and {} or vim.diagnostic.get(buffer)
      return vim.tbl_map(function(it)
        return { line = it.lnum + 1, code = it.code, severity = it.severity, message = it.message, source = it.source }
      end, list)
    ]],
    self.folder .. '/' .. file
  )
end

---@param file string
---@param code string
---@return table? the first diagnostic with this code
function Editor:diagnostic(file, code)
  for _, it in ipairs(self:diagnostics(file)) do
    if it.code == code then
      return it
    end
  end
end

--- Waits for a question whose prompt contains a text.
---@param part string
---@return { prompt: string, labels: string[] }
function Editor:wait_question(part)
  return self:wait(
    'question ' .. part,
    [[
      for _, question in ipairs(_G.test.questions) do
        if question.prompt:find(..., 1, true) then
          return { prompt = question.prompt, labels = question.labels }
        end
      end
    ]],
    part
  )
end

--- Answers the question with the choice that contains a text.
---@param label string
function Editor:answer(label)
  local found = self:lua(
    [[
      for place, question in ipairs(_G.test.questions) do
        for index, it in ipairs(question.labels) do
          if it:find(..., 1, true) then
            table.remove(_G.test.questions, place)
            question.answer(question.items[index], index)
            return true
          end
        end
      end
      return false
    ]],
    label
  )
  if not found then
    error(('no question offers %q\n%s'):format(label, self:describe()), 0)
  end
end

--- Runs `:Ralph! start`, and grants trust to the task's commands.
function Editor:start_trusted()
  self:ex('Ralph! start')
  self:wait_question('not trusted')
  self:answer('Trust and start')
end

--- Waits until the page of a question is displayed to its end.
function Editor:wait_page()
  self:wait('the page', "return vim.bo.filetype == 'loopkeeper-trust' or nil")
  self:lua("vim.cmd.normal({ 'G', bang = true })")
  self:wait('the end of the page', "return vim.wo.winbar:find('^ t: ') and vim.wo.winbar")
end

--- Presses a key at the cursor.
---@param key string
function Editor:press(key)
  self:lua("vim.api.nvim_feedkeys(vim.keycode(...), 'mx', false)", key)
end

--- Runs `:Ralph trust`, and grants trust on its page.
function Editor:trust()
  self:ex('Ralph trust')
  self:wait_page()
  self:press('t')
  self:wait_message(' trusted.')
end

---@return { text: string, level: integer }[]
function Editor:messages()
  return self:lua('return _G.test.messages')
end

---@param part string
function Editor:wait_message(part)
  return self:wait(
    'message ' .. part,
    [[
      for _, message in ipairs(_G.test.messages) do
        if message.text:find(..., 1, true) then
          return message
        end
      end
    ]],
    part
  )
end

--- Names of the events so far, without `LoopkeeperStatus`.
function Editor:events()
  local names = self:lua('return vim.tbl_map(function(it) return it.name end, _G.test.events)')
  return vim.tbl_filter(function(name)
    return name ~= 'LoopkeeperStatus'
  end, names)
end

---@param part string of its name
---@return string? text of a loaded buffer
function Editor:buffer_text(part)
  local text = self:lua(
    [[
      for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
        local name = vim.api.nvim_buf_get_name(buffer)
        if vim.api.nvim_buf_is_loaded(buffer) and name:find(..., 1, true) then
          return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
        end
      end
    ]],
    part
  )
  return text ~= vim.NIL and text or nil
end

--- Process id of its server.
---@return integer?
function Editor:server_pid()
  for name in vim.fs.dir('/proc') do
    local stat = name:match('^%d+$') and support.read('/proc/' .. name .. '/stat')
    if stat and stat:match('%) %a (%d+) ') == tostring(self.pid) then
      local line = support.read('/proc/' .. name .. '/cmdline') or ''
      if line:find('--stdio', 1, true) then
        return tonumber(name)
      end
    end
  end
end

--- Quits Neovim like a user.
function Editor:quit()
  vim.rpcnotify(self.channel, 'nvim_command', 'qall!')
  support.wait('Neovim to end', function()
    return vim.fn.jobwait({ self.channel }, 0)[1] ~= -1
  end)
end

function Editor:describe()
  local ok, text = pcall(function()
    return vim.inspect(self:lua([[
      local all = {}
      for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
        for _, it in ipairs(vim.diagnostic.get(buffer)) do
          local file = vim.fs.basename(vim.api.nvim_buf_get_name(buffer))
          table.insert(all, ('%s:%d %s %s'):format(file, it.lnum + 1, it.code, it.message))
        end
      end
      return {
        statusline = require('loopkeeper').statusline(),
        messages = _G.test.messages,
        questions = vim.tbl_map(function(it) return { it.prompt, it.labels } end, _G.test.questions),
        diagnostics = all,
        events = vim.tbl_map(function(it) return it.name end, _G.test.events),
      }
    ]]))
  end)
  return ok and text or 'Neovim does not answer: ' .. tostring(text)
end

return Editor
