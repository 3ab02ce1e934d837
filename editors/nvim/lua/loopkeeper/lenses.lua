-- Code lenses of our own client only. Neovim 0.12 refreshes and draws them automatically; in older versions they are
-- requested when the server reports that they changed, and drawn here.

local config = require('loopkeeper.config')

local M = {}

M.kept_by_neovim = vim.lsp.codelens.enable ~= nil

--- The columns for text in the narrowest window that shows a buffer.
---@param buffer integer
---@return integer
local function text_width(buffer)
  local width = vim.o.columns
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local info = vim.fn.getwininfo(window)[1]
    width = math.min(width, info.width - info.textoff)
  end
  return width
end

--- Breaks the lenses of a line between two of them, where they are wider than the window.
---@param lenses lsp.CodeLens[] of one line
---@param most integer
---@return { chunks: { [1]: string, [2]: string }[], width: integer }[]
local function lines_of(lenses, most)
  local lines = { { chunks = {}, width = 0 } }
  for _, lens in ipairs(lenses) do
    local line = lines[#lines]
    local title = require('loopkeeper.ui').plain(lens.command and lens.command.title or '')
    local width = vim.fn.strdisplaywidth(title)
    if line.width > 0 and line.width + 3 + width > most then
      line = { chunks = {}, width = 0 }
      table.insert(lines, line)
    elseif line.width > 0 then
      table.insert(line.chunks, { ' | ', 'LspCodeLensSeparator' })
      line.width = line.width + 3
    end
    table.insert(line.chunks, { title, 'LspCodeLens' })
    line.width = line.width + width
  end
  return lines
end

--- Draws the lenses of a line after its text, or on lines of their own where they would be cut off there.
---@param buffer integer
---@param namespace integer
---@param row integer from 0
---@param lenses lsp.CodeLens[]
local function draw_line(buffer, namespace, row, lenses)
  local text = vim.api.nvim_buf_get_lines(buffer, row, row + 1, false)[1] or ''
  local most, indent = text_width(buffer), text:match('^%s*')
  local lines = lines_of(lenses, most - vim.fn.strdisplaywidth(indent))
  if #lines == 1 and vim.fn.strdisplaywidth(text) + 1 + lines[1].width <= most then
    vim.api.nvim_buf_set_extmark(buffer, namespace, row, 0, { virt_text = lines[1].chunks, hl_mode = 'combine' })
    return
  end
  local virtual = vim.tbl_map(function(line)
    return vim.list_extend({ { indent, 'LspCodeLens' } }, line.chunks)
  end, lines)
  -- A line above the first one is not visible.
  vim.api.nvim_buf_set_extmark(buffer, namespace, row, 0, { virt_lines = virtual, virt_lines_above = row > 0 })
end

-- The namespace of `vim.lsp.codelens`, which draws after a lens was run.
local prefix = 'vim_lsp_codelens:'

--- The cells that lenses take after the text of a line.
---@param buffer integer
---@param row integer from 0
---@return integer
function M.width_after(buffer, row)
  local width = 0
  for name, namespace in pairs(vim.api.nvim_get_namespaces()) do
    local is_ours = vim.startswith(name, prefix)
    local marks = is_ours
        and vim.api.nvim_buf_get_extmarks(buffer, namespace, { row, 0 }, { row, -1 }, { details = true })
      or {}
    for _, mark in ipairs(marks) do
      for _, chunk in ipairs(mark[4].virt_text or {}) do
        width = width + vim.fn.strdisplaywidth(chunk[1])
      end
    end
  end
  return width > 0 and width + 1 or 0
end

---@param buffer integer
---@param client integer
---@param lenses lsp.CodeLens[]
local function draw(buffer, client, lenses)
  local namespace = vim.api.nvim_create_namespace(prefix .. client)
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  local by_row, count = vim.defaulttable(), vim.api.nvim_buf_line_count(buffer)
  for _, lens in ipairs(lenses) do
    table.insert(by_row[lens.range.start.line], lens)
  end
  for row, of_row in pairs(by_row) do
    if row < count then
      draw_line(buffer, namespace, row, of_row)
    end
  end
  -- The texts of diagnostics follow the lenses.
  vim.diagnostic.show(vim.lsp.diagnostic.get_namespace(client), buffer)
end

---@param client vim.lsp.Client
---@param buffer integer
local function ask(client, buffer)
  local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
  require('loopkeeper.client').request(client, 'textDocument/codeLens', params, function(err, lenses)
    if not err and vim.api.nvim_buf_is_loaded(buffer) then
      vim.lsp.codelens.save(lenses or {}, buffer, client.id)
      draw(buffer, client.id, lenses or {})
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
  local group = vim.api.nvim_create_augroup('loopkeeper.lenses.' .. buffer, {})
  local function ask_again()
    local current = require('loopkeeper.client').of_buffer(buffer)
    if current then
      ask(current, buffer)
    end
  end
  vim.api.nvim_create_autocmd({ 'InsertLeave', 'BufWritePost', 'TextChanged', 'BufWinEnter' }, {
    group = group,
    buffer = buffer,
    callback = ask_again,
  })
  vim.api.nvim_create_autocmd({ 'VimResized', 'WinResized' }, {
    group = group,
    callback = function()
      if vim.api.nvim_buf_is_valid(buffer) and vim.fn.win_findbuf(buffer)[1] then
        ask_again()
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
