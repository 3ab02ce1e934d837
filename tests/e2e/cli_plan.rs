//! `skip` and `prioritize`: the user's plan edits, in the files only.

use std::os::unix::fs::PermissionsExt;

use crate::cli::{Terminal, script};
use crate::scenarios::detached::{WAITS, detached, end, go};
use crate::support::scenario::Scenario;

const PLAN: &str = "# Plan\r\n\r\n- [ ] parse\r\n- [x] read\r\n- [ ] print: `$ make print`\r\n";

fn terminal() -> Terminal {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", "# Tool\n").file("fix_plan.md", PLAN);
    terminal
}

#[test]
fn an_item_is_skipped_and_taken_up_again() {
    let terminal = terminal();
    let path = terminal.root().join("fix_plan.md");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let expected = "fix_plan.md: \"print\" is skipped; loops no longer wait for it.\n";
    terminal.run(&["skip", "PROMPT.md", "print"]).expect(0).out(expected);
    let skipped = PLAN.replace("print`\r\n", "print` (optional)\r\n");
    assert_eq!(terminal.read("fix_plan.md"), skipped);
    terminal.run(&["skip", "fix_plan.md", "PRINT"]).expect(0).out("\"print\" is no longer skipped.");
    assert_eq!(terminal.read("fix_plan.md"), PLAN);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640, "its mode stays");
    let left: Vec<_> =
        std::fs::read_dir(terminal.root()).unwrap().flatten().map(|it| it.file_name()).collect();
    assert_eq!(left.len(), 2, "nothing is left beside: {left:?}");
}

#[test]
fn an_item_is_moved() {
    let terminal = terminal();
    terminal.run(&["prioritize", "PROMPT.md", "parse", "-1"]).expect(0).out("\"parse\" moved 1 place later.");
    let moved = "# Plan\r\n\r\n- [ ] print: `$ make print`\r\n- [x] read\r\n- [ ] parse\r\n";
    assert_eq!(terminal.read("fix_plan.md"), moved);
    let ran = terminal.run(&["prioritize", "PROMPT.md", "print", "2"]);
    ran.expect(1).err("error: \"print\" is already the first open item of its list");
    assert_eq!(terminal.read("fix_plan.md"), moved);
}

#[test]
fn a_missing_item_is_answered_with_the_existing_ones() {
    let terminal = terminal();
    let ran = terminal.run(&["skip", "PROMPT.md", "nothing"]);
    ran.expect(2)
        .err("error: the plan has no item \"nothing\"\n  ")
        .err("  parse\n")
        .err("Hint: Name one of these");
    terminal.file("fix_plan.md", "# Plan\n");
    terminal.run(&["skip", "PROMPT.md", "x"]).expect(2).err("Hint: The plan of this task has no open item.");
    std::fs::write(terminal.root().join("fix_plan.md"), b"- [ ] caf\xe9\n- [ ] b\n").unwrap();
    let ran = terminal.run(&["skip", "PROMPT.md", "b"]);
    ran.expect(2).err("was changed by another program in the meantime, or is not UTF-8 text");
    assert_eq!(std::fs::read(terminal.root().join("fix_plan.md")).unwrap(), b"- [ ] caf\xe9\n- [ ] b\n");
}

#[test]
fn a_loop_at_work_takes_up_what_its_user_skips() {
    let (world, _) = detached(&Scenario {
        files: &[
            ("PROMPT.md", "# Tool\n"),
            ("fix_plan.md", "- [ ] one: `exists one`\n- [ ] two: `exists two`\n"),
        ],
        acts: &[WAITS, "sed -i 's/\\[ \\] one/[x] one/' fix_plan.md; touch one"],
        ..Scenario::default()
    });
    world.until_shared("up.1");
    for arguments in [&["prioritize", "PROMPT.md", "two", "1"][..], &["skip", "PROMPT.md", "two"]] {
        world.run(arguments).expect(0).out("reads this change after its current iteration");
    }
    go(&world, 1);
    assert_eq!(end(&world), ("completed".to_owned(), true, 2));
    let ended = world.journal().into_iter().find(|it| it["type"] == "iteration-ended").unwrap();
    assert_eq!(ended["proposed"], serde_json::Value::Null, "nobody takes it for the agent's: {ended:#}");
}

const STORIES: &str = r#"{
  "project": "Shop", "branchName": "ralph/shop",
  "userStories": [
    {"id": "US-1", "title": "Log out", "acceptanceCriteria": ["It is: `exists out.txt`"], "priority": 2, "passes": false},
    {"id": "US-2", "title": "Log in", "acceptanceCriteria": ["It is: `exists in.txt`"], "priority": 1, "passes": false},
    {"id": "US-3", "title": "Pay", "priority": 3, "passes": true}
  ]
}"#;

#[test]
fn a_dry_run_shows_the_plan_and_the_branch() {
    let terminal = Terminal::new();
    terminal.file("prd.json", STORIES);
    let dry = || terminal.run(&["run", "--agent", "demo", "--dry-run"]);
    dry().expect(0).out("Branch    ralph/shop: not made, as there is no git repository");
    for line in ["init -q -b main", "add .", "commit -q -m first"] {
        terminal.git(line);
    }
    let ran = dry();
    ran.expect(0).out("Task      prd.json").out("Branch    ralph/shop, will be made from HEAD");
    ran.out("Plan      1 of 3 done\n  open: US-2: Log in\n  open: US-1: Log out\n");
    let ran = terminal.run(&["run", "--agent", "demo", "--dry-run", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.expect(0).stdout).unwrap();
    assert_eq!(json["branch"], serde_json::json!({"name": "ralph/shop", "step": "make"}));
    assert_eq!((&json["plan"]["done"], &json["plan"]["open"][0]["id"]), (&1.into(), &"US-2".into()));
    terminal.git("switch -q -c ralph/shop");
    dry().expect(0).out("Branch    ralph/shop, checked out");
}

#[test]
fn the_prompt_explains_a_story_file() {
    let terminal = Terminal::new();
    terminal.file("prd.json", STORIES);
    let agent = terminal.folder().join("agent.sh");
    script(&agent, "cat > prompt.txt\ntouch in.txt out.txt\nsed -i 's/false/true/' prd.json\n");
    terminal.run(&["run", "--agent", agent.to_str().unwrap(), "--trust"]).expect(0);
    let prompt = terminal.read("prompt.txt");
    for told in [
        "# Shop\n\nThe task is the list of stories in `prd.json`.",
        "set its `passes` to `true` there and change nothing else of it.",
        "- next: US-2: Log in\n- open: US-1: Log out\n",
        "\"branchName\": \"ralph/shop\"",
    ] {
        assert!(prompt.contains(told), "no {told:?} in\n{prompt}");
    }
}

#[test]
fn settings_of_the_front_matter_apply() {
    let terminal = Terminal::new();
    let document = |front: &str| {
        terminal.file("PROMPT.md", &format!("---\n{front}\n---\n# Go\n\nTests: {{{{ commands.log }}}}\n\n## Done when\n\n- It is: `exists in.txt`\n"));
    };
    let run = |more: &[&str]| terminal.run(&[&["run"], more].concat());
    document(
        "agent: ./agent.sh\nmax_iterations: 3\ncompletion_promise: ALL\nmax_iteration: 4\ncommands:\n  - name: log\n    run: echo seen",
    );
    script(&terminal.root().join("agent.sh"), "cat > prompt.txt\ntouch in.txt\n");
    let dry = run(&["--dry-run"]);
    dry.expect(0).out("limits.iterations = 3").out("PROMPT.md:3").out("./agent.sh");
    dry.err("PROMPT.md:5: max_iteration: not read. Did you mean `max_iterations`?");
    run(&["--dry-run", "--max-iterations", "9"]).expect(0).out("limits.iterations = 9");
    run(&["--dry-run", "--agent", "demo"]).expect(0).out("Agent     demo");
    // Commands from a file are not trusted automatically, including its agent.
    run(&[]).expect(5).err("2 commands of PROMPT.md are not trusted");
    terminal.run(&["check"]).expect(5);
    run(&["--trust"]).expect(0);
    let prompt = terminal.read("prompt.txt");
    assert!(prompt.contains("Tests: \n\n```\nseen\n```"), "{prompt}");
    assert!(prompt.contains("iteration 1 of at most 3"), "{prompt}");
    document("agent: nobody");
    run(&["--dry-run"]).expect(2).err("PROMPT.md:2: there is no agent `nobody`");
    document("max_iterations: many");
    run(&["--dry-run"]).expect(2).err("PROMPT.md:2: max_iterations: takes a whole number from 1\n");
}

#[test]
fn no_agent_reads_a_placeholder_of_another_tool() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", "# Go\n\nWork on {{STORY_ID}}.\n\n## Done when\n\n- It is: `exists in.txt`\n");
    let ran = terminal.run(&["run", "--agent", "demo", "--dry-run"]);
    ran.expect(2).err("PROMPT.md still contains the template's text, line 3");
    ran.err("Hint: `{{STORY_ID}}` is never replaced: write its value, then start again.");
    terminal.file("prd.json", STORIES);
    terminal.run(&["run", "--agent", "demo", "--dry-run"]).expect(0);
}

/// Output of `npm test`: pages of warnings, then the failures.
#[test]
fn the_prompt_shows_failures_before_pages_of_warnings() {
    let terminal = Terminal::new();
    let warnings = "i=0; while [ $i -lt 400 ]; do i=$((i + 1)); echo \"npm warn deprecated package-$i@1.0.0: \
                    this version is no longer supported\" >&2; done\n";
    let failure = "cat <<'TAP'\nTAP version 13\n# Subtest: adds\nnot ok 1 - adds\n  ---\n  location: \
                   'test/sum.test.js:3:1'\n  error: |-\n    Expected values to be strictly equal:\n    \n    -1 !== 5\n  \
                   stack: |-\n    TestContext.<anonymous> (test/sum.test.js:4:29)\n  ...\n1..1\n# tests 1\n# pass 0\n# fail \
                   1\nTAP\nexit 1\n";
    terminal.file("test.sh", &format!("{warnings}{failure}")).file("test/sum.test.js", "");
    terminal.file("PROMPT.md", "# Mend it\n\n## Done when\n\n- All tests pass: `$ sh test.sh`\n");
    let settings = "agent = \"mine\"\n[agents.mine]\ncommand = [\"/bin/sh\", \"-c\", \"cat > prompt.txt\"]\n";
    terminal.file("loopkeeper.toml", settings);
    terminal.run(&["run", "--trust", "--max-iterations", "1"]).expect(4);
    let prompt = terminal.read("prompt.txt");
    let at = |text: &str| prompt.find(text).unwrap_or_else(|| panic!("no {text:?} in\n{prompt}"));
    let places =
        at("Where it fails:\n\n```\ntest/sum.test.js:4:29: Expected values to be strictly equal: -1 !== 5\n");
    let order = [
        places,
        at("package-1@"),
        at("of the output omitted here"),
        at("package-400@"),
        at("not ok 1 - adds"),
    ];
    assert!(order.is_sorted(), "{order:?} in\n{prompt}");
    assert!(!prompt.contains("package-200@"), "{prompt}");
    assert!(prompt.len() < 20 * 1024, "{}", prompt.len());
}
