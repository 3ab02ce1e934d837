-- Hostile workspaces, opened untrusted in Neovim and queried in every way: no program is started except Neovim and
-- the server, no connection is made, and the displayed text contains nothing that a terminal would interpret.

local Editor = require('editor')
local support = require('support')
local traps = require('traps')

local function trace_of(name)
  return support.temp .. '/trace-' .. name:gsub('%W', '-')
end

local function open(name)
  local folder = support.temp .. '/' .. name:gsub('%W', '-')
  traps.lay(name, folder)
  local editor = Editor.start({
    folder = folder,
    file = 'PROMPT.md',
    server = vim.env.RALPH_TEST_SERVER,
    env = { PATH = '.:' .. vim.env.PATH },
    under = {
      'strace',
      '-f',
      '-qq',
      '-s',
      '300',
      '-e',
      'trace=execve,execveat,connect',
      '-e',
      'signal=none',
      '-o',
      trace_of(name),
    },
  })
  -- Unreadable files are reported instead.
  editor:wait('a first status', "return require('loopkeeper').statusline() ~= '' or #_G.test.messages > 0")
  return editor
end

local function look_at_everything(editor)
  for _, method in ipairs({ 'codeLens', 'codeAction', 'hover', 'documentSymbol' }) do
    editor:lua(
      [[
        local document = vim.lsp.util.make_text_document_params()
        local place = { line = 0, character = 0 }
        local params = { textDocument = document, position = place, context = { diagnostics = {} } }
        params.range = { start = place, ['end'] = place }
        vim.lsp.buf_request_sync(0, 'textDocument/' .. ..., params, 20000)
      ]],
      method
    )
  end
  for _, command in ipairs({ 'Ralph status', 'Ralph start PROMPT.md', 'Ralph trust PROMPT.md' }) do
    editor:ex(command)
  end
  -- The response to the last request arrives after the earlier ones.
  support.wait('the trust page', function()
    return editor:buffer_text('loopkeeper://trust') or #editor:messages() > 0
  end, function()
    return editor:describe()
  end)
end

--- The programs started and the connections made.
local function started(name)
  local found = {}
  for line in vim.gsplit(support.read(trace_of(name)) or '', '\n') do
    local path = line:match('execve%("(.-)".* = 0$') or line:match('execveat%(.- = 0$')
    local ours = path and (path == vim.v.progpath or path == vim.env.RALPH_TEST_SERVER)
    if (path and not ours) or line:find('sa_family=AF_INET', 1, true) then
      table.insert(found, line)
    end
  end
  return found
end

local function obeyed(text)
  return text:find('[%z\1-\8\11-\31\127]') or text:find('\226\128[\170-\174]') or text:find('\226\129[\166-\169]')
end

local function shows_plain_text(name, editor)
  local shown = editor:messages()
  for _, it in ipairs(editor:diagnostics('PROMPT.md')) do
    table.insert(shown, { text = it.message })
  end
  table.insert(shown, { text = editor:buffer_text('loopkeeper://trust') or '' })
  table.insert(shown, { text = editor:buffer_text('loopkeeper://summary') or '' })
  for _, it in ipairs(shown) do
    if obeyed(it.text) then
      error(('%s shows %q'):format(name, it.text), 0)
    end
  end
end

local function harmless(name)
  local found = started(name)
  if #found > 0 or support.read(traps.mark) then
    error(('%s started:\n%s\n%s'):format(name, table.concat(found, '\n'), support.read(traps.mark) or ''), 0)
  end
end

return {
  run = function()
    local names = vim.tbl_keys(traps.all)
    table.sort(names)
    for _, name in ipairs(names) do
      local editor = open(name)
      look_at_everything(editor)
      shows_plain_text(name, editor)
      editor:quit()
      harmless(name)
    end
  end,

  -- A Neovim that runs git is detected.
  control_fails = 'fsmonitor started:',
  control = function()
    local editor = open('fsmonitor')
    editor:lua("vim.fn.system({ '/usr/bin/git', 'status' })")
    editor:quit()
    harmless('fsmonitor')
  end,
}
