//! The channel between an agent's hooks and the keeper: the agent runs our program as its hook, which requests the
//! response here. Requests without valid credentials are allowed without effect.

use std::cell::RefCell;
use std::rc::Rc;

use loopkeeper_core::decide::spawns::SubagentEvent;
use loopkeeper_text::redact::Redactor;
use loopkeeper_text::{sanitize, tr};
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

/// Maximum length of a subagent's description.
const MAX_DESCRIPTION: usize = 120;

/// A request from a hook.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct HookQuestion {
    pub hook: HookEvent,
    /// The token that the keeper passed to its agent.
    #[serde(default)]
    pub token: String,
    #[serde(default)]
    pub session: Option<String>,
    /// The subagent that calls; `None`: the agent itself.
    #[serde(default)]
    pub agent: Option<String>,
    /// The agent's own id of the tool call.
    #[serde(default)]
    pub call: Option<String>,
    /// The task or the type of a subagent, or the action that needs permission.
    #[serde(default)]
    pub what: Option<String>,
    /// The agent's last message.
    #[serde(default)]
    pub text: Option<String>,
    /// Tokens used by the session, over all its processes.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// Sent by hooks installed in the workspace: the user opened the session.
    #[serde(default)]
    pub own: bool,
    /// A stop hook already held the session in this turn.
    #[serde(default)]
    pub active: bool,
    /// How often the agent can be held in one turn, if it reports that.
    #[serde(default)]
    pub cap: Option<u32>,
    /// Process id of the agent.
    #[serde(default)]
    pub pid: Option<i32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookEvent {
    /// The agent's turn is over. Blocking it starts the next iteration.
    Stop,
    /// A subagent is about to start.
    PreTool,
    SubagentStart,
    SubagentStop,
    /// The user entered a prompt. The verdict can add context.
    Prompt,
    /// The session was closed.
    End,
    /// The action in `what` needs permission. The user decides.
    Permission,
}

/// The keeper's response to a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookVerdict {
    pub decision: HookDecision,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Shown to the user of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookDecision {
    Allow,
    /// Continue: `reason` is the next prompt.
    Block,
    /// The tool call is refused, for this `reason`.
    Deny,
    /// The request was withdrawn.
    Cancel,
}

impl HookVerdict {
    /// `why` appears only in the hook's own output.
    pub fn allow(why: &str) -> Self {
        Self { decision: HookDecision::Allow, reason: why.to_owned(), notice: None }
    }

    pub fn deny(reason: String) -> Self {
        Self { decision: HookDecision::Deny, reason, notice: None }
    }

    pub fn cancel() -> Self {
        Self { decision: HookDecision::Cancel, reason: String::new(), notice: None }
    }

    pub fn block(reason: String) -> Self {
        Self { decision: HookDecision::Block, reason, notice: None }
    }

    /// Like [`Self::allow`], with `why` shown to the user of the session.
    pub fn allow_with_notice(why: &str) -> Self {
        let notice = (!why.is_empty()).then(|| tr!("Ralph: {why}", why));
        Self { notice, ..Self::allow(why) }
    }
}

impl HookQuestion {
    /// The event that the loop records; `None`: it concerns only the running agent.
    fn subagent_event(&self, redactor: &Redactor) -> Option<SubagentEvent> {
        let what = || redact_description(self.what.as_deref().unwrap_or_default(), redactor);
        let by = || self.agent.as_deref().map(|it| redact_description(it, redactor));
        let id = || by().unwrap_or_default();
        match self.hook {
            HookEvent::Stop | HookEvent::Prompt | HookEvent::End | HookEvent::Permission => None,
            HookEvent::PreTool => {
                let call = self.call.as_deref().map(|it| redact_description(it, redactor));
                Some(SubagentEvent::Asked { by: by(), call, what: what() })
            }
            HookEvent::SubagentStart => Some(SubagentEvent::Began { id: id(), what: what() }),
            HookEvent::SubagentStop => Some(SubagentEvent::Ended { id: id() }),
        }
    }
}

/// An agent's description of a subagent, made safe for a record.
pub fn redact_description(words: &str, redactor: &Redactor) -> String {
    sanitize::line_within(&redactor.redact(words), MAX_DESCRIPTION)
}

/// A request and the channel for its answer, which is closed when the hook disconnects.
#[derive(Debug)]
pub struct HookRequest {
    pub question: HookQuestion,
    pub answer: oneshot::Sender<HookVerdict>,
}

/// Routes hook requests to the running agent's task.
#[derive(Debug, Clone, Default)]
pub struct HookBroker {
    queue: Rc<RefCell<Option<mpsc::UnboundedSender<HookRequest>>>>,
    credentials: Rc<RefCell<Option<HookCredentials>>>,
    /// Session ids of the running agent: the one passed to it, and the one that it reports.
    sessions: Rc<RefCell<[String; 2]>>,
    /// The user's session that is attached to the loop.
    attached_session: Rc<RefCell<Option<String>>>,
}

/// The token that requests must contain, and the secrets to redact.
#[derive(Debug)]
pub struct HookCredentials {
    pub token: Rc<str>,
    pub redactor: Rc<Redactor>,
}

impl HookBroker {
    pub fn set_credentials(&self, credentials: HookCredentials) {
        self.credentials.replace(Some(credentials));
    }

    /// The subagent event that the loop records. `None` for requests that do not belong to this loop.
    pub fn subagent_event(&self, question: &HookQuestion) -> Option<SubagentEvent> {
        let credentials = self.credentials.borrow();
        let credentials = credentials.as_ref()?;
        let is_ours = if question.own {
            self.is_attached(question)
        } else {
            *credentials.token == *question.token && self.is_known_session(question)
        };
        is_ours.then(|| question.subagent_event(&credentials.redactor)).flatten()
    }

    fn is_attached(&self, question: &HookQuestion) -> bool {
        question.session.is_some() && question.session == *self.attached_session.borrow()
    }

    /// Sets the session that is attached to the loop; `None`: no session.
    pub fn set_attached_session(&self, session: Option<&str>) {
        self.attached_session.replace(session.map(str::to_owned));
    }

    /// The complete text of a permission request, or why the user is not asked. A text with a secret is refused,
    /// because it cannot be shown in full.
    pub fn permission_text(&self, question: &HookQuestion) -> Result<String, String> {
        let credentials = self.credentials.borrow();
        let credentials = credentials.as_ref().filter(|it| *it.token == *question.token);
        let credentials = credentials.ok_or("no agent of this loop")?;
        let what = question.what.as_deref().filter(|it| !it.is_empty()).ok_or("it does not say what")?;
        if credentials.redactor.redact(what) != what {
            return Err("it holds a secret, which cannot be shown".to_owned());
        }
        Ok(sanitize::visible(what))
    }

    /// A nested agent inherits the variables of its parent but has a different session id.
    fn is_known_session(&self, question: &HookQuestion) -> bool {
        question.session.as_ref().is_none_or(|it| self.sessions.borrow().contains(it))
    }

    /// Sets the session id that was passed to the agent.
    pub fn begin_session(&self, session: &str) {
        self.sessions.replace([session.to_owned(), session.to_owned()]);
    }

    /// Sets the session id that the agent reports.
    pub fn set_reported_session(&self, session: &str) {
        if let Some(current) = self.sessions.borrow_mut().last_mut() {
            session.clone_into(current);
        }
    }

    /// Routes requests to the returned receiver until the next call.
    pub fn open_queue(&self) -> mpsc::UnboundedReceiver<HookRequest> {
        let (queue, requests) = mpsc::unbounded_channel();
        self.queue.replace(Some(queue));
        requests
    }

    /// Waits for the answer without a timeout; dropping the future withdraws the request.
    pub async fn ask_agent(&self, question: HookQuestion) -> HookVerdict {
        let (answer, answered) = oneshot::channel();
        let request = HookRequest { question, answer };
        let is_sent = self.queue.borrow().as_ref().is_some_and(|it| it.send(request).is_ok());
        if !is_sent {
            return no_agent_verdict();
        }
        answered.await.unwrap_or_else(|_| no_agent_verdict())
    }
}

fn no_agent_verdict() -> HookVerdict {
    HookVerdict::allow("no agent of this loop is at work")
}
