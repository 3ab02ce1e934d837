//! Configured commands other than agents and checks: the user's own commands at events of a loop (`[on]`), and the
//! servers that `GET` checks need (`[[serve]]`). Starts nothing.

use serde::{Deserialize, Serialize};

use super::layer::LayerKind;
use super::value::{ServiceEntry, SettingValue};

/// `[on]`: commands that receive events. Empty ones do not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HookSettings {
    pub iteration_start: HookCommand,
    pub iteration_end: HookCommand,
    pub needs_you: HookCommand,
    #[serde(skip_serializing_if = "HookCommand::is_empty")]
    pub warning: HookCommand,
    pub ended: HookCommand,
    pub timeout_ms: u64,
}

/// One command of `[on]`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HookCommand {
    /// The program and its arguments, no shell.
    pub argv: Vec<String>,
    /// Its author.
    #[serde(skip_serializing_if = "ConfigOrigin::is_tree")]
    pub author: ConfigOrigin,
}

/// One `[[serve]]`: a server that is started for rounds of checks with a request, and ended after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceSettings {
    /// The program and its arguments, no shell.
    pub command: Vec<String>,
    /// Responds with a status below 400 once the server is ready.
    pub ready: String,
    pub timeout_ms: u64,
    #[serde(default, skip_serializing_if = "ConfigOrigin::is_tree")]
    pub author: ConfigOrigin,
}

impl ServiceSettings {
    pub(super) fn of(entry: &ServiceEntry, author: ConfigOrigin) -> Self {
        let ServiceEntry { command, ready, timeout_ms } = entry.clone();
        Self { command, ready, timeout_ms, author }
    }
}

/// The author of a command: one from the user's own file needs no further trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConfigOrigin {
    /// A file of the work tree.
    #[default]
    Tree,
    User,
}

/// The events that a hook receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopEvent {
    IterationStart,
    IterationEnd,
    NeedsYou,
    /// The loop is likely to stop soon, or costs more than usual.
    Warning,
    Ended,
}

impl ConfigOrigin {
    /// `None`: an argument.
    pub(super) fn from_layer(layer: Option<LayerKind>) -> Self {
        match layer {
            Some(LayerKind::OtherTool | LayerKind::Ralphrc | LayerKind::Workspace | LayerKind::Task) => {
                Self::Tree
            }
            Some(LayerKind::User) | None => Self::User,
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_tree(&self) -> bool {
        *self == Self::Tree
    }
}

impl LoopEvent {
    pub const ALL: [Self; 5] =
        [Self::IterationStart, Self::IterationEnd, Self::NeedsYou, Self::Warning, Self::Ended];

    /// A stable identifier, as in the JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::IterationStart => "iteration-start",
            Self::IterationEnd => "iteration-end",
            Self::NeedsYou => "needs-you",
            Self::Warning => "warning",
            Self::Ended => "ended",
        }
    }

    /// Its key below `[on]`.
    pub fn key(self) -> &'static str {
        match self {
            Self::IterationStart => "iteration_start",
            Self::IterationEnd => "iteration_end",
            Self::NeedsYou => "needs_you",
            Self::Warning => "warning",
            Self::Ended => "ended",
        }
    }
}

/// The documented defaults.
impl Default for HookSettings {
    fn default() -> Self {
        Self {
            iteration_start: HookCommand::default(),
            iteration_end: HookCommand::default(),
            needs_you: HookCommand::default(),
            warning: HookCommand::default(),
            ended: HookCommand::default(),
            timeout_ms: 30 * 1000,
        }
    }
}

impl HookCommand {
    fn is_empty(&self) -> bool {
        self.argv.is_empty()
    }
}

impl HookSettings {
    /// The command for an event, if there is one.
    pub fn for_event(&self, event: LoopEvent) -> Option<&HookCommand> {
        let hook = match event {
            LoopEvent::IterationStart => &self.iteration_start,
            LoopEvent::IterationEnd => &self.iteration_end,
            LoopEvent::NeedsYou => &self.needs_you,
            LoopEvent::Warning => &self.warning,
            LoopEvent::Ended => &self.ended,
        };
        Some(hook).filter(|it| !it.is_empty())
    }

    pub(super) fn assign(&mut self, name: &str, value: &SettingValue, author: ConfigOrigin) -> bool {
        match (name, value) {
            ("timeout", SettingValue::Amount(it)) => self.timeout_ms = *it,
            (name, SettingValue::Texts(argv)) => {
                let hook = match name {
                    "iteration_start" => &mut self.iteration_start,
                    "iteration_end" => &mut self.iteration_end,
                    "needs_you" => &mut self.needs_you,
                    "warning" => &mut self.warning,
                    "ended" => &mut self.ended,
                    _ => return false,
                };
                // An empty command has no author.
                let author = if argv.is_empty() { ConfigOrigin::default() } else { author };
                *hook = HookCommand { argv: argv.clone(), author };
            }
            _ => return false,
        }
        true
    }
}
