//! The settings of a loop: resolved values, and in the modules below the one table of keys for parsing, documentation
//! and validation. Text in, values and findings out; nothing here opens a file or reads the environment.
//!
//! [`fn@resolve`] is the only way from files and arguments to [`Settings`]: it returns none if a file or an argument
//! has errors.

mod accept;
pub mod agents;
mod assignment;
mod bounds;
mod configured_commands;
mod counterparts;
mod document;
mod environment;
pub(crate) mod finding;
pub mod keys;
mod language;
mod layer;
pub mod lookup;
mod other_tools;
mod policy;
pub mod preset;
mod ralphrc;
mod resolve;
mod services;
pub mod table;
#[cfg(test)]
mod tests;
mod toml_layer;
mod unsupported_field;
mod value;
mod value_parsers;

use serde::{Deserialize, Serialize};

use loopkeeper_agent::kind::Dialect;
use loopkeeper_agent::{LoopMode, PermissionMode, PromptBy};

pub(crate) use bounds::{NOT_PROTECTED, RAISED_ABOVE};
pub use configured_commands::{ConfigOrigin, HookCommand, HookSettings, LoopEvent, ServiceSettings};
pub use counterparts::{CounterpartKey, counterpart_keys};
pub use document::{json_schema, reference_page};
pub use environment::{is_never_passed, names_match};
pub use finding::{SettingCode, SettingFinding, SettingOrigin};
pub use language::configured_language;
pub use layer::{Layer, LayerKind, OverrideSource, SettingOverride};
pub use policy::{
    BreakerSettings, CommitPolicy, ExitSettings, GitSettings, GroupRule, MutantPolicy, OnRegression, Preset,
    QuestionSettings, SessionSettings, SpawnSettings, UnansweredPolicy, UsageLimitPolicy,
};
pub use ralphrc::environment_layer;
pub use resolve::{EffectiveSetting, ResolvedSettings, resolve};
pub(crate) use resolve::{MAY_CHANGE, NO_SANDBOX, PASS, SANDBOX_ALLOW, SANDBOX_WRITE};
pub use unsupported_field::UnsupportedField;

/// The resolved settings of a loop. Durations in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// A name of `[agents]`, or `auto`.
    pub agent: String,
    #[serde(default)]
    pub mode: LoopMode,
    /// The agents that take over from it, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<String>,
    pub task_files: Vec<String>,
    pub task_exclude: Vec<String>,
    /// Relative to the root, or absolute if the user's own file names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_template: Option<String>,
    pub limits: LimitSettings,
    /// Globs of files that the agent must not weaken.
    pub protected: Vec<String>,
    /// Globs of judges that the task allows to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_change: Vec<String>,
    pub check_timeout_ms: u64,
    #[serde(default)]
    pub mutants: MutantPolicy,
    /// The agent that answers `judge` checks: a name of `[agents]`; `None`: the agent of the loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    #[serde(default)]
    pub exit: ExitSettings,
    #[serde(default)]
    pub breaker: BreakerSettings,
    #[serde(default)]
    pub session: SessionSettings,
    #[serde(default)]
    pub spawns: SpawnSettings,
    #[serde(default)]
    pub questions: QuestionSettings,
    #[serde(default)]
    pub usage_limit: UsageLimitPolicy,
    #[serde(default)]
    pub git: GitSettings,
    #[serde(default)]
    pub on: HookSettings,
    /// Servers that `GET` checks need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub serve: Vec<ServiceSettings>,
    /// Keys that are set explicitly: a preset does not change them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<String>,
    pub sandbox: SandboxMode,
    /// Paths that the sandbox neither hides nor protects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sandbox_allow: Vec<String>,
    /// Paths that the sandbox does not make read-only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sandbox_write: Vec<String>,
    /// Paths that the sandbox hides in addition to its own list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sandbox_hide: Vec<String>,
    /// Whether agents and the commands of checks may use the whole network.
    #[serde(default = "is_on", skip_serializing_if = "Clone::clone")]
    pub sandbox_network: bool,
    /// The hosts that they may reach otherwise. A keeper that does not know this field closes the network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sandbox_hosts: Vec<String>,
    /// Maximum bytes of data of one process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_memory: Option<u64>,
    /// Maximum number of processes of one agent or check.
    #[serde(default = "processes")]
    pub sandbox_processes: u32,
    pub keep_loops: u32,
    pub keep_days: u32,
    pub keep_bytes: u64,
    pub env_pass: Vec<String>,
    pub env_set: Vec<(String, String)>,
    pub agents: Vec<AgentSettings>,
}

impl Settings {
    /// The agent of this name: a built-in or an `[agents.NAME]`. `auto` is not an agent.
    pub fn agent_named(&self, name: &str) -> Option<&AgentSettings> {
        self.agents.iter().find(|it| it.name == name)
    }

    /// The names of the agents, in their order.
    pub fn agent_names(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.agent).chain(&self.fallbacks)
    }
}

/// The documented defaults; a test compares them with the table.
impl Default for Settings {
    fn default() -> Self {
        Self {
            agent: "auto".to_owned(),
            mode: LoopMode::Loop,
            fallbacks: Vec::new(),
            task_files: Vec::new(),
            task_exclude: vec!["**/fixtures/**".to_owned()],
            prompt_template: None,
            limits: LimitSettings::default(),
            protected: vec!["tests/**".to_owned()],
            may_change: Vec::new(),
            check_timeout_ms: 10 * 60 * 1000,
            mutants: MutantPolicy::Tell,
            judge: None,
            exit: ExitSettings::default(),
            breaker: BreakerSettings::default(),
            session: SessionSettings::default(),
            spawns: SpawnSettings::default(),
            questions: QuestionSettings::default(),
            usage_limit: UsageLimitPolicy::default(),
            git: GitSettings::default(),
            on: HookSettings::default(),
            serve: Vec::new(),
            written: Vec::new(),
            sandbox: SandboxMode::Auto,
            sandbox_allow: Vec::new(),
            sandbox_write: Vec::new(),
            sandbox_hide: Vec::new(),
            sandbox_network: true,
            sandbox_hosts: Vec::new(),
            sandbox_memory: None,
            sandbox_processes: processes(),
            keep_loops: 20,
            keep_days: 60,
            keep_bytes: 5 * 1024 * 1024 * 1024,
            env_pass: Vec::new(),
            env_set: Vec::new(),
            agents: agents::built_in(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitSettings {
    pub iterations: u32,
    pub duration_ms: u64,
    pub cost_micros: u64,
    /// `None`: tokens are counted without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default = "calls_per_hour")]
    pub calls_per_hour: u32,
    pub iteration_ms: u64,
    pub idle_ms: u64,
    #[serde(default = "steps")]
    pub steps: u32,
    pub between_ms: u64,
    pub grace_ms: u64,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            iterations: 25,
            duration_ms: 8 * 60 * 60 * 1000,
            cost_micros: 25_000_000,
            tokens: None,
            calls_per_hour: calls_per_hour(),
            iteration_ms: 30 * 60 * 1000,
            idle_ms: 15 * 60 * 1000,
            steps: steps(),
            between_ms: 0,
            grace_ms: 10 * 1000,
        }
    }
}

fn is_on() -> bool {
    true
}

fn processes() -> u32 {
    4096
}

fn calls_per_hour() -> u32 {
    100
}

fn steps() -> u32 {
    500
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// A PID namespace if bubblewrap works, else none, which is reported.
    Auto,
    Required,
    Off,
}

/// One `[agents.NAME]`, or a built-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSettings {
    pub name: String,
    /// Empty for the built-ins that find their own program.
    pub command: Vec<String>,
    pub prompt: PromptBy,
    pub output: Dialect,
    pub permissions: PermissionMode,
    pub model: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    pub args: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
}
