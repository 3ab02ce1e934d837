-- Timing of questions: after the user's own command immediately, otherwise announced by one message and asked by
-- `:Ralph status`.

local Fake = require('fake')
local support = require('support')

local function question(number, message, answers)
  local actions = vim.tbl_map(function(title)
    return { title = title }
  end, answers)
  return {
    id = number,
    method = 'window/showMessageRequest',
    params = { type = 2, message = message, actions = actions },
  }
end

local function answered(fake, number)
  return support.wait('the answer to ' .. number, function()
    for _, message in ipairs(fake:received()) do
      if message.id == number and message.method == nil then
        return message
      end
    end
  end)
end

local function start()
  local fake, editor, folder = Fake.open()
  fake:tell({ Fake.loop() }, { Fake.task(folder) })
  editor:wait_statusline('7/25')
  return fake, editor
end

return {
  run = function()
    local fake, editor = start()
    -- The user has run no command yet.
    fake:send(question(900, 'The agent asks: which port?', { '80', '8080' }))
    editor:wait_message('`:Ralph status` answers: The agent asks: which port?')
    support.same(0, editor:lua('return #_G.test.questions'), 'questions shown unasked')
    editor:ex('Ralph')
    editor:wait_question('which port?')
    editor:answer('8080')
    support.same('8080', answered(fake, 900).result.title, 'answer')

    -- After a command of the user.
    editor:ex('Ralph! start')
    support.wait('start', function()
      return fake:first('loopkeeper.server.start')
    end)
    fake:send(question(901, '2 commands are not trusted', { 'Show commands', 'Trust and start', 'Not now' }))
    editor:wait_question('2 commands are not trusted')
    editor:answer('Trust and start')
    support.same('Trust and start', answered(fake, 901).result.title, 'answer')

    -- Typing is never interrupted.
    editor:lua("vim.api.nvim_feedkeys('i', 'n', false)")
    editor:wait('insert mode', "return vim.api.nvim_get_mode().mode == 'i'")
    fake:send(question(902, 'Was this the right moment?', { 'Yes' }))
    editor:wait_message('Was this the right moment?')
    support.same(0, editor:lua('return #_G.test.questions'), 'questions shown while typing')
    editor:lua("vim.api.nvim_feedkeys(vim.keycode('<Esc>'), 'n', false)")

    local alert = {
      loopId = '20261120-abcdef',
      kind = 'needsYou',
      severity = 'warning',
      message = 'The breaker is open: 3 iterations changed nothing.',
      actions = { { title = 'Reset', command = 'loopkeeper.server.resetBreaker', arguments = { { loopId = 'x' } } } },
    }
    local needs_you = Fake.loop({ state = 'needsYou', phase = 'paused', breaker = { state = 'open' } })
    fake:tell({ needs_you }, nil, { alerts = { alert } })
    editor:wait_statusline('breaker open')
    fake:send({ method = 'loopkeeper/alert', params = alert })
    editor:wait_message('The breaker is open')
    support.same(3, editor:wait_message('The breaker is open').level, 'level of the alert')
    editor:ex('Ralph status')
    editor:answer('Yes')
    editor:ex('Ralph status')
    editor:answer('Reset')
    support.wait('what the alert offered', function()
      return fake:first('loopkeeper.server.resetBreaker')
    end)

    -- Resolved elsewhere: no question is left, so the summary is shown.
    fake:tell({ Fake.loop() })
    editor:wait_statusline('7/25')
    editor:ex('Ralph status')
    support.wait('the summary', function()
      return editor:buffer_text('loopkeeper://summary')
    end)
    support.same(0, editor:lua('return #_G.test.questions'), 'questions')

    -- The loop has ended: nothing is asked for, and an error names the commands of Neovim.
    local sentence = 'Stopped after 7 iterations'
    fake:tell({ Fake.loop({ state = 'done', phase = 'ended', outcome = { kind = 'stopped', sentence = sentence } }) })
    editor:wait_statusline('stopped')
    editor:lua([[
      vim.ui.input = function()
        _G.test.input = true
      end
      local client = require('loopkeeper.client').all()[1]
      require('loopkeeper.questions').answer(client, { loopId = '20261120-abcdef' })
    ]])
    editor:wait_message('"Parse dates" no longer waits for an answer: Stopped after 7 iterations')
    support.same(vim.NIL, editor:lua('return _G.test.input or vim.NIL'), 'whether an answer was asked for')
    local ended = {
      message = 'Loop x has ended. `loopkeeper run --x` starts a new one, `loopkeeper run` shows more.',
      data = { code = 'conflict', commands = { { text = 'loopkeeper run --x', name = 'run' } } },
    }
    editor:lua("require('loopkeeper.requests').show_error(...)", ended)
    editor:wait_message('Loop x has ended. `:Ralph start` starts a new one, `loopkeeper run` shows more.')

    -- Closing the page of a question means no.
    support.write(support.temp .. '/state/commands.txt', 'Commands\n')
    local page = question(904, 'It runs 1 command.', { 'Trust and start', 'Not now' })
    page.params.actions[1].page = vim.uri_from_fname(support.temp .. '/state/commands.txt')
    editor:ex('Ralph! start')
    fake:send(page)
    editor:wait_page()
    editor:ex('close')
    support.same(vim.NIL, answered(fake, 904).result, 'answer of a closed page')

    -- The file to correct can be opened.
    local uri = vim.uri_from_fname(support.temp .. '/broken.toml')
    support.write(support.temp .. '/broken.toml', 'a = 1\nb = \n')
    editor:lua(
      "require('loopkeeper.requests').show_error(...)",
      { message = 'broken.toml: b has no value', data = { code = 'badArgument', uri = uri, line = 1, count = 1 } }
    )
    editor:wait_question('broken.toml: b has no value')
    editor:answer('Open broken.toml')
    support.same({ 'broken.toml', 2 }, editor:lua("return { vim.fn.expand('%:t'), vim.fn.line('.') }"), 'place')
  end,

  -- If questions are never shown, the missing answer must be detected.
  control_fails = 'waited for: question May it?',
  control = function()
    local fake, editor = start()
    editor:lua('vim.ui.select = function() end')
    editor:ex('Ralph! start')
    fake:send(question(903, 'May it?', { 'Yes' }))
    editor:wait_question('May it?')
  end,
}
