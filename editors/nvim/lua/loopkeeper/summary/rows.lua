-- The rows of the summary: loops by state, below each its facts, criteria and iterations, below each iteration the files
-- that it changed. Pure; the text of a row is made safe when it is drawn.

local placeholder = require('loopkeeper.summary.placeholder')
local loop_details = require('loopkeeper.loop_details')
local t = require('loopkeeper.l10n').t
local model = require('loopkeeper.summary.model')

local M = {}

--- So many iterations are shown at first, and with each "more".
M.page_size = 50

---@class loopkeeper.SummaryInput
---@field server "ready"|"starting"|"failed"
---@field trusted boolean
---@field roots { root: string, params: loopkeeper.StatusParams }[]
---@field expanded table<string, boolean> by key, where the user changed it
---@field histories table<string, loopkeeper.IterationsResult> by loop
---@field files table<string, loopkeeper.ChangedFile[]> by key of the iteration
---@field shown table<string, integer> how many iterations, by loop

---@class loopkeeper.SummaryRow
---@field key string identifies the row while the text changes
---@field kind "group"|"loop"|"task"|"criterion"|"iteration"|"file"|"more"|"text"
---@field depth integer
---@field chunks { [1]: string, [2]?: string }[] text and highlight
---@field expanded? boolean nil: nothing is below it
---@field root? string
---@field loop? loopkeeper.LoopStatus
---@field task? loopkeeper.TaskEntry
---@field criterion? loopkeeper.CriterionStatus
---@field iteration? integer
---@field file? loopkeeper.ChangedFile

---@class loopkeeper.SummaryRows
---@field input loopkeeper.SummaryInput
---@field rows loopkeeper.SummaryRow[]
local Rows = {}
Rows.__index = Rows

---@param row loopkeeper.SummaryRow
---@param above? loopkeeper.SummaryRow whose loop, task and root it belongs to
---@param default? "expanded"|"collapsed" of a row with others below it
---@return boolean? whether the rows below it are shown
function Rows:add(row, above, default)
  for _, name in ipairs({ 'root', 'loop', 'task', 'iteration' }) do
    row[name] = row[name] or (above and above[name])
  end
  row.depth = above and above.depth + 1 or 0
  if default then
    local chosen = self.input.expanded[row.key]
    row.expanded = chosen or (chosen == nil and default == 'expanded')
  end
  table.insert(self.rows, row)
  return row.expanded
end

---@param text string
---@param above? loopkeeper.SummaryRow
---@param highlight? string
function Rows:text(text, above, highlight)
  local key = ('%s text %s'):format(above and above.key or '', text)
  self:add({ key = key, kind = 'text', chunks = { { text, highlight or 'LoopkeeperDetail' } } }, above)
end

---@param items loopkeeper.CriterionStatus[]
---@param above loopkeeper.SummaryRow
function Rows:criteria(items, above)
  for _, item in ipairs(items) do
    local mark = model.marks[item.status] or { '·', 'LoopkeeperDetail' }
    local fact = item.status == nil and t(': not checked yet')
      or (item.status ~= 'pass' and item.fact and t(': {fact}', { fact = item.fact }))
    local chunks = { { mark[1] .. ' ', item.stale and 'LoopkeeperStale' or mark[2] }, { item.name } }
    table.insert(chunks, fact and { fact, 'LoopkeeperDetail' } or nil)
    table.insert(chunks, item.stale and { t(', files changed since'), 'LoopkeeperDetail' } or nil)
    self:add({ key = above.key .. ' ' .. item.id, kind = 'criterion', chunks = chunks, criterion = item }, above)
  end
end

local kinds = {
  added = { '+ ', 'LoopkeeperAdded' },
  changed = { '~ ', 'LoopkeeperChanged' },
  removed = { '- ', 'LoopkeeperRemoved' },
}

---@param above loopkeeper.SummaryRow
function Rows:changed_files(above)
  local files = self.input.files[above.key]
  for _, file in ipairs(files or {}) do
    local chunks = { kinds[file.kind] or { '' }, { file.path, 'LoopkeeperFile' } }
    self:add({ key = above.key .. ' ' .. file.path, kind = 'file', chunks = chunks, file = file }, above)
  end
  if not files or #files == 0 then
    self:text(files and t('no file changed') or t('reading the changes …'), above)
  end
end

---@param entry loopkeeper.IterationEntry
---@param history loopkeeper.IterationsResult
---@return { [1]: string, [2]?: string }[]
local function iteration_chunks(entry, history)
  local turned, broke = model.changes_of(history, entry.iteration)
  local chunks = { { t('Iteration {number}', { number = entry.iteration }) } }
  local function part(text, highlight)
    table.insert(chunks, { ' · ', 'LoopkeeperDetail' })
    table.insert(chunks, { text, highlight or 'LoopkeeperDetail' })
  end
  if not entry.summary then
    part(t('at work'), 'LoopkeeperWorking')
  end
  if entry.takenBack then
    part(t('rolled back'))
  end
  if #turned > 0 then
    part('✓ ' .. table.concat(turned, t(', ')), 'LoopkeeperPass')
  end
  if #broke > 0 then
    part('✗ ' .. table.concat(broke, t(', ')), 'LoopkeeperFail')
  end
  for _, text in ipairs(vim.list_extend({ loop_details.changes(entry) }, model.cost(entry.costMicros))) do
    part(text)
  end
  return chunks
end

--- Newest first. The baseline is not an iteration.
---@param above loopkeeper.SummaryRow
function Rows:iterations(above)
  local loop = above.loop
  local history = loop and self.input.histories[loop.id]
  if not loop or not history then
    return self:text(t('reading the iterations …'), above)
  end
  local limit, count = self.input.shown[loop.id] or M.page_size, 0
  for entry in vim.iter(history.iterations):rev() do
    count = count + (entry.iteration > 0 and 1 or 0)
    if entry.iteration > 0 and count <= limit then
      local row = { key = ('%s %d'):format(above.key, entry.iteration), kind = 'iteration' }
      row.iteration, row.chunks = entry.iteration, iteration_chunks(entry, history)
      -- The changes of a running iteration are known when it ends.
      local expandable = entry.summary ~= nil or not model.is_open(loop)
      if self:add(row, above, expandable and 'collapsed' or nil) then
        self:changed_files(row)
      end
    end
  end
  if count > limit then
    local text = t('show more iterations ({count})', { count = count - limit })
    self:add({ key = above.key .. ' more', kind = 'more', chunks = { { text, 'LoopkeeperKey' } } }, above)
  elseif count == 0 then
    self:text(t('no iteration yet'), above)
  end
end

---@param loop loopkeeper.LoopStatus
---@return { [1]: string, [2]?: string }[]
function Rows:loop_chunks(loop, root)
  local word, highlight = model.state_of(loop)
  local counts = { t('{passed} of {total}', { passed = loop.criteria.passed, total = loop.criteria.total }) }
  vim.list_extend(counts, model.cost(loop.spent.costMicros))
  if #self.input.roots > 1 then
    table.insert(counts, vim.fs.basename(root))
  end
  return {
    { loop.task.title, 'LoopkeeperTitle' },
    { ' · ', 'LoopkeeperDetail' },
    { word, highlight },
    { ' · ' .. table.concat(counts, ' · '), 'LoopkeeperDetail' },
  }
end

---@param entry { root: string, params: loopkeeper.StatusParams, loop: loopkeeper.LoopStatus }
---@param group loopkeeper.SummaryRow
function Rows:loop(entry, group)
  local loop = entry.loop
  local task = vim.iter(entry.params.tasks):find(function(it)
    return it.loopId == loop.id
  end)
  local row = { key = loop.id, kind = 'loop', loop = loop, root = entry.root, task = task }
  row.chunks = self:loop_chunks(loop, entry.root)
  if not self:add(row, group, model.is_open(loop) and 'expanded' or 'collapsed') then
    return
  end
  for _, text in ipairs(model.facts_of(loop)) do
    self:text(text, row)
  end
  self:criteria(task and task.criteria.items or loop.criteria.items, row)
  self:iterations(row)
end

function Rows:loops()
  for _, group in ipairs(model.groups) do
    local entries = {}
    for _, it in ipairs(self.input.roots) do
      for _, loop in ipairs(it.params.loops) do
        if model.group_of(loop) == group.id then
          table.insert(entries, { root = it.root, params = it.params, loop = loop })
        end
      end
    end
    local chunks = { { t(group.title), group.highlight }, { (' %d'):format(#entries), 'LoopkeeperDetail' } }
    local row = { key = group.id, kind = 'group', chunks = chunks }
    if #entries > 0 and self:add(row, nil, 'expanded') then
      for _, entry in ipairs(entries) do
        self:loop(entry, row)
      end
    end
  end
end

---@param task loopkeeper.TaskEntry
---@param root string
---@param group loopkeeper.SummaryRow
function Rows:task(task, root, group)
  local state = task.checking and t('checking') or task.criteria.summary or t('no criteria')
  local place = #self.input.roots > 1 and ('%s · %s'):format(task.id, vim.fs.basename(root)) or task.id
  local row = { key = root .. ' ' .. task.id, kind = 'task', task = task, root = root }
  row.chunks = { { task.title, 'LoopkeeperTitle' }, { (' · %s · %s'):format(state, place), 'LoopkeeperDetail' } }
  if not self:add(row, group, 'expanded') then
    return
  end
  if task.unknownCommands > 0 then
    local text = task.unknownCommands == 1 and t('1 command is not trusted yet: t shows them')
      or t('{count} commands are not trusted yet: t shows them', { count = task.unknownCommands })
    self:text(text, row, 'LoopkeeperNeedsYou')
  end
  self:criteria(task.criteria.items, row)
end

--- Tasks whose last loop is not listed.
function Rows:tasks()
  local group
  for _, it in ipairs(self.input.roots) do
    local listed = {}
    for _, loop in ipairs(it.params.loops) do
      listed[loop.id] = true
    end
    for _, task in ipairs(it.params.tasks) do
      if not (task.loopId and listed[task.loopId]) then
        if not group then
          group = { key = 'idle', kind = 'group', chunks = { { t('Not started'), 'LoopkeeperIdle' } } }
          self:add(group, nil, 'expanded')
        end
        if group.expanded then
          self:task(task, it.root, group)
        end
      end
    end
  end
end

function Rows:foreign()
  for _, it in ipairs(self.input.roots) do
    for _, foreign in ipairs(it.params.foreign or {}) do
      for _, line in ipairs(loop_details.of_foreign(foreign)) do
        self:text(line)
      end
    end
  end
end

---@param input loopkeeper.SummaryInput
---@return loopkeeper.SummaryRow[]
function M.of(input)
  local self = setmetatable({ input = input, rows = {} }, Rows)
  for _, line in ipairs(placeholder.before(input)) do
    self:text(line, nil, 'LoopkeeperNeedsYou')
  end
  self:foreign()
  self:loops()
  self:tasks()
  for _, line in ipairs(placeholder.after(input)) do
    self:text(line)
  end
  return self.rows
end

return M
