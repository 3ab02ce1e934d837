//! Environment variables that are never passed to an agent or a check, even if a configuration names them.

/// Refused even if `[env] pass` names them or a wider pattern matches them.
const REFUSED_VARIABLES: &[&str] = &[
    // Our own: the caller adds what a loop's processes need.
    "LOOPKEEPER_*",
    // Nested agents would behave as children of the outer one.
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_CODE_TMPDIR",
    "CLAUDE_PROJECT_DIR",
    "CODEX_SANDBOX*",
    "CODEX_SESSION*",
    "CODEX_THREAD*",
    "CODEX_INTERNAL*",
    "CODEX_MANAGED*",
    "GEMINI_CLI*",
    "OPENCODE",
    "OPENCODE_SERVER*",
    "OPENCODE_CLIENT",
    "AGENT",
    // They select another repository than that of the work tree.
    "GIT_*",
    // Editors and their terminals.
    "VSCODE_*",
    "NVIM*",
    "VIM*",
    "MYVIMRC",
    "EMACS*",
    "INSIDE_EMACS",
    "ZED_*",
    "HELIX_*",
    "KATE_*",
    "JETBRAINS_*",
    "TERMINAL_EMULATOR",
    "TERM_PROGRAM*",
    "ELECTRON_*",
    "CHROME_DESKTOP",
    "TMUX*",
    "STY",
    // They inject code into every program.
    "LD_*",
    "DYLD_*",
    // The package manager that started us, not the one the project uses.
    "RUSTUP_TOOLCHAIN",
    "CARGO_MANIFEST_*",
    "CARGO_PKG_*",
    "npm_*",
    // They depend on the folder that the program starts in.
    "PWD",
    "OLDPWD",
    "SHLVL",
    "_",
];

/// Whether a variable is never passed. For a pattern: whether no variable that it matches would be.
pub fn is_never_passed(name: &str) -> bool {
    REFUSED_VARIABLES.iter().any(|pattern| names_match(pattern, name))
}

/// One `*` at the beginning or at the end matches anything, the empty text included.
pub fn names_match(pattern: &str, name: &str) -> bool {
    match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
        (Some(prefix), _) => name.starts_with(prefix),
        (None, Some(suffix)) => name.ends_with(suffix),
        (None, None) => name == pattern,
    }
}
