-- The part of nvim-nio that the adapter uses, as its documentation describes it: tasks are coroutines. neotest and
-- nvim-nio are in no package registry that the tests install from.

local M = { control = {} }

---@param callback fun(resume: fun())
local function suspend(callback)
  local running = assert(coroutine.running(), 'called outside of a task')
  callback(function()
    vim.schedule(function()
      local ok, problem = coroutine.resume(running)
      if not ok then
        error(problem, 0)
      end
    end)
  end)
  coroutine.yield()
end

--- Returns on the main loop, where functions of Neovim may be called.
function M.scheduler()
  suspend(function(resume)
    resume()
  end)
end

function M.control.future()
  local is_set, value, waiting = false, nil, {}
  return {
    is_set = function()
      return is_set
    end,
    set = function(new)
      assert(not is_set, 'set twice')
      is_set, value = true, new
      for _, resume in ipairs(waiting) do
        resume()
      end
    end,
    wait = function()
      if not is_set then
        suspend(function(resume)
          table.insert(waiting, resume)
        end)
      end
      return value
    end,
  }
end

---@param task fun()
function M.run(task)
  local ok, problem = coroutine.resume(coroutine.create(task))
  if not ok then
    error(problem, 0)
  end
end

return M
