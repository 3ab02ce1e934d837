//! `loopkeeper hook EVENT`: what an agent calls at its hooks. It asks the keeper that started the agent what to answer,
//! and says so in the agent's own words. It fails open: whatever goes wrong, the agent is let through, with a sentence
//! on stderr. It must stay small: an agent waits for it.

mod payload;
pub mod session;
mod transcript;

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use loopkeeper_agent::acp::talk::PermissionAnswer;
use serde::Deserialize;
use serde_json::{Value, json};

use self::payload::HookInput;
use loopkeeper_system::env::SOCKET;
use loopkeeper_system::process::orphans::ENV_LOOP;
use loopkeeper_system::state_dir::socket::SocketAddress;

/// The subcommand's name.
pub const SUBCOMMAND: &str = "hook";

/// What an agent tells about its tool's input may be long; nobody reads more.
const LONGEST_PAYLOAD: u64 = 64 * 1024 * 1024;
/// A prompt is never longer than a fraction of it.
const LONGEST_ANSWER: u64 = 4 * 1024 * 1024;
/// What an agent that is talked to waits to be allowed.
const PERMISSION: &str = "permission";
/// A keeper that listens greets at once.
const GREETING: Duration = Duration::from_secs(5);

/// What happened in the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentHookEvent {
    /// Its turn is over.
    Stop,
    /// It is about to use a tool.
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

    /// How long the agent waits for us. A round of checks takes as long as its checks may.
    fn timeout(self) -> Option<Duration> {
        match self {
            Self::Stop => None,
            Self::PreTool | Self::SubagentStart | Self::SubagentStop => Some(GREETING),
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
    /// For the person at the session.
    #[serde(default)]
    notice: Option<String>,
}

#[derive(Debug, Deserialize)]
struct HookRefusal {
    message: String,
}

/// Never an error to the agent.
pub fn main(event: AgentHookEvent) -> ExitCode {
    let said = match ask_keeper(event) {
        Ok(HookReplyVerdict { decision, reason, .. }) if decision == "allow" => {
            // Whoever looks into the agent's log finds out why.
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
    if let Some(said) = said {
        let _ = writeln!(io::stdout(), "{said}");
    }
    ExitCode::SUCCESS
}

fn print_pass_reason(why: &str) {
    let _ = writeln!(io::stderr(), "loopkeeper: let through: {why}");
}

fn ask_keeper(event: AgentHookEvent) -> Result<HookReplyVerdict, String> {
    let payload = HookInput::read(io::stdin().take(LONGEST_PAYLOAD))?;
    let door = HookEndpointClient::from_environment()?;
    door.request_verdict(event.timeout(), &payload.question(event.word(), &door.token))
}

/// The same for an agent that has no hooks but is talked to: what comes next, if anything.
pub fn next_prompt(session: &str) -> Result<Option<String>, String> {
    let door = HookEndpointClient::from_environment()?;
    let mut question = request(AgentHookEvent::Stop.word(), &door.token);
    if let Some(fields) = question.as_object_mut() {
        fields.insert("session".to_owned(), json!(session));
    }
    let verdict = door.request_verdict(AgentHookEvent::Stop.timeout(), &question)?;
    Ok((verdict.decision == "block").then_some(verdict.reason))
}

/// The same for what an agent wants to be allowed. Unlike hooks it fails closed.
pub fn ask_permission(words: &str) -> PermissionAnswer {
    let asked = HookEndpointClient::from_environment().and_then(|door| {
        let mut question = request(PERMISSION, &door.token);
        if let Some(fields) = question.as_object_mut() {
            fields.insert("what".to_owned(), json!(words));
        }
        door.request_verdict(None, &question)
    });
    match asked {
        Ok(HookReplyVerdict { decision, .. }) if decision == "allow" => PermissionAnswer::Allowed,
        Ok(HookReplyVerdict { decision, .. }) if decision == "cancel" => PermissionAnswer::Cancelled,
        Ok(HookReplyVerdict { reason, .. }) => PermissionAnswer::Denied(reason),
        Err(why) => PermissionAnswer::Denied(why),
    }
}

/// The keeper's, as it told its agent.
struct HookEndpointClient {
    token: String,
    socket: PathBuf,
}

impl HookEndpointClient {
    fn from_environment() -> Result<Self, String> {
        let told = || {
            let mark = std::env::var(ENV_LOOP).ok()?;
            let (_, token) = mark.split_once(':')?;
            let socket = std::env::var_os(SOCKET).map(PathBuf::from).filter(|it| it.is_absolute())?;
            Some(Self { token: token.to_owned(), socket })
        };
        told().ok_or_else(|| "no loop of loopkeeper started this agent".to_owned())
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
        stream.set_read_timeout(Some(GREETING))?;
        stream.set_write_timeout(Some(GREETING))?;
        let mut reader = BufReader::new(&stream);
        line(&mut reader)?;
        (&stream).write_all(format!("{question}\n").as_bytes())?;
        stream.set_read_timeout(timeout)?;
        Ok(serde_json::from_str(&line(&mut reader)?)?)
    }
}

fn line(reader: &mut BufReader<&UnixStream>) -> io::Result<String> {
    let mut text = String::new();
    let read = reader.take(LONGEST_ANSWER).read_line(&mut text)?;
    if read == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(text) }
}

/// A request of the control protocol.
fn request(event: &str, token: &str) -> Value {
    json!({"id": format!("hook-{}", std::process::id()), "do": "hook", "hook": event, "token": token})
}
