-- One sentence becomes a complete task in a new buffer, which the user writes.

local Project = require('project')
local support = require('support')

local function has(project, editor, name, words)
  support.wait('the task made of it', function()
    return (editor:buffer_text(name) or ''):find(words, 1, true)
  end, function()
    return editor:describe()
  end)
  support.same(nil, project:read(name), 'no file before it is written')
end

return {
  run = function()
    local project = Project.new()
    local editor = project:open()
    editor:ex('Ralph new Parse dates with a zone')
    has(project, editor, 'parse-dates-with-a-zone.ralph.md', ': `clean`')
    editor:ex('write')
    support.wait('the file', function()
      return (project:read('parse-dates-with-a-zone.ralph.md') or ''):find('## Completion Criteria', 1, true)
    end, function()
      return editor:describe()
    end)
    editor:ex('Ralph new --writing Tea')
    has(project, editor, 'tea.ralph.md', '`$ wc -w < tea.md` `>= 600`')
  end,
}
