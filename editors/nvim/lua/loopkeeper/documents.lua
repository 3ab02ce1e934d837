-- Handler of `window/showDocument`. A file of the workspace is opened normally; any other is output of an agent or a
-- check, or a page of the server, and is shown as read-only plain text. Nothing is opened in a browser.

local client_module = require('loopkeeper.client')
local ui = require('loopkeeper.ui')

local M = {}

---@param params { uri: string, external?: boolean, takeFocus?: boolean, selection?: table }
---@param client? vim.lsp.Client
---@return { success: boolean }
function M.show(params, client)
  if params.external or not vim.startswith(params.uri, 'file:') then
    return { success = false }
  end
  local path = vim.fs.normalize(vim.uri_to_fname(params.uri))
  if client and vim.startswith(path, vim.fs.normalize(client_module.root(client)) .. '/') then
    return vim.lsp.handlers['window/showDocument'](
      nil,
      params,
      { client_id = client.id, method = 'window/showDocument' }
    )
  end
  return { success = M.page(params) }
end

--- Shows a file as text in a window below the others.
---@param params { uri: string, takeFocus?: boolean, selection?: { start: { line: integer } } }
---@return boolean whether it could be read
function M.page(params)
  local lines, problem = ui.read(params.uri)
  if not lines then
    ui.error(problem or '')
    return false
  end
  -- The folders above it are the server's own, and have no meaning for the user.
  local buffer = ui.scratch('loopkeeper://page/' .. vim.fs.basename(vim.uri_to_fname(params.uri)), 'loopkeeper-page')
  vim.bo[buffer].bufhidden = 'wipe'
  ui.set_lines(buffer, 0, -1, lines)
  local height = math.min(math.max(#lines, 5), math.floor(vim.o.lines / 2))
  local window = ui.show_below(buffer, height, params.takeFocus == true)
  local row = params.selection and params.selection.start.line + 1 or 1
  vim.api.nvim_win_set_cursor(window, { math.min(row, math.max(#lines, 1)), 0 })
  return true
end

return M
