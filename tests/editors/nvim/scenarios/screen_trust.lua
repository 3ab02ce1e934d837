-- On a small screen: *Show commands* displays the page before it asks, all of it can be scrolled, and the answers
-- never cover it.

local Project = require('project')
local Screen = require('screen')
local support = require('support')

local function start()
  local checks = {}
  for number = 1, 12 do
    table.insert(checks, ('- Step %d works: `$ test -e step-%d.txt`'):format(number, number))
  end
  local task = '# Twelve steps\n\n## Done when\n\n' .. table.concat(checks, '\n') .. '\n'
  local project = Project.new({ task = task })
  local options = { folder = project.folder, file = 'PROMPT.md', server = project.server, width = 60, height = 24 }
  local screen = Screen.start(options)
  screen:wait('Twelve steps')
  screen:wait(' Ralph ?\n')
  screen:ex('Ralph! start')
  local show = screen:wait('(%d): Show commands')
  screen:type(show)
  screen:press('Enter')
  return project, screen
end

return {
  run = function()
    local project, screen = start()
    screen:wait('Commands that "Twelve steps" would run in')
    screen:wait('13 commands, none of them trusted yet')
    screen:wait('read to the end, then t: Trust and start   q: Not now')
    screen:type('t')
    screen:wait('read to the end of the page first')
    support.same(0, project:n_starts(), 'starts of the agent')
    -- The bar stays visible while scrolling.
    screen:press('C-f')
    screen:wait('"Step %d+ works"')
    screen:type('G')
    screen:wait('test %-e step%-12.txt')
    screen:wait('\n t: Trust and start   q: Not now')
    screen:type('t')
    screen:wait('Ralph 1/9 · 0/12')
    screen:ex('qall')
  end,

  -- Without an answer nothing starts.
  control_fails = 'waited for: on the screen: Ralph 1/9',
  control = function()
    local _, screen = start()
    screen:wait('Commands that "Twelve steps" would run in')
    screen:type('q')
    screen:wait('Ralph 1/9')
  end,
}
