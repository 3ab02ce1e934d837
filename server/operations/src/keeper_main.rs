//! `main` of the keeper process: argument parsing and error reporting. Started by `operations::keeper`, not by users.
//! Must not depend on the CLI or LSP code, because a keeper stays in memory for hours.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use loopkeeper_core::decide::UserCommand;
use loopkeeper_core::journal::RestrictedCommand;
use loopkeeper_text::tr;

use super::authority;
use super::failure::{Failure, FailureKind};
use super::loops::LoopView;
use super::process_limits;
use loopkeeper_keeper::disk_room::{self, DiskWait};
use loopkeeper_keeper::{abort_on_panic, block_on, launch, outlive_file_size_limit};
use loopkeeper_system::language;
use loopkeeper_system::logging::WarningEcho;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::LoopDir;

/// The subcommand's name.
pub const SUBCOMMAND: &str = "keeper";

/// Build id of this program.
pub(crate) const BUILD: &str = env!("LOOPKEEPER_BUILD");

/// The exit code of a keeper whose build differs from the caller's.
pub(crate) const EXIT_BUILD_MISMATCH: u8 = 64;

/// `[--detach] [--build BUILD] [--then VERB] DIR`.
#[derive(Debug, Default, PartialEq)]
struct Args {
    /// Start it in a separate session, print its pid and return.
    detach: bool,
    /// The build id that it must have.
    build: Option<String>,
    /// A command to perform first.
    then: Option<String>,
    /// The loop's folder.
    dir: PathBuf,
}

impl Args {
    fn read(mut words: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut args = Self::default();
        loop {
            let word = words.next()?;
            match word.to_str() {
                Some("--detach") => args.detach = true,
                Some("--build") => args.build = Some(words.next()?.into_string().ok()?),
                Some("--then") => args.then = Some(words.next()?.into_string().ok()?),
                Some(option) if option.starts_with('-') => return None,
                _ => {
                    args.dir = PathBuf::from(word);
                    return words.next().is_none().then_some(args);
                }
            }
        }
    }
}

/// Runs the keeper of one loop, or starts one detached. `words` come after the subcommand's name.
pub fn main(words: impl Iterator<Item = OsString>) -> ExitCode {
    abort_on_panic();
    outlive_file_size_limit();
    language::set_process_language(None);
    let done = match Args::read(words) {
        Some(args) if args.build.as_deref().is_some_and(|it| it != BUILD) => {
            return ExitCode::from(EXIT_BUILD_MISMATCH);
        }
        Some(args) => process_limits::require().and_then(|()| run_keeper(&args)),
        None => Err(Failure::usage(tr!("a keeper is started with the folder of its loop"))
            .hint(tr!("`loopkeeper run` and `loopkeeper resume` start keepers."))),
    };
    done.map_or_else(|failure| report(&failure), |()| ExitCode::SUCCESS)
}

/// Not inlined: the memory for its variables would be taken before the stack's limit is known.
#[inline(never)]
fn run_keeper(args: &Args) -> Result<(), Failure> {
    let (state, _, dir) = StateDir::of_loop(&args.dir)?;
    ensure_authority(&state, args, &dir)?;
    if args.detach {
        let pid = launch::spawn_keeper(&dir, args.then.as_deref())?;
        return Ok(writeln!(std::io::stdout(), "{pid}")?);
    }
    let mut command = match args.then.as_deref() {
        None => None,
        Some("stop") => Some(UserCommand::StopNow),
        Some("resume") => Some(UserCommand::Resume),
        Some("resume-anyway") => Some(UserCommand::ResumeAnyway),
        Some(other) => {
            return Err(Failure::usage(tr!("`{order}` is not a request to a keeper", order = other)));
        }
    };
    let mut disk_wait = DiskWait::default();
    loop {
        // Boxed: its state would be copied over the stack several times, and the stack never shrinks.
        let keeper = Box::pin(launch::run_keeper(&dir, Box::new(|_| {}), command.take(), WarningEcho::None));
        let ended = block_on(keeper)??;
        if !disk_room::is_waiting(&ended) {
            return Ok(());
        }
        let wait = disk_wait.wait_or_stop((state.root(), dir.root()), ended.iteration);
        if !block_on(wait)? || !is_still_waiting(&state, &dir) {
            return Ok(());
        }
        command = Some(UserCommand::Resume);
    }
}

/// Its user may have resumed or ended the loop in the meantime.
fn is_still_waiting(state: &StateDir, dir: &LoopDir) -> bool {
    let loop_view = LoopView::read(state, dir.clone()).ok().flatten();
    loop_view.is_some_and(|it| !it.is_alive() && it.damage.is_none() && disk_room::is_waiting(&it.state))
}

/// A started loop continues or ends only on its user's command.
fn ensure_authority(state: &StateDir, args: &Args, dir: &LoopDir) -> Result<(), Failure> {
    let command = match args.then.as_deref() {
        Some("stop") => RestrictedCommand::Stop,
        Some(_) => RestrictedCommand::Resume,
        None if dir.journal().exists() => RestrictedCommand::Resume,
        None => return Ok(()),
    };
    authority::ensure_user_of(state, command, Some(dir.id()))
}

/// Reports the failure to the log or to the caller; the exit code is the kind of failure.
fn report(failure: &Failure) -> ExitCode {
    let _ = std::io::stderr().write_all(failure.for_stderr().as_bytes());
    ExitCode::from(if failure.kind == FailureKind::Usage { 2 } else { 1 })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::Args;

    #[test]
    fn arguments_are_known_options_and_one_folder() {
        let check = |line: &str, expect: Option<Args>| {
            assert_eq!(Args::read(line.split_ascii_whitespace().map(OsString::from)), expect, "{line}");
        };
        let dir = || Args { dir: "/state/loops/x".into(), ..Args::default() };
        let resume = || Some("resume".to_owned());
        check("/state/loops/x", Some(dir()));
        check("--then resume /state/loops/x", Some(Args { then: resume(), ..dir() }));
        let build = Some("ab12".to_owned());
        let all = Args { detach: true, build, then: resume(), ..dir() };
        check("--detach --build ab12 --then resume /state/loops/x", Some(all));
        check("", None);
        check("--detach", None);
        check("--then resume", None);
        check("--now /state/loops/x", None);
        check("/state/loops/x /state/loops/y", None);
    }
}
