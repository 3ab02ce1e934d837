-- The actions after the end of a loop: `:Ralph review` offers those of its notification.

local t = require('loopkeeper.l10n').t
local ui = require('loopkeeper.ui')

local M = {}

---@type { alert: loopkeeper.AlertParams, client: integer }?
local last

--- Remembers the notification of a loop that ended.
---@param alert loopkeeper.AlertParams
---@param client vim.lsp.Client
---@return boolean whether there is anything to do about it
function M.remember(alert, client)
  if alert.kind ~= 'ended' or #alert.actions == 0 then
    return false
  end
  last = { alert = alert, client = client.id }
  return true
end

--- Asks what to do about the last loop that ended.
---@return boolean whether there is one
function M.review()
  local client = last and vim.lsp.get_client_by_id(last.client)
  if not last or not client then
    return false
  end
  require('loopkeeper.float').close()
  local alert = last.alert
  ui.select(alert.actions, require('loopkeeper.command_names').of_alert(alert) .. ' ', function(action)
    return action.title
  end, function(action)
    require('loopkeeper.questions').run_action(client, action)
    if alert.followUp then
      -- Once, and without a prompt, because the user is about to look at something else.
      ui.info(t('{question} `:Ralph feedback` answers.', { question = alert.followUp.message }))
      alert.followUp = nil
    end
  end)
  return true
end

return M
