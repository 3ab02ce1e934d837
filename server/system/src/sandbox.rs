//! Selects what isolates an agent or a check: a PID and mount namespace where bubblewrap works, else Landlock, else the
//! warden alone.
//!
//! Chooses and builds the command line; [`super::process`] starts, watches and ends it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use loopkeeper_agent::kind::AgentKind;
use loopkeeper_core::network::host_list::HostList;
use loopkeeper_core::settings::SandboxMode;
use loopkeeper_text::language::translate;
use loopkeeper_text::message::HintedError;
use loopkeeper_text::{tr, tr_later};
use rustix::process::geteuid;
use thiserror::Error;

use super::clean_room::{OverlayMount, RoomAccess};
use super::host_proxy::HostProxy;
use super::warden_channel;
use bubblewrap::{bwrap_command, find_bwrap, probe_namespace, probe_own_network};
pub use closed_paths::{ClosedPaths, DeniedPaths};
use control_groups::ControlGroups;
pub use control_groups::{IN_GROUP, JobGroups, ReachedLimits};
pub use file_access::{FileAccess, FileAccessRequest};
pub use job_limits::JobLimits;
pub use known_paths::STARTUP;
pub use landlock_rules::{LandlockRules, detect_landlock};
pub use network::{NetworkAccess, NetworkSetup};
pub use resources::ResourceLimits;

mod agent_folders;
mod bubblewrap;
mod closed_paths;
mod control_groups;
mod file_access;
mod group_parents;
mod job_limits;
mod known_paths;
mod landlock_rules;
mod network;
mod other_folders;
mod real_paths;
mod resources;
mod user_sockets;

/// Why there is no isolation if the settings disable it.
const OFF: &str = tr_later!("the sandbox is off");

/// How the processes of one agent or check are contained, so that none is left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Isolation {
    PidNamespace {
        bwrap: PathBuf,
        warden: PathBuf,
        /// Empty: all files are as they are outside.
        files: FileAccess,
        limits: JobLimits,
    },
    /// Rules of the kernel for files, signals and abstract sockets. `why`: the reason for having no namespace, as text.
    Landlock {
        warden: PathBuf,
        version: u32,
        why: String,
        /// Empty: nothing is restricted.
        files: FileAccess,
        limits: JobLimits,
    },
    /// `why`: the reason for having nothing else, as text; absent if the settings disable it.
    Subreaper { warden: PathBuf, why: Option<String>, limits: JobLimits },
}

/// The command that starts a warden.
#[derive(Debug)]
pub(super) struct WardenCommand {
    /// The command line up to the warden's own arguments.
    pub(super) command: Command,
    /// The control groups that it enters; removed when this is dropped.
    pub(super) groups: JobGroups,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum SandboxError {
    #[error("{}", tr!("The sandbox is required but not available: {why}.", why))]
    Unavailable { why: String },
    #[error("{}", tr!("The network cannot be blocked, and the sandbox is required: {why}.", why))]
    Network { why: String },
    #[error("{}", tr!("The network cannot be limited to hosts, and the sandbox is required: {why}.", why))]
    Hosts { why: String },
}

/// Whether bubblewrap is installed, which does not mean that it works.
pub fn has_bubblewrap() -> bool {
    find_bwrap().is_some()
}

impl HintedError for SandboxError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unavailable { .. } if has_bubblewrap() => {
                tr!("Allow bubblewrap to make user namespaces, or set `[sandbox] kind = \"auto\"`.")
            }
            Self::Network { .. } | Self::Hosts { .. } if has_bubblewrap() => {
                tr!("Allow bubblewrap to make user namespaces, or set `[sandbox] network = true`.")
            }
            Self::Unavailable { .. } => {
                tr!("Install bubblewrap (`apt install bubblewrap`), or set `[sandbox] kind = \"auto\"`.")
            }
            Self::Network { .. } | Self::Hosts { .. } => {
                tr!("Install bubblewrap (`apt install bubblewrap`), or set `[sandbox] network = true`.")
            }
        };
        Some(hint.to_owned())
    }
}

impl Isolation {
    /// No isolation besides the warden, by the settings.
    pub fn unlimited(warden: &Path) -> Self {
        Self::Subreaper { warden: warden.to_owned(), why: None, limits: JobLimits::default() }
    }

    /// Tests whether the requested isolation works. `warden` is the warden's executable.
    pub fn detect(setting: SandboxMode, warden: &Path) -> Result<Self, SandboxError> {
        let (warden, limits) = (warden.to_path_buf(), JobLimits::default());
        if setting == SandboxMode::Off {
            return Ok(Self::unlimited(&warden));
        }
        let found = find_bwrap().ok_or_else(|| tr!("bubblewrap is not installed").to_owned());
        let files = FileAccess::default();
        let probed =
            found.and_then(|bwrap| probe_namespace(&bwrap, &warden, &files, &limits.network).map(|()| bwrap));
        match probed {
            Ok(bwrap) => Ok(Self::PidNamespace { bwrap, warden, files, limits }),
            Err(why) => match detect_landlock() {
                Ok(version) => Ok(Self::Landlock { warden, version, why, files, limits }),
                Err(landlock_error) if setting == SandboxMode::Required => Err(SandboxError::Unavailable {
                    why: tr!("{why}, and {other}", why, other = landlock_error),
                }),
                Err(landlock_error) => Ok(Self::Subreaper {
                    warden,
                    why: Some(tr!("{why}, and {other}", why, other = landlock_error)),
                    limits,
                }),
            },
        }
    }

    /// The same with rules for files, where they are possible. An old bubblewrap may not support them.
    pub fn with_files(mut self, setting: SandboxMode, rules: FileAccess) -> Result<Self, SandboxError> {
        match &mut self {
            Self::PidNamespace { bwrap, warden, files, limits } => {
                match probe_namespace(bwrap, warden, &rules, &limits.network) {
                    Ok(()) => *files = rules,
                    Err(why) if setting == SandboxMode::Required => {
                        return Err(SandboxError::Unavailable { why });
                    }
                    Err(why) => tracing::warn!("files are not hidden from agents and checks: {why}"),
                }
            }
            // Its rules cannot hide files inside the work tree.
            Self::Landlock { files, why, .. } => {
                if let Some(path) = rules.hidden_in_root().next() {
                    let open =
                        tr!("Landlock cannot hide {path}, which is in the work tree", path = path.display());
                    if setting == SandboxMode::Required {
                        return Err(SandboxError::Unavailable {
                            why: tr!("{why}, and {other}", why, other = open),
                        });
                    }
                    tracing::warn!("{open}");
                }
                *files = rules;
            }
            Self::Subreaper { .. } => {}
        }
        Ok(self)
    }

    /// The same without a network, as far as that works here.
    pub fn without_network(self, setting: SandboxMode) -> Result<Self, SandboxError> {
        let access = match self.probe_network() {
            Ok(()) => NetworkAccess::Loopback,
            Err(_) if matches!(self, Self::Subreaper { why: None, .. }) => {
                NetworkAccess::Open { why: translate(OFF).to_owned() }
            }
            Err(why) => NetworkAccess::with_landlock(self.landlock(), &why),
        };
        self.with_network_access(access, setting, |why| SandboxError::Network { why })
    }

    /// The same with a network of these hosts. Landlock cannot distinguish hosts: without a network namespace it stays
    /// open.
    pub fn with_hosts(self, setting: SandboxMode, hosts: HostList) -> Result<Self, SandboxError> {
        let access = match self.probe_network() {
            Ok(()) => NetworkAccess::Hosts(HostProxy::new(hosts)),
            Err(why) => NetworkAccess::Open { why },
        };
        self.with_network_access(access, setting, |why| SandboxError::Hosts { why })
    }

    fn with_network_access(
        mut self,
        access: NetworkAccess,
        setting: SandboxMode,
        refused: fn(String) -> SandboxError,
    ) -> Result<Self, SandboxError> {
        match access {
            NetworkAccess::Open { why } if setting == SandboxMode::Required => Err(refused(why)),
            access => {
                self.limits_mut().network = access;
                Ok(self)
            }
        }
    }

    /// Whether jobs can have a network namespace; the error is the reason why not, as text.
    fn probe_network(&self) -> Result<(), String> {
        match self {
            Self::PidNamespace { bwrap, warden, files, .. } => {
                probe_namespace(bwrap, warden, files, &NetworkAccess::Loopback)
            }
            Self::Landlock { warden, why, .. } | Self::Subreaper { warden, why: Some(why), .. } => {
                probe_own_network(warden).map_err(|error| tr!("{why}, and {other}", why, other = error))
            }
            Self::Subreaper { why: None, .. } => Err(translate(OFF).to_owned()),
        }
    }

    fn landlock(&self) -> Result<u32, String> {
        match self {
            Self::Landlock { version, .. } => Ok(*version),
            Self::PidNamespace { .. } | Self::Subreaper { .. } => detect_landlock(),
        }
    }

    /// The same with the network as outside.
    #[must_use]
    pub fn with_network(&self) -> Self {
        let mut open = self.clone();
        open.limits_mut().network = NetworkAccess::Full;
        open
    }

    /// The same with limits of memory and processes, by control groups where they can be made.
    #[must_use]
    pub fn with_resources(mut self, resources: ResourceLimits) -> Self {
        let groups = ControlGroups::detect(self.warden(), resources);
        let limits = self.limits_mut();
        (limits.resources, limits.groups) = (resources, groups);
        self
    }

    pub fn network(&self) -> &NetworkAccess {
        &self.limits().network
    }

    fn limits(&self) -> &JobLimits {
        match self {
            Self::PidNamespace { limits, .. }
            | Self::Landlock { limits, .. }
            | Self::Subreaper { limits, .. } => limits,
        }
    }

    fn limits_mut(&mut self) -> &mut JobLimits {
        match self {
            Self::PidNamespace { limits, .. }
            | Self::Landlock { limits, .. }
            | Self::Subreaper { limits, .. } => limits,
        }
    }

    /// The isolation of checks, which see less than agents.
    #[must_use]
    pub fn for_checks(&self) -> Self {
        let mut isolation = self.clone();
        if let Self::PidNamespace { files, .. } | Self::Landlock { files, .. } = &mut isolation
            && *files != FileAccess::default()
        {
            *files = files.for_checks();
        }
        if let NetworkAccess::Hosts(proxy) = &mut isolation.limits_mut().network {
            *proxy = proxy.separate();
        }
        isolation
    }

    /// Makes up for what agents cannot create themselves.
    pub fn create_agent_folders(&self, home: Option<&Path>, agents: &[AgentKind]) {
        if let (Self::Landlock { .. }, Some(home)) = (self, home) {
            agent_folders::create(home, agents);
        }
    }

    /// The paths that its jobs cannot access, to be found in their output.
    pub fn closed_paths(&self, home: Option<&Path>) -> ClosedPaths {
        match self {
            Self::PidNamespace { files, .. } | Self::Landlock { files, .. } => ClosedPaths::new(files, home),
            Self::Subreaper { .. } => ClosedPaths::default(),
        }
    }

    /// The warden's executable.
    pub fn warden(&self) -> &Path {
        match self {
            Self::PidNamespace { warden, .. }
            | Self::Landlock { warden, .. }
            | Self::Subreaper { warden, .. } => warden,
        }
    }

    /// A stable identifier for the journal.
    pub fn name(&self) -> &'static str {
        match self {
            Self::PidNamespace { .. } => "pid-namespace",
            Self::Landlock { .. } => "landlock",
            Self::Subreaper { .. } => "subreaper",
        }
    }

    /// One sentence for the user and for the journal.
    pub fn sentence(&self) -> String {
        let processes = match self {
            Self::PidNamespace { files, .. } if *files == FileAccess::default() => {
                tr!("Processes run in a separate PID namespace.").to_owned()
            }
            Self::PidNamespace { .. } => {
                tr!("Processes run in a separate PID namespace, without access to credentials.").to_owned()
            }
            Self::Landlock { version, why, files, .. } => {
                let access =
                    if *files == FileAccess::default() { "" } else { tr!(" without access to credentials") };
                let scope = if *version < landlock_rules::SCOPES {
                    tr!(", which does not limit signals and abstract sockets")
                } else {
                    ""
                };
                tr!(
                    "Processes run{access} under Landlock (version {version}{scope}), without a PID namespace: {why}.",
                    access,
                    version,
                    scope,
                    why
                )
            }
            Self::Subreaper { why: None, .. } => tr!("Processes run without a PID namespace.").to_owned(),
            Self::Subreaper { why: Some(why), .. } => {
                tr!("Processes run without a PID namespace: {why}.", why)
            }
        };
        processes + &self.network().sentence() + &self.limits().sentence(self.counts_processes())
    }

    /// Why no clean room is tried, as text.
    pub fn no_clean_room(&self) -> Option<&'static str> {
        matches!(self, Self::Subreaper { why: None, .. }).then_some(OFF)
    }

    /// Why there are no namespaces, as text.
    pub fn no_namespace(&self) -> Option<String> {
        match self {
            Self::PidNamespace { .. } => None,
            Self::Landlock { why, .. } | Self::Subreaper { why: Some(why), .. } => Some(why.clone()),
            Self::Subreaper { why: None, .. } => Some(OFF.to_owned()),
        }
    }

    /// The same with one more hidden folder, where it hides any.
    #[must_use]
    pub fn hiding(mut self, folder: &Path) -> Self {
        if let Self::PidNamespace { files, .. } | Self::Landlock { files, .. } = &mut self
            && *files != FileAccess::default()
        {
            files.hide(folder);
        }
        self
    }

    /// Whether it can keep jobs from writing to a folder.
    pub fn can_close_folders(&self) -> bool {
        matches!(self, Self::PidNamespace { .. } | Self::Landlock { .. })
    }

    pub(super) fn command(&self, room: Option<&RoomAccess>) -> io::Result<WardenCommand> {
        let limits = self.limits();
        let (command, groups) = (self.command_without_groups(room), limits.groups.create(limits.resources)?);
        let command = if limits.groups.is_empty() { command } else { groups.enter(self.warden(), &command) };
        Ok(WardenCommand { command, groups })
    }

    fn command_without_groups(&self, room: Option<&RoomAccess>) -> Command {
        let no_tcp = *self.network() == NetworkAccess::NoTcp;
        let overlay = room.and_then(RoomAccess::overlay);
        let mut command = match self {
            Self::PidNamespace { bwrap, warden, files, limits } => {
                let restricted = *files != FileAccess::default();
                let files = files.in_room(room);
                let files =
                    FileAccess { fixed: limits.groups.mounts().map(Path::to_owned).collect(), ..files };
                let mut command = bwrap_command(bwrap, warden, (&files, &limits.network), overlay);
                add_overlay(&mut command, overlay);
                command.args(LandlockRules::without_files(restricted, no_tcp).arguments());
                command
            }
            Self::Landlock { warden, files, limits, .. } => {
                let mut command = warden_command(warden);
                add_overlay(&mut command, overlay);
                let mut rules = LandlockRules { no_tcp, ..files.in_room(room).landlock_rules() };
                rules.read_only.extend(limits.groups.mounts().map(Path::to_owned));
                command.args(rules.arguments());
                command
            }
            Self::Subreaper { warden, .. } => {
                let mut command = warden_command(warden);
                add_overlay(&mut command, overlay);
                command
            }
        };
        command.args(self.limits().process_limits().arguments()).args(self.network_setup().arguments());
        command
    }

    /// Whether the number of processes is limited without control groups: that of root only in a namespace.
    fn counts_processes(&self) -> bool {
        !geteuid().is_root() || matches!(self, Self::PidNamespace { .. })
    }

    fn network_setup(&self) -> NetworkSetup {
        let network = self.network();
        let has_namespace = matches!(self, Self::PidNamespace { .. });
        NetworkSetup {
            own_namespace: !has_namespace && network.is_separate(),
            proxy: network.proxy().is_some(),
        }
    }
}

fn add_overlay(command: &mut Command, overlay: Option<&OverlayMount>) {
    if let Some(OverlayMount { root, upper, work, outside }) = overlay {
        command.arg("--overlay").args([root, upper, work]);
        if let Some(list) = outside {
            command.arg("--mounts").arg(list);
        }
    }
}

/// Starts a guard first: without a namespace, the kernel does not end the processes of a killed warden.
fn warden_command(warden: &Path) -> Command {
    let mut command = Command::new(warden);
    command.args([warden_channel::SUBCOMMAND, warden_channel::GUARD]);
    command
}
