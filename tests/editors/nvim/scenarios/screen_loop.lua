-- On a real screen: the criteria with signs and messages, the question drawn by Neovim, the changing counter,
-- *done*.

local Project = require('project')
local Screen = require('screen')
local support = require('support')

local function start()
  local project = Project.new()
  local screen = Screen.start({ folder = project.folder, file = 'PROMPT.md', server = project.server })
  screen:wait('Three letters')
  screen:wait(' Ralph\n')
  return project, screen
end

--- The row of the screen that contains a text.
local function row(screen, part)
  for line in vim.gsplit(screen:text(), '\n') do
    if line:find(part, 1, true) then
      return line
    end
  end
  return ''
end

local function wait_row(screen, part, pattern)
  support.wait(('%s on the row of %s'):format(pattern, part), function()
    return row(screen, part):find(pattern)
  end, function()
    return screen:text()
  end)
end

return {
  run = function()
    local project, screen = start()
    -- Code lenses, drawn by Neovim itself: above the line in 0.12, after it in 0.10.
    screen:wait('Start loop')
    -- Two key presses: the command, and Enter on its list.
    screen:ex('Ralph start')
    screen:wait('Enter starts, a number changes:')
    screen:press('Enter')
    screen:wait('Trust and start')
    local answer = screen:wait('(%d): Trust and start')
    screen:type(answer)
    screen:press('Enter')
    screen:wait('Ralph 1/9 · 0/3')
    wait_row(screen, 'A is there: `', '✗')

    project:agent_does('echo a > a.txt')
    screen:wait('Ralph 2/9 · 1/3')
    wait_row(screen, 'A is there: `', '✓')
    wait_row(screen, 'C is there: `', '✗')

    screen:ex('Ralph output')
    -- What was printed before, and what is printed now.
    screen:wait('Checks: 1 of 3 pass')
    project:agent_does('echo hello > b.txt; echo "a word from the agent"')
    screen:wait('a word from the agent')
    screen:wait('Ralph 3/9 · 2/3')
    screen:ex('Ralph status')
    screen:wait('C is there: c.txt does not exist')
    screen:type('q')
    project:agent_does('echo c > c.txt')
    screen:wait('Ralph done · 3')
    wait_row(screen, 'C is there: `', '✓')
    screen:ex('qall')
  end,

  -- Without trust the counter must not move.
  control_fails = 'waited for: on the screen: Ralph 1/9',
  control = function()
    local _, screen = start()
    screen:ex('Ralph! start')
    local answer = screen:wait('(%d): Not now')
    screen:type(answer)
    screen:press('Enter')
    screen:wait('Ralph 1/9')
  end,
}
