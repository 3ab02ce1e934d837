//! Loops in workspaces of other tools. Only the agent changes the files there.

use crate::cli::Ran;
use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::Verified;
use crate::support::scenario::Scenario;

#[test]
fn stories_with_a_status_are_a_task() {
    let stories = r#"{
  "version": 1,
  "project": "Shop",
  "qualityGates": ["test -f gate"],
  "stories": [
    {"id": "US-1", "title": "Sell", "description": "", "acceptanceCriteria": ["It sells: `exists sold`"], "dependsOn": [], "status": "open", "updatedAt": null},
    {"id": "US-0", "title": "Open", "acceptanceCriteria": [], "status": "done"}
  ]
}
"#;
    let template = "# Build\n\nWork on {{STORY_ID}}.\n\n{{STORY_BLOCK}}\n";
    let finish = "touch sold gate; sed -i 's/\"open\"/\"done\"/' .agents/tasks/prd.json; cat > ../prompt";
    let played = Scenario {
        files: &[
            (".agents/tasks/prd.json", stories),
            (".agents/ralph/PROMPT_build.md", template),
            (".ralph/progress.md", "# Progress\n"),
        ],
        acts: &[finish],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    played.file(".agents/ralph/PROMPT_build.md", template).file(".ralph/progress.md", "# Progress\n");
    played.file(".agents/tasks/prd.json", &stories.replace("\"open\"", "\"done\""));
}

/// A workspace of another tool, with the files that must stay as they are, what a plan of a start shows, and the act of
/// the agent that completes it.
struct Workspace<'a> {
    files: &'a [(&'a str, &'a str)],
    shows: &'a [&'a str],
    act: &'a str,
}

fn completes(workspace: &Workspace<'_>) -> EndedLoop {
    let scenario = Scenario {
        files: workspace.files,
        acts: &[workspace.act],
        ends: Verified(1, ""),
        ..Scenario::default()
    };
    let world = scenario.world();
    world.terminal.run(&["init"]).expect(2).err("a task document already exists");
    let plan = world.terminal.run(&["run", "--dry-run"]);
    for text in workspace.shows {
        plan.expect(0).out(text);
    }
    let played = scenario.play();
    for (path, text) in workspace.files.iter().filter(|(path, _)| !workspace.act.contains(path)) {
        played.file(path, text);
    }
    played
}

#[test]
fn a_requirements_document_with_commands_is_a_task() {
    completes(&Workspace {
        files: &[
            ("PRD.md", "# Shop\n\n- [ ] Sell things\n- [x] Open the shop\n"),
            (
                ".ralphy/config.yaml",
                "project:\n  name: shop\ncommands:\n  test: \"test -f sold\"\n  lint: \"\"\n",
            ),
        ],
        shows: &["PRD.md", "The tests pass"],
        act: "touch sold; sed -i 's/\\[ \\]/[x]/' PRD.md",
    });
}

#[test]
fn verify_commands_are_checks() {
    completes(&Workspace {
        files: &[
            ("PRD.md", "# Shop\n\n- [ ] Sell things\n"),
            (".ralph.toml", "[loop]\nverify_commands = [\"test -f sold\", { command = 'test -f open' }]\n"),
        ],
        shows: &["PRD.md", "test -f sold", "test -f open"],
        act: "touch sold open; sed -i 's/\\[ \\]/[x]/' PRD.md",
    });
}

#[test]
fn folders_of_checks_are_checks() {
    completes(&Workspace {
        files: &[
            ("RALPH.md", "# Shop\n\nMake it sell.\n\n{{ checks.sells }}\n"),
            ("ralph.toml", "[agent]\nargs = [\"-p\"]\nralph = \"RALPH.md\"\n"),
            (".ralphify/checks/sells/CHECK.md", "---\ncommand: test -f sold\ntimeout: 30\n---\nSell.\n"),
            (".ralphify/checks/off/CHECK.md", "---\ncommand: \"false\"\nenabled: false\n---\n"),
        ],
        shows: &["RALPH.md", "sells"],
        act: "touch sold",
    });
}

#[test]
fn an_execution_plan_is_a_task() {
    let plan =
        "# Plan: Shop\n\n## Validation Commands\n\n- `test -f sold`\n\n### Task 1: Sell\n\n- [ ] sell\n";
    completes(&Workspace {
        files: &[
            ("docs/plans/shop.md", plan),
            ("docs/plans/completed/old.md", "# Plan: Old\n\n- [x] done\n"),
            (".ralphex/config", "max_iterations = 3\n"),
        ],
        shows: &["docs/plans/shop.md", "test -f sold"],
        act: "touch sold; sed -i 's/\\[ \\]/[x]/' docs/plans/shop.md",
    });
}

#[test]
fn quality_gates_are_checks() {
    let scenario = |mode: &str| {
        let rc =
            format!("TEST_COMMAND=\"test -f sold\"\nQUALITY_GATES=\"test -f open;test -f never\"\n{mode}");
        let files = [
            (".ralph/PROMPT.md", "# Shop\n\nMake it sell.\n"),
            (".ralph/@fix_plan.md", "- [ ] Sell\n"),
            (".ralph/.ralphrc", rc.as_str()),
        ];
        let world = Scenario { files: &files, ..Scenario::default() }.world();
        let plan = world.terminal.run(&["run", "--dry-run"]);
        plan.expect(0).out("The tests pass").out("test -f never");
        assert!(!plan.stderr.contains("not used by loopkeeper"), "{plan:?}");
        plan.stdout
    };
    assert!(scenario("").contains("test -f open (optional)"));
    assert!(!scenario("QUALITY_GATE_MODE=block\n").contains("(optional)"));
}

#[test]
fn a_queue_of_tasks_is_a_task() {
    let queue = "{ // the queue\n  \"version\": 1,\n  \"tasks\": [\n    {\"id\": \"RQ-1\", \"status\": \"todo\", \"title\": \"Sell\", \"priority\": \"high\"},\n    {\"id\": \"RQ-0\", \"status\": \"done\", \"title\": \"Open\"}\n  ]\n}\n";
    completes(&Workspace {
        files: &[
            (".ralph/queue.jsonc", queue),
            (".ralph/config.jsonc", "{\"agent\": {\"ci_gate\": {\"argv\": [\"test\", \"-f\", \"sold\"]}}}\n"),
        ],
        shows: &[".ralph/queue.jsonc", "The CI gate passes", "Sell"],
        act: "touch sold; sed -i 's/todo/done/' .ralph/queue.jsonc",
    });
    let tasks = "{\"version\": 2, \"tasks\": [{\"id\": \"a\", \"title\": \"Sell\", \"status\": \"todo\", \"validation\": \"test -f sold\"}]}\n";
    completes(&Workspace {
        files: &[(".ralph/tasks.json", tasks), (".ralph/state.json", "{}\n")],
        shows: &[".ralph/tasks.json", "test -f sold"],
        act: "touch sold; sed -i 's/todo/done/' .ralph/tasks.json",
    });
}

#[test]
fn a_document_without_its_tool_is_not_a_task() {
    let world = Scenario {
        files: &[("PRD.md", "# Shop\n\n- [ ] x\n"), ("docs/plans/a.md", "# A\n\n- [ ] x\n")],
        ..Scenario::default()
    }
    .world();
    world.terminal.run(&["run", "--dry-run"]).expect(2).err("there is no task");
}

#[test]
fn a_prompt_in_a_configuration_is_a_task() {
    let config = "event_loop:\n  prompt: |\n    # Shop\n\n    Make it sell.\n\n    ## Done when\n\n    - it sells: `exists sold`\n  completion_promise: SHOP_DONE\n  max_iterations: 4\n  persistent: true\nbackpressure:\n  gates:\n    - name: opens\n      command: test -f open\n";
    completes(&Workspace {
        files: &[("ralph.yml", config)],
        shows: &["ralph.yml", "it sells", "opens", "limits.iterations = 4", "exit.promise = \"SHOP_DONE\""],
        act: "touch sold open",
    })
    .prompt_has(1, "# Shop\n\nMake it sell.\n\n## Done when\n");
}

#[test]
fn a_prompt_file_of_a_configuration_is_a_task() {
    let config = "event_loop:\n  prompt_file: SHOP.md\nbackpressure:\n  gates:\n    - name: opens\n      command: test -f open\n";
    completes(&Workspace {
        files: &[("ralph.yml", config), ("SHOP.md", "# Shop\n\nMake it sell.\n")],
        shows: &["SHOP.md", "opens", "tasks.files = [\"SHOP.md\"]"],
        act: "touch open",
    });
}

#[test]
fn the_state_of_a_loop_is_a_task() {
    let state = "{\"active\":false,\"iteration\":3,\"minIterations\":2,\"maxIterations\":7,\"completionPromise\":\"SHIPPED\",\"tasksMode\":true,\"prompt\":\"Make it sell.\\nDone when:\\n- it sells: `exists sold`\"}\n";
    completes(&Workspace {
        files: &[
            (".ralph/ralph-loop.state.json", state),
            (".ralph/ralph-tasks.md", "# Ralph Tasks\n\n- [ ] Sell\n- [/] Count\n- [x] Open\n"),
        ],
        shows: &["Plan      1 of 3 done", "it sells", "limits.iterations = 7"],
        act: "touch sold; sed -i 's/\\[.\\]/[x]/' .ralph/ralph-tasks.md",
    })
    .prompt_has(1, "Make it sell.\nDone when:\n");
}

#[test]
fn tools_sections_and_variables_of_another_tool_count() {
    let files = [
        (".ralph/PROMPT.md", "# Shop\n\nMake it sell.\n"),
        (".ralph/fix_plan.md", "# Plan\n\n- [ ] Sell\n\n## Low Priority\n\n- [ ] Count\n"),
        (
            ".ralphrc",
            "ALLOWED_TOOLS=\"Write,Bash(npm *)\"\nOPTIONAL_SECTIONS=\"Low Priority\"\nENABLE_BACKUP=true\n",
        ),
    ];
    let scenario = Scenario {
        files: &files,
        acts: &["sed -i '3s/\\[ \\]/[x]/' .ralph/fix_plan.md"],
        args: &["--check", "grep -q 'x. Sell' .ralph/fix_plan.md"],
        ends: Verified(1, ""),
        ..Scenario::default()
    };
    let world = scenario.world();
    let mut dry = world.terminal.command(&["run", "--dry-run"]);
    let dry = Ran::of(&dry.env("CB_NO_PROGRESS_THRESHOLD", "7").output().expect("runs"));
    dry.expect(0)
        .out("breaker.no_progress = 7")
        .out("agents.claude.args = [\"--allowedTools\", \"Write\", \"Bash(npm *)\"]");
    dry.err("note: .ralphrc:3: not used by loopkeeper: ENABLE_BACKUP");
    let played = scenario.play();
    for (path, text) in files.iter().filter(|it| it.0 != ".ralph/fix_plan.md") {
        played.file(path, text);
    }
}

#[test]
fn stories_of_another_tool_get_no_second_task() {
    let stories = "{\"userStories\": [{\"id\": \"1\", \"title\": \"Sell\", \"passes\": false}]}\n";
    for files in [
        [("prd.json", stories), ("progress.txt", "# Progress\n")],
        [("tasks/prd.json", stories), (".ralph-tui/config.toml", "maxIterations = 3\n")],
    ] {
        let world = Scenario { files: &files, ..Scenario::default() }.world();
        world.terminal.run(&["init"]).expect(2).err("prd.json").err("`loopkeeper run");
        assert!(!world.has("PROMPT.md"));
    }
}
