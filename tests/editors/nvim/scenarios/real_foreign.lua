-- A loop of Claude Code's plugin is shown while it runs, stopped, and imported.

local Project = require('project')
local support = require('support')

local file = '.claude/ralph-loop.local.md'
local state = '---\nactive: true\niteration: %d\nsession_id: abc\nmax_iterations: 20\n'
  .. 'completion_promise: "ALL DONE"\nstarted_at: "2026-01-01T00:00:00Z"\n---\n\nBuild a REST API.\n'

local function start()
  local project = Project.new()
  return project, project:open()
end

return {
  run = function()
    local project, editor = start()
    project:file(file, state:format(3))
    editor:wait_statusline('^Ralph 3/20 %(plugin%)$')
    project:file(file, state:format(4))
    editor:wait_statusline('^Ralph 4/20 %(plugin%)$')
    editor:ex('Ralph status')
    support.wait('what is known of it', function()
      local text = editor:buffer_text('loopkeeper://summary') or ''
      return text:find('iteration 4/20', 1, true)
        and text:find('Build a REST API.', 1, true)
        and text:find('ALL DONE', 1, true)
    end, function()
      return editor:describe()
    end)

    editor:ex('Ralph stop')
    editor:wait_statusline('^Ralph$')
    support.same(nil, project:read(file), 'its state file')

    project:file(file, state:format(5))
    editor:wait_statusline('^Ralph 5/20 %(plugin%)$')
    editor:ex('Ralph import')
    support.wait('the task made of it', function()
      return (project:read('ralph-loop.ralph.md') or ''):find('Build a REST API.', 1, true)
    end, function()
      return editor:describe()
    end)
    support.wait('its state file to be gone', function()
      return project:read(file) == nil
    end)
    editor:wait_statusline('^Ralph$')
    editor:ex('Ralph import')
    editor:wait_message('no loop of Claude Code')
  end,

  -- A file of another name is not a loop of the plugin.
  control_fails = 'waited for: statusline %(plugin%)',
  control = function()
    local project, editor = start()
    project:file('.claude/ralph-loop.md', state:format(3))
    editor:wait_statusline('%(plugin%)')
  end,
}
