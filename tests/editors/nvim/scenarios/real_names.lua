-- Folders reached through links, and names that a shell, a pattern or an Ex command would split.

local Editor = require('editor')
local Project = require('project')
local support = require('support')

local function finishes(project, folder)
  local editor = Editor.start({ folder = folder, file = 'PROMPT.md', server = project.server })
  editor:wait_statusline('^Ralph')
  editor:start_trusted()
  project:agent_does('echo a > a.txt')
  editor:wait_statusline('Ralph 2/9 · 1/3')
  support.wait('two failing criteria in the buffer that is shown', function()
    local found = 0
    for _, it in ipairs(editor:diagnostics('PROMPT.md')) do
      found = found + (it.code == 'failing' and 1 or 0)
    end
    return found == 2
  end, function()
    return editor:describe()
  end)
  editor:wait(
    'the mark of the first criterion',
    [[
    local namespace = vim.api.nvim_create_namespace('loopkeeper.signs')
    return #vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, {}) == 3
  ]]
  )
  editor:ex('Ralph stop!')
  editor:wait_statusline('stopped at 2/9')
end

return {
  run = function()
    local project = Project.new()
    local link = support.temp .. '/link'
    vim.uv.fs_symlink(project.folder, link)
    finishes(project, link)

    -- The same task, moved to a difficult name.
    local odd = support.temp .. "/it's [a] %b #c $d é"
    project.folder = odd
    project:file('PROMPT.md', support.read(support.temp .. '/work/PROMPT.md'))
    project:file('loopkeeper.toml', support.read(support.temp .. '/work/loopkeeper.toml'))
    project.next = 3
    finishes(project, odd)
  end,

  -- An agent that is never released leaves the counter unchanged.
  control_fails = 'waited for: statusline Ralph 2/9 · 1/3',
  control = function()
    local project = Project.new()
    project.agent_does = function() end
    finishes(project, project.folder)
  end,
}
