-- Requests sent by `:Ralph`: saved files first, the intended task or loop, errors with their
-- original message.

local Fake = require('fake')
local support = require('support')

local function position(fake, test)
  for index, message in ipairs(fake:received()) do
    if test(message) then
      return index
    end
  end
end

local function argument(fake, command, editor)
  return support.wait(command, function()
    local message = fake:first(command)
    return message and message.params.arguments[1]
  end, function()
    return editor and editor:describe() or ''
  end)
end

local function saves_first(before)
  local fake, editor, folder = Fake.open()
  editor:lua(before or '')
  fake:tell({}, { Fake.task(folder) })
  editor:lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { '# Another task' })")
  editor:ex('Ralph start agent=mine iterations=3 cost=1.5 anyway')
  local sent = argument(fake, 'loopkeeper.server.start', editor)
  support.same(vim.uri_from_fname(folder .. '/PROMPT.md'), sent.task, 'task')
  support.same({ iterations = 3, costUsd = 1.5 }, sent.limits, 'limits')
  support.same('mine', sent.agent, 'agent')
  support.same(true, sent.anyway, 'anyway')
  support.same('# Another task\n', support.read(folder .. '/PROMPT.md'), 'the file')
  local saved = position(fake, function(message)
    return message.method == 'textDocument/didSave'
  end)
  local ordered = position(fake, function(message)
    return message.method == 'workspace/executeCommand'
  end)
  if not (saved and saved < ordered) then
    error('the start was sent before the save', 0)
  end
end

return {
  run = function()
    saves_first()

    local fake, editor, folder = Fake.open({
      replies = {
        ['loopkeeper.server.rollback'] = {
          result = { written = 3, removed = 1, refused = {}, edited = { 'a', 'b', 'c', 'd' } },
        },
        ['loopkeeper.server.undoRollback'] = { result = { written = 1, removed = 3, refused = {} } },
        ['loopkeeper.server.start'] = {
          error = {
            code = -32803,
            message = '2 commands are not trusted. Hint: trust them',
            data = { code = 'untrusted', asked = true, count = 2 },
          },
        },
        ['loopkeeper.server.pause'] = {
          error = { code = -32803, message = 'it is paused already', data = { code = 'conflict' } },
        },
      },
    })
    local other = Fake.loop({ id = '20261120-bbbbbb', state = 'done', phase = 'ended' })
    fake:tell({ Fake.loop(), other }, { Fake.task(folder, { loopId = '20261120-abcdef' }) })
    editor:wait_statusline('7/25')
    editor:ex('Ralph! start')
    argument(fake, 'loopkeeper.server.start', editor)
    editor:ex('Ralph pause')
    editor:wait_message('Ralph: it is paused already')
    support.same(1, #editor:messages(), 'messages, none for what the server asks by itself')

    editor:ex('Ralph stop!')
    support.same({ loopId = '20261120-abcdef', now = true }, argument(fake, 'loopkeeper.server.stop'), 'stop')
    editor:ex('Ralph steer look at  the parser')
    support.same('look at  the parser', argument(fake, 'loopkeeper.server.steer').text, 'steer')
    editor:ex('Ralph rollback 2 20261120-b')
    local asked = { loopId = '20261120-bbbbbb', iteration = 2, preview = true }
    support.same(asked, argument(fake, 'loopkeeper.server.rollback'), 'what a rollback would change')
    support.same({
      'Yes (3 written, 1 removed, changed since the last snapshot: a, b, c and 1 more; the current files are kept)',
      'No, leave the files as they are',
    }, editor:wait_question('Roll the files back to iteration 2?').labels, 'the question')
    editor:answer('Yes (')
    support.wait('the rollback', function()
      return position(fake, function(message)
        local sent = message.params and message.params.command == 'loopkeeper.server.rollback'
        return sent and message.params.arguments[1].preview == nil
      end)
    end)
    editor:ex('Ralph rollback undo 20261120-b')
    asked = { loopId = '20261120-bbbbbb', preview = true }
    support.same(asked, argument(fake, 'loopkeeper.server.undoRollback'), 'what an undo would change')

    -- The keeper of an older version does not report its changes.
    fake:reply({ ['loopkeeper.server.undoRollback'] = { result = {} } })
    editor:ex('Ralph rollback undo 20261120-b')
    editor:wait_message('Ralph: the rollback is undone. `:Ralph rollback undo` rolls back again.')
    local numbers = editor:lua("return vim.fn.getcompletion('Ralph diff ', 'cmdline')")
    support.same('0', numbers[1], 'completion of iterations')
    editor:ex('Ralph start flavour=7')
    editor:wait_message('`flavour=7` is not recognised')
  end,

  -- A task that cannot be saved is not started.
  control_fails = 'waited for: loopkeeper.server.start',
  control = function()
    saves_first('vim.bo.readonly = true')
  end,
}
