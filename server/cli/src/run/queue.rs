//! `run A B C` and `run QUEUE.md`: several tasks, each in a loop of its own that ends before the next begins. All of them
//! are checked and trusted before the first starts, and share one budget.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use loopkeeper_core::decide::{LoopState, earlier_task};
use loopkeeper_core::journal::{EarlierTask, OutcomeKind};
use loopkeeper_task::criterion::Criterion;
use loopkeeper_task::queue::{TaskQueue, is_queue, parse_queue};
use loopkeeper_text::lines::LineIndex;
use loopkeeper_text::{sanitize, words};
use tokio::signal::unix::{SignalKind, signal};

use super::budget::QueueBudget;
use super::{Args, PreparedRun, consent};
use crate::exit::Exit;
use crate::failure::{self, ExitResult, Failure};
use crate::out::Ui;
use crate::trust::{self, TrustConsent};
use loopkeeper_operations::loops::LoopView;
use loopkeeper_system::runtime::new_runtime;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::lock::KeeperLiveness;
use loopkeeper_system::state_dir::workspace::LoopDir;

/// Poll interval of a loop that goes on after its terminal was closed.
const LOOK: Duration = Duration::from_millis(500);

/// The queue that the arguments name; `None`: one task.
pub(super) fn find(args: &Args) -> Result<Option<TaskQueue>, Failure> {
    let queue = match args.tasks.as_slice() {
        [] => return Ok(None),
        [only] if is_queue(only) => read(only)?,
        [_] => return Ok(None),
        several => match several.iter().find(|it| is_queue(it)) {
            Some(queue) => {
                let queue = sanitize::line(queue);
                return Err(Failure::usage(format_args!("{queue} is a queue itself: name it alone")));
            }
            None => TaskQueue::of_paths(several),
        },
    };
    let refused = [("--detach", args.detach), ("--attach", args.attach)];
    match refused.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Failure::usage(format_args!("{option} starts one task, not a queue"))
            .hint("Leave it out: the queue goes on when its terminal is closed.")),
        None => Ok(Some(queue)),
    }
}

/// Reads a queue document; its paths become relative to the current folder.
fn read(path: &str) -> Result<TaskQueue, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|error| Failure::usage(format_args!("cannot read {}: {error}", sanitize::line(path))))?;
    let mut queue = parse_queue(path, &text);
    if !queue.findings.is_empty() {
        let lines = LineIndex::of(&text);
        let said = queue.findings.iter().map(|it| {
            let line = lines.line(it.place.range.start) + 1;
            format!("\n  {}:{line}: {}", sanitize::line(path), it.message)
        });
        return Err(Failure::usage(format_args!("the queue cannot be run:{}", said.collect::<String>()))
            .hint("Correct the lines; nothing was started."));
    }
    if queue.entries.is_empty() {
        return Err(Failure::usage(format_args!("{} lists no task", sanitize::line(path)))
            .hint("Write one item for each task: `- [Title](path/to/PROMPT.md)`."));
    }
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
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
    let budget = QueueBudget::of(args, runs.iter().map(|it| it.work.settings.limits.clone()));
    let pinned = runs.iter().map(|it| judged_by(&it.work.task.criteria)).collect();
    let _runtime = outlive_terminal()?;
    let ended = queue.entries.iter().map(|_| None).collect();
    Ok(QueueRun { args, queue, state, budget, pinned, ended, earlier: Vec::new() }.run_all(out))
}

/// The closed terminal ends no queue: its loops have keepers of their own.
fn outlive_terminal() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = new_runtime()?;
    // The handler stays installed for the whole process.
    runtime.block_on(async { signal(SignalKind::hangup()).map(drop) })?;
    Ok(runtime)
}

/// What decides a task: the agent of an earlier task must not change it.
fn judged_by(criteria: &[Criterion]) -> Vec<String> {
    criteria.iter().map(|it| format!("{} {} {:?}", it.id.0, it.required, it.check)).collect()
}

struct QueueRun<'a> {
    args: &'a Args,
    queue: &'a TaskQueue,
    state: StateDir,
    budget: QueueBudget,
    /// The criteria of each task when the queue started.
    pinned: Vec<Vec<String>>,
    ended: Vec<Option<TaskEnd>>,
    earlier: Vec<EarlierTask>,
}

/// How one task of the queue ended.
struct TaskEnd {
    exit: Exit,
    sentence: String,
    is_completed: bool,
    /// The user stopped it, and with it the queue.
    is_stopped: bool,
}

impl TaskEnd {
    fn not_started(exit: Exit, reason: &str) -> Self {
        Self { exit, sentence: format!("not started: {reason}"), is_completed: false, is_stopped: false }
    }

    /// `None`: its keeper is gone.
    fn of(exit: Exit, state: Option<&LoopState>) -> Self {
        let outcome = state.and_then(|it| it.outcome.as_ref());
        let sentence = outcome.map_or("interrupted", |it| it.sentence.as_str());
        Self {
            exit: outcome.filter(|_| exit != Exit::Signalled).map_or(exit, Exit::of),
            sentence: sanitize::line(sentence),
            is_completed: outcome.is_some_and(|it| it.kind == OutcomeKind::Completed),
            is_stopped: exit == Exit::Signalled || state.is_none_or(|it| it.stop.is_some()),
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
                out.line(format_args!("Task {} of {}: {name}", nth + 1, order.len()));
            }
            let end = match self.obstacle(*index) {
                Some(end) => end,
                None => self.run_task(*index, out).unwrap_or_else(|failure| failed(&failure)),
            };
            if !self.args.json && end.sentence.starts_with("not started") {
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
        if self.ended.iter().flatten().any(|it| it.is_stopped) {
            return Some(TaskEnd::not_started(Exit::Ended, "you stopped the queue"));
        }
        let waits = self.queue.entries.get(index).map(|it| it.after.as_slice()).unwrap_or_default();
        let is_open =
            |it: &&usize| !self.ended.get(**it).and_then(Option::as_ref).is_some_and(|it| it.is_completed);
        let open = waits.iter().find(is_open).and_then(|it| self.queue.entries.get(*it));
        if let Some(open) = open {
            let name = sanitize::line(&open.name);
            return Some(TaskEnd::not_started(
                Exit::Ended,
                &format!("it waits for {name}, which is not completed"),
            ));
        }
        let spent = self.budget.spent_limit()?;
        Some(TaskEnd::not_started(Exit::Limit, &format!("the budget of the queue is used: {spent}")))
    }

    fn run_task(&mut self, index: usize, out: &mut Ui) -> Result<TaskEnd, Failure> {
        let Some(entry) = self.queue.entries.get(index) else { return Err(Failure::ended("no such task")) };
        let run = PreparedRun::of(self.args, Some(&entry.path))?;
        let args = self.budget.bounded(self.args, &run.work.settings.limits);
        // Read again: earlier tasks changed the files, and may change documents, but not what decides this one.
        let run = PreparedRun { work: super::work(&args, Some(&entry.path))?, ..run };
        if self.pinned.get(index).is_none_or(|it| *it != judged_by(&run.work.task.criteria)) {
            let reason = "its criteria changed since the queue started";
            return Ok(TaskEnd::not_started(Exit::NotTrusted, reason));
        }
        let begun = Instant::now();
        // Trust of the start does not cover what an agent wrote since.
        let trust = (&self.state, TrustConsent::Asked);
        let (exit, dir) = run.start(&args, trust, self.earlier.clone(), out)?;
        let Some(dir) = dir else { return Ok(TaskEnd::of(exit, None)) };
        let seen = self.ended_state(&dir)?;
        self.budget.charge(begun.elapsed(), seen.as_ref());
        self.earlier.extend(seen.as_ref().map(earlier_task));
        Ok(TaskEnd::of(exit, seen.as_ref()))
    }

    /// The state of the loop once it has ended, also after the terminal was closed; `None`: its keeper is gone.
    fn ended_state(&self, dir: &LoopDir) -> Result<Option<LoopState>, Failure> {
        loop {
            let seen = LoopView::read(&self.state, dir.clone())?;
            match seen {
                Some(seen) if seen.is_open() && seen.keeper != KeeperLiveness::Gone => sleep(LOOK),
                Some(seen) if seen.is_open() => return Ok(None),
                seen => return Ok(seen.map(|it| it.state)),
            }
        }
    }

    fn report(&self, order: &[usize], out: &mut Ui) {
        if self.args.json {
            return;
        }
        let done = self.ended.iter().flatten().filter(|it| it.is_completed).count();
        let tasks = words::counted(order.len() as u64, "task");
        out.line(format_args!("\n{done} of {tasks} completed, {}", self.budget.sentence()));
        for (entry, end) in
            order.iter().filter_map(|it| Some((self.queue.entries.get(*it)?, self.ended.get(*it)?.as_ref()?)))
        {
            let mark = if end.is_completed { '✓' } else { '✗' };
            out.line(format_args!("  {mark} {}: {}", sanitize::line(&entry.name), end.sentence));
        }
    }
}

fn failed(failure: &Failure) -> TaskEnd {
    failure::warn(failure);
    let what = sanitize::line(&failure.what);
    TaskEnd::not_started(Exit::of_failure(failure.kind), &what)
}
