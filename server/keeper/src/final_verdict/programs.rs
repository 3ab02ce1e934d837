//! Finds the programs that the checks run by name, and asks for their versions in a clean room.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopkeeper_core::check::{CommandExit, CommandRun};
use loopkeeper_core::journal::CheckProgram;
use loopkeeper_system::check_programs::find_program;
use loopkeeper_system::process::{Job, StdinSource, StreamLayout};
use loopkeeper_system::trust::permit::ApprovedInput;
use loopkeeper_text::{sanitize, truncate};

use super::VerdictRequest;
use super::room::{self, RoomLayout};
use crate::run_context::{EnvVars, RunContext};

const MAX_PROGRAMS: usize = 20;
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
const VERSION_BYTES: usize = 200;
/// Programs that print their version and do nothing else, with the argument for it.
const VERSIONS: [(&str, &str); 24] = [
    ("bun", "--version"),
    ("bundle", "--version"),
    ("cargo", "--version"),
    ("clang", "--version"),
    ("cmake", "--version"),
    ("deno", "--version"),
    ("dotnet", "--version"),
    ("gcc", "--version"),
    ("git", "--version"),
    ("go", "version"),
    ("java", "-version"),
    ("make", "--version"),
    ("node", "--version"),
    ("npm", "--version"),
    ("perl", "--version"),
    ("php", "--version"),
    ("pnpm", "--version"),
    ("pytest", "--version"),
    ("python", "--version"),
    ("python3", "--version"),
    ("ruby", "--version"),
    ("rustc", "--version"),
    ("uv", "--version"),
    ("yarn", "--version"),
];

/// The files of these programs.
pub(super) fn find_programs(names: &[String], search_path: &OsStr) -> Vec<CheckProgram> {
    let program = |name: &String| {
        let found = find_program(name, search_path)?;
        let path = found.path.to_string_lossy().into_owned();
        Some(CheckProgram { name: name.clone(), path, version: None, sha256: found.sha256 })
    };
    names.iter().filter_map(program).take(MAX_PROGRAMS).collect()
}

/// Asks the programs outside the work tree for their versions. One that does not answer has none.
pub(super) async fn ask_versions(
    runtime: &RunContext,
    request: &VerdictRequest,
    layout: &RoomLayout,
    programs: &mut [CheckProgram],
) {
    let argument = |it: &CheckProgram| {
        let is_outside = !Path::new(&it.path).starts_with(runtime.root());
        VERSIONS
            .iter()
            .find(|(name, _)| *name == it.name)
            .filter(|_| is_outside)
            .map(|(_, argument)| *argument)
    };
    let asked: Vec<_> = programs.iter().map(argument).collect();
    let room = if asked.iter().any(Option::is_some) {
        room::open_room(runtime, request, layout).await.ok()
    } else {
        None
    };
    if let Some((room, wardens)) = room {
        if let Ok(env) = room::room_env(runtime, &room, layout) {
            for (program, argument) in programs.iter_mut().zip(asked) {
                let Some(argument) = argument else { continue };
                let job = version_job(room.root(), format!("{} {argument}", program.name), &env.variables);
                let run = wardens.run_to_end(&job, StreamLayout::Together, VERSION_TIMEOUT).await;
                program.version = version(runtime, &run);
            }
        }
        wardens.shutdown().await;
    }
    for program in programs {
        program.path = clean(runtime, &program.path);
    }
}

/// Only for a program of [`VERSIONS`].
fn version_job(root: PathBuf, line: String, env: &EnvVars) -> Job {
    Job {
        argv: ApprovedInput::internal(["/bin/sh".into(), "-c".into(), line.into()].to_vec()),
        cwd: root,
        env: env.clone(),
        stdin: StdinSource::Null,
        grace: Duration::ZERO,
        output: None,
    }
}

fn version(runtime: &RunContext, run: &CommandRun) -> Option<String> {
    let printed = String::from_utf8_lossy(if run.both.is_empty() { &run.stdout } else { &run.both });
    let line = printed.lines().map(|it| clean(runtime, it)).find(|it| !it.is_empty())?;
    (run.ending == CommandExit::Exited(0)).then_some(line)
}

fn clean(runtime: &RunContext, text: &str) -> String {
    let text = runtime.redactor.redact(&sanitize::line(text));
    truncate::first_bytes(text.trim(), VERSION_BYTES).to_owned()
}
