//! Names the agents that loopkeeper knows. Their abilities are listed in [`capabilities`].

mod capabilities;

pub use self::capabilities::{Capabilities, CapabilitySource, StopHook, SubagentSupport, Support};
use serde::{Deserialize, Serialize};

use crate::catalog::{self, KnownAgent};

/// The agent whose command line, environment and output format apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentKind {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Qwen,
    Copilot,
    Cursor,
    Amp,
    /// An agent behind the Agent Client Protocol: one of the others, or a user-defined command.
    Acp(Option<&'static AgentKind>),
    /// The built-in one, with the output format of Claude Code.
    Demo,
    /// A user-defined command, of which only the output format is known.
    Own(Dialect),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    Text,
    Claude,
    Codex,
    Gemini,
    Opencode,
    /// The Agent Client Protocol, through our bridge.
    Acp,
}

impl Dialect {
    /// The agent that writes this dialect; plain text and ACP belong to no particular agent.
    pub fn kind(self) -> Option<AgentKind> {
        match self {
            Self::Text | Self::Acp => None,
            Self::Claude => Some(AgentKind::Claude),
            Self::Codex => Some(AgentKind::Codex),
            Self::Gemini => Some(AgentKind::Gemini),
            Self::Opencode => Some(AgentKind::Opencode),
        }
    }
}

/// The agents that need no configuration table, in the order in which `auto` tries them.
pub const AUTO: [AgentKind; 4] =
    [AgentKind::Claude, AgentKind::Codex, AgentKind::Opencode, AgentKind::Gemini];

/// Every known program.
pub const KNOWN_KINDS: [AgentKind; 8] = [
    AgentKind::Claude,
    AgentKind::Codex,
    AgentKind::Opencode,
    AgentKind::Gemini,
    AgentKind::Qwen,
    AgentKind::Copilot,
    AgentKind::Cursor,
    AgentKind::Amp,
];

impl AgentKind {
    /// The kind of an agent with this name in the configuration.
    pub fn from_name(name: &str, output: Dialect) -> Self {
        const ALL: &[AgentKind] = &KNOWN_KINDS;
        let known = ALL.iter().find(|it| it.name() == name);
        match (name, known, output) {
            ("demo", _, _) => Self::Demo,
            (_, known, Dialect::Acp) => Self::Acp(known),
            (_, Some(known), _) => *known,
            (_, None, output) => Self::Own(output),
        }
    }

    /// The name in the configuration and of the program; empty for a user-defined command.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::Amp => "amp",
            Self::Demo => "demo",
            Self::Acp(known) => known.map_or("", |it| it.name()),
            Self::Own(_) => "",
        }
    }

    /// The known agent that runs: the one behind a protocol, or the one that a user-defined command resembles.
    pub fn known_kind(self) -> Option<Self> {
        match self {
            Self::Acp(known) => known.copied(),
            Self::Own(dialect) => dialect.kind(),
            Self::Demo => None,
            Self::Claude
            | Self::Codex
            | Self::Gemini
            | Self::Opencode
            | Self::Qwen
            | Self::Copilot
            | Self::Cursor
            | Self::Amp => Some(self),
        }
    }

    /// How to install the agent and log in.
    pub fn known_agent(self) -> Option<&'static KnownAgent> {
        catalog::CATALOG.iter().find(|it| it.name == self.name())
    }

    /// Whether it cannot edit anything without full permissions.
    pub fn needs_all(self) -> bool {
        self == Self::Cursor
    }

    pub fn dialect(self) -> Dialect {
        match self {
            Self::Claude | Self::Qwen | Self::Cursor | Self::Amp | Self::Demo => Dialect::Claude,
            Self::Copilot => Dialect::Text,
            Self::Codex => Dialect::Codex,
            Self::Gemini => Dialect::Gemini,
            Self::Opencode => Dialect::Opencode,
            Self::Acp(_) => Dialect::Acp,
            Self::Own(dialect) => dialect,
        }
    }
}

#[cfg(test)]
mod tests;
