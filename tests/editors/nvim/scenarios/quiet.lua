-- Nothing is loaded or started before it is needed; problems are reported with their remedy.

local Editor = require('editor')
local Fake = require('fake')
local support = require('support')

local loaded = [[
  local names = {}
  for name in pairs(package.loaded) do
    if name:find('^loopkeeper') and name ~= 'loopkeeper.files' and name ~= 'loopkeeper.config' then
      table.insert(names, name)
    end
  end
  table.sort(names)
  return names
]]

-- An editor on files that are unrelated to the plugin.
local function unrelated(fake, lua)
  local folder = support.temp .. '/project'
  support.write(folder .. '/README.md', '# A page\n')
  support.write(folder .. '/notes.txt', 'text\n')
  support.write(folder .. '/PROMPT.md', '# A task\n')
  local editor = Editor.start({ folder = folder, file = 'README.md', server = fake.command, env = fake.env, lua = lua })
  editor:edit('notes.txt')
  support.same({}, editor:lua(loaded), 'modules loaded by unrelated files')
  return editor, folder
end

return {
  run = function()
    local fake = Fake.new()
    local editor, folder = unrelated(fake)
    support.same('', editor:statusline(), 'statusline without a task')
    support.same(2, editor:lua("return vim.fn.exists(':Ralph')"), ':Ralph')
    support.same(nil, fake:first('initialize'), 'a server started by unrelated files')

    editor:edit('PROMPT.md')
    support.wait('the server to start', function()
      return fake:first('initialized') and fake:first('textDocument/didOpen')
    end)
    local announced = fake:first('initialize').params
    support.same(1, announced.capabilities.experimental.loopkeeper.version, 'announced version')
    support.same(vim.uri_from_fname(folder), announced.rootUri, 'root')

    local is_ours = "return require('loopkeeper.files').is_ours(...)"
    for name, marker in pairs({ ['PRD.md'] = '.ralphy/config.yaml', ['docs/plans/a.md'] = '.ralphex/config' }) do
      local path = folder .. '/' .. name
      support.write(path, '# A plan\n')
      support.same(false, editor:lua(is_ours, path), name .. ' alone')
      support.write(folder .. '/' .. marker, 'x\n')
      support.same(true, editor:lua(is_ours, path), name .. ' with ' .. marker)
    end
    support.same(true, editor:lua(is_ours, folder .. '/.ralph/queue.jsonc'), 'a queue')
    for _, name in ipairs({ '.ralphrc', '.ralphex/config', '.ralph/agent/tasks.jsonl', 'feature_list.json' }) do
      support.write(folder .. '/' .. name, 'x\n')
      editor:edit(name)
      support.wait(name .. ' to be opened in the server', function()
        for _, opened in ipairs(fake:received()) do
          if
            opened.method == 'textDocument/didOpen'
            and opened.params.textDocument.uri == vim.uri_from_fname(folder .. '/' .. name)
          then
            return true
          end
        end
      end)
    end

    editor:ex('Ralph unheard')
    editor:wait_message('Hint: `:help :Ralph`')
    editor:ex('Ralph pause!')
    editor:wait_message('takes no `!`')
    local completions = editor:lua("return vim.fn.getcompletion('Ralph st', 'cmdline')")
    support.same({ 'start', 'status', 'steer', 'stop' }, completions, 'completion')

    -- Also started by Neovim's own means, and still one client.
    if vim.lsp.enable then
      local enabled = Fake.new()
      local by_config = Editor.start({
        folder = folder,
        file = 'README.md',
        server = enabled.command,
        env = enabled.env,
        lua = [[
          vim.lsp.config('loopkeeper', { init_options = { extra = 1 }, on_attach = function() end })
          vim.lsp.enable('loopkeeper')
        ]],
      })
      by_config:edit('PROMPT.md')
      support.wait('the server to start', function()
        return enabled:first('textDocument/didOpen')
      end)
      support.same(1, enabled:first('initialize').params.initializationOptions.extra, 'option of the user')
      support.same(1, by_config:lua('return #vim.lsp.get_clients()'), 'clients')
    end

    local lost = Editor.start({ folder = folder, file = 'PROMPT.md', server = '/nowhere/loopkeeper' })
    lost:wait_message("vim.g.loopkeeper = { server = '/path/to/loopkeeper' }")
    local wrong = Editor.start({
      folder = folder,
      file = 'PROMPT.md',
      server = fake.command,
      env = fake.env,
      lua = "vim.g.loopkeeper = { sever = 'x' }",
    })
    wrong:wait_message('there is no option `sever`')
  end,

  -- A plugin that loads its modules eagerly is detected.
  control_fails = 'modules loaded by unrelated files: expected {}',
  control = function()
    unrelated(Fake.new(), "require('loopkeeper')")
  end,
}
