-- Decides which files the server is attached to, and for which root it is started. By names only, theirs and those of
-- the files beside them; the server reads the content.

local M = {}

local names = {
  ['loopkeeper.toml'] = true,
  ['PROMPT.md'] = true,
  ['PROMPT_build.md'] = true,
  ['RALPH.md'] = true,
  ['RALPH_TASK.md'] = true,
  ['TASK.md'] = true,
  ['prd.json'] = true,
  ['feature_list.json'] = true,
  ['feature-list.json'] = true,
  ['fix_plan.md'] = true,
  ['@fix_plan.md'] = true,
  ['IMPLEMENTATION_PLAN.md'] = true,
  ['QUEUE.md'] = true,
  ['queue.md'] = true,
  ['ralph.yml'] = true,
  ['ralph.toml'] = true,
  ['.ralphrc'] = true,
  ['.ralph.toml'] = true,
}
local endings = {
  '%.ralph%.md$',
  '%.queue%.md$',
  '/%.claude/%.?ralph%-loop%.local%.md$',
  '/scripts/ralph/prompt%.md$',
  '/%.agents/tasks/prd[^/]*%.json$',
  '/%.ralph/tasks%.json$',
  '/%.ralph/queue%.jsonc?$',
  '/%.kiro/specs/[^/]+/tasks%.md$',
  '/%.ralph/tasks%.yml$',
  '/%.ralph/config%.jsonc$',
  '/%.ralph/run%-config%.json$',
  '/%.ralph/verification%.json$',
  '/%.ralph/agent/tasks%.jsonl$',
  '/checks/[^/]+/CHECK%.md$',
  '/%.ralph/ralph%-loop%.state%.json$',
  '/%.ralph/ralph%-tasks%.md$',
  '/%.ralphy/config%.yaml$',
  '/%.ralph%-tui/config%.toml$',
  '/%.ralphex/config$',
  '/bmalph/config%.json$',
  '/loopkeeper/config%.toml$',
}

--- Names that only the files of another tool make a task, relative to the file's folder.
local marked = {
  ['/PRD%.md$'] = { '.ralphy/config.yaml', '.ralph.toml', '.ralph/session.json', 'knowledge.md' },
  ['/docs/plans/[^/]+%.md$'] = { '../../.ralphex' },
  -- Its configuration can name another folder for plans.
  ['%.md$'] = { '../.ralphex/config', '../../.ralphex/config', '../../../.ralphex/config' },
  ['/prd/[^/]+%.md$'] = { '../.ralphy' },
  ['/%.beads/%l+%.jsonl$'] = {
    '../.ralph-tui/config.toml',
    '../PROMPT.md',
    '../prompt.md',
    '../RALPH.md',
    '../.ralph/PROMPT.md',
  },
  ['/tasks%.ya?ml$'] = { '.ralphy' },
  ['/tasks%.json$'] = { '.ralphy' },
  ['/PRD%.json$'] = { '.ralphy' },
  ['/PLAN%.md$'] = { 'PROMPT.md', 'PROMPT_build.md', 'RALPH.md' },
  ['/TODO%.md$'] = { 'PROMPT.md', 'PROMPT_build.md', 'RALPH.md' },
  ['/specs/[^/]+/tasks%.md$'] = { '../../.specify' },
  ['/CLAUDE%.md$'] = { 'prd.json' },
  ['/prompt%.md$'] = { 'prd.json' },
  ['/%.ralph/prd%.md$'] = { 'tasks.json' },
  ['/SYSTEM_PROMPT%.md$'] = { 'PROGRESS.md' },
  ['/PROGRESS%.md$'] = { 'SYSTEM_PROMPT.md' },
}

---@param path string
---@return boolean
local function is_marked(path)
  for name, markers in pairs(marked) do
    for _, marker in ipairs(path:find(name) and markers or {}) do
      if vim.uv.fs_stat(vim.fs.dirname(path) .. '/' .. marker) then
        return true
      end
    end
  end
  return false
end

--- Whether a file is a task, a plan or a configuration by its name.
---@param path string
---@return boolean
function M.is_ours(path)
  if path == '' or path:find('^%w+://') then
    return false
  end
  if names[vim.fs.basename(path)] then
    return true
  end
  for _, ending in ipairs(endings) do
    if path:find(ending) then
      return true
    end
  end
  if is_marked(path) then
    return true
  end
  for _, glob in ipairs(require('loopkeeper.config').get().files) do
    if vim.glob.to_lpeg(glob):match(path) then
      return true
    end
  end
  return false
end

--- The nearest folder above with a configuration, else with a repository, else the working directory.
---@param path string of a file, or '' for none
---@return string
function M.root(path)
  local cwd = vim.fn.getcwd()
  local from = path == '' and cwd or vim.fs.dirname(path)
  local root = vim.fs.root(from, 'loopkeeper.toml') or vim.fs.root(from, '.git')
  if root then
    return root
  end
  local below = vim.startswith(from .. '/', cwd:gsub('/$', '') .. '/')
  return below and cwd or from
end

return M
