-- Loops of the terminal and of the editor are equivalent: each side sees and steers the other's.

local Project = require('project')
local support = require('support')

local function start()
  local project = Project.new()
  return project, project:open()
end

local function succeeds(project, arguments)
  local result = project:cli(arguments)
  if result.code ~= 0 then
    error(table.concat(arguments, ' ') .. ' failed: ' .. result.stderr, 0)
  end
end

return {
  run = function()
    local project, editor = start()
    succeeds(project, { 'run', '--detach', '--trust' })
    editor:wait_statusline('Ralph 1/9 · 0/3')
    project:wait_agent(1, editor)
    editor:wait_statusline('^Ralph 1/9')
    support.same(true, #project.keepers() > 0, 'whether a keeper is found')
    editor:ex('Ralph stop!')
    editor:wait_statusline('stopped at 1/9')
    support.same('done', project:loops()[1].state, 'the loop in the terminal')

    project.wait_free()
    project.next = 2
    editor:ex('Ralph! start')
    project:wait_agent(2, editor)
    succeeds(project, { 'pause' })
    project:agent_does('echo a > a.txt')
    editor:wait_statusline('Ralph paused 1/9')
    succeeds(project, { 'steer', 'latest', 'from the terminal' })
    succeeds(project, { 'resume' })
    project:wait_agent(3, editor)
    support.contains(support.read(project.control .. '/prompt-3'), 'from the terminal')
    succeeds(project, { 'stop', '--now' })
    editor:wait_statusline('stopped at 2/9')
  end,

  -- A loop of another folder is not shown in this one.
  control_fails = 'waited for: statusline Ralph 1/9',
  control = function()
    local _, editor = start()
    local other = Project.new({ name = 'other' })
    succeeds(other, { 'run', '--detach', '--trust' })
    editor:wait_statusline('Ralph 1/9')
  end,
}
