-- Reloads buffers whose files an iteration changed. Skips buffers with unsaved changes, because Neovim itself warns
-- before it overwrites the file.

local M = {}

---@param root string
function M.run(root)
  if not require('loopkeeper.config').get().checktime then
    return
  end
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local inside = vim.startswith(vim.api.nvim_buf_get_name(buffer), root .. '/')
    local plain = vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == '' and not vim.bo[buffer].modified
    if inside and plain then
      local autoread = vim.bo[buffer].autoread
      vim.bo[buffer].autoread = true
      -- Fails in the command-line window; the file is then reloaded when its window is entered again.
      pcall(vim.cmd.checktime, { args = { tostring(buffer) }, mods = { silent = true } })
      if vim.api.nvim_buf_is_valid(buffer) then
        vim.bo[buffer].autoread = autoread
      end
    end
  end
end

return M
