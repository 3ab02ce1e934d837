//! Domains under test, and the jobs that run in them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopkeeper_core::settings::SandboxMode;
use loopkeeper_system::process::{Job, JobHandle, OutputEvent, StdinSource};
use loopkeeper_system::sandbox::Isolation;
use loopkeeper_system::trust::permit::ApprovedInput;

pub(crate) use crate::support::processes::{LiveProcess, alive, assert_none_alive, remaining};
use crate::support::world::wait_until;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_loopkeeper");

/// Without a namespace.
pub(crate) fn plain() -> Isolation {
    Isolation::detect(SandboxMode::Off, Path::new(BINARY)).unwrap()
}

/// In a PID namespace; `None` if bubblewrap does not work, which is reported.
pub(crate) fn namespace() -> Option<Isolation> {
    let domain = Isolation::detect(SandboxMode::Required, Path::new(BINARY));
    let why = domain.as_ref().map_or_else(|error| Some(error.to_string()), Isolation::no_namespace);
    if let Some(why) = &why {
        crate::not_run("kill domain in a PID namespace", why);
    }
    domain.ok().filter(|_| why.is_none())
}

pub(crate) fn domains() -> Vec<Isolation> {
    [Some(plain()), namespace()].into_iter().flatten().collect()
}

pub(crate) fn rig() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rigs/hostile_tree.sh")
}

/// A text that no other process has among its arguments.
pub(crate) fn token(name: &str) -> String {
    format!("lk-{name}-{}", uuid::Uuid::new_v4().simple())
}

pub(crate) fn job<S: AsRef<str>>(argv: &[S]) -> Job {
    Job {
        argv: ApprovedInput::from_user_input(argv.iter().map(|word| OsString::from(word.as_ref())).collect()),
        cwd: std::env::temp_dir(),
        env: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
        stdin: StdinSource::Null,
        grace: Duration::from_millis(300),
        output: None,
    }
}

pub(crate) fn hostile(token: &str, mode: &str) -> Job {
    job(&[rig().to_str().unwrap(), token, mode])
}

/// Waits until a process of this program with the token is alive.
pub(crate) async fn until_alive(program: &'static str, token: &str) {
    let token = token.to_owned();
    let is_alive = move || {
        let mut programs =
            alive(&token).into_iter().filter_map(|it| it.arguments.split(' ').next().map(PathBuf::from));
        programs.any(|it| it.file_name() == Some(program.as_ref()))
    };
    let wait = move || wait_until(is_alive, || format!("no {program} is alive"));
    tokio::task::spawn_blocking(wait).await.unwrap();
}

pub(crate) async fn until_ready(running: &mut JobHandle) {
    while let Some(event) = running.next().await {
        if matches!(&event, OutputEvent::Line { bytes, .. } if bytes == b"ready") {
            return;
        }
    }
    panic!("the rig ended before it was ready");
}
