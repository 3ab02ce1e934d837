//! One start of the agent: prompt to a file, program in a kill domain, its lines to activity and, at the end, to
//! an `AgentRun`. Decides nothing; it is told when to stop.

mod activity;
mod attached;
mod hook_injection;
mod job;
mod session;
mod settings_file;
mod subagents;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use loopkeeper_agent::provider::LocalClock;
use loopkeeper_agent::reader::{AgentOutputReader, KillReason, ProcessEnd};
use loopkeeper_agent::{AgentEnding, AgentEvent, AgentRun, LoopMode, ToolKind};
use loopkeeper_core::decide::{Event, KillMode};
use loopkeeper_core::journal::AgentPlan;
use loopkeeper_text::redact::Redactor;
use loopkeeper_text::{sanitize, truncate};
use tokio::sync::mpsc;
use tokio::time::Instant;

use self::attached::AttachedSession;
pub use self::hook_injection::create_agent_home;
use self::job::build_job;
pub(super) use self::job::{approve_agent, judge_argv, stdin};
use self::session::AgentProcess;
pub use self::settings_file::{SETTINGS, extract_settings};
use super::agent_hooks::HookRequest;
use super::control::WatchEvent;
use super::effects::LoopContext;
use super::spawn_boxed_local;
use super::usage_limits;
use super::user_commands;
use loopkeeper_system::clock;
use loopkeeper_system::process::{self, ProcessError, TerminateMode};

/// CPU use is looked up this often: it costs a walk over all processes.
const CPU_EVERY: Duration = Duration::from_secs(5);
/// What of stderr is kept for the message of a failure.
const STDERR_TAIL: usize = 4 * 1024;

/// The iteration to start.
#[derive(Clone)]
pub(super) struct IterationStart {
    pub(super) plan: AgentPlan,
    pub(super) iteration: u32,
    pub(super) session: String,
    /// It goes on; otherwise the agent begins it.
    pub(super) resumed: bool,
    /// What the session used before, where the agent counts over all its processes.
    pub(super) session_tokens: u64,
    /// What it may still cost.
    pub(super) budget_micros: Option<u64>,
    pub(super) prompt: String,
}

/// A running agent, as the keeper's loop holds it.
pub(super) struct AgentHandle {
    orders: mpsc::UnboundedSender<AgentCommand>,
    pub(super) signs: Rc<Liveness>,
    task: tokio::task::JoinHandle<()>,
}

enum AgentCommand {
    End(AgentEnding, TerminateMode),
    /// Its stop hook's answer.
    Next(IterationStart),
    /// And why, for whoever sits at it.
    LetGo(String),
}

/// What can be seen of a running agent from outside.
#[derive(Default)]
pub(super) struct Liveness {
    lines: Cell<u64>,
    cpu_ms: Cell<u64>,
    /// At the last look: lines, CPU, and when.
    looked: Cell<(u64, u64, u64)>,
    /// At the last look at it; empty before the first.
    pub(super) tree: RefCell<String>,
    last_activity: RefCell<String>,
    /// What it did last while nobody watched.
    unseen: RefCell<Option<AgentEvent>>,
    /// At the last look at how many watch.
    watchers: Cell<usize>,
}

impl AgentHandle {
    /// Never fails: an agent that cannot be started is an agent that ended.
    pub(super) fn start(context: &LoopContext, start: IterationStart) -> Self {
        let (orders, ordered) = mpsc::unbounded_channel();
        let signs = Rc::new(Liveness::default());
        let asked = context.control.hooks.open_queue();
        context.control.hooks.begin_session(&start.session);
        let run = AgentTask { context: context.clone(), start, ordered, asked, signs: Rc::clone(&signs) };
        let task = spawn_boxed_local(run.until_it_ended());
        Self { orders, signs, task }
    }

    /// Whichever session its user lends to the loop.
    pub(super) fn attach(context: &LoopContext) -> Self {
        let (orders, ordered) = mpsc::unbounded_channel();
        let signs = Rc::new(Liveness::default());
        let lent = AttachedSession::new(context.clone(), ordered, Rc::clone(&signs));
        Self { orders, signs, task: spawn_boxed_local(lent.until_nobody_asks()) }
    }

    pub(super) fn stop(&self, why: AgentEnding, grace: KillMode) {
        let how = match grace {
            KillMode::Given => TerminateMode::Grace,
            KillMode::None => TerminateMode::Now,
        };
        // A run that just ended needs no order.
        let _ = self.orders.send(AgentCommand::End(why, how));
    }

    /// The next iteration, for one that is held; comes back from one that has ended.
    pub(super) fn go_on(&self, start: IterationStart) -> Option<IterationStart> {
        match self.orders.send(AgentCommand::Next(start)) {
            Err(mpsc::error::SendError(AgentCommand::Next(start))) => Some(start),
            Ok(()) | Err(_) => None,
        }
    }

    pub(super) fn let_go(&self, why: String) {
        let _ = self.orders.send(AgentCommand::LetGo(why));
    }

    /// Ends it and waits until its kill domain is empty.
    pub(super) async fn end(self) {
        self.stop(AgentEnding::Stopped, KillMode::None);
        drop(self.orders);
        let _ = self.task.await;
    }
}

impl Liveness {
    /// Output, or at least one per cent of one core, since the last look.
    pub(super) fn is_alive(&self) -> bool {
        let now = clock::now().awake;
        let (lines, cpu, then) = self.looked.get();
        let (lines_now, cpu_now) = (self.lines.get(), self.cpu_ms.get());
        self.looked.set((lines_now, cpu_now, now));
        lines_now != lines || cpu_now.saturating_sub(cpu) * 100 >= now.saturating_sub(then).max(1)
    }
}

/// A short idle time must not be over before the agent's work was looked at.
fn cpu_every(idle_ms: u64) -> Duration {
    CPU_EVERY.min(Duration::from_millis((idle_ms / 8).max(50)))
}

/// Deadline for an agent that does not exit after its last turn (it may wait for background jobs indefinitely).
#[derive(Default)]
pub(super) struct LingerTimer {
    /// Until when it may stay; `None` while a turn is on.
    pub(super) until: Option<Instant>,
    was_cut: bool,
}

impl LingerTimer {
    pub(super) async fn expired(&self) {
        match self.until {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    }
}

struct AgentTask {
    context: LoopContext,
    start: IterationStart,
    ordered: mpsc::UnboundedReceiver<AgentCommand>,
    asked: mpsc::UnboundedReceiver<HookRequest>,
    signs: Rc<Liveness>,
}

impl AgentTask {
    async fn until_it_ended(mut self) {
        // An iteration for which a held process was gone already needs another one.
        while let Some(start) = self.run_process().await {
            self.start = start;
        }
    }

    async fn run_process(&mut self) -> Option<IterationStart> {
        let context = self.context.clone();
        if let Some(ending) = self.run_start_hook().await {
            return self.finish_run(never_ran(&self.start.plan, ending, String::new()));
        }
        let job = match build_job(&context, &self.start) {
            Ok(job) => job,
            Err(reason) => return self.finish_run(not_started(&self.start.plan, reason)),
        };
        let runtime = &context.runtime;
        let started = match runtime.spec.settings.mode {
            LoopMode::Loop => runtime.agent_wardens.start(&job),
            // A process that may be held from one iteration to the next is known by the number of its warden.
            _ => process::start(&job, &runtime.domain),
        };
        let mut running = match started {
            Ok(running) => running,
            Err(error) => {
                let program_missing = matches!(error, ProcessError::NotFound { .. });
                let run = not_started(&self.start.plan, error.to_string());
                return self.finish_run(AgentRun { program_missing, ..run });
            }
        };
        let holds = hook_injection::max_stop_holds(&context.runtime, &self.start.plan);
        context.send_event(self.started(&mut running, holds).await);
        AgentProcess::new(self, holds).watch(self, running).await
    }

    fn finish_run(&self, run: AgentRun) -> Option<IterationStart> {
        self.report_ended(run);
        None
    }

    /// The user's own command before the iteration. An order to end ends it too.
    async fn run_start_hook(&mut self) -> Option<AgentEnding> {
        tokio::select! {
            () = user_commands::before_agent(&self.context) => None,
            Some(order) = self.ordered.recv() => match order {
                AgentCommand::End(why, _) => Some(why),
                AgentCommand::Next(_) | AgentCommand::LetGo(_) => None,
            },
        }
    }

    fn handle_event(&self, event: AgentEvent) {
        match &event {
            AgentEvent::Started { session, .. } if !session.is_empty() => {
                self.context.control.hooks.is_called(session);
            }
            AgentEvent::ToolUse(call) if call.act == ToolKind::Spawn => self.count(call),
            AgentEvent::Spawned { call, id, what } => self.link(call, id, what),
            _ => {}
        }
        self.publish_activity(event);
    }

    /// Tells watchers what the agent does; nobody watching costs nothing.
    fn publish_activity(&self, event: AgentEvent) {
        if self.context.control.news.receiver_count() == 0 {
            if !matches!(event, AgentEvent::Turn(_)) {
                self.signs.unseen.replace(Some(event));
            }
            return;
        }
        self.signs.unseen.take();
        let Some(text) = activity::describe_event(&event) else { return };
        let text = sanitize::line(&self.context.runtime.redactor.redact(&text));
        if *self.signs.last_activity.borrow() != text {
            self.signs.last_activity.replace(text.clone());
            let _ = self.context.control.news.send(WatchEvent::Activity { text });
        }
        if let AgentEvent::Text(said) | AgentEvent::Unread(said) = event {
            let text = sanitize::text(&self.context.runtime.redactor.redact(&said));
            let _ =
                self.context.control.news.send(WatchEvent::Output { iteration: self.start.iteration, text });
        }
    }

    /// Sends the last activity to watchers that connected since the previous tick.
    fn send_last_activity(&self) {
        let watchers = self.context.control.news.receiver_count();
        if watchers <= self.signs.watchers.replace(watchers) {
            return;
        }
        if let Some(event) = self.signs.unseen.take() {
            return self.publish_activity(event);
        }
        let text = self.signs.last_activity.borrow().clone();
        if !text.is_empty() {
            let _ = self.context.control.news.send(WatchEvent::Activity { text });
        }
    }

    fn report_ended(&self, run: AgentRun) {
        usage_limits::record_outcome(&self.context, &self.start.plan, &run);
        self.context
            .send_event(Event::AgentEnded(Box::new(sanitize_run(run, &self.context.runtime.redactor))));
    }
}

/// What the watching left behind.
pub(super) struct WatchResult {
    pub(super) ending: AgentEnding,
    pub(super) halted: Option<KillReason>,
    pub(super) was_cut: bool,
    pub(super) stderr: String,
    pub(super) duration_ms: u64,
}

pub(super) fn summarize_run(
    reader: AgentOutputReader,
    ended: process::JobOutcome,
    left: WatchResult,
    most_steps: u32,
) -> AgentRun {
    let reason = ended.not_started.unwrap_or_default();
    let ending = match (reason.as_str(), left.ending, left.halted) {
        ("", AgentEnding::Exited, Some(KillReason::Steps)) => AgentEnding::Capped,
        ("", ending, _) => ending,
        _ => AgentEnding::NotStarted,
    };
    let WatchResult { stderr, duration_ms, .. } = left;
    let (exit, signal, dropped, survivors) = (ended.exit, ended.signal, ended.dropped, ended.survivors);
    let end = ProcessEnd { ending, exit, signal, reason, stderr, duration_ms, survivors, dropped };
    let mut run = reader.finish(end, &local_clock());
    run.left = ended.left;
    if ending == AgentEnding::Capped {
        run.note = Some(format!("over {most_steps} steps (`limits.steps`)"));
    } else if left.was_cut && run.note.is_none() {
        run.note = Some("it stayed after its turn and was ended".to_owned());
    }
    run
}

/// What stands in the record is safe to show and holds no known secret.
fn sanitize_run(mut run: AgentRun, redactor: &Redactor) -> AgentRun {
    let line = |text: &str| sanitize::line(&redactor.redact(text));
    run.final_text = sanitize::text(&redactor.redact(&run.final_text));
    if let Some(error) = &mut run.error {
        error.message = line(&error.message);
    }
    run.note = run.note.as_deref().map(line);
    run.survivors = run.survivors.iter().map(|it| line(it)).collect();
    run.denied = run.denied.iter().map(|it| line(it)).collect();
    run.left = run.left.iter().map(|it| line(it)).collect();
    run.files = run.files.iter().map(|it| line(it)).collect();
    for error in &mut run.errors {
        error.text = line(&error.text);
    }
    run.tools = run.tools.iter().map(|it| line(it)).collect();
    run.commands = run.commands.iter().map(|it| line(it)).collect();
    run.session = run.session.as_deref().map(line);
    run.model = run.model.as_deref().map(line);
    run
}

fn not_started(plan: &AgentPlan, reason: String) -> AgentRun {
    never_ran(plan, AgentEnding::NotStarted, reason)
}

fn never_ran(plan: &AgentPlan, ending: AgentEnding, reason: String) -> AgentRun {
    let end = ProcessEnd { ending, reason, ..ProcessEnd::exited(None) };
    AgentOutputReader::new(plan.dialect).finish(end, &local_clock())
}

/// What time it is, by which clocks: limits are announced in words.
fn local_clock() -> LocalClock<'static> {
    LocalClock { wall: clock::now().wall, offset: &clock::utc_offset }
}

pub(super) fn keep_tail(kept: &mut String, line: &str) {
    kept.push_str(line);
    kept.push('\n');
    if kept.len() > 2 * STDERR_TAIL {
        kept.drain(..kept.len() - truncate::last(kept, STDERR_TAIL).len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Since a look one second ago.
    fn check(lines: u64, cpu_ms: u64, expect: bool) {
        let signs = Liveness::default();
        signs.looked.set((5, 1_000, clock::now().awake - 1_000));
        signs.lines.set(5 + lines);
        signs.cpu_ms.set(1_000 + cpu_ms);
        assert_eq!(signs.is_alive(), expect, "{lines} lines, {cpu_ms} ms");
    }

    #[test]
    fn output_or_one_per_cent_of_a_core_is_life() {
        check(0, 0, false);
        check(0, 9, false);
        check(0, 60, true);
        check(1, 0, true);
    }

    #[test]
    fn work_is_looked_at_several_times_within_the_idle_time() {
        assert_eq!(cpu_every(15 * 60_000), CPU_EVERY);
        assert_eq!(cpu_every(800), Duration::from_millis(100));
        assert_eq!(cpu_every(1), Duration::from_millis(50));
    }
}
