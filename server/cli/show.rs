//! Shows a loop at work until it ends: as JSON lines, as a live block, or as plain lines.
//! Only shows: nothing here asks the loop for anything.

use loopkeeper_core::decide::Loop;
use loopkeeper_core::journal::reading::Chain;
use loopkeeper_core::journal::{Entry, Outcome, Record};
use loopkeeper_core::view::{self, Facts};
use serde_json::json;

use super::out::Out;
use super::render::entry::{Detail, Teller};
use super::render::live::Live;
use super::render::{Glyphs, ending, progress};
use crate::adapters::clock;
use crate::front::zone::Zone;

/// How a loop is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
}

impl Form {
    pub(crate) fn json(wanted: bool) -> Self {
        if wanted { Self::Json } else { Self::Text }
    }
}

/// A loop on stdout.
pub(crate) enum Show<'a> {
    Json { out: &'a mut Out, chain: Chain },
    Text(Box<Text<'a>>),
}

pub(crate) struct Text<'a> {
    live: Live<'a>,
    teller: Teller,
    zone: Zone,
    glyphs: Glyphs,
    activity: Option<String>,
}

impl<'a> Show<'a> {
    pub(crate) fn new(form: Form, out: &'a mut Out) -> Self {
        match form {
            Form::Json => Self::Json { out, chain: Chain::default() },
            Form::Text => {
                let (zone, glyphs) = (Zone::local(), Glyphs::of_environment());
                let teller = Teller::new(zone.clone(), glyphs);
                Self::Text(Box::new(Text { live: Live::new(out), teller, zone, glyphs, activity: None }))
            }
        }
    }

    /// One more record; `state` is the loop with it.
    pub(crate) fn tell(&mut self, entry: &Entry, state: &Loop) {
        match self {
            Self::Json { out, chain } => {
                // A record that only a later version can write has no line of ours.
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
                let lines = text.teller.tell(entry, Detail::Milestones);
                text.live.print(&lines);
            }
        }
    }

    /// What the agent was just seen doing.
    pub(crate) fn activity(&mut self, line: String) {
        if let Self::Text(text) = self {
            text.activity = Some(line);
        }
    }

    /// A sentence of our own, above the block.
    pub(crate) fn note(&mut self, line: &str) {
        if let Self::Text(text) = self {
            text.live.print(&[line.to_owned()]);
        }
    }

    /// The block as it is now.
    pub(crate) fn refresh(&mut self, state: &Loop) {
        if let Self::Text(text) = self {
            let now = clock::now();
            let facts = Facts { now, keeper: Some(None), damaged: false, activity: text.activity.clone() };
            let status = view::status(state, &facts);
            text.live.show(&progress::block(&status, now.wall, &text.zone, text.glyphs));
        }
    }

    /// Takes the block away and sums up.
    pub(crate) fn finish(self, state: Option<&Loop>) {
        let Self::Text(text) = self else { return };
        let Text { mut live, glyphs, .. } = *text;
        live.show(&[]);
        if let Some(state) = state.filter(|it| it.outcome.is_some()) {
            live.print(&ending::lines(state, glyphs));
        }
    }

    /// Nobody reads any more.
    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Self::Json { out, .. } => out.is_closed(),
            Self::Text(text) => text.live.is_closed(),
        }
    }
}

/// The `ended` record with what a script would otherwise have to add up. Its checksum would no longer fit.
fn with_summary(line: &str, outcome: &Outcome, state: &Loop) -> String {
    let record = line.rsplit_once(",\"sum\":").map_or(line, |(record, _)| record);
    let final_text = state.last_iteration().map(|it| it.final_text.as_str()).unwrap_or_default();
    let summary = json!({
        "sentence": outcome.sentence,
        "iterations": state.iteration,
        "spent": view::Spent::of(&state.spent),
        "finalText": final_text,
    })
    .to_string();
    format!("{record},{}", summary.strip_prefix('{').unwrap_or_default())
}
