//! `loopkeeper acp [--held] -- ARGV…`: bridge between the keeper and an agent that speaks the Agent Client Protocol.
//! Reads the prompt from stdin and its other parameters from the environment, and prints the agent's activity as lines,
//! like the output of other agents. The core decides which messages are sent. Must stay small, because it runs as long
//! as the agent works.

mod child;

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use loopkeeper_agent::LoopMode;
use loopkeeper_agent::acp::client::{AcpAction, AcpClient, AcpState, PermissionAnswer, PromptParams};
pub use loopkeeper_agent::acp::start::VARIABLE;
use loopkeeper_agent::kind::Dialect;
use signal_hook::consts::{SIGINT, SIGTERM};

use self::child::AgentChild;
use crate::hook;
use loopkeeper_system::env::{RESUMED, SESSION};
use loopkeeper_system::internal_program;

/// The subcommand's name.
pub const SUBCOMMAND: &str = "acp";
const HELD_FLAG: &str = "--held";

/// Limit of one line from the agent; a line may contain whole files.
const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;
/// Limit for responses that need no model. Some agents take half a minute to start.
const TIMEOUT: Duration = Duration::from_secs(120);
/// A replay of session history is over after this long without output.
const REPLAY_SILENCE: Duration = Duration::from_millis(300);
/// Time for the agent to confirm a cancelled turn.
const CANCELLING: Duration = Duration::from_secs(1);

/// The command line of the bridge for agents that speak the protocol; other command lines are returned unchanged. With
/// `--held` the agent continues in its session as long as the keeper supplies prompts.
pub fn bridge_argv(program: &Path, dialect: Dialect, mode: LoopMode, argv: Vec<OsString>) -> Vec<OsString> {
    if dialect != Dialect::Acp {
        return argv;
    }
    let program = match std::env::current_exe() {
        Ok(this) if program.starts_with("/proc") => this,
        _ => program.to_owned(),
    };
    let held = (mode == LoopMode::Hook).then(|| HELD_FLAG.into());
    let ours = [program.into_os_string(), SUBCOMMAND.into()].into_iter().chain(held);
    ours.chain(["--".into()]).chain(argv).collect()
}

/// Runs the bridge for one agent until its turn ends. `args` come after the subcommand's name.
pub fn main(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let first = args.next().unwrap_or_default();
    let held = first == HELD_FLAG;
    let is_ours = if held { args.next().unwrap_or_default() == "--" } else { first == "--" };
    let program = args.next().filter(|_| is_ours);
    let (Some(program), Ok(params)) = (program, prompt_params(held)) else {
        return internal_program::refuse_user();
    };
    match run(&program, args, params) {
        Ok(code) => code,
        Err(error) => {
            note(&format!("{}: {error}", Path::new(&program).display()));
            ExitCode::from(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 })
        }
    }
}

fn prompt_params(held: bool) -> Result<PromptParams, Box<dyn std::error::Error>> {
    let options = serde_json::from_str(&std::env::var(VARIABLE)?)?;
    let mut prompt = String::new();
    io::stdin().read_to_string(&mut prompt)?;
    let is_resumed = std::env::var_os(RESUMED).is_some();
    let session = std::env::var(SESSION).ok().filter(|_| is_resumed);
    let folder = std::env::current_dir()?.to_string_lossy().into_owned();
    Ok(PromptParams { options, folder, prompt, session, held })
}

/// An event while the agent works.
enum BridgeEvent {
    Line(String),
    /// End of the agent's output.
    Silent,
    /// A termination signal.
    Stop,
    /// The keeper's next prompt, `None` for the end, or why no answer arrived.
    Next(Result<Option<String>, String>),
    /// The keeper's answer to a permission request.
    Permitted(u64, PermissionAnswer),
}

fn run(
    program: &OsString,
    args: impl Iterator<Item = OsString>,
    params: PromptParams,
) -> io::Result<ExitCode> {
    let (sender, events) = mpsc::channel();
    listen_to_signals(sender.clone())?;
    let root = PathBuf::from(&params.folder).canonicalize()?;
    let (child, output) = AgentChild::start(program, args, VARIABLE)?;
    let (client, first) = AcpClient::begin(params);
    let mut bridge = AcpBridge { client, child, root, sender: sender.clone(), ended: None };
    thread::spawn(move || forward_lines(output, &sender));
    bridge.run_actions(first);
    while bridge.ended.is_none() {
        bridge.handle_next_event(&events);
    }
    let ended_well = bridge.ended == Some(true);
    let exit = bridge.child.end();
    let code = match exit {
        _ if ended_well => 0,
        Some(code) if code != 0 => code,
        _ => 1,
    };
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

struct AcpBridge {
    client: AcpClient,
    child: AgentChild,
    /// Canonical path of the work tree.
    root: PathBuf,
    sender: Sender<BridgeEvent>,
    /// Set when the session has ended: whether it ended well.
    ended: Option<bool>,
}

impl AcpBridge {
    fn handle_next_event(&mut self, events: &mpsc::Receiver<BridgeEvent>) {
        let timeout = match self.client.state() {
            AcpState::Replay => Some(REPLAY_SILENCE),
            AcpState::Prompting | AcpState::Held | AcpState::Ended => None,
            AcpState::Initializing | AcpState::OpeningSession | AcpState::SettingOptions => Some(TIMEOUT),
        };
        let next = match timeout {
            Some(timeout) => events.recv_timeout(timeout),
            None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match next {
            Ok(BridgeEvent::Line(line)) => {
                let actions = self.client.handle_line(&line, &|path| is_inside(&self.root, path));
                self.run_actions(actions);
            }
            Ok(BridgeEvent::Stop) => self.cancel_turn(events),
            Ok(BridgeEvent::Next(next)) => {
                let next = next.unwrap_or_else(|why| {
                    note(&format!("it may end: {why}"));
                    None
                });
                let actions = self.client.resume_or_end(next.as_deref());
                self.run_actions(actions);
            }
            Ok(BridgeEvent::Permitted(number, permit)) => {
                let actions = self.client.handle_permission_answer(number, &permit);
                self.run_actions(actions);
            }
            Err(RecvTimeoutError::Timeout) if self.client.state() == AcpState::Replay => {
                let actions = self.client.handle_silence();
                self.run_actions(actions);
            }
            Err(RecvTimeoutError::Timeout) => {
                let actions = self.client.handle_timeout(TIMEOUT.as_secs());
                self.run_actions(actions);
            }
            // The result of its turn was already printed.
            Ok(BridgeEvent::Silent) if self.client.state() == AcpState::Held => self.ended = Some(true),
            Ok(BridgeEvent::Silent) | Err(RecvTimeoutError::Disconnected) => {
                // The agent's own stderr explains a failure better.
                if self.child.ended_well() {
                    note("the agent ended before its turn was over");
                }
                self.ended = Some(false);
            }
        }
    }

    /// Cancels the turn and waits briefly for the agent's confirmation.
    fn cancel_turn(&mut self, events: &mpsc::Receiver<BridgeEvent>) {
        let actions = self.client.cancel();
        self.run_actions(actions);
        while self.ended.is_none() {
            match events.recv_timeout(CANCELLING) {
                Ok(BridgeEvent::Line(line)) => {
                    let actions = self.client.handle_line(&line, &|path| is_inside(&self.root, path));
                    self.run_actions(actions);
                }
                // The keeper answers what the cancellation withdrew.
                Ok(BridgeEvent::Next(_) | BridgeEvent::Permitted(..)) => {}
                Ok(BridgeEvent::Silent | BridgeEvent::Stop) | Err(_) => break,
            }
        }
        self.ended = Some(false);
    }

    fn run_actions(&mut self, actions: Vec<AcpAction>) {
        for action in actions {
            match action {
                // If the write fails, the agent has exited or will be terminated.
                AcpAction::Send(message) => drop(self.child.send_message(&message)),
                AcpAction::Report(line) => {
                    if writeln!(io::stdout(), "{line}").is_err() {
                        self.ended = Some(false);
                    }
                }
                AcpAction::Write { id, path, text } => {
                    let failed = std::fs::write(self.root.join(path), text).err().map(|it| it.to_string());
                    self.run_actions(vec![AcpClient::write_response(&id, failed.as_deref())]);
                }
                AcpAction::NextPrompt { session } => {
                    let sender = self.sender.clone();
                    // The answer is dropped if the session has to end first.
                    thread::spawn(move || sender.send(BridgeEvent::Next(hook::next_prompt(&session))));
                }
                AcpAction::RequestPermission { number, question } => {
                    let sender = self.sender.clone();
                    thread::spawn(move || {
                        sender.send(BridgeEvent::Permitted(number, hook::ask_permission(&question)))
                    });
                }
                AcpAction::Log(words) => note(&words),
                AcpAction::End { well } => self.ended = Some(well),
            }
        }
    }
}

fn note(message: &str) {
    let _ = writeln!(io::stderr(), "{message}");
}

fn forward_lines(output: impl Read, sender: &Sender<BridgeEvent>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut output).take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                if sender.send(BridgeEvent::Line(text)).is_err() {
                    break;
                }
            }
        }
    }
    let _ = sender.send(BridgeEvent::Silent);
}

fn listen_to_signals(sender: Sender<BridgeEvent>) -> io::Result<()> {
    let (mut wakes, wake) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT] {
        signal_hook::low_level::pipe::register(signal, wake.try_clone()?)?;
    }
    thread::spawn(move || {
        let mut byte = [0];
        while wakes.read_exact(&mut byte).is_ok() && sender.send(BridgeEvent::Stop).is_ok() {}
    });
    Ok(())
}

/// Whether the path is inside the work tree after links are resolved, and not in `.git`, where hooks would be executed.
fn is_inside(root: &Path, path: &str) -> bool {
    let whole = root.join(path);
    let Some(real) = resolve_path(&whole) else { return false };
    real.strip_prefix(root).is_ok_and(|it| it.components().all(|part| part.as_os_str() != ".git"))
}

/// Resolves the existing part of the path; the rest must consist of plain names.
fn resolve_path(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    // A write would follow a dangling link.
    if path.is_symlink() {
        return None;
    }
    Some(resolve_path(path.parent()?)?.join(path.file_name()?))
}

#[cfg(test)]
mod tests;
