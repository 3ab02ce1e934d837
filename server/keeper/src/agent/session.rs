//! One process of the agent from start to exit: its output, its termination, and in hook mode the iterations that it
//! works on while its stop hook holds it in between.

use loopkeeper_text::clauses::append_clause;
use std::path::Path;
use std::time::Duration;

use loopkeeper_agent::reader::{AgentOutputReader, KillReason, ProcessEnd, StopHookReport};
use loopkeeper_agent::{AgentEnding, AgentExited, AgentRun, LoopMode};
use loopkeeper_core::decide::Event;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::exhaustion;
use super::job::{name, prompt_file};
use super::{
    AgentCommand, AgentTask, IterationStart, LingerTimer, WatchResult, cpu_every, local_clock, summarize_run,
};
use crate::agent_hooks::{HookEvent, HookQuestion, HookRequest, HookVerdict};
use loopkeeper_system::clock;
use loopkeeper_system::process::{JobHandle, OutputEvent, StopHookWait, Stream, TerminateMode};
use loopkeeper_system::sandbox::{ClosedPaths, DeniedPaths};

/// Output that is silent for this long is complete when a hook calls, since output and hooks arrive on different
/// channels.
const DRAIN_SILENCE: Duration = Duration::from_millis(40);
/// Limit of waiting for that silence: what the agent left running may print without end, and no command is read
/// meanwhile.
const MAX_DRAIN: Duration = Duration::from_secs(1);
/// Added to the grace time, because a released agent first prints its final message.
const FINAL_MESSAGE_TIMEOUT: Duration = Duration::from_secs(5);

enum StopHookState {
    /// No call is pending: the agent works.
    Working,
    /// The stop hook is waiting for our answer.
    Waiting(oneshot::Sender<HookVerdict>),
    /// The agent was released.
    Released,
}

pub(super) struct AgentProcess {
    reader: AgentOutputReader,
    stderr: String,
    ending: AgentEnding,
    began: u64,
    linger: LingerTimer,
    stop_hook: StopHookState,
    /// Whether the stop hook called at least once.
    stop_hook_called: bool,
    /// How often the stop hook can still hold the process.
    holds: Option<u32>,
    /// Why we ended it without a command.
    halted: Option<KillReason>,
    /// Bytes omitted from the output file of the previous iteration.
    dropped: u64,
    closed: ClosedPaths,
    denied_paths: DeniedPaths,
    /// An iteration that arrived after the release of this process.
    late: Option<IterationStart>,
}

impl AgentProcess {
    pub(super) fn new(task: &AgentTask, holds: Option<u32>) -> Self {
        Self {
            reader: AgentOutputReader::for_session(task.start.plan.dialect, task.start.session_tokens),
            stderr: String::new(),
            ending: AgentEnding::Exited,
            began: clock::now().awake,
            linger: LingerTimer::default(),
            stop_hook: StopHookState::Working,
            stop_hook_called: false,
            holds,
            halted: None,
            dropped: 0,
            closed: task.context.runtime.closed_to_agents(),
            denied_paths: DeniedPaths::default(),
            late: None,
        }
    }

    /// Runs until the process has exited. Returns the iteration for which another process is needed, if any.
    pub(super) async fn watch(
        mut self,
        task: &mut AgentTask,
        mut running: JobHandle,
    ) -> Option<IterationStart> {
        let every = cpu_every(task.context.runtime.spec.settings.limits.idle_ms);
        let mut tick = tokio::time::interval_at(Instant::now() + every, every);
        loop {
            tokio::select! {
                output = running.next() => match output {
                    Some(output) => {
                        self.handle_output(task, output);
                        self.check_limits(task, &mut running);
                    }
                    None => break,
                },
                () = self.linger.expired() => {
                    self.linger = LingerTimer { until: None, linger_expired: true };
                    running.terminate(TerminateMode::Grace);
                }
                Some(command) = task.commands.recv() => self.handle_command(task, &mut running, command).await,
                Some(request) = task.requests.recv() => self.answer(task, &mut running, request).await,
                _ = tick.tick() => {
                    if let Ok(cpu_ms) = running.cpu_ms() {
                        task.liveness.cpu_ms.set(cpu_ms);
                    }
                    task.send_last_activity();
                }
            }
        }
        self.finish_run(task, running).await
    }

    async fn handle_command(&mut self, task: &mut AgentTask, running: &mut JobHandle, command: AgentCommand) {
        match command {
            AgentCommand::End(why, how) => {
                if self.ending == AgentEnding::Exited {
                    self.ending = why;
                }
                running.terminate(how);
            }
            AgentCommand::Release(why) => self.release_agent(task, &why),
            AgentCommand::Next(start) => self.send_iteration(task, running, start).await,
        }
    }

    fn release_agent(&mut self, task: &AgentTask, why: &str) {
        if let StopHookState::Waiting(answer) =
            std::mem::replace(&mut self.stop_hook, StopHookState::Released)
        {
            // If the hook has disconnected, the agent is released already.
            let _ = answer.send(HookVerdict::allow(why));
        }
        self.linger.until = Some(Instant::now() + task.grace() + FINAL_MESSAGE_TIMEOUT);
    }

    /// Sends the next iteration as the answer to the stop hook.
    async fn send_iteration(&mut self, task: &mut AgentTask, running: &mut JobHandle, start: IterationStart) {
        let StopHookState::Waiting(answer) = std::mem::replace(&mut self.stop_hook, StopHookState::Released)
        else {
            self.late = Some(start);
            return;
        };
        if self.reader.is_spent() {
            self.late = Some(start);
            self.stop_hook = StopHookState::Waiting(answer);
            return self.release_agent(task, "it is started again");
        }
        task.start = start;
        if let Some(why) = task.run_start_hook().await {
            self.ending = why;
            self.stop_hook = StopHookState::Working;
            let _ = answer.send(HookVerdict::allow("the loop is stopped"));
            running.terminate(TerminateMode::Grace);
            return;
        }
        if answer.is_closed() {
            self.late = Some(task.start.clone());
            self.linger.until = Some(Instant::now() + task.grace() + FINAL_MESSAGE_TIMEOUT);
            return;
        }
        let base = task.output_base();
        match running.output_to(&base) {
            Ok(dropped) => self.dropped = dropped,
            Err(error) => tracing::warn!("could not write {}: {error}", base.display()),
        }
        if let Err(error) = prompt_file(&task.context, &task.start) {
            tracing::warn!("{error}");
        }
        running.set_stop_hook_wait(StopHookWait::No);
        (self.began, self.ending, self.stop_hook) =
            (clock::now().awake, AgentEnding::Exited, StopHookState::Working);
        self.holds = self.holds.map(|it| it.saturating_sub(1));
        let started = task.started_event(running, self.holds).await;
        task.context.send_event(started);
        let _ = answer.send(HookVerdict::block(task.start.prompt.clone()));
    }

    /// A stop hook call of our own session ends the iteration; all other calls are allowed.
    async fn answer(&mut self, task: &mut AgentTask, running: &mut JobHandle, request: HookRequest) {
        let HookRequest { question, answer } = request;
        if let Some(why) = self.foreign_reason(task, &question) {
            let _ = answer.send(HookVerdict::allow(why));
            return;
        }
        let until = Instant::now() + MAX_DRAIN;
        while Instant::now() < until
            && let Ok(Some(output)) = tokio::time::timeout(DRAIN_SILENCE, running.next()).await
        {
            self.handle_output(task, output);
        }
        (self.stop_hook, self.stop_hook_called) = (StopHookState::Waiting(answer), true);
        self.linger.until = None;
        running.set_stop_hook_wait(StopHookWait::Yes);
        let end = self.process_end(AgentEnding::Held);
        let report = StopHookReport {
            last_message: question.text.as_deref().unwrap_or_default(),
            session_tokens: question.tokens,
        };
        let mut so_far = self.reader.so_far(report, end, &local_clock());
        let denied = std::mem::take(&mut self.denied_paths);
        (so_far.closed_paths, so_far.read_only_paths) = (denied.hidden, denied.read_only);
        so_far.closed_hosts = task.context.runtime.hosts_denied_to_agents();
        self.closed = task.context.runtime.closed_to_agents();
        task.report_ended(so_far);
    }

    /// Why a request does not concern this process.
    fn foreign_reason(&self, task: &AgentTask, question: &HookQuestion) -> Option<&'static str> {
        if question.hook != HookEvent::Stop {
            return Some("the agent may go on");
        }
        if task.context.runtime.spec.settings.mode == LoopMode::Loop {
            return Some("this loop starts a process for each iteration");
        }
        if question.token != *task.context.runtime.token
            || question.agent.is_some()
            || !self.is_ours(task, question)
        {
            return Some("not the session of this loop");
        }
        let is_free = matches!(self.stop_hook, StopHookState::Working) && self.ending == AgentEnding::Exited;
        (!is_free).then_some("the agent may go")
    }

    /// A nested agent inherits the variables of its parent but has a different session id.
    fn is_ours(&self, task: &AgentTask, question: &HookQuestion) -> bool {
        let known = self.reader.session().unwrap_or(&task.start.session);
        question.session.as_ref().is_none_or(|it| it == known || *it == task.start.session)
    }

    fn handle_output(&mut self, task: &AgentTask, output: OutputEvent) {
        task.liveness.lines.set(task.liveness.lines.get() + 1);
        match output {
            OutputEvent::Line { stream, bytes } => {
                let line = String::from_utf8_lossy(&bytes);
                self.denied_paths.append(self.closed.find(&line));
                match stream {
                    Stream::Stdout => {
                        self.reader.read_line(&line).into_iter().for_each(|it| task.handle_event(it));
                    }
                    Stream::Stderr => {
                        self.reader.stderr_line(&line).into_iter().for_each(|it| task.handle_event(it));
                        super::keep_tail(&mut self.stderr, &line);
                    }
                }
            }
            OutputEvent::Oversize { bytes, .. } => {
                task.publish_activity(self.reader.record_oversize_line(bytes));
            }
        }
        if matches!(self.stop_hook, StopHookState::Working) || self.reader.is_idle() {
            self.linger.until = self.reader.is_idle().then(|| Instant::now() + task.grace());
        }
    }

    fn check_limits(&mut self, task: &AgentTask, running: &mut JobHandle) {
        if self.halted.is_none() {
            self.halted = self.reader.kill_reason(task.context.runtime.spec.settings.limits.steps);
            if self.halted.is_some() {
                running.terminate(TerminateMode::Grace);
            }
        }
    }

    async fn finish_run(mut self, task: &mut AgentTask, running: JobHandle) -> Option<IterationStart> {
        let held = !matches!(self.stop_hook, StopHookState::Working);
        let ended = running.wait().await;
        let reached = ended.reached;
        let watched = WatchResult {
            ending: self.ending,
            halted: self.halted,
            linger_expired: self.linger.linger_expired,
            stderr: std::mem::take(&mut self.stderr),
            duration_ms: clock::now().awake.saturating_sub(self.began),
        };
        let was_called = held || self.stop_hook_called;
        let (settings, stderr) = (&task.context.runtime.spec.settings, watched.stderr.clone());
        let mut run = summarize_run(self.reader, ended, watched, settings.limits.steps);
        if run.ending == AgentEnding::Exited {
            exhaustion::name_limit(&mut run, &stderr, settings, reached);
        }
        run.dropped += self.dropped;
        (run.closed_paths, run.read_only_paths) = (self.denied_paths.hidden, self.denied_paths.read_only);
        run.closed_hosts = task.context.runtime.hosts_denied_to_agents();
        if !held {
            if !was_called {
                task.note_missing_stop_hook(&mut run);
            }
            task.report_ended(run);
            return None;
        }
        task.report_left(run);
        // It may have arrived while the remaining output was read.
        self.late.or_else(|| {
            std::iter::from_fn(|| task.commands.try_recv().ok()).find_map(AgentCommand::into_next_start)
        })
    }

    fn process_end(&mut self, ending: AgentEnding) -> ProcessEnd {
        ProcessEnd {
            ending,
            exit: None,
            signal: None,
            reason: String::new(),
            stderr: String::new(),
            duration_ms: clock::now().awake.saturating_sub(self.began),
            survivors: Vec::new(),
            dropped: std::mem::take(&mut self.dropped),
        }
    }
}

impl AgentCommand {
    fn into_next_start(self) -> Option<IterationStart> {
        match self {
            Self::Next(start) => Some(start),
            Self::End(..) | Self::Release(_) => None,
        }
    }
}

impl AgentTask {
    fn grace(&self) -> Duration {
        Duration::from_millis(self.context.runtime.spec.settings.limits.grace_ms)
    }

    fn output_base(&self) -> std::path::PathBuf {
        let folder: &Path = &self.context.dir.output();
        folder.join(name(&self.start))
    }

    pub(super) async fn started_event(&self, running: &mut JobHandle, holds: Option<u32>) -> Event {
        let (pid, agent_pid) = (running.pid(), running.main_pid().await);
        Event::AgentStarted {
            pid,
            agent_pid,
            domain: self.context.runtime.agent_domain.name().to_owned(),
            network: self.context.runtime.agent_domain.network().describe(),
            holds,
        }
    }

    /// Notes that a disabled stop hook never called.
    fn note_missing_stop_hook(&self, run: &mut AgentRun) {
        let was_to_ask = self.context.runtime.spec.settings.mode == LoopMode::Hook;
        if was_to_ask && run.error.is_none() && run.ending == AgentEnding::Exited {
            let silent = self.start.plan.kind().no_stop_hook_call_message();
            run.note = Some(match run.note.take() {
                Some(note) => append_clause(&note, &silent),
                None => silent,
            });
        }
    }

    fn report_left(&self, run: AgentRun) {
        let run = super::sanitize_run(run, &self.context.runtime.redactor);
        self.context.send_event(Event::AgentLeft(Box::new(AgentExited {
            exit: run.exit,
            signal: run.signal,
            cost_micros: run.cost_micros,
            tokens: run.tokens,
            note: run.note,
            survivors: run.survivors,
            unkillable: run.unkillable,
        })));
    }
}
