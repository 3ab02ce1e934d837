//! Collects the facts that `doctor` reports. A failed lookup is reported as a fact too and does not end the command.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::join_all;
use loopkeeper_agent::LoopMode;
use loopkeeper_agent::catalog::{CATALOG, KnownAgent};
use loopkeeper_agent::kind::{AgentKind, Dialect};
use loopkeeper_agent::login::{LoginState, detect_login};
use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::settings::{AgentSettings, ResolvedSettings, SettingOverride, Settings, resolve};
use loopkeeper_task as task;
use loopkeeper_text::message::HintedError as _;
use loopkeeper_text::{sanitize, tr};
use loopkeeper_view::doctor::{
    AgentFacts, AgentVersion, DoctorFacts, DoctorProblem, MachineFacts, SandboxFacts, SandboxKind,
    SelectedAgent, StateFacts, TaskFacts, TasksFacts, WorkspaceFacts, version_in,
};
use loopkeeper_view::probe::ALLOWED_COMMAND;

use loopkeeper_keeper::run_context::{
    extend_env, limit_network, limit_resources, uninstalled_warden, warden_program,
};
use loopkeeper_operations::current_tree::current_folder;
use loopkeeper_operations::failure::{Failure, FailureKind};
use loopkeeper_operations::resolved_task::{MAX_LISTED, ResolvedTask};
use loopkeeper_operations::{self as operations, installed};
use loopkeeper_system::agents::{self, AgentQuery};
use loopkeeper_system::config_text::ConfigFileError;
use loopkeeper_system::disk_room::write_protection;
use loopkeeper_system::env::{EnvAudience, scrubbed_env};
use loopkeeper_system::host_info::{self, LoginTraces};
use loopkeeper_system::host_proxy::HostProxy;
use loopkeeper_system::sandbox::{Isolation, has_bubblewrap};
use loopkeeper_system::state_dir::{StateDir, StateError};
use loopkeeper_system::trust::TrustStore;
use loopkeeper_system::work_trees::OtherWorkTrees;
use loopkeeper_system::{config_files, program_versions, task_files};

/// The context of all lookups.
pub(super) struct FactContext {
    pub(super) root: PathBuf,
    pub(super) path: OsString,
    pub(super) resolved: Arc<ResolvedSettings>,
    /// The configuration file that could not be read.
    pub(super) unreadable: Option<ConfigFileError>,
    /// The defaults if the configuration is invalid or unreadable.
    pub(super) settings: Arc<Settings>,
    state: Result<StateDir, StateError>,
    pub(super) domain: Isolation,
    sandbox: SandboxFacts,
}

impl FactContext {
    pub(super) fn from_current_dir(arguments: &[SettingOverride]) -> Result<Self, Failure> {
        let root = config_files::root_of(&current_folder()?)?;
        let (resolved, unreadable) = match config_files::load(&root, arguments) {
            Ok(resolved) => (resolved, None),
            Err(error) => (Arc::new(resolve(&[], arguments)), Some(error)),
        };
        let settings = resolved.settings().cloned().unwrap_or_default();
        let state = StateDir::open();
        let warden = state.as_ref().map_or_else(|_| uninstalled_warden(), warden_program);
        let wanted = settings.sandbox;
        let detected = Isolation::detect(wanted, &warden).and_then(|it| limit_network(it, &settings));
        let detected = detected.map(|it| limit_resources(it, &settings));
        let (domain, sentence) = match detected {
            Ok(domain) => (domain.clone(), domain.sentence()),
            Err(error) => (Isolation::unlimited(&warden), error.to_string()),
        };
        let kind = match domain {
            Isolation::PidNamespace { .. } => SandboxKind::Namespaces,
            Isolation::Landlock { .. } => SandboxKind::Landlock,
            Isolation::Subreaper { .. } => SandboxKind::Nothing,
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_network_open = domain.network().is_open();
        let sandbox =
            SandboxFacts { wanted, kind, is_network_open, has_bubblewrap: has_bubblewrap(), sentence };
        Ok(Self { root, path, resolved, unreadable, settings, state, domain, sandbox })
    }

    pub(super) fn facts(&self) -> Result<DoctorFacts, Failure> {
        Ok(DoctorFacts {
            agents: self.agents(None)?,
            chosen: self.agent_start().map_err(|it| doctor_problem(&it)),
            machine: self.machine()?,
            workspace: self.workspace(),
        })
    }

    fn agent_start(&self) -> Result<SelectedAgent, Failure> {
        let Settings { mode, agent, .. } = &*self.settings;
        if *mode == LoopMode::Attach {
            let plan = operations::agents::attached_plan(agent)?;
            let attachable = operations::agents::ensure_attachable(self.hooks_disabled_in(&plan).as_deref());
            let silent = attachable.and_then(|()| installed::ensure_installed(&self.root)).err();
            return Ok(SelectedAgent::Session { silent: silent.map(|it| doctor_problem(&it)) });
        }
        let plan = agents::plan_agent(&self.agent_query(agent))?;
        if *mode == LoopMode::Hook {
            operations::agents::ensure_holdable(&plan, self.hooks_disabled_in(&plan).as_deref())?;
        }
        let kind = self.kind(&plan.name);
        Ok(SelectedAgent::Agent { name: plan.name, kind, mode: *mode })
    }

    /// All agents that are known here, or the one of this name.
    pub(super) fn agents(&self, only: Option<&str>) -> Result<Vec<AgentFacts>, Failure> {
        let is_selected = |name: &str| only.is_none_or(|it| it == name);
        let traces = LoginTraces::new(self.environment());
        let known = CATALOG.iter().filter(|it| is_selected(it.name)).map(|it| self.known_agent(it, &traces));
        let own = self
            .settings
            .agents
            .iter()
            .filter(|it| is_selected(&it.name) && is_own(it))
            .map(|it| self.custom_agent(it));
        let mut found: Vec<AgentFacts> = known.chain(own).collect();
        let asked = found.iter().map(|it| async {
            match (&it.version, &it.program) {
                (AgentVersion::NotAsked(why), Some(program)) if why.is_empty() => self.version(program).await,
                (version, _) => version.clone(),
            }
        });
        let versions = block_on(join_all(asked))?;
        for (agent, version) in found.iter_mut().zip(versions) {
            agent.version = version;
        }
        Ok(found)
    }

    fn agent_query<'a>(&'a self, agent: &'a str) -> AgentQuery<'a> {
        AgentQuery {
            agent,
            agents: &self.settings.agents,
            root: &self.root,
            criteria: &[],
            path: &self.path,
            is_root: rustix::process::geteuid().is_root(),
            env_set: &self.settings.env_set,
            committer: self.settings.git.commit,
        }
    }

    /// The plan of the selected agent, which may run the commands of a probe.
    pub(super) fn probe_plan(&self) -> Result<AgentPlan, Failure> {
        let criteria = task::parse_inline_task("", &[format!("It waits: `$ {ALLOWED_COMMAND}`")]).criteria;
        Ok(agents::plan_agent(&AgentQuery { criteria: &criteria, ..self.agent_query(&self.settings.agent) })?)
    }

    pub(super) fn state(&self) -> Result<&StateDir, Failure> {
        self.state.as_ref().map_err(|error| Failure::from_message(FailureKind::Broken, error.to_message()))
    }

    /// The kind of agent whose command line and output format this one has.
    pub(super) fn kind(&self, name: &str) -> AgentKind {
        let written = self.settings.agents.iter().find(|it| it.name == name);
        AgentKind::from_name(name, written.map_or(Dialect::Text, |it| it.output))
    }

    /// The place where the hooks of this agent are disabled.
    pub(super) fn hooks_disabled_in(&self, plan: &AgentPlan) -> Option<String> {
        agents::disabled_hooks::find_source(plan, &self.root, &self.agent_environment(plan))
    }

    /// Whether the agent is a command of the user.
    pub(super) fn is_own(&self, name: &str) -> bool {
        self.settings.agents.iter().any(|it| it.name == name && is_own(it))
    }

    /// The environment that a loop starts the agent with.
    pub(super) fn agent_environment(&self, plan: &AgentPlan) -> Vec<(OsString, OsString)> {
        let mut env = self.environment();
        for (name, value) in plan.kind().environment() {
            if !env.iter().any(|(known, _)| known == name) {
                env.push((name.into(), value.into()));
            }
        }
        extend_env(&mut env, plan.env.iter().map(|(name, value)| (name.into(), value.into())).collect());
        extend_env(&mut env, self.domain.network().proxy().map(HostProxy::environment).unwrap_or_default());
        env
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let settings = &self.settings;
        scrubbed_env(EnvAudience::Agent, &settings.env_pass, &settings.env_set, std::env::vars_os())
    }

    fn known_agent(&self, known: &KnownAgent, traces: &LoginTraces) -> AgentFacts {
        let written = self.settings.agents.iter().find(|it| it.name == known.name && !it.command.is_empty());
        let version = AgentVersion::NotAsked(match written {
            // With other arguments the command may be any program, even one of the workspace.
            Some(_) => tr!("its command comes from the configuration").to_owned(),
            None => String::new(),
        });
        let program = match written {
            Some(_) => agents::plan_agent(&self.agent_query(known.name))
                .ok()
                .and_then(|it| it.argv.into_iter().next()),
            None => {
                agents::find_program(known.program, &self.path, &self.root).map(|it| it.display().to_string())
            }
        };
        AgentFacts {
            name: known.name.to_owned(),
            title: known.title.to_owned(),
            program,
            version,
            login: detect_login(known, traces),
            hooks_disabled_in: agents::plan_agent(&self.agent_query(known.name))
                .ok()
                .and_then(|it| self.hooks_disabled_in(&it)),
            own: false,
        }
    }

    /// Found but not started, because its behaviour without its arguments is unknown.
    fn custom_agent(&self, agent: &AgentSettings) -> AgentFacts {
        let plan = agents::plan_agent(&self.agent_query(&agent.name)).ok();
        AgentFacts {
            name: agent.name.clone(),
            title: agent.name.clone(),
            program: plan.and_then(|it| it.argv.into_iter().next()),
            version: AgentVersion::NotAsked(tr!("a command of your own is not started to ask").to_owned()),
            login: LoginState::Unknown,
            hooks_disabled_in: None,
            own: true,
        }
    }

    async fn version(&self, program: &str) -> AgentVersion {
        match program_versions::query_version(program, self.environment(), &self.domain).await {
            Ok(answer) => version_in(&answer)
                .map_or_else(|| AgentVersion::Failed(tr!("it reported none").to_owned()), AgentVersion::Told),
            Err(why) => AgentVersion::Failed(why),
        }
    }

    fn machine(&self) -> Result<MachineFacts, Failure> {
        let git = agents::find_program("git", &self.path, &self.root)
            .ok_or_else(|| tr!("it is not on PATH").to_owned());
        let git = git.map(|it| it.display().to_string());
        let git = match git {
            Ok(program) => {
                block_on(program_versions::query_version(&program, self.environment(), &self.domain))?
                    .map(|it| sanitize::line(it.trim()))
            }
            Err(why) => Err(why),
        };
        Ok(MachineFacts {
            git,
            sandbox: self.sandbox.clone(),
            watches: host_info::max_user_watches(),
            watcher: host_info::check_watcher(),
            state: state_facts(&self.state),
        })
    }

    fn workspace(&self) -> WorkspaceFacts {
        let tasks = match &self.unreadable {
            Some(error) => Some(Err(DoctorProblem {
                what: sanitize::line(&error.to_string()),
                hint: error.hint().unwrap_or_default(),
            })),
            None => {
                self.resolved.settings().is_ok().then(|| self.tasks_facts().map_err(|it| doctor_problem(&it)))
            }
        };
        WorkspaceFacts {
            root: sanitize::line(&self.root.to_string_lossy()),
            is_repository: self.root.ancestors().any(config_files::has_repository),
            work_trees: OtherWorkTrees::new(&self.root).paths(),
            config: self.resolved.findings().to_vec(),
            tasks,
        }
    }

    fn tasks_facts(&self) -> Result<TasksFacts, Failure> {
        let settings = &self.settings;
        let found = task_files::discover(&self.root, &settings.task_exclude, &settings.task_files)?;
        let examined =
            found.iter().take(MAX_LISTED).map(|it| Ok(self.task_facts(&ResolvedTask::at(&self.root, it)?)));
        let examined = examined.collect::<Result<Vec<TaskFacts>, Failure>>()?;
        let further = found.len().saturating_sub(MAX_LISTED) as u64;
        Ok(TasksFacts { examined, further })
    }

    fn task_facts(&self, work: &ResolvedTask) -> TaskFacts {
        let examined = operations::trust::known_items(work, |_| ()).and_then(|items| {
            work.refuse_unready()?;
            Ok(self
                .state
                .as_ref()
                .map_or(items.len(), |it| TrustStore::open(it).untrusted_items(&work.root, &items).len()))
        });
        let (untrusted, broken) = match examined {
            Ok(untrusted) => (untrusted as u64, None),
            Err(failure) => (0, Some(doctor_problem(&failure))),
        };
        TaskFacts { id: sanitize::line(&work.id.0), untrusted, broken }
    }
}

/// An environment without keys, and with this home only.
pub(super) fn bare_environment(home: PathBuf) -> Vec<(OsString, OsString)> {
    let mut env = scrubbed_env(EnvAudience::Check, &[], &[], std::env::vars_os());
    env.retain(|(name, _)| name != "HOME" && !name.to_string_lossy().starts_with("XDG_"));
    env.push(("HOME".into(), home.into()));
    env
}

fn is_own(agent: &AgentSettings) -> bool {
    agent.name != "demo" && CATALOG.iter().all(|it| it.name != agent.name)
}

fn state_facts(state: &Result<StateDir, StateError>) -> Result<StateFacts, DoctorProblem> {
    let problem = |error: &StateError| DoctorProblem {
        what: error.to_string(),
        hint: error.hint().unwrap_or_default(),
    };
    let root = state.as_ref().map_err(problem)?.root();
    let unusable = |what: String| DoctorProblem {
        what,
        hint: tr!("set LOOPKEEPER_STATE_DIR to a folder of yours on a local disk").to_owned(),
    };
    let facts = host_info::inspect_folder(root)
        .map_err(|error| unusable(tr!("cannot inspect {root}: {error}", root = root.display(), error)))?;
    if let Some(protection) = write_protection(root) {
        return Err(unusable(protection));
    }
    Ok(StateFacts { path: root.display().to_string(), mode: facts.mode, free: facts.free })
}

fn doctor_problem(failure: &Failure) -> DoctorProblem {
    let (what, hint) = failure.message.clone().into_parts();
    DoctorProblem { what, hint: hint.unwrap_or_default() }
}

pub(super) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    Ok(loopkeeper_keeper::block_on(work)?)
}
