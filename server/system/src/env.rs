//! Filters the keeper's environment for agents and checks: an allow list of variable names.
//!
//! | passes | to |
//! |---|---|
//! | identity and location: `PATH HOME USER LOGNAME SHELL LANG LC_* TZ TMPDIR XDG_*` and the like | both |
//! | terminal and colours, `CI` | both |
//! | proxies and certificates | both |
//! | homes and caches of toolchains: `CARGO_HOME GOPATH JAVA_HOME NVM_DIR VIRTUAL_ENV` and the like | both |
//! | keys, endpoints and switches of agents and their providers, every `*_API_KEY` | agents |
//! | variables that `[env] pass` names, a trailing `*` stands for anything | both |
//! | `PYTHONDONTWRITEBYTECODE=1`: Python takes a cached module for the source that was changed within the same second | both |
//!
//! Never passed, even if named: variables of editors, git, nested agents, the dynamic linker, and our own.

use std::collections::BTreeMap;
use std::ffi::OsString;

use loopkeeper_core::settings::{is_never_passed, names_match as matches};

/// Our variable: the agent's session.
pub const SESSION: &str = "LOOPKEEPER_SESSION";
/// Our variable: set if the session is resumed.
pub const RESUMED: &str = "LOOPKEEPER_SESSION_RESUMED";
/// Our variable: the keeper's socket, for the hooks of its agent.
pub const SOCKET: &str = "LOOPKEEPER_SOCKET";

/// The recipient of the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvAudience {
    Agent,
    /// Needs no key of an agent's provider, and gets none.
    Check,
}

const SHARED_VARIABLES: &[&str] = &[
    // Identity and location.
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TZDIR",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_*",
    "HOSTNAME",
    // Terminal.
    "TERM",
    "TERMINFO",
    "TERMINFO_DIRS",
    "COLORTERM",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "CI",
    // Proxies and certificates.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "PIP_CERT",
    // Locations of toolchains and of their downloads.
    "CARGO_HOME",
    "CARGO_REGISTRIES_*",
    "RUSTUP_HOME",
    "RUSTUP_DIST_SERVER",
    "RUSTUP_UPDATE_ROOT",
    "SCCACHE_*",
    "GOPATH",
    "GOROOT",
    "GOBIN",
    "GOCACHE",
    "GOMODCACHE",
    "GOPROXY",
    "GOPRIVATE",
    "GONOSUMDB",
    "GOTOOLCHAIN",
    "JAVA_HOME",
    "JDK_HOME",
    "M2_HOME",
    "MAVEN_HOME",
    "GRADLE_HOME",
    "GRADLE_USER_HOME",
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "KOTLIN_HOME",
    "DOTNET_ROOT",
    "NVM_DIR",
    "NVM_BIN",
    "FNM_*",
    "VOLTA_HOME",
    "PNPM_HOME",
    "COREPACK_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "DENO_INSTALL",
    "NODE_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "CONDA_EXE",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIPX_HOME",
    "POETRY_HOME",
    "UV_*",
    "RBENV_ROOT",
    "RBENV_VERSION",
    "GEM_HOME",
    "GEM_PATH",
    "BUNDLE_PATH",
    "COMPOSER_HOME",
    "ASDF_*",
    "MISE_*",
    "SDKMAN_DIR",
    "HOMEBREW_PREFIX",
    "HOMEBREW_CELLAR",
    "HOMEBREW_REPOSITORY",
    "NIX_*",
    "OPAMROOT",
    "GHCUP_*",
    "STACK_ROOT",
    "PKG_CONFIG_PATH",
];

const AGENT_VARIABLES: &[&str] = &[
    "*_API_KEY",
    "ANTHROPIC_*",
    "API_TIMEOUT_MS",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_MAX_RETRIES",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_SKIP_*",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_CODE_USE_*",
    "CLAUDE_STREAM_IDLE_TIMEOUT_MS",
    "DISABLE_AUTOUPDATER",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "MAX_THINKING_TOKENS",
    "MCP_TIMEOUT",
    "CODEX_HOME",
    "OPENAI_*",
    "AZURE_OPENAI_*",
    "GEMINI_*",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_GENAI_USE_*",
    "GOOGLE_GEMINI_BASE_URL",
    "CLOUD_ML_REGION",
    "VERTEX_*",
    "AWS_*",
    "OLLAMA_HOST",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_DISABLE_*",
    "DASHSCOPE_*",
    "QWEN_*",
    "COPILOT_*",
    "CURSOR_*",
    "AMP_*",
];

/// The complete environment of a job, sorted. `pass` and `set` are `[env]`, `source` the keeper's own variables.
pub fn scrubbed_env(
    audience: EnvAudience,
    pass: &[String],
    set: &[(String, String)],
    source: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let listed = |name: &str| {
        SHARED_VARIABLES.iter().any(|pattern| matches(pattern, name))
            || (audience == EnvAudience::Agent
                && AGENT_VARIABLES.iter().any(|pattern| matches(pattern, name)))
            || pass.iter().any(|pattern| matches(pattern, name))
    };
    let mut kept: BTreeMap<OsString, OsString> = source
        .filter(|(name, _)| name.to_str().is_some_and(|name| listed(name) && !is_never_passed(name)))
        .collect();
    kept.entry("PYTHONDONTWRITEBYTECODE".into()).or_insert_with(|| "1".into());
    // The user's explicit values, set as written.
    kept.extend(set.iter().map(|(name, value)| (name.into(), value.into())));
    kept.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn names(audience: EnvAudience, pass: &[&str], source: &[&str]) -> Vec<String> {
        let pass: Vec<String> = pass.iter().map(ToString::to_string).collect();
        let source = source.iter().map(|name| (name.into(), "value".into()));
        let kept = scrubbed_env(audience, &pass, &[], source);
        let names = kept.into_iter().map(|(name, _)| name.into_string().unwrap());
        names.filter(|it| it != "PYTHONDONTWRITEBYTECODE").collect()
    }

    #[test]
    fn each_audience_gets_its_variables() {
        let check = |name: &str, agent: bool, check: bool| {
            assert_eq!(!names(EnvAudience::Agent, &[], &[name]).is_empty(), agent, "{name} to an agent");
            assert_eq!(!names(EnvAudience::Check, &[], &[name]).is_empty(), check, "{name} to a check");
        };
        for name in "PATH HOME LC_ALL TZ XDG_CONFIG_HOME https_proxy CARGO_HOME RUSTUP_HOME".split(' ') {
            check(name, true, true);
        }
        for name in
            "ANTHROPIC_API_KEY OPENAI_API_KEY MISTRAL_API_KEY ANTHROPIC_BASE_URL CODEX_HOME".split(' ')
        {
            check(name, true, false);
        }
        let never = "CLAUDECODE CLAUDE_CODE_ENTRYPOINT CODEX_SANDBOX GIT_DIR GIT_INDEX_FILE VSCODE_IPC_HOOK NVIM \
                     VIMRUNTIME TERM_PROGRAM LD_PRELOAD DYLD_INSERT_LIBRARIES LOOPKEEPER_LOOP npm_lifecycle_event \
                     RUSTUP_TOOLCHAIN CARGO_MANIFEST_DIR DATABASE_URL MY_SECRET \
                     SSH_AUTH_SOCK PWD";
        for name in never.split_ascii_whitespace() {
            check(name, false, false);
        }
    }

    #[test]
    fn pass_adds_but_not_what_never_passes() {
        let source = "DATABASE_URL MY_A MY_B GIT_DIR LD_PRELOAD LOOPKEEPER_LOOP OTHER";
        let source: Vec<&str> = source.split(' ').collect();
        let pass = ["DATABASE_URL", "MY_*", "GIT_DIR", "LD_*", "LOOPKEEPER_LOOP"];
        assert_eq!(names(EnvAudience::Check, &pass, &source), ["DATABASE_URL", "MY_A", "MY_B"]);
        let everything = names(EnvAudience::Check, &["*"], &source);
        assert_eq!(everything, ["DATABASE_URL", "MY_A", "MY_B", "OTHER"]);
    }

    #[test]
    fn set_wins_and_values_that_are_not_utf8_pass() {
        let source = [
            (OsString::from("HOME"), OsString::from_vec(b"/h\xff".to_vec())),
            (OsString::from_vec(b"LC_\xff".to_vec()), "x".into()),
            ("TZ".into(), "UTC".into()),
        ];
        let set = [("TZ".to_owned(), "CET".to_owned()), ("NEW".to_owned(), "1".to_owned())];
        let kept = scrubbed_env(EnvAudience::Agent, &[], &set, source.into_iter());
        let expect: [(OsString, OsString); 4] = [
            ("HOME".into(), OsString::from_vec(b"/h\xff".to_vec())),
            ("NEW".into(), "1".into()),
            ("PYTHONDONTWRITEBYTECODE".into(), "1".into()),
            ("TZ".into(), "CET".into()),
        ];
        assert_eq!(kept, expect);
    }
}
