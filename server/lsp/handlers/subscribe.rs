//! `loopkeeper/subscribe`: to what the agent and the checks of a loop print.

use crate::lsp::ext::{SubscribeParams, SubscribeResult};
use crate::lsp::shared::Shared;

pub(crate) fn handle(shared: &Shared, params: &SubscribeParams) -> SubscribeResult {
    shared.lookout().live().subscribe(&params.loop_id, params.on);
    SubscribeResult { subscribed: params.on }
}
