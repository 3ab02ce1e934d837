//! An attached session: started by the user and identified by the requests of its hooks. The keeper neither starts nor
//! ends it and does not read its output; the answer to its stop hook is the next prompt.

use loopkeeper_text::tr;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use loopkeeper_agent::claude::hooks::DEFAULT_BLOCK_CAP;
use loopkeeper_agent::kind::Dialect;
use loopkeeper_agent::reader::{AgentOutputReader, ProcessEnd, StopHookReport};
use loopkeeper_agent::{AgentEnding, AgentExited, AgentRun};
use loopkeeper_core::decide::Event;
use loopkeeper_core::decide::attached::SessionOffer;
use tokio::sync::{mpsc, oneshot};
use tokio::time::MissedTickBehavior;

use super::job::{name, prompt_file};
use super::{AgentCommand, IterationStart, Liveness, local_clock, sanitize_run};
use crate::agent_hooks::{HookEvent, HookQuestion, HookRequest, HookVerdict};
use crate::loop_context::LoopContext;
use crate::user_commands;
use loopkeeper_system::clock;
use loopkeeper_system::process_table::{self, Process};

/// Polling interval for the existence of the session's process during an iteration.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Claude Code's limit for context that is added to a user's prompt.
const MAX_CONTEXT: usize = 9_000;

pub(super) struct AttachedSession {
    context: LoopContext,
    commands: mpsc::UnboundedReceiver<AgentCommand>,
    requests: mpsc::UnboundedReceiver<HookRequest>,
    liveness: Rc<Liveness>,
    /// The session in use, or the last one.
    session: Option<SessionOwner>,
    /// The hook call that is waiting for our answer.
    pending_call: Option<(HookEvent, oneshot::Sender<HookVerdict>)>,
    turn: Option<AttachedTurn>,
    /// How many more times the session can be held in this turn.
    holds: u32,
}

struct SessionOwner {
    id: String,
    process: Option<Process>,
}

/// One iteration in the session.
struct AttachedTurn {
    start: IterationStart,
    began: u64,
}

impl AttachedSession {
    pub(super) fn new(
        context: LoopContext,
        commands: mpsc::UnboundedReceiver<AgentCommand>,
        liveness: Rc<Liveness>,
    ) -> Self {
        let requests = context.control.hooks.open_queue();
        Self {
            context,
            commands,
            requests,
            liveness,
            session: None,
            pending_call: None,
            turn: None,
            holds: 0,
        }
    }

    /// Runs until the command channel closes because the keeper exits.
    pub(super) async fn run(mut self) {
        let mut tick = tokio::time::interval(POLL_INTERVAL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => self.handle_command(command).await,
                    None => return,
                },
                Some(request) = self.requests.recv() => self.answer(request),
                () = wait_for_disconnect(&mut self.pending_call) => self.handle_disconnect(),
                _ = tick.tick(), if self.turn.is_some() => self.poll_process(),
            }
        }
    }

    async fn handle_command(&mut self, command: AgentCommand) {
        match command {
            AgentCommand::Next(start) => self.send_iteration(start).await,
            AgentCommand::Release(why) => {
                if let Some((_, answer)) = self.pending_call.take() {
                    let _ = answer.send(HookVerdict::allow_with_notice(&why));
                }
                self.release_session();
            }
            // The session belongs to the user, so it continues after the iteration ends.
            AgentCommand::End(why, _) => {
                self.finish_turn(why, StopHookReport::default(), None);
                if let Some((_, answer)) = self.pending_call.take() {
                    let _ = answer.send(HookVerdict::allow_with_notice(tr!("the loop is stopped")));
                }
            }
        }
    }

    /// Sends the next iteration as the answer to its hook.
    async fn send_iteration(&mut self, start: IterationStart) {
        user_commands::before_agent(&self.context).await;
        let pending = self.pending_call.take().filter(|(_, answer)| !answer.is_closed());
        let file = prompt_file(&self.context, &start).inspect_err(|error| tracing::warn!("{error}"));
        let (prompt, iteration) = (start.prompt.clone(), start.iteration);
        self.turn = Some(AttachedTurn { start, began: clock::now().awake });
        let Some((kind, answer)) = pending else {
            let note = tr!("your session was closed before it received it");
            return self.finish_turn(AgentEnding::Exited, StopHookReport::default(), Some(note));
        };
        if kind == HookEvent::Stop {
            self.holds = self.holds.saturating_sub(1);
        }
        let pid = self.session.as_ref().and_then(|it| it.process.as_ref()).map_or(0, |it| it.pid);
        let pid = u32::try_from(pid).unwrap_or_default();
        let domain = "yours".to_owned();
        let is_restricted = !self.context.runtime.spec.settings.sandbox_network;
        let network = is_restricted.then(|| format!("open: {}", tr!("your session has no sandbox")));
        self.context.send_event(Event::AgentStarted {
            pid,
            agent_pid: None,
            domain,
            network,
            holds: Some(self.holds),
        });
        let is_long = kind == HookEvent::Prompt && prompt.len() > MAX_CONTEXT;
        let reason = match file {
            Ok(file) if is_long => {
                format!("What to do is in {}: read all of it first, then work on it.", file.display())
            }
            _ => prompt,
        };
        self.context.control.hooks.set_attached_session(self.session.as_ref().map(|it| &*it.id));
        let title = &self.context.runtime.spec.title;
        let notice = tr!("Ralph: this session works on {title}, iteration {iteration}", title, iteration);
        let _ = answer.send(HookVerdict { notice: Some(notice), ..HookVerdict::block(reason) });
    }

    fn answer(&mut self, request: HookRequest) {
        let HookRequest { question, answer } = request;
        if let Some(why) = self.foreign_reason(&question) {
            let _ = answer.send(HookVerdict::allow(why));
            return;
        }
        match (question.hook, self.turn.is_some()) {
            (HookEvent::End, _) => {
                self.session = None;
                let report = StopHookReport { last_message: "", session_tokens: question.tokens };
                self.finish_turn(AgentEnding::Exited, report, Some(tr!("its user closed the session")));
                self.handle_disconnect();
            }
            // A prompt from the user. Subagents between two iterations concern only the user and the session.
            (HookEvent::Prompt, true)
            | (
                HookEvent::PreTool
                | HookEvent::SubagentStart
                | HookEvent::SubagentStop
                | HookEvent::Permission,
                _,
            ) => {}
            (HookEvent::Stop, true) => {
                self.pending_call = Some((HookEvent::Stop, answer));
                let last_message = question.text.as_deref().unwrap_or_default();
                self.finish_turn(
                    AgentEnding::Held,
                    StopHookReport { last_message, session_tokens: question.tokens },
                    None,
                );
            }
            (kind, false) => self.begin_turn(kind, &question, answer),
        }
    }

    fn begin_turn(&mut self, kind: HookEvent, question: &HookQuestion, answer: oneshot::Sender<HookVerdict>) {
        if self.pending_call.take().is_some() {
            // The user interrupted the turn and entered a new prompt.
            self.release_session();
        }
        if !(kind == HookEvent::Stop && question.active) {
            self.holds = question.cap.unwrap_or(DEFAULT_BLOCK_CAP);
        }
        let id = question.session.clone().unwrap_or_default();
        self.session = Some(SessionOwner {
            id: id.clone(),
            process: question.pid.and_then(process_table::find_process),
        });
        self.pending_call = Some((kind, answer));
        let tokens = question.tokens;
        self.context.send_event(Event::SessionOffered(SessionOffer {
            session: id,
            holds: self.holds,
            tokens,
        }));
    }

    /// Why a request does not concern an attached session.
    fn foreign_reason(&self, question: &HookQuestion) -> Option<&'static str> {
        let Some(session) = question.session.as_ref().filter(|_| question.own && question.agent.is_none())
        else {
            return Some(tr!("not a session of this folder's user"));
        };
        let is_same = self.session.as_ref().is_some_and(|it| it.id == *session);
        let is_busy = self.turn.is_some() || self.pending_call.is_some();
        let is_taken = is_busy || self.session.as_ref().is_some_and(SessionOwner::is_running);
        if is_same || (!is_taken && question.hook != HookEvent::End) {
            return None;
        }
        Some(tr!("another session works on it"))
    }

    /// The hook closed its connection: the user interrupted the turn or closed the session.
    fn handle_disconnect(&mut self) {
        if self.pending_call.take().is_some() {
            self.release_session();
        }
    }

    fn poll_process(&mut self) {
        let Some(process) = self.session.as_ref().and_then(|it| it.process.as_ref()) else { return };
        match refresh_process(process) {
            Ok(Some(now)) => return self.liveness.cpu_ms.set(now.cpu_ms),
            // Whether the session exists is read again at the next poll.
            Err(error) => return tracing::warn!("could not read process {}: {error}", process.pid),
            Ok(None) => {}
        }
        self.session = None;
        self.finish_turn(AgentEnding::Exited, StopHookReport::default(), Some(tr!("its session has ended")));
    }

    /// Ends the current iteration, if any.
    fn finish_turn(&mut self, ending: AgentEnding, report: StopHookReport<'_>, note: Option<&str>) {
        if ending != AgentEnding::Held {
            self.context.control.hooks.set_attached_session(None);
        }
        let Some(AttachedTurn { start, began }) = self.turn.take() else { return };
        let output = self.context.dir.output().join(format!("{}.out", name(&start)));
        if let Err(error) = crate::private_file(&output, report.last_message.as_bytes()) {
            tracing::warn!("could not write {}: {error}", output.display());
        }
        let duration_ms = clock::now().awake.saturating_sub(began);
        let exit = (ending == AgentEnding::Exited).then_some(0);
        let end = ProcessEnd { ending, duration_ms, ..ProcessEnd::exited(exit) };
        let run = AgentOutputReader::for_session(Dialect::Text, start.session_tokens).so_far(
            report,
            end,
            &local_clock(),
        );
        let run = AgentRun { session: Some(start.session), note: note.map(str::to_owned), ..run };
        self.context
            .send_event(Event::AgentEnded(Box::new(sanitize_run(run, &self.context.runtime.redactor))));
    }

    fn release_session(&self) {
        self.context.control.hooks.set_attached_session(None);
        self.context
            .send_event(Event::AgentLeft(Box::new(AgentExited { exit: Some(0), ..AgentExited::default() })));
    }
}

impl SessionOwner {
    /// Whether the process exists; false if it is not known.
    fn is_running(&self) -> bool {
        self.process.as_ref().is_some_and(|it| !matches!(refresh_process(it), Ok(None)))
    }
}

/// The process now; `None`: it has exited.
fn refresh_process(process: &Process) -> io::Result<Option<Process>> {
    let now = process_table::read_process(process.pid)?;
    Ok(now.filter(|it| it.started == process.started && it.running))
}

async fn wait_for_disconnect(pending: &mut Option<(HookEvent, oneshot::Sender<HookVerdict>)>) {
    match pending {
        Some((_, answer)) => answer.closed().await,
        None => std::future::pending().await,
    }
}
