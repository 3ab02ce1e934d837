-- Neovim as a user sees it: in a tmux terminal, with the questions that Neovim itself draws.

local support = require('support')

local Screen = {}
Screen.__index = Screen

local function init(options)
  return table.concat({
    'vim.opt.packpath:prepend(vim.env.RALPH_TEST_PACK)',
    'vim.o.swapfile = false',
    'vim.o.laststatus = 2',
    'vim.o.number = true',
    'vim.o.statusline = " %f %m%=%{v:lua.require\'loopkeeper\'.statusline()} "',
    'vim.diagnostic.config({ virtual_text = true })',
    ('vim.g.loopkeeper = { server = %s }'):format(vim.inspect(options.server)),
    options.lua or '',
  }, '\n')
end

---@class ScreenOptions
---@field folder string
---@field file string
---@field server string|string[]
---@field lua? string
---@field env? table<string, string>
---@field width? integer
---@field height? integer

---@param options ScreenOptions
function Screen.start(options)
  local self = setmetatable({ socket = ('%s/tmux-%d'):format(support.temp, vim.uv.hrtime()) }, Screen)
  local path = self.socket .. '.lua'
  support.write(path, init(options))
  local size = { '-x', tostring(options.width or 110), '-y', tostring(options.height or 32) }
  local command = vim.list_extend({ 'new-session', '-d', '-c', options.folder }, size)
  for name, value in pairs(options.env or {}) do
    vim.list_extend(command, { '-e', name .. '=' .. value })
  end
  vim.list_extend(command, { vim.v.progpath, '--clean', '-u', path, options.file })
  support.at_end(function()
    self:tmux({ 'kill-server' })
  end)
  local result = self:tmux(command)
  if result.code ~= 0 then
    error('tmux does not start: ' .. result.stderr, 0)
  end
  return self
end

function Screen:tmux(arguments)
  local command = vim.list_extend({ 'tmux', '-S', self.socket, '-f', '/dev/null' }, arguments)
  return vim.system(command, { text = true, env = { TMUX = '', TERM = 'xterm-256color' } }):wait()
end

---@param colours? boolean with escape sequences
---@return string
function Screen:text(colours)
  local command = colours and { 'capture-pane', '-p', '-e' } or { 'capture-pane', '-p' }
  return self:tmux(command).stdout or ''
end

---@param keys string typed verbatim
function Screen:type(keys)
  self:tmux({ 'send-keys', '-l', keys })
end

---@param key string by its name
function Screen:press(key)
  self:tmux({ 'send-keys', key })
end

---@param line string
function Screen:ex(line)
  self:type(':' .. line)
  self:press('Enter')
end

--- Waits until a pattern is on the screen.
---@param pattern string
---@return string the captured text
function Screen:wait(pattern)
  return support.wait('on the screen: ' .. pattern, function()
    return self:text():match(pattern)
  end, function()
    return self:text()
  end)
end

return Screen
