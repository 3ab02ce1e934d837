-- The functions for a user's configuration. All other features are in `:Ralph`.

local M = {}

--- Merges options into `vim.g.loopkeeper`. Optional.
---@param options? loopkeeper.Options
function M.setup(options)
  require('loopkeeper.config').merge(options or {})
end

--- The current state in at most 24 characters, such as `Ralph 7/25 · 3/5 pass`. Empty without a task. Sends no request.
---@return string
function M.statusline()
  -- Does not load the module before the first file is opened.
  local status = package.loaded['loopkeeper.status']
  return status and status.text() or ''
end

--- The highlight group of the statusline's text.
---@return string
function M.highlight()
  local status = package.loaded['loopkeeper.status']
  return status and status.highlight() or 'LoopkeeperIdle'
end

--- The loops of the open folders, those that need you first.
---@return loopkeeper.LoopStatus[]
function M.loops()
  local status = package.loaded['loopkeeper.status']
  return status and vim.deepcopy(status.loops()) or {}
end

return M
