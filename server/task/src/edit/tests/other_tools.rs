//! Edits of the files of other tools: lists in YAML and JSON Lines, and tables.

use super::super::{PlanEdit, PlanEditOutcome};
use super::{changed, raise, refused, skip};

#[test]
fn items_of_other_tools_are_skipped_and_resumed_in_their_files() {
    let check = |file: &str, before: &str, expect: &str| skip(file, before, "Sell", expect);
    check(
        ".agents/tasks/prd.json",
        r#"{"stories": [{"id": "A", "title": "Sell", "status": "in_progress"}]}"#,
        r#"{"stories": [{"id": "A", "title": "Sell", "status": "in_progress", "skipped": true}]}"#,
    );
    check(
        ".ralph/tasks.json",
        "{\"tasks\": [{\"id\": \"A\", \"title\": \"Open\", \"status\": \"done\"}, {\n  \"id\": \"B\",\n  \"title\": \"Sell\",\n  \"status\": \"blocked\"\n}]}",
        "{\"tasks\": [{\"id\": \"A\", \"title\": \"Open\", \"status\": \"done\"}, {\n  \"id\": \"B\",\n  \"title\": \"Sell\",\n  \"status\": \"blocked\",\n  \"skipped\": true\n}]}",
    );
    check(
        "tasks.yaml",
        "tasks:\r\n  - title: \"Sell\" # first\r\n    completed: false\r\n",
        "tasks:\r\n  - title: \"Sell\" # first\r\n    skipped: true\r\n    completed: false\r\n",
    );
    check(
        ".ralph/tasks.yml",
        "tasks:\n  - id: '1'\n    subtasks:\n    - id: '1.1'\n      status: todo\n      name: Sell",
        "tasks:\n  - id: '1'\n    subtasks:\n    - id: '1.1'\n      status: todo\n      name: Sell\n      skipped: true",
    );
    check(
        "tasks.yaml",
        "tasks:\n  - title: Sell\n    completed: false\n    skipped: false\n",
        "tasks:\n  - title: Sell\n    completed: false\n    skipped: true\n",
    );
    check(
        ".ralph/agent/tasks.jsonl",
        "{\"id\":\"t-0\",\"title\":\"Open\",\"status\":\"open\"}\n{\"id\":\"t-1\",\"title\":\"Sell\",\"status\":\"open\"}\n",
        "{\"id\":\"t-0\",\"title\":\"Open\",\"status\":\"open\"}\n{\"id\":\"t-1\",\"title\":\"Sell\",\"status\":\"open\",\"skipped\":true}\n",
    );
    check(
        "IMPLEMENTATION_PLAN.md",
        "| Task | Status |\n|---|---|\n| Sell | todo |\n",
        "| Task | Status |\n|---|---|\n| Sell (optional) | todo |\n",
    );
    let given_up = changed("fix_plan.md", "- [-] Sell: `$ x`\n", "Sell", PlanEdit::Skip).unwrap();
    assert_eq!((given_up.after.as_str(), given_up.done), ("- [ ] Sell: `$ x`\n", PlanEditOutcome::Resumed));
    let error =
        "\"Sell\" has no field in queue.jsonc for skipped tasks. Hint: write `\"status\": \"rejected\"`";
    let queue = r#"{"version": 1, "tasks": [{"id": "RQ-1", "title": "Sell", "status": "todo"}]}"#;
    refused(".ralph/queue.jsonc", queue, "Sell", PlanEdit::Skip, error);
    let error = "\"Sell\" cannot be skipped as it is written. Hint: write `skipped: true`";
    refused("tasks.yaml", "tasks:\n  - {title: Sell, completed: false}\n", "Sell", PlanEdit::Skip, error);
}

#[test]
fn issues_of_beads_are_changed_by_their_tool() {
    let check = |edit, expect: &str| {
        let text = "{\"id\":\"bd-1\",\"title\":\"Sell\",\"status\":\"open\"}\n";
        let fact = "\"Sell\" is an issue of Beads, which would undo a change of its file. Hint: run ";
        refused(".beads/issues.jsonl", text, "Sell", edit, &format!("{fact}{expect}"));
    };
    check(PlanEdit::Skip, "`bd update bd-1 --status deferred`");
    check(PlanEdit::Raise(1), "`bd update bd-1 --priority 1`");
}

#[test]
fn features_are_skipped_and_moved_in_their_file() {
    skip(
        "feature_list.json",
        r#"[{"category": "a", "description": "Sell", "passes": false}]"#,
        "Sell",
        r#"[{"category": "a", "description": "Sell", "passes": false, "skipped": true}]"#,
    );
    raise(
        "feature_list.json",
        r#"{"features": [{"description": "Open", "passes": false}, {"description": "Sell", "passes": false}]}"#,
        "Sell",
        1,
        r#"{"features": [{"description": "Sell", "passes": false}, {"description": "Open", "passes": false}]}"#,
    );
}

#[test]
fn tasks_in_yaml_change_priorities_or_places() {
    let check = |before: &str, by: i32, expect: &str| raise("tasks.yaml", before, "Sell", by, expect);
    check(
        "tasks:\n  - title: Open\n  - title: Sell\n    completed: false\nmore: x\n",
        1,
        "tasks:\n  - title: Sell\n    completed: false\n  - title: Open\nmore: x\n",
    );
    // Comments at the end of a line move, those between tasks stay.
    check(
        "tasks:\r\n# first\r\n- title: \"Sell\" # now\r\n  steps: [a,\r\n    b] # all\r\n\r\n# then\r\n-   title: é🚀\r\n    notes: |\r\n      one\r\n\r\n      two\r\n",
        -1,
        "tasks:\r\n# first\r\n-   title: é🚀\r\n    notes: |\r\n      one\r\n\r\n      two\r\n\r\n# then\r\n- title: \"Sell\" # now\r\n  steps: [a,\r\n    b] # all\r\n",
    );
    check(
        "tasks: [{title: Open}, {title: Sell, completed: false}]\n",
        1,
        "tasks: [{title: Sell, completed: false}, {title: Open}]\n",
    );
    check(
        "tasks:\n  - {title: Open} # a\n  - {title: Sell}",
        1,
        "tasks:\n  - {title: Sell}\n  - {title: Open} # a",
    );
    check(
        "tasks:\n  - title: Open\n    parallel_group: 1\n  - title: Sell\n    parallel_group: 2\n",
        1,
        "tasks:\n  - title: Open\n    parallel_group: 2\n  - title: Sell\n    parallel_group: 1\n",
    );
    check(
        "tasks:\n  - title: Open\n    completed: true\n  - title: Go\n  - title: Sell\n",
        1,
        "tasks:\n  - title: Open\n    completed: true\n  - title: Sell\n  - title: Go\n",
    );
    let tree =
        "tasks:\n  - name: Shop\n    subtasks:\n      - name: Open\n      - name: Sell\n  - name: Close\n";
    let moved =
        "tasks:\n  - name: Shop\n    subtasks:\n      - name: Sell\n      - name: Open\n  - name: Close\n";
    raise(".ralph/tasks.yml", tree, "Sell", 1, moved);
    let error = "\"Sell\" is already the last open item of its list";
    refused(".ralph/tasks.yml", tree, "Sell", PlanEdit::Raise(-1), error);
    let error = "\"Sell\" is already the first open item";
    refused("tasks.yaml", "tasks:\n  - title: Sell\n", "Sell", PlanEdit::Raise(1), error);
    let error =
        "\"Sell\" cannot be moved as it is written. Hint: write each task of the list from a line of its own";
    let dash_alone = "tasks:\n  -\n    title: Open\n  - title: Sell\n";
    refused("tasks.yaml", dash_alone, "Sell", PlanEdit::Raise(1), error);
}

#[test]
fn rows_of_a_table_change_places() {
    let check = |before: &str, by: i32, expect: &str| {
        raise("IMPLEMENTATION_PLAN.md", before, "Sell", by, expect);
    };
    check(
        "| Task | Status |\n|---|---|\n| Open | todo |\n| Sell | todo |\n\nEnd\n",
        1,
        "| Task | Status |\n|---|---|\n| Sell | todo |\n| Open | todo |\n\nEnd\n",
    );
    // A number without a bar before it is a cell, and moves.
    check(
        "Nr | Task | Status\r\n---|---|---\r\n1 | Sell | todo\r\n2 | Open | ✅\r\n3 | Go | 进行中",
        -1,
        "Nr | Task | Status\r\n---|---|---\r\n3 | Go | 进行中\r\n2 | Open | ✅\r\n1 | Sell | todo",
    );
    let two =
        "| Task | Status |\n|---|---|\n| Open | todo |\n\n| Task | Status |\n|---|---|\n| Sell | todo |\n";
    let error = "\"Sell\" is already the first open item of its list";
    refused("IMPLEMENTATION_PLAN.md", two, "Sell", PlanEdit::Raise(1), error);
}
