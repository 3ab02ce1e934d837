-- Commands about a loop that ended: `:Ralph review`, `feedback`.

local l10n = require('loopkeeper.l10n')
local target = require('loopkeeper.target')
local protocol = require('loopkeeper.protocol')
local ui = require('loopkeeper.ui')

local t = l10n.t

local M = {}

M.review = {
  run = function()
    if not require('loopkeeper.review').review() then
      ui.info(t('no loop has ended since Neovim started. `:Ralph diff` shows what an earlier one changed.'))
    end
  end,
}

local verdicts = { 'right', 'tooEarly', 'tooLate' }
local labels = { right = l10n.later('Yes'), tooEarly = l10n.later('Too early'), tooLate = l10n.later('Too late') }

---@param verdict string
---@param text? string
local function give_feedback(verdict, text)
  target.loop(nil, false, function(client, loop)
    local argument = { loopId = loop.id, verdict = verdict, text = text }
    require('loopkeeper.requests').send(client, protocol.commands.feedback, argument, function()
      ui.info(t('recorded. `loopkeeper insight` adds it up.'))
    end)
  end)
end

M.feedback = {
  complete = function(words)
    return #words > 0 and {} or verdicts
  end,
  run = function(call)
    local verdict = call.words[1]
    if not verdict then
      return ui.select(verdicts, t('Was this the right moment to stop? '), function(it)
        return t(labels[it])
      end, give_feedback)
    elseif not vim.list_contains(verdicts, verdict) then
      return ui.error(
        t('`:Ralph feedback` takes one of: {verdicts}, and a text if you like', { verdicts = l10n.list(verdicts) })
      )
    end
    local text = vim.trim(call.text:sub(#verdict + 1))
    give_feedback(verdict, text ~= '' and text or nil)
  end,
}

return M
