//! Diagnostics of the whole task, on its first line: the summary, which every editor shows, and the reasons why its
//! loop cannot start.

use super::weakened::shortened_path;
use super::{Diagnostic, DiagnosticCode, RelatedLocation, RelatedTarget, Severity, TaskView, message};
use crate::{DisplayPhase, DisplayState, LoopStatus, QuestionStatus, sentences};
use loopkeeper_core::journal::{Edit, OutcomeKind, PauseReason, QuestionKind};
use loopkeeper_core::strays::DuplicateConfiguration;
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;
use loopkeeper_text::{DocumentRange, words};

pub(super) fn diagnostics(view: &TaskView<'_>) -> Vec<Diagnostic> {
    let Some(place) = view.heading() else { return Vec::new() };
    let mut all: Vec<Diagnostic> = summary(view, &place).into_iter().collect();
    all.extend(blocking_diagnostic(view, &place));
    all.extend(trust(view, &place));
    all.extend(removed_criteria(view, &place));
    all.extend(strays(view, &place));
    all.extend(leftovers(view, &place));
    all
}

/// `working: 3 of 5 criteria pass`. Changes only when the counts or the state do.
fn summary(view: &TaskView<'_>, place: &DocumentRange) -> Option<Diagnostic> {
    if !view.live && !view.has_results() {
        return None;
    }
    let tally = view.tally();
    let text = tr!("{state}: {text}", state = state_word(view), text = tally.sentence());
    let mut found =
        Diagnostic::new(place, Severity::Information, DiagnosticCode::Summary, message::sentence(&text));
    if view.open_loop().is_some_and(|it| it.is_cooling() || is_tripped(it)) {
        found.severity = Severity::Warning;
    } else if let Some(problem) = view.status.and_then(|it| needs_user(view, it)) {
        found.severity = Severity::Warning;
        found.message = message::sentence(&problem);
    } else if view.open_loop().is_none() && view.any_stale() {
        found.severity = Severity::Hint;
        found.stale = true;
        // The outcome of a loop does not apply to changed files.
        let idle = tr!("{state}: {text}", state = tr!("idle"), text = tally.sentence());
        found.message = message::stale_sentence(&idle);
    } else if view.status.is_none() && !tally.is_judged() {
        found.severity = Severity::Hint;
    }
    Some(found)
}

/// The state in one or two words; the outcome of a loop only as long as the results confirm it.
fn state_word(view: &TaskView<'_>) -> &'static str {
    if let Some(status) = view.open_loop() {
        return match status.state {
            DisplayState::Working | DisplayState::NeedsYou if status.is_cooling() || is_tripped(status) => {
                tr!("breaker open")
            }
            DisplayState::Working => tr!("working"),
            DisplayState::NeedsYou => tr!("needs you"),
            DisplayState::Paused => tr!("paused"),
            DisplayState::Done | DisplayState::Idle => tr!("idle"),
        };
    }
    let verified = view.status.and_then(|it| it.outcome.as_ref()).is_some_and(|it| it.verified);
    match view.outcome() {
        Some(OutcomeKind::Completed) if verified && view.tally().holds() => tr!("completed and verified"),
        Some(OutcomeKind::Completed) if !verified => tr!("completed, claimed, not verified"),
        Some(OutcomeKind::Stopped) if !view.is_fixed_since() => tr!("stopped"),
        Some(OutcomeKind::Limit) if !view.is_fixed_since() => tr!("limit reached"),
        Some(OutcomeKind::Breaker) if !view.is_fixed_since() => tr!("breaker open"),
        _ => tr!("idle"),
    }
}

/// Problems that only the user can fix and that have no code of their own, with the recorded message.
fn needs_user(view: &TaskView<'_>, status: &LoopStatus) -> Option<String> {
    if let Some(outcome) = status.outcome.as_ref().filter(|it| it.kind == OutcomeKind::Failed) {
        return (!view.is_fixed_since())
            .then(|| tr!("failed: {reason}", reason = without_hint(&outcome.sentence)));
    }
    let pause = status.pause.as_ref().filter(|_| status.phase == DisplayPhase::Paused)?;
    match pause.reason {
        PauseReason::Agent
        | PauseReason::Disk
        | PauseReason::Workspace
        | PauseReason::Missing
        | PauseReason::Session
        | PauseReason::Other => Some(tr!("needs you: {reason}", reason = without_hint(&pause.message))),
        PauseReason::User | PauseReason::Breaker | PauseReason::Trust | PauseReason::Question => None,
    }
}

/// Hints are for the terminal; an editor offers its own actions.
fn without_hint(message: &Message) -> &str {
    message.fact().trim_end_matches(['.', '。'])
}

/// `stray: nothing refers to src/auth_old.py and 1 more added file. Remove or use it.` Once the loop is over.
fn strays(view: &TaskView<'_>, place: &DocumentRange) -> Option<Diagnostic> {
    const PATH_CHARS: usize = 24;
    let (first, others) = view.removable_strays().split_first()?;
    let path = shortened_path(first, PATH_CHARS);
    let (fact, remedy) = match others.len() as u64 {
        0 => (tr!("nothing refers to {path}", path), tr!("Remove or use it")),
        count => {
            let files = words::counted(count, "file");
            (tr!("nothing refers to {path} and {files} more", path, files), tr!("Remove or use them"))
        }
    };
    let message = message::message(tr!("stray"), &fact, remedy);
    Some(Diagnostic::new(place, Severity::Hint, DiagnosticCode::Stray, message))
}

/// `leftover: two test runners: a.js and b.js. Remove the unused one.`, with a link to each file.
fn leftovers(view: &TaskView<'_>, place: &DocumentRange) -> Vec<Diagnostic> {
    let of = |found: &DuplicateConfiguration| {
        let message = message::message(tr!("leftover"), &found.names(), tr!("Remove the unused one"));
        let link = |path: &String| RelatedLocation {
            target: RelatedTarget::Source { file: path.clone(), line: 1, column: None },
            message: tr!("remove it if another one is used").to_owned(),
        };
        let related = found.earlier.iter().chain(&found.added).map(link).collect();
        Diagnostic { related, ..Diagnostic::new(place, Severity::Hint, DiagnosticCode::Leftover, message) }
    };
    view.leftovers.iter().map(of).collect()
}

/// Why the loop is blocked.
fn blocking_diagnostic(view: &TaskView<'_>, place: &DocumentRange) -> Option<Diagnostic> {
    let status = view.status?;
    let (severity, code, name, fact, remedy) = match (status.phase, view.outcome()) {
        (DisplayPhase::Damaged, _) => {
            let fact = tr!("the loop's journal is damaged or of a later version").to_owned();
            (Severity::Error, DiagnosticCode::Damaged, tr!("damaged"), fact, tr!("Start a new loop"))
        }
        (DisplayPhase::Interrupted, _) => {
            let fact = tr!("the loop's process ended").to_owned();
            (Severity::Warning, DiagnosticCode::Interrupted, tr!("interrupted"), fact, tr!("Resume the loop"))
        }
        (DisplayPhase::NeedsAnswer, _) => return status.question.as_ref().map(|it| needs_answer(place, it)),
        (DisplayPhase::Ended, Some(_)) if view.is_fixed_since() => return None,
        (DisplayPhase::Ended, Some(OutcomeKind::Limit)) => {
            let (fact, remedy) = limit(view, status);
            (Severity::Warning, DiagnosticCode::LimitReached, tr!("limit reached"), fact, remedy)
        }
        (DisplayPhase::Ended, Some(OutcomeKind::Breaker)) => (
            Severity::Warning,
            DiagnosticCode::BreakerOpen,
            tr!("breaker open"),
            breaker(status),
            tr!("Change the task or the limit"),
        ),
        (DisplayPhase::Paused, _) if is_tripped(status) => (
            Severity::Warning,
            DiagnosticCode::BreakerOpen,
            tr!("breaker open"),
            breaker(status),
            tr!("Reset it to continue"),
        ),
        (DisplayPhase::Waiting, _) if status.is_cooling() => {
            let remedy = tr!("Resume to try again now");
            (Severity::Warning, DiagnosticCode::BreakerOpen, tr!("breaker open"), breaker(status), remedy)
        }
        _ => return None,
    };
    Some(Diagnostic::new(place, severity, code, message::message(name, &fact, remedy)))
}

/// The question's own text, which the user has to answer.
fn needs_answer(place: &DocumentRange, question: &QuestionStatus) -> Diagnostic {
    let message = match question.kind {
        QuestionKind::Agent => message::sentence(&tr!("needs answer: {question}", question = question.text)),
        QuestionKind::Permission => message::sentence(&sentences::permission_request(&question.text)),
        QuestionKind::UsageLimit | QuestionKind::Denied => message::sentence(&question.text),
    };
    Diagnostic::new(place, Severity::Warning, DiagnosticCode::NeedsAnswer, message)
}

pub(super) fn is_tripped(status: &LoopStatus) -> bool {
    let paused = status.pause.as_ref().is_some_and(|it| it.reason == PauseReason::Breaker);
    status.phase == DisplayPhase::Paused && paused
}

fn breaker(status: &LoopStatus) -> String {
    status.breaker.reason.clone().unwrap_or_else(|| tr!("the loop was making no progress").to_owned())
}

/// The configured limit, not the usage, which the loop's status shows.
fn limit(view: &TaskView<'_>, status: &LoopStatus) -> (String, &'static str) {
    let limits = &status.limits;
    let tokens = limits.tokens.filter(|it| status.spent.tokens.is_some_and(|used| used >= *it));
    let duration = words::duration(limits.duration_ms);
    if status.iteration >= limits.iterations {
        let iterations = words::counted(u64::from(limits.iterations), "iteration");
        (tr!("{iterations} used", iterations), tr!("Raise `limits.iterations`"))
    } else if status.spent.cost_micros.is_some_and(|it| it >= limits.cost_micros) {
        (tr!("{cost} spent", cost = words::cost(limits.cost_micros)), tr!("Raise `limits.cost_usd`"))
    } else if let Some(tokens) = tokens {
        (tr!("{amount} tokens used", amount = words::amount(tokens)), tr!("Raise `limits.tokens`"))
    } else if view.state.is_some_and(|it| it.time.worked_ms < limits.duration_ms) {
        (tr!("the next wait is longer than the rest of {duration}", duration), tr!("Raise `limits.duration`"))
    } else {
        (tr!("{duration} of work done", duration), tr!("Raise `limits.duration`"))
    }
}

fn trust(view: &TaskView<'_>, place: &DocumentRange) -> Option<Diagnostic> {
    let waits = view.status.is_some_and(|it| it.phase == DisplayPhase::Untrusted);
    let severity = if waits { Severity::Warning } else { Severity::Information };
    let message = if !view.trust.editor {
        tr!("The editor does not trust this folder, so nothing runs.").to_owned()
    } else if view.trust.unknown > 0 {
        let commands = words::counted(view.trust.unknown as u64, "command");
        if view.trust.unknown == 1 {
            tr!("{commands} needs your trust before anything runs.", commands)
        } else {
            tr!("{commands} need your trust before anything runs.", commands)
        }
    } else {
        return None;
    };
    if !view.live && !view.has_results() {
        return None;
    }
    Some(Diagnostic::new(place, severity, DiagnosticCode::NeedsTrust, message))
}

/// Criteria that the agent removed from the documents, which have no other place.
fn removed_criteria<'a>(
    view: &TaskView<'a>,
    place: &DocumentRange,
) -> impl Iterator<Item = Diagnostic> + use<'a> {
    let state = view.state.filter(|_| view.open_loop().is_some());
    let place = place.clone();
    let removed =
        state.into_iter().flat_map(|it| &it.criteria.proposed).filter(|it| it.edit == Edit::Removed);
    removed.map(move |it| {
        let fact = tr!("removed by the agent, still judged");
        Diagnostic::new(
            &place,
            Severity::Information,
            DiagnosticCode::Proposed,
            message::message(&it.name, fact, ""),
        )
    })
}
