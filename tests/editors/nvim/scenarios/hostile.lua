-- Text of agents, checks and file names has no effect: no modeline, escape sequence, expression or key in it is
-- interpreted.

local Fake = require('fake')
local support = require('support')

local evil = table.concat({
  'vim: set shiftwidth=77 :',
  '%{writefile(["x"],"' .. support.temp .. '/owned")}',
  '<Cmd>call writefile(["x"],"' .. support.temp .. '/owned")<CR>',
  '\27]52;c;b3duZWQ=\7\27[31mred\27[0m',
  '[click](command:loopkeeper.server.trust)',
  '\\x1b%#Error#',
  'vim: set shiftwidth=77 :',
}, '\n')

-- More colours than there may be highlight groups.
local colours = {}
for index = 1, 1500 do
  colours[index] = index % 256
end

local function start(replies)
  return Fake.open({
    replies = replies,
    lua = 'vim.o.statusline = "%f %{v:lua.require\'loopkeeper\'.statusline()}"\n'
      .. "require('loopkeeper').setup({ output = { lines = 50 } })",
  })
end

local function harmless(editor)
  support.same(8, editor:lua("return vim.bo[vim.fn.bufnr('%')].shiftwidth"), 'shiftwidth')
  support.same(nil, support.read(support.temp .. '/owned'), 'file written by text')
end

return {
  run = function()
    local fake, editor, folder = start()
    local item = {
      id = 'aaaaaaaaaa',
      name = evil,
      required = true,
      status = 'fail',
      fact = evil,
      durationMs = 1,
      regressed = false,
      place = { file = 'PROMPT.md', start = 0, length = 3 },
    }
    local criteria = { passed = 0, failed = 1, unverified = 0, total = 1, items = { item } }
    local titled = { title = evil, loopId = '20261120-abcdef', unknownCommands = 1, criteria = criteria }
    fake:tell({ Fake.loop({ activity = evil, agent = evil }) }, { Fake.task(folder, titled) })
    editor:wait_statusline('7/25')

    editor:ex('Ralph status')
    support.contains(editor:buffer_text('loopkeeper://summary'), 'vim: set shiftwidth=77')
    harmless(editor)

    local function transcript(text)
      local cursor = { seq = 1, iteration = 7, offset = #text }
      fake:reply({
        ['loopkeeper/transcript'] = {
          result = { loopId = '20261120-abcdef', text = text, cursor = cursor, ended = false },
        },
      })
    end
    transcript(evil .. '\n\27[41;31mhidden\27[0m\n')
    editor:ex('Ralph output')
    support.wait('the output', function()
      return (editor:buffer_text('loopkeeper://output') or ''):find('\nhidden$')
    end)
    -- A colour is no text; text in the colour of its background is readable.
    support.contains(editor:buffer_text('loopkeeper://output'), '\27]52;c;b3duZWQ=\7red\n')
    local hidden = editor:lua("return vim.api.nvim_get_hl(0, { name = 'LoopkeeperAnsi_bg1_fg1' })")
    support.same({ true, nil }, { hidden.fg ~= nil, hidden.bg }, 'a colour that hides text')
    harmless(editor)
    transcript(('\27[38;2;%d;%d;%dma\27[0m\n'):rep(500):format(unpack(colours)) .. ('b'):rep(100000) .. '\nlast\n')
    fake:send({ method = 'loopkeeper/output', params = { loopId = '20261120-abcdef', iteration = 8, text = '' } })
    support.wait('the end of the output', function()
      return editor:buffer_text('loopkeeper://output'):find('\nlast$')
    end)
    local lines = vim.split(editor:buffer_text('loopkeeper://output'), '\n')
    support.same(50, #lines, 'lines kept')
    support.same(4000, #lines[#lines - 2], 'longest line kept')
    local count = "return vim.tbl_count(vim.fn.getcompletion('LoopkeeperAnsi_', 'highlight'))"
    support.same(true, editor:lua(count) <= 256, 'highlight groups of output')

    editor:ex('Ralph trust')
    support.wait('the command', function()
      return fake:first('loopkeeper.server.trust')
    end)
    support.write(
      support.temp .. '/state/commands.txt',
      'Commands of PROMPT.md\n\n' .. evil .. ('\n    more'):rep(60) .. '\n'
    )
    local answers =
      { { title = 'Trust', page = vim.uri_from_fname(support.temp .. '/state/commands.txt') }, { title = 'No' } }
    fake:send({
      id = 905,
      method = 'window/showMessageRequest',
      params = { type = 2, message = evil, actions = answers },
    })
    editor:wait('the trust page', "return vim.bo.filetype == 'loopkeeper-trust' or nil")
    -- A yes is accepted once the end of the page has been on the screen.
    editor:press('t')
    editor:wait_message('read to the end')
    support.contains(editor:lua('return vim.wo.winbar'), ' read to the end, then t: Trust   q: No')
    editor:wait_page()
    support.contains(editor:buffer_text('loopkeeper://trust'), evil)
    support.same(false, editor:lua('return vim.bo.modifiable'), 'the trust page can be changed')
    harmless(editor)
    editor:press('t')
    support.wait('the yes', function()
      for _, message in ipairs(fake:received()) do
        if message.id == 905 then
          return message.result.title == 'Trust'
        end
      end
    end)
    support.same(nil, editor:buffer_text('loopkeeper://trust'), 'the page after the answer')

    -- The options of a buffer that no file type has set.
    editor:ex('new')
    -- A page outside the workspace is text; anything that is not a file is not opened at all.
    support.write(support.temp .. '/elsewhere/page.txt', evil)
    local uri = vim.uri_from_fname(support.temp .. '/elsewhere/page.txt')
    fake:send({ id = 910, method = 'window/showDocument', params = { uri = uri } })
    support.wait('the page', function()
      return editor:buffer_text('loopkeeper://page/page.txt')
    end)
    harmless(editor)
    fake:send({
      id = 911,
      method = 'window/showDocument',
      params = { uri = 'https://example.org/', external = true },
    })
    support.wait('a refusal', function()
      for _, message in ipairs(fake:received()) do
        if message.id == 911 then
          return message.result.success == false
        end
      end
    end)
    harmless(editor)
  end,

  -- Opened as a file, the same text sets an option: the detector must see it.
  control_fails = 'shiftwidth: expected 8, found 77',
  control = function()
    local _, editor, folder = start()
    support.write(folder .. '/evil.txt', evil)
    editor:lua('vim.o.modeline = true')
    editor:edit('evil.txt')
    harmless(editor)
  end,
}
