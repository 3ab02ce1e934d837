-- The functions for a user's own configuration. Everything else is `:Ralph`.

local M = {}

--- Merges options into `vim.g.loopkeeper`. Not needed for anything to work.
---@param options? loopkeeper.Options
function M.setup(options)
  require('loopkeeper.config').merge(options or {})
end

--- What goes on, in at most 24 characters, such as `Ralph 7/25 · 3/5 pass`. Empty where there is no task. Asks nobody.
---@return string
function M.statusline()
  -- Before anything was opened there is nothing to load a module for.
  local status = package.loaded['loopkeeper.status']
  return status and status.text() or ''
end

--- The highlight group that goes with the statusline's text.
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
