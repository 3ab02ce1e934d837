-- Rolls files back after a preview, and asks the user first where the files at stake require it.

local ui = require('loopkeeper.ui')

local M = {}

--- Describes what would change, and names the files that the user edited since the last snapshot.
---@param preview loopkeeper.CommandResult
---@return string
local function planned(preview)
  local sum = ('%d written, %d removed'):format(preview.written or 0, preview.removed or 0)
  local edited = preview.edited or {}
  if #edited == 0 then
    return sum
  end
  local rest = #edited > 3 and (' and %d more'):format(#edited - 3) or ''
  local named = table.concat(edited, ', ', 1, math.min(#edited, 3))
  return ('%s, changed since the last snapshot: %s%s'):format(sum, named, rest)
end

--- Requests a preview of the command, then asks the user.
---@param command string
---@param question string
---@param always? boolean whether to ask even if the user edited no file since the last snapshot
function M.put_back(client, command, argument, question, always)
  local orders = require('loopkeeper.orders')
  orders.send(client, command, vim.tbl_extend('force', argument, { preview = true }), function(preview)
    if not always and #(preview.edited or {}) == 0 then
      return orders.send(client, command, argument)
    end
    local yes = ('Yes (%s; what is there now is kept)'):format(planned(preview))
    ui.select({ true, false }, question, function(it)
      return it and yes or 'No, leave the files as they are'
    end, function(it)
      if it then
        orders.send(client, command, argument)
      end
    end)
  end)
end

return M
