//! Before an agent is probed: checks that its configuration in the workspace is trusted, and that the user accepts the
//! cost.

use loopkeeper_text::tr;
use std::io::Write;

use loopkeeper_core::journal::{AgentPlan, RestrictedCommand};
use loopkeeper_core::settings::SettingOrigin;
use loopkeeper_core::trust::TrustItem;

use super::super::Args;
use super::super::facts::FactContext;
use super::announcement;
use super::calls::call_count;
use crate::ask;
use crate::failure::{self, Failure};
use loopkeeper_operations::authority;
use loopkeeper_operations::failure::FailureKind;
use loopkeeper_operations::trust::page;
use loopkeeper_system::trust::TrustStore;
use loopkeeper_system::{calls, clock};

/// Requires trust for everything that a file of the workspace configures about the agent.
pub(super) fn ensure_trusted(context: &FactContext, plan: &AgentPlan, args: &Args) -> Result<(), Failure> {
    let items = workspace_items(context, plan);
    let mut store = TrustStore::open(context.state()?);
    let unknown = store.untrusted_items(&context.root, &items);
    if unknown.is_empty() {
        return Ok(());
    }
    let refused = || {
        Failure::new(
            FailureKind::NotTrusted,
            tr!("`{name}` is not trusted: nothing was started", name = plan.name),
        )
        .hint(tr!("`--trust` trusts this workspace's settings of the agent, which are in loopkeeper.toml."))
    };
    if !args.trust {
        if !ask::is_interactive() {
            return Err(refused());
        }
        write!(anstream::stderr(), "{}", page(&context.root, &unknown, &unknown).text(&plan.name))?;
        if !ask::confirm(tr!("Trust this?"))? {
            return Err(refused());
        }
    }
    authority::ensure_user(context.state()?, RestrictedCommand::Trust)?;
    Ok(store.grant(&context.root, None, &unknown)?)
}

/// Leaves out options of the command line and the user's own file, which need no trust.
fn workspace_items(context: &FactContext, plan: &AgentPlan) -> Vec<TrustItem> {
    let about = format!("agents.{}.", plan.name);
    let is_theirs = |origin: &SettingOrigin| match origin {
        SettingOrigin::File { place, .. } => !place.file.starts_with('/'),
        SettingOrigin::Default | SettingOrigin::Option(_) => false,
    };
    let written =
        context.resolved.effective().iter().any(|it| it.key.starts_with(&about) && is_theirs(&it.origin));
    let mut items: Vec<TrustItem> =
        TrustItem::from_settings(context.resolved.to_trust()).into_iter().collect();
    items.extend(written.then(|| TrustItem::from_agent(plan)));
    items
}

/// Checks that enough calls are left, because an incomplete probe would waste calls.
pub(super) fn ensure_calls_left(context: &FactContext, plan: &AgentPlan) -> Result<(), Failure> {
    let (most, needed) = (context.settings.limits.calls_per_hour, call_count(context, plan));
    let left = most.saturating_sub(calls_last_hour(context)?);
    if left as usize >= needed {
        return Ok(());
    }
    let what =
        tr!("a probe takes {needed} calls, and {left} of this hour's {most} are left", needed, left, most);
    Err(Failure::conflict(what)
        .hint(tr!("Wait until the last hour had fewer, or raise `limits.calls_per_hour`.")))
}

/// Number of calls in the last hour.
fn calls_last_hour(context: &FactContext) -> Result<u32, Failure> {
    calls::this_hour(&context.state()?.calls(), clock::now().wall).map_err(|error| Failure::ended(&error))
}

/// Whether the user accepts the cost.
pub(super) fn confirm_cost(context: &FactContext, plan: &AgentPlan, yes: bool) -> Result<bool, Failure> {
    failure::note(announcement(
        plan,
        (call_count(context, plan), calls_last_hour(context)?),
        &context.settings.limits,
    ));
    if yes {
        return Ok(true);
    }
    Ok(ask::is_interactive() && ask::confirm(tr!("Continue?"))?)
}
