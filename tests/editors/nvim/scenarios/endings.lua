-- After the end of a loop: `:Ralph review` offers the actions of its notification, and `:Ralph feedback` answers whether
-- it stopped at the right moment, which is asked once and without a prompt.

local Fake = require('fake')
local support = require('support')

local loop_id = '20261120-abcdef'

local function action(title, name, argument)
  local arguments = { vim.tbl_extend('force', { loopId = loop_id }, argument or {}) }
  return { title = title, command = 'loopkeeper.server.' .. name, arguments = arguments }
end

local function ended()
  return {
    loopId = loop_id,
    kind = 'ended',
    severity = 'warning',
    message = '"Parse dates": Limit reached: 25 iterations',
    actions = {
      action('Review all changes', 'diff'),
      action('Undo', 'rollback', { iteration = 0 }),
      action('Continue with 10 more', 'resume', { more = 10 }),
    },
    followUp = {
      message = 'Was this the right moment to stop?',
      actions = { action('Yes', 'feedback', { verdict = 'right' }) },
    },
  }
end

local function ordered(fake, name, fits)
  return support.wait('the order ' .. name, function()
    for _, message in ipairs(fake:received()) do
      local params = message.params or {}
      if params.command == 'loopkeeper.server.' .. name and fits(params.arguments[1]) then
        return params.arguments[1]
      end
    end
  end)
end

local function any()
  return true
end

local function start()
  local counts = { written = 2, removed = 1, refused = {}, edited = { 'src/mine.lua' } }
  local fake, editor, folder = Fake.open({
    replies = {
      ['loopkeeper.server.diff'] = { result = { loopId = loop_id, files = {} } },
      ['loopkeeper.server.rollback'] = { result = counts },
    },
  })
  fake:tell({ Fake.loop({ state = 'done', phase = 'ended' }) }, { Fake.task(folder) })
  editor:wait_statusline('Ralph')
  return fake, editor
end

local function asked(editor)
  return vim.iter(editor:messages()):fold(0, function(count, message)
    return message.text:find('Was this the right moment to stop?', 1, true) and count + 1 or count
  end)
end

return {
  run = function()
    local fake, editor = start()
    editor:ex('Ralph review')
    editor:wait_message('no loop has ended since Neovim started')
    fake:send({ method = 'loopkeeper/alert', params = ended() })
    editor:wait_message('`:Ralph review`')
    support.same(0, editor:lua('return #_G.test.questions'), 'questions shown unasked')
    support.same({ 'LoopkeeperAlert' }, editor:events(), 'events')

    editor:ex('Ralph review')
    editor:wait_question('Limit reached: 25 iterations')
    editor:answer('Review all changes')
    support.same(nil, ordered(fake, 'diff', any).iteration, 'the whole loop')
    editor:wait_message('Was this the right moment to stop?')
    support.same(0, editor:lua('return #_G.test.questions'), 'a prompt')

    -- Files that the user edited are not overwritten without a question.
    editor:ex('Ralph review')
    editor:answer('Undo')
    ordered(fake, 'rollback', function(argument)
      return argument.preview == true
    end)
    editor:wait_question('Undo?')
    editor:answer(
      'Yes (2 written, 1 removed, changed since the last snapshot: src/mine.lua; the current files are kept)'
    )
    ordered(fake, 'rollback', function(argument)
      return argument.preview == nil and argument.iteration == 0
    end)

    editor:ex('Ralph review')
    editor:answer('Continue with 10 more')
    support.same(10, ordered(fake, 'resume', any).more, 'iterations')
    support.same(1, asked(editor), 'how often it was asked')

    editor:ex('Ralph feedback sometimes')
    editor:wait_message('takes one of: right, tooEarly, tooLate')
    editor:ex('Ralph feedback tooEarly the docs are missing')
    local feedback = ordered(fake, 'feedback', any)
    support.same({ loop_id, 'tooEarly', 'the docs are missing' }, {
      feedback.loopId,
      feedback.verdict,
      feedback.text,
    }, 'feedback')
    editor:wait_message('recorded')

    -- Without a verdict it is asked for.
    editor:ex('Ralph feedback')
    editor:wait_question('Was this the right moment to stop?')
    editor:answer('Too late')
    ordered(fake, 'feedback', function(argument)
      return argument.verdict == 'tooLate' and argument.text == nil
    end)
  end,

  -- A notification without an ended loop offers nothing to review.
  control_fails = 'waited for: question Limit reached',
  control = function()
    local fake, editor = start()
    fake:send({ method = 'loopkeeper/alert', params = vim.tbl_extend('force', ended(), { kind = 'warning' }) })
    editor:wait_message('Limit reached')
    editor:ex('Ralph review')
    editor:wait_question('Limit reached')
  end,
}
