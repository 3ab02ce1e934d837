//! The state folder is removed under a running keeper: the keeper has to notice, end its agent and exit, without
//! creating anything again.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use crate::cli_run::{project, until};
use crate::kill_domain::rig::{alive, remaining, token};
use crate::support::world::{TIMEOUT, delete};

/// Starts a loop whose agent never ends, does the damage, and waits until the keeper is gone.
fn check(name: &str, harm: fn(&Path), expect: &str) {
    let token = token("state");
    let agent = format!("sh -c 'while :; do sleep 1; done' {token}");
    let terminal = project("# Make it\n\n## Done when\n\n- It is there: `$ test -f done`\n", &agent);
    let mut command = terminal.command(&["run", "--trust", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = until(&mut child, "agent-started");
    let begun = Instant::now();
    while alive(&token).is_empty() {
        assert!(begun.elapsed() < TIMEOUT, "{name}");
        std::thread::yield_now();
    }
    harm(&terminal.state());
    let after = listing(&terminal.state());
    assert_eq!(lines.map(Result::unwrap).find(|it| it.contains("\"type\":\"ended\"")), None, "{name}");
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{name}: {stderr}");
    assert!(stderr.contains(expect), "{name}: {stderr}");
    assert_eq!(remaining(&token, TIMEOUT), [""; 0], "{name}");
    // There may be fewer: the keeper removes its socket. A snapshot may have been in progress.
    let looking = after.iter().find(|it| it.ends_with("snapshots.git"));
    let is_new = |it: &PathBuf| !after.contains(it) && !looking.is_some_and(|store| it.starts_with(store));
    let made: Vec<_> = listing(&terminal.state()).into_iter().filter(is_new).collect();
    assert!(made.is_empty(), "{name}: {made:?}");
}

/// Every path below a folder; empty if it does not exist.
fn listing(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        paths.push(entry.path());
        paths.extend(listing(&entry.path()));
    }
    paths
}

/// The files of this name below the folder.
fn named(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let name = |path: &PathBuf| path.file_name().is_some_and(|it| wanted(&it.to_string_lossy()));
    let found: Vec<_> = listing(folder).into_iter().filter(name).collect();
    assert!(!found.is_empty());
    found
}

#[test]
fn a_keeper_notices_that_its_state_is_gone() {
    std::thread::scope(|scope| {
        let check = |name, harm, expect| {
            scope.spawn(move || check(name, harm, expect));
        };
        check("everything deleted", delete, "journal.jsonl");
        check(
            "journal replaced",
            |state| {
                for journal in named(state, |it| it == "journal.jsonl") {
                    let copy = journal.with_extension("copy");
                    fs::copy(&journal, &copy).unwrap();
                    fs::rename(copy, journal).unwrap();
                }
            },
            "journal.jsonl",
        );
        check(
            "locks deleted",
            |state| {
                let locks = named(state, |it| it.ends_with("lock"));
                for lock in locks.iter().filter(|it| !it.starts_with(state.join("workspaces")) || of_loop(it))
                {
                    fs::remove_file(lock).unwrap();
                }
            },
            "journal.jsonl",
        );
    });
}

/// Not the snapshot store's own lock.
fn of_loop(lock: &Path) -> bool {
    lock.components().any(|it| it.as_os_str() == "loops")
}
