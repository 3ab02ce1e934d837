-- One sentence becomes a complete task in a new buffer, which the user writes.

local Project = require('project')
local support = require('support')

return {
  run = function()
    local project = Project.new()
    local editor = project:open()
    editor:ex('Ralph new Parse dates with a zone')
    support.unsaved_task(project, editor, 'parse-dates-with-a-zone.ralph.md', '## Completion Criteria')
    support.write_task(project, editor, 'parse-dates-with-a-zone.ralph.md', '## Completion Criteria')
    editor:ex('Ralph new --writing Tea')
    support.unsaved_task(project, editor, 'tea.ralph.md', '`$ wc -w < tea.md` `>= 600`')
    editor:ex('Ralph new Write a blog post about tides')
    support.unsaved_task(project, editor, 'write-a-blog-post-about-tides.ralph.md', '`>= 600`')
    editor:ex('Ralph new 比较三种向量数据库，给出来源')
    support.unsaved_task(project, editor, '比较三种向量数据库-给出来源.ralph.md', '-sources.md')
    -- Without a sentence, the command asks for it and for the kind of result.
    editor:lua([[vim.ui.input = function(_, answered) answered('Bees') end]])
    editor:ex('Ralph new')
    editor:wait_question('What does the new task produce?')
    editor:answer('Writing: length, sections, links, a judge')
    support.unsaved_task(project, editor, 'bees.ralph.md', '`$ wc -w < bees.md` `>= 600`')
  end,
}
