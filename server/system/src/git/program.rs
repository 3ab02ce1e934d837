//! Starts the `git` program so that nothing in a repository's configuration can make it start another program, write,
//! prompt or block indefinitely. Runs only commands that read.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use loopkeeper_core::journal::GitHead;

use super::{GitError, MAX_SUBJECTS, special_files, special_message};
use crate::snapshots::display_path;
use crate::snapshots::ignores::users_excludes_file;

/// A named pipe called `.gitignore` would block git indefinitely.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Everything in a configuration that could run a program in the commands used here.
const SETTINGS: [&str; 9] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.preloadIndex=true",
    "core.sshCommand=false",
    "core.pager=cat",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
];

pub(super) fn head(root: &Path) -> Result<Option<GitHead>, GitError> {
    if !is_inside(root)? {
        return Ok(None);
    }
    let action = "rev-parse";
    let commit = run(root, action, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
    if !commit.success {
        // Also the result for a branch without commits.
        return if commit.stderr.is_empty() { Ok(None) } else { Err(command_error(root, action, &commit)) };
    }
    let tree = run(root, action, &["rev-parse", "--verify", "--quiet", "HEAD^{tree}"])?;
    if !tree.success {
        return Err(command_error(root, action, &tree));
    }
    let branch = run(root, "symbolic-ref", &["symbolic-ref", "--quiet", "HEAD"])?;
    let branch = line(&branch.stdout).strip_prefix("refs/heads/").map(str::to_owned);
    Ok(Some(GitHead { commit: line(&commit.stdout), tree: line(&tree.stdout), branch }))
}

pub(super) fn commit_subjects(root: &Path, from: Option<&str>, to: &str) -> Result<Vec<String>, GitError> {
    let range = from.map_or_else(|| to.to_owned(), |from| format!("{from}..{to}"));
    let most = format!("--max-count={MAX_SUBJECTS}");
    // Git would show a signature with a program that the configuration names.
    let arguments = ["log", &most, "--no-show-signature", "--no-color", "--format=%s", &range, "--"];
    let output = run(root, "log", &arguments)?;
    if !output.success {
        return Err(command_error(root, "log", &output));
    }
    let mut subjects: Vec<String> =
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    subjects.reverse();
    Ok(subjects)
}

pub(super) fn untracked_paths(root: &Path) -> Result<Option<Vec<String>>, GitError> {
    if !is_inside(root)? {
        return Ok(None);
    }
    let action = "ls-files";
    // The repository's configuration can name another file, which would hide what an agent leaves.
    let excludes = users_excludes_file().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let excludes = format!("core.excludesFile={excludes}");
    let output = run(root, action, &["-c", &excludes, "ls-files", "--others", "--exclude-standard", "-z"])?;
    if !output.success {
        return Err(command_error(root, action, &output));
    }
    let paths = output.stdout.split(|it| *it == 0).filter(|it| !it.is_empty());
    Ok(Some(paths.map(display_path).collect()))
}

/// Whether `root` is in a work tree. If git refuses another user's repository, that is an error, not a no.
fn is_inside(root: &Path) -> Result<bool, GitError> {
    let output = run(root, "rev-parse", &["rev-parse", "--is-inside-work-tree"])?;
    if output.success {
        return Ok(line(&output.stdout) == "true");
    }
    let message = String::from_utf8_lossy(&output.stderr);
    if message.contains("not a git repository") || message.contains("cannot use bare repository") {
        Ok(false)
    } else {
        Err(command_error(root, "rev-parse", &output))
    }
}

struct GitOutput {
    success: bool,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

fn command_error(root: &Path, action: &'static str, output: &GitOutput) -> GitError {
    // The rest is advice by git, over several lines.
    let first = output.stderr.trim_ascii().split(|it| *it == b'\n').next().unwrap_or_default();
    let message = display_path(first);
    GitError::Failed { action, root: root.to_path_buf(), message }
}

fn line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.trim_ascii_end()).into_owned()
}

fn run(root: &Path, action: &'static str, arguments: &[&str]) -> Result<GitOutput, GitError> {
    if let Some(path) = special_files::find(root) {
        let message = special_message(&path);
        return Err(GitError::Failed { action, root: root.to_path_buf(), message });
    }
    let mut child = command(root, arguments).spawn().map_err(|source| GitError::NotStarted { source })?;
    let (sender, receiver) = mpsc::channel();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let errors = thread::Builder::new().spawn(move || read(stderr));
    let output = thread::Builder::new().spawn(move || drop(sender.send(read(stdout))));
    let errors = match (errors, output) {
        (Ok(errors), Ok(_)) => errors,
        (Err(source), _) | (_, Err(source)) => {
            let _ = child.kill();
            let _ = child.wait();
            return Err(GitError::NotStarted { source });
        }
    };
    let Ok(stdout) = receiver.recv_timeout(TIMEOUT) else {
        let _ = child.kill();
        let _ = child.wait();
        return Err(GitError::TimedOut { action, seconds: TIMEOUT.as_secs(), root: root.to_path_buf() });
    };
    let stderr = errors.join().unwrap_or_default();
    let status = child.wait().map_err(|source| GitError::NotStarted { source })?;
    Ok(GitOutput { success: status.success(), stdout, stderr })
}

fn read(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}

fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    for name in std::env::vars_os().map(|it| it.0).filter(is_git_variable) {
        command.env_remove(name);
    }
    command
        .args(["--no-pager", "--no-optional-locks"])
        .args(SETTINGS.iter().flat_map(|it| ["-c", it]))
        .args(arguments)
        .current_dir(root)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Variables that may redirect git to another repository; only the location of its own programs is kept.
fn is_git_variable(name: &OsString) -> bool {
    let name: &OsStr = name;
    name.to_string_lossy().starts_with("GIT_") && name != "GIT_EXEC_PATH"
}
