-- Neovim's Lua: `vim` is the only global.
std = 'luajit'
read_globals = { 'vim' }
globals = { 'vim.g', 'vim.bo', 'vim.wo', 'vim.b', 'vim.o', 'vim.ui', 'vim.env', 'vim.notify', 'vim.diagnostic' }
max_line_length = 120
-- Types are written on one line.
max_comment_line_length = 140
-- A translation is found by its whole text.
files['**/l10n/*.lua'] = { max_line_length = false }
