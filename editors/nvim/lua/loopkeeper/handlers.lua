-- Maps the server's messages to the modules that handle them. No rules here.

local protocol = require('loopkeeper.protocol')

local M = {}

--- Handlers of our client, by method.
function M.messages()
  local function client_of(context)
    return vim.lsp.get_client_by_id(context.client_id)
  end
  local messages = {
    [protocol.notifications.status] = function(_, params, context)
      local client = client_of(context)
      if client then
        require('loopkeeper.status').update(client, params)
      end
    end,
    [protocol.notifications.output] = function(_, params)
      require('loopkeeper.output').append(params)
    end,
    [protocol.notifications.alert] = function(_, params, context)
      local client = client_of(context)
      if client then
        require('loopkeeper.questions').alert(params, client)
      end
    end,
    ['window/showMessageRequest'] = function(_, params, context)
      return require('loopkeeper.questions').asked(params, context.client_id)
    end,
    ['window/showMessage'] = function(_, params)
      local level = ({ vim.log.levels.ERROR, vim.log.levels.WARN })[params.type] or vim.log.levels.INFO
      require('loopkeeper.ui').tell(require('loopkeeper.command_names').replace(params.message, params.commands), level)
    end,
    ['window/showDocument'] = function(_, params, context)
      return require('loopkeeper.documents').show(params, client_of(context))
    end,
  }
  -- Neovim 0.12 has its own handler for this.
  if not require('loopkeeper.lenses').kept_by_neovim then
    messages['workspace/codeLens/refresh'] = function(_, _, context)
      require('loopkeeper.lenses').refresh(client_of(context))
      return vim.NIL
    end
  end
  return messages
end

--- Commands of lenses, code actions and alerts are handled like `:Ralph`: files are saved first, errors are shown.
function M.commands()
  local commands = {}
  for _, name in pairs(protocol.commands) do
    commands[name] = function(command, context)
      local client = vim.lsp.get_client_by_id(context.client_id)
      local argument = (command.arguments or {})[1] or {}
      if client and name == protocol.commands.answer then
        require('loopkeeper.questions').answer(client, argument)
      elseif client then
        require('loopkeeper.requests').send(client, name, argument)
      end
    end
  end
  return commands
end

return M
