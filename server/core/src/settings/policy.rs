//! Settings that decide when a loop ends, pauses, asks and restarts: one struct per section, with the
//! documented defaults. A journal of an older version lacks some of these fields and gets the defaults.

use serde::{Deserialize, Serialize};

use super::value::SettingValue;

const MINUTE_MS: u64 = 60 * 1000;
const HOUR_MS: u64 = 60 * MINUTE_MS;

/// `[exit]`: when a loop is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExitSettings {
    pub promise: String,
    /// Consecutive claims that are needed if no check can decide.
    pub done_signals: u32,
    pub completion_indicators: u32,
    pub test_loops: u32,
    pub test_percentage: u32,
    /// An expression of [`crate::exit_condition`], which reads it; `None`: the built-in rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    pub groups: GroupRule,
    /// The user's own indicators with their confidence in percent.
    pub words: Vec<(String, u8)>,
}

/// What a group of criteria needs to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupRule {
    #[default]
    All,
    /// More than half of its required criteria.
    Majority,
}

/// `[breaker]`: when a loop is paused for lack of progress. Counts of iterations, percents, milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BreakerSettings {
    pub preset: Preset,
    pub no_progress: u32,
    pub same_error: u32,
    pub output_decline: u32,
    pub permission_denials: u32,
    pub fast_failures: u32,
    pub cooldown_ms: u64,
    pub max_trips: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    Small,
    Large,
    #[default]
    Adaptive,
}

/// `[session]`: whether an iteration continues the session of the previous one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionSettings {
    pub resume: bool,
    pub expires_ms: u64,
}

/// `[spawns]`: subagents, if the agent can be vetoed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SpawnSettings {
    /// For the whole loop; children use it like their parents.
    pub budget: u32,
    pub per_agent: u32,
    pub depth: u32,
    /// Maximum number at the same time.
    pub children: u32,
}

/// `[questions]`: timeout of the agent's questions, and the reaction to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct QuestionSettings {
    #[serde(rename = "patienceMs")]
    pub timeout_ms: u64,
    pub unanswered: UnansweredPolicy,
}

/// The reaction to an unanswered question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnansweredPolicy {
    /// The agent decides, and notes its assumption.
    #[default]
    Continue,
    Pause,
}

/// The reaction to a usage limit without an explicit choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsageLimitPolicy {
    #[default]
    Wait,
    Stop,
}

/// `[git]`: how a loop uses the user's repository.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GitSettings {
    /// Set and empty: the current branch, whatever a plan requests.
    pub branch: Option<String>,
    pub commit: CommitPolicy,
    pub on_regression: OnRegression,
}

/// The reaction to faults in changed lines that no check notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MutantPolicy {
    #[default]
    Tell,
    /// The loop is not verified while one is left.
    Require,
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommitPolicy {
    #[default]
    Agent,
    /// One commit per iteration.
    Server,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnRegression {
    #[default]
    Keep,
    /// Restore the last snapshot whose guards held.
    Rollback,
}

impl Default for ExitSettings {
    fn default() -> Self {
        Self {
            promise: "COMPLETE".to_owned(),
            done_signals: 2,
            completion_indicators: 2,
            test_loops: 3,
            test_percentage: 25,
            when: None,
            groups: GroupRule::All,
            words: Vec::new(),
        }
    }
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            preset: Preset::Adaptive,
            no_progress: 3,
            same_error: 5,
            output_decline: 70,
            permission_denials: 2,
            fast_failures: 2,
            cooldown_ms: 30 * MINUTE_MS,
            max_trips: 3,
        }
    }
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self { resume: false, expires_ms: 24 * HOUR_MS }
    }
}

impl Default for SpawnSettings {
    fn default() -> Self {
        Self { budget: 12, per_agent: 2, depth: 2, children: 5 }
    }
}

impl SpawnSettings {
    pub(super) fn assign(&mut self, name: &str, value: &SettingValue) -> bool {
        match (name, value) {
            ("budget", SettingValue::Count(it)) => self.budget = *it,
            ("per_agent", SettingValue::Count(it)) => self.per_agent = *it,
            ("depth", SettingValue::Count(it)) => self.depth = *it,
            ("children", SettingValue::Count(it)) => self.children = *it,
            _ => return false,
        }
        true
    }
}

impl Default for QuestionSettings {
    fn default() -> Self {
        Self { timeout_ms: 10 * MINUTE_MS, unanswered: UnansweredPolicy::Continue }
    }
}

impl ExitSettings {
    pub(super) fn assign(&mut self, name: &str, value: &SettingValue) -> bool {
        match (name, value) {
            ("promise", SettingValue::Text(it)) => self.promise.clone_from(it),
            ("done_signals", SettingValue::Count(it)) => self.done_signals = *it,
            ("completion_indicators", SettingValue::Count(it)) => self.completion_indicators = *it,
            ("test_loops", SettingValue::Count(it)) => self.test_loops = *it,
            ("test_percentage", SettingValue::Count(it)) => self.test_percentage = *it,
            ("when", SettingValue::Text(it)) => self.when = Some(it.clone()),
            ("words", SettingValue::Weights(it)) => self.words.clone_from(it),
            ("groups", SettingValue::Text(it)) if it == "all" => self.groups = GroupRule::All,
            ("groups", SettingValue::Text(it)) if it == "majority" => self.groups = GroupRule::Majority,
            _ => return false,
        }
        true
    }
}

impl BreakerSettings {
    pub(super) fn assign(&mut self, name: &str, value: &SettingValue) -> bool {
        match (name, value) {
            ("preset", SettingValue::Text(it)) if it == "small" => self.preset = Preset::Small,
            ("preset", SettingValue::Text(it)) if it == "large" => self.preset = Preset::Large,
            ("preset", SettingValue::Text(it)) if it == "adaptive" => self.preset = Preset::Adaptive,
            ("no_progress", SettingValue::Count(it)) => self.no_progress = *it,
            ("same_error", SettingValue::Count(it)) => self.same_error = *it,
            ("output_decline", SettingValue::Count(it)) => self.output_decline = *it,
            ("permission_denials", SettingValue::Count(it)) => self.permission_denials = *it,
            ("fast_failures", SettingValue::Count(it)) => self.fast_failures = *it,
            ("cooldown", SettingValue::Amount(it)) => self.cooldown_ms = *it,
            ("max_trips", SettingValue::Count(it)) => self.max_trips = *it,
            _ => return false,
        }
        true
    }
}

impl SessionSettings {
    pub(super) fn assign(&mut self, name: &str, value: &SettingValue) -> bool {
        match (name, value) {
            ("continue", SettingValue::Flag(it)) => self.resume = *it,
            ("expires", SettingValue::Amount(it)) => self.expires_ms = *it,
            _ => return false,
        }
        true
    }
}

impl QuestionSettings {
    pub(super) fn assign(&mut self, name: &str, value: &SettingValue) -> bool {
        match (name, value) {
            ("timeout", SettingValue::Amount(it)) => self.timeout_ms = *it,
            ("unanswered", SettingValue::Text(it)) if it == "continue" => {
                self.unanswered = UnansweredPolicy::Continue;
            }
            ("unanswered", SettingValue::Text(it)) if it == "pause" => {
                self.unanswered = UnansweredPolicy::Pause;
            }
            _ => return false,
        }
        true
    }
}

impl UsageLimitPolicy {
    pub(super) fn assign(&mut self, name: &str, value: &SettingValue) -> bool {
        match (name, value) {
            ("unanswered", SettingValue::Text(it)) if it == "wait" => *self = Self::Wait,
            ("unanswered", SettingValue::Text(it)) if it == "stop" => *self = Self::Stop,
            _ => return false,
        }
        true
    }
}

impl GitSettings {
    pub(super) fn assign(&mut self, name: &str, value: &SettingValue) -> bool {
        match (name, value) {
            ("branch", SettingValue::Text(it)) => self.branch = Some(it.clone()),
            ("commit", SettingValue::Text(it)) if it == "agent" => self.commit = CommitPolicy::Agent,
            ("commit", SettingValue::Text(it)) if it == "server" => self.commit = CommitPolicy::Server,
            ("commit", SettingValue::Text(it)) if it == "never" => self.commit = CommitPolicy::Never,
            ("on_regression", SettingValue::Text(it)) if it == "keep" => {
                self.on_regression = OnRegression::Keep;
            }
            ("on_regression", SettingValue::Text(it)) if it == "rollback" => {
                self.on_regression = OnRegression::Rollback;
            }
            _ => return false,
        }
        true
    }
}
