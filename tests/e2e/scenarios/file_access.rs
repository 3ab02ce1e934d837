//! Files outside the work tree: an agent reads no credentials, and changes nothing that later runs with the user's
//! rights. Attempts have a control without the sandbox, attempts to undo its mounts one with the rights to undo them.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use rustix::process::geteuid;

use crate::kill_domain::rig::namespace;
use crate::support::scenario::Scenario;
use crate::support::world::World;

const BEFORE: &str = "git init -q; mkdir -p $HOME/.ssh; echo key > $HOME/.ssh/id; echo key > $HOME/.netrc; echo mine > $HOME/.bashrc";
/// Attempts that succeed without the sandbox: a name, and shell code.
const ATTEMPTS: &[(&str, &str)] = &[
    ("read-key", "cat $HOME/.ssh/id"),
    ("add-key", "echo key > $HOME/.ssh/authorized_keys"),
    ("read-token", "cat $HOME/.netrc"),
    ("read-by-link", "ln -sf $HOME/.ssh/id link; cat link"),
    ("read-by-process", "cat /proc/self/root$HOME/.ssh/id"),
    ("shell-startup", "echo evil >> $HOME/.bashrc"),
    ("replace-startup", "echo evil > new; mv -f new $HOME/.bashrc"),
    ("git-hook", "echo evil > .git/hooks/pre-commit"),
    ("trust", "touch $STATE/trust/forged"),
    ("own-programs", "touch $STATE/bin/forged"),
    ("journal", "touch $STATE/workspaces/*/loops/*/journal.jsonl"),
    ("configuration", "touch $HOME/.config/loopkeeper/forged"),
];
/// Attempts to get around the mounts.
const WAYS_AROUND: &[(&str, &str)] = &[
    ("unmount", "umount $HOME/.ssh && cat $HOME/.ssh/id"),
    ("unmount-lazily", "umount -l $HOME/.netrc && cat $HOME/.netrc"),
    ("remount", "mount -o remount,bind,rw $HOME/.bashrc && echo evil >> $HOME/.bashrc"),
    ("bind", "mkdir -p there && mount --bind $HOME there && cat there/.ssh/id"),
    ("user-namespace", "unshare -Urm sh -c 'umount $HOME/.ssh && cat $HOME/.ssh/id'"),
    ("first-process", "cat /proc/1/root$HOME/.ssh/id"),
    ("other-namespace", "nsenter -t 1 -m cat $HOME/.ssh/id"),
];
/// What builds need.
const NEEDED: &[(&str, &str)] = &[
    ("cache", "mkdir -p $HOME/.cache && echo x > $HOME/.cache/x"),
    ("temporary", "echo x > $(mktemp)"),
    (
        "commit",
        "git add link 2>/dev/null; git -c user.name=a -c user.email=a@b commit -qm work --allow-empty",
    ),
    ("read-startup", "cat $HOME/.bashrc"),
    ("commit-name", "git config user.name agent"),
];

/// A loop whose agent makes these attempts; the names of those that succeeded.
fn succeed(attempts: &[&[(&str, &str)]], settings: &str) -> (World, Vec<String>) {
    let criteria = &["It is there: `exists done`"];
    let world = Scenario { criteria, settings, before: BEFORE, ..Scenario::default() }.world();
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

fn names(attempts: &[(&str, &str)]) -> Vec<String> {
    attempts.iter().map(|(name, _)| (*name).to_owned()).collect()
}

#[test]
fn an_agent_has_no_access_to_credentials_and_startup_files() {
    if namespace().is_none() {
        return;
    }
    let (world, succeeded) = succeed(&[ATTEMPTS, WAYS_AROUND, NEEDED], "");
    assert_eq!(succeeded, names(NEEDED));
    let home = world.terminal.folder().join("home");
    assert_eq!(fs::read_to_string(home.join(".bashrc")).unwrap(), "mine\n");
    assert!(!home.join(".ssh/authorized_keys").exists());
}

/// Control: without the sandbox every attempt succeeds.
#[test]
fn without_the_sandbox_an_agent_has_the_users_access() {
    let (_, succeeded) = succeed(&[ATTEMPTS, NEEDED], "sandbox.kind = \"off\"");
    assert_eq!(succeeded, names(&[ATTEMPTS, NEEDED].concat()));
}

/// Control: with the capabilities of root, the mounts can be undone and bypassed.
#[test]
fn with_all_capabilities_the_mounts_can_be_undone() {
    if namespace().is_none() || !geteuid().is_root() {
        return;
    }
    let world = World::new();
    world.shell(BEFORE);
    let home = world.terminal.folder().join("home");
    for (name, code) in WAYS_AROUND.iter().filter(|(name, _)| ["unmount", "unmount-lazily"].contains(name)) {
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
fn a_check_has_no_access_either() {
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
    let settings = "sandbox.allow = [\"~/.ssh\"]";
    let world = Scenario { criteria, settings, ..Scenario::default() }.world();
    world.run(&["trust"]).expect(5).out("Paths that the sandbox leaves open to agent and checks: ~/.ssh");
}
