//! One run of the agent: writes the prompt to a file, starts the program in a kill domain, converts its output to
//! activity and, at the end, to an `AgentRun`. Decides nothing; the main loop sends it commands.

mod attached;
mod exhaustion;
mod hook_injection;
mod job;
mod session;
mod settings_file;
mod subagents;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use loopkeeper_agent::activity;
use loopkeeper_agent::provider::LocalClock;
use loopkeeper_agent::reader::{AgentOutputReader, KillReason, ProcessEnd};
use loopkeeper_agent::{AgentEnding, AgentEvent, AgentRun, LoopMode, ToolKind};
use loopkeeper_core::decide::{Event, KillMode};
use loopkeeper_core::journal::AgentPlan;
use loopkeeper_text::redact::Redactor;
use loopkeeper_text::{sanitize, tr, truncate};
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
use super::loop_context::LoopContext;
use super::spawn_boxed_local;
use super::usage_limits;
use super::user_commands;
use loopkeeper_system::clock;
use loopkeeper_system::process::{self, ProcessError, TerminateMode};

/// Interval of CPU measurements; each one scans all processes.
const CPU_INTERVAL: Duration = Duration::from_secs(5);
/// Bytes of stderr kept for the message of a failure.
const STDERR_TAIL: usize = 4 * 1024;

/// The iteration to start.
#[derive(Clone)]
pub(super) struct IterationStart {
    pub(super) plan: AgentPlan,
    pub(super) iteration: u32,
    pub(super) session: String,
    /// Whether the session is resumed; otherwise the agent begins it.
    pub(super) resumed: bool,
    /// Tokens used by the session before, for agents that count over all their processes.
    pub(super) session_tokens: u64,
    /// The remaining budget.
    pub(super) budget_micros: Option<u64>,
    pub(super) prompt: String,
}

/// A running agent, as seen by the main loop.
pub(super) struct AgentHandle {
    commands: mpsc::UnboundedSender<AgentCommand>,
    pub(super) liveness: Rc<Liveness>,
    task: tokio::task::JoinHandle<()>,
}

enum AgentCommand {
    End(AgentEnding, TerminateMode),
    /// The response to its stop hook.
    Next(IterationStart),
    /// Release it; the reason is shown to the user of the session.
    Release(String),
}

/// Signs of activity of a running agent.
#[derive(Default)]
pub(super) struct Liveness {
    lines: Cell<u64>,
    cpu_ms: Cell<u64>,
    /// Lines, CPU time and clock at the previous check.
    previous: Cell<(u64, u64, u64)>,
    /// Tree hash at the previous check; empty before the first.
    pub(super) tree: RefCell<String>,
    last_activity: RefCell<String>,
    /// The last activity while no watcher was connected.
    unseen: RefCell<Option<AgentEvent>>,
    /// Number of watchers at the previous tick.
    watchers: Cell<usize>,
}

impl AgentHandle {
    /// Infallible: an agent that cannot be started is reported as an agent that ended.
    pub(super) fn start(context: &LoopContext, start: IterationStart) -> Self {
        let (sender, commands) = mpsc::unbounded_channel();
        let liveness = Rc::new(Liveness::default());
        let requests = context.control.hooks.open_queue();
        context.control.hooks.begin_session(&start.session);
        let task =
            AgentTask { context: context.clone(), start, commands, requests, liveness: Rc::clone(&liveness) };
        let task = spawn_boxed_local(task.run());
        Self { commands: sender, liveness, task }
    }

    /// Uses the session that the user attaches to the loop.
    pub(super) fn attach(context: &LoopContext) -> Self {
        let (sender, commands) = mpsc::unbounded_channel();
        let liveness = Rc::new(Liveness::default());
        let session = AttachedSession::new(context.clone(), commands, Rc::clone(&liveness));
        Self { commands: sender, liveness, task: spawn_boxed_local(session.run()) }
    }

    pub(super) fn stop(&self, why: AgentEnding, grace: KillMode) {
        let how = match grace {
            KillMode::Given => TerminateMode::Grace,
            KillMode::None => TerminateMode::Now,
        };
        // The send fails if the run has just ended; no command is needed then.
        let _ = self.commands.send(AgentCommand::End(why, how));
    }

    /// Sends the next iteration to a held agent; returns it if that agent has ended.
    pub(super) fn send_iteration(&self, start: IterationStart) -> Option<IterationStart> {
        match self.commands.send(AgentCommand::Next(start)) {
            Err(mpsc::error::SendError(AgentCommand::Next(start))) => Some(start),
            Ok(()) | Err(_) => None,
        }
    }

    pub(super) fn request_release(&self, why: String) {
        let _ = self.commands.send(AgentCommand::Release(why));
    }

    /// Stops the agent and waits until its kill domain is empty.
    pub(super) async fn end(self) {
        self.stop(AgentEnding::Stopped, KillMode::None);
        drop(self.commands);
        let _ = self.task.await;
    }
}

impl Liveness {
    /// Whether there was output, or at least one per cent CPU of one core, since the previous check.
    pub(super) fn is_alive(&self) -> bool {
        let now = clock::now().awake;
        let (lines, cpu, then) = self.previous.get();
        let (lines_now, cpu_now) = (self.lines.get(), self.cpu_ms.get());
        self.previous.set((lines_now, cpu_now, now));
        lines_now != lines || cpu_now.saturating_sub(cpu) * 100 >= now.saturating_sub(then).max(1)
    }
}

/// Short idle limits need more frequent measurements.
fn cpu_every(idle_ms: u64) -> Duration {
    CPU_INTERVAL.min(Duration::from_millis((idle_ms / 8).max(50)))
}

/// Deadline for an agent that does not exit after its last turn (it may wait for background jobs indefinitely).
#[derive(Default)]
pub(super) struct LingerTimer {
    /// The deadline; `None` during a turn.
    pub(super) until: Option<Instant>,
    linger_expired: bool,
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
    commands: mpsc::UnboundedReceiver<AgentCommand>,
    requests: mpsc::UnboundedReceiver<HookRequest>,
    liveness: Rc<Liveness>,
}

impl AgentTask {
    async fn run(mut self) {
        // If a held process exited before the next iteration reached it, another process is started.
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
            // A process that may be held across iterations is identified by the pid of its warden.
            LoopMode::Hook | LoopMode::Attach => process::start(&job, &runtime.agent_domain),
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
        context.send_event(self.started_event(&mut running, holds).await);
        AgentProcess::new(self, holds).watch(self, running).await
    }

    fn finish_run(&self, run: AgentRun) -> Option<IterationStart> {
        self.report_ended(run);
        None
    }

    /// Runs the user's command before the iteration; a command to end cancels it.
    async fn run_start_hook(&mut self) -> Option<AgentEnding> {
        tokio::select! {
            () = user_commands::before_agent(&self.context) => None,
            Some(command) = self.commands.recv() => match command {
                AgentCommand::End(why, _) => Some(why),
                AgentCommand::Next(_) | AgentCommand::Release(_) => None,
            },
        }
    }

    fn handle_event(&self, event: AgentEvent) {
        match &event {
            AgentEvent::Started { session, .. } if !session.is_empty() => {
                self.context.control.hooks.set_reported_session(session);
            }
            AgentEvent::ToolUse(call) if call.act == ToolKind::Spawn => self.count_subagent(call),
            AgentEvent::Spawned { call, id, what } => self.link_subagent(call, id, what),
            AgentEvent::Started { .. }
            | AgentEvent::Text(_)
            | AgentEvent::ToolUse(_)
            | AgentEvent::ToolFailed { .. }
            | AgentEvent::FileChange { .. }
            | AgentEvent::Retry { .. }
            | AgentEvent::Limit { .. }
            | AgentEvent::Denied { .. }
            | AgentEvent::Step { .. }
            | AgentEvent::Turn(_)
            | AgentEvent::Oversize { .. }
            | AgentEvent::Unread(_) => {}
        }
        self.publish_activity(event);
    }

    /// Publishes the agent's activity to watchers; free when there are none.
    fn publish_activity(&self, event: AgentEvent) {
        if self.context.control.watch_events.receiver_count() == 0 {
            if !matches!(event, AgentEvent::Turn(_)) {
                self.liveness.unseen.replace(Some(event));
            }
            return;
        }
        self.liveness.unseen.take();
        let Some(text) = activity::describe_event(&event) else { return };
        let text = sanitize::line(&self.context.runtime.redactor.redact(&text));
        if *self.liveness.last_activity.borrow() != text {
            self.liveness.last_activity.replace(text.clone());
            let _ = self.context.control.watch_events.send(WatchEvent::Activity { text });
        }
        if let AgentEvent::Text(text) | AgentEvent::Unread(text) = event {
            let text = sanitize::text(&self.context.runtime.redactor.redact(&text));
            let _ = self
                .context
                .control
                .watch_events
                .send(WatchEvent::Output { iteration: self.start.iteration, text });
        }
    }

    /// Sends the last activity to watchers that connected since the previous tick.
    fn send_last_activity(&self) {
        let watchers = self.context.control.watch_events.receiver_count();
        if watchers <= self.liveness.watchers.replace(watchers) {
            return;
        }
        if let Some(event) = self.liveness.unseen.take() {
            return self.publish_activity(event);
        }
        let text = self.liveness.last_activity.borrow().clone();
        if !text.is_empty() {
            let _ = self.context.control.watch_events.send(WatchEvent::Activity { text });
        }
    }

    fn report_ended(&self, run: AgentRun) {
        usage_limits::record_outcome(&self.context, &self.start.plan, &run);
        self.context
            .send_event(Event::AgentEnded(Box::new(sanitize_run(run, &self.context.runtime.redactor))));
    }
}

/// The result of watching the process.
pub(super) struct WatchResult {
    pub(super) ending: AgentEnding,
    pub(super) halted: Option<KillReason>,
    pub(super) linger_expired: bool,
    pub(super) stderr: String,
    pub(super) duration_ms: u64,
}

pub(super) fn summarize_run(
    reader: AgentOutputReader,
    ended: process::JobOutcome,
    watched: WatchResult,
    most_steps: u32,
) -> AgentRun {
    let reason = ended.not_started.unwrap_or_default();
    let ending = match (reason.as_str(), watched.ending, watched.halted) {
        ("", AgentEnding::Exited, Some(KillReason::Steps)) => AgentEnding::Capped,
        ("", ending, _) => ending,
        _ => AgentEnding::NotStarted,
    };
    let WatchResult { stderr, duration_ms, linger_expired, .. } = watched;
    let (exit, signal, dropped, survivors) = (ended.exit, ended.signal, ended.dropped, ended.survivors);
    let end = ProcessEnd { ending, exit, signal, reason, stderr, duration_ms, survivors, dropped };
    let mut run = reader.finish(end, &local_clock());
    run.unkillable = ended.unkillable;
    if ending == AgentEnding::Capped {
        run.note = Some(tr!("over {most_steps} steps (`limits.steps`)", most_steps));
    } else if linger_expired && run.note.is_none() {
        run.note = Some(tr!("it was still running after its turn and was ended").to_owned());
    }
    run
}

/// Sanitises and redacts the texts of the run for the record.
fn sanitize_run(mut run: AgentRun, redactor: &Redactor) -> AgentRun {
    let line = |text: &str| sanitize::line(&redactor.redact(text));
    run.final_text = sanitize::text(&redactor.redact(&run.final_text));
    if let Some(error) = &mut run.error {
        error.message = line(&error.message);
    }
    run.note = run.note.as_deref().map(line);
    run.survivors = run.survivors.iter().map(|it| line(it)).collect();
    run.denied = run.denied.iter().map(|it| line(it)).collect();
    run.closed_paths = run.closed_paths.iter().map(|it| line(it)).collect();
    run.read_only_paths = run.read_only_paths.iter().map(|it| line(it)).collect();
    run.closed_hosts = run.closed_hosts.iter().map(|it| line(it)).collect();
    run.unkillable = run.unkillable.iter().map(|it| line(it)).collect();
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

/// The local clock, because usage limits are announced with local times in text.
fn local_clock() -> LocalClock<'static> {
    LocalClock { wall: clock::now().wall, offset: &clock::utc_offset }
}

pub(super) fn keep_tail(kept: &mut String, line: &str) {
    kept.push_str(line);
    kept.push('\n');
    if kept.len() > 2 * STDERR_TAIL {
        kept.drain(..kept.len() - truncate::last_bytes(kept, STDERR_TAIL).len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a check one second after the previous one.
    fn check(lines: u64, cpu_ms: u64, expect: bool) {
        let liveness = Liveness::default();
        liveness.previous.set((5, 1_000, clock::now().awake - 1_000));
        liveness.lines.set(5 + lines);
        liveness.cpu_ms.set(1_000 + cpu_ms);
        assert_eq!(liveness.is_alive(), expect, "{lines} lines, {cpu_ms} ms");
    }

    #[test]
    fn output_or_one_per_cent_of_a_core_is_a_sign_of_life() {
        check(0, 0, false);
        check(0, 9, false);
        check(0, 60, true);
        check(1, 0, true);
    }

    #[test]
    fn work_is_sampled_several_times_within_the_idle_timeout() {
        assert_eq!(cpu_every(15 * 60_000), CPU_INTERVAL);
        assert_eq!(cpu_every(800), Duration::from_millis(100));
        assert_eq!(cpu_every(1), Duration::from_millis(50));
    }
}
