//! The parameters of each of the other agents: how its model is configured, and which of its tools write and run.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::model::Step;

/// One agent.
#[derive(Clone, Copy)]
pub(super) struct AgentParams {
    /// The name in the configuration.
    pub(super) name: &'static str,
    /// Lines below `[agents.NAME]`.
    pub(super) settings: &'static str,
    /// A configuration file of the agent below the home folder, with a model at `{model}`.
    file: (&'static str, &'static str),
    /// Variables, with `{model}` for the model's address and `{home}` for its home folder.
    env: &'static [(&'static str, &'static str)],
    pub(super) read: fn(&Path) -> Step,
    /// Creates a file.
    pub(super) write: fn(&Path, &'static str) -> Step,
    pub(super) run: fn(&str) -> Step,
    /// A temporary refusal of its provider, and one until a reset.
    pub(super) busy: fn() -> Step,
    pub(super) used_up: fn() -> Step,
    /// Whether it reports its cost.
    pub(super) reports_cost: bool,
    pub(super) reports_tokens: bool,
}

impl AgentParams {
    /// The same agent with other lines in its table.
    pub(super) const fn with(self, settings: &'static str, reports_tokens: bool) -> Self {
        Self { settings, reports_tokens, ..self }
    }

    pub(super) fn program(&self) -> PathBuf {
        let name = format!("LOOPKEEPER_TEST_{}", self.name.to_uppercase());
        let told = std::env::var_os(&name);
        PathBuf::from(
            told.unwrap_or_else(|| panic!("{name} names the program: `tests/tools/agents.sh` prints it")),
        )
    }

    /// Writes its configuration, and returns the variables to start it with.
    pub(super) fn prepare(&self, home: &Path, url: &str) -> Vec<(&'static str, String)> {
        let (path, text) = self.file;
        let path = home.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, text.replace("{model}", url)).expect("a written file");
        fs::create_dir_all(home.join("tmp")).expect("a folder");
        let filled = |it: &str| it.replace("{model}", url).replace("{home}", &home.to_string_lossy());
        self.env.iter().map(|(name, value)| (*name, filled(value))).collect()
    }
}

fn openai(status: u16, kind: &str, message: &str, headers: &[(&str, &str)]) -> Step {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Step::Fails(status, headers, json!({"error": {"type": kind, "code": kind, "message": message}}))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

pub(super) const CODEX: AgentParams = AgentParams {
    name: "codex",
    settings: "",
    file: (
        ".codex/config.toml",
        "model = \"scripted\"\nmodel_provider = \"local\"\n[model_providers.local]\nname = \"local\"\n\
         base_url = \"{model}/v1\"\nenv_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\n\
         [sandbox_workspace_write]\nexclude_slash_tmp = true\n",
    ),
    // In writable folders its sandbox leaves an empty `.git` and others behind; it puts no helpers below a folder that
    // it takes for one of temporary files.
    env: &[
        ("OPENAI_API_KEY", "dummy"),
        ("TMPDIR", "{home}/tmp"),
        ("CODEX_SANDBOX", "outer"),
        ("CODEX_THREAD_ID", "outer"),
    ],
    read: |path| (CODEX.run)(&format!("cat '{}'", text(path))),
    write: |path, words| {
        let lines = words.lines().map(|it| format!("+{it}\n")).collect::<Vec<_>>().concat();
        let patch = format!("*** Begin Patch\n*** Add File: {}\n{lines}*** End Patch", text(path));
        Step::Tool("exec_command", json!({"cmd": format!("apply_patch <<'EOP'\n{patch}\nEOP")}))
    },
    run: |command| Step::Tool("exec_command", json!({"cmd": command})),
    busy: || openai(429, "rate_limit_exceeded", "Rate limit", &[("retry-after", "1")]),
    used_up: || {
        Step::Fails(
            429,
            Vec::new(),
            json!({"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached",
                "plan_type": "plus", "resets_in_seconds": 3000}}),
        )
    },
    reports_cost: false,
    reports_tokens: true,
};

/// With its default sandbox. The folder of temporary files is not writable for it: it leaves an empty `.git` in each of
/// these.
pub(super) const CODEX_PLAIN: AgentParams = AgentParams {
    settings: "args = [\"-c\", \"permissions.loopkeeper.filesystem.:slash_tmp=\\\"read\\\"\"]\n",
    file: (
        ".codex/config.toml",
        "model = \"scripted\"\nmodel_provider = \"local\"\n[model_providers.local]\nname = \"local\"\n\
         base_url = \"{model}/v1\"\nenv_key = \"OPENAI_API_KEY\"\nwire_api = \"responses\"\n",
    ),
    ..CODEX
};

pub(super) const OPENCODE: AgentParams = AgentParams {
    name: "opencode",
    settings: "",
    file: (
        ".config/opencode/opencode.json",
        r#"{"model": "local/scripted", "provider": {"local": {"npm": "@ai-sdk/openai-compatible", "name": "local",
            "options": {"baseURL": "{model}/v1", "apiKey": "dummy"}, "models": {"scripted": {"name": "scripted",
            "cost": {"input": 1, "output": 25}, "limit": {"context": 100000, "output": 4000}}}}}}"#,
    ),
    env: &[("OPENCODE_DISABLE_MODELS_FETCH", "1"), ("OPENCODE", "1"), ("AGENT", "1")],
    read: |path| Step::Tool("read", json!({"filePath": text(path)})),
    write: |path, words| Step::Tool("write", json!({"filePath": text(path), "content": words})),
    run: |command| Step::Tool("bash", json!({"command": command, "description": "a step"})),
    busy: || openai(429, "rate_limit_exceeded", "Rate limit", &[("retry-after", "1")]),
    // It retries five times, and waits for a minute in total if it gets no delay.
    used_up: || {
        let message = "You have hit your usage limit. Try again in 50 minutes.";
        openai(402, "usage_limit_reached", message, &[("retry-after-ms", "200")])
    },
    reports_cost: true,
    reports_tokens: true,
};

pub(super) const GEMINI: AgentParams = AgentParams {
    name: "gemini",
    settings: "model = \"gemini-2.5-flash\"\n",
    file: (".gemini/settings.json", r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}}"#),
    env: &[("GEMINI_API_KEY", "dummy"), ("GOOGLE_GEMINI_BASE_URL", "{model}"), ("GEMINI_CLI", "1")],
    read: |path| Step::Tool("read_file", json!({"file_path": text(path)})),
    write: |path, words| Step::Tool("write_file", json!({"file_path": text(path), "content": words})),
    run: |command| Step::Tool("run_shell_command", json!({"command": command})),
    busy: || {
        let error = json!({"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED"});
        Step::Fails(429, Vec::new(), json!({"error": error}))
    },
    used_up: || {
        let id = "GenerateRequestsPerDayPerProjectPerModel-FreeTier";
        let violation = json!({"quotaMetric": "generate_content_free_tier_requests", "quotaId": id});
        let details = json!([
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3000s"}
        ]);
        let message = "You exceeded your current quota, please check your plan and billing details.";
        let error =
            json!({"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details});
        Step::Fails(429, Vec::new(), json!({"error": error}))
    },
    reports_cost: false,
    reports_tokens: true,
};

pub(super) const QWEN: AgentParams = AgentParams {
    name: "qwen",
    settings: "args = [\"--auth-type\", \"openai\"]\n",
    // Its memory feature would send additional requests to the model, with separate tools.
    file: (".qwen/settings.json", r#"{"memory": {"enableManagedAutoMemory": false}}"#),
    env: &[
        ("OPENAI_API_KEY", "dummy"),
        ("OPENAI_BASE_URL", "{model}/v1"),
        ("OPENAI_MODEL", "scripted"),
        ("QWEN_CODE", "1"),
    ],
    read: GEMINI.read,
    write: GEMINI.write,
    run: |command| Step::Tool("run_shell_command", json!({"command": command, "is_background": false})),
    busy: CODEX.busy,
    used_up: OPENCODE.used_up,
    reports_cost: false,
    reports_tokens: true,
};
