//! Starts keepers, which outlive the process that started them.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::failure::Failure;
use super::keeper_main;
use loopkeeper_keeper::error_line::ErrorLine;
use loopkeeper_system::language;
use loopkeeper_system::resource_limits;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::binary::HelperBinary;
use loopkeeper_system::state_dir::workspace::LoopDir;
use loopkeeper_text::language::Language;
use loopkeeper_text::tr;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Starts the loop's keeper detached from this process and returns its pid once it is ready.
pub fn start_detached(store: &StateDir, dir: &LoopDir, then: Option<&str>) -> Result<u32, Failure> {
    let output = run_detaching_program(store, dir, then)?;
    let printed = String::from_utf8_lossy(&output.stdout);
    match printed.trim().parse() {
        Ok(pid) if output.status.success() => Ok(pid),
        _ => Err(Failure::of_process(output.status.code(), &output.stderr)),
    }
}

/// Runs the small program if it is installed. One of another build may have other rules and reports that; then this
/// program is used, which takes more memory and does the same.
fn run_detaching_program(store: &StateDir, dir: &LoopDir, then: Option<&str>) -> Result<Output, Failure> {
    install_parts(store)?;
    if let Some(own) = store.install_helper(HelperBinary::Keeper, VERSION)? {
        let output = detach(&own, dir, then)?;
        if output.status.code() != Some(i32::from(keeper_main::EXIT_BUILD_MISMATCH)) {
            return Ok(output);
        }
    }
    detach(&store.install_binary(VERSION)?, dir, then)
}

/// A program that runs from the state folder finds its helpers only there.
fn install_parts(store: &StateDir) -> Result<(), Failure> {
    store.install_helper(HelperBinary::Warden, VERSION)?;
    store.install_helper(HelperBinary::Request, VERSION)?;
    Ok(())
}

fn detach(program: &Path, dir: &LoopDir, then: Option<&str>) -> Result<Output, Failure> {
    let mut command = Command::new(program);
    command.args([keeper_main::SUBCOMMAND, "--detach", "--build", keeper_main::BUILD]);
    command.args(then.map(|it| ["--then", it]).into_iter().flatten()).arg(dir.path());
    output(command)
}

fn output(mut command: Command) -> Result<Output, Failure> {
    ErrorLine::request(&mut command);
    // Sentences in the journal are in the language of the program that starts the loop.
    command.env(language::VARIABLE, Language::current().tag());
    command.stdin(Stdio::null()).stderr(Stdio::piped()).output().map_err(|error| {
        let program = Path::new(command.get_program());
        Failure::ended(tr!("cannot start {path}: {error}", path = program.display(), error)).hint(
            resource_limits::hint(&error).unwrap_or(tr!("The state folder must lie where programs may run.")),
        )
    })
}

/// Starts a round of checks without a loop, detached from this process; returns once it has begun. Its results are
/// written to the file that `Workspace::checks` names.
pub fn start_checks(store: &StateDir, task: &Path, criterion: Option<&str>) -> Result<(), Failure> {
    install_parts(store)?;
    let mut command = Command::new(store.install_binary(VERSION)?);
    command
        .args(["check", "--detach"])
        .args(criterion.map(|it| format!("--criterion={it}")))
        .arg("--")
        .arg(task);
    let output = output(command)?;
    if output.status.success() {
        return Ok(());
    }
    Err(Failure::of_process(output.status.code(), &output.stderr))
}
