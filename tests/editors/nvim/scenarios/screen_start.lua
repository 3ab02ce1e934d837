-- On a real screen, wide and narrow: the list of `:Ralph start` is complete, Escape starts nothing, a value is changed by
-- its number, and Enter starts.

local Project = require('project')
local Screen = require('screen')
local support = require('support')

local function open(width)
  local project = Project.new({ name = 'work' .. width })
  local screen = Screen.start({
    folder = project.folder,
    file = 'PROMPT.md',
    server = project.server,
    width = width,
    height = 28,
  })
  screen:wait(' Ralph\n')
  screen:ex('Ralph start')
  screen:wait('a number changes:')
  return project, screen
end

--- Without white space, because lines are broken anywhere.
local function dense(text)
  return (text:gsub('%s', ''))
end

local function shows_all(screen)
  local text = dense(screen:text())
  for _, part in ipairs({
    '1: Start · Three letters · scripted · At most 9 iterations and 8 h; cost not reported',
    '2: Task: Three letters · ',
    '3: Agent: scripted',
    '4: Iterations: 9',
    '5: Cost: $25.00',
    '6: Duration: 8h',
    'Enter starts, a number changes:',
  }) do
    support.same(1, select(2, text:gsub(vim.pesc(dense(part)), '')), 'how often the screen has ' .. part)
  end
end

local function starts_nothing(project, screen)
  screen:wait('\n *~')
  vim.wait(300)
  support.same({}, project:loops(), 'loops')
end

return {
  run = function()
    for _, width in ipairs({ 110, 48 }) do
      local project, screen = open(width)
      shows_all(screen)
      screen:press('Escape')
      starts_nothing(project, screen)
      -- A key that is no number is an accident.
      screen:ex('Ralph start')
      screen:wait('a number changes:')
      screen:type('jj')
      screen:press('Enter')
      screen:wait('nothing was started: no such number')
      starts_nothing(project, screen)

      screen:ex('Ralph start')
      screen:wait('a number changes:')
      screen:type('4')
      screen:press('Enter')
      screen:wait('At most how many iterations%? 9')
      screen:press('C-u')
      screen:type('2')
      screen:press('Enter')
      screen:wait('Iterations: 2')
      support.contains(dense(screen:text()), dense('At most 2 iterations and 8 h'))
      screen:press('Enter')
      screen:type(screen:wait('(%d): Trust and start'))
      screen:press('Enter')
      screen:wait('Ralph 1/2')
      screen:ex('qall')
    end
  end,

  -- Escape must not start it.
  control_fails = 'waited for: on the screen: Ralph 1/9',
  control = function()
    local _, screen = open(110)
    screen:press('Escape')
    screen:wait('Ralph 1/9')
  end,
}
