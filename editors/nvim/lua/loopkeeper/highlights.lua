-- Defines the highlight groups as links to groups that every colour scheme has, unless the colour scheme or the user
-- defines them.

local links = {
  LoopkeeperIdle = 'Comment',
  LoopkeeperWorking = 'DiagnosticInfo',
  LoopkeeperPaused = 'Comment',
  LoopkeeperNeedsYou = 'DiagnosticWarn',
  LoopkeeperStopped = 'DiagnosticError',
  LoopkeeperDone = 'DiagnosticOk',
  LoopkeeperPass = 'DiagnosticOk',
  LoopkeeperFail = 'DiagnosticWarn',
  LoopkeeperStale = 'DiagnosticUnnecessary',
  LoopkeeperTitle = 'Title',
  LoopkeeperDetail = 'Comment',
  LoopkeeperFile = 'Directory',
  LoopkeeperAdded = 'Added',
  LoopkeeperChanged = 'Changed',
  LoopkeeperRemoved = 'Removed',
  LoopkeeperKey = 'Special',
}
for name, target in pairs(links) do
  vim.api.nvim_set_hl(0, name, { link = target, default = true })
end
