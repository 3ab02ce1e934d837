-- `:Ralph start` shows one list: what would start, with its limits, and what can be changed. What was picked is kept for
-- the next start of the task, and nothing starts without a choice.

local Editor = require('editor')
local Fake = require('fake')
local support = require('support')

local preview = {
  agent = 'claude',
  agents = { 'claude', 'codex' },
  iterations = 25,
  durationMs = 28800000,
  costMicros = 25000000,
  upperBound = 'At most 25 iterations, 8 h and $25.00',
  history = '3 loops on this task took 4 iterations, 12 min and $1.20 (medians)',
  grade = 'measurable: 3 of 3 criteria have a check that can fail',
}

local function open(lua)
  local fake, editor, folder = Fake.open({
    lua = (lua or '') .. '\nvim.ui.input = function(options, on_confirm) _G.test.input = { options, on_confirm } end\n',
    replies = { ['loopkeeper/startPreview'] = { result = preview } },
  })
  fake:tell({}, { Fake.task(folder) })
  editor:wait_statusline('^Ralph')
  return fake, editor, vim.uri_from_fname(folder .. '/PROMPT.md')
end

--- Answers the input that is open.
local function type_text(editor, text)
  editor:wait('an input', 'return _G.test.input ~= nil or nil')
  editor:lua('local input = _G.test.input; _G.test.input = nil; input[2](...)', text)
end

---@return table[] parameters of each preview that was requested
local function previews(fake)
  local all = {}
  for _, message in ipairs(fake:received()) do
    if message.method == 'loopkeeper/startPreview' then
      table.insert(all, message.params)
    end
  end
  return all
end

local function wait_start(fake)
  return support.wait('the start', function()
    local message = fake:first('loopkeeper.server.start')
    return message and message.params.arguments[1]
  end)
end

--- Picks a smaller limit and another agent, and starts.
local function pick_and_start(fake, editor, uri)
  editor:ex('Ralph start')
  support.same({
    'Start · Parse dates · claude · At most 25 iterations, 8 h and $25.00',
    'Task: Parse dates · measurable: 3 of 3 criteria have a check that can fail',
    'Agent: claude',
    'Iterations: 25 · 3 loops on this task took 4 iterations, 12 min and $1.20 (medians)',
    'Cost: $25.00',
    'Duration: 8h',
  }, editor:wait_question('Start a loop').labels, 'the list')
  support.same({ { task = uri } }, previews(fake), 'the first preview')

  editor:answer('Iterations')
  -- What is no number is explained and changes nothing; neither does a cancelled input.
  type_text(editor, 'many')
  editor:wait_message('enter a whole number from 1.')
  editor:wait_question('Start a loop')
  editor:answer('Iterations')
  type_text(editor, nil)
  editor:wait_question('Start a loop')
  editor:answer('Iterations')
  type_text(editor, '3')
  editor:wait_question('Start a loop')
  editor:answer('Cost')
  type_text(editor, '$1.50')
  editor:wait_question('Start a loop')
  editor:answer('Agent: ')
  editor:wait_question('Agent: ')
  editor:answer('codex')
  editor:wait_question('Start a loop')
  local choice = { task = uri, agent = 'codex', limits = { iterations = 3, costUsd = 1.5 } }
  support.same(choice, vim.iter(previews(fake)):last(), 'the last preview')
  support.same(nil, fake:first('loopkeeper.server.start'), 'a start before the choice')
  editor:answer('Start · ')
  support.same(choice, wait_start(fake), 'the start')
end

--- Another Neovim, later.
local function open_again(fake)
  local again = Fake.new()
  again:reply({ ['loopkeeper/startPreview'] = { result = preview } })
  local folder = support.temp .. '/project'
  local editor = Editor.start({ folder = folder, file = 'PROMPT.md', server = fake.command, env = again.env })
  again:tell({}, { Fake.task(folder) })
  editor:wait_statusline('^Ralph')
  editor:ex('Ralph start')
  editor:wait_question('Start a loop')
  return again, editor
end

local function remembers(fake, uri)
  local again, editor = open_again(fake)
  support.same(
    { task = uri, agent = 'codex', limits = { iterations = 3, costUsd = 1.5 } },
    previews(again)[1],
    'what was picked last'
  )
  return again, editor
end

return {
  run = function()
    local fake, editor, uri = open()
    pick_and_start(fake, editor, uri)
    local again, other = remembers(fake, uri)
    other:answer('Use the values of the configuration')
    support.wait('a preview without choices', function()
      return vim.deep_equal({ task = uri }, previews(again)[2])
    end)
    support.same(nil, again:first('loopkeeper.server.start'), 'a start without a choice')

    -- At once with a `!`, without a list.
    local count = #previews(again)
    other:ex('Ralph! start')
    support.same({ task = uri }, wait_start(again), 'the start with a !')
    support.same(count, #previews(again), 'previews')

    -- A damaged file is the same as none.
    local kept = other:lua("return vim.fn.stdpath('state')") .. '/loopkeeper-start.json'
    support.contains(support.read(kept), 'codex')
    for _, damage in ipairs({ '[{"uri":"' .. uri .. '","choice":{"agent":{},"iterations":"x"}}]', '[[[', '{"a":1}' }) do
      support.write(kept, damage)
      local third = open_again(fake)
      support.same({ task = uri }, previews(third)[1], 'the preview after ' .. damage)
    end
  end,

  -- What cannot be stored is not remembered.
  control_fails = 'what was picked last: expected',
  control = function()
    local fake, editor, uri = open("vim.fn.mkdir(vim.fn.stdpath('state') .. '/loopkeeper-start.json', 'p')")
    pick_and_start(fake, editor, uri)
    remembers(fake, uri)
  end,
}
