-- The text of a diagnostic that does not fit into the window ends in `…`; where only a mark would fit there is none.

local Project = require('project')
local Screen = require('screen')
local support = require('support')

local function start(width, lua)
  local task =
    '# Three letters in a title of some length\n\nWrite.\n\n## Done when\n\n- B says hello: `$ grep hello b.txt`\n'
  local project = Project.new({ task = task, name = 'work' .. width })
  local screen = Screen.start({
    folder = project.folder,
    file = 'PROMPT.md',
    server = project.server,
    width = width,
    lua = lua,
  })
  screen:wait('Start loop')
  screen:wait('needs trust')
  return screen
end

--- The row of the title, with the text of its diagnostic.
local row = '# Three letters[^\n]*■ 2 commands'

local function is_shortened(screen)
  screen:wait(row .. '[^\n]*…')
end

local function fits()
  local wide = start(150)
  wide:wait(row .. ' need your trust before anything runs%.')
  wide:ex('qall')
  local narrow = start(vim.fn.has('nvim-0.12') == 1 and 75 or 105)
  is_shortened(narrow)
  narrow:ex('qall')
  local tiny = start(52)
  -- Long enough for a mark to appear.
  vim.wait(500)
  support.same(nil, tiny:text():match('# Three letters[^\n]*■'), 'a mark without a text')
  tiny:ex('qall')
end

return {
  run = fits,

  -- Neovim's own text is cut off.
  control_fails = 'waited for: on the screen: # Three letters',
  control = function()
    is_shortened(start(75, "require('loopkeeper').setup({ repeat_diagnostics = true })"))
  end,
}
