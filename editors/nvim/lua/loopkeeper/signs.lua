-- Shows in the sign column of a task whether each criterion holds. The server's positions refer to the saved file; the
-- signs then move with the text.

local config = require('loopkeeper.config')

local M = {}

local namespace = vim.api.nvim_create_namespace('loopkeeper.signs')

local looks = {
  pass = { '✓', 'LoopkeeperPass' },
  fail = { '✗', 'LoopkeeperFail' },
  ['timed-out'] = { '✗', 'LoopkeeperFail' },
  ['no-tests-ran'] = { '✗', 'LoopkeeperFail' },
  unstable = { '?', 'LoopkeeperFail' },
  ['could-not-run'] = { '!', 'LoopkeeperFail' },
}

---@param buffer integer
---@param items loopkeeper.CriterionStatus[]
local function draw(buffer, items)
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  for _, item in ipairs(items) do
    local look = looks[item.status]
    local row = vim.api.nvim_buf_call(buffer, function()
      return vim.fn.byte2line(item.place.start + 1)
    end)
    if look and row > 0 then
      vim.api.nvim_buf_set_extmark(buffer, namespace, row - 1, 0, {
        sign_text = look[1],
        -- Stale: files changed since the check, so the result may be outdated.
        sign_hl_group = item.stale and 'LoopkeeperStale' or look[2],
        -- Above the signs of diagnostics, which contain the same information.
        priority = 20,
      })
    end
  end
end

---@param buffer integer
function M.refresh(buffer)
  if not config.get().signs or not vim.api.nvim_buf_is_loaded(buffer) or vim.bo[buffer].modified then
    return
  end
  local path = vim.fs.normalize(vim.api.nvim_buf_get_name(buffer))
  local items = {}
  for _, task in ipairs(require('loopkeeper.status').tasks()) do
    local root = vim.uri_to_fname(task.root)
    for _, item in ipairs(task.criteria.items) do
      if vim.fs.normalize(root .. '/' .. item.place.file) == path then
        table.insert(items, item)
      end
    end
  end
  draw(buffer, items)
end

function M.refresh_all()
  for _, client in ipairs(require('loopkeeper.client').all()) do
    for buffer in pairs(client.attached_buffers) do
      M.refresh(buffer)
    end
  end
end

return M
