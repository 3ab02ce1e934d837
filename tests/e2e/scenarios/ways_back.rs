//! Iterations that cause regressions, and the loop's reaction with `git.on_regression = "rollback"`.

use super::git::START;
use crate::support::scenario::Ends::{Failed, Limit, Verified};
use crate::support::scenario::Scenario;

const ROLLS_BACK: &str = "git.on_regression = \"rollback\"";
const CRITERIA: &[&str] = &["Kept: `$ grep -qx good kept`", "It is there: `exists done`"];

#[test]
fn a_regression_is_reverted_without_git() {
    let played = Scenario {
        files: &[("kept", "good\n")],
        settings: ROLLS_BACK,
        criteria: CRITERIA,
        acts: &["echo bad > kept; echo half > new", "touch done"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    assert!(!played.world.has("new") && !played.world.has(".git"));
    played.file("kept", "good\n").iteration_sentence(1, "2 files changed, 0 of 2 pass, 1 broke");
    let back = played.all("rolled-back");
    assert_eq!(
        (back.len(), &back[0]["to"], &back[0]["reason"]),
        (1, &0.into(), &"iteration 1 broke Kept".into())
    );
    played
        .prompt_has(2, "They were rolled back because iteration 1 broke Kept.")
        .prompt_has(2, "- `kept` +1 -1\n- `new` +1 -0");
    played.prompt_lacks(2, "Regressed");
    // Nothing is lost: the previous tree is recorded and can be restored.
    assert_eq!(played.record("snapshot-taken", 1)["when"], "before");
    assert!(played.all("snapshot-taken").iter().any(|it| it["tree"] == back[0]["from"]));
    played
        .world
        .run(&["log"])
        .expect(0)
        .out("files restored to the start of the loop: iteration 1 broke Kept");
    played.world.run(&["rollback", "latest", "1"]).expect(0);
    played.file("kept", "bad\n").file("new", "half\n");
}

#[test]
fn a_third_regression_in_a_row_is_kept() {
    let played = Scenario {
        files: &[("kept", "good\n")],
        settings: "git.on_regression = \"rollback\"\nlimits.iterations = 3",
        criteria: CRITERIA,
        acts: &["echo bad >> kept; echo bad > kept"],
        ends: Limit(3, ""),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.all("rolled-back").len(), 2);
    played.iteration_sentence(
        3,
        "1 file changed, 0 of 2 pass, 1 broke; kept, since 2 iterations in a row were rolled back",
    );
    played.file("kept", "bad\n");
}

#[test]
fn a_rollback_leaves_index_refs_and_reflog() {
    let played = Scenario {
        files: &[("kept", "good\n"), ("staged", "1\n")],
        before: &format!("{START}; echo 2 > staged; git add staged; cp .git/index ../index; cp .git/logs/HEAD ../reflog; git for-each-ref > ../refs"),
        settings: ROLLS_BACK,
        criteria: CRITERIA,
        acts: &["echo bad > kept", "touch done"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    played.file("kept", "good\n").file("staged", "2\n");
    played
        .world
        .shell("cmp .git/index ../index; cmp .git/logs/HEAD ../reflog; git for-each-ref | cmp - ../refs");
}

#[test]
fn a_flaky_check_rolls_nothing_back() {
    // It fails in every second round: the baseline passes, the round after the work fails, then the same files pass.
    let flaky = "Kept: `$ n=$(cat $HOME/rounds 2>/dev/null || echo 0); echo $((n + 1)) > $HOME/rounds; test $((n % 2)) = 0`";
    let played = Scenario {
        settings: "git.on_regression = \"rollback\"\nlimits.iterations = 1",
        criteria: &[flaky, "Both: `$ test -f a -a -f b`"],
        acts: &["touch a"],
        ends: Limit(1, ""),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.all("rolled-back").len(), 0);
    assert!(played.world.has("a"));
}

#[test]
fn an_unwanted_commit_is_reported() {
    let played = Scenario {
        before: START,
        settings: "git.commit = \"never\"",
        criteria: &["It is there: `exists done`"],
        acts: &["touch done; git add done; git commit -qm done"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(1, "- Do not commit");
    let sentence = played.record("iteration-ended", 1)["sentence"].as_str().unwrap();
    assert!(sentence.contains("it made a commit although `git.commit` is `never`"), "{sentence}");
    assert_eq!(
        played.record("iteration-ended", 1)["milestones"],
        serde_json::json!(["now passes: It is there"])
    );
    played.world.run(&["log"]).expect(0).out("now passes: It is there");
}

const STRICT: &[(&str, &str)] =
    &[("kept", "good\n"), ("check.sh", "# strict\ntest \"$(cat answer)\" = 42\n")];
const STRICT_CRITERIA: &[&str] =
    &["Kept: `$ test -e kept`", "Right: `$ sh ./check.sh`", "More: `exists more`"];

/// The restored tree contains the agent's change of the check, which is not an edit of the user.
#[test]
fn a_rollback_does_not_accept_a_weakened_check() {
    let played = Scenario {
        files: STRICT,
        settings: ROLLS_BACK,
        criteria: STRICT_CRITERIA,
        acts: &["echo 'exit 0' > check.sh", "rm kept; echo '# x' >> check.sh", "touch more"],
        ends: Failed(3, "check.sh was changed"),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.all("rolled-back").len(), 1);
    let log = played.world.run(&["log"]);
    assert!(!log.stdout.contains("you edited"), "{}", log.stdout);
    // Neither does a rollback by the user to such a tree, for the next loop.
    played.world.run(&["rollback", "latest", "1"]).expect(0);
    played.world.run(&["run", "--trust"]).expect(1).out("check.sh was changed");
}
