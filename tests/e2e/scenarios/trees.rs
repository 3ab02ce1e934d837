//! Work trees of every kind: without git, with repositories inside, in odd states.

use crate::support::scenario::Ends::{Breaker, Verified};
use crate::support::scenario::Scenario;

const REPO: &str = "git init -q; git config user.email a@b.c; git config user.name A";

#[test]
fn a_tree_without_git_completes() {
    let played = Scenario {
        criteria: &["It is there: `exists done`"],
        acts: &["touch done"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    assert!(!played.world.has(".git"));
    assert_eq!(played.all("snapshot-taken").len(), 3);
    assert!(played.record("snapshot-taken", 1)["head"].is_null());
}

#[test]
fn a_repository_without_commits_completes() {
    Scenario {
        before: REPO,
        criteria: &["Committed: `$ git log --oneline | wc -l` `== 2`"],
        acts: &["git add -A; git commit -qm one", "touch b; git add b; git commit -qm two"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn work_inside_a_nested_repository_is_progress() {
    let played = Scenario {
        before: &format!(
            "{REPO}; mkdir -p lib/inner; cd lib/inner; {REPO}; touch x; git add x; git commit -qm x"
        ),
        criteria: &["Enough: `$ wc -l < lib/inner/x` `>= 4`"],
        acts: &["echo $n >> lib/inner/x; git -C lib/inner commit -qam $n"],
        ends: Verified(4, ""),
        ..Scenario::default()
    }
    .play();
    let changed = &played.record("iteration-ended", 2)["changes"]["files"];
    assert_eq!(changed, &serde_json::json!(["lib/inner/x"]));
}

#[test]
fn work_in_several_repositories_of_a_folder_is_progress() {
    let two = "for it in web api; do mkdir $it; cd $it; git init -q; git config user.email a@b.c; git config user.name A; touch x; git add x; git commit -qm x; cd ..; done";
    // Each iteration works in another one; the folder itself is no repository.
    let played = Scenario {
        before: two,
        criteria: &["Enough: `$ cat web/x api/x | wc -l` `>= 5`"],
        acts: &[
            "cd web; echo $n >> x; git commit -qam $n",
            "cd api; echo $n >> x",
            "cd web; echo $n >> x",
            "cd api; echo $n >> x; git commit -qam $n",
        ],
        ends: Verified(5, "after 5 iterations"),
        ..Scenario::default()
    }
    .play();
    assert!(!played.world.has(".git"));
    played
        .iteration_sentence(1, "1 file changed, 0 of 1 pass")
        .iteration_sentence(2, "1 file changed, 0 of 1 pass");
    // Nor does a commit alone count as work: the files stay the same.
    Scenario {
        before: two,
        criteria: &["Enough: `$ cat web/x api/x | wc -l` `>= 5`"],
        acts: &["cd web; git commit -q --allow-empty -m $n"],
        ends: Breaker(2, "2 iterations under 10 s without a file change"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn the_users_git_stays_as_it_was() {
    let played = Scenario {
        files: &[("a", "1\n"), ("b", "1\n")],
        before: &format!("{REPO}; git add -A; git commit -qm start; echo 2 > a; git add a; echo 3 > a; git rev-parse HEAD > ../head; cp .git/index ../index; cp .git/logs/HEAD ../reflog"),
        criteria: &["It is there: `exists done`"],
        acts: &["touch done"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    played.world.shell("cmp .git/index ../index; cmp .git/logs/HEAD ../reflog; [ \"$(git rev-parse HEAD)\" = \"$(cat ../head)\" ]");
    played.world.shell("git for-each-ref | wc -l | grep -qx 1");
}

#[test]
fn hostile_file_names_are_counted_and_sanitised() {
    let played = Scenario {
        criteria: &["Enough: `$ ls -A odd | wc -l` `>= 3`"],
        acts: &["mkdir odd; cd odd; touch -- -rf \"$(printf 'a\\nb')\" \"$(printf '\\033[31mred\\377')\""],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    played.iteration_sentence(1, "3 files changed, 1 of 1 pass");
    assert!(!played.ran.stdout.contains('\u{1b}'));
}

/// Nothing can be judged in a place without the work tree.
#[test]
fn a_work_tree_that_was_moved_or_replaced_is_named_with_a_remedy() {
    // Moved; replaced by a folder with the same files; by a link to another project.
    let check = |act: &str| {
        let world = Scenario {
            criteria: &["It is there: `exists done`"],
            acts: &[act, "touch done"],
            settings: "sandbox.kind = \"off\"",
            ..Scenario::default()
        }
        .world();
        let ran = world.run(&["run", "--trust", "--json"]);
        let ended: serde_json::Value =
            serde_json::from_str(ran.expect(1).stdout.lines().last().unwrap()).unwrap();
        let text = ended.to_string();
        assert!(text.contains("was moved, deleted or replaced"), "{act}: {text}");
        assert!(text.contains("move it back and start again"), "{act}: {text}");
        assert!(!world.root().join("done").exists(), "{act}: another iteration ran");
    };
    check("mv \"$PWD\" \"$PWD-moved\"");
    check("mv \"$PWD\" \"$PWD-moved\"; cp -r \"$PWD-moved\" \"$PWD\"");
    check("mv \"$PWD\" \"$PWD-moved\"; cp -r \"$PWD-moved\" \"$PWD-other\"; ln -s \"$PWD-other\" \"$PWD\"");
}
