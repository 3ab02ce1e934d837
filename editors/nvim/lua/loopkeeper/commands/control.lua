-- Commands to a running loop: `:Ralph stop`, `pause`, `resume`, `reset`, `steer`, `answer`, `new`, and `import` of a text
-- or of a loop that Claude Code's plugin runs.

local l10n = require('loopkeeper.l10n')
local target = require('loopkeeper.target')
local protocol = require('loopkeeper.protocol')
local status = require('loopkeeper.status')
local ui = require('loopkeeper.ui')

local t = l10n.t

local M = {}

local function open_loops(words)
  if #words > 0 then
    return {}
  end
  return vim.tbl_map(function(loop)
    return loop.id
  end, vim.tbl_filter(status.is_open, status.loops()))
end

---@param named? string
---@param command string
---@param more? table
local function send(named, command, more)
  target.loop(named, true, function(client, loop)
    local argument = vim.tbl_extend('force', { loopId = loop.id }, more or {})
    require('loopkeeper.requests').send(client, command, argument)
  end)
end

M.stop = {
  bang = true,
  complete = open_loops,
  run = function(call)
    local function ours()
      send(call.words[1], protocol.commands.stop, { now = call.bang })
    end
    if call.words[1] or vim.iter(status.loops()):any(status.is_open) then
      return ours()
    end
    target.foreign(function(client, foreign)
      require('loopkeeper.requests').send(client, protocol.commands.stop, { loopId = foreign.uri })
    end, ours)
  end,
}

local sources = { 'clipboard', 'selection' }

M.import = {
  complete = function(words)
    return #words > 0 and {} or sources
  end,
  run = function(call)
    if vim.list_contains(sources, call.words[1]) then
      return require('loopkeeper.import').text(call.words[1])
    end
    target.foreign(function(client, foreign)
      require('loopkeeper.requests').send(client, protocol.commands.import, { file = foreign.uri })
    end, function()
      ui.error(t("no loop of Claude Code's plugin is running here"))
    end)
  end,
}

local kinds = { ['--code'] = 'code', ['--writing'] = 'writing', ['--research'] = 'research' }
local results = {
  sentence = l10n.later('As the sentence says: code, a text or a report'),
  code = l10n.later("Code: tests, the project's own checks, documentation"),
  writing = l10n.later('Writing: length, sections, links, a judge'),
  research = l10n.later('Research: sources, sections of the report, a judge'),
}

---@param sentence? string
---@param kind? string
local function new_task(sentence, kind)
  if not sentence or vim.trim(sentence) == '' then
    return
  end
  local client_module = require('loopkeeper.client')
  local client = client_module.current()
  if client then
    local folder = vim.uri_from_fname(client_module.root(client))
    local argument = { folder = folder, sentence = sentence, kind = kind }
    require('loopkeeper.requests').send(client, protocol.commands.newTask, argument, require('loopkeeper.import').show)
  end
end

M.new = {
  complete = function(words)
    return #words > 0 and {} or { '--code', '--research', '--writing' }
  end,
  run = function(call)
    local kind = kinds[call.words[1]]
    local sentence = kind and call.text:gsub('^%S+%s*', '') or call.text
    if sentence ~= '' then
      return new_task(sentence, kind)
    end
    vim.ui.input({ prompt = t('What should be done, in one sentence: ') }, function(text)
      if kind or not text or vim.trim(text) == '' then
        return new_task(text, kind)
      end
      ui.select({ 'sentence', 'code', 'writing', 'research' }, t('What does the new task produce? '), function(it)
        return t(results[it])
      end, function(it)
        new_task(text, it ~= 'sentence' and it or nil)
      end)
    end)
  end,
}

M.pause = {
  complete = open_loops,
  run = function(call)
    send(call.words[1], protocol.commands.pause)
  end,
}

M.resume = {
  complete = function(words)
    local loops = open_loops(words)
    return vim.list_contains(words, 'anyway') and loops or vim.list_extend({ 'anyway' }, loops)
  end,
  run = function(call)
    local anyway = vim.list_contains(call.words, 'anyway')
    local named = vim.iter(call.words):find(function(word)
      return word ~= 'anyway'
    end)
    send(named, protocol.commands.resume, anyway and { anyway = true } or nil)
  end,
}

M.reset = {
  complete = open_loops,
  run = function(call)
    send(call.words[1], protocol.commands.resetBreaker)
  end,
}

M.answer = {
  run = function(call)
    local text = call.text ~= '' and call.text or nil
    target.loop(nil, true, function(client, loop)
      require('loopkeeper.questions').answer(client, { loopId = loop.id, text = text })
    end)
  end,
}

M.steer = {
  run = function(call)
    if call.text ~= '' then
      send(nil, protocol.commands.steer, { text = call.text })
      return
    end
    vim.ui.input({ prompt = t('Tell the agent: ') }, function(text)
      if text and text ~= '' then
        send(nil, protocol.commands.steer, { text = text })
      end
    end)
  end,
}

return M
