-- Messages, and our own plain text buffers. Text from the server is only ever set as lines of a buffer or passed to
-- `vim.notify`, never to a command, an option or a file that Neovim would read modelines from.

local l10n = require('loopkeeper.l10n')

local t = l10n.t

local M = {}

local function notify(message, level)
  vim.notify(t('Ralph: {message}', { message = message }), level, { title = 'Ralph' })
end

function M.info(message)
  M.tell(message, vim.log.levels.INFO)
end

function M.warn(message)
  M.tell(message, vim.log.levels.WARN)
end

function M.error(message)
  M.tell(message, vim.log.levels.ERROR)
end

--- Shows the text of the statusline.
---@param text string empty: no task is known
function M.note(text)
  if text == '' then
    M.info(t('there is no task here. Hint: `:Ralph new` makes one from a sentence.'))
  elseif text == 'Ralph' then
    M.info(t('no loop running here. Hint: `:Ralph start`'))
  else
    vim.notify(text, vim.log.levels.INFO, { title = 'Ralph' })
  end
end

--- Whether Neovim's own code is called, which a user or a plugin may have replaced.
---@param called any
---@return boolean
function M.is_built_in(called)
  -- A user's replacement may be a callable table; built-in code is compiled in, or a file of the runtime.
  local source = type(called) == 'function' and debug.getinfo(called, 'S').source or '@'
  local runtime = vim.fs.normalize(vim.env.VIMRUNTIME or '') .. '/lua/vim/'
  local is_file = vim.startswith(source, '@') and not vim.startswith(source, '@vim/')
  return not is_file or vim.startswith(vim.fs.normalize(source:sub(2)), runtime)
end

--- Shows a message. Neovim's own `vim.notify` requires a key press after a message that does not fit into
--- one line, so there it is truncated, and a window shows all of it.
---@param message string
---@param level integer
---@param alert? loopkeeper.AlertParams the alert that the message belongs to
function M.tell(message, level, alert)
  local room = vim.v.echospace - vim.fn.strdisplaywidth(t('Ralph: {message}', { message = '' }))
  local line = message:gsub('%s+', ' ')
  if M.is_built_in(vim.notify) and vim.fn.strdisplaywidth(line) > room then
    local kept = math.max(room - 1, 0)
    while kept > 0 and vim.fn.strdisplaywidth(vim.fn.strcharpart(line, 0, kept)) > room - 1 do
      kept = kept - 1
    end
    message = vim.fn.strcharpart(line, 0, kept) .. '…'
    require('loopkeeper.float').show(M.plain(line), alert)
  end
  notify(message, level)
end

--- One line in which control and bidirectional characters are escaped, because file names may contain them.
---@param text string
---@return string
function M.plain(text)
  local function escape(character)
    return ('\\u{%x}'):format(vim.fn.char2nr(character))
  end
  text = text:gsub('%s+', ' '):gsub('[%z\1-\31\127]', escape)
  return (text:gsub('\226\128[\139-\143\168-\174]', escape):gsub('\226\129[\160-\175]', escape))
end

--- Calls `vim.ui.select` with items, each shown by `label`.
---@generic T
---@param items T[]
---@param prompt string
---@param label fun(item: T): string
---@param on_choice fun(item: T)
---@param on_cancel? fun() called when nothing is chosen
function M.select(items, prompt, label, on_choice, on_cancel)
  vim.ui.select(items, {
    prompt = prompt,
    kind = 'loopkeeper',
    format_item = function(item)
      return M.plain(label(item))
    end,
  }, function(item)
    if item ~= nil then
      on_choice(item)
    elseif on_cancel then
      on_cancel()
    end
  end)
end

---@param name string
---@return integer?
function M.buffer(name)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buffer) == name then
      return buffer
    end
  end
end

--- A buffer without a file that the user cannot change; `q` closes its window.
---@param name string
---@param filetype string
---@return integer
function M.scratch(name, filetype)
  local buffer = M.buffer(name)
  if buffer and vim.api.nvim_buf_is_loaded(buffer) then
    return buffer
  elseif buffer then
    vim.api.nvim_buf_delete(buffer, { force = true })
  end
  buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buffer, name)
  vim.bo[buffer].undolevels = -1
  vim.bo[buffer].modeline = false
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].filetype = filetype
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buffer, desc = l10n.desc(t('close')) })
  return buffer
end

--- Replaces the lines from `first` (counted from 0) up to but not including `last`.
---@param buffer integer
---@param first integer
---@param last integer -1: to the end
---@param lines string[]
function M.set_lines(buffer, first, last, lines)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, first, last, false, lines)
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].modified = false
end

---@param text string
---@return string[]
function M.lines(text)
  return vim.split((text:gsub('\r\n', '\n')), '\n', { plain = true })
end

---@param window integer
function M.set_text_options(window)
  -- For the buffer in it alone: another file in the same window has the user's own options.
  local options = vim.wo[window][0]
  options.number, options.relativenumber, options.signcolumn, options.foldcolumn = false, false, 'no', '0'
  options.spell, options.list = false, false
  options.wrap, options.linebreak, options.breakindent, options.breakindentopt = true, true, true, 'shift:2'
end

--- Shows a buffer in a window below all others, or where it is shown already.
---@param buffer integer
---@param height integer
---@param focus boolean
---@return integer
function M.show_below(buffer, height, focus)
  local window = vim.fn.bufwinid(buffer)
  if window == -1 then
    window = vim.api.nvim_open_win(buffer, focus, { split = 'below', win = -1, height = height })
    vim.wo[window].winfixheight = true
    M.set_text_options(window)
  elseif focus then
    vim.api.nvim_set_current_win(window)
  end
  return window
end

--- Shows a buffer of text below all other windows, as high as its lines need at that width, at most half the screen.
---@param buffer integer
function M.show_text_below(buffer)
  local most = math.floor(vim.o.lines / 2)
  M.show_below(buffer, math.min(vim.api.nvim_buf_line_count(buffer) + 1, most), true)
  M.grow(buffer)
end

--- Makes the window of a buffer as high as its lines need at that width, at most half the screen. Never lower.
---@param buffer integer
function M.grow(buffer)
  local window, most = vim.fn.bufwinid(buffer), math.floor(vim.o.lines / 2)
  if window == -1 then
    return
  end
  local bar = vim.wo[window].winbar == '' and 0 or 1
  local needed = vim.api.nvim_win_text_height(window, {}).all + bar
  if needed > vim.api.nvim_win_get_height(window) then
    vim.api.nvim_win_set_height(window, math.min(needed, most))
  end
end

--- The text of a file that the server names. Read directly, so that nothing in it is executed.
---@param uri? string
---@return string[]? lines, string? problem
function M.read(uri)
  if uri == nil then
    return {}
  end
  local path = vim.startswith(uri, 'file:') and vim.uri_to_fname(uri)
  local file = path and io.open(path, 'rb')
  if not file then
    return nil, t('cannot read {path}', { path = uri })
  end
  local text = file:read('*a')
  file:close()
  if text == '' then
    return {}
  end
  return M.lines((text:gsub('\n$', '')))
end

return M
