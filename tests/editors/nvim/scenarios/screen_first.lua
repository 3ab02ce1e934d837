-- On a real screen, in a folder without a task: the summary is high enough for its whole text, and every refusal names the
-- command that helps.

local Screen = require('screen')
local support = require('support')

return {
  run = function()
    local folder = support.temp .. '/empty'
    support.write(folder .. '/notes.md', '# Notes\n')
    local server = vim.env.RALPH_TEST_SERVER
    local screen = Screen.start({ folder = folder, file = 'notes.md', server = server, width = 100, height = 30 })
    screen:wait('# Notes')
    screen:ex('Ralph summary')
    screen:wait('There is no task in this folder')
    screen:wait('n makes one from a sentence')
    screen:wait('all keys')
    screen:ex('Ralph start')
    screen:wait('Hint: `:Ralph new`')
    screen:press('Enter')
    screen:ex('Ralph new Make the parser read dates')
    screen:wait('# Make the parser read dates')
    screen:ex('write')
    screen:wait(' Ralph\n')
    screen:wait('Start loop')
  end,
}
