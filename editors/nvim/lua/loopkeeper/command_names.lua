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

--- Replaces `loopkeeper run` by `:Ralph start`. Other commands have no counterpart and stay.
---@param message string
---@return string
function M.replace(message)
  return (
    message:gsub('`loopkeeper (%w+)([^`]*)`', function(name, rest)
      -- With an option, or of single files: `:Ralph` would do something else.
      local has_option = rest:gsub(' %-%-list', ''):find(' %-%-')
      if has_option or (name == 'rollback' and rest:match('^ %S+ %d')) then
        return nil
      end
      return subcommands[name] and ('`:Ralph %s`'):format(subcommands[name])
    end)
  )
end

return M
