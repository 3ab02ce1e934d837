-- On a narrow screen: the answer to a command that does not fit into the command line needs no key press, and all of it can
-- be read; so can the reason of a refusal. `:Ralph status` in the summary says something.

local Project = require('project')
local Screen = require('screen')
local support = require('support')

local function start()
  local project = Project.new()
  local screen = Screen.start({
    folder = project.folder,
    file = 'PROMPT.md',
    server = project.server,
    width = 44,
  })
  screen:wait(' Ralph\n')
  screen:ex('Ralph! start')
  screen:type(screen:wait('(%d): Trust and start'))
  screen:press('Enter')
  screen:wait('Ralph 1/9')
  return screen
end

local function steers(screen)
  screen:ex('Ralph steer mind the gap')
  screen:wait('The loop passes the text on')
  vim.wait(300)
  support.same(nil, screen:text():find('Press ENTER', 1, true), 'a prompt to press Enter')
  screen:wait('2%. *│')
  -- The next keys are commands again.
  screen:ex('echo 40 + 2')
  screen:wait('42')
end

local function is_refused(screen)
  screen:ex('Ralph! start')
  screen:wait('Ralph: .-…')
  -- In the window: beyond what fits into the command line.
  screen:wait('│[^\n]*│\n[^\n]*│[^\n]*│')
  support.same(nil, screen:text():find('Press ENTER', 1, true), 'a prompt to press Enter')
  screen:ex('echo 41 + 2')
  screen:wait('43')
end

local function says_something(screen)
  screen:ex('Ralph summary')
  screen:wait('Working')
  screen:ex('echo 42 + 2')
  screen:wait('44')
  screen:ex('Ralph status')
  screen:wait('\nRalph 1/9')
end

return {
  run = function()
    local screen = start()
    steers(screen)
    is_refused(screen)
    says_something(screen)
    screen:ex('qall')
  end,

  -- A message that is printed as it is must be noticed.
  control_fails = 'a prompt to press Enter',
  control = function()
    local screen = start()
    screen:ex("lua require('loopkeeper.ui').tell = function(m) vim.notify(m) end")
    steers(screen)
  end,
}
