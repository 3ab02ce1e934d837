//! Runs the user's commands at events of the loop (`[on]`), each under a separate warden with a timeout. Failures are
//! noted and never change the loop.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use loopkeeper_core::check::{CommandExit, CommandRun};
use loopkeeper_core::decide::{Event, LoopState};
use loopkeeper_core::journal::Entry;
use loopkeeper_core::settings::LoopEvent;
use loopkeeper_text::clauses;
use loopkeeper_text::{sanitize, tr};
use loopkeeper_view::hook_payload::{HookEventEncoder, HookPayload};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::loop_context::LoopContext;
use super::spawn_boxed_local;
use loopkeeper_system::process::{Job, StdinSource, run_beside, run_to_end};

/// Maximum number of queued events per kind; further ones are dropped.
const MAX_WAITING: usize = 100;
/// Environment variable with the name of the event.
const VARIABLE: &str = "LOOPKEEPER_EVENT";

/// The user commands of one keeper.
pub(super) struct UserCommands {
    encoder: HookEventEncoder,
    /// Events of records that may not be durable yet.
    unsent: Vec<HookPayload>,
    queues: BTreeMap<LoopEvent, CommandQueue>,
}

/// Runs the commands of one kind sequentially.
struct CommandQueue {
    events: mpsc::Sender<HookPayload>,
    task: JoinHandle<()>,
}

impl UserCommands {
    pub(super) fn new(state: &LoopState) -> Self {
        Self { encoder: HookEventEncoder::new(state), unsent: Vec::new(), queues: BTreeMap::new() }
    }

    /// Called after a record was applied.
    pub(super) fn observe(&mut self, state: &LoopState, entry: &Entry) {
        let payloads = self.encoder.encode_events(state, entry);
        let on = &state.spec.settings.on;
        self.unsent.extend(payloads.into_iter().filter(|it| on.for_event(it.event).is_some()));
    }

    /// Called when all observed records are durable.
    pub(super) fn dispatch_pending(&mut self, context: &LoopContext) {
        for payload in self.unsent.drain(..) {
            if payload.event == LoopEvent::IterationStart {
                context.start_hook.replace(Some(payload));
                continue;
            }
            let event = payload.event;
            let queue = self.queues.entry(event).or_insert_with(|| CommandQueue::spawn(context));
            if queue.events.try_send(payload).is_err() {
                tracing::warn!("`on.{}` is too slow: an event was dropped", event.key());
            }
        }
    }

    /// Waits for queued commands, so that the loop's last event is delivered before the keeper exits.
    pub(super) async fn finish(&mut self) {
        for (_, CommandQueue { events, task }) in std::mem::take(&mut self.queues) {
            drop(events);
            let _ = task.await;
        }
    }
}

impl CommandQueue {
    fn spawn(context: &LoopContext) -> Self {
        let (events, mut waiting) = mpsc::channel(MAX_WAITING);
        let context = context.clone();
        let task = spawn_boxed_local(async move {
            while let Some(payload) = waiting.recv().await {
                run(&context, &payload).await;
            }
        });
        Self { events, task }
    }
}

/// Runs the command that the agent waits for. Dropping the future ends it.
pub(super) async fn before_agent(context: &LoopContext) {
    let payload = context.start_hook.take();
    if let Some(payload) = payload {
        run(context, &payload).await;
    }
}

async fn run(context: &LoopContext, payload: &HookPayload) {
    if let Err(why) = run_command(context, payload).await {
        tracing::warn!("The command of `on.{}` {why}. The loop continues.", payload.event.key());
        context.send_event(Event::HookFailed { event: payload.event, message: why });
    }
}

async fn run_command(context: &LoopContext, payload: &HookPayload) -> Result<(), String> {
    let runtime = &context.runtime;
    let on = &runtime.spec.settings.on;
    let Some(hook) = on.for_event(payload.event) else { return Ok(()) };
    let argv = runtime.permit.hook(payload.event, hook).map_err(|denied| tr!("is {denied}", denied))?;
    let message = write_payload(context, payload)?;
    let mut env = runtime.user_env.as_ref().clone();
    env.push((VARIABLE.into(), payload.event.word().into()));
    let job = Job {
        argv: argv.map(|it| it.into_iter().map(Into::into).collect()),
        cwd: runtime.root(),
        env,
        stdin: StdinSource::File(message.clone()),
        grace: Duration::from_millis(runtime.spec.settings.limits.grace_ms),
        output: None,
    };
    let time = Duration::from_millis(on.timeout_ms);
    let ran = match payload.event {
        LoopEvent::IterationStart => run_to_end(&job, time, &runtime.user_domain).await,
        LoopEvent::IterationEnd | LoopEvent::NeedsYou | LoopEvent::Warning | LoopEvent::Ended => {
            run_beside(&job, time, &runtime.user_domain).await
        }
    };
    let _ = std::fs::remove_file(message);
    check_run(&ran, time).map_err(|why| sanitize::line(&runtime.redactor.redact(&why)))
}

/// One command of a kind runs at a time, so the file name is unique.
fn write_payload(context: &LoopContext, payload: &HookPayload) -> Result<PathBuf, String> {
    let path = context.dir.path().join(format!("told.{}.json", payload.event.word()));
    let mut json =
        serde_json::to_vec(payload).map_err(|error| tr!("could not be written as JSON: {error}", error))?;
    json.push(b'\n');
    super::private_file(&path, &json).map_err(|error| tr!("could not be written as JSON: {error}", error))?;
    Ok(path)
}

fn check_run(ran: &CommandRun, time: Duration) -> Result<(), String> {
    let how = match &ran.ending {
        CommandExit::Exited(0) if ran.survivors.is_empty() => return Ok(()),
        CommandExit::Exited(0) => {
            return Err(tr!(
                "left processes behind, which were ended: {survivors}",
                survivors = clauses::list(&ran.survivors)
            ));
        }
        CommandExit::Exited(code) => tr!("failed with exit {code}", code),
        CommandExit::Signalled(signal) => tr!("was ended by signal {signal}", signal),
        CommandExit::TimedOut => tr!("took longer than {ms} ms and was ended", ms = time.as_millis()),
        CommandExit::NotStarted(why) => {
            tr!("could not be started: {why}", why = why.trim_end_matches(['.', '。']))
        }
    };
    let last_output = last_line(&ran.stderr).or_else(|| last_line(&ran.stdout));
    Err(last_output.map_or(how.clone(), |last_output| tr!("{how}: {line}", how, line = last_output)))
}

fn last_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().rev().map(str::trim).find(|it| !it.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_has_the_ending_and_the_last_message() {
        let check = |ending: CommandExit, stderr: &str, survivors: &[&str], expect: Result<(), &str>| {
            let ran = CommandRun {
                ending,
                stderr: stderr.as_bytes().to_vec(),
                survivors: survivors.iter().map(ToString::to_string).collect(),
                ..CommandRun::default()
            };
            assert_eq!(
                check_run(&ran, Duration::from_millis(1500)),
                expect.map_err(str::to_owned),
                "{ran:?}"
            );
        };
        check(CommandExit::Exited(0), "chatter\n", &[], Ok(()));
        check(CommandExit::Exited(3), "one\n two \n\n", &[], Err("failed with exit 3: two"));
        check(CommandExit::Exited(3), "", &[], Err("failed with exit 3"));
        check(CommandExit::Signalled(9), "", &["7 x"], Err("was ended by signal 9"));
        check(CommandExit::TimedOut, "wait", &[], Err("took longer than 1500 ms and was ended: wait"));
        check(CommandExit::NotStarted("No.".to_owned()), "", &[], Err("could not be started: No"));
        check(CommandExit::Exited(0), "", &["7 x"], Err("left processes behind, which were ended: 7 x"));
    }
}
