//! Renders the doctor's report as text.

use std::fmt::Write as _;

use loopkeeper_agent::catalog::CATALOG;
use loopkeeper_agent::login::LoginState;
use loopkeeper_text::{message, sanitize, tr, words};
use loopkeeper_view::doctor::{AgentFacts, AgentVersion, DoctorFinding, DoctorLevel, DoctorTopic};
use loopkeeper_view::probe::{ProbeAnswer, ProbeReport};

use crate::render::{BOLD, DIM, FAILURE, Glyphs, SUCCESS, WARNING, padded};

const NAME_CELLS: usize = 9;
const CAPABILITY_CELLS: usize = 20;
const ANSWER_CELLS: usize = 7;

/// One line per finding below its topic, with the remedy on the next line.
pub(super) fn findings(findings: &[DoctorFinding], glyphs: Glyphs) -> String {
    let mut text = String::new();
    let mut topic = None;
    for finding in findings {
        if topic != Some(finding.topic) {
            let gap = if topic.is_none() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{BOLD}{}{BOLD:#}", title(finding.topic));
            topic = Some(finding.topic);
        }
        let (style, sign) = match (finding.level, glyphs) {
            (DoctorLevel::Good, Glyphs::Unicode) => (SUCCESS, "✓"),
            (DoctorLevel::Good, Glyphs::Ascii) => (SUCCESS, "+"),
            (DoctorLevel::Info, Glyphs::Unicode) => (DIM, "·"),
            (DoctorLevel::Info, Glyphs::Ascii) => (DIM, "-"),
            (DoctorLevel::Note, _) => (WARNING, "!"),
            (DoctorLevel::Bad, Glyphs::Unicode) => (FAILURE, "✗"),
            (DoctorLevel::Bad, Glyphs::Ascii) => (FAILURE, "x"),
        };
        let _ = writeln!(text, "  {style}{sign}{style:#} {}", sanitize::line(&finding.what));
        if let Some(hint) = &finding.hint {
            let hint = words::capitalised(&sanitize::line(hint));
            let _ = writeln!(text, "    {}", message::hint_line(hint));
        }
    }
    text
}

fn title(topic: DoctorTopic) -> &'static str {
    match topic {
        DoctorTopic::Agents => tr!("Agents"),
        DoctorTopic::Machine => tr!("Machine"),
        DoctorTopic::Workspace => tr!("Workspace"),
    }
}

/// One agent, with a line for each fact.
pub(super) fn agent(agent: &AgentFacts, capabilities: &[(&'static str, String)]) -> String {
    let known = CATALOG.iter().find(|it| !agent.own && it.name == agent.name);
    let mut text = format!("{BOLD}{}{BOLD:#}\n", sanitize::line(&agent.title));
    let mut fact = |name: &str, value: &str| {
        let _ = writeln!(text, "  {} {}", padded(name, NAME_CELLS), sanitize::line(value));
    };
    match (&agent.program, known) {
        (Some(program), _) => fact(tr!("Program"), program),
        (None, Some(known)) => {
            fact(tr!("Program"), &tr!("not installed; `{install}`", install = known.install));
        }
        (None, None) => fact(tr!("Program"), tr!("not found; correct its `command`")),
    }
    if agent.program.is_some() {
        match &agent.version {
            AgentVersion::Told(version) => fact(tr!("Version"), version),
            AgentVersion::Failed(why) | AgentVersion::NotAsked(why) => {
                fact(tr!("Version"), &tr!("unknown: {why}", why));
            }
        }
    }
    match (&agent.login, known) {
        (LoginState::Seen(by), _) => fact(tr!("Login"), &tr!("seen ({by})", by)),
        (LoginState::Withheld(name), _) => {
            fact(tr!("Login"), &tr!("${name} is set but not passed; `[env] pass = [\"{name}\"]`", name));
        }
        (LoginState::NotSeen, Some(known)) => {
            fact(tr!("Login"), &tr!("not seen; {log_in}", log_in = known.log_in()));
        }
        (LoginState::NotSeen | LoginState::Unknown, _) => {
            fact(tr!("Login"), tr!("unknown: it is a command of your own"));
        }
    }
    if let Some(place) = &agent.hooks_disabled_in {
        fact(tr!("Hooks"), &tr!("off, by `disableAllHooks` in {place}", place));
    }
    for (what, answer) in capabilities {
        let _ = writeln!(text, "  {} {answer}", padded(what, CAPABILITY_CELLS));
    }
    text
}

/// The table of a probe, and the next steps.
pub(super) fn format_probe(report: &ProbeReport, glyphs: Glyphs) -> String {
    let mut text =
        format!("{BOLD}{}{BOLD:#}\n", tr!("What `{agent}` can do", agent = sanitize::line(&report.agent)));
    for row in &report.rows {
        let (style, sign) = match (row.answer, glyphs) {
            (ProbeAnswer::Yes, Glyphs::Unicode) => (SUCCESS, "✓"),
            (ProbeAnswer::Yes, Glyphs::Ascii) => (SUCCESS, "+"),
            (ProbeAnswer::No, Glyphs::Unicode) => (FAILURE, "✗"),
            (ProbeAnswer::No, Glyphs::Ascii) => (FAILURE, "x"),
            (ProbeAnswer::Unclear, _) => (WARNING, "?"),
            (ProbeAnswer::NotApplicable, _) => (DIM, "-"),
        };
        let (word, question) = (row.answer.word(), row.question.words());
        let _ = writeln!(
            text,
            "  {style}{sign} {}{style:#}  {}",
            padded(word, ANSWER_CELLS),
            tr!("{question}: {fact}", question, fact = sanitize::line(&row.fact))
        );
    }
    let advice = &report.recommendation;
    for note in &advice.notes {
        let _ = write!(text, "\n{note}");
    }
    if !advice.notes.is_empty() {
        text.push('\n');
    }
    if !advice.toml.is_empty() {
        let _ = write!(
            text,
            "\n{BOLD}{}{BOLD:#}\n\n{}",
            tr!("For loopkeeper.toml"),
            sanitize::text(&advice.toml)
        );
    }
    text
}
