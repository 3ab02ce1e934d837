-- Helpers for scenarios: waiting for conditions, ending child processes, files. Scenarios do not depend on versions
-- or folders: the runner passes them in the environment.

local M = {}

M.limit_ms = tonumber(vim.env.RALPH_TEST_LIMIT_MS or '60000')
--- The wait that the control of the scenario makes fail, if it has one.
---@type string?
M.failure = nil
--- How long a control waits for what it breaks; nil if this is not one.
---@type integer?
M.in_vain_ms = nil
--- The longest that this scenario waited for what its control breaks.
M.needed_ms = 0
M.temp = assert(vim.env.RALPH_TEST_DIR, 'run by `tests/editors/nvim/run`')
M.plugin = assert(vim.env.RALPH_TEST_PLUGIN)
M.here = assert(vim.env.RALPH_TEST_HERE)

local cleanups = {}

---@param action fun()
function M.at_end(action)
  table.insert(cleanups, 1, action)
end

function M.clean_up()
  for _, action in ipairs(cleanups) do
    pcall(action)
  end
end

--- Waits until a condition holds and returns its value. `why` may describe the actual state.
---@generic T
---@param what string
---@param condition fun(): T?
---@param why? fun(): string
---@return T
function M.wait(what, condition, why)
  local waited = 'waited for: ' .. what
  local is_broken = M.failure and vim.startswith(waited, M.failure)
  local value
  local began = vim.uv.now()
  -- What a control breaks never happens, so a shorter wait suffices.
  vim.wait(is_broken and M.in_vain_ms or M.limit_ms, function()
    value = condition()
    return value ~= nil and value ~= false
  end, 20)
  vim.uv.update_time()
  if is_broken then
    M.needed_ms = math.max(M.needed_ms, vim.uv.now() - began)
  end
  if value == nil or value == false then
    error(waited .. (why and '\nthere is:\n' .. why() or ''), 0)
  end
  return value
end

---@param expected any
---@param found any
---@param what string
function M.same(expected, found, what)
  if not vim.deep_equal(expected, found) then
    error(('%s: expected %s, found %s'):format(what, vim.inspect(expected), vim.inspect(found)), 0)
  end
end

--- Waits until an unsaved buffer of this name contains a text; its file must not exist yet.
function M.unsaved_task(project, editor, name, part)
  M.wait('the task made of it', function()
    return (editor:buffer_text(name) or ''):find(part, 1, true)
  end, function()
    return editor:describe()
  end)
  M.same(nil, project:read(name), 'no file before it is written')
end

--- Writes the buffer and waits until its file contains a text.
function M.write_task(project, editor, name, part)
  editor:ex('write')
  M.wait('the file', function()
    return (project:read(name) or ''):find(part, 1, true)
  end, function()
    return editor:describe()
  end)
end

---@param text string
---@param part string
function M.contains(text, part)
  if not text:find(part, 1, true) then
    error(('expected %q in:\n%s'):format(part, text), 0)
  end
end

---@param path string
---@param text string
function M.write(path, text)
  vim.fn.mkdir(vim.fs.dirname(path), 'p')
  -- A process that waits for the file must never see half of it.
  local file = assert(io.open(path .. '.new', 'wb'))
  file:write(text)
  file:close()
  assert(vim.uv.fs_rename(path .. '.new', path))
end

---@param path string
---@return string? nil if the file does not exist
function M.read(path)
  local file = io.open(path, 'rb')
  local text = file and file:read('*a')
  if file then
    file:close()
  end
  return text
end

--- Processes with the word in their command line.
---@param word string
---@return integer[]
function M.processes(word)
  local found = {}
  for name in vim.fs.dir('/proc') do
    local line = name:match('^%d+$') and M.read('/proc/' .. name .. '/cmdline')
    if line and line:find(word, 1, true) then
      table.insert(found, tonumber(name))
    end
  end
  return found
end

return M
