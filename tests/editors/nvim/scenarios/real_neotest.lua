-- The adapter for neotest, called as neotest calls it: positions, one and all checks, messages, outputs.

local Project = require('project')
local support = require('support')

local prelude = [[
  vim.opt.runtimepath:prepend(vim.env.RALPH_TEST_HERE .. '/neotest')
  -- Runs one position, or with nil the whole file, and keeps what neotest would show.
  function _G.test.neotest(path, criterion)
    _G.test.shown = nil
    require('nio').run(function()
      local adapter = require('neotest-loopkeeper')
      local tree = adapter.discover_positions(path)
      if criterion == 'folder' then
        local Tree = require('neotest.types').Tree
        local children = { { type = 'dir', id = vim.fs.dirname(path) } }
        for _, it in tree:iter() do
          table.insert(children, it)
        end
        tree = Tree.from_list(children, function(it) return it.id end)
      else
        tree = criterion and tree:get_key(path .. '::' .. criterion) or tree
      end
      local spec = adapter.build_spec({ tree = tree })
      local process = spec.strategy(spec, {})
      local code = process.result()
      local results = adapter.results(spec, { code = code, output = process.output() }, tree)
      _G.test.shown = { code = code, results = results, complete = process.is_complete() }
    end)
  end
  function _G.test.positions(path)
    _G.test.found = nil
    require('nio').run(function()
      local tree = require('neotest-loopkeeper').discover_positions(path)
      local all = {}
      for _, it in tree:iter() do
        table.insert(all, { it.type, it.name, it.range[1], it.id })
      end
      _G.test.found = all
    end)
  end
]]

local function start()
  local project = Project.new()
  local editor = project:open({ lua = prelude })
  local path = project.folder .. '/PROMPT.md'
  editor:lua('_G.test.positions(...)', path)
  local found = editor:wait('the positions', 'return _G.test.found')
  return project, editor, path, found
end

---@return table code and results by the name of the criterion
local function run(editor, path, found, criterion)
  editor:lua('_G.test.neotest(...)', path, criterion)
  local shown = editor:wait('the results', 'return _G.test.shown')
  local named = { code = shown.code }
  for _, it in ipairs(found) do
    named[it[2]] = shown.results[it[4]]
  end
  return named
end

local function id_of(found, name)
  for _, it in ipairs(found) do
    if it[2] == name then
      return it[4]:match('::(.+)$')
    end
  end
end

return {
  run = function()
    local project, editor, path, found = start()
    local rows = vim.tbl_map(function(it)
      return ('%s %s %d'):format(it[1], it[2], it[3])
    end, found)
    support.same({ 'file PROMPT.md 0', 'test A is there 6', 'test B says hello 7', 'test C is there 8' }, rows, 'rows')
    local adapter = "require('neotest-loopkeeper')"
    support.same(project.folder, editor:lua(('return %s.root(...)'):format(adapter), project.folder), 'root')
    support.same(vim.NIL, editor:lua(('return %s.root("/")'):format(adapter)), 'root of a folder without a task')
    local is_test = ('return %s.is_test_file(...)'):format(adapter)
    support.same(true, editor:lua(is_test, path), 'a task')
    support.same(false, editor:lua(is_test, project.folder .. '/loopkeeper.toml'), 'a configuration')
    support.same(false, editor:lua(is_test, project.folder .. '/README.md'), 'another document')
    support.same(false, editor:lua(('return %s.filter_dir("node_modules", "node_modules")'):format(adapter)), 'filter')

    -- Nothing runs before the commands are trusted, and the server asks.
    local refused = run(editor, path, found)
    support.contains(refused['B says hello'].errors[1].message, 'not trusted yet')
    support.same(1, refused.code, 'code')
    editor:wait_question('have not trusted')
    editor:answer('Trust and check')
    editor:wait(
      'the checks',
      [[
      return vim.iter(require('loopkeeper.status').tasks()):any(function(it) return (it.rounds or 0) > 0 end)
    ]]
    )

    project:file('b.txt', 'hello\n')
    local all = run(editor, path, found)
    support.same('passed', all['B says hello'].status, 'B')
    support.contains(support.read(all['B says hello'].output) or 'no output', 'hello')
    support.same('failed', all['A is there'].status, 'A')
    support.same({ { message = 'a.txt does not exist', line = 6 } }, all['A is there'].errors, 'errors of A')
    support.same('A is there: a.txt does not exist', all['A is there'].short, 'short output')
    support.same('failed', all['C is there'].status, 'C')

    project:file('c.txt', 'c\n')
    local one = run(editor, path, found, id_of(found, 'C is there'))
    support.same({ code = 0, status = 'passed' }, { code = one.code, status = one['C is there'].status }, 'C alone')
    support.same(nil, one['A is there'], 'a result of a check that did not run')
    project:file('a.txt', 'a\n')
    local folder = run(editor, path, found, 'folder')
    support.same({ 0, 'passed' }, { folder.code, folder['A is there'].status }, 'all tasks of a folder')
  end,

  -- A folder that is not trusted has no result.
  control_fails = 'waited for: the check',
  control = function()
    local _, editor, path, found = start()
    run(editor, path, found)
    editor:wait_question('have not trusted')
    editor:answer('Not now')
    editor:wait(
      'the checks',
      [[
      return vim.iter(require('loopkeeper.status').tasks()):any(function(it) return (it.rounds or 0) > 0 end)
    ]]
    )
  end,
}
