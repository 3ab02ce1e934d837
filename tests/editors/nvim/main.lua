-- Runs one scenario, as `nvim -l`: `run` must pass, or with RALPH_TEST_CONTROL its `control` must fail with a message
-- that begins like `control_fails`.

package.path = vim.env.RALPH_TEST_HERE .. '/?.lua;' .. package.path
local support = require('support')
local scenario = dofile(vim.env.RALPH_TEST_HERE .. '/scenarios/' .. vim.env.RALPH_TEST_NAME .. '.lua')

local control = vim.env.RALPH_TEST_CONTROL == '1'
support.failure = control and assert(scenario.control_fails) or scenario.control_fails
support.in_vain_ms = control and assert(tonumber(vim.env.RALPH_TEST_IN_VAIN_MS)) or nil
local ok, problem = xpcall(control and scenario.control or scenario.run, function(problem)
  -- An error without a location is a failed expectation; any other is a bug of the scenario.
  local text = tostring(problem)
  return text:find('^[^\n]*%.lua:%d+:') and { fault = debug.traceback(text) } or { text = text }
end)
support.clean_up()

if ok then
  -- The runner derives from it how long the control waits.
  io.stdout:write(not control and ('needed %d ms\n'):format(support.needed_ms) or '')
  io.stdout:write(control and 'the control passed: what it breaks is not noticed\n' or '')
  os.exit(control and 1 or 0)
elseif problem.fault then
  io.stdout:write(problem.fault, '\n')
  os.exit(2)
end
if control and not vim.startswith(problem.text, support.failure) then
  io.stdout:write(('the control failed for another reason than %q:\n'):format(support.failure), problem.text, '\n')
  os.exit(1)
end
io.stdout:write(problem.text, '\n')
os.exit(control and 0 or 1)
