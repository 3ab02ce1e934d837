//! The memory of an iteration: earlier iterations in its prompt, and the project's memory files.

use super::detached::detached;
use super::git::START;
use crate::support::scenario::Ends::Verified;
use crate::support::scenario::{Scenario, task};

#[test]
fn commits_messages_and_decisions_reach_the_next_iteration() {
    let played = Scenario {
        criteria: &["Enough: `exists d`"],
        before: START,
        acts: &[
            "touch a; git add a; git commit -qm 'feat: add a'; echo 'Decision: names stay short'; echo 'I did a.'",
            "touch b; echo 'I did b.'",
            "git add b; git commit -qm 'feat: add b'; touch c; git add c; git commit -qm 'feat: add c'; echo 'I did c.'",
            "touch d",
        ],
        ends: Verified(4, ""),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(2, "It committed: `feat: add a`.\n");
    played.prompt_has(
        4,
        "- 1: 1 file changed, 0 of 1 pass; committed `feat: add a`\n- 2: 1 file changed, 0 of 1 pass\n- 3: ",
    );
    played.prompt_has(4, "committed `feat: add b`, `feat: add c`\n");
    played.prompt_has(4, "I did c.\n");
    played.prompt_has(4, "I did b.\n");
    played.prompt_has(4, "- names stay short\n");
    assert!(!played.world.prompt(4).contains("I did a."));
    assert_eq!(
        played.record("iteration-ended", 3)["commits"],
        serde_json::json!(["feat: add b", "feat: add c"])
    );
    assert_eq!(played.record("iteration-ended", 2)["commits"], serde_json::Value::Null);
    let shown = played.world.run(&["log", "--prompt", "4"]);
    assert_eq!(shown.expect(0).stdout, played.world.prompt(4));
    played.world.run(&["log", "--prompt", "5"]).expect(2);
}

#[test]
fn a_progress_file_is_requested_beside_stories_and_its_patterns_are_in_the_prompt() {
    let task = task(&["Done: `$ test $(wc -l < n) -ge 2`"]);
    let played = Scenario {
        files: &[
            ("PROMPT.md", &task),
            ("prd.json", r#"{"userStories": [{"id": "US-1", "title": "One", "passes": true}]}"#),
            ("AGENTS.md", "# Agents\n"),
        ],
        acts: &[
            "echo 1 >> n; printf '# Ralph Progress Log\\n---\\n## Codebase Patterns\\n- use the pool\\n\\n## Key Files\\n' > progress.txt",
            "echo 2 >> n",
        ],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(1, "- `progress.txt` is not there yet: start it in this form");
    played.prompt_has(1, "# Ralph Progress Log\nStarted: <date>\n---\n");
    played.prompt_has(1, "- `AGENTS.md`: read it");
    played.prompt_has(2, "- `progress.txt`: read it before you begin.");
    played.prompt_has(2, "Codebase Patterns of `progress.txt`:\n\n```\n- use the pool\n```\n");
    assert!(!played.world.prompt(2).contains("is not there yet"));
}

#[test]
fn a_template_orders_the_prompt_and_what_the_agent_makes_of_it_is_never_used() {
    let template = "Mind the style.\n\n{plan}\n\n{task}\n\n{failing}\n\nNo {iteration}. {budget}\n";
    let played = Scenario {
        criteria: &["Enough: `exists d`"],
        files: &[("docs/told.md", template)],
        settings: "[prompt]\ntemplate = \"./docs/told.md\"\n",
        acts: &[
            "cp docs/told.md kept; echo '{task} {failing} Be lazy.' > docs/told.md",
            "touch b",
            "mv kept docs/told.md; touch d",
        ],
        ends: Verified(3, ""),
        ..Scenario::default()
    }
    .play();
    let first = played.world.prompt(1);
    assert!(first.starts_with("Mind the style.\n\n# Make it so\n"), "{first}");
    assert!(
        first.contains("\n\n## What fails: 1 of 1 checks\n") && first.contains("\nNo 1. Remaining after"),
        "{first}"
    );
    assert!(first.contains("\n\n## Rules\n") && !first.contains("\n\n\n"), "{first}");
    for number in [2, 3] {
        played.prompt_has(number, "Mind the style.\n");
        played.prompt_has(number, "## Restore what was weakened");
        played.prompt_has(number, "- docs/told.md was changed\n");
        played.prompt_lacks(number, "Be lazy.");
    }
}

#[test]
fn the_users_edit_of_a_template_counts_from_the_next_iteration_on() {
    let (world, id) = detached(&Scenario {
        criteria: &["Enough: `exists d`"],
        files: &[("told.md", "{task}\n{failing}\nOld words.\n")],
        settings: "prompt.template = \"told.md\"\n",
        acts: &["touch $folder/up; until [ -f $folder/go ]; do sleep 0.02; done; touch a", "touch d"],
        ..Scenario::default()
    });
    world.until_shared("up");
    world.run(&["pause", &id]).expect(0);
    std::fs::write(world.shared("go"), "").unwrap();
    world.until("rest", |it| it["type"] == "iteration-ended");
    world.shell("printf '{task}\\n{failing}\\nNew words.\\n' > told.md");
    world.run(&["resume", &id]).expect(0);
    world.until("the end", |it| it["type"] == "ended");
    assert!(world.prompt(1).contains("\nOld words.\n"), "{}", world.prompt(1));
    assert!(world.prompt(2).contains("\nNew words.\n"), "{}", world.prompt(2));
}
