//! The agents that loopkeeper knows by name, and what each of them can and cannot do. What was not found out by
//! running a program says so.

use crate::doctor::{self, Known};
use crate::settings::{Dialect, Mode};

/// Whose command line, environment and output an agent has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Claude,
    Codex,
    Gemini,
    Opencode,
    Qwen,
    Copilot,
    Cursor,
    Amp,
    /// Through the Agent Client Protocol: one of the others, or a command of the user's.
    Acp(Option<&'static Kind>),
    /// The built-in one, which talks as Claude Code does.
    Demo,
    /// Any command of the user's: what it prints is known, nothing else.
    Own(Dialect),
}

/// What an agent can do, as far as its output and its command line are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// JSON lines that loopkeeper reads; otherwise all it prints is taken for its words.
    pub structured: Can,
    /// What a run cost.
    pub cost: Can,
    pub tokens: Can,
    /// A session under an id that loopkeeper chooses; otherwise its own is read from its output.
    pub chosen_session: Can,
    pub resume: Can,
    /// A new session that begins as a copy of another.
    pub fork: Can,
    pub stop_hook: StopHook,
    /// A hook that refuses a tool.
    pub tool_veto: Can,
    pub subagents: Subagents,
    /// A cap of its own on the steps of one run.
    pub step_cap: Can,
    /// Speaks the Agent Client Protocol without a program in between.
    pub acp: Can,
    /// Tells which of its tools were denied.
    pub denials: Can,
    pub found: Found,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Can {
    Yes,
    No,
    /// Nobody looked: a command of the user's own.
    Unknown,
}

impl Can {
    pub fn is_yes(self) -> bool {
        self == Self::Yes
    }
}

/// A hook that holds a session open when its agent wants to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopHook {
    /// It runs those of the folder it works in, and was held by one; nobody tried how often, and nothing but files of
    /// the folder is known to tell it of one.
    OfFolder,
    Unbounded,
    /// The agent overrides it after so many refusals in a row.
    Capped(u32),
    None,
    Unknown,
}

/// What becomes of `[spawns]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subagents {
    /// It asks before it starts one.
    Refused,
    /// Its output tells of them, when it has started them.
    Counted,
    /// Nobody tells of them.
    Unseen,
    Unknown,
}

/// How the capabilities were found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// By running this version.
    Run(&'static str),
    /// By what this version says when asked for help: it cannot be run without an account.
    Help(&'static str),
    Documentation,
    /// Nothing is known but what its output can hold.
    ByOutput,
    /// Nothing is known but what the protocol has a place for.
    Protocol,
}

/// The names of those that can be chosen without a table of their own, as `auto` looks for them.
pub const AUTO: [Kind; 4] = [Kind::Claude, Kind::Codex, Kind::Opencode, Kind::Gemini];

/// Every known program.
pub const KNOWN: [Kind; 8] = [
    Kind::Claude,
    Kind::Codex,
    Kind::Opencode,
    Kind::Gemini,
    Kind::Qwen,
    Kind::Copilot,
    Kind::Cursor,
    Kind::Amp,
];

impl Kind {
    /// The kind of an agent by its name in the configuration.
    pub fn of(name: &str, output: Dialect) -> Self {
        const ALL: &[Kind] = &KNOWN;
        let known = ALL.iter().find(|it| it.name() == name);
        match (name, known, output) {
            ("demo", _, _) => Self::Demo,
            (_, known, Dialect::Acp) => Self::Acp(known),
            (_, Some(known), _) => *known,
            (_, None, output) => Self::Own(output),
        }
    }

    /// As the configuration names it, and the program that is looked for; empty for a command of the user's own.
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

    /// What people need to know to get it and to log in.
    pub fn known(self) -> Option<&'static Known> {
        doctor::KNOWN.iter().find(|it| it.name == self.name())
    }

    /// Whether it edits nothing at all unless it may do everything.
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

    #[rustfmt::skip]
    pub fn capabilities(self) -> Capabilities {
        use Can::{No, Unknown, Yes};
        match self {
            Self::Claude => Capabilities {
                structured: Yes, cost: Yes, tokens: Yes, chosen_session: Yes, resume: Yes, fork: Yes,
                stop_hook: StopHook::Capped(8), tool_veto: Yes, subagents: Subagents::Refused,
                step_cap: Yes, acp: No, denials: Yes,
                found: Found::Run("2.1.329"),
            },
            Self::Codex => Capabilities {
                structured: Yes, cost: No, tokens: Yes, chosen_session: No, resume: Yes, fork: Yes,
                stop_hook: StopHook::Unbounded, tool_veto: Yes, subagents: Subagents::Counted,
                step_cap: No, acp: No, denials: Yes,
                found: Found::Run("0.169.0"),
            },
            Self::Gemini => Capabilities {
                structured: Yes, cost: No, tokens: Yes, chosen_session: Yes, resume: Yes, fork: No,
                stop_hook: StopHook::Unbounded, tool_veto: Yes, subagents: Subagents::Counted,
                step_cap: Yes, acp: Yes, denials: Yes,
                found: Found::Run("0.61.0"),
            },
            Self::Opencode => Capabilities {
                structured: Yes, cost: Yes, tokens: Yes, chosen_session: No, resume: Yes, fork: Yes,
                stop_hook: StopHook::None, tool_veto: Yes, subagents: Subagents::Counted,
                step_cap: No, acp: Yes, denials: Yes,
                found: Found::Run("1.18.33"),
            },
            Self::Qwen => Capabilities {
                structured: Yes, cost: No, tokens: Yes, chosen_session: Yes, resume: Yes, fork: Yes,
                stop_hook: StopHook::OfFolder, tool_veto: Unknown, subagents: Subagents::Counted,
                step_cap: Yes, acp: Yes, denials: Yes,
                found: Found::Run("0.24.4"),
            },
            Self::Copilot => Capabilities {
                structured: No, cost: No, tokens: No, chosen_session: Yes, resume: Yes, fork: Unknown,
                stop_hook: StopHook::Unknown, tool_veto: Unknown, subagents: Subagents::Unseen,
                step_cap: No, acp: Yes, denials: No,
                found: Found::Help("1.0.102"),
            },
            Self::Cursor => Capabilities {
                structured: Yes, cost: No, tokens: No, chosen_session: No, resume: Yes, fork: Unknown,
                stop_hook: StopHook::Unknown, tool_veto: Unknown, subagents: Subagents::Unknown,
                step_cap: Unknown, acp: Unknown, denials: Yes,
                found: Found::Documentation,
            },
            Self::Amp => Capabilities {
                structured: Yes, cost: No, tokens: No, chosen_session: No, resume: Yes, fork: Unknown,
                stop_hook: StopHook::Unknown, tool_veto: Unknown, subagents: Subagents::Unknown,
                step_cap: Unknown, acp: No, denials: No,
                found: Found::Help("0.0.1790142911"),
            },
            Self::Acp(known) => of_protocol(known.copied()),
            Self::Demo => Capabilities { found: Found::ByOutput, ..of_output(Dialect::Claude) },
            Self::Own(dialect) => of_output(dialect),
        }
    }
}

/// What the protocol has a place for, as far as the agent was seen to use it.
fn of_protocol(known: Option<Kind>) -> Capabilities {
    use Can::{No, Unknown, Yes};
    let (cost, tokens, resume) = match known {
        // It does not find its own sessions again.
        Some(Kind::Gemini) => (No, Yes, No),
        // Of a turn with several answers it counts the last one.
        Some(Kind::Opencode) => (Yes, No, Yes),
        Some(Kind::Qwen) => (No, No, Unknown),
        _ => (Unknown, Unknown, Unknown),
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
        subagents: Subagents::Unknown,
        step_cap: No,
        acp: Yes,
        denials: Yes,
        found: known.map_or(Found::Protocol, |it| it.capabilities().found),
    }
}

/// What a command of the user's own can tell by what it prints.
fn of_output(dialect: Dialect) -> Capabilities {
    let told = |it: bool| if it { Can::Yes } else { Can::No };
    let said = dialect.kind();
    let of_kind = said.map(Kind::capabilities);
    let reads = |field: fn(&Capabilities) -> Can| of_kind.as_ref().map_or(Can::No, field);
    Capabilities {
        structured: told(said.is_some()),
        cost: reads(|it| it.cost),
        tokens: reads(|it| it.tokens),
        chosen_session: Can::Unknown,
        resume: Can::Unknown,
        fork: Can::Unknown,
        stop_hook: StopHook::Unknown,
        tool_veto: Can::Unknown,
        subagents: if said.is_some() { Subagents::Counted } else { Subagents::Unseen },
        step_cap: Can::Unknown,
        acp: Can::Unknown,
        denials: reads(|it| it.denials),
        found: Found::ByOutput,
    }
}

impl Capabilities {
    /// What is left of them in this mode: of a session that its user opened only its hooks tell.
    #[must_use]
    pub fn with(self, mode: Mode) -> Self {
        match mode {
            Mode::Loop | Mode::Hook => self,
            Mode::Attach => Self { cost: Can::No, denials: Can::No, ..self },
        }
    }

    /// What is left of them where its hooks are switched off.
    #[must_use]
    pub fn without_hooks(self) -> Self {
        let subagents =
            if self.subagents == Subagents::Refused { Subagents::Counted } else { self.subagents };
        Self { stop_hook: StopHook::None, tool_veto: Can::No, subagents, ..self }
    }

    /// What the user should know before it bites, one sentence each; nothing where nothing is missing.
    pub fn lacks(&self) -> Vec<&'static str> {
        let missing = [
            (self.structured, "it prints text only: no tokens, no tools, no files, no session"),
            (self.cost, "it reports no cost: `limits.cost_usd` cannot be enforced"),
            (self.tokens, "it reports no tokens: `limits.tokens` cannot be enforced"),
            (
                self.denials,
                "it does not report which tools were denied: an iteration that changes nothing is the only sign",
            ),
            (
                if self.subagents == Subagents::Counted { Can::No } else { Can::Unknown },
                "its subagents are counted and never refused: `[spawns]` cannot be enforced",
            ),
            (
                if self.subagents == Subagents::Unseen { Can::No } else { Can::Unknown },
                "it does not report its subagents: `[spawns]` cannot be enforced",
            ),
        ];
        let all = missing.into_iter().filter(|(can, _)| *can == Can::No).map(|(_, sentence)| sentence);
        // Whoever prints text only tells nothing of the rest either.
        let most = if self.structured == Can::No { 2 } else { missing.len() };
        all.take(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{AUTO, Can, Found, KNOWN, Kind, StopHook, Subagents};
    use crate::settings::{Dialect, Mode};

    #[test]
    fn names_lead_back_to_their_kind() {
        for kind in KNOWN {
            assert_eq!(Kind::of(kind.name(), Dialect::Text), kind);
            assert!(kind.known().is_some(), "{kind:?}");
        }
        assert_eq!(Kind::of("demo", Dialect::Text), Kind::Demo);
        assert_eq!(Kind::of("mine", Dialect::Codex), Kind::Own(Dialect::Codex));
        assert_eq!(Kind::of("mine", Dialect::Acp), Kind::Acp(None));
        let gemini = Kind::of("gemini", Dialect::Acp);
        assert_eq!((gemini, gemini.name()), (Kind::Acp(Some(&Kind::Gemini)), "gemini"));
        assert_eq!(gemini.known().map(|it| it.name), Some("gemini"));
        assert_eq!(AUTO.map(Kind::name), ["claude", "codex", "opencode", "gemini"]);
    }

    #[test]
    fn what_is_missing_is_said_before_it_bites() {
        let within = |kind: Kind, mode: Mode, expect: &[&str]| {
            let lacks = kind.capabilities().with(mode).lacks();
            assert_eq!(lacks.len(), expect.len(), "{kind:?}: {lacks:?}");
            assert!(lacks.iter().zip(expect).all(|(it, part)| it.contains(part)), "{kind:?}: {lacks:?}");
        };
        let check = |kind: Kind, expect: &[&str]| {
            within(kind, Mode::Loop, expect);
            within(kind, Mode::Hook, expect);
        };
        within(Kind::Claude, Mode::Attach, &["`limits.cost_usd` cannot be enforced", "denied"]);
        check(Kind::Claude, &[]);
        let off = Kind::Claude.capabilities().without_hooks();
        assert!(off.lacks()[0].starts_with("its subagents are counted and never refused"), "{off:?}");
        check(Kind::Codex, &["no cost", "subagents"]);
        check(Kind::Gemini, &["no cost", "subagents"]);
        check(Kind::Opencode, &["subagents"]);
        check(Kind::Qwen, &["no cost", "subagents"]);
        check(Kind::Copilot, &["text only", "no cost"]);
        check(Kind::Cursor, &["no cost", "no tokens"]);
        check(Kind::Amp, &["no cost", "no tokens", "denied"]);
        check(Kind::Own(Dialect::Text), &["text only", "no cost"]);
        check(Kind::Own(Dialect::Codex), &["no cost", "subagents"]);
        check(Kind::of("gemini", Dialect::Acp), &["no cost"]);
        check(Kind::of("opencode", Dialect::Acp), &["no tokens"]);
        check(Kind::of("mine", Dialect::Acp), &[]);
    }

    /// One row of the page.
    fn row(name: &str, kind: Kind) -> String {
        let can = kind.capabilities();
        let word = |it: Can| match it {
            Can::Yes => "yes".to_owned(),
            Can::No => "no".to_owned(),
            Can::Unknown => "?".to_owned(),
        };
        let subagents = match can.subagents {
            Subagents::Refused => "refused",
            Subagents::Counted => "counted",
            Subagents::Unseen => "unseen",
            Subagents::Unknown => "?",
        };
        let reads = if can.structured.is_yes() { "JSON" } else { "text" };
        let stop_hook = match can.stop_hook {
            StopHook::OfFolder => "in its folder".to_owned(),
            StopHook::Unbounded => "yes".to_owned(),
            StopHook::Capped(most) => format!("up to {most}"),
            StopHook::None => "no".to_owned(),
            StopHook::Unknown => "?".to_owned(),
        };
        let found = match can.found {
            Found::Run(version) => format!("running {version}"),
            Found::Help(version) => format!("the help of {version}"),
            Found::Documentation => "documentation".to_owned(),
            Found::ByOutput => "its output".to_owned(),
            Found::Protocol => "the protocol".to_owned(),
        };
        let before = [can.cost, can.tokens, can.chosen_session, can.resume, can.fork].map(word);
        let after = [can.step_cap, can.acp, can.denials].map(word);
        let between = [word(can.tool_veto), subagents.to_owned()];
        let cells =
            [name.to_owned(), reads.to_owned()].into_iter().chain(before).chain([stop_hook]).chain(between);
        format!("| {} |", cells.chain(after).chain([found]).collect::<Vec<_>>().join(" | "))
    }

    #[test]
    fn the_page_says_what_the_code_does() {
        let page = include_str!("../../../AGENTS.md");
        let rows = KNOWN.map(|it| (format!("`{}`", it.name()), it));
        let own = ("a command of your own".to_owned(), Kind::Own(Dialect::Text));
        let acp = ("any with `output = \"acp\"`".to_owned(), Kind::Acp(None));
        let by_acp = [Kind::Gemini, Kind::Opencode, Kind::Qwen]
            .map(|it| (format!("`{}` with it", it.name()), Kind::of(it.name(), Dialect::Acp)));
        for (name, kind) in rows.into_iter().chain([own, acp]).chain(by_acp) {
            let row = row(&name, kind);
            assert!(page.contains(&row), "the page lacks {row}");
        }
    }

    #[test]
    fn of_a_command_of_the_users_own_only_its_output_is_known() {
        let own = Kind::Own(Dialect::Claude).capabilities();
        assert_eq!((own.cost, own.resume, own.tool_veto), (Can::Yes, Can::Unknown, Can::Unknown));
    }
}
