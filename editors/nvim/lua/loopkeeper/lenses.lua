-- Code lenses of our own client only. Neovim 0.12 refreshes them automatically; in older versions they are requested
-- when the server reports that they changed.

local config = require('loopkeeper.config')

local M = {}

M.kept_by_neovim = vim.lsp.codelens.enable ~= nil

---@param client vim.lsp.Client
---@param buffer integer
local function ask(client, buffer)
  local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
  require('loopkeeper.client').request(client, 'textDocument/codeLens', params, function(err, lenses)
    if not err and vim.api.nvim_buf_is_loaded(buffer) then
      vim.lsp.codelens.save(lenses or {}, buffer, client.id)
      vim.lsp.codelens.display(lenses or {}, buffer, client.id)
    end
  end)
end

---@param client vim.lsp.Client
---@param buffer integer
function M.enable(client, buffer)
  if not config.get().codelens then
    return
  end
  if M.kept_by_neovim then
    vim.lsp.codelens.enable(true, { bufnr = buffer })
    return
  end
  ask(client, buffer)
  vim.api.nvim_create_autocmd({ 'InsertLeave', 'BufWritePost', 'TextChanged' }, {
    group = vim.api.nvim_create_augroup('loopkeeper.lenses.' .. buffer, {}),
    buffer = buffer,
    callback = function()
      local current = require('loopkeeper.client').of_buffer(buffer)
      if current then
        ask(current, buffer)
      end
    end,
  })
end

---@param client? vim.lsp.Client
function M.refresh(client)
  if not client or not config.get().codelens then
    return
  end
  for buffer in pairs(client.attached_buffers) do
    ask(client, buffer)
  end
end

return M
