-- The server's hints name commands of the terminal. In Neovim subcommands of `:Ralph` do the same.

local M = {}

---@type table<string, string> subcommands by the names of the terminal's commands
local subcommands = {
  run = 'start',
  status = 'status',
  watch = 'summary',
  stop = 'stop',
  pause = 'pause',
  resume = 'resume',
  steer = 'steer',
  answer = 'answer',
  rollback = 'rollback',
  trust = 'trust',
}

--- Replaces `loopkeeper run` by `:Ralph start`.
---@param message string
---@param commands? loopkeeper.HintCommand[] those that the message names
---@return string
function M.replace(message, commands)
  for _, it in ipairs(commands or {}) do
    local subcommand = subcommands[it.name]
    if subcommand then
      message = message:gsub(vim.pesc('`' .. it.text .. '`'), ('`:Ralph %s`'):format(subcommand))
    end
  end
  return message
end

--- The message of an alert, with the names of Neovim's commands.
---@param alert loopkeeper.AlertParams
---@return string
function M.of_alert(alert)
  return M.replace(alert.message, alert.commands)
end

return M
