//! Makes the calls: starts the agent in its folder and observes it from outside until all its processes have ended.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopkeeper_agent::argv::{self, PlaceholderValues};
use loopkeeper_agent::hooks::HookMechanism;
use loopkeeper_agent::kind::Dialect;
use loopkeeper_agent::provider::LocalClock;
use loopkeeper_agent::reader::{AgentOutputReader, ProcessEnd};
use loopkeeper_agent::{LoopMode, PromptBy, claude, codex};
use loopkeeper_core::decide::CallSlot;
use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::settings::LimitSettings;
use loopkeeper_text::redact::Redactor;
use loopkeeper_text::tr;
use loopkeeper_view::probe::{
    HookDelivery, KnownHookState, Observation, Probe, ProbeAnswer, ProbeNonces, ProbeObservations,
    ProbeQuestion, ProbeScenario, build_scenario, judge_calls,
};
use uuid::Uuid;

use super::super::facts::{FactContext, bare_environment};
use super::call_observation::{ProbeLimits, ProbeSignals, watch};
use crate::failure::{Failure, note};
use loopkeeper_keeper::acp;
use loopkeeper_keeper::run_context::{EnvVars, extend_env, text_variables};
use loopkeeper_keeper::{agent, calls};
use loopkeeper_system::agents::hook_conflict;
use loopkeeper_system::calls::CallRequest;
use loopkeeper_system::env::{RESUMED, SESSION};
use loopkeeper_system::process::{Job, StdinSource};
use loopkeeper_system::scratch::{self, ScratchDir, ScratchSnapshot};
use loopkeeper_system::trust::permit::ApprovedInput;

/// Maximum duration of a call, regardless of the iteration limit.
const CALL_TIMEOUT: Duration = Duration::from_secs(300);
/// An agent that has to fail does so before this, or it retries indefinitely.
const FAILURE_TIMEOUT: Duration = Duration::from_secs(30);
/// Time between TERM and KILL.
const GRACE: Duration = Duration::from_secs(10);

/// An agent with everything its calls need.
pub(super) struct ProbeRunner<'a> {
    context: &'a FactContext,
    plan: AgentPlan,
    scratch: ScratchDir,
    words: ProbeNonces,
    redactor: Redactor,
    /// Session id of the first call.
    session: String,
    /// Id under which its calls are recorded in the user's list.
    caller: String,
    starts: usize,
    interrupts: ProbeSignals,
}

/// The observations of all calls.
pub(super) struct ProbeRun {
    /// The plan, with the way of passing the prompt that worked.
    pub(super) plan: AgentPlan,
    pub(super) words: ProbeNonces,
    pub(super) calls: ProbeObservations,
    /// Number of starts.
    pub(super) starts: usize,
}

impl<'a> ProbeRunner<'a> {
    /// Requires a runtime.
    pub(super) fn new(context: &'a FactContext, plan: AgentPlan) -> Result<Self, Failure> {
        let secrets = text_variables(std::env::vars_os().chain(context.agent_environment(&plan)));
        Ok(Self {
            context,
            plan,
            scratch: ScratchDir::new()?,
            words: ProbeNonces::new(Uuid::new_v4().as_u64_pair().0),
            redactor: Redactor::from_env(secrets),
            session: Uuid::new_v4().to_string(),
            caller: format!("probe-{}", Uuid::new_v4().simple()),
            starts: 0,
            interrupts: ProbeSignals::listen()?,
        })
    }

    /// Makes every call in order; stops at an agent that does not even answer. `None` if the user interrupted it and
    /// all processes of the agent have ended.
    pub(super) async fn run_all(mut self) -> Result<Option<ProbeRun>, Failure> {
        let calls = self.run_each().await?;
        if self.interrupts.were_received() {
            return Ok(None);
        }
        Ok(Some(ProbeRun { plan: self.plan, words: self.words, calls, starts: self.starts }))
    }

    async fn run_each(&mut self) -> Result<ProbeObservations, Failure> {
        let mut calls = ProbeObservations::new();
        let mut folders = BTreeMap::new();
        for (at, probe) in Probe::ALL.into_iter().enumerate() {
            if let Some(settled) = known_hook_state(self.context, &self.plan).filter(|_| probe == Probe::Hook)
            {
                calls.insert(probe, Observation { settled: Some(settled), ..Observation::default() });
                continue;
            }
            note(format_args!("{}/{} {}", at + 1, Probe::ALL.len(), probe.title()));
            let Some(mut seen) = self.call(probe, &mut folders).await? else { break };
            if probe == Probe::Answer {
                seen = self.retry_with_argument(seen, &mut folders).await?;
                if let Some(session) = session(&self.plan, &seen) {
                    self.session = session;
                }
            }
            calls.insert(probe, seen);
            if self.interrupts.were_received() {
                break;
            }
            if probe == Probe::Answer && !has_answered(&calls, &self.words) {
                note(tr!("It does not answer: the remaining calls are skipped."));
                break;
            }
        }
        Ok(calls)
    }

    /// A command without a configured way of passing the prompt may take it as its last argument.
    async fn retry_with_argument(
        &mut self,
        seen: Observation,
        folders: &mut ProbeFolders,
    ) -> Result<Observation, Failure> {
        let first: ProbeObservations = [(Probe::Answer, seen.clone())].into();
        let is_text = self.plan.dialect != Dialect::Acp && self.plan.prompt == PromptBy::Stdin;
        let is_open = is_text && self.context.is_own(&self.plan.name);
        let is_over = has_answered(&first, &self.words) || self.interrupts.were_received();
        if is_over || !is_open || seen.not_started.is_some() {
            return Ok(seen);
        }
        note(tr!("It did not answer: trying again with the prompt as an argument."));
        let by_stdin = self.plan.clone();
        self.plan.prompt = PromptBy::Argument;
        self.plan.argv.push("{prompt}".to_owned());
        folders.clear();
        self.session = Uuid::new_v4().to_string();
        let again = self.call(Probe::Answer, folders).await?;
        let is_it = |it: &Observation| has_answered(&[(Probe::Answer, it.clone())].into(), &self.words);
        Ok(again.filter(is_it).unwrap_or_else(|| {
            self.plan = by_stdin;
            seen
        }))
    }

    /// `None` if no call is left in this hour.
    async fn call(
        &mut self,
        probe: Probe,
        folders: &mut ProbeFolders,
    ) -> Result<Option<Observation>, Failure> {
        if !self.charge().await? {
            return Ok(None);
        }
        self.starts += 1;
        let folder = match probe.predecessor().and_then(|it| folders.get(&it)) {
            Some(folder) => folder.clone(),
            None => self.scratch.repository(&Uuid::new_v4().to_string())?,
        };
        let hook_by = self.hook_mechanism().filter(|_| probe == Probe::Hook);
        let delivery = if hook_by.is_some() { HookDelivery::HookMode } else { HookDelivery::FolderFiles };
        let scenario = build_scenario(probe, &self.words, &folder.to_string_lossy(), delivery);
        if probe.predecessor().is_none() {
            scratch::write_files(&folder, &scenario.files)?;
        }
        let job = self.job(probe, &scenario, &folder)?;
        let before = ScratchSnapshot::capture(&folder);
        let limits = ProbeLimits {
            domain: &self.context.domain,
            call_timeout: self.call_timeout(probe),
            steps: self.context.settings.limits.steps,
            dialect: self.plan.dialect,
            stop_at: scenario.stop_at.map(|it| folder.join(it)),
        };
        let mut seen = watch(&job, &limits, &mut self.interrupts).await;
        let after = ScratchSnapshot::capture(&folder);
        seen.written = after.written_since(&before);
        seen.files = after.contents();
        seen.hook_by = hook_by;
        seen.stdout = self.redactor.redact(&seen.stdout);
        seen.stderr = self.redactor.redact(&seen.stderr);
        folders.insert(probe, folder);
        Ok(Some(seen))
    }

    /// Each start counts as a call of this hour, like those of loops.
    async fn charge(&self) -> Result<bool, Failure> {
        let request = CallRequest {
            loop_id: self.caller.clone(),
            iteration: self.starts as u32 + 1,
            limit: self.context.settings.limits.calls_per_hour,
        };
        match calls::wait_for_slot(&self.context.state()?.calls(), &request).await {
            CallSlot::Taken { .. } => Ok(true),
            CallSlot::Full { .. } => {
                note(tr!("The hourly call limit is reached: no more calls are made."));
                Ok(false)
            }
            // The reason was printed before, and a probe makes few calls.
            CallSlot::Unknown { .. } => Ok(true),
        }
    }

    fn job(&self, probe: Probe, scenario: &ProbeScenario, folder: &Path) -> Result<Job, Failure> {
        let resumed = probe == Probe::Recall;
        let session = match probe {
            Probe::Answer | Probe::Recall => self.session.clone(),
            _ => Uuid::new_v4().to_string(),
        };
        let prompt_file = self.scratch.path().join(format!("{}.md", Uuid::new_v4()));
        std::fs::write(&prompt_file, &scenario.prompt)?;
        let argv =
            if resumed { self.plan.kind().resume_argv(&self.plan.argv) } else { self.plan.argv.clone() };
        let file = prompt_file.to_string_lossy();
        let mut argv = argv::fill_placeholders(
            &argv,
            PlaceholderValues { session: &session, prompt: &scenario.prompt, prompt_file: &file },
        );
        let mut env =
            if probe == Probe::Bare { self.bare_env()? } else { self.context.agent_environment(&self.plan) };
        env.push((SESSION.into(), session.into()));
        if resumed {
            env.push((RESUMED.into(), "1".into()));
        }
        if let Some(hook) = &scenario.hook {
            self.install_hook(hook, &mut argv, &mut env)?;
        }
        let argv =
            agent::extract_settings(&self.plan, argv, &prompt_file).map_err(|it| Failure::ended(&it))?;
        let stdin = if self.plan.prompt == PromptBy::Stdin {
            StdinSource::File(prompt_file)
        } else {
            StdinSource::Null
        };
        Ok(Job {
            argv: ApprovedInput::from_user_input(acp::bridge_argv(
                self.context.domain.warden(),
                self.plan.dialect,
                LoopMode::Loop,
                argv,
            )),
            cwd: folder.to_owned(),
            env,
            stdin,
            grace: GRACE,
            output: None,
        })
    }

    /// The way in which hook mode would configure the hook, if there is one.
    fn hook_mechanism(&self) -> Option<HookMechanism> {
        let is_passed = |it: &HookMechanism| match it {
            HookMechanism::Settings | HookMechanism::Overrides | HookMechanism::Home => true,
            HookMechanism::ByItself => false,
        };
        let has_place = hook_conflict(&self.plan).is_none();
        self.plan.kind().stop_hook_mechanism().filter(is_passed).filter(|_| has_place)
    }

    fn install_hook(&self, hook: &str, argv: &mut Vec<String>, env: &mut EnvVars) -> Result<(), Failure> {
        match self.hook_mechanism() {
            Some(HookMechanism::Settings) => *argv = claude::hooks::with_stop(std::mem::take(argv), hook),
            Some(HookMechanism::Overrides) => {
                *argv = codex::hooks::inject_stop_hook(std::mem::take(argv), hook);
            }
            Some(HookMechanism::Home) => {
                let home = self.scratch.folder(&Uuid::new_v4().to_string())?;
                extend_env(
                    env,
                    agent::create_agent_home(&home, env, hook, &[]).map_err(|it| Failure::ended(&it))?,
                );
            }
            Some(HookMechanism::ByItself) | None => {}
        }
        Ok(())
    }

    /// No keys, and a home without a login; our bridge still needs its variable.
    fn bare_env(&self) -> Result<EnvVars, Failure> {
        let mut env = bare_environment(self.scratch.folder(&Uuid::new_v4().to_string())?);
        env.extend(self.plan.kind().environment().iter().map(|(name, value)| (name.into(), value.into())));
        let ours = self.plan.env.iter().filter(|(name, _)| name == acp::VARIABLE);
        env.extend(ours.map(|(name, value)| (name.into(), value.into())));
        Ok(env)
    }

    fn call_timeout(&self, probe: Probe) -> Duration {
        let call_timeout = call_timeout(&self.context.settings.limits);
        if probe == Probe::Bare { call_timeout.min(FAILURE_TIMEOUT) } else { call_timeout }
    }
}

/// The state of the stop hook, if known without a call: the number of calls is reported before the first.
pub(super) fn known_hook_state(context: &FactContext, plan: &AgentPlan) -> Option<KnownHookState> {
    if plan.dialect == Dialect::Acp {
        return Some(KnownHookState::ByProtocol);
    }
    context.hooks_disabled_in(plan).map(KnownHookState::DisabledIn)
}

pub(super) fn call_count(context: &FactContext, plan: &AgentPlan) -> usize {
    Probe::ALL.len() - usize::from(known_hook_state(context, plan).is_some())
}

/// Maximum duration of one call.
pub(super) fn call_timeout(limits: &LimitSettings) -> Duration {
    CALL_TIMEOUT.min(Duration::from_millis(limits.iteration_ms))
}

/// The folder of each call.
type ProbeFolders = BTreeMap<Probe, PathBuf>;

fn has_answered(calls: &ProbeObservations, words: &ProbeNonces) -> bool {
    judge_calls(calls, words)
        .iter()
        .any(|it| it.question == ProbeQuestion::Prompt && it.answer == ProbeAnswer::Yes)
}

/// The session id that the agent reported.
fn session(plan: &AgentPlan, seen: &Observation) -> Option<String> {
    let mut reader = AgentOutputReader::new(plan.dialect);
    for line in seen.stdout.lines() {
        reader.read_line(line);
    }
    reader.finish(ProcessEnd::exited(seen.exit), &LocalClock::utc(0)).session
}
