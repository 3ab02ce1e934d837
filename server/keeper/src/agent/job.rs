//! Prepares the job of an iteration: the prompt file, the command line and the environment.

use loopkeeper_text::tr;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopkeeper_agent::{LoopMode, PermissionMode, PromptBy, argv};
use loopkeeper_core::journal::AgentPlan;

use super::IterationStart;
use super::hook_injection::HookInjection;
use super::settings_file::extract_settings;
use crate::acp;
use crate::loop_context::LoopContext;
use crate::private_file;
use crate::run_context::{self, EnvVars, RunContext};
use loopkeeper_system::env::{RESUMED, SESSION};
use loopkeeper_system::process::{Job, StdinSource};
use loopkeeper_system::sandbox::Isolation;
use loopkeeper_system::trust::permit::ApprovedInput;

pub(super) fn build_job(context: &LoopContext, start: &IterationStart) -> Result<Job, String> {
    let prompt_file = prompt_file(context, start)?;
    let plan = approve_agent(&context.runtime, &start.plan)?;
    let AgentPlan { permissions, .. } = *plan.value();
    if permissions == PermissionMode::SandboxedAll
        && !matches!(*context.runtime.agent_domain, Isolation::PidNamespace { .. })
    {
        let sentence = context.runtime.agent_domain.sentence();
        return Err(tr!("`permissions = \"sandboxed-all\"` needs a PID namespace. {sentence}", sentence));
    }
    let stdin = stdin(plan.value(), &prompt_file);
    let mut env = environment(context, start);
    let mut injection = HookInjection::new(context, start, &env)?;
    run_context::extend_env(&mut env, std::mem::take(&mut injection.env));
    Ok(Job {
        argv: plan.try_map(|plan| {
            let argv = extract_settings(
                &plan,
                injection.with_hooks(fill_placeholders(&plan, start, &prompt_file)),
                &prompt_file,
            )?;
            let mode = context.runtime.spec.settings.mode;
            Ok::<_, String>(acp::bridge_argv(context.runtime.agent_domain.warden(), plan.dialect, mode, argv))
        })?,
        cwd: PathBuf::from(&context.runtime.spec.root),
        env,
        stdin,
        grace: Duration::from_millis(context.runtime.spec.settings.limits.grace_ms),
        output: Some(context.dir.output().join(name(start))),
    })
}

pub(crate) fn approve_agent(
    runtime: &RunContext,
    plan: &AgentPlan,
) -> Result<ApprovedInput<AgentPlan>, String> {
    runtime.permit.agent(plan).map_err(|denied| tr!("the agent's command is {denied}", denied))
}

pub(crate) fn stdin(plan: &AgentPlan, prompt_file: &Path) -> StdinSource {
    if plan.prompt == PromptBy::Stdin { StdinSource::File(prompt_file.to_owned()) } else { StdinSource::Null }
}

/// The arguments of a judge with this round's values substituted. Never passed through a shell.
pub(crate) fn judge_argv(
    runtime: &RunContext,
    plan: &AgentPlan,
    start: &IterationStart,
    prompt_file: &Path,
) -> Result<Vec<OsString>, String> {
    let argv = extract_settings(plan, fill_placeholders(plan, start, prompt_file), prompt_file)?;
    Ok(acp::bridge_argv(runtime.agent_domain.warden(), plan.dialect, LoopMode::Loop, argv))
}

pub(super) fn name(start: &IterationStart) -> String {
    format!("{:04}", start.iteration)
}

pub(super) fn prompt_file(context: &LoopContext, start: &IterationStart) -> Result<PathBuf, String> {
    let path = context.dir.prompts().join(format!("{}.md", name(start)));
    private_file(&path, start.prompt.as_bytes())
        .map_err(|error| tr!("could not write {path}: {error}", path = path.display(), error))?;
    Ok(path)
}

fn fill_placeholders(plan: &AgentPlan, start: &IterationStart, prompt_file: &Path) -> Vec<String> {
    let prompt_file = &prompt_file.to_string_lossy();
    let values = argv::PlaceholderValues { session: &start.session, prompt: &start.prompt, prompt_file };
    let words = if start.resumed { plan.kind().resume_argv(&plan.argv) } else { plan.argv.clone() };
    argv::fill_placeholders(&words, values)
}

/// Adds the session id to the environment, for agents that do not take it as an argument.
fn environment(context: &LoopContext, start: &IterationStart) -> EnvVars {
    let runtime = &context.runtime;
    let mut env = runtime.env_of(&start.plan);
    env.push((SESSION.into(), OsString::from(&start.session)));
    if start.resumed {
        env.push((RESUMED.into(), "1".into()));
    }
    env
}
