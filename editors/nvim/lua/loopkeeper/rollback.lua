-- Rolls files back after a preview, and asks the user first where the files at stake require it.

local l10n = require('loopkeeper.l10n')
local ui = require('loopkeeper.ui')

local t = l10n.t

local M = {}

--- The choice of a yes: describes what would change, and names the files that the user edited since the last snapshot.
---@param preview loopkeeper.CommandResult
---@return string
local function planned(preview)
  local edited = preview.edited or {}
  local values = { written = preview.written or 0, removed = preview.removed or 0, count = #edited - 3 }
  values.files = l10n.list(vim.list_slice(edited, 1, 3))
  if #edited == 0 then
    return t('Yes ({written} written, {removed} removed; the current files are kept)', values)
  elseif #edited <= 3 then
    return t(
      'Yes ({written} written, {removed} removed, changed since the last snapshot: {files}; '
        .. 'the current files are kept)',
      values
    )
  end
  return t(
    'Yes ({written} written, {removed} removed, changed since the last snapshot: {files} and {count} more; '
      .. 'the current files are kept)',
    values
  )
end

--- Requests a preview of the command, then asks the user.
---@param command string
---@param question string
---@param always? boolean whether to ask even if the user edited no file since the last snapshot
function M.roll_back(client, command, argument, question, always)
  local requests = require('loopkeeper.requests')
  requests.send(client, command, vim.tbl_extend('force', argument, { preview = true }), function(preview)
    if not always and #(preview.edited or {}) == 0 then
      return requests.send(client, command, argument)
    end
    local yes = planned(preview)
    ui.select({ true, false }, question, function(it)
      return it and yes or t('No, leave the files as they are')
    end, function(it)
      if it then
        requests.send(client, command, argument)
      end
    end)
  end)
end

return M
