-- An adapter for neotest: documents of tasks are test files, their criteria are tests. The server runs the checks and
-- gives the positions and results, so that trust, timeouts and verdicts are the same as everywhere else.
--
--     require('neotest').setup({ adapters = { require('neotest-loopkeeper') } })

local checks = require('neotest-loopkeeper.checks')
local files = require('loopkeeper.files')
local results = require('neotest-loopkeeper.results')

---@class loopkeeper.NeotestAdapter
local M = { name = 'neotest-loopkeeper' }

-- Files beside which a task is expected; a repository without one is not searched.
local markers = { 'loopkeeper.toml', 'PROMPT.md', 'RALPH.md', 'RALPH_TASK.md', 'prd.json', '.ralph', '.ralphrc' }
local ignored =
  { ['.git'] = true, node_modules = true, target = true, build = true, dist = true, vendor = true, venv = true }
-- The server finds documents down to this depth.
local deepest = 6

---@param folder string
---@return string?
function M.root(folder)
  for _, marker in ipairs(markers) do
    local root = vim.fs.root(folder, marker)
    if root then
      return files.root(root .. '/' .. marker)
    end
  end
end

---@param name string
---@param relative string path from the root
---@return boolean
function M.filter_dir(name, relative)
  return not ignored[name] and select(2, relative:gsub('/', '')) < deepest
end

---@param path string
---@return boolean
function M.is_test_file(path)
  return files.is_ours(path) and (path:find('%.md$') or path:find('%.jsonc?$') or path:find('%.ya?ml$')) ~= nil
end

---@param path string
---@return neotest.Tree?
function M.discover_positions(path)
  local positions = results.positions(path, checks.tasks(path))
  if #positions < 2 then
    return nil
  end
  return require('neotest.types').Tree.from_list(positions, function(position)
    return position.id
  end)
end

--- One run for a criterion; for a file or a folder one for each task in it.
---@param arguments neotest.RunArgs
---@return table run specification
function M.build_spec(arguments)
  local is_test = arguments.tree:data().type == 'test'
  local context, known = { runs = {} }, {}
  for _, it in arguments.tree:iter() do
    local ours = it.loopkeeper
    if ours and not known[ours.task] then
      known[ours.task] = true
      local argument = { task = ours.task, criterion = is_test and ours.criterion or nil }
      table.insert(context.runs, { path = it.path, argument = argument })
    end
  end
  return {
    context = context,
    strategy = function()
      return checks.process(context)
    end,
  }
end

---@param spec table
---@param result { code: integer, output: string }
---@param tree neotest.Tree
---@return table<string, neotest.Result>
function M.results(spec, result, tree)
  local found = {}
  for _, position in tree:iter() do
    if position.loopkeeper then
      found[position.id] = results.of(position, spec.context, result.output)
    end
  end
  return found
end

-- As other adapters: `require('neotest-loopkeeper')({})`. Options are those of the plugin.
return setmetatable(M, {
  __call = function()
    return M
  end,
})
