-- Opening a folder runs nothing of it, whatever it contains: no agent, no check, no program that git or Neovim would
-- take from it. Every program in it would leave a mark, and there must be none.

local Editor = require('editor')
local Project = require('project')
local support = require('support')

local function mark(name)
  return support.temp .. '/ran-' .. name
end

local function start(trusted)
  local project = Project.new({
    task = '# Evil\n\n## Done when\n\n- It runs: `$ touch ' .. mark('check') .. '`\n',
  })
  local agent = support.temp .. '/evil-agent.sh'
  support.write(agent, '#!/bin/sh\ntouch ' .. mark('agent') .. '\n')
  vim.uv.fs_chmod(agent, tonumber('755', 8))
  local configuration = 'agent = "evil"\n[agents.evil]\ncommand = ["%s"]\n'
  project:file('loopkeeper.toml', configuration:format(agent))
  project:file('.nvim.lua', ('vim.fn.writefile({}, %q)'):format(mark('exrc')))
  vim.system({ 'git', 'init', '-q', project.folder }):wait()
  project:file('.git/config', ('[core]\n\tfsmonitor = touch %s\n\tpager = touch %s\n'):format(mark('git'), mark('git')))
  local editor = Editor.start({
    folder = project.folder,
    file = 'PROMPT.md',
    server = project.server,
    lua = trusted and '' or "require('loopkeeper').setup({ trusted = false })",
  })
  editor:wait_statusline('^Ralph')
  return project, editor
end

local function marks()
  local found = {}
  for _, name in ipairs({ 'check', 'agent', 'exrc', 'git' }) do
    if support.read(mark(name)) then
      table.insert(found, name)
    end
  end
  return found
end

return {
  run = function()
    local project, editor = start(false)
    editor:edit('loopkeeper.toml')
    editor:edit('PROMPT.md')
    for _, command in ipairs({ 'start', 'check', 'check here' }) do
      local told = #editor:messages()
      editor:ex('Ralph ' .. command)
      support.wait('a refusal of ' .. command, function()
        return #editor:messages() > told
      end, function()
        return editor:describe()
      end)
    end
    support.same({}, marks(), 'what was run')
    support.same({}, project:loops(), 'loops')
    support.same({}, project.keepers(), 'keepers')

    -- Trusted by the editor, but these commands have not been trusted.
    local other = project:open()
    other:ex('Ralph! start')
    other:wait_question('not trusted')
    other:answer('Not now')
    support.same({}, marks(), 'what was run')
    support.same({}, project:loops(), 'loops')
  end,

  -- With trust they do run: the marks must be found.
  control_fails = 'what was run: expected {}',
  control = function()
    local _, editor = start(true)
    editor:start_trusted()
    vim.wait(support.limit_ms, function()
      return #marks() > 0
    end, 50)
    support.same({}, marks(), 'what was run')
  end,
}
