//! What counts as progress, and the breaker that opens without any.

use serde_json::Value;

use super::git::START;
use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::{Breaker, Limit, Verified};
use crate::support::scenario::Scenario;

const STUCK: &str = "breaker open: 3 iterations without a file change";
/// An agent that responds immediately and changes nothing fails faster than one that works and changes nothing.
const PATIENT: &str = "breaker.fast_failures = 99";
/// Never met by any act here.
const FAR: &[&str] = &["Far away: `exists nowhere`"];

#[test]
fn iterations_without_a_change_open_the_breaker() {
    let played = Scenario {
        criteria: FAR,
        acts: &["echo 'Thinking about it.'"],
        settings: PATIENT,
        ends: Breaker(3, STUCK),
        ..Scenario::default()
    }
    .play();
    let opened = played.all("breaker-changed");
    assert_eq!((&opened[0]["state"], &opened[0]["trips"]), (&"open".into(), &1.into()));
    assert_eq!(played.last()["outcome"]["cause"], "breaker");
}

#[test]
fn a_breaker_limit_of_one_opens_at_once() {
    Scenario {
        criteria: FAR,
        settings: "breaker.no_progress = 1",
        acts: &["touch a", "true"],
        ends: Breaker(2, "breaker open: 1 iteration without a file change"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn equal_failures_after_edits_open_the_breaker() {
    let failing =
        "echo \"FAILED a - assert 3 == 4\"; echo \"1 failed in 0.$(wc -l < log)s, seed $$\"; exit 1";
    let check = format!("Tests pass: `$ {failing}`");
    let played = Scenario {
        criteria: &[&check],
        acts: &["echo $n >> log"],
        ends: Breaker(5, "breaker open: 5 iterations with the same failure: Tests pass: "),
        ..Scenario::default()
    }
    .play();
    let opened = played.all("breaker-changed");
    assert_eq!(
        (&opened[0]["cause"], &opened[0]["opening"]["failing"][0]["name"]),
        (&"same-error".into(), &"Tests pass".into())
    );
    // One failing test fewer per iteration is slow work.
    Scenario {
        criteria: &["Tests pass: `$ n=$((8 - $(wc -l < log))); echo \"left: $n\"; exit $((n > 0))`"],
        acts: &["echo $n >> log"],
        ends: Verified(8, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn progress_resets_the_count() {
    Scenario {
        criteria: FAR,
        settings: "breaker.fast_failures = 99\nbreaker.same_error = 99",
        acts: &["true", "true", "touch a", "true"],
        ends: Breaker(6, STUCK),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn untracked_files_are_progress() {
    Scenario {
        before: START,
        criteria: &["Enough: `$ ls note.* | wc -l` `>= 5`"],
        acts: &["touch note.$n"],
        ends: Verified(5, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn commits_are_progress_where_the_tree_stays() {
    // A dirty start: all work is done, and the agent only commits it, a file at a time.
    let played = Scenario {
        before: &format!("{START}; touch 1 2 3 4 5"),
        criteria: &["Committed: `$ git ls-files 1 2 3 4 5 | wc -l` `== 5`"],
        acts: &["git add $n; git commit -qm $n"],
        ends: Verified(5, ""),
        ..Scenario::default()
    }
    .play();
    assert_eq!(
        played.record("iteration-ended", 2)["changes"],
        serde_json::json!({"count": 0, "committed": true})
    );
    played
        .iteration_sentence(2, "committed, 0 of 1 pass")
        .prompt_has(3, "It made a commit and left no other change.");
}

#[test]
fn empty_and_amended_commits_are_not_progress() {
    let check = |act: &str| {
        Scenario {
            before: START,
            criteria: FAR,
            settings: PATIENT,
            acts: &[act],
            ends: Breaker(3, STUCK),
            ..Scenario::default()
        }
        .play()
    };
    check("git commit -q --allow-empty -m $n");
    check("git commit -q --amend -m $n");
    check("git checkout -q -b branch-$n");
    check("git add -A; git stash -q --include-untracked || true");
}

#[test]
fn ignored_files_times_and_swap_files_are_not_progress() {
    let check = |act: &str| {
        Scenario {
            files: &[(".gitignore", "*.log\n"), ("kept", "")],
            before: START,
            criteria: FAR,
            settings: PATIENT,
            acts: &[act],
            ends: Breaker(3, STUCK),
            ..Scenario::default()
        }
        .play()
    };
    check("date +%N > build.log");
    check("mkdir -p node_modules/x target; date +%N > node_modules/x/y; date +%N > target/z");
    check("touch kept; echo $n > .kept.swp");
    check("mkdir -p empty-$n");
}

#[test]
fn modes_and_links_are_progress() {
    let check = |act: &str| {
        Scenario {
            files: &[("kept", "")],
            criteria: FAR,
            settings: "limits.iterations = 4",
            acts: &[act],
            ends: Limit(4, ""),
            ..Scenario::default()
        }
        .play()
    };
    check("if [ -x kept ]; then chmod -x kept; else chmod +x kept; fi");
    check("ln -sfn to-$n link");
}

#[test]
fn a_dirty_start_does_not_count_as_progress() {
    Scenario {
        files: &[("a", "1\n")],
        before: &format!("{START}; echo 2 > a; echo new > b; rm -f c"),
        criteria: FAR,
        settings: PATIENT,
        acts: &["git status > /dev/null"],
        ends: Breaker(3, STUCK),
        ..Scenario::default()
    }
    .play()
    .file("a", "2\n")
    .file("b", "new\n");
}

#[test]
fn changes_that_the_task_does_not_mention_are_noted() {
    let streak = "the last 3 iterations changed no source that the task mentions";
    let played = Scenario {
        criteria: &["Logging in works: `exists src/auth.py src/session.py`"],
        acts: &["mkdir -p web; echo $n >> web/theme.py"],
        settings: "limits.iterations = 4",
        ends: Limit(4, ""),
        ..Scenario::default()
    }
    .play();
    let noted = format!("But note: {streak} (`web/theme.py`)");
    played.prompt_lacks(3, streak).prompt_has(4, &noted);
    let status = |played: &EndedLoop| -> Value {
        serde_json::from_str(&played.world.run(&["status", "--json"]).stdout).unwrap()
    };
    let drift = &status(&played)["loops"][0]["drift"];
    assert_eq!((&drift["streak"], &drift["paths"]), (&4.into(), &["web/theme.py"].into()), "{drift}");
    // The text of the task names the source, and its criteria name none.
    let prompt = "# Login\n\nFix src/auth.py, nothing else.\n\n## Done when\n\n- Logging in works: `$ test -f never`\n";
    let played = Scenario {
        files: &[("PROMPT.md", prompt)],
        acts: &["mkdir -p web; echo $n >> web/theme.py"],
        settings: "limits.iterations = 4",
        ends: Limit(4, ""),
        ..Scenario::default()
    }
    .play();
    played.prompt_lacks(3, streak).prompt_has(4, &noted);
    // The control: the same work on a file that the task mentions.
    let played = Scenario {
        criteria: &["Logging in works: `exists src/auth.py src/session.py`"],
        acts: &["mkdir -p src; echo $n >> src/auth.py"],
        settings: "limits.iterations = 4",
        ends: Limit(4, ""),
        ..Scenario::default()
    }
    .play();
    played.prompt_lacks(4, "changed no source that the task mentions");
    assert!(status(&played)["loops"][0]["drift"]["streak"].is_null());
}
