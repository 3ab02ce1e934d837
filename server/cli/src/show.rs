//! Shows a running loop until it ends: as JSON lines, as a live block, or as plain lines. Output only: it sends nothing
//! to the loop.

use loopkeeper_core::decide::LoopState;
use loopkeeper_core::journal::reading::ChecksumChain;
use loopkeeper_core::journal::{Entry, Outcome, Record};
use loopkeeper_core::liveness::KeeperLiveness;
use loopkeeper_text::tr;
use loopkeeper_view::{self as view, StatusFacts};
use serde_json::json;

use super::out::Ui;
use super::render::entry::{DetailLevel, EntryFormatter};
use super::render::live::ProgressOutput;
use super::render::{Glyphs, ending, progress, remedy};
use loopkeeper_operations::local_time::LocalZone;
use loopkeeper_system::clock;

/// The format in which a loop is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoopFormat {
    Text,
    /// Text in permanent lines, also on a terminal.
    Plain,
    Json,
}

impl LoopFormat {
    /// `json`: the flag `--json`.
    pub(crate) fn from_flag(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// Prints a loop on stdout.
pub(crate) enum LoopPrinter<'a> {
    Json { out: &'a mut Ui, chain: ChecksumChain },
    Text(Box<TextPrinter<'a>>),
}

pub(crate) struct TextPrinter<'a> {
    live: ProgressOutput<'a>,
    formatter: EntryFormatter,
    zone: LocalZone,
    glyphs: Glyphs,
    activity: Option<String>,
    /// Shown below the commands that help a loop that needs the user.
    remedy_note: Option<&'static str>,
    /// Whether `log` can show the loop later.
    is_kept: bool,
}

impl<'a> LoopPrinter<'a> {
    pub(crate) fn new(format: LoopFormat, out: &'a mut Ui) -> Self {
        match format {
            LoopFormat::Json => Self::Json { out, chain: ChecksumChain::default() },
            LoopFormat::Text | LoopFormat::Plain => {
                let (zone, glyphs) = (LocalZone::local(), Glyphs::of_environment());
                let formatter = EntryFormatter::new(zone.clone(), glyphs);
                Self::Text(Box::new(TextPrinter {
                    live: match format {
                        LoopFormat::Plain => ProgressOutput::plain(out),
                        LoopFormat::Text | LoopFormat::Json => ProgressOutput::new(out),
                    },
                    formatter,
                    zone,
                    glyphs,
                    activity: None,
                    remedy_note: None,
                    is_kept: true,
                }))
            }
        }
    }

    /// For a terminal whose Ctrl-C ends the loop, so that its commands have to be typed elsewhere.
    pub(crate) fn for_loop_owner(mut self) -> Self {
        if let Self::Text(text) = &mut self {
            text.remedy_note = Some(tr!("Type it in another terminal: Ctrl-C here ends the loop."));
        }
        self
    }

    /// For a loop that is removed when it has ended.
    pub(crate) fn for_temporary_loop(mut self) -> Self {
        if let Self::Text(text) = &mut self {
            text.is_kept = false;
        }
        self
    }

    /// Prints one more record; `state` is the loop after it.
    pub(crate) fn print_entry(&mut self, entry: &Entry, state: &LoopState) {
        match self {
            Self::Json { out, chain } => {
                // We cannot write records of a later version, so they have no line.
                let Ok(line) = chain.append(entry) else { return };
                match &entry.record {
                    Record::Ended { outcome } => out.line(with_summary(&line, outcome, state)),
                    _ => out.write(&line),
                }
            }
            Self::Text(text) => {
                if matches!(entry.record, Record::AgentEnded { .. } | Record::IterationIntended { .. }) {
                    text.activity = None;
                }
                let lines = text.formatter.format_entry(entry, DetailLevel::Milestones);
                text.live.print(&lines);
            }
        }
    }

    /// Sets the last activity of the agent.
    pub(crate) fn set_activity(&mut self, line: String) {
        if let Self::Text(text) = self {
            text.activity = Some(line);
        }
    }

    /// Prints a sentence of our own above the block.
    pub(crate) fn print_note(&mut self, line: &str) {
        if let Self::Text(text) = self {
            text.live.print(&[line.to_owned()]);
        }
    }

    /// Redraws the block.
    pub(crate) fn refresh(&mut self, state: &LoopState) {
        if let Self::Text(text) = self {
            let now = clock::now();
            let facts = StatusFacts {
                now,
                keeper: KeeperLiveness::RUNNING,
                activity: text.activity.clone(),
                ..StatusFacts::default()
            };
            let status = view::status(state, &facts);
            let mut block = progress::block(&status, now.wall, &text.zone, text.glyphs);
            let needs_command = !remedy::remedy_lines(&status).is_empty();
            block.extend(text.remedy_note.filter(|_| needs_command).map(|it| format!("  {it}")));
            text.live.set_block(&block);
        }
    }

    /// Removes the block and prints the summary.
    pub(crate) fn finish(self, state: Option<&LoopState>) {
        let Self::Text(text) = self else { return };
        let TextPrinter { mut live, glyphs, is_kept, .. } = *text;
        live.set_block(&[]);
        if let Some(state) = state.filter(|it| it.outcome().is_some()) {
            live.print(&ending::lines(state, glyphs, is_kept));
        }
    }

    /// Whether the reader has closed the pipe.
    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Self::Json { out, .. } => out.is_closed(),
            Self::Text(text) => text.live.is_closed(),
        }
    }
}

/// The `ended` record with totals that a script would otherwise have to compute. Without the checksum, which would no
/// longer match.
fn with_summary(line: &str, outcome: &Outcome, state: &LoopState) -> String {
    let record = line.rsplit_once(",\"sum\":").map_or(line, |(record, _)| record);
    let final_text = state.last_iteration().map(|it| it.final_text.as_str()).unwrap_or_default();
    let summary = json!({
        "sentence": outcome.sentence,
        "iterations": state.iteration,
        "spent": view::UsageStatus::of(&state.spent),
        "finalText": final_text,
    })
    .to_string();
    format!("{record},{}", summary.strip_prefix('{').unwrap_or_default())
}
