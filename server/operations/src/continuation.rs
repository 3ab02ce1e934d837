//! Continues the task of an ended loop with more iterations. The end of a loop is final, so this is a new loop: with the
//! agent of the ended one, its checks and at most its limits, on the files as they are.

use loopkeeper_agent::LoopMode;
use loopkeeper_core::decide::earlier_task;
use loopkeeper_core::journal::{EarlierTask, LoopSpec};
use loopkeeper_core::settings::{AgentSettings, OverrideSource, SettingOverride, Settings};
use loopkeeper_task::CHECK_ARGUMENT;
use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_text::tr;

use super::failure::Failure;
use super::loops::{LoopView, damaged_error};
use super::resolved_task::ResolvedTask;

/// What a loop that continues another one is started with.
pub struct Continuation {
    pub work: ResolvedTask,
    pub arguments: Vec<SettingOverride>,
    /// The promise differs from that of the configuration.
    pub own_promise: bool,
    pub earlier: EarlierTask,
}

impl Continuation {
    /// `more`: the iterations of the new loop.
    pub fn of(ended: &LoopView, more: u32) -> Result<Self, Failure> {
        refuse_unfit(ended)?;
        let spec = &ended.state.spec;
        let path = ended.dir.root().join(&spec.task.0);
        let path = path.to_str();
        let configured = ResolvedTask::find(path, &[])?;
        let arguments = arguments(spec, &configured, more);
        let work = ResolvedTask::find(path, &arguments)?.with_checks(&typed_checks(spec));
        Ok(Self {
            work,
            own_promise: arguments.iter().any(|it| it.key == PROMISE),
            arguments,
            earlier: EarlierTask { continued: true, ..earlier_task(&ended.state) },
        })
    }
}

const PROMISE: &str = "exit.promise";

/// Whether a new loop can continue the task of an ended one: it has a file and works in sessions of its own.
pub fn is_possible(spec: &LoopSpec) -> bool {
    spec.inline_prompt.is_none() && spec.settings.mode != LoopMode::Attach
}

fn refuse_unfit(ended: &LoopView) -> Result<(), Failure> {
    let (id, spec) = (ended.dir.id(), &ended.state.spec);
    if let Some(damage) = &ended.damage {
        return Err(damaged_error(damage.clone()));
    }
    if ended.is_open() {
        return Err(Failure::conflict(tr!("loop {id} has not ended", id))
            .hint(tr!("`loopkeeper resume {id}` continues it within its limits.", id)));
    }
    if spec.inline_prompt.is_some() {
        return Err(Failure::conflict(tr!("the task of loop {id} has no file", id))
            .hint(tr!("`loopkeeper run --prompt` starts it again.")));
    }
    if spec.settings.mode == LoopMode::Attach {
        return Err(Failure::conflict(tr!("loop {id} worked in a session that you opened", id))
            .hint(tr!("`loopkeeper run --attach` starts a new loop in an open session.")));
    }
    Ok(())
}

/// What the ended loop was given on its command line, as far as it differs from the configuration. Limits are not
/// raised: a lower one of the configuration counts.
fn arguments(spec: &LoopSpec, configured: &ResolvedTask, more: u32) -> Vec<SettingOverride> {
    let (old, new): (&Settings, &Settings) = (&spec.settings, &configured.settings);
    let promise = configured.task.promise.as_ref().unwrap_or(&new.exit.promise);
    let own_agent = old.agent != new.agent && old.fallbacks.is_empty();
    let lower_cost = old.limits.cost_micros < new.limits.cost_micros;
    let shorter = old.limits.duration_ms < new.limits.duration_ms;
    let given = [
        ("limits.iterations", Some(more.to_string())),
        ("agent", own_agent.then(|| agent_argument(old, new))),
        ("limits.cost_usd", lower_cost.then(|| dollars(old.limits.cost_micros))),
        ("limits.duration", shorter.then(|| format!("{}ms", old.limits.duration_ms))),
        (PROMISE, (spec.promise != *promise).then(|| spec.promise.clone())),
    ];
    let argument = |(key, value): (&str, Option<String>)| {
        let (option, key) = (key.to_owned(), key.to_owned());
        Some(SettingOverride { option, key, value: value?, source: OverrideSource::Argument })
    };
    given.into_iter().filter_map(argument).collect()
}

/// The name of the agent, or the program that was given in its place, which no configuration names.
fn agent_argument(old: &Settings, new: &Settings) -> String {
    let is_it = |it: &&AgentSettings| it.name == old.agent;
    let program = match old.agents.iter().find(is_it).map(|it| it.command.as_slice()) {
        Some([program]) if program.contains('/') && !new.agents.iter().any(|it| is_it(&it)) => Some(program),
        _ => None,
    };
    program.unwrap_or(&old.agent).clone()
}

/// `2.500000`
fn dollars(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// The commands of `run --check`.
fn typed_checks(spec: &LoopSpec) -> Vec<String> {
    let typed = spec.criteria.iter().filter(|it| it.place.file == CHECK_ARGUMENT);
    let command = |criterion: &Criterion| {
        let Some(Check::Command { command, .. }) = &criterion.check else { return None };
        Some(command.clone())
    };
    typed.filter_map(command).collect()
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn amounts_are_exact() {
        let check = |micros, expect: &str| assert_eq!(dollars(micros), expect);
        check(2_500_000, "2.500000");
        check(25_000_000, "25.000000");
        check(1, "0.000001");
    }
}
