//! `hook install` and `hook remove`: they change only the required bytes and leave no trace.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;

use crate::cli::Terminal;
use crate::cli_run::{TASK, project};

const FILE: &str = ".claude/settings.local.json";
const MINE: &str = "{\n\t\"permissions\": {\"allow\": [\"Bash(ls)\"]},\r\n\t\"hooks\": {\"Stop\": []}\r\n}";

/// Settings with a user's own hook.
const OWN_VETO: &str = "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Task|Agent\", \"hooks\": [{\"type\": \"command\",\n\"command\": \"veto\"}]} ] }}";

/// Names, modes and bytes of everything in the work tree.
fn tree(root: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).expect("a folder").flatten() {
        let (path, mode) = (entry.path(), entry.metadata().expect("there").permissions().mode());
        if path.is_dir() {
            found.extend(tree(&path));
        }
        found.push((path.display().to_string(), mode, fs::read(&path).unwrap_or_default()));
    }
    found.sort();
    found
}

#[test]
fn an_uninstall_removes_every_trace() {
    let check = |before: Option<&str>| {
        let terminal = Terminal::new();
        if let Some(text) = before {
            terminal.file(FILE, text);
            let path = terminal.root().join(FILE);
            fs::set_permissions(path, fs::Permissions::from_mode(0o640)).expect("mine");
        }
        let as_it_was = tree(&terminal.root());
        terminal.run(&["hook", "install"]).expect(0).out("asks loopkeeper here whether its turn may end");
        let with = terminal.read(FILE);
        let told: Value = serde_json::from_str(&with).expect("JSON");
        let command = told["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().expect("a command");
        assert_eq!(command, format!("'{}' hook session stop", env!("CARGO_BIN_EXE_loopkeeper")));
        terminal
            .run(&["hook", "install"])
            .expect(0)
            .out("The hooks are already in .claude/settings.local.json.");
        assert_eq!(terminal.read(FILE), with);
        terminal.run(&["hook", "remove"]).expect(0).out("Removed the hooks from");
        assert_eq!(tree(&terminal.root()), as_it_was);
        terminal.run(&["hook", "remove"]).expect(0).out("holds no hook of loopkeeper");
    };
    check(None);
    check(Some(MINE));
    check(Some("{}"));
    check(Some("{\n}\n"));
    check(Some("{\"hooks\": {}}\n"));
    check(Some(OWN_VETO));
    check(Some(" \n"));
}

#[test]
fn a_file_that_was_edited_since_keeps_its_edits() {
    let terminal = Terminal::new();
    terminal.run(&["hook", "install"]).expect(0);
    // Like Claude Code's own edit when the user allows a tool permanently.
    let mut told: Value = serde_json::from_str(&terminal.read(FILE)).expect("JSON");
    told["permissions"] = serde_json::json!({"allow": ["Bash(ls)"]});
    terminal.file(FILE, &serde_json::to_string_pretty(&told).expect("text"));
    terminal.run(&["hook", "install"]).expect(0).out("The hooks are already in .claude/settings.local.json.");
    terminal.run(&["hook", "remove"]).expect(0);
    assert_eq!(
        terminal.read(FILE),
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls)\"\n    ]\n  }\n}"
    );
    // Created by us, and empty now.
    fs::remove_dir_all(terminal.root().join(".claude")).expect("removed");
    terminal.run(&["hook", "install"]).expect(0);
    terminal.file(FILE, &format!("\n{}", terminal.read(FILE)));
    terminal.run(&["hook", "remove"]).expect(0);
    assert!(!terminal.root().join(".claude").exists());
}

#[test]
fn settings_that_cannot_be_changed_safely_are_not_changed() {
    let terminal = Terminal::new();
    for broken in ["{\n  // mine\n}\n", "{\"a\": 1,}", "[]", "{\"hooks\": 1}", "{\"a\": \"\u{1b}"] {
        terminal.file(FILE, broken);
        let ran = terminal.run(&["hook", "install"]);
        ran.expect(2).err("nothing was changed in").err("Hint: ");
        assert_eq!(terminal.read(FILE), broken);
    }
    let elsewhere = terminal.folder().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    fs::remove_dir_all(terminal.root().join(".claude")).expect("removed");
    symlink(&elsewhere, terminal.root().join(".claude")).expect("a link");
    terminal.run(&["hook", "install"]).expect(2).err("is a link: nothing was changed");
    assert_eq!(fs::read_dir(&elsewhere).expect("a folder").count(), 0);
    let mut at_home = terminal.command(&["hook", "install"]);
    let ran = at_home.env("HOME", terminal.root()).output().expect("it runs");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("this folder is your home"));
}

#[test]
fn trust_is_not_asked_again_for_what_the_user_asked_for() {
    let terminal = project(TASK, "touch done");
    terminal.run(&["run", "--trust"]).expect(0);
    terminal.run(&["hook", "install"]).expect(0);
    terminal.run(&["run"]).expect(0).out("0 iterations");
    // A user's own settings need trust, with our hooks as without them.
    terminal.file(FILE, MINE);
    terminal.run(&["run"]).expect(5).err("1 command");
    terminal.run(&["hook", "install"]).expect(0);
    terminal.run(&["run"]).expect(5).err("1 command");
    terminal.run(&["run", "--trust"]).expect(0);
    terminal.run(&["hook", "remove"]).expect(0);
    assert_eq!(terminal.read(FILE), MINE);
}

#[test]
fn without_a_loop_the_session_is_left_alone() {
    let terminal = Terminal::new();
    for event in ["stop", "prompt", "end", "pre-tool", "subagent-start", "subagent-stop"] {
        let ran = terminal.run(&["hook", "session", event]);
        ran.expect(0);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{event}");
    }
    terminal.run(&["hook", "session", "later"]).expect(2);
}
