-- `:checkhealth loopkeeper`: checks the requirements of the plugin.

local l10n = require('loopkeeper.l10n')

local t = l10n.t

local M = {}

local agents = { 'claude', 'codex', 'opencode', 'gemini' }

local function check_neovim()
  if vim.fn.has('nvim-0.10') == 1 then
    vim.health.ok('Neovim ' .. tostring(vim.version()))
  else
    vim.health.error(t('Neovim 0.10 or newer is needed'))
  end
end

local function check_options()
  local problems = require('loopkeeper.config').problems()
  for _, problem in ipairs(problems) do
    vim.health.error(problem, t('See `:help loopkeeper-options`.'))
  end
  if #problems == 0 then
    vim.health.ok(t('options are well-formed'))
  end
end

local function check_server()
  local command = require('loopkeeper.client').command()
  local path = vim.fn.exepath(command[1])
  if path == '' then
    vim.health.error(t('the server `{program}` cannot be run', { program = command[1] }), {
      t('Put `loopkeeper` on your PATH, or'),
      t("name it: vim.g.loopkeeper = { server = '/path/to/loopkeeper' }"),
    })
    return
  end
  local ok, process = pcall(vim.system, { path, '--version' }, { text = true, timeout = 10000 })
  local result = ok and process:wait() or { code = -1 }
  if result.code == 0 then
    vim.health.ok(t('{path} is {version}', { path = path, version = vim.trim(result.stdout) }))
  else
    vim.health.error(t('{path} does not report its version', { path = path }), t('Is it the right program?'))
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
    vim.health.ok(t('git was found'))
  else
    vim.health.warn(t('git is not on PATH'), t('Checks such as `clean` need it.'))
  end
  local found = vim.tbl_filter(function(agent)
    return vim.fn.executable(agent) == 1
  end, agents)
  if #found > 0 then
    vim.health.ok(t('agents on PATH: {agents}', { agents = l10n.list(found) }))
  elseif describes_agents() then
    vim.health.ok(
      t('loopkeeper.toml describes an agent; none of these is on PATH: {agents}', { agents = l10n.list(agents) })
    )
  else
    vim.health.warn(t('no known agent is on PATH: {agents}', { agents = l10n.list(agents) }), {
      t('Install one, or describe your own under `[agents]` in loopkeeper.toml.'),
    })
  end
end

local function check_clients()
  local client_module, status = require('loopkeeper.client'), require('loopkeeper.status')
  local clients = client_module.all()
  if #clients == 0 then
    vim.health.info(t('no server is running: it starts with the first task, plan or configuration that is opened'))
  end
  for _, client in ipairs(clients) do
    local params = status.of(client)
    local root = client_module.root(client)
    if not params then
      vim.health.warn(t('the server for {root} has sent nothing yet', { root = root }))
    elseif params.health ~= 'ok' then
      vim.health.warn(t('{name}: {text}', { name = root, text = params.message or params.health }))
    else
      local tasks = #params.tasks == 1 and t('1 task') or t('{count} tasks', { count = #params.tasks })
      local loops = #params.loops == 1 and t('1 loop') or t('{count} loops', { count = #params.loops })
      vim.health.ok(t('the server for {root}: {counts}', { root = root, counts = l10n.list({ tasks, loops }) }))
    end
  end
  vim.health.info(t('messages of the server: {path}', { path = vim.lsp.get_log_path() }))
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
