//! The line between an agent's hooks and the keeper: a hook is our own program, called by the agent, that asks here
//! what to answer. Whoever cannot be recognised is let through untouched.

use std::cell::RefCell;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

/// What a hook asks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Question {
    pub hook: Kind,
    /// What the keeper gave its agent to be recognised by.
    #[serde(default)]
    pub token: String,
    #[serde(default)]
    pub session: Option<String>,
    /// The subagent that asks; none: the agent itself.
    #[serde(default)]
    pub agent: Option<String>,
    /// The agent's last message.
    #[serde(default)]
    pub text: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The agent's turn is over: may it end?
    Stop,
}

/// What the hook tells its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    pub decision: Decision,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    Allow,
    /// Not yet: `reason` is what to do next.
    Block,
}

impl Verdict {
    /// `why` is for whoever reads the hook's own output.
    pub fn allow(why: &str) -> Self {
        Self { decision: Decision::Allow, reason: why.to_owned() }
    }

    pub fn block(reason: String) -> Self {
        Self { decision: Decision::Block, reason }
    }
}

/// A question and where its answer goes; closed when the hook is gone.
#[derive(Debug)]
pub struct Asked {
    pub question: Question,
    pub answer: oneshot::Sender<Verdict>,
}

/// Where questions go while an agent runs.
#[derive(Debug, Clone, Default)]
pub struct Line(Rc<RefCell<Option<mpsc::UnboundedSender<Asked>>>>);

impl Line {
    /// From now on questions come out of the returned end, until the next call.
    pub fn open(&self) -> mpsc::UnboundedReceiver<Asked> {
        let (asked, answered) = mpsc::unbounded_channel();
        self.0.replace(Some(asked));
        answered
    }

    /// Waits for the answer as long as it takes; dropped, the question is taken back.
    pub async fn ask(&self, question: Question) -> Verdict {
        let (answer, answered) = oneshot::channel();
        let open = self.0.borrow().clone();
        let Some(line) = open else { return nobody() };
        if line.send(Asked { question, answer }).is_err() {
            return nobody();
        }
        drop(line);
        answered.await.unwrap_or_else(|_| nobody())
    }
}

fn nobody() -> Verdict {
    Verdict::allow("no agent of this loop is at work")
}
