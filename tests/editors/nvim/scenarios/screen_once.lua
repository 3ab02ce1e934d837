-- On a narrow screen: the result of a criterion is there once, and its lens is not cut off.

local Project = require('project')
local Screen = require('screen')
local support = require('support')

local task = [[
# Two letters with a title that is wider than the window

## Done when

- A is there: `exists a.txt`
- B says hello to everybody who reads it: `$ grep hello b.txt`
- Vague: works well
]]

---@param lua string
local function start(lua)
  local project = Project.new({ task = task })
  local options = { folder = project.folder, file = 'PROMPT.md', server = project.server, width = 60, height = 40 }
  options.lua = lua
  local screen = Screen.start(options)
  screen:wait('Start loop')
  screen:ex('Ralph check')
  screen:type(screen:wait('(%d): Trust and check'))
  screen:press('Enter')
  screen:wait('✗ a%.txt does not exist')
  screen:wait('✗ exit 2')
  return screen
end

---@param screen table
---@param part string
---@return integer how often it is on the screen
local function count(screen, part)
  return select(2, screen:text():gsub(vim.pesc(part), ''))
end

--- Waits for the diagnostic that no lens contains, so that the others would be visible as well.
local function says_it_once(screen)
  support.wait('the diagnostic of a criterion without a check', function()
    return screen:text():find('■', 1, true)
  end, function()
    return screen:text()
  end)
  support.same(1, count(screen, '■'), 'diagnostics with a text')
  support.same(1, count(screen, 'a.txt does not exist'), 'how often the result is on the screen')
end

return {
  run = function()
    local screen = start('')
    says_it_once(screen)
    support.same(1, count(screen, '✗ exit 2'), 'the lens of a long line')
    -- Each lens of the long heading is complete. While checks run, there are others.
    support.wait('the lenses of the heading, once', function()
      return count(screen, 'Start loop') == 1 and count(screen, 'Run checks') == 1
    end, function()
      return screen:text()
    end)
    screen:ex('qall')
  end,

  -- With the option everything is shown.
  control_fails = 'diagnostics with a text: expected 1',
  control = function()
    says_it_once(start("require('loopkeeper').setup({ repeat_diagnostics = true })"))
  end,
}
