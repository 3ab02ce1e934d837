//! The usage limits that all loops of this user share: what this loop meets is put on the list, what others met is
//! looked up before an agent is started.

use loopkeeper_core::agent::{AgentEnding, AgentRun, ProviderClass};
use loopkeeper_core::decide::Event;
use loopkeeper_core::journal::AgentPlan;

use super::note;
use super::perform::Scene;
use crate::adapters::{clock, usage_limits};

/// Where no reset was announced, as long as a loop waits then.
const UNKNOWN_MS: u64 = 60 * 60 * 1000;

/// What another loop met with this agent and account.
pub(super) fn known(scene: &Scene, plan: &AgentPlan) -> Option<Event> {
    let (path, now) = (scene.state.usage_limits(), clock::now());
    let account = usage_limits::account(plan, &scene.stage.env_of(plan));
    match usage_limits::in_force(&path, &account, scene.dir.id(), now.wall) {
        Ok(found) => found.map(|it| Event::LimitKnown { until: now.after(it.lasts_ms), met_by: it.met_by }),
        Err(error) => {
            note(&error.to_string());
            None
        }
    }
}

/// How a run ended, for other loops.
pub(super) fn learn(scene: &Scene, plan: &AgentPlan, run: &AgentRun) {
    let (path, now) = (scene.state.usage_limits(), clock::now().wall);
    let account = || usage_limits::account(plan, &scene.stage.env_of(plan));
    let done = match &run.error {
        Some(error) if error.class == ProviderClass::Quota => {
            let until = error.resets_at.unwrap_or(now.saturating_add(UNKNOWN_MS));
            if until <= now {
                return;
            }
            usage_limits::met(&path, &account(), scene.dir.id(), (now, until))
        }
        None if matches!(run.ending, AgentEnding::Exited | AgentEnding::Held)
            && run.exit.unwrap_or(0) == 0 =>
        {
            usage_limits::lifted(&path, &account(), now)
        }
        _ => Ok(()),
    };
    if let Err(error) = done {
        note(&error.to_string());
    }
}
