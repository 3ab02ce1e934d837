-- `:checkhealth loopkeeper`: checks the requirements of the plugin.

local M = {}

local agents = { 'claude', 'codex', 'opencode', 'gemini' }

local function check_neovim()
  if vim.fn.has('nvim-0.10') == 1 then
    vim.health.ok('Neovim ' .. tostring(vim.version()))
  else
    vim.health.error('Neovim 0.10 or newer is needed')
  end
end

local function check_options()
  local problems = require('loopkeeper.config').problems()
  for _, problem in ipairs(problems) do
    vim.health.error(problem, 'See `:help loopkeeper-options`.')
  end
  if #problems == 0 then
    vim.health.ok('options are well-formed')
  end
end

local function check_server()
  local command = require('loopkeeper.client').command()
  local path = vim.fn.exepath(command[1])
  if path == '' then
    vim.health.error(('the server `%s` cannot be run'):format(command[1]), {
      'Put `loopkeeper` on your PATH, or',
      "name it: vim.g.loopkeeper = { server = '/path/to/loopkeeper' }",
    })
    return
  end
  local ok, process = pcall(vim.system, { path, '--version' }, { text = true, timeout = 10000 })
  local result = ok and process:wait() or { code = -1 }
  if result.code == 0 then
    vim.health.ok(('%s is %s'):format(path, vim.trim(result.stdout)))
  else
    vim.health.error(('%s does not report its version'):format(path), 'Is it the right program?')
  end
end

--- Whether an open project defines an agent.
---@return boolean
local function describes_agents()
  for _, client in ipairs(require('loopkeeper.client').all()) do
    local file = io.open(require('loopkeeper.client').root(client) .. '/loopkeeper.toml', 'rb')
    local text = file and file:read('*a') or ''
    if file then
      file:close()
    end
    if ('\n' .. text):find('\n%s*%[agents%.') then
      return true
    end
  end
  return false
end

local function check_programs()
  if vim.fn.executable('git') == 1 then
    vim.health.ok('git was found')
  else
    vim.health.warn('git is not on PATH', 'Checks such as `clean` need it.')
  end
  local found = vim.tbl_filter(function(agent)
    return vim.fn.executable(agent) == 1
  end, agents)
  if #found > 0 then
    vim.health.ok('agents on PATH: ' .. table.concat(found, ', '))
  elseif describes_agents() then
    vim.health.ok('loopkeeper.toml describes an agent; none of these is on PATH: ' .. table.concat(agents, ', '))
  else
    vim.health.warn('no known agent is on PATH: ' .. table.concat(agents, ', '), {
      'Install one, or describe your own under `[agents]` in loopkeeper.toml.',
    })
  end
end

local function check_clients()
  local client_module, status = require('loopkeeper.client'), require('loopkeeper.status')
  local clients = client_module.all()
  if #clients == 0 then
    vim.health.info('no server runs: it starts with the first task, plan or configuration that is opened')
  end
  for _, client in ipairs(clients) do
    local params = status.of(client)
    local root = client_module.root(client)
    if not params then
      vim.health.warn(('the server for %s has sent nothing yet'):format(root))
    elseif params.health ~= 'ok' then
      vim.health.warn(('%s: %s'):format(root, params.message or params.health))
    else
      local function counted(count, noun)
        return ('%d %s%s'):format(count, noun, count == 1 and '' or 's')
      end
      local tasks, loops = counted(#params.tasks, 'task'), counted(#params.loops, 'loop')
      vim.health.ok(('the server for %s: %s, %s'):format(root, tasks, loops))
    end
  end
  vim.health.info('messages of the server: ' .. vim.lsp.get_log_path())
end

function M.check()
  vim.health.start('loopkeeper')
  check_neovim()
  check_options()
  check_server()
  check_programs()
  check_clients()
end

return M
