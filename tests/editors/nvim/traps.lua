-- Malicious workspaces. Each tries to get a program run: a script that leaves a mark next to itself.

local support = require('support')

local M = {}

M.script = support.temp .. '/trap.sh'
M.mark = support.temp .. '/trapped'

local task = '# Trap\n\n## Done when\n\n- It is: `$ test -e made`\n'

local function git(folder, configuration)
  vim.system({ 'git', 'init', '-q', folder }):wait()
  local path = folder .. '/.git/config'
  support.write(path, support.read(path) .. configuration)
end

local function program(path)
  support.write(path, ('#!/bin/sh\necho "$0" >> %s\n'):format(M.mark))
  vim.uv.fs_chmod(path, tonumber('755', 8))
end

--- Every trap is created in a folder that already has a task.
---@type table<string, fun(folder: string)>
M.all = {
  ['a check'] = function(folder)
    support.write(folder .. '/PROMPT.md', task .. ('- So: `$ %s`\n'):format(M.script))
  end,
  ['an agent'] = function(folder)
    support.write(folder .. '/loopkeeper.toml', ('agent = "x"\n[agents.x]\ncommand = ["%s"]\n'):format(M.script))
  end,
  ['fsmonitor'] = function(folder)
    git(folder, ('[core]\n\tfsmonitor = %s\n'):format(M.script))
  end,
  ['external diff and pager'] = function(folder)
    git(folder, ('[core]\n\tpager = %s\n\teditor = %s\n[diff]\n\texternal = %s\n'):format(M.script, M.script, M.script))
  end,
  ['text conversion'] = function(folder)
    git(folder, ('[diff "x"]\n\ttextconv = %s\n'):format(M.script))
    support.write(folder .. '/.gitattributes', '* diff=x\n')
  end,
  ['filters'] = function(folder)
    git(folder, ('[filter "x"]\n\tclean = %s\n\tsmudge = %s\n\tprocess = %s\n'):format(M.script, M.script, M.script))
    support.write(folder .. '/.gitattributes', '* filter=x\n')
  end,
  ['hooks'] = function(folder)
    git(folder, '')
    for _, hook in ipairs({ 'post-checkout', 'post-index-change', 'pre-commit', 'reference-transaction' }) do
      program(folder .. '/.git/hooks/' .. hook)
    end
  end,
  ['hooks elsewhere'] = function(folder)
    git(folder, '[core]\n\thooksPath = hooks\n')
    program(folder .. '/hooks/post-index-change')
  end,
  ['a credential helper and a proxy'] = function(folder)
    local text =
      '[credential]\n\thelper = %s\n[core]\n\tsshCommand = %s\n\tgitProxy = %s\n[remote "origin"]\n\turl = ext::%s\n'
    git(folder, text:format(M.script, M.script, M.script, M.script))
  end,
  ['a configuration that is included'] = function(folder)
    git(folder, '[include]\n\tpath = ../evil\n')
    support.write(folder .. '/evil', ('[core]\n\tfsmonitor = %s\n'):format(M.script))
  end,
  ['a repository elsewhere'] = function(folder)
    vim.system({ 'git', 'init', '-q', '--separate-git-dir', folder .. '/store', folder }):wait()
    local path = folder .. '/store/config'
    support.write(path, support.read(path) .. ('[core]\n\tfsmonitor = %s\n'):format(M.script))
  end,
  ['a nested repository'] = function(folder)
    git(folder, '')
    git(folder .. '/below', ('[core]\n\tfsmonitor = %s\n'):format(M.script))
  end,
  ['configuration for Neovim'] = function(folder)
    for _, name in ipairs({ '.nvim.lua', '.nvimrc', '.exrc' }) do
      support.write(folder .. '/' .. name, ("call writefile(['x'], '%s')\n"):format(M.mark))
    end
  end,
  ['a modeline'] = function(folder)
    local expression = ("writefile(['x'],'%s')"):format(M.mark)
    support.write(folder .. '/PROMPT.md', task .. '\nvim: set foldmethod=expr foldexpr=' .. expression .. ' :\n')
  end,
  ['front matter'] = function(folder)
    local text = '---\ntest_command: %s\nagent: %s\ncommands:\n  - %s\n---\n'
    support.write(folder .. '/PROMPT.md', text:format(M.script, M.script, M.script) .. task)
  end,
  ['a plan'] = function(folder)
    local story =
      { id = '1', title = 'x', acceptanceCriteria = { ('`$ %s`'):format(M.script) }, priority = 1, passes = false }
    local plan = { userStories = { story }, completionCriteria = { M.script }, qualityGates = { M.script } }
    support.write(folder .. '/prd.json', vim.json.encode(plan))
    support.write(folder .. '/fix_plan.md', ('- [ ] It is: `$ %s`\n'):format(M.script))
  end,
  ['settings of another tool'] = function(folder)
    support.write(folder .. '/.ralphrc', ('X=$(%s)\n`%s`\n'):format(M.script, M.script))
  end,
  ['settings of an agent'] = function(folder)
    local hook = { hooks = { { type = 'command', command = M.script } } }
    support.write(folder .. '/.claude/settings.json', vim.json.encode({ hooks = { SessionStart = { hook } } }))
    support.write(folder .. '/.mcp.json', vim.json.encode({ mcpServers = { x = { command = M.script } } }))
  end,
  ['programs of known names'] = function(folder)
    for _, name in ipairs({ 'git', 'sh', 'bash', 'claude', 'codex', 'loopkeeper', 'bwrap', 'rg' }) do
      program(folder .. '/' .. name)
    end
  end,
  ['names that are commands'] = function(folder)
    support.write(folder .. '/$(touch made).ralph.md', task)
    support.write(folder .. '/`touch made`.ralph.md', task)
    support.write(folder .. '/|touch made.ralph.md', task)
    support.write(folder .. '/a\27[2Jb\226\128\174c.ralph.md', task)
  end,
  ['a link that leaves the folder'] = function(folder)
    vim.uv.fs_symlink('/dev/zero', folder .. '/prd.json')
  end,
  ['a file that never ends'] = function(folder)
    vim.system({ 'mkfifo', folder .. '/fix_plan.md' }):wait()
  end,
  ['text that hides'] = function(folder)
    local hidden =
      '- \27[31mred\27[0m \226\128\174drow [x](command:loopkeeper.server.start) <b>: `$ true # \226\128\174`\n'
    support.write(folder .. '/PROMPT.md', task .. hidden)
  end,
}

---@param name string
---@param folder string
function M.lay(name, folder)
  program(M.script)
  support.write(folder .. '/PROMPT.md', task)
  M.all[name](folder)
end

return M
