//! The question at a provider's usage limit: wait or stop. Asked once per wait; the loop waits meanwhile, and goes on
//! waiting when nobody answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use loopkeeper_core::journal::WaitReason;
use loopkeeper_core::view::LoopStatus;

use crate::adapters::clock;
use crate::front::zone::Zone;
use crate::lookout::Picture;
use crate::lsp::commands;
use crate::lsp::ext::StopArgs;
use crate::lsp::questions::{self, Question};
use crate::lsp::shared::Shared;

const WAIT: &str = "Wait";
const STOP: &str = "Stop";
const EXPIRY: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(super) struct Limits {
    /// Until when each loop waits that was asked about.
    asked: BTreeMap<String, String>,
}

impl Limits {
    /// Never waits for the answer.
    pub(super) fn publish(&mut self, shared: &Arc<Shared>, picture: &Picture) {
        let until = |it: &LoopStatus| {
            it.wait.as_ref().filter(|it| it.reason == WaitReason::Quota).map(|it| it.resumes_at.clone())
        };
        let now: BTreeMap<String, String> =
            picture.loops.iter().filter_map(|it| Some((it.status.id.clone(), until(&it.status)?))).collect();
        for (id, until) in &now {
            if self.asked.get(id) != Some(until) && questions::can_ask(shared) {
                tokio::spawn(ask(Arc::clone(shared), id.clone(), until.clone()));
            }
        }
        self.asked = now;
    }
}

async fn ask(shared: Arc<Shared>, loop_id: String, until: String) {
    let until = Zone::read(&until)
        .map_or(String::new(), |it| format!(" until {}", Zone::local().short(it, clock::now().wall)));
    let message = format!("Ralph waits{until}: the provider's usage limit is reached.");
    let question = Question { message, answers: vec![WAIT, STOP], expiry: EXPIRY };
    if questions::ask(&shared, &question).await.as_deref() == Some(STOP) {
        let stopped = commands::stop(&shared, StopArgs { loop_id, now: false }).await;
        if let Err(refusal) = stopped {
            questions::warn(&shared, &refusal.message).await;
        }
    }
}
