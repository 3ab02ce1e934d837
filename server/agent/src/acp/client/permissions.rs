//! Permission requests of the agent: answered immediately by the policy, or queued for the user.

use serde_json::{Value, json};

use loopkeeper_text::tr;

use super::{AcpAction, AcpClient, AcpState, report_denied, set_field, truncate_strings, update_of};
use crate::acp::policy::{CallRefusal, InsideTreeFn, allowing_outcome, rejecting_outcome};
use crate::fields::list;

/// Maximum number of requests that wait for the user; further ones are denied.
const MAX_PENDING: usize = 256;

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
    question: String,
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
        let policy = self.params.options.policy.clone();
        let tool_call = params.get("toolCall").unwrap_or(&Value::Null);
        let call = self.update_call(tool_call);
        let options = list(params, "options");
        let refusal = policy.refusal_for(&call, inside);
        let yes = allowing_outcome(options, policy.permissions);
        let no = rejecting_outcome(options).unwrap_or_else(cancelled_outcome);
        let (mut refusal, yes) = match (refusal, yes) {
            (None, Some(yes)) => return self.allow_call(id, tool_call, &yes),
            (Some(refusal), Some(yes)) => (refusal, yes),
            (refusal, None) => {
                let (what, why) = (call.tool_name().to_owned(), tr!("it cannot be allowed just once"));
                let refusal = refusal.unwrap_or(CallRefusal { what, why });
                return vec![report_denied(&refusal.what, refusal.why), outcome_response(id, &no)];
            }
        };
        match policy.permission_question(&call, &refusal) {
            Ok(question) if self.can_queue() => {
                self.permission_count += 1;
                let (number, id, tool_call) =
                    (self.permission_count, id.clone(), truncate_strings(tool_call.clone()));
                self.pending_permissions.push_back(PendingPermission {
                    number,
                    id,
                    tool_call,
                    refusal,
                    question,
                    yes,
                    no,
                });
                if self.pending_permissions.len() == 1 {
                    self.next_permission_request().into_iter().collect()
                } else {
                    Vec::new()
                }
            }
            other => {
                refusal.why = other.err().unwrap_or(refusal.why);
                vec![report_denied(&refusal.what, refusal.why), outcome_response(id, &no)]
            }
        }
    }

    /// Handles the answer to a [`AcpAction::RequestPermission`].
    pub fn handle_permission_answer(&mut self, number: u64, answer: &PermissionAnswer) -> Vec<AcpAction> {
        if self.pending_permissions.front().is_none_or(|it| it.number != number) {
            return Vec::new();
        }
        let Some(pending) = self.pending_permissions.pop_front() else { return Vec::new() };
        let mut actions = match answer {
            PermissionAnswer::Allowed => self.allow_call(&pending.id, &pending.tool_call, &pending.yes),
            PermissionAnswer::Denied(why) => {
                vec![report_denied(&pending.refusal.what, why), outcome_response(&pending.id, &pending.no)]
            }
            PermissionAnswer::Cancelled => {
                vec![
                    report_denied(&pending.refusal.what, pending.refusal.why),
                    outcome_response(&pending.id, &cancelled_outcome()),
                ]
            }
        };
        actions.extend(self.next_permission_request());
        actions
    }

    /// Cancels all pending permission requests.
    pub(super) fn cancel_pending(&mut self) -> Vec<AcpAction> {
        self.pending_permissions.drain(..).map(|it| outcome_response(&it.id, &cancelled_outcome())).collect()
    }

    fn can_queue(&self) -> bool {
        self.state == AcpState::Prompting && self.pending_permissions.len() < MAX_PENDING
    }

    fn next_permission_request(&self) -> Option<AcpAction> {
        self.pending_permissions
            .front()
            .map(|it| AcpAction::RequestPermission { number: it.number, question: it.question.clone() })
    }

    fn allow_call(&self, id: &Value, tool_call: &Value, yes: &Value) -> Vec<AcpAction> {
        let mut actions = Vec::new();
        if self.state == AcpState::Prompting {
            // Some agents report nothing more about the call until it is over.
            let mut update = truncate_strings(tool_call.clone());
            set_field(&mut update, "sessionUpdate", json!("tool_call_update"));
            set_field(&mut update, "status", json!("in_progress"));
            actions.push(update_of(update));
        }
        actions.push(outcome_response(id, yes));
        actions
    }
}
