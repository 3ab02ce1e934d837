-- Running checks are cancelled, by `:Ralph check cancel` and by stopping a run of neotest: their processes end, and the
-- next checks run.

local Project = require('project')
local support = require('support')

local task = [[
# Letters

Write a letter.

## Done when

- A is there: `exists a.txt`
- It ends: `$ touch begun; until [ -e go ]; do touch beat; sleep 0.1; done`
]]

local prelude = [[
  vim.opt.runtimepath:prepend(vim.env.RALPH_TEST_HERE .. '/neotest')
  function _G.test.start_neotest(path)
    require('nio').run(function()
      local adapter = require('neotest-loopkeeper')
      local tree = adapter.discover_positions(path)
      local spec = adapter.build_spec({ tree = tree })
      _G.test.process = spec.strategy(spec, {})
      local code = _G.test.process.result()
      local output = _G.test.process.output()
      _G.test.results = adapter.results(spec, { code = code, output = output }, tree)
    end)
  end
]]

local function start()
  local project = Project.new({ task = task })
  local editor = project:open({ lua = prelude })
  editor:trust()
  return project, editor
end

local function wait_begun(project)
  support.wait('the check to run', function()
    return project:read('begun')
  end)
end

--- The check has ended when it leaves no mark any more.
local function wait_ended(project)
  support.wait('the check to end', function()
    vim.uv.fs_unlink(project.folder .. '/beat')
    vim.wait(500)
    return project:read('beat') == nil
  end)
  vim.uv.fs_unlink(project.folder .. '/begun')
end

local function cancels(cancel)
  local project, editor = start()
  editor:ex('Ralph check cancel')
  editor:wait_message('No checks of this task are running.')
  editor:ex('Ralph check')
  wait_begun(project)
  cancel(editor)
  wait_ended(project)
  return project, editor
end

local function start_neotest(editor, project)
  editor:lua('_G.test.process, _G.test.results = nil, nil')
  editor:lua('_G.test.start_neotest(...)', project.folder .. '/PROMPT.md')
  editor:wait('the process', 'return _G.test.process ~= nil or nil')
end

local function stop_neotest(editor)
  editor:lua('_G.test.process.stop()')
  local results = editor:wait('the results', 'return _G.test.results')
  support.contains(vim.inspect(results), 'The checks were cancelled.')
end

--- Checks that wait for those of a terminal are cancelled at once, and those of the terminal go on.
local function cancels_waiting(project, editor)
  local terminal = vim.system({ project.server, 'check' }, { cwd = project.folder })
  wait_begun(project)
  start_neotest(editor, project)
  vim.wait(500)
  stop_neotest(editor)
  support.same(false, terminal:is_closing(), 'the end of the checks in the terminal')
  project:file('go', '')
  terminal:wait()
  vim.uv.fs_unlink(project.folder .. '/begun')
  vim.wait(1500)
  support.same(nil, project:read('begun'), 'checks after those of the terminal')
  vim.uv.fs_unlink(project.folder .. '/go')
end

return {
  run = function()
    local project, editor = cancels(function(editor)
      editor:ex('Ralph check cancel')
      editor:wait_message('The checks are cancelled.')
    end)

    start_neotest(editor, project)
    wait_begun(project)
    stop_neotest(editor)
    wait_ended(project)
    cancels_waiting(project, editor)

    project:file('go', '')
    editor:ex('Ralph check')
    editor:wait(
      'the result of the next checks',
      [[
      return vim.iter(require('loopkeeper.status').tasks()):any(function(it) return it.criteria.passed == 1 end) or nil
    ]]
    )
  end,

  -- Other checks continue.
  control_fails = 'waited for: the check to end',
  control = function()
    cancels(function() end)
  end,
}
