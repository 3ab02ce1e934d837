//! Lists the capabilities of each agent. Entries that were not verified with a real run are marked.

use loopkeeper_text::tr;

use super::AgentKind;
use crate::LoopMode;
use crate::kind::Dialect;

/// The capabilities of an agent's output and command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// JSON lines that loopkeeper reads; otherwise all output is treated as message text.
    pub structured: Support,
    /// The cost of a run.
    pub cost: Support,
    pub tokens: Support,
    /// A session id chosen by loopkeeper; otherwise the id is read from the agent's output.
    pub chosen_session: Support,
    pub resume: Support,
    /// A new session that begins as a copy of another.
    pub fork: Support,
    pub stop_hook: StopHook,
    /// A hook that refuses a tool.
    pub tool_veto: Support,
    pub subagents: SubagentSupport,
    /// A built-in cap on the steps of one run.
    pub step_cap: Support,
    /// Native support for the Agent Client Protocol, without an adapter.
    pub acp: Support,
    /// Reports which of its tools were denied.
    pub denials: Support,
    pub found: CapabilitySource,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    Yes,
    No,
    /// Untested: a user-defined command.
    Unknown,
}

impl Support {
    pub fn is_yes(self) -> bool {
        self == Self::Yes
    }
}

/// A hook that holds a session open when its agent wants to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopHook {
    /// The agent runs the hooks of its working directory, and one was observed to hold it. How often is untested, and
    /// no other way than files in that directory is known to pass it a hook.
    OfFolder,
    Unbounded,
    /// The agent overrides the hook after this many consecutive refusals.
    Capped(u32),
    None,
    Unknown,
}

/// How `[spawns]` is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubagentSupport {
    /// The agent asks before it starts a subagent.
    Refused,
    /// The agent's output reports subagents after they started.
    Counted,
    /// Subagents are not reported.
    Unseen,
    Unknown,
}

/// How the capabilities were determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapabilitySource {
    /// Known by running this version.
    Run(&'static str),
    /// From the help text of this version, because it cannot be run without an account.
    Help(&'static str),
    Documentation,
    /// Nothing is known except the limits of its output format.
    ByOutput,
    /// Nothing is known except the fields of the protocol.
    Protocol,
}

impl AgentKind {
    #[rustfmt::skip]
    pub fn capabilities(self) -> Capabilities {
        use Support::{No, Unknown, Yes};
        match self {
            Self::Claude => Capabilities {
                structured: Yes, cost: Yes, tokens: Yes, chosen_session: Yes, resume: Yes, fork: Yes,
                stop_hook: StopHook::Capped(8), tool_veto: Yes, subagents: SubagentSupport::Refused,
                step_cap: Yes, acp: No, denials: Yes,
                found: CapabilitySource::Run("2.1.329"),
            },
            Self::Codex => Capabilities {
                structured: Yes, cost: No, tokens: Yes, chosen_session: No, resume: Yes, fork: Yes,
                stop_hook: StopHook::Unbounded, tool_veto: Yes, subagents: SubagentSupport::Counted,
                step_cap: No, acp: No, denials: Yes,
                found: CapabilitySource::Run("0.169.0"),
            },
            Self::Gemini => Capabilities {
                structured: Yes, cost: No, tokens: Yes, chosen_session: Yes, resume: Yes, fork: No,
                stop_hook: StopHook::Unbounded, tool_veto: Yes, subagents: SubagentSupport::Counted,
                step_cap: Yes, acp: Yes, denials: Yes,
                found: CapabilitySource::Run("0.61.0"),
            },
            Self::Opencode => Capabilities {
                structured: Yes, cost: Yes, tokens: Yes, chosen_session: No, resume: Yes, fork: Yes,
                stop_hook: StopHook::None, tool_veto: Yes, subagents: SubagentSupport::Counted,
                step_cap: No, acp: Yes, denials: Yes,
                found: CapabilitySource::Run("1.18.33"),
            },
            Self::Qwen => Capabilities {
                structured: Yes, cost: No, tokens: Yes, chosen_session: Yes, resume: Yes, fork: Yes,
                stop_hook: StopHook::OfFolder, tool_veto: Unknown, subagents: SubagentSupport::Counted,
                step_cap: Yes, acp: Yes, denials: Yes,
                found: CapabilitySource::Run("0.24.4"),
            },
            Self::Copilot => Capabilities {
                structured: No, cost: No, tokens: No, chosen_session: Yes, resume: Yes, fork: Unknown,
                stop_hook: StopHook::Unknown, tool_veto: Unknown, subagents: SubagentSupport::Unseen,
                step_cap: No, acp: Yes, denials: No,
                found: CapabilitySource::Help("1.0.102"),
            },
            Self::Cursor => Capabilities {
                structured: Yes, cost: No, tokens: No, chosen_session: No, resume: Yes, fork: Unknown,
                stop_hook: StopHook::Unknown, tool_veto: Unknown, subagents: SubagentSupport::Unknown,
                step_cap: Unknown, acp: Unknown, denials: Yes,
                found: CapabilitySource::Documentation,
            },
            Self::Amp => Capabilities {
                structured: Yes, cost: No, tokens: No, chosen_session: No, resume: Yes, fork: Unknown,
                stop_hook: StopHook::Unknown, tool_veto: Unknown, subagents: SubagentSupport::Unknown,
                step_cap: Unknown, acp: No, denials: No,
                found: CapabilitySource::Help("0.0.1790142911"),
            },
            Self::Acp(known) => of_protocol(known.copied()),
            Self::Demo => Capabilities { found: CapabilitySource::ByOutput, ..of_output(Dialect::Claude) },
            Self::Own(dialect) => of_output(dialect),
        }
    }
}

/// Fields that the protocol defines, as far as the agent was observed to use them.
fn of_protocol(known: Option<AgentKind>) -> Capabilities {
    use Support::{No, Unknown, Yes};
    let (cost, tokens, resume) = match known {
        // It cannot find its own sessions again.
        Some(AgentKind::Gemini) => (No, Yes, No),
        // It counts only the last of several answers in a turn.
        Some(AgentKind::Opencode) => (Yes, No, Yes),
        Some(AgentKind::Qwen) => (No, No, Unknown),
        Some(
            AgentKind::Claude
            | AgentKind::Codex
            | AgentKind::Copilot
            | AgentKind::Cursor
            | AgentKind::Amp
            | AgentKind::Acp(_)
            | AgentKind::Demo
            | AgentKind::Own(_),
        )
        | None => (Unknown, Unknown, Unknown),
    };
    Capabilities {
        structured: Yes,
        cost,
        tokens,
        chosen_session: No,
        resume,
        fork: No,
        stop_hook: StopHook::None,
        tool_veto: known.map_or(Unknown, |_| Yes),
        subagents: SubagentSupport::Unknown,
        step_cap: No,
        acp: Yes,
        denials: Yes,
        found: known.map_or(CapabilitySource::Protocol, |it| it.capabilities().found),
    }
}

/// What a user-defined command can report in its output.
fn of_output(dialect: Dialect) -> Capabilities {
    let support = |it: bool| if it { Support::Yes } else { Support::No };
    let kind = dialect.kind();
    let of_kind = kind.map(AgentKind::capabilities);
    let reads = |field: fn(&Capabilities) -> Support| of_kind.as_ref().map_or(Support::No, field);
    Capabilities {
        structured: support(kind.is_some()),
        cost: reads(|it| it.cost),
        tokens: reads(|it| it.tokens),
        chosen_session: Support::Unknown,
        resume: Support::Unknown,
        fork: Support::Unknown,
        stop_hook: StopHook::Unknown,
        tool_veto: Support::Unknown,
        subagents: if kind.is_some() { SubagentSupport::Counted } else { SubagentSupport::Unseen },
        step_cap: Support::Unknown,
        acp: Support::Unknown,
        denials: reads(|it| it.denials),
        found: CapabilitySource::ByOutput,
    }
}

impl Capabilities {
    /// The capabilities that remain in this mode. A session opened by the user reports only through its hooks.
    #[must_use]
    pub fn in_mode(self, mode: LoopMode) -> Self {
        match mode {
            LoopMode::Loop | LoopMode::Hook => self,
            LoopMode::Attach => Self { cost: Support::No, denials: Support::No, ..self },
        }
    }

    /// The capabilities that remain if the agent's hooks are switched off.
    #[must_use]
    pub fn without_hooks(self) -> Self {
        let subagents = if self.subagents == SubagentSupport::Refused {
            SubagentSupport::Counted
        } else {
            self.subagents
        };
        Self { stop_hook: StopHook::None, tool_veto: Support::No, subagents, ..self }
    }

    /// Limitations that the user should know in advance, one sentence each; empty if there are none.
    pub fn limitations(&self) -> Vec<&'static str> {
        let missing = [
            (self.structured, tr!("it prints text only: no tokens, no tools, no files, no session")),
            (self.cost, tr!("it reports no cost: `limits.cost_usd` cannot be enforced")),
            (self.tokens, tr!("it reports no tokens: `limits.tokens` cannot be enforced")),
            (
                self.denials,
                tr!(
                    "it does not report which tools were denied: an iteration that changes nothing is the only sign"
                ),
            ),
            (
                if self.subagents == SubagentSupport::Counted { Support::No } else { Support::Unknown },
                tr!("its subagents are counted and never refused: `[spawns]` cannot be enforced"),
            ),
            (
                if self.subagents == SubagentSupport::Unseen { Support::No } else { Support::Unknown },
                tr!("it does not report its subagents: `[spawns]` cannot be enforced"),
            ),
        ];
        let all = missing.into_iter().filter(|(can, _)| *can == Support::No).map(|(_, sentence)| sentence);
        // An agent that prints only text cannot report the rest either.
        let most = if self.structured == Support::No { 2 } else { missing.len() };
        all.take(most).collect()
    }
}
