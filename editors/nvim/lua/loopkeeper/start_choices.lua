-- The choices of the last start of each task, stored in Neovim's state folder. Other values come from the configuration.

local M = {}

---@class loopkeeper.StartChoice
---@field agent? string
---@field iterations? integer
---@field duration? string
---@field costUsd? number

---@class loopkeeper.StoredChoice
---@field uri string
---@field choice loopkeeper.StartChoice

local kinds = { agent = 'string', iterations = 'number', duration = 'string', costUsd = 'number' }
-- Choices of older tasks are dropped.
local most = 64

---@return string
local function path()
  return vim.fs.normalize(vim.fn.stdpath('state')) .. '/loopkeeper-start.json'
end

--- A file that is damaged, or of another version, is the same as none.
---@return loopkeeper.StoredChoice[] the last started one first
local function stored()
  local file = io.open(path(), 'rb')
  local text = file and file:read('*a') or ''
  if file then
    file:close()
  end
  local ok, decoded = pcall(vim.json.decode, text)
  local list = ok and type(decoded) == 'table' and vim.islist(decoded) and decoded or {}
  return vim.tbl_filter(function(it)
    return type(it) == 'table' and type(it.uri) == 'string' and type(it.choice) == 'table'
  end, list)
end

---@param uri string of a task
---@return loopkeeper.StartChoice
function M.of(uri)
  for _, it in ipairs(stored()) do
    if it.uri == uri then
      local choice = {}
      for key, kind in pairs(kinds) do
        choice[key] = type(it.choice[key]) == kind and it.choice[key] or nil
      end
      return choice
    end
  end
  return {}
end

--- The one of these tasks that was started last.
---@param uris string[]
---@return string?
function M.last(uris)
  for _, it in ipairs(stored()) do
    if vim.list_contains(uris, it.uri) then
      return it.uri
    end
  end
end

---@param uri string
---@param choice loopkeeper.StartChoice
function M.keep(uri, choice)
  local kept = { { uri = uri, choice = next(choice) and choice or vim.empty_dict() } }
  for _, it in ipairs(stored()) do
    if it.uri ~= uri and #kept < most then
      -- An empty table would be encoded as a list.
      table.insert(kept, { uri = it.uri, choice = next(it.choice) and it.choice or vim.empty_dict() })
    end
  end
  local target = path()
  local new = ('%s.%d'):format(target, vim.uv.os_getpid())
  pcall(vim.fn.mkdir, vim.fs.dirname(target), 'p')
  local file = io.open(new, 'wb')
  -- If the state folder cannot be written, only this choice is lost.
  if not file then
    return
  end
  file:write(vim.json.encode(kept))
  file:close()
  vim.uv.fs_rename(new, target)
end

---@param task string
---@param choice loopkeeper.StartChoice
---@return loopkeeper.StartPreviewParams
function M.argument(task, choice)
  local limits = { iterations = choice.iterations, duration = choice.duration, costUsd = choice.costUsd }
  return { task = task, agent = choice.agent, limits = next(limits) and limits or nil }
end

return M
