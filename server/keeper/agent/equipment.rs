//! What the agent's own command line and environment get besides, so that its hooks ask us: nothing of the user's
//! configuration is touched.

use std::ffi::OsString;

use loopkeeper_core::agent::claude::hooks;
use loopkeeper_core::agent::kind::Kind;
use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::settings::Mode;

use crate::keeper::stage::{Env, Stage};

/// The command line with our hooks, where the loop needs them and the agent can have them.
pub(super) fn equip(stage: &Stage, plan: &AgentPlan, argv: Vec<String>) -> Vec<OsString> {
    let argv = match own_program(stage) {
        Some(program) if is_claude(plan) => hooks::equip(argv, &program, stage.spec.settings.mode),
        _ => argv,
    };
    argv.into_iter().map(OsString::from).collect()
}

/// How often its stop hook may hold one process of it.
pub(super) fn holds(stage: &Stage, plan: &AgentPlan) -> Option<u32> {
    (is_claude(plan) && stage.spec.settings.mode == Mode::Hook).then(|| cap(&stage.env_of(plan)))
}

/// It asks before it starts a subagent.
pub(super) fn asks(stage: &Stage, plan: &AgentPlan) -> bool {
    is_claude(plan) && hooks::fit(&plan.argv) && own_program(stage).is_some()
}

fn cap(env: &Env) -> u32 {
    let said = env.iter().find(|(name, _)| name == hooks::CAP).and_then(|(_, value)| value.to_str());
    said.and_then(|it| it.parse().ok()).unwrap_or(hooks::BLOCKS)
}

/// Whatever else talks as it does may not take its arguments.
fn is_claude(plan: &AgentPlan) -> bool {
    plan.kind() == Kind::Claude
}

/// The small program that wardens are: it answers hooks as the whole one does, and starts faster.
fn own_program(stage: &Stage) -> Option<String> {
    let program = stage.domain.warden();
    let program =
        if program.starts_with("/proc") { std::env::current_exe().ok()? } else { program.to_owned() };
    program.into_os_string().into_string().ok()
}
