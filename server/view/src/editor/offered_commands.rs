//! The commands available for a task and its criteria: one list for lenses and actions.

use serde_json::{Value, json};

use super::{EditorCommand, QUICKFIX, TaskView, summary, weakened};
use crate::{DisplayPhase, DisplayState, LoopStatus};
use loopkeeper_core::journal::PauseReason;
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::{Criterion, CriterionId};
use loopkeeper_text::tr;
use loopkeeper_text::{sanitize, words};

/// Maximum length of a name in a title.
const NAME_CHARS: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum OfferedCommand<'a> {
    Start,
    Check,
    /// Ends a round of checks without a loop.
    CancelChecks,
    Pause,
    Resume,
    /// Resumes without the checks that cannot run.
    ResumeAnyway,
    /// Answers the loop's question.
    Answer,
    Stop,
    StopNow,
    ResetBreaker,
    Trust,
    /// Trusts the commands on the page that was shown.
    TrustShown,
    Untrust,
    /// Shows the changes of the last iteration.
    Diff(u32),
    /// Shows the output of the agent in this iteration.
    AgentOutput(u32),
    Run(&'a Criterion),
    Output(&'a Criterion),
    /// Restores a file that the agent weakened to its state at the start.
    Restore(&'a str),
    AcceptWeakening,
    /// Removes files that the loop added and that nothing refers to.
    RemoveStrays(&'a [String]),
    /// Skips an item of the plan, or includes it again.
    Skip(&'a PlanItem),
    Raise(&'a PlanItem),
    Lower(&'a PlanItem),
    /// Exports the loop as one archive.
    Export,
}

/// The commands over the task's first line: at most two.
pub(super) fn first_line_commands<'a>(view: &TaskView<'a>) -> Vec<OfferedCommand<'a>> {
    let mut all = match view.open_loop() {
        Some(status) => loop_commands(status),
        None if view.checking => vec![OfferedCommand::CancelChecks],
        None => vec![OfferedCommand::Start, OfferedCommand::Check],
    };
    all.retain(|it| it.is_allowed(view));
    all
}

fn loop_commands<'a>(status: &LoopStatus) -> Vec<OfferedCommand<'a>> {
    match (status.state, status.phase) {
        (_, DisplayPhase::Interrupted) => vec![OfferedCommand::Resume, OfferedCommand::Stop],
        (_, DisplayPhase::Stopping) => vec![OfferedCommand::StopNow],
        (_, DisplayPhase::Untrusted) => vec![OfferedCommand::Trust, OfferedCommand::Stop],
        (_, DisplayPhase::NeedsAnswer) => vec![OfferedCommand::Answer, OfferedCommand::Stop],
        (DisplayState::Working, _) if is_pausing(status) => {
            vec![OfferedCommand::Resume, OfferedCommand::Stop]
        }
        (DisplayState::Working, _) if status.is_cooling() => {
            vec![OfferedCommand::ResetBreaker, OfferedCommand::Stop]
        }
        (DisplayState::Working, _) => vec![OfferedCommand::Pause, OfferedCommand::Stop],
        _ if summary::is_tripped(status) => vec![OfferedCommand::ResetBreaker, OfferedCommand::Stop],
        _ if waits_for_session(status) => vec![OfferedCommand::Stop],
        _ => vec![OfferedCommand::Resume, OfferedCommand::Stop],
    }
}

/// Whether the loop waits for a prompt in the attached session; nothing else resumes it.
pub(super) fn waits_for_session(status: &LoopStatus) -> bool {
    let is_it = |reason| reason == PauseReason::Session;
    status.state == DisplayState::NeedsYou && status.pause.as_ref().is_some_and(|it| is_it(it.reason))
}

/// Whether it is paused because a check cannot run on this machine.
fn lacks_dependency(status: &LoopStatus) -> bool {
    let is_it = status.pause.as_ref().is_some_and(|it| it.reason == PauseReason::Missing);
    status.state == DisplayState::NeedsYou && status.phase == DisplayPhase::Paused && is_it
}

/// Whether it will pause after the running iteration.
pub(super) fn is_pausing(status: &LoopStatus) -> bool {
    let by_user = status.pause.as_ref().is_some_and(|it| it.reason == PauseReason::User);
    status.state == DisplayState::Working && by_user
}

/// All commands of the task, including those without room on a line.
pub(super) fn offered_commands<'a>(view: &TaskView<'a>) -> Vec<OfferedCommand<'a>> {
    let mut all = first_line_commands(view);
    let open = view.open_loop();
    if open.is_some() {
        all.push(OfferedCommand::Check);
    }
    if open.is_some_and(|it| it.phase == DisplayPhase::NeedsAnswer) {
        // Resuming without an answer leaves the decision to the agent.
        all.push(OfferedCommand::Resume);
    }
    if open.is_some_and(|it| it.is_cooling() || summary::is_tripped(it)) {
        // Admits one trial iteration; the counters are kept.
        all.push(OfferedCommand::Resume);
    }
    if open.is_some_and(lacks_dependency) {
        all.push(OfferedCommand::ResumeAnyway);
    }
    if all.contains(&OfferedCommand::Stop) && open.is_some_and(|it| it.phase != DisplayPhase::Interrupted) {
        all.push(OfferedCommand::StopNow);
    }
    if let Some(status) = view.status.filter(|it| it.iteration > 0 && it.phase != DisplayPhase::Damaged) {
        all.extend([OfferedCommand::Diff(status.iteration), OfferedCommand::AgentOutput(status.iteration)]);
    }
    all.extend(view.status.map(|_| OfferedCommand::Export));
    let has_commands = view.task.criteria.iter().any(|it| it.check.is_some());
    if view.trust.unknown > 0 {
        all.extend((!all.contains(&OfferedCommand::Trust)).then_some(OfferedCommand::Trust));
        all.extend(view.trust.shown.map(|_| OfferedCommand::TrustShown));
    } else if has_commands && open.is_none() {
        all.push(OfferedCommand::Untrust);
    }
    all.retain(|it| it.is_allowed(view));
    all
}

/// Commands for a weakening, at its criterion or on the first line (`None`).
pub(super) fn weakening_commands<'a>(
    view: &TaskView<'a>,
    criterion: Option<&CriterionId>,
) -> Vec<OfferedCommand<'a>> {
    let mut all = Vec::new();
    for weakening in weakened::weakenings_at(view, criterion) {
        all.extend(
            weakened::can_restore(view, weakening).then_some(OfferedCommand::Restore(&weakening.path)),
        );
    }
    let any = weakened::weakenings_at(view, criterion).next().is_some();
    all.extend((any && weakened::can_accept(view)).then_some(OfferedCommand::AcceptWeakening));
    all.retain(|it| it.is_allowed(view));
    all
}

/// The command for a click on the loop's state.
pub(super) fn state_command(view: &TaskView<'_>) -> Option<OfferedCommand<'static>> {
    let status = view.status.filter(|it| it.iteration > 0 && it.phase != DisplayPhase::Damaged)?;
    Some(OfferedCommand::AgentOutput(status.iteration))
}

/// The commands of one plan item; a finished item has none.
pub(super) fn item_commands(item: &PlanItem) -> Vec<OfferedCommand<'_>> {
    match (item.done, item.blocking) {
        (true, _) => Vec::new(),
        (false, true) => {
            vec![OfferedCommand::Skip(item), OfferedCommand::Raise(item), OfferedCommand::Lower(item)]
        }
        (false, false) => vec![OfferedCommand::Skip(item)],
    }
}

/// The commands of one criterion.
pub(super) fn criterion_commands<'a>(
    view: &TaskView<'a>,
    criterion: &'a Criterion,
) -> Vec<OfferedCommand<'a>> {
    if criterion.check.is_none() {
        return Vec::new();
    }
    let mut all = vec![OfferedCommand::Run(criterion)];
    if view.latest_result(&criterion.id).is_some_and(|it| it.output.is_some()) {
        all.push(OfferedCommand::Output(criterion));
    }
    all.retain(|it| it.is_allowed(view));
    all
}

impl OfferedCommand<'_> {
    /// Commands that run a program are not offered if the editor does not trust the folder.
    fn is_allowed(self, view: &TaskView<'_>) -> bool {
        match self {
            Self::Start
            | Self::Check
            | Self::Run(_)
            | Self::Resume
            | Self::ResumeAnyway
            | Self::Answer
            | Self::ResetBreaker
            | Self::Trust
            | Self::TrustShown
            | Self::AcceptWeakening => view.trust.editor,
            Self::CancelChecks | Self::Pause | Self::Stop | Self::StopNow | Self::Untrust => true,
            Self::Diff(_) | Self::AgentOutput(_) | Self::Output(_) => true,
            Self::Restore(_) | Self::RemoveStrays(_) | Self::Export => true,
            Self::Skip(_) | Self::Raise(_) | Self::Lower(_) => true,
        }
    }

    /// One or two words; the line below provides the context.
    pub(super) fn lens_title(self) -> &'static str {
        match self {
            Self::Start => tr!("▶ Start loop"),
            Self::Check => tr!("Run checks"),
            Self::CancelChecks => tr!("Cancel"),
            Self::Pause => tr!("Pause"),
            Self::Resume => tr!("Resume"),
            Self::ResumeAnyway => tr!("Continue anyway"),
            Self::Answer => tr!("Answer…"),
            Self::Stop => tr!("Stop"),
            Self::StopNow => tr!("Stop now"),
            Self::ResetBreaker => tr!("Reset and resume"),
            Self::Trust => tr!("Trust…"),
            Self::TrustShown => tr!("Trust shown"),
            Self::Untrust => tr!("Withdraw trust"),
            Self::Diff(_) => tr!("Changes"),
            Self::AgentOutput(_) => tr!("Agent output"),
            Self::Run(_) => tr!("Run"),
            Self::Output(_) => tr!("Output"),
            Self::Restore(_) => tr!("Restore"),
            Self::AcceptWeakening => tr!("Accept"),
            Self::RemoveStrays(_) => tr!("Remove"),
            Self::Skip(item) if item.blocking => tr!("Skip"),
            Self::Skip(_) => tr!("Take up"),
            Self::Raise(_) => tr!("Raise"),
            Self::Lower(_) => tr!("Lower"),
            Self::Export => tr!("Export"),
        }
    }

    /// The title in a menu, next to entries of other servers.
    pub(super) fn action_title(self, view: &TaskView<'_>) -> String {
        let title = quoted(if view.task.title.is_empty() { view.reference } else { &view.task.title });
        match self {
            Self::Start => tr!("Start loop {title}", title),
            Self::Check => tr!("Run all checks of {title}", title),
            Self::CancelChecks => tr!("Cancel the checks of {title}", title),
            Self::Pause => tr!("Pause loop {title} after this iteration", title),
            Self::Resume => tr!("Resume loop {title}", title),
            Self::ResumeAnyway => tr!("Resume loop {title} without the checks that cannot run", title),
            Self::Answer => tr!("Answer the question of {title}…", title),
            Self::Stop => tr!("Stop loop {title} after this iteration", title),
            Self::StopNow => tr!("Stop loop {title} now", title),
            Self::ResetBreaker => tr!("Reset breaker of {title} and resume", title),
            Self::Trust => tr!("Read and trust the commands of {title}…", title),
            Self::TrustShown => tr!("Trust the commands shown").to_owned(),
            Self::Untrust => tr!("Withdraw trust in the commands of {title}", title),
            Self::Diff(iteration) => tr!("Show changes of iteration {iteration}", iteration),
            Self::AgentOutput(iteration) => tr!("Show agent output of iteration {iteration}", iteration),
            Self::Run(criterion) => tr!("Run check {name}", name = quoted(&criterion.name)),
            Self::Output(criterion) => tr!("Show output of {name}", name = quoted(&criterion.name)),
            Self::Restore(path) => {
                tr!(
                    "Restore \"{path}\" as it was at the start",
                    path = weakened::shortened_path(path, NAME_CHARS)
                )
            }
            Self::AcceptWeakening => tr!("Accept what the agent of {title} weakened", title),
            Self::RemoveStrays(paths) => {
                let files = words::counted(paths.len() as u64, "added file");
                tr!("Remove {files} that nothing refers to (can be undone)", files)
            }
            Self::Skip(item) if item.blocking => tr!("Skip {name}", name = quoted(&item.title)),
            Self::Skip(item) => tr!("Take up {name} again", name = quoted(&item.title)),
            Self::Raise(item) => tr!("Raise {name} in the plan", name = quoted(&item.title)),
            Self::Export => tr!("Export loop of {title} without secrets", title),
            Self::Lower(item) => tr!("Lower {name} in the plan", name = quoted(&item.title)),
        }
    }

    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Start => "source.loopkeeper.start",
            Self::Check | Self::Run(_) => "source.loopkeeper.check",
            Self::CancelChecks => "source.loopkeeper.cancelChecks",
            Self::Pause => "source.loopkeeper.pause",
            Self::Resume | Self::ResumeAnyway => "source.loopkeeper.resume",
            Self::Answer => "source.loopkeeper.answer",
            Self::Stop | Self::StopNow => "source.loopkeeper.stop",
            Self::ResetBreaker => "source.loopkeeper.resetBreaker",
            Self::Trust => "source.loopkeeper.trust",
            Self::Untrust => "source.loopkeeper.untrust",
            Self::Restore(_) | Self::RemoveStrays(_) | Self::AcceptWeakening | Self::TrustShown => QUICKFIX,
            Self::Export => "source.loopkeeper.export",
            Self::Skip(_) => "source.loopkeeper.skip",
            Self::Raise(_) | Self::Lower(_) => "source.loopkeeper.prioritize",
            Self::Diff(_) => "source.loopkeeper.diff",
            Self::Output(_) | Self::AgentOutput(_) => "source.loopkeeper.output",
        }
    }

    pub(super) fn command(self, view: &TaskView<'_>, title: String) -> EditorCommand {
        let task = view.reference;
        let loop_id = view.status.map_or("", |it| it.id.as_str());
        let task_argument = || json!({ "task": task });
        let loop_argument = || json!({ "loopId": loop_id });
        let (command, argument): (&'static str, Value) = match self {
            Self::Start => ("loopkeeper.server.start", task_argument()),
            Self::Check => ("loopkeeper.server.check", task_argument()),
            Self::CancelChecks => ("loopkeeper.server.cancelChecks", task_argument()),
            Self::Pause => ("loopkeeper.server.pause", loop_argument()),
            Self::Resume => ("loopkeeper.server.resume", loop_argument()),
            Self::ResumeAnyway => ("loopkeeper.server.resume", json!({ "loopId": loop_id, "anyway": true })),
            Self::Answer => ("loopkeeper.server.answer", loop_argument()),
            Self::Stop => ("loopkeeper.server.stop", loop_argument()),
            Self::StopNow => ("loopkeeper.server.stop", json!({ "loopId": loop_id, "now": true })),
            Self::ResetBreaker => ("loopkeeper.server.resetBreaker", loop_argument()),
            Self::Trust => ("loopkeeper.server.trust", task_argument()),
            // The hash of the page that was shown; the server rejects any other.
            Self::TrustShown => {
                ("loopkeeper.server.trust", json!({ "task": task, "hash": view.trust.shown }))
            }
            Self::Untrust => ("loopkeeper.server.untrust", task_argument()),
            Self::Diff(iteration) => {
                ("loopkeeper.server.diff", json!({ "loopId": loop_id, "iteration": iteration }))
            }
            Self::AgentOutput(iteration) => {
                ("loopkeeper.server.output", json!({ "task": task, "iteration": iteration }))
            }
            Self::Run(it) => ("loopkeeper.server.check", json!({ "task": task, "criterion": it.id })),
            Self::Output(it) => ("loopkeeper.server.output", json!({ "task": task, "criterion": it.id })),
            Self::Restore(path) => {
                ("loopkeeper.server.rollback", json!({ "loopId": loop_id, "iteration": 0, "paths": [path] }))
            }
            Self::RemoveStrays(paths) => {
                ("loopkeeper.server.rollback", json!({ "loopId": loop_id, "iteration": 0, "paths": paths }))
            }
            Self::AcceptWeakening => ("loopkeeper.server.acceptWeakening", loop_argument()),
            Self::Export => ("loopkeeper.server.export", loop_argument()),
            Self::Skip(it) => ("loopkeeper.server.skip", json!({ "task": task, "item": it.id })),
            Self::Raise(it) => {
                ("loopkeeper.server.prioritize", json!({ "task": task, "item": it.id, "by": 1 }))
            }
            Self::Lower(it) => {
                ("loopkeeper.server.prioritize", json!({ "task": task, "item": it.id, "by": -1 }))
            }
        };
        EditorCommand { title, command, argument }
    }
}

/// An untrusted name as part of a title.
fn quoted(name: &str) -> String {
    tr!("\"{title}\"", title = sanitize::line_within(name, NAME_CHARS))
}
