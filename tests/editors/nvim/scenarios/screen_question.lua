-- A long question of the agent is readable completely where it appears, without a command and without a key, at 80
-- columns and at 60.

local Fake = require('fake')
local Screen = require('screen')
local support = require('support')

local words = {}
for number = 1, 40 do
  table.insert(words, ('word%02d'):format(number))
end
local long = 'Which of these do you prefer: ' .. table.concat(words, ' ') .. ', or none?'

---@param width integer
local function start(width)
  local fake = Fake.new()
  fake:reply({})
  local folder = support.temp .. '/project'
  support.write(folder .. '/PROMPT.md', '# A task\n')
  local options = { folder = folder, file = 'PROMPT.md', server = fake.command, env = fake.env }
  local screen = Screen.start(vim.tbl_extend('force', options, { width = width, height = 24 }))
  return fake, screen, folder
end

---@param fake table
---@param folder string
---@param alerted? table
local function tell(fake, folder, alerted)
  local state = alerted and { state = 'needsYou', phase = 'needsAnswer' } or {}
  fake:tell({ Fake.loop(state) }, { Fake.task(folder) }, alerted and { alerts = { alerted } } or nil)
end

local alert = {
  loopId = '20261120-abcdef',
  kind = 'needsYou',
  severity = 'warning',
  message = long,
  actions = { { title = 'Answer', command = 'loopkeeper.server.answer', arguments = { { loopId = 'x' } } } },
}

---@param screen table
---@return string the screen's text, without frames and line breaks
local function said(screen)
  return (screen:text():gsub('[│╭╮╰╯─~]', ' '):gsub('%s+', ' '))
end

---@param fake table
---@param screen table
---@param folder string
local function ask(fake, screen, folder)
  tell(fake, folder)
  screen:wait('Ralph 7/25 · 3/5 pass')
  tell(fake, folder, alert)
  fake:send({ method = 'loopkeeper/alert', params = alert })
end

local function check(width)
  local fake, screen, folder = start(width)
  ask(fake, screen, folder)
  support.wait('the whole question', function()
    return said(screen):find(long, 1, true) ~= nil
  end, function()
    return screen:text()
  end)
  -- Keys still go to the buffer.
  screen:type('Ityped ')
  screen:wait('typed # A task')
  screen:press('Escape')
  support.same(true, said(screen):find(long, 1, true) ~= nil, 'the question while somebody types')
  -- It was answered elsewhere.
  tell(fake, folder)
  support.wait('the question is gone', function()
    return not screen:text():find('word20', 1, true)
  end, function()
    return screen:text()
  end)
  -- Another question, which the user has read.
  ask(fake, screen, folder)
  screen:wait('word40')
  screen:ex("lua require('loopkeeper.float').least_ms = 0")
  screen:press('l')
  support.wait('the question is gone', function()
    return not screen:text():find('word20', 1, true)
  end, function()
    return screen:text()
  end)
  screen:ex('qall!')
end

return {
  run = function()
    check(80)
    check(60)
  end,

  -- Without the window its end is cut off.
  control_fails = 'waited for: on the screen: word40',
  control = function()
    local fake, screen, folder = start(80)
    screen:wait('A task')
    screen:ex("lua require('loopkeeper.float').show = function() end")
    ask(fake, screen, folder)
    screen:wait('word40')
  end,
}
