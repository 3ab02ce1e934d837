-- Defines `:Ralph`, its <Plug> maps and the autocommands that attach the server. Loads no module immediately: that happens when a
-- command is used, or a task, plan or configuration file is opened.

if vim.g.loaded_loopkeeper then
  return
end
vim.g.loaded_loopkeeper = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.notify('Ralph: Neovim 0.10 or newer is needed', vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command('Ralph', function(call)
  require('loopkeeper.commands').run(call)
end, {
  nargs = '*',
  bang = true,
  bar = false,
  desc = 'Ralph loops: start, stop, show',
  complete = function(lead, line)
    return require('loopkeeper.commands').complete(lead, line)
  end,
})

local function attach(buffer)
  if vim.bo[buffer].buftype == '' and require('loopkeeper.files').is_ours(vim.api.nvim_buf_get_name(buffer)) then
    require('loopkeeper.client').attach(buffer)
  end
end

local kinds = { markdown = true, json = true, jsonc = true, jsonl = true, toml = true, yaml = true }
local group = vim.api.nvim_create_augroup('loopkeeper', {})
vim.api.nvim_create_autocmd('FileType', {
  group = group,
  pattern = vim.tbl_keys(kinds),
  callback = function(event)
    attach(event.buf)
  end,
})
-- Neovim gives these no file type.
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
  group = group,
  pattern = { '.ralphrc', '*/.ralphex/config' },
  callback = function(event)
    attach(event.buf)
  end,
})

-- Loaded late, as by a plugin manager: some files may be open already.
if vim.v.vim_did_enter == 1 then
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local filetype = vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].filetype
    if filetype and (filetype == '' or kinds[filetype]) then
      attach(buffer)
    end
  end
end

local maps = {
  ['start'] = 'start',
  ['stop'] = 'stop',
  ['stop-now'] = 'stop!',
  ['pause'] = 'pause',
  ['resume'] = 'resume',
  ['check'] = 'check',
  ['check-here'] = 'check here',
  ['reset'] = 'reset',
  ['steer'] = 'steer',
  ['answer'] = 'answer',
  ['rollback'] = 'rollback',
  ['diff'] = 'diff',
  ['output'] = 'output',
  ['status'] = 'status',
  ['summary'] = 'summary',
  ['quickfix'] = 'quickfix',
  ['trust'] = 'trust',
  ['log'] = 'log',
}
for name, command in pairs(maps) do
  vim.keymap.set(
    'n',
    '<Plug>(loopkeeper-' .. name .. ')',
    '<Cmd>Ralph ' .. command .. '<CR>',
    { desc = 'Ralph: ' .. command }
  )
end
