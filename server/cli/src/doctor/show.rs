//! Renders the doctor's report as text.

use std::fmt::Write as _;

use loopkeeper_agent::catalog::KNOWN;
use loopkeeper_text::message;
use loopkeeper_text::{sanitize, words};
use loopkeeper_view::doctor::{
    AgentFacts, AgentVersion, DoctorFinding, DoctorLevel, DoctorTopic, LoginState,
};
use loopkeeper_view::probe::{ProbeAnswer, ProbeReport};

use crate::render::{BAD, CARE, GOOD, Glyphs, LOUD, QUIET};

/// One line per finding below its topic, with the remedy on the next line.
pub(super) fn findings(findings: &[DoctorFinding], glyphs: Glyphs) -> String {
    let mut text = String::new();
    let mut topic = None;
    for finding in findings {
        if topic != Some(finding.topic) {
            let gap = if topic.is_none() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{LOUD}{}{LOUD:#}", title(finding.topic));
            topic = Some(finding.topic);
        }
        let (style, sign) = match (finding.level, glyphs) {
            (DoctorLevel::Good, Glyphs::Unicode) => (GOOD, "✓"),
            (DoctorLevel::Good, Glyphs::Ascii) => (GOOD, "+"),
            (DoctorLevel::Info, Glyphs::Unicode) => (QUIET, "·"),
            (DoctorLevel::Info, Glyphs::Ascii) => (QUIET, "-"),
            (DoctorLevel::Note, _) => (CARE, "!"),
            (DoctorLevel::Bad, Glyphs::Unicode) => (BAD, "✗"),
            (DoctorLevel::Bad, Glyphs::Ascii) => (BAD, "x"),
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
        DoctorTopic::Agents => "Agents",
        DoctorTopic::Machine => "Machine",
        DoctorTopic::Workspace => "Workspace",
    }
}

/// One agent, with a line for each fact.
pub(super) fn agent(agent: &AgentFacts, capabilities: &[(&'static str, String)]) -> String {
    let known = KNOWN.iter().find(|it| !agent.own && it.name == agent.name);
    let mut text = format!("{LOUD}{}{LOUD:#}\n", sanitize::line(&agent.title));
    let mut fact = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<9} {}", sanitize::line(value));
    };
    match (&agent.program, known) {
        (Some(program), _) => fact("Program", program),
        (None, Some(known)) => fact("Program", &format!("not installed; `{}`", known.install)),
        (None, None) => fact("Program", "not there; correct its `command`"),
    }
    if agent.program.is_some() {
        match &agent.version {
            AgentVersion::Told(version) => fact("Version", version),
            AgentVersion::Failed(why) | AgentVersion::NotAsked(why) => {
                fact("Version", &format!("unknown: {why}"));
            }
        }
    }
    match (&agent.login, known) {
        (LoginState::Seen(by), _) => fact("Login", &format!("seen ({by})")),
        (LoginState::Withheld(name), _) => {
            fact("Login", &format!("${name} is set but not passed; `[env] pass = [\"{name}\"]`"));
        }
        (LoginState::NotSeen, Some(known)) => fact("Login", &format!("not seen; {}", known.log_in())),
        (LoginState::NotSeen | LoginState::Unknown, _) => {
            fact("Login", "unknown: it is a command of your own");
        }
    }
    if let Some(place) = &agent.hooks_off {
        fact("Hooks", &format!("off, by `disableAllHooks` in {place}"));
    }
    for (what, answer) in capabilities {
        let _ = writeln!(text, "  {what:<20} {answer}");
    }
    text
}

/// The table of a probe, and the next steps.
pub(super) fn probed(report: &ProbeReport, glyphs: Glyphs) -> String {
    let mut text = format!("{LOUD}What `{}` can do{LOUD:#}\n", sanitize::line(&report.agent));
    for row in &report.rows {
        let (style, sign) = match (row.answer, glyphs) {
            (ProbeAnswer::Yes, Glyphs::Unicode) => (GOOD, "✓"),
            (ProbeAnswer::Yes, Glyphs::Ascii) => (GOOD, "+"),
            (ProbeAnswer::No, Glyphs::Unicode) => (BAD, "✗"),
            (ProbeAnswer::No, Glyphs::Ascii) => (BAD, "x"),
            (ProbeAnswer::Unclear, _) => (CARE, "?"),
            (ProbeAnswer::NotApplicable, _) => (QUIET, "-"),
        };
        let (word, question) = (row.answer.word(), row.question.words());
        let _ =
            writeln!(text, "  {style}{sign} {word:<7}{style:#}  {question}: {}", sanitize::line(&row.fact));
    }
    let advice = &report.recommendation;
    for note in &advice.notes {
        let _ = write!(text, "\n{note}");
    }
    if !advice.notes.is_empty() {
        text.push('\n');
    }
    if !advice.toml.is_empty() {
        let _ = write!(text, "\n{LOUD}For loopkeeper.toml{LOUD:#}\n\n{}", sanitize::text(&advice.toml));
    }
    text
}
