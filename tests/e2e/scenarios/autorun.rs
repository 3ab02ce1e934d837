//! Changed files that programs of the user execute later without being asked are named at the end.

use super::git::START;
use crate::support::scenario::Ends::{Limit, Verified};
use crate::support::scenario::Scenario;

const NOTE: &str = "later without being asked";

#[test]
fn files_of_the_work_tree_and_of_git_are_named() {
    let hook = "printf '#!/bin/sh\\n' > .git/hooks/pre-push; git config core.fsmonitor /tmp/x";
    let played = Scenario {
        before: START,
        settings: "sandbox.kind = \"off\"",
        criteria: &["It is there: `exists done`"],
        acts: &[&format!("ln -s ../x .envrc; {hook}; touch done")],
        ends: Verified(
            1,
            "3 changed files run later without being asked: .envrc (by a shell in this folder), \
             .git/config (by git), .git/hooks/pre-push (by git)",
        ),
        ..Scenario::default()
    }
    .play();
    played.world.run(&["status"]).expect(0).out(NOTE);
}

/// The sandbox leaves repositories inside the tree writable, because builds remove them.
#[test]
fn hooks_of_inner_repositories_are_named() {
    Scenario {
        before: "git init -q && git init -q deps/one",
        criteria: &["It is there: `exists done`"],
        acts: &["git init -q deps/two; mkdir -p deps/one/.git/hooks; touch deps/one/.git/hooks/pre-commit; \
             git -C deps/two config core.fsmonitor /tmp/x; touch done"],
        ends: Verified(
            1,
            "2 changed files run later without being asked: deps/one/.git/hooks/pre-commit (by git), \
             deps/two/.git/config (by git)",
        ),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn ordinary_work_of_an_agent_is_not_listed() {
    let work = "git config user.name B; git checkout -qb work; printf '{\"scripts\": {\"test\": \"x\"}}' > package.json";
    let played = Scenario {
        files: &[(".envrc", "x\n"), ("package.json", "{}")],
        before: START,
        settings: "sandbox.kind = \"off\"\nlimits.iterations = 1",
        criteria: &["It is there: `exists done`"],
        acts: &[&format!("{work}; rm .envrc")],
        ends: Limit(1, ""),
        ..Scenario::default()
    }
    .play();
    let end = played.all("ended")[0].to_string();
    assert!(!end.contains(NOTE), "{end}");
}

/// The sandbox keeps startup files that exist from changes; others can be made.
#[test]
fn new_startup_files_of_the_user_are_named() {
    Scenario {
        criteria: &["It is there: `exists done`"],
        before: "echo mine > $HOME/.bashrc",
        acts: &["touch $HOME/.bash_profile done"],
        ends: Verified(
            1,
            "1 changed file runs later without being asked: ~/.bash_profile (by a program at its next start)",
        ),
        ..Scenario::default()
    }
    .play();
}
