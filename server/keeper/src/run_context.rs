//! The context in which checks and agents run: root, isolation, environments, snapshot store. Shared by loops and by
//! check rounds without a loop.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::iter::once_with;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use loopkeeper_agent::claude::hooks;
use loopkeeper_agent::claude::start::SANDBOXED;
use loopkeeper_agent::kind::AgentKind;
use loopkeeper_agent::{LoopMode, PermissionMode};
use loopkeeper_core::journal::{AgentPlan, LoopSpec, PauseReason};
use loopkeeper_core::network::host_list::HostList;
use loopkeeper_core::settings::{SandboxMode, Settings};
use loopkeeper_text::message::{HintedError as _, Message};
use loopkeeper_text::redact::Redactor;
use loopkeeper_text::tr;

use super::KeeperError;
use loopkeeper_system::config_files;
use loopkeeper_system::env::{EnvAudience, SOCKET, scrubbed_env};
use loopkeeper_system::git;
use loopkeeper_system::git::executed_files::hook_folders;
use loopkeeper_system::host_proxy::HostProxy;
use loopkeeper_system::loop_temporary::{self, LoopTemporary};
use loopkeeper_system::process::{WardenPool, orphans};
use loopkeeper_system::sandbox::{
    ClosedPaths, FileAccess, FileAccessRequest, Isolation, ResourceLimits, SandboxError,
};
use loopkeeper_system::snapshots::{SnapshotError, SnapshotStore};
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::binary::HelperBinary;
use loopkeeper_system::state_dir::workspace::Workspace;
use loopkeeper_system::trust::permit::{CheckOrigin, Permit};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Maximum duration of work with the snapshot store that is done without a thread.
const MAX_INLINE_TIME: Duration = Duration::from_millis(20);

pub type EnvVars = Vec<(OsString, OsString)>;

/// Sets variables, replacing existing ones.
pub fn extend_env(env: &mut EnvVars, more: EnvVars) {
    for (name, value) in more {
        env.retain(|(known, _)| *known != name);
        env.push((name, value));
    }
}

/// The value of a variable.
pub(super) fn env_value<'a>(env: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
}

/// Folders of a loop, or of a check round without one.
#[derive(Debug, Default)]
pub struct RunFolders {
    /// Outputs of checks.
    pub outputs: PathBuf,
    /// The home of agents that find our hooks there.
    pub agent_home: Option<PathBuf>,
    /// Absent where programs use the user's folder for temporary files.
    pub temporary: Option<LoopTemporary>,
}

#[derive(Clone)]
pub struct RunContext {
    pub spec: Rc<LoopSpec>,
    pub agent_domain: Rc<Isolation>,
    /// The isolation of `GET` requests, which only our own program sends: with the network.
    pub request_domain: Rc<Isolation>,
    /// The isolation of the user's own commands, which may use the user's services and files.
    pub user_domain: Rc<Isolation>,
    /// Separate pools, so that a warden compromised by an agent never runs a check.
    pub agent_wardens: WardenPool,
    pub check_wardens: WardenPool,
    /// The program that sends HTTP requests.
    pub request_program: Rc<Path>,
    pub agent_env: Rc<EnvVars>,
    pub check_env: Rc<EnvVars>,
    /// The environment of the user's own commands.
    pub user_env: Rc<EnvVars>,
    /// For temporary files of agents and checks.
    pub temporary: Option<LoopTemporary>,
    pub redactor: Rc<Redactor>,
    pub permit: Rc<Permit>,
    /// Authenticates the agent's hooks.
    pub token: Rc<str>,
    /// The control socket for the agent's hooks.
    socket: Rc<Path>,
    pub store: Arc<Mutex<SnapshotStore>>,
    /// Duration of the last work with the store.
    last_store_time: Rc<Cell<Duration>>,
    /// Folder of check outputs.
    pub outputs: PathBuf,
    /// List of the user's agent calls.
    pub calls: PathBuf,
}

impl RunContext {
    pub fn new(
        state: &StateDir,
        workspace: &Workspace,
        spec: LoopSpec,
        folders: RunFolders,
    ) -> Result<Self, KeeperError> {
        let checks = if spec.inline_prompt.is_some() { CheckOrigin::Typed } else { CheckOrigin::Written };
        let user_domain = Isolation::detect(spec.settings.sandbox, &warden_program(state))?;
        let request = file_access_request(state, workspace, &spec, &folders);
        let files = FileAccess::for_agents(&request, |name| std::env::var_os(name));
        let agent_domain = agent_isolation(&user_domain, files, &spec.settings)?;
        agent_domain.create_agent_folders(request.home.as_deref(), &request.agents);
        let check_domain = agent_domain.for_checks();
        let request_domain = check_domain.with_network();
        // Servers, their requests and the commands that use them have to reach each other.
        let check_domain = if spec.settings.serve.is_empty() { check_domain } else { request_domain.clone() };
        let token = uuid::Uuid::new_v4().simple().to_string();
        let socket = state.socket_dir().join(format!("{}.sock", spec.loop_id));
        let endpoint = HookEndpoint { token: &token, socket: &socket };
        let RunFolders { outputs, temporary, .. } = folders;
        let of_agents = agent_environment(&spec, &spec.agent, &agent_domain, temporary.as_ref());
        let user_env = check_environment(&spec, &check_domain, None);
        Ok(Self {
            agent_env: Rc::new(with_endpoint(of_agents, &spec, &endpoint)),
            check_env: Rc::new(check_environment(&spec, &check_domain, temporary.as_ref())),
            user_env: Rc::new(user_env),
            temporary,
            redactor: Rc::new(redactor(&spec)),
            store: Arc::new(Mutex::new(SnapshotStore::open(&workspace.snapshots(), workspace.root())?)),
            last_store_time: Rc::new(Cell::new(Duration::MAX)),
            outputs,
            calls: state.calls(),
            permit: Rc::new(Permit::new(state, workspace.root(), checks)),
            request_program: request_program(state).into(),
            token: token.into(),
            socket: socket.into(),
            agent_wardens: WardenPool::new(&agent_domain),
            check_wardens: WardenPool::new(&check_domain),
            agent_domain: Rc::new(agent_domain),
            request_domain: Rc::new(request_domain),
            user_domain: Rc::new(user_domain),
            spec: Rc::new(spec),
        })
    }

    /// The environment of an agent of the loop.
    pub(super) fn env_of(&self, plan: &AgentPlan) -> EnvVars {
        if plan.name == self.spec.agent.name {
            return self.agent_env.as_ref().clone();
        }
        let endpoint = HookEndpoint { token: &self.token, socket: &self.socket };
        with_endpoint(self.env_without_endpoint(plan), &self.spec, &endpoint)
    }

    /// The same without access to the control socket.
    pub(super) fn env_without_endpoint(&self, plan: &AgentPlan) -> EnvVars {
        agent_environment(&self.spec, plan, &self.agent_domain, self.temporary.as_ref())
    }

    /// The agent of this name, including values stored only in the loop's folder.
    pub(super) fn agent(&self, name: &str) -> AgentPlan {
        self.spec.agents().find(|it| it.name == name).unwrap_or(&self.spec.agent).clone()
    }

    /// What agents cannot access, to be found in their output.
    pub(super) fn closed_to_agents(&self) -> ClosedPaths {
        self.agent_domain.closed_paths(home().as_deref())
    }

    /// The same for checks.
    pub(super) fn closed_to_checks(&self) -> ClosedPaths {
        self.check_wardens.isolation().closed_paths(home().as_deref())
    }

    /// The hosts that the sandbox denied to agents since the last call.
    pub(super) fn hosts_denied_to_agents(&self) -> Vec<String> {
        self.agent_domain.network().proxy().map(HostProxy::take_denied).unwrap_or_default()
    }

    /// Ends idle wardens.
    pub(super) async fn dismiss_wardens(&self) {
        self.agent_wardens.shutdown().await;
        self.check_wardens.shutdown().await;
    }

    pub fn root(&self) -> PathBuf {
        PathBuf::from(&self.spec.root)
    }

    /// Runs work with the snapshot store: inline if the last work was fast, otherwise on a blocking thread. `work` may
    /// be started twice.
    pub async fn with_store<T: Send + 'static>(
        &self,
        work: impl Fn(&mut SnapshotStore) -> Result<T, SnapshotFailure> + Send + 'static,
    ) -> Result<T, SnapshotFailure> {
        let began = Instant::now();
        let done = if let Some(done) = self.try_inline(&work) {
            done
        } else {
            let store = Arc::clone(&self.store);
            let task = tokio::task::spawn_blocking(move || work(&mut *lock_store(&store)?));
            task.await.map_err(|error| SnapshotFailure::from(error.to_string()))?
        };
        self.last_store_time.set(began.elapsed());
        tracing::debug!(duration = ?self.last_store_time.get(), is_ok = done.is_ok(), "snapshot store used");
        done
    }

    /// The paths that differ between two trees.
    pub async fn changed_paths(&self, before: &str, after: &str) -> Result<Vec<String>, SnapshotFailure> {
        let (before, after) = (before.to_owned(), after.to_owned());
        self.with_store(move |store| Ok(store.changed_paths(&before, &after)?)).await
    }

    /// Runs `work` inline. `None` if it takes, or may take, long enough to block the event loop.
    fn try_inline<T>(
        &self,
        work: impl Fn(&mut SnapshotStore) -> Result<T, SnapshotFailure>,
    ) -> Option<Result<T, SnapshotFailure>> {
        if self.last_store_time.get() > MAX_INLINE_TIME {
            return None;
        }
        let mut store = self.store.try_lock().ok()?;
        store.set_time_limit(Some(MAX_INLINE_TIME));
        let done = work(&mut store);
        store.set_time_limit(None);
        Some(done).filter(|it| !it.as_ref().is_err_and(|it| it.is_late))
    }

    /// Runs work with the snapshot store inline, for moments in which no event has to be handled.
    pub fn with_store_now<T>(
        &self,
        work: impl FnOnce(&mut SnapshotStore) -> Result<T, SnapshotFailure>,
    ) -> Result<T, SnapshotFailure> {
        work(&mut *lock_store(&self.store)?)
    }
}

pub(super) fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|it| it.is_absolute())
}

fn agent_isolation(
    found: &Isolation,
    files: FileAccess,
    settings: &Settings,
) -> Result<Isolation, SandboxError> {
    let isolation = limit_network(found.clone().with_files(settings.sandbox, files)?, settings)?;
    Ok(limit_resources(isolation, settings))
}

/// The same with the limits of memory and processes in the settings.
pub fn limit_resources(isolation: Isolation, settings: &Settings) -> Isolation {
    let (memory, processes) = (settings.sandbox_memory, Some(settings.sandbox_processes));
    isolation.with_resources(ResourceLimits { memory, processes })
}

/// The same without a network or with a limited one, if the settings say so.
pub fn limit_network(isolation: Isolation, settings: &Settings) -> Result<Isolation, SandboxError> {
    if settings.sandbox_network {
        return Ok(isolation);
    }
    let hosts = HostList::parse(&settings.sandbox_hosts);
    if hosts.is_empty() {
        isolation.without_network(settings.sandbox)
    } else {
        isolation.with_hosts(settings.sandbox, hosts)
    }
}

/// Points the clients of a job to the proxy of its sandbox, whatever the user's own proxy is.
fn add_proxy(env: &mut EnvVars, domain: &Isolation) {
    if let Some(proxy) = domain.network().proxy() {
        extend_env(env, proxy.environment());
    }
}

/// What the sandbox of this loop hides and protects. The rest of the state folder stays writable, because an agent may
/// run a loop of its own in another work tree.
fn file_access_request(
    state: &StateDir,
    workspace: &Workspace,
    spec: &LoopSpec,
    folders: &RunFolders,
) -> FileAccessRequest {
    let own = [state.trust(), state.bin_dir(), workspace.path().to_owned()];
    let settings = &spec.settings;
    let temporary = folders.temporary.iter().map(LoopTemporary::path);
    let git = git::common_dir(workspace.root());
    // Agents set a name for their commits there.
    let configuration = git.iter().filter(|_| settings.sandbox == SandboxMode::Required);
    FileAccessRequest {
        home: home(),
        root: workspace.root().to_owned(),
        protected: own
            .into_iter()
            .chain(config_files::user_folder())
            .chain(hook_folders(workspace.root(), home().as_deref()))
            .chain(configuration.map(|it| it.join("config")))
            .collect(),
        writable: folders
            .agent_home
            .iter()
            .map(PathBuf::as_path)
            .chain(temporary)
            .map(Path::to_owned)
            .collect(),
        agents: spec.agents().filter_map(|it| it.kind().known_kind()).collect(),
        allow: settings.sandbox_allow.clone(),
        write: settings.sandbox_write.clone(),
        hide: settings.sandbox_hide.clone(),
    }
}

/// Snapshot failure with the pause reason it maps to.
#[derive(Debug)]
pub struct SnapshotFailure {
    pub reason: PauseReason,
    pub message: Message,
    /// Not an error: the work took too long for the event loop.
    is_late: bool,
}

impl SnapshotFailure {
    pub(super) fn of_full_disk(message: String) -> Self {
        Self { reason: PauseReason::Disk, message: message.into(), is_late: false }
    }

    pub(super) fn of_workspace(message: String) -> Self {
        Self { reason: PauseReason::Workspace, message: message.into(), is_late: false }
    }
}

impl From<SnapshotError> for SnapshotFailure {
    fn from(error: SnapshotError) -> Self {
        let reason = if error.is_full() { PauseReason::Disk } else { PauseReason::Workspace };
        let is_late = matches!(error, SnapshotError::OutOfTime);
        Self { reason, message: error.to_message(), is_late }
    }
}

impl From<String> for SnapshotFailure {
    fn from(message: String) -> Self {
        Self { reason: PauseReason::Workspace, message: message.into(), is_late: false }
    }
}

pub(super) fn lock_store(
    store: &Mutex<SnapshotStore>,
) -> Result<MutexGuard<'_, SnapshotStore>, SnapshotFailure> {
    store.lock().map_err(|_| tr!("the snapshot store was left in an unknown state").to_owned().into())
}

fn environment(reader: EnvAudience, spec: &LoopSpec) -> EnvVars {
    let settings = &spec.settings;
    let mut env = scrubbed_env(reader, &settings.env_pass, &settings.env_set, std::env::vars_os());
    env.push((orphans::ENV_LOOP.into(), format!("{}:{}", spec.loop_id, std::process::id()).into()));
    env
}

/// Points programs to a folder for temporary files, unless the settings name one.
fn add_temporary(env: &mut EnvVars, spec: &LoopSpec, folder: Option<PathBuf>) {
    let mut variables = folder.map(|it| loop_temporary::variables(&it)).unwrap_or_default();
    variables.retain(|(name, _)| !spec.settings.env_set.iter().any(|(set, _)| name == set.as_str()));
    extend_env(env, variables);
}

fn check_environment(spec: &LoopSpec, domain: &Isolation, temporary: Option<&LoopTemporary>) -> EnvVars {
    let mut env = environment(EnvAudience::Check, spec);
    add_temporary(&mut env, spec, temporary.map(LoopTemporary::of_checks));
    add_proxy(&mut env, domain);
    env
}

/// Socket and token for the agent's hooks.
struct HookEndpoint<'a> {
    token: &'a str,
    socket: &'a Path,
}

fn with_endpoint(mut env: EnvVars, spec: &LoopSpec, endpoint: &HookEndpoint<'_>) -> EnvVars {
    env.retain(|(name, _)| name != orphans::ENV_LOOP);
    env.push((orphans::ENV_LOOP.into(), format!("{}:{}", spec.loop_id, endpoint.token).into()));
    env.push((SOCKET.into(), endpoint.socket.into()));
    let hooked = spec.settings.mode == LoopMode::Hook && spec.agent.kind() == AgentKind::Claude;
    if hooked && env_value(&env, hooks::BLOCK_CAP_VARIABLE).is_none() {
        env.push((hooks::BLOCK_CAP_VARIABLE.into(), hooks::RAISED_BLOCK_CAP.to_string().into()));
    }
    env
}

/// The environment of the agent. The user's values override what the agent's kind needs; variables of its command line
/// override both.
fn agent_environment(
    spec: &LoopSpec,
    agent: &AgentPlan,
    domain: &Isolation,
    temporary: Option<&LoopTemporary>,
) -> EnvVars {
    let mut env = environment(EnvAudience::Agent, spec);
    add_temporary(&mut env, spec, temporary.map(LoopTemporary::of_agents));
    let kind = agent.kind();
    let is_sandboxed = kind == AgentKind::Claude
        && agent.permissions == PermissionMode::SandboxedAll
        && matches!(domain, Isolation::PidNamespace { .. });
    for (name, value) in kind.environment().iter().copied().chain(is_sandboxed.then_some(SANDBOXED)) {
        if env_value(&env, name).is_none() {
            env.push((name.into(), value.into()));
        }
    }
    extend_env(&mut env, agent.env.iter().map(|(name, value)| (name.into(), value.into())).collect());
    add_proxy(&mut env, domain);
    env
}

/// Redacts the values of variables that may be secrets: ours, and those set in the settings.
pub(super) fn redactor(spec: &LoopSpec) -> Redactor {
    let of_agents = spec.agents().chain(&spec.judge).flat_map(|it| &it.env);
    let set = spec.settings.env_set.iter().chain(of_agents);
    Redactor::from_env(text_variables(std::env::vars_os()).chain(set.cloned()))
}

/// The variables whose names and values are UTF-8.
pub fn text_variables(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (String, String)> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    variables.into_iter().filter_map(text)
}

/// The program that wardens are started from: the small warden binary if it is installed, otherwise this program. A
/// copy in the state folder survives updates and rebuilds, unless programs cannot be executed there.
pub fn warden_program(state: &StateDir) -> PathBuf {
    let this = || state.install_binary(VERSION).ok();
    let found = installed_helper(state, HelperBinary::Warden).chain(once_with(this).flatten());
    first_executable(found).unwrap_or_else(uninstalled_warden)
}

/// The warden beside this program, or this program: where the state folder cannot hold one.
pub fn uninstalled_warden() -> PathBuf {
    let this = std::env::current_exe();
    let found = this.into_iter().flat_map(|it| [HelperBinary::Warden.path_beside(&it), it]);
    first_executable(found).unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
}

/// The program that sends HTTP requests; a separate one, because no other program may hold TLS in memory.
fn request_program(state: &StateDir) -> PathBuf {
    let not_installed = || std::env::current_exe().map(|it| HelperBinary::Request.path_beside(&it));
    first_executable(installed_helper(state, HelperBinary::Request).chain(once_with(not_installed).flatten()))
        .unwrap_or_else(|| PathBuf::from("loopkeeper-request"))
}

fn installed_helper(state: &StateDir, part: HelperBinary) -> impl Iterator<Item = PathBuf> {
    once_with(move || state.install_helper(part, VERSION).ok().flatten()).flatten()
}

fn first_executable(mut found: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    found.find(|it| rustix::fs::access(it, rustix::fs::Access::EXEC_OK).is_ok())
}
