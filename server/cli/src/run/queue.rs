//! `run A B C` and `run QUEUE.md`: runs several tasks, each in its own loop, which ends before the next begins. All of
//! them are checked and trusted before the first starts, and share one budget.

use std::fmt::Display;
use std::thread::sleep;
use std::time::{Duration, Instant};

use loopkeeper_core::decide::{LoopState, earlier_task};
use loopkeeper_core::journal::{EarlierTask, OutcomeKind};
use loopkeeper_core::settings::LimitSettings;
use loopkeeper_task::criterion::{Check, Criterion, CriterionId};
use loopkeeper_task::queue::{TaskQueue, is_queue};
use loopkeeper_text::lines::LineIndex;
use loopkeeper_text::{sanitize, tr, words};
use tokio::signal::unix::{SignalKind, signal};

use super::budget::QueueBudget;
use super::{Args, PreparedRun, consent};
use crate::exit::Exit;
use crate::failure::{self, ExitResult, Failure};
use crate::out::Ui;
use crate::queue_document::QueueDocument;
use crate::trust::{self, TrustConsent};
use loopkeeper_core::liveness::KeeperLiveness;
use loopkeeper_operations::loops::LoopView;
use loopkeeper_system::runtime::new_runtime;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::LoopDir;

/// Poll interval of a loop that continues after its terminal was closed.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The queue that the arguments name; `None`: one task.
pub(super) fn find(args: &Args) -> Result<Option<TaskQueue>, Failure> {
    let queue = match args.tasks.as_slice() {
        [] => return Ok(None),
        [only] if is_queue(only) => read(only)?,
        [_] => return Ok(None),
        several => match several.iter().find(|it| is_queue(it)) {
            Some(queue) => {
                let queue = sanitize::line(queue);
                return Err(Failure::usage(tr!("{queue} is a queue itself: name it alone", queue)));
            }
            None => TaskQueue::of_paths(several),
        },
    };
    let refused = [("--detach", args.detach), ("--attach", args.attach)];
    match refused.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Failure::usage(tr!("{option} starts one task, not a queue", option))
            .hint(tr!("Omit it: the queue continues when its terminal is closed."))),
        None => Ok(Some(queue)),
    }
}

/// Reads a queue document; its paths become relative to the current folder.
fn read(path: &str) -> Result<TaskQueue, Failure> {
    let QueueDocument { folder, text, mut queue, faults } = QueueDocument::read(path)?;
    if !faults.is_empty() {
        let lines = LineIndex::of(&text);
        let problems = faults.iter().map(|it| {
            let line = lines.line(it.place.range.start) + 1;
            format!("\n  {}:{line}: {}", sanitize::line(path), it.message)
        });
        return Err(Failure::usage(tr!(
            "the queue cannot be run:{problems}",
            problems = problems.collect::<String>()
        ))
        .hint(tr!("Correct the lines; nothing was started.")));
    }
    if queue.entries.is_empty() {
        return Err(Failure::usage(tr!("{path} lists no task", path = sanitize::line(path)))
            .hint(tr!("Write one item for each task: `- [Title](path/to/PROMPT.md)`.")));
    }
    for entry in &mut queue.entries {
        entry.path = folder.join(&entry.path).to_string_lossy().into_owned();
    }
    Ok(queue)
}

pub(super) fn run(args: &Args, queue: &TaskQueue, out: &mut Ui) -> ExitResult {
    let state = StateDir::open()?;
    let mut runs: Vec<PreparedRun> = Vec::new();
    for entry in &queue.entries {
        runs.push(PreparedRun::of(args, Some(&entry.path))?);
    }
    if args.dry_run {
        for run in queue.order().into_iter().filter_map(|it| runs.get(it)) {
            run.show(args, &state, out);
        }
        return Ok(Exit::Done);
    }
    for run in &runs {
        trust::ensure_trusted(&run.work, &run.items, &state, consent(args))?;
    }
    outlive_terminal()?;
    let limits: Vec<LimitSettings> = runs.iter().map(|it| it.work.settings.limits.clone()).collect();
    let budget = QueueBudget::of(args, &limits);
    let judges = runs.iter().map(|it| judged_by(&it.work.task.criteria));
    let pinned =
        limits.into_iter().zip(judges).map(|(limits, judges)| PinnedTask { limits, judges }).collect();
    let ended = queue.entries.iter().map(|_| None).collect();
    Ok(QueueRun { args, queue, state, budget, pinned, ended, earlier: Vec::new() }.run_all(out))
}

/// A closed terminal does not end the queue: its loops have keepers of their own.
fn outlive_terminal() -> Result<(), Failure> {
    // The handler stays installed after the runtime is dropped.
    new_runtime()?.block_on(async { signal(SignalKind::hangup()).map(drop) })?;
    Ok(())
}

/// What decides a criterion: its id, whether it is required, its check.
type CriterionJudge = (CriterionId, bool, Option<Check>);

fn judged_by(criteria: &[Criterion]) -> Vec<CriterionJudge> {
    criteria.iter().map(|it| (it.id.clone(), it.required, it.check.clone())).collect()
}

struct QueueRun<'a> {
    args: &'a Args,
    queue: &'a TaskQueue,
    state: StateDir,
    budget: QueueBudget,
    pinned: Vec<PinnedTask>,
    ended: Vec<Option<TaskEnd>>,
    earlier: Vec<EarlierTask>,
}

/// The limits and criteria that the agents of earlier tasks must not change.
struct PinnedTask {
    limits: LimitSettings,
    judges: Vec<CriterionJudge>,
}

struct TaskEnd {
    kind: TaskEndKind,
    exit: Exit,
    sentence: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskEndKind {
    NotStarted,
    Completed,
    /// The user stopped it, or its keeper has ended: the queue ends.
    Stopped,
    Ended,
}

impl TaskEnd {
    fn not_started(exit: Exit, reason: impl Display) -> Self {
        Self { kind: TaskEndKind::NotStarted, exit, sentence: tr!("not started: {reason}", reason) }
    }

    /// `None`: its keeper has ended.
    fn of(exit: Exit, state: Option<&LoopState>) -> Self {
        let outcome = state.and_then(|it| it.outcome());
        let is_stopped = exit == Exit::Signalled || state.is_none_or(|it| it.stop.is_some());
        let is_completed = outcome.is_some_and(|it| it.kind == OutcomeKind::Completed);
        let kind = match (is_completed, is_stopped) {
            (true, false) => TaskEndKind::Completed,
            (_, true) => TaskEndKind::Stopped,
            (false, false) => TaskEndKind::Ended,
        };
        Self {
            kind,
            exit: outcome.filter(|_| exit != Exit::Signalled).map_or(exit, Exit::of),
            sentence: outcome
                .map_or_else(|| tr!("interrupted").to_owned(), |it| sanitize::line(&it.sentence.to_string())),
        }
    }
}

impl QueueRun<'_> {
    fn run_all(mut self, out: &mut Ui) -> Exit {
        let order = self.queue.order();
        for (nth, index) in order.iter().enumerate() {
            let Some(entry) = self.queue.entries.get(*index) else { continue };
            if !self.args.json {
                let name = sanitize::line(&entry.name);
                out.line(tr!("Task {nth} of {order}: {name}", nth = nth + 1, order = order.len(), name));
            }
            let end = match self.obstacle(*index) {
                Some(end) => end,
                None => self.run_task(*index, out).unwrap_or_else(|failure| failed_end(&failure)),
            };
            if !self.args.json && end.kind == TaskEndKind::NotStarted {
                out.line(format_args!("  {}", end.sentence));
            }
            if let Some(place) = self.ended.get_mut(*index) {
                *place = Some(end);
            }
        }
        self.report(&order, out);
        let worst = self.ended.iter().flatten().find(|it| it.exit != Exit::Done);
        worst.map_or(Exit::Done, |it| it.exit)
    }

    /// Why the task does not start.
    fn obstacle(&self, index: usize) -> Option<TaskEnd> {
        if self.ended.iter().flatten().any(|it| it.kind == TaskEndKind::Stopped) {
            return Some(TaskEnd::not_started(Exit::Ended, tr!("you stopped the queue")));
        }
        let waits = self.queue.entries.get(index).map(|it| it.after.as_slice()).unwrap_or_default();
        let is_open = |it: &&usize| !self.ended.get(**it).and_then(Option::as_ref).is_some_and(is_completed);
        let open = waits.iter().find(is_open).and_then(|it| self.queue.entries.get(*it));
        if let Some(open) = open {
            let name = sanitize::line(&open.name);
            return Some(TaskEnd::not_started(
                Exit::Ended,
                tr!("it waits for {name}, which is not completed", name),
            ));
        }
        let spent = self.budget.spent_limit()?;
        Some(TaskEnd::not_started(Exit::Limit, tr!("the budget of the queue is used: {spent}", spent)))
    }

    fn run_task(&mut self, index: usize, out: &mut Ui) -> Result<TaskEnd, Failure> {
        let (Some(entry), Some(pinned)) = (self.queue.entries.get(index), self.pinned.get(index)) else {
            return Err(Failure::ended(tr!("no such task")));
        };
        let args = self.budget.limit_args(self.args, &pinned.limits);
        let run = PreparedRun::of(&args, Some(&entry.path))?;
        if pinned.judges != judged_by(&run.work.task.criteria) {
            let reason = tr!("its criteria changed since the queue started");
            return Ok(TaskEnd::not_started(Exit::NotTrusted, reason));
        }
        let begun = Instant::now();
        // Trust given at the start does not cover what an agent wrote since.
        let started = run.start(&args, (&self.state, TrustConsent::Asked), self.earlier.clone())?;
        let exit = started.run_to_end(&args, &self.state, out).unwrap_or_else(|failure| {
            failure::warn(&failure);
            Exit::of_failure(failure.kind)
        });
        let loop_view = self.ended_state(&started.dir)?;
        self.budget.charge(begun.elapsed(), loop_view.as_ref());
        self.earlier.extend(loop_view.as_ref().map(earlier_task));
        Ok(TaskEnd::of(exit, loop_view.as_ref()))
    }

    /// The state of the loop once it has ended, also after the terminal was closed; `None`: its keeper has ended.
    fn ended_state(&self, dir: &LoopDir) -> Result<Option<LoopState>, Failure> {
        loop {
            let loop_view = LoopView::read(&self.state, dir.clone())?;
            match loop_view {
                Some(loop_view) if loop_view.is_open() && loop_view.keeper != KeeperLiveness::Gone => {
                    sleep(POLL_INTERVAL);
                }
                Some(loop_view) if loop_view.is_open() => return Ok(None),
                loop_view => return Ok(loop_view.map(|it| it.state)),
            }
        }
    }

    fn report(&self, order: &[usize], out: &mut Ui) {
        if self.args.json {
            return;
        }
        let done = self.ended.iter().flatten().filter(|it| is_completed(it)).count();
        let tasks = words::counted(order.len() as u64, "task");
        out.line(format_args!(
            "\n{}",
            tr!("{done} of {tasks} completed, {spent}", done, tasks, spent = self.budget.sentence())
        ));
        for (entry, end) in
            order.iter().filter_map(|it| Some((self.queue.entries.get(*it)?, self.ended.get(*it)?.as_ref()?)))
        {
            let mark = if is_completed(end) { '✓' } else { '✗' };
            out.line(format_args!(
                "  {mark} {}",
                tr!("{name}: {text}", name = sanitize::line(&entry.name), text = end.sentence)
            ));
        }
    }
}

fn is_completed(end: &TaskEnd) -> bool {
    end.kind == TaskEndKind::Completed
}

fn failed_end(failure: &Failure) -> TaskEnd {
    failure::warn(failure);
    let what = sanitize::line(failure.message.fact());
    TaskEnd::not_started(Exit::of_failure(failure.kind), what)
}
