//! Starts keepers, which outlive whoever asked for them.

use std::path::Path;
use std::process::{Command, Stdio};

use super::failure::{Failure, Kind};
use crate::adapters::state_dir::StateDir;
use crate::adapters::state_dir::workspace::LoopDir;

/// Starts the loop's keeper apart from this process and returns its pid once it has begun.
pub(crate) fn start_detached(store: &StateDir, dir: &LoopDir, then: Option<&str>) -> Result<u32, Failure> {
    let program = store.install_binary(env!("CARGO_PKG_VERSION"))?;
    let mut command = Command::new(&program);
    command.args(["keeper", "--detach"]).args(then.map(|it| format!("--then={it}"))).arg(dir.path());
    let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output().map_err(|error| {
        Failure::ended(format_args!("cannot start {}: {error}", program.display()))
            .hint("The state folder must lie where programs may run.")
    })?;
    let words = String::from_utf8_lossy(&output.stdout);
    match words.trim().parse() {
        Ok(pid) if output.status.success() => Ok(pid),
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr);
            let what = errors.trim().trim_start_matches("error: ");
            Err(Failure::new(
                kind_of(output.status.code()),
                if what.is_empty() { "the keeper did not start" } else { what },
            ))
        }
    }
}

/// Starts a round of checks without a loop, apart from this process; returns once it has begun. Its results come by
/// the file that `Workspace::checks` names.
pub(crate) fn start_checks(store: &StateDir, task: &Path, criterion: Option<&str>) -> Result<(), Failure> {
    let program = store.install_binary(env!("CARGO_PKG_VERSION"))?;
    let mut command = Command::new(&program);
    command
        .args(["check", "--detach"])
        .args(criterion.map(|it| format!("--criterion={it}")))
        .arg("--")
        .arg(task);
    let output = command.stdin(Stdio::null()).output().map_err(|error| {
        Failure::ended(format_args!("cannot start {}: {error}", program.display()))
            .hint("The state folder must lie where programs may run.")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(kind_of(output.status.code()), errors.trim().trim_start_matches("error: ")))
}

/// A keeper that could not begin says by its own exit code what kind of trouble it is.
fn kind_of(code: Option<i32>) -> Kind {
    match code {
        Some(2) => Kind::Usage,
        Some(5) => Kind::NotTrusted,
        _ => Kind::Broken,
    }
}
