-- A lualine component: `lualine_x = { 'loopkeeper' }`. Shows the plugin's statusline in its colours; with
-- `icons_enabled` a symbol before the text shows the state as well.

local component = require('lualine.component'):extend()

local icons = {
  LoopkeeperIdle = '○',
  LoopkeeperWorking = '●',
  LoopkeeperPaused = '‖',
  LoopkeeperNeedsYou = '!',
  LoopkeeperStopped = '✗',
  LoopkeeperDone = '✓',
}

function component:init(options)
  component.super.init(self, options)
  -- Colours are computed again for each state, unless the user set one.
  self.options.color = self.options.color or function()
    return require('loopkeeper').highlight()
  end
end

function component:update_status()
  local ralph = require('loopkeeper')
  local text = ralph.statusline()
  if text == '' or self.options.icons_enabled == false then
    return text
  end
  return icons[ralph.highlight()] .. ' ' .. text
end

return component
