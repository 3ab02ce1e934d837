//! Reserves a slot in the per-user rate limiter. Retries after a short sleep while another process holds its lock; the
//! event loop stays responsive.

use loopkeeper_text::tr;
use std::path::Path;
use std::time::Duration;

use loopkeeper_core::decide::{CallSlot, Event, LoopState};
use tokio::time::Instant;

use super::loop_context::LoopContext;
use super::spawn_boxed_local;
use super::usage_limits;
use loopkeeper_system::calls::{self, CallRequest};
use loopkeeper_system::clock;

/// The lock is held for a few milliseconds; a holder that was suspended must not block all other loops.
const TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_DELAY: Duration = Duration::from_millis(3);

pub(super) fn take_slot(context: &LoopContext, state: &LoopState, iteration: u32, heeds_limits: bool) {
    let limited = || usage_limits::shared_limit(context, &context.runtime.agent(&state.spec.agent.name));
    if let Some(event) = heeds_limits.then(limited).flatten() {
        return context.send_event(event);
    }
    let request = CallRequest {
        loop_id: state.spec.loop_id.clone(),
        iteration,
        limit: state.spec.settings.limits.calls_per_hour,
    };
    let list = context.state.calls();
    if let Some(slot) = try_once(&list, &request) {
        return context.send_event(Event::CallAnswered(slot));
    }
    let context = context.clone();
    spawn_boxed_local(async move {
        let slot = wait_for_slot(&list, &request).await;
        context.send_event(Event::CallAnswered(slot));
    });
}

/// Retries until the list can be locked, or the timeout expires.
pub async fn wait_for_slot(list: &Path, request: &CallRequest) -> CallSlot {
    let begun = Instant::now();
    while begun.elapsed() < TIMEOUT {
        if let Some(slot) = try_once(list, request) {
            return slot;
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
    CallSlot::Unknown { message: tr!("another process keeps the list of calls locked").to_owned() }
}

/// `None`: another process holds the lock.
fn try_once(list: &Path, request: &CallRequest) -> Option<CallSlot> {
    calls::take_slot(list, request, clock::now()).unwrap_or_else(|error| {
        tracing::warn!("{error}");
        Some(CallSlot::Unknown { message: error.to_string() })
    })
}
