-- Display of results: a diff in a tab, signs next to criteria, files that an iteration changed, the history.

local Fake = require('fake')
local support = require('support')

local task_text = '# Tâche\n\n## Done when\n\n- Tests pass: `$ true`\n- Docs: `exists docs/*`\n'

local function criterion(id, status)
  local place = { file = 'PROMPT.md', length = 5 }
  place.start = task_text:find(id == 'a' and '- Tests' or '- Docs', 1, true) - 1
  return { id = id, name = id, required = true, status = status, durationMs = 1, regressed = false, place = place }
end

local function entry(folder, first, second)
  local items = { criterion('a', first), criterion('b', second) }
  local criteria = { passed = 1, failed = 1, unverified = 0, total = 2, items = items }
  return Fake.task(folder, { loopId = '20261120-abcdef', criteria = criteria })
end

local signs = [[
  local found = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('loopkeeper.signs'), 0, -1, {
    details = true,
  })) do
    table.insert(found, mark[2] + 1 .. vim.trim(mark[4].sign_text))
  end
  return table.concat(found, ' ')
]]

local function start()
  local fake, editor, folder = Fake.open({ task = task_text })
  support.write(folder .. '/src/code.lua', 'old = 1\n')
  support.write(folder .. '/src/mine.lua', 'mine = 1\n')
  return fake, editor, folder
end

local function iteration_ends(fake, editor, folder)
  fake:tell({ Fake.loop({ iteration = 1 }) }, { entry(folder, 'fail', 'pass') })
  editor:wait_statusline('1/25')
  fake:tell({ Fake.loop({ iteration = 1, phase = 'checking' }) }, { entry(folder, 'fail', 'pass') })
  fake:tell({ Fake.loop({ iteration = 2 }) }, { entry(folder, 'pass', 'fail') })
  editor:wait_statusline('2/25')
end

local function reads_changed_files(change)
  local fake, editor, folder = start()
  editor:edit('src/mine.lua')
  editor:lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'unsaved = 1' })")
  editor:lua('vim.o.hidden = true')
  editor:edit('src/code.lua')
  change(folder)
  iteration_ends(fake, editor, folder)
  editor:wait('the changed file', "return vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == 'new = 2'")
  support.same('unsaved = 1', editor:buffer_text('src/mine.lua'), 'a buffer with unsaved changes')
  return fake, editor, folder
end

return {
  run = function()
    local fake, editor = reads_changed_files(function(folder)
      support.write(folder .. '/src/code.lua', 'new = 2\n')
      support.write(folder .. '/src/mine.lua', 'theirs = 2\n')
    end)

    editor:edit('PROMPT.md')
    editor:wait('the marks', 'return (...) == (function() ' .. signs .. ' end)()', '5✓ 6✗')
    support.same({
      'LoopkeeperCriterionChanged',
      'LoopkeeperCriterionChanged',
      'LoopkeeperIterationFinished',
      'LoopkeeperIterationStarted',
    }, editor:events(), 'events')

    local function copy(name, text)
      support.write(support.temp .. '/copies/' .. name, text)
      return vim.uri_from_fname(support.temp .. '/copies/' .. name)
    end
    local files = {
      { path = 'src/code.lua', kind = 'changed', before = copy('1', 'old = 1\n'), after = copy('2', 'new = 2\n') },
      { path = 'src/100% new.lua', kind = 'added', after = copy('3', 'fresh = 3\n') },
    }
    fake:reply({
      ['loopkeeper.server.diff'] = { result = { patch = 'file:///none', files = files } },
      ['loopkeeper.server.report'] = { result = { uri = 'file:///tmp/report%20of.html' } },
      ['loopkeeper/iterations'] = {
        result = {
          loopId = '20261120-abcdef',
          criteria = { { id = 'a', name = 'Tests pass', row = '✗✓' } },
          iterations = {
            {
              iteration = 0,
              startedAt = '2026-11-20T14:00:00Z',
              passed = 0,
              total = 3,
              summary = '3 criteria, not checked yet',
            },
            {
              iteration = 1,
              startedAt = '2026-11-20T14:00:10Z',
              durationMs = 65000,
              changed = 3,
              added = 12,
              removed = 4,
              milestones = { 'Tests pass holds' },
              commit = '0123456789abcdef',
              passed = 2,
              total = 3,
              summary = 'all 2 required pass, 1 optional not checked',
            },
          },
        },
      },
    })
    editor:ex('Ralph diff')
    editor:wait_question('Changes of: ')
    editor:answer(
      'iteration 1: 3 files changed (+12 −4), all 2 required pass, 1 optional not checked; '
        .. 'Tests pass holds; commit 0123456789'
    )
    editor:wait('the diff', 'return vim.wo.diff and #vim.api.nvim_tabpage_list_wins(0) == 2')
    support.same(2, editor:lua('return #vim.api.nvim_list_tabpages()'), 'tabs')
    support.same('old = 1', editor:buffer_text('/before/src/code.lua'), 'before')
    support.same('new = 2', editor:buffer_text('/after/src/code.lua'), 'after')
    support.same(false, editor:lua('return vim.bo.modifiable'), 'a copy can be changed')
    editor:lua("vim.api.nvim_feedkeys(']f', 'x', false)")
    editor:wait('the next file', "return vim.api.nvim_buf_get_name(0):find('100%% new')")
    support.same('', editor:buffer_text('/before/src/100% new.lua'), 'before')
    editor:lua("vim.api.nvim_feedkeys('q', 'x', false)")
    support.same(1, editor:lua('return #vim.api.nvim_list_tabpages()'), 'tabs')

    -- The button at the end of a loop shows all of it.
    editor:lua([[
      local client = vim.lsp.get_clients({ name = 'loopkeeper' })[1]
      require('loopkeeper.requests').send(client, 'loopkeeper.server.diff', { loopId = '20261120-abcdef' })
    ]])
    editor:wait(
      'the whole diff',
      "return vim.wo.diff and vim.api.nvim_buf_get_name(0):find('abcdef/all', 1, true) ~= nil"
    )
    editor:lua("vim.api.nvim_feedkeys('q', 'x', false)")

    editor:lua('vim.ui.open = function(path) _G.test.browsed = path end')
    editor:ex('Ralph dashboard')
    editor:wait('the page in the browser', "return _G.test.browsed == '/tmp/report of.html'")

    editor:ex('Ralph log')
    support.wait('the history', function()
      return editor:buffer_text('loopkeeper://log')
    end)
    support.contains(
      editor:buffer_text('loopkeeper://log'),
      '    1  all 2 required pass, 1 optional not checked  1 min'
    )
    support.contains(editor:buffer_text('loopkeeper://log'), 'start  3 criteria, not checked yet')
    support.contains(editor:buffer_text('loopkeeper://log'), '✗✓  Tests pass')
    -- On a narrow screen its lines are broken between words, and no line is hidden.
    editor:lua('vim.o.columns = 40')
    editor:ex('close')
    editor:ex('Ralph log')
    editor:wait('the history', "return vim.api.nvim_buf_get_name(0):find('loopkeeper://log', 1, true) ~= nil")
    support.same(true, editor:lua('return vim.wo.linebreak'), 'words are kept whole')
    local hidden = 'vim.api.nvim_win_text_height(0, {}).all - vim.api.nvim_win_get_height(0)'
    support.same(true, editor:lua('return ' .. hidden) <= 0, 'rows that are not shown')
    editor:ex('checkhealth loopkeeper')
    support.contains(
      editor:lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')"),
      'Neovim 0.1'
    )
  end,

  -- A file that did not change must not be mistaken for a reloaded one.
  control_fails = 'waited for: the changed file',
  control = function()
    reads_changed_files(function() end)
  end,
}
