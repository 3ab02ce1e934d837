//! Permission requests of the agent: answered immediately by the policy, or queued for the user.

use serde_json::{Value, json};

use loopkeeper_text::tr;

use super::{AcpAction, AcpClient, AcpState, report_denied, set_field, truncate_strings, update_of};
use crate::acp::policy::{CallRefusal, InsideTreeFn, select_outcome};
use crate::fields::list;

/// The user's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionAnswer {
    Allowed,
    /// The reason, as text for the agent's log.
    Denied(String),
    /// The question was withdrawn.
    Cancelled,
}

/// A permission that the agent waits for.
#[derive(Debug)]
pub(super) struct PendingPermission {
    number: u64,
    /// The id of the agent's request.
    id: Value,
    /// The reported fields of the call.
    tool_call: Value,
    refusal: CallRefusal,
    words: String,
    /// The chosen response for each answer, from the options that the agent offers.
    yes: Value,
    no: Value,
}

fn cancelled_outcome() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

fn outcome_response(id: &Value, answer: &Value) -> AcpAction {
    AcpAction::Send(json!({"jsonrpc": "2.0", "id": id, "result": answer}))
}

impl AcpClient {
    pub(super) fn handle_permission_request(
        &mut self,
        id: &Value,
        params: &Value,
        inside: &InsideTreeFn<'_>,
    ) -> Vec<AcpAction> {
        let policy = self.brief.order.policy.clone();
        let tool_call = params.get("toolCall").unwrap_or(&Value::Null);
        let call = self.update_call(tool_call);
        let options = list(params, "options");
        let refusal = policy.refusal_for(&call, inside);
        let yes = select_outcome(options, true, policy.permissions);
        let no = select_outcome(options, false, policy.permissions).unwrap_or_else(cancelled_outcome);
        let (mut refusal, yes) = match (refusal, yes) {
            (None, Some(yes)) => return self.allow_call(id, tool_call, &yes),
            (Some(refusal), Some(yes)) => (refusal, yes),
            (refusal, None) => {
                let (what, why) = (call.tool_name().to_owned(), tr!("it cannot be allowed just once"));
                let refusal = refusal.unwrap_or(CallRefusal { what, why });
                return vec![report_denied(&refusal.what, refusal.why), outcome_response(id, &no)];
            }
        };
        let question = policy.permission_question(&call, &refusal);
        match question {
            Ok(words) if self.at == AcpState::Working => {
                self.asked += 1;
                let (number, id, tool_call) = (self.asked, id.clone(), truncate_strings(tool_call.clone()));
                self.wanted.push_back(PendingPermission { number, id, tool_call, refusal, words, yes, no });
                if self.wanted.len() == 1 {
                    self.next_permission_request().into_iter().collect()
                } else {
                    Vec::new()
                }
            }
            question => {
                refusal.why = question.err().unwrap_or(refusal.why);
                vec![report_denied(&refusal.what, refusal.why), outcome_response(id, &no)]
            }
        }
    }

    /// Handles the answer to a [`AcpAction::Permit`].
    pub fn handle_permission_answer(&mut self, number: u64, permit: &PermissionAnswer) -> Vec<AcpAction> {
        if self.wanted.front().is_none_or(|it| it.number != number) {
            return Vec::new();
        }
        let Some(wanted) = self.wanted.pop_front() else { return Vec::new() };
        let mut acts = match permit {
            PermissionAnswer::Allowed => self.allow_call(&wanted.id, &wanted.tool_call, &wanted.yes),
            PermissionAnswer::Denied(why) => {
                vec![report_denied(&wanted.refusal.what, why), outcome_response(&wanted.id, &wanted.no)]
            }
            PermissionAnswer::Cancelled => {
                vec![
                    report_denied(&wanted.refusal.what, wanted.refusal.why),
                    outcome_response(&wanted.id, &cancelled_outcome()),
                ]
            }
        };
        acts.extend(self.next_permission_request());
        acts
    }

    /// Cancels all pending permission requests.
    pub(super) fn cancel_pending(&mut self) -> Vec<AcpAction> {
        self.wanted.drain(..).map(|it| outcome_response(&it.id, &cancelled_outcome())).collect()
    }

    fn next_permission_request(&self) -> Option<AcpAction> {
        self.wanted.front().map(|it| AcpAction::Permit { number: it.number, words: it.words.clone() })
    }

    fn allow_call(&self, id: &Value, tool_call: &Value, yes: &Value) -> Vec<AcpAction> {
        let mut acts = Vec::new();
        if self.at == AcpState::Working {
            // Some agents report nothing more about the call until it is over.
            let mut update = truncate_strings(tool_call.clone());
            set_field(&mut update, "sessionUpdate", json!("tool_call_update"));
            set_field(&mut update, "status", json!("in_progress"));
            acts.push(update_of(update));
        }
        acts.push(outcome_response(id, yes));
        acts
    }
}
