//! Starts a loop: creates its folder, starts a detached keeper, and runs a keeper on an existing folder.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use loopkeeper_core::decide::{self, LoopState, UserCommand};
use loopkeeper_core::journal::{Entry, LoopSpec, Record};
use loopkeeper_core::settings::{SandboxMode, Settings};
use loopkeeper_text::moment::Moment;
use loopkeeper_text::{tr, tr_later, truncate};
use serde::Serialize;
use tokio::net::UnixListener;
use tokio::sync::mpsc;

use super::agent_hooks::HookCredentials;
use super::control::{self, ControlState};
use super::effects::EffectRunner;
use super::error_line::ErrorLine;
use super::loop_context::LoopContext;
use super::main_loop::{EntryObserver, Keeper, KeeperParams, Startup};
use super::run_context::{self, RunContext, RunFolders};
use super::signals::StopSignals;
use super::{KeeperError, spawn_boxed_local};
use super::{task_reload, template};
use loopkeeper_core::liveness::KeeperLiveness;
use loopkeeper_system::clean_room;
use loopkeeper_system::journal_file::JournalFile;
use loopkeeper_system::logging::{self, KEEPER_LOG, WarningEcho};
use loopkeeper_system::loop_temporary::LoopTemporary;
use loopkeeper_system::process::{hardening, orphans};
use loopkeeper_system::resource_limits;
use loopkeeper_system::state_dir::workspace::{LoopDir, Workspace};
use loopkeeper_system::state_dir::{StateDir, lock};
use loopkeeper_system::{clock, durable};

/// The file of a loop's folder that only its keepers read.
pub const START: &str = "start.json";

/// Startup timeout of a detached keeper.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Bytes at the end of a log that are searched for the error of a keeper.
const MAX_LOG_TAIL: u64 = 64 * 1024;

/// Values that keepers need and the journal must not contain.
#[derive(Debug, Serialize)]
struct LaunchConfig {
    spec: LoopSpec,
}

/// Creates the folder of a new loop. `task_text` is the prompt document, kept in case the document is deleted.
pub fn create_loop_dir(
    state: &StateDir,
    workspace: &Workspace,
    mut spec: LoopSpec,
    task_text: &str,
) -> Result<LoopDir, KeeperError> {
    // Checked before the folder exists, so that no folder remains of a loop that cannot start.
    logging::filter_from_env()?;
    ensure_open_files()?;
    let dir = workspace.new_loop(state, clock::now())?;
    dir.id().clone_into(&mut spec.loop_id);
    write_start_files(&dir, workspace.root(), spec, task_text).inspect_err(|_| {
        // A folder without a journal would be reported as a loop whose journal was deleted.
        let _ = std::fs::remove_dir_all(dir.path());
    })?;
    Ok(dir)
}

fn write_start_files(dir: &LoopDir, root: &Path, spec: LoopSpec, task_text: &str) -> Result<(), KeeperError> {
    let template = spec.settings.prompt_template.clone();
    let start = start_file(dir);
    let json = serde_json::to_vec_pretty(&LaunchConfig { spec })
        .map_err(|error| KeeperError::io(tr_later!("write"), &start)(error.into()))?;
    // Durable, because no keeper can take the loop over after a power cut without these files.
    durable::replace_file(&start, &json).map_err(KeeperError::io(tr_later!("write"), &start))?;
    let copy = task_reload::task_copy(dir);
    durable::replace_file(&copy, task_text.as_bytes()).map_err(KeeperError::io(tr_later!("write"), &copy))?;
    template::save_copy(dir, root, template.as_deref())
}

/// Starts the keeper of a loop detached from this process and its terminal; returns its pid once it has begun. Called
/// in a separate process (`keeper --detach`, see `operations::keeper_main`), which exits right after.
pub fn spawn_keeper(dir: &LoopDir, then: Option<&str>) -> Result<u32, KeeperError> {
    let log_path = log_file(dir);
    let log = File::options().append(true).create(true).mode(0o600).open(&log_path);
    let log = log.map_err(KeeperError::io(tr_later!("open"), &log_path))?;
    let logged_before = log.metadata().map_err(KeeperError::io(tr_later!("read"), &log_path))?.len();
    let output = || log.try_clone().map_err(KeeperError::io(tr_later!("open"), &log_path));
    // Fails for a process group leader, which the detaching caller already made a session leader.
    let _ = rustix::process::setsid();
    let program = Path::new("/proc/self/exe");
    let mut command = Command::new(program);
    command.arg0("loopkeeper").arg("keeper");
    if let Some(verb) = then {
        command.arg("--then").arg(verb);
    }
    command.arg(dir.path()).stdin(Stdio::null()).stdout(output()?).stderr(output()?).current_dir("/");
    ErrorLine::request(&mut command);
    let mut child = command.spawn().map_err(KeeperError::io(tr_later!("start a keeper for"), dir.path()))?;
    let (state, _, _) = StateDir::of_loop(dir.path())?;
    let began = Instant::now();
    loop {
        if let Some(status) =
            child.try_wait().map_err(KeeperError::io(tr_later!("watch the keeper of"), dir.path()))?
        {
            return ended_early(dir, status, logged_before).map(|()| child.id());
        }
        if has_begun(&state, dir, child.id())? || began.elapsed() > BEGIN_TIMEOUT {
            return Ok(child.id());
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Whether this keeper answers: the socket of a killed keeper still exists, and another keeper may hold the loop. The
/// first record must exist, because callers read the journal right after.
fn has_begun(state: &StateDir, dir: &LoopDir, pid: u32) -> Result<bool, KeeperError> {
    let ours = state.keeper_of(dir)? == KeeperLiveness::Alive { pid: Some(pid), stopped: false };
    let on_record = std::fs::metadata(dir.journal()).is_ok_and(|it| it.len() > 0);
    Ok(ours && on_record && UnixStream::connect(state.socket(dir.id())?.path()).is_ok())
}

/// A keeper may have finished its work already; otherwise its log contains the error.
fn ended_early(dir: &LoopDir, status: ExitStatus, logged_before: u64) -> Result<(), KeeperError> {
    if status.success() {
        return Ok(());
    }
    let log_text = logged_since(&log_file(dir), logged_before).unwrap_or_default();
    Err(match ErrorLine::find_last(&log_text) {
        Some(ErrorLine(message)) => KeeperError::Refused { message },
        None => KeeperError::Refused { message: truncate::last_bytes(&log_text, 4096).trim().into() },
    })
}

/// The end of what was appended to a log after its first `logged_before` bytes.
fn logged_since(log: &Path, logged_before: u64) -> io::Result<String> {
    let mut file = File::open(log)?;
    let from = file.metadata()?.len().saturating_sub(MAX_LOG_TAIL).max(logged_before);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(MAX_LOG_TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Runs a keeper in this process until its loop ends.
pub async fn run_keeper(
    dir: &LoopDir,
    observer: EntryObserver,
    then: Option<UserCommand>,
    echo: WarningEcho,
) -> Result<LoopState, KeeperError> {
    ensure_open_files()?;
    let spec = read_start(dir)?;
    let _log = logging::log_to_file(log_file(dir), run_context::redactor(&spec), echo)?;
    tracing::debug!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), "keeper started");
    let ended = Box::pin(own_loop(dir, spec, observer, then)).await;
    match &ended {
        // Logging would create a new file in a folder that no longer belongs to this loop.
        Ok(_) | Err(KeeperError::StateGone { .. }) => {}
        Err(error) => tracing::error!("{error}"),
    }
    ended
}

/// A start for which files are missing would be charged to the loop, although nothing ran.
fn ensure_open_files() -> Result<(), KeeperError> {
    resource_limits::low_file_limit().map_or(Ok(()), |limit| Err(KeeperError::LowFileLimit { limit }))
}

async fn own_loop(
    dir: &LoopDir,
    spec: LoopSpec,
    observer: EntryObserver,
    then: Option<UserCommand>,
) -> Result<LoopState, KeeperError> {
    let (state, workspace, _) = StateDir::of_loop(dir.path())?;
    let state = Rc::new(state);
    // Held until everything else here is dropped, so that the next keeper finds no process of ours.
    let locks = Rc::new([
        state.lock_loop(dir)?,
        state.lock_tree(workspace.root(), &lock::TreeHolder::Loop { id: dir.id().to_owned() })?,
    ]);
    hardening::forbid_tracing().map_err(KeeperError::io(tr_later!("protect the keeper of"), dir.path()))?;
    orphans::become_subreaper().map_err(KeeperError::io(tr_later!("adopt the orphans of"), dir.path()))?;
    let (journal, startup) = take_over(dir, &spec)?;
    remove_leftovers(dir, &workspace);
    let (events_in, events) = mpsc::unbounded_channel();
    let (requests_in, requests) = mpsc::channel(16);
    let control = ControlState::new(dir.id(), requests_in);
    let folders = make_folders(dir, &spec.settings);
    let runtime = RunContext::new(&state, &workspace, spec, folders)?;
    control.hooks.set_credentials(HookCredentials {
        token: Rc::clone(&runtime.token),
        redactor: Rc::clone(&runtime.redactor),
    });
    let context = LoopContext::new(dir, &state, runtime, &control, events_in);
    let signals =
        StopSignals::listen().map_err(KeeperError::io(tr_later!("listen to signals for"), dir.path()))?;
    let effects = EffectRunner::new(context, signals);
    let _server = bind_socket(&state, dir, control)?;
    let keeper = Keeper::new(
        KeeperParams { journal, locks: Rc::clone(&locks), effects, observer, events, requests },
        startup,
        dir,
    )?;
    let ended = keeper.run(then).await?;
    LoopTemporary::remove(dir);
    Ok(ended)
}

/// The journal of a loop, after the processes of its last keeper were ended.
fn take_over(dir: &LoopDir, spec: &LoopSpec) -> Result<(JournalFile, Startup), KeeperError> {
    // A keeper starts no process before its journal exists. Without a journal there are no orphans, and the scan, which
    // reads all processes of the machine three times, would be most of the start-up time.
    let has_journal = dir.journal().try_exists().unwrap_or(true);
    // Before anything is ended: the journal is locked by a keeper that works although its lock file was deleted.
    let opened = open_journal(dir, spec)?;
    if has_journal {
        orphans::end_marked(dir.id());
    }
    Ok(opened)
}

/// Removes what earlier keepers left behind. Only the holder of the work tree's lock may call this.
fn remove_leftovers(dir: &LoopDir, workspace: &Workspace) {
    for other in workspace.loops().unwrap_or_default() {
        clean_room::remove_leftovers(&other.output());
        if other.id() != dir.id() {
            LoopTemporary::remove(&other);
        }
    }
    // Also those of other work trees.
    for parent in clean_room::shared_parents() {
        clean_room::remove_abandoned(&parent);
    }
}

fn make_folders(dir: &LoopDir, settings: &Settings) -> RunFolders {
    let temporary = (settings.sandbox != SandboxMode::Off).then(|| LoopTemporary::create(dir));
    let temporary = temporary.and_then(|made| {
        made.inspect_err(|error| tracing::warn!("no folder for the loop's temporary files: {error}")).ok()
    });
    RunFolders { outputs: dir.output(), agent_home: Some(dir.home()), temporary }
}

fn open_journal(dir: &LoopDir, spec: &LoopSpec) -> Result<(JournalFile, Startup), KeeperError> {
    let path = dir.journal();
    if !path.exists() {
        let spec = without_secrets(spec.clone());
        return Ok((JournalFile::create(&path)?, Startup::New(Box::new(spec))));
    }
    let (mut state, mut is_empty) = (None, true);
    let (journal, torn) = JournalFile::open_with(&path, |entry| {
        match &mut state {
            None if is_empty => state = decide::state_from_first(&entry),
            None => {}
            Some(state) => decide::apply(state, &entry),
        }
        is_empty = false;
    })?;
    if let Some(torn) = torn {
        tracing::warn!("the journal's last write was cut off; its bytes are in {}", torn.display());
    }
    let startup = match state {
        None if is_empty => Startup::New(Box::new(without_secrets(spec.clone()))),
        None => return Err(KeeperError::no_loop(dir)),
        Some(state) => Startup::Existing(Box::new(state)),
    };
    Ok((journal, startup))
}

/// The beginning of a loop as it was requested, in place of a first record that is damaged. `folder` is the loop's.
pub fn requested_start(folder: &Path) -> Option<Entry> {
    let path = folder.join(START);
    let spec = Box::new(without_secrets(spec_of(&std::fs::read(&path).ok()?).ok()?));
    let written = path.metadata().and_then(|it| it.modified()).ok()?;
    let wall = written.duration_since(UNIX_EPOCH).map_or(0, |it| it.as_millis() as u64);
    let record = Record::LoopStarted { boot: String::new(), spec };
    Some(Entry { seq: 0, epoch: 0, at: Moment { wall, awake: 0 }, record })
}

fn read_start(dir: &LoopDir) -> Result<LoopSpec, KeeperError> {
    let path = start_file(dir);
    let bytes = std::fs::read(&path).map_err(KeeperError::io(tr_later!("read"), &path))?;
    spec_of(&bytes).map_err(|error| KeeperError::io(tr_later!("read"), &path)(error.into()))
}

/// Deserialises a [`LaunchConfig`] as the first record of a journal: a separate deserialiser of the same type would
/// stay resident in every keeper.
fn spec_of(start: &[u8]) -> serde_json::Result<LoopSpec> {
    const OPENING: &[u8] = br#"{"loop-started":{"boot":"","#;
    let members = start.strip_prefix(b"{").unwrap_or_default();
    match serde_json::from_slice::<Record>(&[OPENING, members, b"}"].concat())? {
        Record::LoopStarted { spec, .. } => Ok(*spec),
        _ => Err(serde::de::Error::custom(tr!("no beginning of a loop"))),
    }
}

/// Removes the values of variables set in the settings, for all agents or for one: they may be keys and stay in the
/// loop's private folder.
fn without_secrets(mut spec: LoopSpec) -> LoopSpec {
    set_values(&mut spec).for_each(String::clear);
    spec
}

fn set_values(spec: &mut LoopSpec) -> impl Iterator<Item = &mut String> {
    let LoopSpec { settings, agent, fallbacks, judge, .. } = spec;
    let plans = std::iter::once(agent).chain(fallbacks).chain(judge).flat_map(|it| &mut it.env);
    let written = settings.agents.iter_mut().flat_map(|it| &mut it.env);
    settings.env_set.iter_mut().chain(written).chain(plans).map(|(_, value)| value)
}

/// Values that no copy of a loop may contain: all variables set in its settings.
pub fn secrets(dir: &LoopDir) -> Vec<String> {
    let spec = read_start(dir).ok();
    spec.map_or_else(Vec::new, |mut it| set_values(&mut it).map(std::mem::take).collect())
}

fn bind_socket(
    state: &StateDir,
    dir: &LoopDir,
    control: ControlState,
) -> Result<ControlSocketGuard, KeeperError> {
    let address = state.socket(dir.id())?;
    // The loop's lock is held, so an existing socket belongs to a dead keeper.
    let _ = std::fs::remove_file(address.path());
    let listener = UnixListener::bind(address.path())
        .map_err(KeeperError::io(tr_later!("listen at"), address.path()))?;
    let path = state.socket_dir().join(format!("{}.sock", dir.id()));
    let task = spawn_boxed_local(control::serve(listener, control));
    Ok(ControlSocketGuard { path, task })
}

/// The listening socket; removed on drop.
struct ControlSocketGuard {
    path: PathBuf,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for ControlSocketGuard {
    fn drop(&mut self) {
        self.task.abort();
        let _ = std::fs::remove_file(&self.path);
    }
}

fn start_file(dir: &LoopDir) -> PathBuf {
    dir.path().join(START)
}

/// Path of the keeper's log, which also receives the output of a detached keeper.
fn log_file(dir: &LoopDir) -> PathBuf {
    dir.path().join(KEEPER_LOG)
}

#[cfg(test)]
mod tests {
    use super::{ErrorLine, MAX_LOG_TAIL, logged_since};

    /// A check or an agent may print any bytes, and `LOOPKEEPER_LOG` any amount.
    #[test]
    fn the_error_at_the_end_of_a_log_is_found_after_any_bytes() {
        let log = tempfile::NamedTempFile::new().unwrap();
        let error = ErrorLine("no disk".into()).to_json();
        for noise in [b"\xff\n".to_vec(), vec![b'x'; MAX_LOG_TAIL as usize * 2]] {
            let earlier = ErrorLine("earlier".into()).to_json();
            let text = [earlier.as_bytes(), &noise, b"\n", error.as_bytes()].concat();
            std::fs::write(log.path(), &text).unwrap();
            let logged = logged_since(log.path(), earlier.len() as u64).unwrap();
            assert_eq!(ErrorLine::find_last(&logged), Some(ErrorLine("no disk".into())));
            assert_eq!(logged_since(log.path(), text.len() as u64).unwrap(), "");
        }
    }
}
