//! Adds the arguments and environment variables that make the agent's hooks call loopkeeper. The user's configuration
//! is not changed.

use loopkeeper_text::tr;
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::Path;

use loopkeeper_agent::hooks::{HookMechanism, hook_command};
use loopkeeper_agent::{LoopMode, claude, codex, gemini};
use loopkeeper_core::journal::AgentPlan;

use super::IterationStart;
use crate::loop_context::LoopContext;
use crate::private_file;
use crate::run_context::{EnvVars, RunContext, env_value};
use loopkeeper_system::agents::shadow_home;
use loopkeeper_system::env::SOCKET;
use loopkeeper_system::process::orphans;
use loopkeeper_system::regular_file;

const STOP_EVENT: &str = "stop";

/// Hook configuration for one start of the agent.
#[derive(Debug)]
pub(super) struct HookInjection {
    mode: LoopMode,
    mechanism: Option<HookMechanism>,
    /// The loopkeeper program that the hooks call.
    program: String,
    budget_micros: Option<u64>,
    pub(super) env: EnvVars,
}

impl HookInjection {
    /// The error explains why hooks are not available although the mode needs them.
    pub(super) fn new(context: &LoopContext, start: &IterationStart, env: &EnvVars) -> Result<Self, String> {
        let runtime = &context.runtime;
        let mode = runtime.spec.settings.mode;
        let program = own_program(runtime);
        let mechanism = start.plan.kind().stop_hook_mechanism().filter(|_| program.is_some());
        let mut injection = Self {
            mode,
            mechanism,
            program: program.unwrap_or_default(),
            budget_micros: start.budget_micros.filter(|_| mode == LoopMode::Hook),
            env: EnvVars::new(),
        };
        if mode == LoopMode::Hook && mechanism == Some(HookMechanism::Home) {
            let hook = hook_command(&injection.program, STOP_EVENT);
            injection.env = create_agent_home(&context.dir.home(), env, &hook, &[orphans::ENV_LOOP, SOCKET])?;
        }
        Ok(injection)
    }

    /// Adds our hooks to the command line.
    pub(super) fn with_hooks(&self, argv: Vec<String>) -> Vec<String> {
        match self.mechanism {
            Some(HookMechanism::Settings) => self.with_claude_hooks(argv),
            Some(HookMechanism::Overrides) if self.mode == LoopMode::Hook => {
                codex::hooks::inject_stop_hook(argv, &hook_command(&self.program, STOP_EVENT))
            }
            Some(HookMechanism::Overrides | HookMechanism::Home | HookMechanism::ByItself) | None => argv,
        }
    }

    fn with_claude_hooks(&self, argv: Vec<String>) -> Vec<String> {
        let argv = claude::hooks::inject_hooks(argv, &self.program, self.mode);
        match self.budget_micros {
            Some(left) => claude::hooks::within_budget(argv, left),
            None => argv,
        }
    }
}

/// Creates a home folder for an agent that reads its hooks there: the existing configuration plus our hook. Returns the
/// environment variables that point to it. `passed`: variables that the hook needs.
pub fn create_agent_home(home: &Path, env: &EnvVars, hook: &str, passed: &[&str]) -> Result<EnvVars, String> {
    use gemini::hooks::{FOLDER, HOME, SETTINGS};
    let variable = |name: &str| env_value(env, name).filter(|it| !it.is_empty());
    let theirs = Path::new(variable(HOME).or_else(|| variable("HOME")).unwrap_or_default()).join(FOLDER);
    let file = theirs.join(SETTINGS);
    let unread =
        |what: String| tr!("{file} {what}, and the stop hook is added to it", file = file.display(), what);
    let text = match regular_file::open(&file).and_then(io::read_to_string) {
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            return Err(unread(tr!("is not a regular file").to_owned()));
        }
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(unread(tr!("cannot be read: {error}", error)));
        }
        text => text.unwrap_or_default(),
    };
    let ours = gemini::hooks::settings_with_hook(&text, hook, passed)
        .ok_or_else(|| unread(tr!("contains no settings").to_owned()))?;
    let made = shadow_home::populate_shadow_home(&theirs, &home.join(FOLDER), SETTINGS)
        .and_then(|()| private_file(&home.join(FOLDER).join(SETTINGS), ours.as_bytes()));
    made.map_err(|error| tr!("could not write below {path}: {error}", path = home.display(), error))?;
    Ok(vec![(HOME.into(), home.into())])
}

/// How often the stop hook can hold one process.
pub(super) fn max_stop_holds(runtime: &RunContext, plan: &AgentPlan) -> Option<u32> {
    (is_claude(plan) && runtime.spec.settings.mode == LoopMode::Hook)
        .then(|| block_cap(&runtime.env_of(plan)))
}

/// Whether the agent calls a hook before it starts a subagent.
pub(super) fn asks_before_subagent(runtime: &RunContext, plan: &AgentPlan) -> bool {
    is_claude(plan) && claude::hooks::can_inject_hooks(&plan.argv) && own_program(runtime).is_some()
}

fn block_cap(env: &EnvVars) -> u32 {
    let variable = env_value(env, claude::hooks::BLOCK_CAP_VARIABLE).and_then(OsStr::to_str);
    variable.and_then(|it| it.parse().ok()).unwrap_or(claude::hooks::DEFAULT_BLOCK_CAP)
}

/// Decided by the kind of program: others with Claude-compatible output may not accept its arguments.
fn is_claude(plan: &AgentPlan) -> bool {
    plan.kind().stop_hook_mechanism() == Some(HookMechanism::Settings)
}

/// The program that wardens are started from, which answers hooks like `loopkeeper` and starts faster.
fn own_program(runtime: &RunContext) -> Option<String> {
    let program = runtime.agent_domain.warden();
    let program =
        if program.starts_with("/proc") { std::env::current_exe().ok()? } else { program.to_owned() };
    program.into_os_string().into_string().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use loopkeeper_agent::gemini::hooks::{FOLDER, SETTINGS};
    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::create_agent_home;

    #[test]
    fn a_pipe_as_settings_of_an_agent_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join(FOLDER).join(SETTINGS);
        fs::create_dir_all(settings.parent().unwrap()).unwrap();
        let env = vec![("HOME".into(), folder.path().into())];
        let create = || create_agent_home(&folder.path().join("made"), &env, "hook", &[]).map(drop);
        assert_eq!(create(), Ok(()));
        mkfifoat(CWD, &settings, Mode::RUSR | Mode::WUSR).unwrap();
        let why = create().unwrap_err();
        assert!(why.contains("is not a regular file"), "{why}");
    }
}
