//! Files outside the work tree: an agent reads no credentials, and changes nothing that later runs with the user's
//! rights. The ways out are those of `tests/rigs/ways_out`.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use rustix::process::geteuid;

use crate::kill_domain::rig::namespace;
use crate::support::scenario::Scenario;
use crate::support::world::World;

const BEFORE: &str = "git init -q; mkdir -p $HOME/.ssh; echo key > $HOME/.ssh/id; echo key > $HOME/.netrc; echo mine > $HOME/.bashrc";
/// Attempts to get around the mounts.
const WAYS_AROUND: &[(&str, &str)] = &[
    ("unmount", "umount $HOME/.ssh && cat $HOME/.ssh/id"),
    ("unmount-lazily", "umount -l $HOME/.netrc && cat $HOME/.netrc"),
];

/// A loop whose agent makes these attempts; the names of those that succeeded.
fn succeed(attempts: &[&[(&str, &str)]], settings: &str) -> (World, Vec<String>) {
    succeed_after(BEFORE, attempts, settings)
}

fn succeed_after(before: &str, attempts: &[&[(&str, &str)]], settings: &str) -> (World, Vec<String>) {
    let criteria = &["It is there: `exists done`"];
    let world = Scenario { criteria, settings, before, ..Scenario::default() }.world();
    let mut act = format!("export STATE={}\n", world.terminal.state().display());
    for (name, code) in attempts.concat() {
        fs::write(world.shared(&format!("{name}.sh")), format!("set -e\n{code}\n")).unwrap();
        let script = world.shared(&format!("{name}.sh"));
        let _ = writeln!(act, "sh {} >/dev/null 2>&1 && echo {name} >> succeeded", script.display());
    }
    world.acts(&[&format!("{act}touch succeeded done")]);
    world.run(&["run", "--trust"]).expect(0).out("ompleted, verified");
    let names = world.terminal.read("succeeded").lines().map(str::to_owned).collect();
    (world, names)
}

#[test]
fn an_agent_of_root_cannot_undo_the_mounts() {
    if namespace().is_none() {
        return;
    }
    assert_eq!(succeed(&[WAYS_AROUND], "").1, [""; 0]);
}

/// Control: with the capabilities of root, the mounts can be undone.
#[test]
fn control_with_all_capabilities_the_mounts_can_be_undone() {
    if namespace().is_none() || !geteuid().is_root() {
        return;
    }
    let world = World::new();
    world.shell(BEFORE);
    let home = world.terminal.folder().join("home");
    for (name, code) in WAYS_AROUND {
        let mut command = Command::new("bwrap");
        command.args(["--dev-bind", "/", "/", "--tmpfs"]).arg(home.join(".ssh"));
        command.args(["--ro-bind", "/dev/null"]).arg(home.join(".netrc"));
        let output = command.args(["--", "sh", "-ec", code]).env("HOME", &home).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "key\n", "{name}");
    }
}

#[test]
fn the_configuration_leaves_paths_open_and_hides_others() {
    if namespace().is_none() {
        return;
    }
    let attempts: &[(&str, &str)] = &[
        ("read-key", "cat $HOME/.ssh/id"),
        ("read-token", "cat $HOME/.netrc"),
        ("read-startup", "cat $HOME/.bashrc"),
    ];
    for allowed in ["~/.ssh", "~/.ssh/id"] {
        let settings = format!("sandbox.allow = [\"{allowed}\"]\nsandbox.hide = [\"~/.bashrc\"]");
        assert_eq!(succeed(&[attempts], &settings).1, ["read-key"], "{allowed}");
    }
}

/// Without a dot in front of its name, an entry of the home folder is no cache and no toolchain.
#[test]
fn other_projects_are_read_only_unless_the_configuration_opens_them() {
    if namespace().is_none() {
        return;
    }
    let made = "mkdir -p $HOME/other $HOME/build $HOME/go/pkg $HOME/.cache ../beside/.git; echo x > $HOME/other/file";
    let attempts: &[(&str, &str)] = &[
        ("read", "cat $HOME/other/file"),
        ("write", "echo evil > $HOME/other/file"),
        ("create", "touch $HOME/other/new"),
        ("beside", "touch ../beside/new"),
        ("build", "touch $HOME/build/x"),
        ("tools", "touch $HOME/go/pkg/x $HOME/.cache/x $HOME/new-folder"),
    ];
    let before = &format!("{BEFORE}; {made}");
    assert_eq!(succeed_after(before, &[attempts], "").1, ["read", "tools"]);
    let settings = "sandbox.write = [\"~/build\", \"~/.ssh\"]";
    let hidden: &[(&str, &str)] = &[("key", "cat $HOME/.ssh/id")];
    assert_eq!(succeed_after(before, &[attempts, hidden], settings).1, ["read", "build", "tools"]);
}

#[test]
fn a_required_sandbox_protects_the_configuration_of_git_too() {
    if namespace().is_none() {
        return;
    }
    let attempts: &[(&str, &str)] =
        &[("git-config", "git config core.pager evil"), ("read", "git config core.bare")];
    let (_, succeeded) = succeed(&[attempts], "sandbox.kind = \"required\"");
    assert_eq!(succeeded, ["read"]);
}

/// Checks run code that the agent wrote.
#[test]
fn checks_cannot_read_hidden_files() {
    if namespace().is_none() {
        return;
    }
    let criteria = &["No key: `$ ! cat $HOME/.ssh/id`", "It is there: `exists done`"];
    let acts = &["touch done"];
    let world = Scenario { criteria, acts, before: BEFORE, ..Scenario::default() }.world();
    world.run(&["run", "--trust"]).expect(0).out("ompleted, verified");
}

#[test]
fn a_path_that_the_workspace_leaves_open_needs_trust() {
    let criteria = &["It is there: `exists done`"];
    let settings = "sandbox.allow = [\"~/.ssh\"]\nsandbox.write = [\"~/build\"]";
    let world = Scenario { criteria, settings, ..Scenario::default() }.world();
    let shown = world.run(&["trust"]);
    shown.expect(5).out("Paths that the sandbox leaves open to agent and checks: ~/.ssh");
    shown.out("Paths that agent and checks may change: ~/build");
}

#[test]
fn denied_paths_are_named_once_and_in_the_next_prompt() {
    if namespace().is_none() {
        return;
    }
    let key = "Key: `$ cat $HOME/.ssh/id >&2; exists=$(ls done) && echo $exists`";
    let played = Scenario {
        criteria: &[key],
        before: BEFORE,
        acts: &[
            "cat $HOME/.ssh/id; cat $HOME/.ssh/id; cat $HOME/.netrc; touch $HOME/.bashrc; echo x > tried",
            "touch done",
        ],
        ends: crate::support::scenario::Ends::Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    let run = &played.record("agent-ended", 1)["run"];
    assert_eq!(run["closedPaths"], serde_json::json!(["~/.ssh/id", "~/.netrc"]), "{run}");
    assert_eq!(run["readOnlyPaths"], serde_json::json!(["~/.bashrc"]), "{run}");
    let sentence = "the sandbox denies ~/.ssh/id, ~/.netrc: `sandbox.allow` lifts it; \
        the sandbox makes ~/.bashrc read-only: `sandbox.write` lifts it";
    played.prompt_has(2, sentence);
    let ended = played.record("iteration-ended", 1)["sentence"].as_str().unwrap();
    assert!(ended.ends_with(&format!("; {sentence}")), "{ended}");
    let result = &played.record("checks-done", 1)["round"]["results"][0];
    let fact = result["fact"].as_str().unwrap();
    assert!(fact.ends_with("; the sandbox denies ~/.ssh/id: `sandbox.allow` lifts it"), "{fact}");
}
