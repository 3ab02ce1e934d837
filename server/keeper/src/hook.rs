//! `loopkeeper hook EVENT`: the program that an agent runs at its hooks. Requests a verdict from the keeper that
//! started the agent and prints it in the agent's own format. Fails open: on any error the agent is allowed to
//! continue, with a message on stderr. Must stay small, because the agent waits for it.

mod payload;
pub mod session;
mod transcript;

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use loopkeeper_agent::acp::client::PermissionAnswer;
use serde::Deserialize;
use serde_json::{Value, json};

use self::payload::HookInput;
use loopkeeper_system::env::SOCKET;
use loopkeeper_system::process::orphans::ENV_LOOP;
use loopkeeper_system::state_dir::socket::SocketAddress;

/// The subcommand's name.
pub const SUBCOMMAND: &str = "hook";

/// The agent may send long tool input; nothing beyond this is read.
const MAX_PAYLOAD_BYTES: u64 = 64 * 1024 * 1024;
/// Far above the longest prompt.
const MAX_ANSWER_BYTES: u64 = 4 * 1024 * 1024;
/// Event name of permission requests in the control protocol.
const PERMISSION: &str = "permission";
/// A working keeper sends its greeting immediately.
const GREETING_TIMEOUT: Duration = Duration::from_secs(5);

/// An event in the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentHookEvent {
    /// The turn is over.
    Stop,
    /// A tool is about to run.
    PreTool,
    SubagentStart,
    SubagentStop,
}

impl AgentHookEvent {
    pub fn from_name(name: &OsStr) -> Option<Self> {
        match name.to_str()? {
            "stop" => Some(Self::Stop),
            "pre-tool" => Some(Self::PreTool),
            "subagent-start" => Some(Self::SubagentStart),
            "subagent-stop" => Some(Self::SubagentStop),
            _ => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::PreTool => "pre-tool",
            Self::SubagentStart => "subagent-start",
            Self::SubagentStop => "subagent-stop",
        }
    }

    /// Limit of the agent's wait for us. A stop hook has none, because it waits for a round of checks.
    fn timeout(self) -> Option<Duration> {
        match self {
            Self::Stop => None,
            Self::PreTool | Self::SubagentStart | Self::SubagentStop => Some(GREETING_TIMEOUT),
        }
    }
}

/// The keeper's answer.
#[derive(Debug, Deserialize)]
struct HookReply {
    verdict: Option<HookReplyVerdict>,
    error: Option<HookRefusal>,
}

#[derive(Debug, Deserialize)]
struct HookReplyVerdict {
    decision: String,
    #[serde(default)]
    reason: String,
    /// Shown to the user of the session.
    #[serde(default)]
    notice: Option<String>,
}

#[derive(Debug, Deserialize)]
struct HookRefusal {
    message: String,
}

/// Never reports an error to the agent.
pub fn main(event: AgentHookEvent) -> ExitCode {
    let reply = match ask_keeper(event) {
        Ok(HookReplyVerdict { decision, reason, .. }) if decision == "allow" => {
            // The reason is visible in the agent's log.
            if !reason.is_empty() {
                print_pass_reason(&reason);
            }
            None
        }
        Ok(verdict) => Some(payload::format_output(event, &verdict.decision, &verdict.reason)),
        Err(why) => {
            print_pass_reason(&why);
            None
        }
    };
    if let Some(reply) = reply {
        let _ = writeln!(io::stdout(), "{reply}");
    }
    ExitCode::SUCCESS
}

fn print_pass_reason(why: &str) {
    let _ = writeln!(io::stderr(), "loopkeeper: let through: {why}");
}

fn ask_keeper(event: AgentHookEvent) -> Result<HookReplyVerdict, String> {
    let payload = HookInput::read(io::stdin().take(MAX_PAYLOAD_BYTES))?;
    let endpoint = KeeperEndpoint::from_environment()?;
    endpoint.request_verdict(event.timeout(), &payload.question(event.word(), &endpoint.token))
}

/// The same for agents without hooks that are connected over ACP: the next prompt, if any.
pub fn next_prompt(session: &str) -> Result<Option<String>, String> {
    let endpoint = KeeperEndpoint::from_environment()?;
    let mut question = request(AgentHookEvent::Stop.word(), &endpoint.token);
    if let Some(fields) = question.as_object_mut() {
        fields.insert("session".to_owned(), json!(session));
    }
    let verdict = endpoint.request_verdict(AgentHookEvent::Stop.timeout(), &question)?;
    Ok((verdict.decision == "block").then_some(verdict.reason))
}

/// The same for a permission request. Unlike hooks it fails closed.
pub fn ask_permission(words: &str) -> PermissionAnswer {
    let asked = KeeperEndpoint::from_environment().and_then(|endpoint| {
        let mut question = request(PERMISSION, &endpoint.token);
        if let Some(fields) = question.as_object_mut() {
            fields.insert("what".to_owned(), json!(words));
        }
        endpoint.request_verdict(None, &question)
    });
    match asked {
        Ok(HookReplyVerdict { decision, .. }) if decision == "allow" => PermissionAnswer::Allowed,
        Ok(HookReplyVerdict { decision, .. }) if decision == "cancel" => PermissionAnswer::Cancelled,
        Ok(HookReplyVerdict { reason, .. }) => PermissionAnswer::Denied(reason),
        Err(why) => PermissionAnswer::Denied(why),
    }
}

/// Connection data of the keeper, as passed to its agent.
struct KeeperEndpoint {
    token: String,
    socket: PathBuf,
}

impl KeeperEndpoint {
    fn from_environment() -> Result<Self, String> {
        let address = || {
            let mark = std::env::var(ENV_LOOP).ok()?;
            let (_, token) = mark.split_once(':')?;
            let socket = std::env::var_os(SOCKET).map(PathBuf::from).filter(|it| it.is_absolute())?;
            Some(Self { token: token.to_owned(), socket })
        };
        address().ok_or_else(|| "no loop of loopkeeper started this agent".to_owned())
    }

    fn request_verdict(
        &self,
        timeout: Option<Duration>,
        question: &Value,
    ) -> Result<HookReplyVerdict, String> {
        match self.exchange(timeout, question) {
            Ok(HookReply { verdict: Some(verdict), .. }) => Ok(verdict),
            Ok(HookReply { error: Some(HookRefusal { message }), .. }) => Err(message),
            Ok(HookReply { .. }) => Err("the keeper's answer cannot be read".to_owned()),
            Err(error) => Err(format!("the keeper does not answer: {error}")),
        }
    }

    fn exchange(&self, timeout: Option<Duration>, question: &Value) -> io::Result<HookReply> {
        let address = SocketAddress::new(&self.socket)?;
        let stream = UnixStream::connect(address.path())?;
        stream.set_read_timeout(Some(GREETING_TIMEOUT))?;
        stream.set_write_timeout(Some(GREETING_TIMEOUT))?;
        let mut reader = BufReader::new(&stream);
        line(&mut reader)?;
        (&stream).write_all(format!("{question}\n").as_bytes())?;
        stream.set_read_timeout(timeout)?;
        Ok(serde_json::from_str(&line(&mut reader)?)?)
    }
}

fn line(reader: &mut BufReader<&UnixStream>) -> io::Result<String> {
    let mut text = String::new();
    let read = reader.take(MAX_ANSWER_BYTES).read_line(&mut text)?;
    if read == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(text) }
}

/// A request of the control protocol.
fn request(event: &str, token: &str) -> Value {
    json!({"id": format!("hook-{}", std::process::id()), "do": "hook", "hook": event, "token": token})
}
