//! The full-screen view of `watch` as data: a state, keys in, lines and actions out. It has no terminal and no clock, so
//! that every screen is a table in the tests.

mod details;
mod footer;
mod keys;
mod line;
mod list;
mod pager;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::VecDeque;

pub use self::keys::{DashboardAction, DashboardCommand, DashboardKey};
pub use self::line::{DashboardLine, DashboardSpan, DashboardStyle};
use super::editor::{breaker_band, grid};
use super::report::report;
use super::{DisplayState, LoopStatus, StatusFacts, budget, headline, status};
use loopkeeper_core::decide::LoopState;
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

/// Lines of an output or a patch that are kept in memory for one loop.
const MAX_LINES: usize = 2000;
/// Iterations in the breaker's column of the list.
const BAND_COLUMNS: usize = 8;
const MAX_DECISIONS: usize = 5;

/// The character set of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DashboardCharset {
    #[default]
    Unicode,
    Ascii,
}

/// The size of the terminal in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DashboardSize {
    pub columns: usize,
    pub rows: usize,
}

/// The display of one loop. It changes only with a record, so it is computed once per record and not once per frame.
#[derive(Debug, Clone, PartialEq)]
pub struct DashboardLoop {
    pub status: LoopStatus,
    /// Its folder, if that is not the user's current work tree.
    pub folder: Option<String>,
    headline: String,
    budget: String,
    /// `40% cost`: the limit that is used up most.
    most_used: String,
    band: String,
    grid: Vec<String>,
    decisions: Vec<String>,
    output: VecDeque<String>,
}

impl DashboardLoop {
    pub fn new(state: &LoopState, facts: &StatusFacts, folder: Option<String>) -> Self {
        let status = status(state, facts);
        let report = report(state, &status);
        let most_used = report.limits.iter().max_by_key(|it| it.percent);
        let first_decision = report.decisions.len().saturating_sub(MAX_DECISIONS);
        Self {
            headline: sanitize::line(&headline(&status).sentences()),
            budget: sanitize::line(&budget(&status, Some(state), facts.now)),
            most_used: most_used
                .map(|it| format!("{}% {}", it.percent, it.name.to_lowercase()))
                .unwrap_or_default(),
            band: breaker_band(state, BAND_COLUMNS),
            grid: grid(state).lines().map(sanitize_cells).collect(),
            decisions: report.decisions.into_iter().skip(first_decision).collect(),
            output: VecDeque::new(),
            folder: folder.map(|it| sanitize::line(&it)),
            status,
        }
    }

    fn id(&self) -> &str {
        &self.status.id
    }

    fn title(&self) -> &str {
        if self.status.task.title.is_empty() { &self.status.id } else { &self.status.task.title }
    }

    fn is_ended(&self) -> bool {
        self.status.state == DisplayState::Done
    }
}

/// Aligned text: control characters are removed, spaces kept.
fn sanitize_cells(line: &str) -> String {
    sanitize::text(line).replace('\t', "    ").replace('\n', " ")
}

/// The part of the view that has the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum DashboardScreen {
    #[default]
    Loops,
    Details,
    Output,
    Diff,
    Help,
}

/// A question on the last line, about the loop that was selected when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
enum DashboardPrompt {
    Answer { id: String, text: String },
    Stop { id: String },
}

#[derive(Debug, Clone, Default)]
pub struct Dashboard {
    loops: Vec<DashboardLoop>,
    /// The id of the loop that the user selected; until then it is the first one.
    selected: Option<String>,
    screen: DashboardScreen,
    /// The screen below the pager or the help.
    previous: DashboardScreen,
    prompt: Option<DashboardPrompt>,
    note: Option<String>,
    /// Lines above the visible part; of an output, lines below it.
    scroll: usize,
    /// The largest `scroll` of the last frame. Further steps would not move it, and had to be taken back first.
    max_scroll: usize,
    patch: Vec<String>,
    charset: DashboardCharset,
}

impl Dashboard {
    pub fn new(charset: DashboardCharset) -> Self {
        Self { charset, ..Self::default() }
    }

    /// Selects a loop and shows its details.
    pub fn open(&mut self, id: &str) {
        self.selected = Some(id.to_owned());
        self.screen = DashboardScreen::Details;
    }

    /// Adds a loop or replaces its display. Running loops come first, then interrupted, then ended ones.
    pub fn set_loop(&mut self, mut shown: DashboardLoop) {
        if let Some(old) = self.loops.iter_mut().find(|it| it.id() == shown.id()) {
            shown.output = std::mem::take(&mut old.output);
            if shown.status.state == DisplayState::Working {
                shown.status.activity = old.status.activity.take();
            }
            *old = shown;
        } else {
            self.loops.push(shown);
        }
        self.loops.sort_by_key(|it| {
            let started_at = Reverse(it.status.started_at.clone());
            (it.is_ended(), !it.status.keeper.alive, started_at, Reverse(it.id().to_owned()))
        });
    }

    /// Removes the loops for which `is_known` is false.
    pub fn retain(&mut self, is_known: impl Fn(&str) -> bool) {
        self.loops.retain(|it| is_known(it.id()));
        if self.selected.as_ref().is_some_and(|id| self.loops.iter().all(|it| it.id() != id)) {
            self.selected = None;
            self.screen = DashboardScreen::Loops;
        }
    }

    /// The last activity of the agent.
    pub fn set_activity(&mut self, id: &str, text: &str) {
        if let Some(it) = self.find_mut(id) {
            it.status.activity = Some(sanitize::line(text));
        }
    }

    /// One more line of the agent's output.
    pub fn add_output(&mut self, id: &str, text: &str) {
        if let Some(it) = self.find_mut(id) {
            it.output.extend(text.lines().map(sanitize_cells));
            let excess = it.output.len().saturating_sub(MAX_LINES);
            it.output.drain(..excess);
        }
    }

    /// Replaces the output with the stored output.
    pub fn set_output(&mut self, id: &str, text: &str) {
        if let Some(it) = self.find_mut(id) {
            it.output.clear();
        }
        self.add_output(id, text);
    }

    /// The patch of the selected loop.
    pub fn set_patch(&mut self, text: &str) {
        self.patch = text.lines().take(MAX_LINES).map(sanitize_cells).collect();
        if text.lines().nth(MAX_LINES).is_some() {
            self.patch.push(tr!("… `loopkeeper diff` prints all of it").to_owned());
        }
    }

    /// Shows a sentence on the last line until the next key.
    pub fn set_note(&mut self, text: &str) {
        self.note = Some(sanitize::line(text)).filter(|it| !it.is_empty());
    }

    /// The id of the selected loop.
    pub fn selected(&self) -> Option<&str> {
        self.current().map(DashboardLoop::id)
    }

    /// The screen of this size: `rows` lines of at most `columns` cells.
    pub fn render(&mut self, size: DashboardSize) -> Vec<DashboardLine> {
        let body_rows = size.rows.saturating_sub(1);
        self.max_scroll = self.lines_beyond(size.columns, body_rows);
        self.scroll = self.scroll.min(self.max_scroll);
        let mut lines = match (self.screen, self.current()) {
            (DashboardScreen::Help, _) => pager::help(),
            (DashboardScreen::Loops, _) | (_, None) => list::lines(self, size.columns, body_rows),
            (DashboardScreen::Details, Some(it)) => {
                pager::window(details::lines(it, size.columns), self.scroll, body_rows)
            }
            (DashboardScreen::Output, Some(it)) => pager::output(it, self.scroll, body_rows),
            (DashboardScreen::Diff, Some(it)) => pager::patch(it, &self.patch, self.scroll, body_rows),
        };
        lines.truncate(body_rows);
        lines.resize(body_rows, DashboardLine::default());
        if size.rows > 0 {
            lines.push(footer::line(self));
        }
        lines.into_iter().map(|it| it.fit(size.columns, self.charset)).collect()
    }

    /// The number of lines of a scrolling screen that do not fit.
    fn lines_beyond(&self, columns: usize, rows: usize) -> usize {
        let Some(current) = self.current() else { return 0 };
        match self.screen {
            DashboardScreen::Loops | DashboardScreen::Help => 0,
            DashboardScreen::Details => details::lines(current, columns).len().saturating_sub(rows),
            DashboardScreen::Output => pager::lines_beyond(current.output.len(), rows),
            DashboardScreen::Diff => pager::lines_beyond(self.patch.len(), rows),
        }
    }

    fn current(&self) -> Option<&DashboardLoop> {
        self.loops.get(self.position())
    }

    fn position(&self) -> usize {
        let id = self.selected.as_deref();
        self.loops.iter().position(|it| Some(it.id()) == id).unwrap_or_default()
    }

    fn find_mut(&mut self, id: &str) -> Option<&mut DashboardLoop> {
        self.loops.iter_mut().find(|it| it.id() == id)
    }
}
