-- The statusline in every state, at most 24 characters, and the events for the changes.

local Fake = require('fake')
local support = require('support')

local function shown(editor, fake, text, loops, tasks, fields)
  fake:tell(loops, tasks, fields)
  editor:wait('statusline ' .. text, "return require('loopkeeper').statusline() == ...", text)
  if vim.fn.strchars(text) > 24 then
    error('too long: ' .. text, 0)
  end
end

--- Waits for the countdown to the time of a message, and for its next second. The message may arrive late.
local function counted_down(editor, pattern)
  local function seconds_left()
    local minutes, seconds = editor:wait_statusline(pattern):match('(%d%d):(%d%d)$')
    return minutes * 60 + seconds
  end
  local first = seconds_left()
  support.wait('a later second of ' .. pattern, function()
    return seconds_left() < first
  end)
end

local function time_after(seconds)
  return os.date('!%Y-%m-%dT%H:%M:%SZ', os.time() + seconds)
end

local function waiting(time)
  return { state = 'working', phase = 'waiting', wait = { reason = 'usage limit', resumesAt = time } }
end

return {
  run = function()
    local fake, editor, folder = Fake.open()
    local task = { Fake.task(folder) }
    shown(editor, fake, 'Ralph', {}, task)
    shown(editor, fake, 'Ralph 0/25 · 3/5 pass', { Fake.loop({ iteration = 0, phase = 'baseline' }) }, task)
    shown(editor, fake, 'Ralph 2/25 · 3/5 pass', { Fake.loop({ iteration = 2 }) }, task)
    shown(editor, fake, 'Ralph paused 2/25', { Fake.loop({ iteration = 2, state = 'paused', phase = 'paused' }) }, task)
    shown(editor, fake, 'Ralph breaker open', {
      Fake.loop({ iteration = 2, state = 'needsYou', phase = 'paused', breaker = { state = 'open' } }),
    }, task)
    local done = { state = 'done', phase = 'ended', iteration = 3 }
    done.outcome = { kind = 'completed', verified = true, sentence = 'All 5 criteria hold.' }
    shown(editor, fake, 'Ralph done · 3', { Fake.loop(done) }, task)
    for reason, text in pairs({
      rolledBack = 'Ralph rolled back · 3',
      filesChanged = 'Ralph outdated · 3',
      [''] = 'Ralph outdated · 3',
    }) do
      local stale = vim.tbl_extend('error', done, { stale = true, staleReason = reason ~= '' and reason or nil })
      shown(editor, fake, text, { Fake.loop(stale) }, task)
    end
    support.same({
      'LoopkeeperLoopStarted',
      'LoopkeeperIterationStarted',
      'LoopkeeperIterationFinished',
      'LoopkeeperIterationStarted',
      'LoopkeeperIterationFinished',
      'LoopkeeperBreakerChanged',
      'LoopkeeperNeedsInput',
      'LoopkeeperIterationStarted',
      'LoopkeeperIterationFinished',
      'LoopkeeperBreakerChanged',
      'LoopkeeperLoopFinished',
    }, editor:events(), 'events')

    -- Counts are taken from the server: optional criteria do not make a verified task look
    -- unfinished.
    shown(editor, fake, 'Ralph 2/25 · not checked', {
      Fake.loop({ iteration = 2, criteria = { passed = 0, failed = 0, brief = 'not checked' } }),
    }, task)
    shown(editor, fake, 'Ralph 100/200', {
      Fake.loop({ iteration = 100, limits = { iterations = 200 }, criteria = { brief = '100/120 pass' } }),
    }, task)
    done.outcome.verified = false
    shown(editor, fake, 'Ralph claims done · 3', { Fake.loop(done) }, task)
    done.outcome.kind = 'limit'
    shown(editor, fake, 'Ralph stopped at 3/25', { Fake.loop(done) }, task)
    -- It counts down without further messages of the server.
    fake:tell({ Fake.loop(waiting(time_after(14 * 60 + 45))) }, task)
    counted_down(editor, '^Ralph 7/25 · 14:%d%d$')
    fake:tell({ Fake.loop(waiting(time_after(3600 + 14 * 60 + 45))) }, task)
    counted_down(editor, '^Ralph 7/25 · 1:14:%d%d$')
    local cooling = waiting(time_after(40 * 60 + 45))
    cooling.breaker = { state = 'open' }
    fake:tell({ Fake.loop(cooling) }, task)
    counted_down(editor, '^Ralph breaker · 40:%d%d$')
    shown(editor, fake, 'Ralph 2 at work', { Fake.loop(), Fake.loop({ id = 'b' }) }, task)
    shown(editor, fake, 'Ralph 3 · 1 needs you', {
      Fake.loop(),
      Fake.loop({ id = 'b', state = 'needsYou' }),
      Fake.loop({ id = 'c', state = 'paused' }),
    }, task)
    shown(editor, fake, 'Ralph 3 · 2 need you', {
      Fake.loop(),
      Fake.loop({ id = 'b', state = 'needsYou' }),
      Fake.loop({ id = 'c', state = 'needsYou' }),
    }, task)
    support.same('LoopkeeperNeedsYou', editor:lua("return require('loopkeeper').highlight()"), 'highlight')
    -- In a session that its user opened.
    local yours = { agent = 'claude', state = 'needsYou', phase = 'paused', iteration = 0 }
    yours.pause = { reason = 'session', message = 'waits for your session' }
    shown(
      editor,
      fake,
      'Ralph: type in Claude',
      { Fake.loop(yours) },
      { Fake.task(folder, { loopId = Fake.loop().id }) }
    )
    support.same('LoopkeeperWorking', editor:lua("return require('loopkeeper').highlight()"), 'highlight')
    editor:lua("vim.cmd('Ralph status')")
    local page = "vim.api.nvim_buf_get_lines(vim.fn.bufnr('loopkeeper://summary'), 0, -1, false)"
    local text = editor:lua(("return table.concat(%s, ' ')"):format(page))
    local said = { 'type your first message in Claude Code', 'in your own session of claude', 'cost unknown: ' }
    for _, words in ipairs(said) do
      support.same(true, text:find(words, 1, true) ~= nil, words .. ' in ' .. text)
    end
    yours.iteration = 3
    shown(editor, fake, 'Ralph 3/25 · your turn', { Fake.loop(yours) }, task)
    support.same('LoopkeeperNeedsYou', editor:lua("return require('loopkeeper').highlight()"), 'highlight')
    yours = { agent = 'claude', iteration = 4, session = { id = 's', startedAt = '', resets = 0, own = true } }
    shown(editor, fake, 'Ralph 4/25 · 3/5 pass', { Fake.loop(yours) }, task)
    local unable = { health = 'error', message = 'the state folder is open to other users' }
    shown(editor, fake, 'Ralph: error', {}, task, unable)
    support.same('LoopkeeperStopped', editor:lua("return require('loopkeeper').highlight()"), 'highlight')
    shown(editor, fake, 'Ralph', {}, task)
  end,

  -- Without a status the statusline must stay the same.
  control_fails = 'waited for: statusline 7/25',
  control = function()
    local fake, editor, folder = Fake.open()
    shown(editor, fake, 'Ralph', {}, { Fake.task(folder) })
    fake:send({ method = 'loopkeeper/other', params = fake:status({ Fake.loop() }) })
    editor:wait_statusline('7/25')
  end,
}
