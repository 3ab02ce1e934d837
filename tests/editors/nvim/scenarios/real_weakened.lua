-- Tests that the agent weakened are reported at their place; one action restores them, and another accepts them.

local Project = require('project')
local support = require('support')

local task = '# Sum\n\nMake it so.\n\n## Done when\n\n- It is there: `exists done`\n'
local test = 'def test_sum():\n    assert 1 + 2 == 3\n'

local function start()
  local project = Project.new({ task = task })
  project:file('tests/test_sum.py', test)
  local editor = project:open()
  editor:trust()
  return project, editor
end

--- A loop whose agent does the work and removes the test.
local function weakens(project, editor)
  editor:ex('Ralph! start')
  project:agent_does('rm tests/test_sum.py; touch done')
  project:agent_does('true')
  editor:wait_statusline('Ralph needs you')
  support.wait('what was weakened', function()
    local found = editor:diagnostic('PROMPT.md', 'weakened')
    return found and found.message:find('tests/test_sum.py lost 1 test', 1, true)
  end, function()
    return editor:describe()
  end)
end

--- Chooses the action whose title begins like this, at the diagnostic.
local function act(editor, title)
  editor:edit('PROMPT.md')
  editor:lua(
    [[
      local title = ...
      for _, it in ipairs(vim.diagnostic.get(0)) do
        if it.code == 'weakened' then
          vim.api.nvim_win_set_cursor(0, { it.lnum + 1, it.col })
        end
      end
      vim.lsp.buf.code_action({
        apply = true,
        filter = function(action) return vim.startswith(action.title, title) end,
      })
    ]],
    title
  )
end

local function is_over(project, editor)
  editor:wait_statusline('Ralph done')
  support.wait('the remark to go', function()
    return not editor:diagnostic('PROMPT.md', 'weakened')
  end)
  project.wait_free()
end

return {
  run = function()
    local project, editor = start()
    weakens(project, editor)
    act(editor, 'Restore')
    support.wait('the test to be back', function()
      return project:read('tests/test_sum.py') == test
    end)
    editor:ex('Ralph resume')
    is_over(project, editor)

    vim.uv.fs_unlink(project.folder .. '/done')
    weakens(project, editor)
    act(editor, 'Accept')
    is_over(project, editor)
    support.same(nil, project:read('tests/test_sum.py'), 'the test that was given up')
  end,

  -- Nothing was weakened, so nothing is reported.
  control_fails = 'waited for: what was weakened',
  control = function()
    local project, editor = start()
    editor:ex('Ralph! start')
    project:agent_does('touch done')
    editor:wait_statusline('Ralph done')
    act(editor, 'Restore')
    support.wait('what was weakened', function()
      return editor:diagnostic('PROMPT.md', 'weakened')
    end)
  end,
}
