-- The server is replaceable: `:Ralph restart`, a killed server, one that crashes repeatedly.

local Fake = require('fake')
local support = require('support')

local function opened(fake)
  return fake:count('textDocument/didOpen')
end

local function start()
  local fake, editor, folder = Fake.open()
  fake:tell({ Fake.loop() }, { Fake.task(folder) })
  editor:wait_statusline('7/25')
  return fake, editor
end

local function wait_opened(fake, count)
  support.wait(('%d starts'):format(count), function()
    return opened(fake) == count
  end)
end

return {
  run = function()
    local fake, editor = start()
    wait_opened(fake, 1)
    editor:ex('Ralph output')
    editor:ex('Ralph restart')
    wait_opened(fake, 2)
    -- The new server has no subscriptions, and sends a first status as usual.
    support.wait('two subscriptions', function()
      return fake:count('loopkeeper/subscribe') == 2
    end)
    support.same(
      'loopkeeper',
      editor:wait('the client', 'local it = vim.lsp.get_clients()[1] return it and it.name'),
      'client'
    )
    for count = 3, 5 do
      local pid = support.wait('the server', function()
        return editor:server_pid()
      end)
      vim.uv.kill(pid, 'sigkill')
      wait_opened(fake, count)
    end
    vim.uv.kill(editor:server_pid(), 'sigkill')
    editor:wait_message('the server ended several times')
    editor:ex('Ralph restart')
    wait_opened(fake, 6)
  end,

  -- A server that ends on request is not restarted.
  control_fails = 'waited for: 2 starts',
  control = function()
    local fake, editor = start()
    editor:lua('vim.lsp.stop_client(vim.lsp.get_clients())')
    wait_opened(fake, 2)
  end,
}
