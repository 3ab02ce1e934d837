//! Catalog of the known agents: how to install each one, and which environment variables and files indicate a login.
//! Lists only their names, and one word to search for in a file that also exists without a login.

use loopkeeper_text::language::translate;
use loopkeeper_text::tr_later;

/// An agent that loopkeeper can detect.
#[derive(Debug, Clone, Copy)]
pub struct KnownAgent {
    /// The name in the configuration.
    pub name: &'static str,
    pub title: &'static str,
    pub program: &'static str,
    /// The install command.
    pub install: &'static str,
    log_in: &'static str,
    /// Any of these indicates an API key.
    pub variables: &'static [&'static str],
    pub files: &'static [LoginFile],
}

impl KnownAgent {
    /// The instruction for logging in, as the end of a sentence.
    pub fn log_in(&self) -> &'static str {
        translate(self.log_in)
    }
}

/// A file that a login creates.
#[derive(Debug, Clone, Copy)]
pub struct LoginFile {
    /// The variable that moves its folder, and its path below that folder.
    pub moved: Option<(&'static str, &'static str)>,
    /// Its path below the home directory.
    pub at_home: &'static str,
    /// A word that the file contains only after a login, for a file that also exists without one.
    pub holds: Option<&'static str>,
}

const fn file_at_home(at_home: &'static str) -> LoginFile {
    LoginFile { moved: None, at_home, holds: None }
}

const fn file_below_variable(
    variable: &'static str,
    below: &'static str,
    at_home: &'static str,
) -> LoginFile {
    LoginFile { moved: Some((variable, below)), at_home, holds: None }
}

const fn file_with_word(at_home: &'static str, word: &'static str) -> LoginFile {
    LoginFile { moved: None, at_home, holds: Some(word) }
}

pub const CATALOG: [KnownAgent; 8] = [
    KnownAgent {
        name: "claude",
        title: "Claude Code",
        program: "claude",
        install: "npm install -g @anthropic-ai/claude-code",
        log_in: tr_later!("start `claude` in a terminal and log in with `/login`"),
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ],
        files: &[
            file_below_variable("CLAUDE_CONFIG_DIR", ".credentials.json", ".claude/.credentials.json"),
            file_with_word(".claude.json", "\"oauthAccount\""),
        ],
    },
    KnownAgent {
        name: "codex",
        title: "Codex",
        program: "codex",
        install: "npm install -g @openai/codex",
        log_in: tr_later!("log in with `codex login`"),
        variables: &["CODEX_API_KEY", "OPENAI_API_KEY"],
        files: &[file_below_variable("CODEX_HOME", "auth.json", ".codex/auth.json")],
    },
    KnownAgent {
        name: "opencode",
        title: "OpenCode",
        program: "opencode",
        install: "npm install -g opencode-ai",
        log_in: tr_later!("log in with `opencode auth login`"),
        variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "OPENCODE_API_KEY"],
        files: &[file_below_variable(
            "XDG_DATA_HOME",
            "opencode/auth.json",
            ".local/share/opencode/auth.json",
        )],
    },
    KnownAgent {
        name: "gemini",
        title: "Gemini CLI",
        program: "gemini",
        install: "npm install -g @google/gemini-cli",
        log_in: tr_later!("start `gemini` in a terminal and log in with `/auth`"),
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"],
        files: &[file_at_home(".gemini/oauth_creds.json")],
    },
    KnownAgent {
        name: "qwen",
        title: "Qwen Code",
        program: "qwen",
        install: "npm install -g @qwen-code/qwen-code",
        log_in: tr_later!("start `qwen` in a terminal and log in with `/auth`"),
        variables: &["DASHSCOPE_API_KEY", "OPENAI_API_KEY"],
        files: &[file_at_home(".qwen/oauth_creds.json")],
    },
    KnownAgent {
        name: "copilot",
        title: "Copilot CLI",
        program: "copilot",
        install: "npm install -g @github/copilot",
        log_in: tr_later!("start `copilot` in a terminal and log in with `/login`"),
        variables: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
        // The login of the GitHub CLI also works.
        files: &[
            file_with_word(".copilot/config.json", "\"logged_in_users\""),
            file_with_word(".config/gh/hosts.yml", "user:"),
        ],
    },
    KnownAgent {
        name: "cursor",
        title: "Cursor CLI",
        program: "cursor-agent",
        install: "curl https://cursor.com/install -fsS | bash",
        log_in: tr_later!("log in with `cursor-agent login`"),
        variables: &["CURSOR_API_KEY"],
        files: &[file_below_variable("XDG_CONFIG_HOME", "cursor/auth.json", ".config/cursor/auth.json")],
    },
    KnownAgent {
        name: "amp",
        title: "Amp",
        program: "amp",
        install: "npm install -g @sourcegraph/amp",
        log_in: tr_later!("log in with `amp login`"),
        variables: &["AMP_API_KEY"],
        files: &[file_below_variable("XDG_DATA_HOME", "amp/secrets.json", ".local/share/amp/secrets.json")],
    },
];
