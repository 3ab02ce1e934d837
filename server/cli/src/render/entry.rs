//! Renders journal records as one line each: for `log`, and for `run` and `watch` if the output cannot be redrawn.

mod agent;
mod breaker_opening;
mod changes;
mod loop_start;
mod mutants;
mod subagents;
mod tree;
mod waits;

use std::fmt::Write as _;

use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_core::journal::{
    BreakerState, Entry, PauseReason, Proposal, QuestionKind, Record, Round, SessionReason, WaitReason,
};
use loopkeeper_text::clauses;
use loopkeeper_text::message::{self, Message};
use loopkeeper_text::moment::Moment;
use loopkeeper_text::{sanitize, tr, words};
use loopkeeper_view::criterion_names::CriterionNames;
use loopkeeper_view::sentences;

use super::{DIM, Glyphs};
use loopkeeper_operations::local_time::LocalZone;

/// Limit per failing check.
const MAX_PLACES: usize = 3;
const LAST_LINES: usize = 2;

/// Formats a journal from its start, because later records name criteria only by ids that earlier ones introduced.
pub(crate) struct EntryFormatter {
    zone: LocalZone,
    glyphs: Glyphs,
    loop_id: String,
    names: CriterionNames,
    /// Failures of the running iteration's checks; with milestones only, they are printed with the iteration's
    /// sentence.
    failing: String,
    /// Denied requests of its agent; printed in the same way.
    denied: String,
    day: String,
}

/// Which records of a journal are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DetailLevel {
    Everything,
    /// Only the records of interest to a user who waits for the end.
    Milestones,
}

impl EntryFormatter {
    pub(crate) fn new(zone: LocalZone, glyphs: Glyphs) -> Self {
        Self {
            zone,
            glyphs,
            loop_id: String::new(),
            names: CriterionNames::default(),
            failing: String::new(),
            denied: String::new(),
            day: String::new(),
        }
    }

    /// The lines of one record; a new day is printed first.
    pub(crate) fn format_entry(&mut self, entry: &Entry, detail: DetailLevel) -> Vec<String> {
        self.observe(&entry.record);
        if detail == DetailLevel::Milestones && !is_milestone(&entry.record) {
            return Vec::new();
        }
        let Some((iteration, mut what)) = self.describe_entry(entry) else { return Vec::new() };
        if detail == DetailLevel::Milestones && matches!(entry.record, Record::IterationEnded { .. }) {
            what.push_str(&std::mem::take(&mut self.failing));
            what.push_str(&std::mem::take(&mut self.denied));
        }
        let hint = self.hint(&entry.record).filter(|_| detail == DetailLevel::Milestones);
        let mut lines = Vec::new();
        let day = self.zone.day(entry.at.wall);
        if day != self.day {
            lines.push(format!("{DIM}{day}{DIM:#}"));
            self.day = day;
        }
        let number = iteration.map_or(String::new(), |it| format!("#{it}"));
        lines.push(format!("{DIM}{}{DIM:#} {number:>4}  {what}", self.zone.clock(entry.at.wall)));
        if let Record::LoopStarted { spec, .. } = &entry.record {
            lines.push(format!("{DIM}{:17}{}{DIM:#}", "", loop_start::limits(spec)));
        }
        if detail == DetailLevel::Everything {
            let evidence = evidence(&entry.record).into_iter().chain(self.failures(&entry.record));
            lines.extend(evidence.map(|it| format!("{DIM}{:17}{it}{DIM:#}", "")));
        }
        lines.extend(hint);
        lines
    }

    /// The command for the answer, shown to a watching user.
    fn hint(&self, record: &Record) -> Option<String> {
        let Record::Asked { kind, until: Some(_), .. } = record else { return None };
        let id = &self.loop_id;
        let command = match kind {
            QuestionKind::UsageLimit => tr!("`loopkeeper answer {id} stop` ends it", id),
            QuestionKind::Permission => tr!("`loopkeeper answer {id} allow`, `always` or `deny`", id),
            QuestionKind::Agent | QuestionKind::Denied => format!("`loopkeeper answer {id} '…'`"),
        };
        Some(message::hint_line(command))
    }

    /// Whether later records are printed with the content of a record of this type.
    pub(crate) fn depends_on_type(name: &str) -> bool {
        ["loop-started", "baseline"].contains(&name)
    }

    fn observe(&mut self, record: &Record) {
        if let Record::LoopStarted { spec, .. } = record {
            self.loop_id.clone_from(&spec.loop_id);
        }
        match record {
            Record::IterationIntended { .. } => {
                self.failing.clear();
                self.denied.clear();
            }
            Record::AgentEnded { run, .. } => self.denied = agent::describe_denials(run),
            Record::ChecksDone { iteration: Some(_), round } => self.failing = self.describe_failing(round),
            _ => {}
        }
        self.names.observe(record);
    }

    /// The iteration that the record belongs to, and the event.
    fn describe_entry(&self, entry: &Entry) -> Option<(Option<u32>, String)> {
        Some(match &entry.record {
            Record::LoopStarted { spec, .. } => (None, loop_start::describe_start(spec)),
            Record::BranchTaken { branch, from, made, note } => {
                (None, tree::branch_taken((branch.as_deref(), from.as_deref()), *made, note.as_deref()))
            }
            Record::Committed { iteration, commit, subject, note } => (
                iteration_number(*iteration),
                tree::committed(commit.as_deref().zip(subject.as_deref()), note.as_deref()),
            ),
            Record::Baseline { iteration, round, .. } => {
                (iteration_number(*iteration), self.baseline(*iteration, round.as_deref()))
            }
            Record::IterationIntended { iteration, resumed, .. } => {
                (Some(*iteration), iteration_begins(*resumed).into())
            }
            Record::AgentStarted { iteration, .. } => (Some(*iteration), agent::start_text(&entry.record)),
            Record::AgentEnded { iteration, run } => (Some(*iteration), agent::describe_end(run)),
            Record::SubagentAsked { iteration, .. }
            | Record::SubagentStarted { iteration, .. }
            | Record::SubagentEnded { iteration, .. } => {
                (Some(*iteration), subagents::describe_record(&entry.record))
            }
            Record::AgentLeft { iteration, left } => (Some(*iteration), agent::describe_exit(left)),
            Record::SnapshotTaken { iteration, when, tree, not_covered, .. } => {
                (iteration_number(*iteration), tree::snapshot((*when, *iteration), tree, not_covered.len()))
            }
            Record::ChecksDone { iteration, round } => (*iteration, self.round(tr!("checks"), round)),
            Record::IterationEnded { iteration, sentence, proposed, .. } => {
                (Some(*iteration), format!("{sentence}{}", not_taken_up(proposed)))
            }
            Record::BreakerChanged { state, reason, resumes_at, .. } => {
                (None, self.breaker((*state, reason.as_deref()), *resumes_at, entry.at.wall))
            }
            Record::Waiting { .. } => (None, self.describe_wait(&entry.record, entry.at.wall)),
            Record::Paused { reason, message } => (None, describe_pause(*reason, message)),
            Record::ChecksWaived { .. } | Record::Resumed {} => (None, describe_resume(&entry.record).into()),
            Record::Steered { text } => (None, describe_steering(text)),
            Record::Asked { kind, text, until, .. } => {
                (None, self.describe_question((*kind, text), until.map(|it| it.wall), entry.at.wall))
            }
            Record::Answered { text, .. } => (None, describe_answer(text.as_deref())),
            Record::SessionChanged { from, to, reason } => {
                (None, session(from.as_deref(), to.as_deref(), *reason))
            }
            Record::SessionJoined { .. } => (None, tr!("your session works on it").into()),
            Record::AgentChanged { .. } => (None, self.takeover(entry)?),
            Record::Stopping { now } => (None, describe_stop(*now).into()),
            Record::WeakeningAccepted { .. }
            | Record::ProtectedEdited { .. }
            | Record::FinalVerdict { .. } => (None, self.describe_verdict(&entry.record)),
            Record::Mutants { .. } => (None, mutants::describe_record(&entry.record)?),
            Record::TrustChanged { message } => (None, message.clone()),
            Record::CommandRefused { .. } | Record::HookFailed { .. } => incident(&entry.record)?,
            Record::RolledBack { .. } => (None, tree::rolled_back(&entry.record)),
            Record::Recovered { interrupted, .. } => (None, describe_recovery(*interrupted)),
            Record::Ended { .. } | Record::Feedback { .. } => (None, super::ending::entry(&entry.record)?),
            Record::Unknown => return None,
        })
    }

    fn takeover(&self, entry: &Entry) -> Option<String> {
        let Record::AgentChanged { from, to, reason, until, message } = &entry.record else { return None };
        let until = until.map(|it| self.time(it.wall, entry.at.wall));
        Some(sentences::takeover((from, to), *reason, until.as_deref(), message.as_deref()))
    }

    fn baseline(&self, iteration: u32, round: Option<&Round>) -> String {
        match (round, iteration) {
            (Some(round), 0) => self.round(tr!("checks before iteration 1"), round),
            (Some(round), _) => self.round(tr!("changed criteria taken up"), round),
            (None, _) => tr!("criteria taken up").into(),
        }
    }

    /// `checks: 2 of 3 pass; ✗ lint: exit 1`.
    fn round(&self, word: &str, round: &Round) -> String {
        let Some(tally) = self.names.tally(round) else {
            return tr!("{what}: nothing to check", what = word);
        };
        tr!(
            "{what}: {tally}{failing}",
            what = word,
            tally = tally.of_round(),
            failing = self.describe_failing(round)
        )
    }

    /// `; ✗ lint: exit 1; ✗ tests: 3 of 9 fail`.
    fn describe_failing(&self, round: &Round) -> String {
        let sign = if self.glyphs == Glyphs::Unicode { '✗' } else { 'x' };
        round.results.iter().filter(|it| is_failing(it)).fold(String::new(), |mut text, result| {
            let name = self.names.name(&result.criterion);
            let _ = write!(text, "{}", tr!("; {sign} {name}: {fact}", sign, name, fact = result.fact));
            text
        })
    }

    /// Changes of the files that decide a verdict, or the result of the clean room.
    fn describe_verdict(&self, record: &Record) -> String {
        let (final_round, pinned, judge_count, copied, unavailable) = match record {
            Record::WeakeningAccepted { paths, by, .. } => {
                let by =
                    by.as_ref().map(|it| tr!(", by {user}", user = sanitize::line(it))).unwrap_or_default();
                return tr!("weakening accepted{paths}{by}", paths = list_suffix(paths), by);
            }
            Record::ProtectedEdited { paths, .. } => {
                return tr!("you edited tests or protected files{paths}", paths = list_suffix(paths));
            }
            Record::FinalVerdict { final_round, pinned, judge_count, copied, unavailable, .. } => {
                (final_round, pinned, judge_count, copied, unavailable)
            }
            _ => return String::new(),
        };
        if let Some(why) = unavailable {
            return tr!(
                "final verdict in the work tree, without a clean room: {why}",
                why = sanitize::line(why)
            );
        }
        let final_round = final_round.as_deref().map(|it| self.passing_in_room(it)).unwrap_or_default();
        let pinned = pinned.as_deref().map(passing).map_or_else(String::new, |it| {
            tr!(
                "; {passing} with the old versions of {files}",
                passing = it,
                files = words::counted(*judge_count, "changed test file")
            )
        });
        if copied.is_some() {
            tr!("final verdict in a copy at another path: {final_round}{pinned}", final_round, pinned)
        } else {
            tr!("final verdict in a clean room: {final_round}{pinned}", final_round, pinned)
        }
    }

    /// `4/4 pass, 1 other check was judged in the work tree`: a clean room judges only commands and requests.
    fn passing_in_room(&self, round: &Round) -> String {
        let passing = passing(round);
        match self.names.judged_elsewhere(round) {
            0 => passing,
            1 => tr!("{passing}, 1 other check was judged in the work tree", passing),
            others => tr!("{passing}, {others} other checks were judged in the work tree", passing, others),
        }
    }

    /// The locations where each check failed, or the end of its output if there is none.
    fn failures(&self, record: &Record) -> Vec<String> {
        let round = match record {
            Record::ChecksDone { round, .. } => round,
            Record::Baseline { round: Some(round), .. } => round.as_ref(),
            _ => return Vec::new(),
        };
        let of_result = |result: &CheckResult| {
            let name = self.names.name(&result.criterion);
            let places = result.failure_lines(MAX_PLACES, usize::MAX);
            let last = || result.last_lines(LAST_LINES).into_iter().map(str::to_owned).collect();
            let lines: Vec<String> = if places.is_empty() { last() } else { places };
            lines
                .into_iter()
                .map(|it| tr!("{name}: {text}", name, text = sanitize::line(&it)))
                .collect::<Vec<_>>()
        };
        round.results.iter().filter(|it| is_failing(it)).flat_map(of_result).collect()
    }

    fn breaker(
        &self,
        (state, reason): (BreakerState, Option<&str>),
        until: Option<Moment>,
        now: u64,
    ) -> String {
        let reason = reason.map_or(String::new(), |it| tr!(": {reason}", reason = sanitize::line(it)));
        let trial = until.map_or(String::new(), |it| {
            tr!("; one trial at {time}, or now by `loopkeeper resume`", time = self.time(it.wall, now))
        });
        match state {
            BreakerState::Open => tr!("breaker open{reason}{trial}", reason, trial),
            BreakerState::HalfOpen => tr!("breaker trying again, with one iteration").into(),
            BreakerState::Closed => tr!("breaker closed{reason}", reason),
        }
    }
}

fn is_failing(result: &CheckResult) -> bool {
    !matches!(result.status, Status::Unverified | Status::Pass)
}

/// Describes the change of a session.
pub(crate) fn session(from: Option<&str>, to: Option<&str>, reason: SessionReason) -> String {
    let short = |id: Option<&str>| id.unwrap_or("?").chars().take(8).collect::<String>();
    let (left, begun) = (short(from), short(to));
    match reason {
        SessionReason::Started => tr!("session {begun} begins", begun),
        SessionReason::Expired => tr!("session {left} was unused for too long, {begun} begins", left, begun),
        SessionReason::Unconfirmed => {
            tr!("the agent never started session {left}, {begun} begins", left, begun)
        }
        SessionReason::Refused => tr!("session {left} is closed: the agent no longer knows it", left),
        SessionReason::Breaker => tr!("session {left} is closed: the breaker opened", left),
        SessionReason::Reset => tr!("session {left} is closed: a fresh one was requested", left),
        SessionReason::RolledBack => {
            tr!("session {left} is closed: it contains work that was rolled back", left)
        }
        SessionReason::Ended => tr!("session {left} is closed: the loop ended", left),
    }
}

/// The evidence of a decision, line by line.
fn evidence(record: &Record) -> Vec<String> {
    match record {
        Record::BreakerChanged { opening: Some(opening), .. } => breaker_opening::lines(opening),
        Record::IterationEnded { changes: work, claims, milestones, drift, .. } => {
            let claims = claims.iter().flat_map(|it| it.report_rows());
            let claims = claims.map(|it| tr!("claims: {text}", text = sanitize::line(&it.to_string())));
            let reached = milestones.iter().map(|it| sanitize::line(it));
            let drift = drift.as_deref().and_then(changes::off_topic);
            changes::changed_lines(work).into_iter().chain(drift).chain(claims).chain(reached).collect()
        }
        Record::ChecksDone { round, .. } => {
            round.judging.iter().map(|it| tr!("judges: {verdict}", verdict = it.describe())).collect()
        }
        _ => Vec::new(),
    }
}

fn is_milestone(record: &Record) -> bool {
    match record {
        Record::AgentStarted { iteration: 1, network: Some(network), .. } => network.starts_with("open"),
        Record::IterationIntended { .. }
        | Record::AgentStarted { .. }
        | Record::AgentLeft { .. }
        | Record::SubagentAsked { refused: None, .. }
        | Record::SubagentStarted { .. }
        | Record::SubagentEnded { .. }
        | Record::AgentEnded { .. }
        | Record::SnapshotTaken { .. }
        // It pauses or ends the loop, and that record contains the reason.
        | Record::BreakerChanged { state: BreakerState::Open, resumes_at: None, .. }
        // Part of the iteration's own line.
        | Record::ChecksDone { iteration: Some(_), .. }
        | Record::Waiting { reason: WaitReason::Between, .. }
        | Record::SessionChanged { .. }
        // Summarized when the loop is over.
        | Record::Ended { .. }
        | Record::Mutants { tried: 0, .. }
        | Record::Unknown => false,
        Record::LoopStarted { .. }
        | Record::SessionJoined { .. }
        | Record::AgentChanged { .. }
        | Record::BranchTaken { .. }
        | Record::Committed { .. }
        | Record::Baseline { .. }
        | Record::ChecksDone { iteration: None, .. }
        | Record::IterationEnded { .. }
        | Record::SubagentAsked { .. }
        | Record::BreakerChanged { .. }
        | Record::Waiting { .. }
        | Record::Paused { .. }
        | Record::ChecksWaived { .. }
        | Record::Resumed {}
        | Record::Steered { .. }
        | Record::Asked { .. }
        | Record::Answered { .. }
        | Record::Stopping { .. }
        | Record::WeakeningAccepted { .. }
        | Record::ProtectedEdited { .. }
        | Record::FinalVerdict { .. }
        | Record::Mutants { .. }
        | Record::TrustChanged { .. }
        | Record::CommandRefused { .. }
        | Record::HookFailed { .. }
        | Record::RolledBack { .. }
        | Record::Feedback { .. }
        | Record::Recovered { .. } => true,
    }
}

/// Problems that are not part of the work.
fn incident(record: &Record) -> Option<(Option<u32>, String)> {
    match record {
        Record::CommandRefused { iteration, command, by } => Some((
            iteration_number(*iteration),
            tr!("refused: {what}", what = sentences::command_refused(*command, *by)),
        )),
        Record::HookFailed { event, message } => Some((None, sentences::hook_failed(*event, message))),
        _ => None,
    }
}

/// Edits of criteria made while the agent ran.
fn not_taken_up(proposed: &[Proposal]) -> String {
    if proposed.is_empty() {
        return String::new();
    }
    let edits: Vec<_> = proposed.iter().map(|it| sanitize::line(&it.to_string())).collect();
    tr!("; criteria edited and not taken up: {edits}", edits = clauses::list(edits))
}

/// `: a, b and 3 more`; empty if the list is empty.
fn list_suffix(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().take(3).map(|it| sanitize::line(it)).collect();
    let more = paths.len().saturating_sub(shown.len());
    if shown.is_empty() {
        return String::new();
    }
    tr!(": {paths}", paths = clauses::and_more(clauses::list(shown), more))
}

/// `4/4 pass`
fn passing(round: &Round) -> String {
    let passing = round.results.iter().filter(|it| it.status == Status::Pass).count();
    tr!("{passing}/{total} pass", passing, total = round.results.len())
}

fn iteration_number(iteration: u32) -> Option<u32> {
    (iteration > 0).then_some(iteration)
}

fn describe_stop(now: bool) -> &'static str {
    if now { tr!("asked to stop now") } else { tr!("asked to stop after this iteration") }
}

fn describe_resume(record: &Record) -> &'static str {
    match record {
        Record::ChecksWaived { .. } => tr!("continues without the checks that cannot run"),
        _ => tr!("resumed"),
    }
}

fn describe_answer(text: Option<&str>) -> String {
    text.map_or_else(|| tr!("not answered").into(), |it| tr!("answered: {text}", text = sanitize::line(it)))
}

fn describe_steering(text: &str) -> String {
    tr!("hint for the agent: {text}", text = sanitize::line(text))
}

fn describe_pause(reason: PauseReason, message: &Message) -> String {
    match reason {
        PauseReason::User => message.to_string(),
        _ => tr!("paused: {message}", message),
    }
}

fn iteration_begins(resumed: bool) -> &'static str {
    if resumed {
        tr!("iteration begins, in the session of the previous one")
    } else {
        tr!("iteration begins")
    }
}

fn describe_recovery(interrupted: Option<u32>) -> String {
    let lost = interrupted.map(|it| tr!("; iteration {number} was interrupted", number = it));
    tr!("taken up again{lost}", lost = lost.unwrap_or_default())
}

#[cfg(test)]
mod tests;
