-- The plugin's own texts in Simplified Chinese: by the environment before a server has announced a language, then by
-- what it announced.

local Editor = require('editor')
local Fake = require('fake')
local support = require('support')

local preview = {
  agent = 'claude',
  agents = { 'claude', 'codex' },
  iterations = 25,
  durationMs = 28800000,
  costMicros = 25000000,
  upperBound = '最多 25 次迭代',
}

local history = {
  loopId = 'one',
  criteria = {},
  iterations = {
    { iteration = 0, startedAt = '', passed = 0, total = 1, summary = '无' },
    { iteration = 1, startedAt = '', passed = 0, total = 1, summary = '0/1', changed = 2, added = 3, removed = 1 },
  },
}

local replies = {
  ['loopkeeper/startPreview'] = { result = preview },
  ['loopkeeper/iterations'] = { result = history },
}

local function open(env)
  local fake, editor, folder = Fake.open({ env = env, replies = replies })
  return fake, editor, Fake.task(folder)
end

local function summary(editor)
  return editor:buffer_text('loopkeeper://summary') or ''
end

local function wait_summary(editor, part)
  support.wait('in the summary: ' .. part, function()
    return summary(editor):find(part, 1, true)
  end, function()
    return summary(editor)
  end)
end

local function shows_the_start_list(editor)
  editor:ex('Ralph start')
  support.same({
    '启动 · Parse dates · claude · 最多 25 次迭代',
    '代理：claude',
    '迭代次数：25',
    '费用：$25.00',
    '时长：8h',
  }, editor:wait_question('启动循环：').labels, 'the list')
  editor:lua('_G.test.questions = {}')
end

local function shows_the_summary(fake, editor, task)
  local outcome = { kind = 'limit', verified = false, sentence = '句子' }
  local ended = Fake.loop({ id = 'one', state = 'done', phase = 'ended', outcome = outcome })
  fake:tell({ ended }, { task })
  editor:wait_statusline('^Ralph 停止于 7/25$')
  editor:ex('Ralph summary')
  wait_summary(editor, '▾ 已完成 1\n  ▸ Parse dates · 达到限额 · 3/5')
  editor:press('j')
  editor:press('<CR>')
  wait_summary(
    editor,
    '    循环 one，代理 mine\n    句子\n    ▸ 第 1 次迭代 · 更改了 2 个文件（+3 −1）'
  )
  wait_summary(editor, '▾ 未启动\n  ▾ Parse dates · 没有标准')
  editor:press('?')
  support.contains(editor:buffer_text('loopkeeper://summary-keys'), ' q     关闭 ')
  editor:press('q')
end

--- The longest texts of the statusline, and one that a lack of room shortens.
local function fits_the_statusline(fake, editor, task)
  local function width()
    return editor:lua("return vim.fn.strdisplaywidth(require('loopkeeper').statusline())")
  end
  local session = { state = 'needsYou', phase = 'paused', pause = { reason = 'session', message = '' } }
  local far = { iteration = 125, limits = { iterations = 1000 } }
  local foreign = { { uri = 'file:///a', root = task.root, iteration = 12345, maxIterations = 99999, prompt = 'a' } }
  for pattern, loop in pairs({
    ['^Ralph：在 Claude 中输入$'] = vim.tbl_extend('force', session, { iteration = 0 }),
    ['轮到你$'] = vim.tbl_extend('force', session, far),
    ['^Ralph 停止于'] = vim.tbl_extend('force', far, { state = 'done', phase = 'ended' }),
    ['^Ralph 已暂停'] = vim.tbl_extend('force', far, { state = 'paused', phase = 'paused' }),
  }) do
    fake:tell({ Fake.loop(loop) }, { task })
    editor:wait_statusline(pattern)
    support.same(true, width() <= 24, 'a width of at most 24 for ' .. pattern)
  end
  fake:tell({}, { task }, { foreign = foreign })
  editor:wait_statusline('^Ralph 12345/99999（插件$')
end

return {
  run = function()
    local fake, editor, task = open({ LOOPKEEPER_LANGUAGE = 'zh-CN' })
    fake:tell({}, { task })
    editor:wait_statusline('^Ralph$')
    shows_the_start_list(editor)
    editor:ex('Ralph nothing')
    editor:wait_message('Ralph：没有 `:Ralph nothing`。提示：`:help :Ralph`')
    shows_the_summary(fake, editor, task)
    fits_the_statusline(fake, editor, task)

    -- The environment, where there is no server to ask.
    for locale, text in pairs({
      ['zh_CN.UTF-8'] = '服务器没有运行。循环不受影响。',
      ['zh_TW.UTF-8'] = 'The server is not running.',
      ['zh-Hant-CN'] = 'The server is not running.',
      ['de_DE.UTF-8'] = 'The server is not running.',
    }) do
      local env = { LC_ALL = locale }
      local other = Editor.start({ folder = support.temp, server = '/none/loopkeeper', env = env })
      other:ex('Ralph summary')
      wait_summary(other, text)
    end

    -- What the server announces counts more.
    local announcing, other = open({ LOOPKEEPER_LANGUAGE = 'zh-CN', FAKE_SERVER_LANGUAGE = 'en' })
    announcing:tell({}, {})
    other:wait('the status', "return #require('loopkeeper.status').roots() == 1 or nil")
    other:ex('Ralph summary')
    wait_summary(other, 'There is no task in this folder.')
    announcing, other = open({ FAKE_SERVER_LANGUAGE = 'zh-CN' })
    announcing:tell({}, {})
    other:ex('Ralph summary')
    wait_summary(other, '此文件夹中没有任务。')
  end,

  -- In another language the words are not there.
  control_fails = 'waited for: question 启动循环：',
  control = function()
    local fake, editor, task = open({ LOOPKEEPER_LANGUAGE = 'en' })
    fake:tell({}, { task })
    editor:wait_statusline('^Ralph$')
    shows_the_start_list(editor)
  end,
}
