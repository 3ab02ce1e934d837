//! Machines without bubblewrap: the final verdict has a clean room all the same, where mount namespaces can be made. Where
//! none can be made, it is a copy at another path.

use std::path::PathBuf;

use crate::cli::{Ran, Terminal};

const TASK: &str = "# Sums\n\n## Done when\n\n- Tests pass: `$ sh tests/run.sh`\n";
const TESTS: &str = "test \"$(sh add.sh 1 2)\" = 3 || { echo 'assert failed'; exit 1; }\n";
const HONEST: &str = "echo 'echo $(($1 + $2))' > add.sh\n";
const CHEAT: &str = "echo 'exit 0' > tests/run.sh\n";
/// Covers bubblewrap in a mount namespace.
pub(crate) const HIDE: &str =
    r#"for it in $(which -a bwrap); do mount --bind /dev/null "$it" || exit 99; done; exec "$@""#;
/// No namespaces at all, as in a container without them.
pub(crate) const NO_NAMESPACES: &str =
    "for it in user mnt pid; do echo 0 > /proc/sys/user/max_${it}_namespaces || exit 99; done; exec \"$@\"";
/// The namespaces' root, and an ordinary user in one of its own.
pub(crate) const USERS: [&[&str]; 2] = [&[], &["unshare", "--user", "--map-user=1000", "--map-group=1000"]];

fn played(agent: &str, user: &[&str], settings: &str) -> Option<Ran> {
    let terminal = project(agent, settings);
    let ran = ran_in(&terminal, HIDE, user);
    possible("the clean room without bubblewrap", ran)
}

fn project(agent: &str, settings: &str) -> Terminal {
    let terminal = Terminal::new();
    let mine = format!("agent = \"mine\"\n[agents.mine]\ncommand = [\"/bin/sh\", \"agent.sh\"]\n{settings}");
    terminal.file("PROMPT.md", TASK).file("tests/run.sh", TESTS).file("add.sh", "echo 4\n");
    terminal.file("agent.sh", agent).file("loopkeeper.toml", &mine);
    terminal
}

/// Runs a loop in a user namespace after `setup`.
fn ran_in(terminal: &Terminal, setup: &str, user: &[&str]) -> Ran {
    run_in(terminal, setup, user, &["run", "--trust", "--max-iterations", "2"])
}

/// The same for other arguments.
pub(crate) fn run_in(terminal: &Terminal, setup: &str, user: &[&str], args: &[&str]) -> Ran {
    let unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", setup, "sh"];
    Ran::of(&terminal.command_within(&[&unshare, user].concat(), args).output().unwrap())
}

pub(crate) fn possible(what: &str, ran: Ran) -> Option<Ran> {
    let possible = ran.code != Some(99) && !ran.stderr.starts_with("unshare: ");
    if !possible {
        crate::not_run(what, &ran.stderr);
    }
    possible.then_some(ran)
}

#[test]
fn a_clean_room_needs_no_bubblewrap() {
    for user in USERS {
        let Some(honest) = played(HONEST, user, "") else { return };
        honest.expect(0).out("final verdict in a clean room: 1/1 pass").out("Completed, verified");
        let Some(cheat) = played(CHEAT, user, "") else { return };
        cheat.expect(1).out("0/1 pass with the old versions of 1 changed test file");
    }
}

/// Control: with the sandbox off there is no room.
#[test]
fn control_without_a_sandbox_the_work_tree_is_judged() {
    let Some(ran) = played(HONEST, &[], "[sandbox]\nkind = \"off\"\n") else { return };
    ran.expect(0).out("Completed, verified");
    assert!(!ran.stdout.contains("clean room"), "{}", ran.stdout);
}

#[test]
fn without_namespaces_a_copy_is_judged() {
    let played = |agent: &str| {
        let terminal = project(agent, "");
        let ran = possible("a copy as the clean room", ran_in(&terminal, NO_NAMESPACES, &[]))?;
        assert!(rooms(&terminal).is_empty(), "{:?}", rooms(&terminal));
        Some((ran, terminal))
    };
    let Some((honest, terminal)) = played(HONEST) else { return };
    honest.expect(0).out("final verdict in a copy at another path: 1/1 pass");
    honest.out("verified").out("; judged in a copy at another path");
    terminal
        .run(&["receipt"])
        .expect(0)
        .out("| Clean room | a copy at another path: no mount namespace can be made");
    let Some((cheat, _)) = played(CHEAT) else { return };
    cheat.expect(1).out("0/1 pass with the old versions of 1 changed test file");
}

/// A check that needs the root's own path is no evidence against the work.
#[test]
fn a_failure_of_the_copy_alone_is_not_refused() {
    let terminal = project(HONEST, "");
    let root = terminal.root();
    terminal.file("tests/run.sh", &format!("{TESTS}test \"$PWD\" = '{}' || exit 1\n", root.display()));
    let Some(ran) = possible("a copy as the clean room", ran_in(&terminal, NO_NAMESPACES, &[])) else {
        return;
    };
    ran.expect(0).out("without a clean room: no mount namespace can be made");
    ran.out("and \"Tests pass\" does not pass in a copy at another path");
}

/// What a killed keeper left is removed by the next.
#[test]
fn rooms_that_were_left_are_removed() {
    let terminal = project(HONEST, "");
    let Some(ran) = possible("a copy as the clean room", ran_in(&terminal, NO_NAMESPACES, &[])) else {
        return;
    };
    ran.expect(0);
    let output = outputs(&terminal).remove(0);
    std::fs::create_dir_all(output.join("room-12345678/work")).unwrap();
    assert_eq!(rooms(&terminal).len(), 1);
    terminal.run(&["run", "--trust"]).expect(0);
    assert!(rooms(&terminal).is_empty(), "{:?}", rooms(&terminal));
}

fn outputs(terminal: &Terminal) -> Vec<PathBuf> {
    terminal.loops().iter().map(|it| it.join("output")).filter(|it| it.is_dir()).collect()
}

fn rooms(terminal: &Terminal) -> Vec<PathBuf> {
    let entries = outputs(terminal).into_iter().flat_map(|it| std::fs::read_dir(it).unwrap());
    let paths = entries.map(|it| it.unwrap().path());
    paths.filter(|it| it.file_name().unwrap().to_string_lossy().starts_with("room-")).collect()
}
