//! Usage limits shared by all loops of this user: limits that this loop meets are added to the list, and the list is
//! checked before an agent is started.

use std::path::Path;
use std::time::Duration;

use loopkeeper_agent::{AgentEnding, AgentRun, ProviderClass};
use loopkeeper_core::decide::Event;
use loopkeeper_core::journal::AgentPlan;
use tokio::time::Instant;

use super::loop_context::LoopContext;
use super::spawn_boxed_local;
use loopkeeper_system::usage_limits::LimitChange;
use loopkeeper_system::{clock, usage_limits};

/// Duration of a limit without an announced reset.
const UNKNOWN_MS: u64 = 60 * 60 * 1000;
/// The lock is held for a few milliseconds, unless its holder was suspended.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const LOCK_INTERVAL: Duration = Duration::from_millis(3);

/// A limit that another loop met with this agent and account.
pub(super) fn shared_limit(context: &LoopContext, plan: &AgentPlan) -> Option<Event> {
    let (path, now) = (context.state.usage_limits(), clock::now());
    let account = usage_limits::account_key(plan, &context.runtime.env_of(plan));
    match usage_limits::find_active_limit(&path, &account, context.dir.id(), now.wall) {
        Ok(found) => {
            found.map(|it| Event::UsageLimitShared { until: now.plus_ms(it.lasts_ms), met_by: it.met_by })
        }
        Err(error) => {
            tracing::warn!("{error}");
            None
        }
    }
}

/// Records how a run ended, for other loops.
pub(super) fn record_outcome(context: &LoopContext, plan: &AgentPlan, run: &AgentRun) {
    let (path, now) = (context.state.usage_limits(), clock::now().wall);
    let Some(change) = limit_change(context, run, now) else { return };
    let account = usage_limits::account_key(plan, &context.runtime.env_of(plan));
    if try_enter(&path, &account, &change) {
        return;
    }
    spawn_boxed_local(async move {
        let begun = Instant::now();
        while begun.elapsed() < LOCK_TIMEOUT {
            tokio::time::sleep(LOCK_INTERVAL).await;
            if try_enter(&path, &account, &change) {
                return;
            }
        }
        tracing::warn!(
            "another process keeps the list of usage limits locked: the limit of this loop is not shared"
        );
    });
}

fn limit_change(context: &LoopContext, run: &AgentRun, now: u64) -> Option<LimitChange> {
    let has_ended_well =
        matches!(run.ending, AgentEnding::Exited | AgentEnding::Held) && run.exit.unwrap_or(0) == 0;
    match &run.error {
        Some(error) if error.class == ProviderClass::Quota => {
            let until = error.resets_at.unwrap_or(now.saturating_add(UNKNOWN_MS));
            (until > now).then(|| LimitChange::Met { by: context.dir.id().to_owned(), until })
        }
        None if has_ended_well => Some(LimitChange::Lifted),
        _ => None,
    }
}

/// False: another process holds the lock.
fn try_enter(path: &Path, account: &str, change: &LimitChange) -> bool {
    usage_limits::enter(path, account, change, clock::now().wall).unwrap_or_else(|error| {
        tracing::warn!("{error}");
        true
    })
}
