-- `:Ralph summary`: the tree of loops, its keys, and what it says where there is nothing to show.

local Editor = require('editor')
local Fake = require('fake')
local support = require('support')

local function criterion(id, status, fact)
  local place = { file = 'PROMPT.md', start = 0, length = 5 }
  return {
    id = id,
    name = id,
    required = true,
    status = status,
    fact = fact,
    durationMs = 1,
    stale = false,
    place = place,
  }
end

local history = {
  loopId = 'one',
  criteria = { { id = 'a', name = 'Tests', row = '✗✗✓' }, { id = 'b', name = 'Docs', row = '✗✓✗' } },
  iterations = {
    { iteration = 0, startedAt = '', passed = 0, total = 2, summary = 'none' },
    { iteration = 1, startedAt = '', passed = 1, total = 2, summary = '1 of 2', changed = 2, costMicros = 120000 },
    { iteration = 2, startedAt = '', passed = 1, total = 2, summary = '1 of 2', changed = 0, takenBack = true },
  },
}
local replies = {
  ['loopkeeper/iterations'] = { result = history },
  ['loopkeeper.server.diff'] = {
    result = { files = { { path = 'src/a.lua', kind = 'changed' }, { path = 'new.lua', kind = 'added' } } },
  },
}

local function working(fields)
  return Fake.loop(vim.tbl_extend('force', { id = 'one', iteration = 2, activity = 'editing src/a.lua' }, fields or {}))
end

local function ended(fields)
  local outcome = { kind = 'completed', verified = true, sentence = 'all 5 hold' }
  local base = { id = 'old', state = 'done', phase = 'ended', outcome = outcome, task = { title = 'Old' } }
  return Fake.loop(vim.tbl_deep_extend('force', base, fields or {}))
end

local function asking()
  return Fake.loop({
    id = 'asks',
    state = 'needsYou',
    phase = 'needsAnswer',
    task = { title = 'Choose' },
    question = { id = 'q', kind = 'agent', text = 'Which base?' },
  })
end

local page = "table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('loopkeeper://summary'), 0, -1, false), '\\n')"

local function wait_text(editor, what, part)
  support.wait(what, function()
    return (editor:buffer_text('loopkeeper://summary') or ''):find(part, 1, true)
  end, function()
    return editor:buffer_text('loopkeeper://summary') or 'no summary'
  end)
end

local function type_keys(editor, keys)
  editor:lua('vim.api.nvim_feedkeys(vim.keycode(...), "xt", false)', keys)
end

--- Moves the cursor to the first line that contains a text.
local function go(editor, part)
  local found = editor:lua('return vim.fn.search([[\\V]] .. (...), "wc")', part)
  support.same(true, found > 0, 'a line with ' .. part)
end

local function start(given)
  local fake, editor, folder = Fake.open({ replies = given })
  local items = { criterion('a', 'pass'), criterion('b', 'fail', '3 of 214 fail') }
  local task = Fake.task(folder, { loopId = 'one', criteria = { summary = '1 of 2 criteria pass', items = items } })
  local idle = Fake.task(folder, { id = 'b.ralph.md', title = 'Idle one', unknownCommands = 2 })
  fake:tell({ working() }, { task, idle })
  editor:wait_statusline('2/25')
  editor:ex('Ralph summary')
  wait_text(editor, 'the iterations', 'Iteration 2')
  return fake, editor, { task, idle }
end

local tree = [[
Working 1
  ▾ Parse dates · iteration 2/25 · 3 of 5
    loop one, agent mine
    editing src/a.lua
    ✓ a
    ✗ b: 3 of 214 fail
    ▸ Iteration 2 · rolled back · ✓ Tests · ✗ Docs · no file changed
    ▸ Iteration 1 · ✓ Docs · 2 files changed · $0.12
▾ Not started
  ▾ Idle one · no criteria · b.ralph.md
    2 commands are not trusted yet: t shows them]]

local function stays_in_place(fake, editor, tasks)
  go(editor, 'Iteration 1')
  local tick = editor:lua('return vim.api.nvim_buf_get_changedtick(0)')
  fake:tell({ working({ spent = { calls = 2 } }) }, tasks)
  editor:wait('the status', "return require('loopkeeper').loops()[1].spent.calls == 2")
  support.same(tick, editor:lua('return vim.api.nvim_buf_get_changedtick(0)'), 'a status without a visible change')
  fake:tell({ working(), asking(), ended() }, tasks)
  wait_text(editor, 'the loop that asks', 'Which base?')
  support.contains(editor:lua('return vim.fn.getline(".")'), 'Iteration 1')
  local text = editor:lua('return ' .. page)
  support.contains(
    text,
    '▾ Needs you 1\n  ▾ Choose · needs you · 3 of 5\n    loop asks, agent mine\n    Which base?'
  )
  support.contains(text, '▾ Done 1\n  ▸ Old · completed · 3 of 5')
end

local function expands(fake, editor, tasks)
  local asked = support.wait('the requests of both loops', function()
    local count = fake:count('loopkeeper/iterations')
    return count == 2 and count
  end)
  go(editor, 'Iteration 1')
  type_keys(editor, '<CR>')
  wait_text(editor, 'the changed files', '~ src/a.lua\n      + new.lua')
  -- What is collapsed stays so, and is not requested.
  go(editor, 'Parse dates')
  type_keys(editor, '<CR>')
  fake:tell({ working({ iteration = 3 }), asking(), ended() }, tasks)
  wait_text(editor, 'the next iteration', 'Parse dates · iteration 3/25')
  support.same(nil, editor:lua('return ' .. page):find('src/a.lua', 1, true), 'a file of a collapsed loop')
  support.same(asked, fake:count('loopkeeper/iterations'), 'requests while it is collapsed')
  type_keys(editor, '<CR>')
  wait_text(editor, 'the changed files again', '~ src/a.lua')
end

local function sent(fake, command)
  return support.wait('the command ' .. command, function()
    local message = fake:first(command)
    return message and message.params.arguments[1]
  end)
end

local function obeys_keys(fake, editor)
  go(editor, 'Parse dates')
  type_keys(editor, 's')
  support.same({ loopId = 'one', now = false }, sent(fake, 'loopkeeper.server.stop'), 'stop')
  type_keys(editor, 'p')
  support.same({ loopId = 'one' }, sent(fake, 'loopkeeper.server.pause'), 'pause')
  type_keys(editor, 'J')
  support.contains(editor:lua('return vim.fn.getline(".")'), '✗ b: 3 of 214')
  type_keys(editor, 'r')
  support.same('b', sent(fake, 'loopkeeper.server.check').criterion, 'check')
  type_keys(editor, 'o')
  support.same('b', sent(fake, 'loopkeeper.server.output').criterion, 'output')
  go(editor, 'Iteration 1')
  type_keys(editor, 'R')
  support.same(1, sent(fake, 'loopkeeper.server.rollback').iteration, 'rollback')
  go(editor, 'Choose')
  editor:lua('vim.ui.input = function(_, callback) callback("sqlite") end')
  type_keys(editor, 'a')
  support.same('sqlite', sent(fake, 'loopkeeper.server.answer').text, 'answer')
  type_keys(editor, '?')
  support.contains(editor:buffer_text('loopkeeper://summary-keys'), 'roll back to the iteration')
  type_keys(editor, '?')
  type_keys(editor, 'q')
  support.same(-1, editor:lua("return vim.fn.bufwinid('loopkeeper://summary')"), 'its window after q')
end

local function pages_iterations(fake, editor, tasks)
  local many = { loopId = 'one', criteria = {}, iterations = {} }
  for number = 0, 60 do
    table.insert(many.iterations, { iteration = number, startedAt = '', passed = 0, total = 0, summary = '' })
  end
  fake:reply({ ['loopkeeper/iterations'] = { result = many } })
  fake:tell({ working({ iteration = 60 }) }, tasks)
  wait_text(editor, 'the first page', 'Iteration 11\n    show more iterations (10)')
  go(editor, 'show more')
  type_keys(editor, '<CR>')
  wait_text(editor, 'the second page', 'Iteration 1\n')
  support.same(nil, editor:lua('return ' .. page):find('show more', 1, true), 'a third page')
end

local function groups_what_waits(fake, editor, tasks)
  local at = os.time() + 60
  local soon, clock = os.date('!%Y-%m-%dT%H:%M:%SZ', at), os.date('%H:%M', at)
  local wait = { reason = 'calls', resumesAt = soon }
  local cooling = { id = 'two', phase = 'waiting', breaker = { state = 'open', reason = 'no file changed in 3' } }
  fake:tell({ working({ phase = 'waiting', wait = wait }), Fake.loop(cooling) }, tasks)
  wait_text(editor, 'the loop that waits', '▾ Waiting 1\n  ▾ Parse dates · waiting · 3 of 5')
  wait_text(editor, 'until when', 'the hourly call limit is reached, until ')
  wait_text(editor, 'the time', clock)
  wait_text(editor, 'an open breaker', '▾ Needs you 1\n  ▾ Parse dates · breaker open · 3 of 5')
  wait_text(editor, 'its reason', 'breaker open: no file changed in 3')
end

local function explains_a_missing_server(folder)
  local editor = Editor.start({ folder = folder, server = '/none/loopkeeper' })
  editor:ex('Ralph summary')
  wait_text(editor, 'the missing server', 'The server is not running. Loops are not affected.')
  wait_text(editor, 'the key for the server', 'C restarts it')
  -- After `:bdelete` it is made again, with its keys.
  editor:ex('bdelete')
  editor:ex('Ralph summary')
  wait_text(editor, 'the summary again', 'The server is not running.')
  type_keys(editor, 'q')
  support.same(-1, editor:lua("return vim.fn.bufwinid('loopkeeper://summary')"), 'its window after q')
end

local function explains_emptiness(fake, editor, folder)
  editor:ex('Ralph summary')
  fake:tell({}, {})
  wait_text(editor, 'no task', 'There is no task in this folder.')
  wait_text(editor, 'the key for a task', 'n makes one from a sentence.')
  fake:tell({}, { Fake.task(folder) })
  wait_text(editor, 'no loop', 'No loop has run in this folder yet.')
  wait_text(editor, 'the key for a loop', 'L starts one')
  fake:tell({}, {}, { health = 'error', message = 'the state folder is open to other users' })
  wait_text(editor, 'an unable server', 'the state folder is open to other users')
  fake:tell({}, { Fake.task(folder) }, { trusted = false })
  wait_text(editor, 'an untrusted folder', 'This folder is not trusted')
  editor:lua("require('loopkeeper.status').forget(vim.fs.normalize(...))", folder)
  wait_text(editor, 'a server that starts', 'The server is starting.')
end

return {
  run = function()
    local fake, editor, tasks = start(replies)
    support.contains(editor:lua('return ' .. page), tree)
    support.same(false, editor:lua('return vim.bo.modifiable'), 'modifiable')
    local marks = editor:lua([[
      local namespace, groups = vim.api.nvim_create_namespace('loopkeeper.summary'), {}
      for _, it in ipairs(vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })) do
        groups[it[4].hl_group] = true
      end
      -- Links survive another colour scheme, and lead to groups with a colour.
      vim.cmd.colorscheme('habamax')
      for group in pairs(groups) do
        if vim.tbl_isempty(vim.api.nvim_get_hl(0, { name = group, link = false })) then
          return group .. ' has no colour'
        end
      end
      return groups
    ]])
    support.same(true, type(marks) == 'table' and marks.LoopkeeperPass and marks.LoopkeeperFail, vim.inspect(marks))
    stays_in_place(fake, editor, tasks)
    expands(fake, editor, tasks)
    obeys_keys(fake, editor)
    editor:ex('Ralph summary')
    groups_what_waits(fake, editor, tasks)
    pages_iterations(fake, editor, tasks)
    local folder = vim.uri_to_fname(tasks[1].root)
    explains_emptiness(fake, editor, folder)
    explains_a_missing_server(folder)
  end,

  -- Without an answer there are no iterations.
  control_fails = 'waited for: the iterations',
  control = function()
    start({})
  end,
}
