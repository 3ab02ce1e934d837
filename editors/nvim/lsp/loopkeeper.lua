-- For Neovim 0.11 and newer: the configuration that `vim.lsp.enable('loopkeeper')` starts and
-- `vim.lsp.config('loopkeeper', …)` changes. The plugin works without this file.

local client = require('loopkeeper.client')
local files = require('loopkeeper.files')

local config = client.defaults()
config.filetypes = { 'markdown', 'json', 'jsonc', 'toml', 'yaml' }
config.root_dir = function(buffer, on_dir)
  local path = vim.api.nvim_buf_get_name(buffer)
  if files.is_ours(path) then
    on_dir(files.root(path))
  end
end
return config
