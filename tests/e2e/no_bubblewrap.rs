//! Machines without bubblewrap: the final verdict has a clean room all the same, where mount namespaces can be made.

use std::process::Command;

use crate::cli::{Ran, Terminal};

const TASK: &str = "# Sums\n\n## Done when\n\n- Tests pass: `$ sh tests/run.sh`\n";
const TESTS: &str = "test \"$(sh add.sh 1 2)\" = 3 || { echo 'assert failed'; exit 1; }\n";
const HONEST: &str = "echo 'echo $(($1 + $2))' > add.sh\n";
const CHEAT: &str = "echo 'exit 0' > tests/run.sh\n";
/// Covers bubblewrap in a mount namespace.
const HIDE: &str =
    r#"for it in $(which -a bwrap); do mount --bind /dev/null "$it" || exit 99; done; exec "$@""#;
/// The namespaces' root, and an ordinary user in one of its own.
const USERS: [&[&str]; 2] = [&[], &["unshare", "--user", "--map-user=1000", "--map-group=1000"]];

fn played(agent: &str, user: &[&str], settings: &str) -> Option<Ran> {
    let terminal = Terminal::new();
    let mine = format!("agent = \"mine\"\n[agents.mine]\ncommand = [\"/bin/sh\", \"agent.sh\"]\n{settings}");
    terminal.file("PROMPT.md", TASK).file("tests/run.sh", TESTS).file("add.sh", "echo 4\n");
    terminal.file("agent.sh", agent).file("loopkeeper.toml", &mine);
    let ours = terminal.command(&["run", "--trust", "--max-iterations", "2"]);
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", HIDE, "sh"]).args(user);
    command.arg(ours.get_program()).args(ours.get_args()).current_dir(terminal.root()).env_clear();
    command.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = Ran::of(&command.output().unwrap());
    let possible = ran.code != Some(99) && !ran.stderr.starts_with("unshare: ");
    if !possible {
        crate::not_run("the clean room without bubblewrap", &ran.stderr);
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
