//! The channel between an agent's hooks and the keeper: the hook is our own program, called by the agent, and requests
//! its answer here. Requests without valid credentials pass without effect.

use std::cell::RefCell;
use std::rc::Rc;

use loopkeeper_core::decide::spawns::SubagentEvent;
use loopkeeper_text::redact::Redactor;
use loopkeeper_text::sanitize;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

/// Of what an agent says of a subagent.
const WORDS: usize = 120;

/// What a hook asks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct HookQuestion {
    pub hook: HookEvent,
    /// What the keeper gave its agent to be recognised by.
    #[serde(default)]
    pub token: String,
    #[serde(default)]
    pub session: Option<String>,
    /// The subagent that asks; none: the agent itself.
    #[serde(default)]
    pub agent: Option<String>,
    /// The agent's own id of the call of a tool.
    #[serde(default)]
    pub call: Option<String>,
    /// What a subagent is to do, or is.
    #[serde(default)]
    pub what: Option<String>,
    /// The agent's last message.
    #[serde(default)]
    pub text: Option<String>,
    /// What the session has used, over all its processes.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// By the hooks of a workspace: its user opened the session.
    #[serde(default)]
    pub own: bool,
    /// It was held in this turn before.
    #[serde(default)]
    pub active: bool,
    /// How often its agent lets itself be held in one turn, where it says so.
    #[serde(default)]
    pub cap: Option<u32>,
    /// The agent's process.
    #[serde(default)]
    pub pid: Option<i32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookEvent {
    /// The agent's turn is over: may it end?
    Stop,
    /// May a subagent start?
    PreTool,
    SubagentStart,
    SubagentStop,
    /// Its user says something: is there anything to add?
    Prompt,
    /// The session is closed.
    End,
    /// May it do what `what` says? The user is asked.
    Permission,
}

/// What the hook tells its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookVerdict {
    pub decision: HookDecision,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// For whoever sits at the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookDecision {
    Allow,
    /// Not yet: `reason` is what to do next.
    Block,
    /// Not this tool: `reason` says why.
    Deny,
    /// The question was taken back.
    Cancel,
}

impl HookVerdict {
    /// `why` is for whoever reads the hook's own output.
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

    /// The same, said to its user.
    pub fn allow_with_notice(why: &str) -> Self {
        let notice = (!why.is_empty()).then(|| format!("Ralph: {why}"));
        Self { notice, ..Self::allow(why) }
    }
}

impl HookQuestion {
    /// What it is to the loop; `None`: to the running agent alone.
    fn of_subagent(&self, redactor: &Redactor) -> Option<SubagentEvent> {
        let what = || redact_words(self.what.as_deref().unwrap_or_default(), redactor);
        let by = || self.agent.as_deref().map(|it| redact_words(it, redactor));
        let id = || by().unwrap_or_default();
        match self.hook {
            HookEvent::Stop | HookEvent::Prompt | HookEvent::End | HookEvent::Permission => None,
            HookEvent::PreTool => {
                let call = self.call.as_deref().map(|it| redact_words(it, redactor));
                Some(SubagentEvent::Asked { by: by(), call, what: what() })
            }
            HookEvent::SubagentStart => Some(SubagentEvent::Began { id: id(), what: what() }),
            HookEvent::SubagentStop => Some(SubagentEvent::Ended { id: id() }),
        }
    }
}

/// An agent's words on a subagent, as they may stand in a record.
pub fn redact_words(words: &str, redactor: &Redactor) -> String {
    sanitize::line_within(&redactor.redact(words), WORDS)
}

/// A question and where its answer goes; closed when the hook is gone.
#[derive(Debug)]
pub struct HookRequest {
    pub question: HookQuestion,
    pub answer: oneshot::Sender<HookVerdict>,
}

/// Where questions go while an agent runs.
#[derive(Debug, Clone, Default)]
pub struct HookBroker {
    open: Rc<RefCell<Option<mpsc::UnboundedSender<HookRequest>>>>,
    door: Rc<RefCell<Option<HookCredentials>>>,
    /// Those by which the running agent may be known: as it was told, and as it tells.
    sessions: Rc<RefCell<[String; 2]>>,
    /// The session of its user's own that works for the loop.
    lent: Rc<RefCell<Option<String>>>,
}

/// Whom to let in, and what to let nobody say.
#[derive(Debug)]
pub struct HookCredentials {
    pub token: Rc<str>,
    pub redactor: Rc<Redactor>,
}

impl HookBroker {
    pub fn set_credentials(&self, door: HookCredentials) {
        self.door.replace(Some(door));
    }

    /// What the loop itself has to know of; whoever is not of this loop has nothing to tell.
    pub fn of_subagent(&self, question: &HookQuestion) -> Option<SubagentEvent> {
        let door = self.door.borrow();
        let door = door.as_ref()?;
        let is_ours = if question.own {
            self.is_lent(question)
        } else {
            *door.token == *question.token && self.is_known_session(question)
        };
        is_ours.then(|| question.of_subagent(&door.redactor)).flatten()
    }

    fn is_lent(&self, question: &HookQuestion) -> bool {
        question.session.is_some() && question.session == *self.lent.borrow()
    }

    /// Which session of its user's works for the loop from here on; `None`: no one any more.
    pub fn set_attached_session(&self, session: Option<&str>) {
        self.lent.replace(session.map(str::to_owned));
    }

    /// What the user is to be asked, whole; or why they are not. What holds a secret would not be whole.
    pub fn of_permission(&self, question: &HookQuestion) -> Result<String, String> {
        let door = self.door.borrow();
        let door = door.as_ref().filter(|it| *it.token == *question.token);
        let door = door.ok_or("no agent of this loop")?;
        let what = question.what.as_deref().filter(|it| !it.is_empty()).ok_or("it does not say what")?;
        if door.redactor.redact(what) != what {
            return Err("it holds a secret, which cannot be shown".to_owned());
        }
        Ok(sanitize::visible(what))
    }

    /// A nested agent has the variables of the one that started it, and a session of its own.
    fn is_known_session(&self, question: &HookQuestion) -> bool {
        question.session.as_ref().is_none_or(|it| self.sessions.borrow().contains(it))
    }

    /// The session that the agent is told to be.
    pub fn begin_session(&self, session: &str) {
        self.sessions.replace([session.to_owned(), session.to_owned()]);
    }

    /// The session that it says to be.
    pub fn is_called(&self, session: &str) {
        if let Some(told) = self.sessions.borrow_mut().last_mut() {
            session.clone_into(told);
        }
    }

    /// From now on questions come out of the returned end, until the next call.
    pub fn open_queue(&self) -> mpsc::UnboundedReceiver<HookRequest> {
        let (asked, answered) = mpsc::unbounded_channel();
        self.open.replace(Some(asked));
        answered
    }

    /// Waits for the answer as long as it takes; dropped, the question is taken back.
    pub async fn ask_agent(&self, question: HookQuestion) -> HookVerdict {
        let (answer, answered) = oneshot::channel();
        let open = self.open.borrow().clone();
        let Some(line) = open else { return no_agent_verdict() };
        if line.send(HookRequest { question, answer }).is_err() {
            return no_agent_verdict();
        }
        drop(line);
        answered.await.unwrap_or_else(|_| no_agent_verdict())
    }
}

fn no_agent_verdict() -> HookVerdict {
    HookVerdict::allow("no agent of this loop is at work")
}
