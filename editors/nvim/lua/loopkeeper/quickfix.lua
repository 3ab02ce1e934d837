-- Lists the server's diagnostics of all tasks in the quickfix list.

local client_module = require('loopkeeper.client')

local M = {}

function M.open()
  local diagnostics = {}
  for _, client in ipairs(client_module.all()) do
    local namespace = vim.lsp.diagnostic.get_namespace(client.id)
    vim.list_extend(diagnostics, vim.diagnostic.get(nil, { namespace = namespace }))
  end
  vim.fn.setqflist({}, ' ', { title = 'Ralph', items = vim.diagnostic.toqflist(diagnostics) })
  if #diagnostics == 0 then
    require('loopkeeper.ui').info(require('loopkeeper.l10n').t('nothing is reported.'))
  else
    vim.cmd.copen()
  end
end

return M
