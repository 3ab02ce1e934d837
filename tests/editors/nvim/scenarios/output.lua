-- How output becomes text and colours, and which places in it are files of the task.

local Fake = require('fake')
local support = require('support')

local function split(editor, line)
  return editor:lua("local text, spans = require('loopkeeper.ansi').split(...) return { text, spans }", line)
end

local function colours(editor)
  local function check(line, text, ...)
    local spans = vim.tbl_map(function(it)
      return { first = it[1], last = it[2], group = 'LoopkeeperAnsi_' .. it[3] }
    end, { ... })
    support.same({ text, spans }, split(editor, line), vim.inspect(line))
  end
  check('plain', 'plain')
  check('\27[31mred\27[0m rest', 'red rest', { 0, 3, 'fg1' })
  check('a\27[1;32mb\27[22mc\27[md', 'abcd', { 1, 2, 'bold_fg2' }, { 2, 3, 'fg2' })
  check('\27[38;5;208mo\27[39m\27[48;2;1;2;255mb', 'ob', { 0, 1, 'fg208' }, { 1, 2, 'bgx0102ff' })
  check('\27[97;100mx', 'x', { 0, 1, 'bg8_fg15' })
  check('\27[4m\27[24mx\27[7my', 'xy', { 1, 2, 'reverse' })
  -- Not a colour, not complete, unknown.
  check('\27[2Jx\27[38;5mx\27[38;2;300;1;1mx\27[99mx\27[3', '\27[2Jxxxx\27[3')

  local function fg(name)
    return editor:lua('return vim.api.nvim_get_hl(0, { name = ... }).fg', name)
  end
  local dark = fg('LoopkeeperAnsi_fg1')
  editor:ex('set background=light | colorscheme default')
  support.same(false, dark == fg('LoopkeeperAnsi_fg1'), 'the same red on a dark and a light background')
end

local function places(editor)
  local function check(text, ...)
    local found = editor:lua("return require('loopkeeper.places').of(...)", text, '/w/app')
    local short = vim.tbl_map(function(it)
      return { it.path, it.line, it.column }
    end, found)
    support.same({ ... }, short, text)
  end
  check('src/a.rs:3:5: what is wrong', { 'src/a.rs', 3, 5 })
  check('  --> ./src/a.rs:3', { 'src/a.rs', 3, 1 })
  check('(/w/app/src/b.ts:10:2)', { 'src/b.ts', 10, 2 })
  check('Makefile:7: and a.c:8:', { 'Makefile', 7, 1 }, { 'a.c', 8, 1 })
  check('src/../a.rs:1', { 'a.rs', 1, 1 })
  check('File "tests/test_sum.py:12", in x', { 'tests/test_sum.py', 12, 1 })
  check('/etc/passwd:1')
  check('/w/apple/a.rs:1')
  check('../secret.txt:1 a/../../b.txt:2')
  check('/w/app/../../etc/passwd:1')
  check('at 12:30:05, http://127.0.0.1:8080/x')
  check('src/a.rs:0')
  check('file:///w/app/a.rs:3')
  check('')
  -- Processor time: on a busy machine the editor waits for its turn.
  local seconds = editor:lua([[
    local before = os.clock()
    for _, part in ipairs({ 'a/', '../', 'a.', 'a:1', 'a/b.c:1 ' }) do
      require('loopkeeper.places').of(part:rep(4000):sub(1, 4000), '/w')
    end
    return os.clock() - before
  ]])
  support.same(true, seconds < 3, ('%.1f s for hostile lines'):format(seconds))
end

--- The output with a server that answers the first question only.
local function open(ended)
  local fake, editor, folder = Fake.open({
    replies = {
      ['loopkeeper/transcript'] = {
        result = {
          loopId = '20261120-abcdef',
          text = 'see \27[36msrc/a b.rs, src/a.rs:2:3\27[0m\nsee ../out.txt:1 or link.txt:1\n',
          cursor = { seq = 4, iteration = 2, offset = 17 },
          ended = ended,
        },
      },
    },
  })
  fake:tell({ Fake.loop({ seq = 4 }) }, { Fake.task(folder) })
  editor:wait_statusline('7/25')
  editor:ex('Ralph output')
  editor:wait('the text', "return vim.fn.bufnr('loopkeeper://output') ~= -1 or nil")
  support.wait('the text', function()
    return (editor:buffer_text('loopkeeper://output') or ''):find('src/a.rs', 1, true)
  end)
  return fake, editor, folder
end

local function asked(fake)
  return vim.tbl_map(
    function(message)
      return message.params
    end,
    vim.tbl_filter(function(message)
      return message.method == 'loopkeeper/transcript'
    end, fake:received())
  )
end

local function wait_asked(fake, count)
  support.wait(('%d requests'):format(count), function()
    return #asked(fake) == count
  end)
end

local function opens_places(editor, folder)
  support.write(folder .. '/src/a.rs', 'one\ntwo\n')
  support.write(support.temp .. '/out.txt', 'secret\n')
  vim.uv.fs_symlink(support.temp .. '/out.txt', folder .. '/link.txt')
  editor:ex('wincmd j')
  editor:ex('1')
  editor:press('gf')
  support.same(
    { 'a.rs', 2, 3 },
    editor:lua("return { vim.fn.expand('%:t'), vim.fn.line('.'), vim.fn.col('.') }"),
    'the place'
  )
  -- A link that leaves the folder is not followed.
  editor:ex('wincmd j')
  editor:ex('2')
  editor:press('<CR>')
  editor:wait_message('there is no file link.txt')
end

return {
  run = function()
    local fake, editor, folder = open(false)
    colours(editor)
    places(editor)

    support.same({ loopId = '20261120-abcdef' }, asked(fake)[1], 'the first request')
    -- News by either message, from the last position.
    fake:send({ method = 'loopkeeper/output', params = { loopId = '20261120-abcdef', iteration = 7, text = 'x' } })
    wait_asked(fake, 2)
    support.same({ seq = 4, iteration = 2, offset = 17 }, asked(fake)[2].after, 'the position')
    fake:tell({ Fake.loop({ seq = 5 }) }, { Fake.task(folder) })
    wait_asked(fake, 3)
    -- No news.
    fake:tell({ Fake.loop({ seq = 5 }) }, { Fake.task(folder) })
    vim.wait(600)
    support.same(3, #asked(fake), 'requests without news')
    opens_places(editor, folder)
  end,

  -- After the end nothing is asked any more.
  control_fails = 'waited for: 2 requests',
  control = function()
    local fake = open(true)
    fake:send({ method = 'loopkeeper/output', params = { loopId = '20261120-abcdef', iteration = 7, text = 'x' } })
    wait_asked(fake, 2)
  end,
}
