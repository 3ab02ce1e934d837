-- `:Ralph status`, `summary`, `quickfix`, `trust`, `restart`.

local target = require('loopkeeper.target')
local status = require('loopkeeper.status')

local M = {}

M.status = {
  run = function()
    -- With a question waiting for an answer, the user wants to see that question.
    if require('loopkeeper.questions').ask_pending() then
      return
    end
    local summary = require('loopkeeper.summary')
    -- Where it has the focus already, nothing on the screen would change.
    if summary.has_focus() then
      require('loopkeeper.ui').note(status.text())
    end
    summary.open()
  end,
}

M.summary = {
  run = function()
    require('loopkeeper.summary').open()
  end,
}

M.quickfix = {
  run = function()
    require('loopkeeper.quickfix').open()
  end,
}

M.trust = {
  complete = function(words)
    return #words > 0 and {} or vim.tbl_map(function(task)
      return task.id
    end, status.tasks())
  end,
  run = function(call)
    target.task(call.text ~= '' and call.text or nil, function(client, task)
      require('loopkeeper.trust').open(client, task)
    end)
  end,
}

M.restart = {
  run = function()
    require('loopkeeper.client').restart()
  end,
}

return M
