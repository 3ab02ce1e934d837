-- Defines the highlight groups, linked to those of diagnostics unless the colour scheme or the user overrides them.

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
}
for name, target in pairs(links) do
  vim.api.nvim_set_hl(0, name, { link = target, default = true })
end
