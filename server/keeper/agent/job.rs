//! What is started for an iteration: the prompt in its file, the command line, the environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopkeeper_core::agent::argv;
use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::settings::{Mode, Permissions, PromptBy};

use super::Start;
use super::aside::aside;
use super::equipment::Equipment;
use crate::acp;
use crate::adapters::env::{RESUMED, SESSION};
use crate::adapters::process::{Job, Stdin};
use crate::adapters::sandbox::Domain;
use crate::adapters::trust::permit::Approved;
use crate::keeper::perform::Scene;
use crate::keeper::private_file;
use crate::keeper::stage::{self, Env, Stage};

pub(super) fn job(scene: &Scene, start: &Start) -> Result<Job, String> {
    let prompt_file = prompt_file(scene, start)?;
    let plan = permitted(&scene.stage, &start.plan)?;
    let AgentPlan { permissions, .. } = *plan.value();
    if permissions == Permissions::SandboxedAll && !matches!(*scene.stage.domain, Domain::PidNamespace { .. })
    {
        let sentence = scene.stage.domain.sentence();
        return Err(format!("`permissions = \"sandboxed-all\"` needs a PID namespace. {sentence}"));
    }
    let stdin = stdin(plan.value(), &prompt_file);
    let mut env = environment(scene, start);
    let mut equipment = Equipment::of(scene, start, &env)?;
    stage::put(&mut env, std::mem::take(&mut equipment.env));
    Ok(Job {
        argv: plan.try_map(|plan| {
            let argv = aside(&plan, equipment.line(filled(&plan, start, &prompt_file)), &prompt_file)?;
            let mode = scene.stage.spec.settings.mode;
            Ok::<_, String>(acp::between(scene.stage.domain.warden(), plan.dialect, mode, argv))
        })?,
        cwd: PathBuf::from(&scene.stage.spec.root),
        env,
        stdin,
        grace: Duration::from_millis(scene.stage.spec.settings.limits.grace_ms),
        output: Some(scene.dir.output().join(name(start))),
    })
}

pub(in crate::keeper) fn permitted(stage: &Stage, plan: &AgentPlan) -> Result<Approved<AgentPlan>, String> {
    stage.permit.agent(plan).map_err(|denied| format!("the agent's command is {denied}"))
}

pub(in crate::keeper) fn stdin(plan: &AgentPlan, prompt_file: &Path) -> Stdin {
    if plan.prompt == PromptBy::Stdin { Stdin::File(prompt_file.to_owned()) } else { Stdin::Null }
}

/// The words of a judge's plan with this round's values in them. No shell ever sees them.
pub(in crate::keeper) fn words(
    stage: &Stage,
    plan: &AgentPlan,
    start: &Start,
    prompt_file: &Path,
) -> Result<Vec<OsString>, String> {
    let argv = aside(plan, filled(plan, start, prompt_file), prompt_file)?;
    Ok(acp::between(stage.domain.warden(), plan.dialect, Mode::Loop, argv))
}

pub(super) fn name(start: &Start) -> String {
    format!("{:04}", start.iteration)
}

pub(super) fn prompt_file(scene: &Scene, start: &Start) -> Result<PathBuf, String> {
    let path = scene.dir.prompts().join(format!("{}.md", name(start)));
    private_file(&path, start.prompt.as_bytes())
        .map_err(|error| format!("could not write {}: {error}", path.display()))?;
    Ok(path)
}

fn filled(plan: &AgentPlan, start: &Start, prompt_file: &Path) -> Vec<String> {
    let prompt_file = &prompt_file.to_string_lossy();
    let values = argv::Values { session: &start.session, prompt: &start.prompt, prompt_file };
    let words = if start.resumed { plan.kind().resuming(&plan.argv) } else { plan.argv.clone() };
    argv::fill(&words, values)
}

/// The session besides, for agents whose command line has no place for it.
fn environment(scene: &Scene, start: &Start) -> Env {
    let stage = &scene.stage;
    let mut env = stage.env_of(&start.plan);
    env.push((SESSION.into(), OsString::from(&start.session)));
    if start.resumed {
        env.push((RESUMED.into(), "1".into()));
    }
    env
}
