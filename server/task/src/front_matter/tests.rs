//! Front matter as tables: the text between the rules, and the criteria read from it.

use crate::criterion::Check;
use crate::{FindingCode, TaskDocument, parse_task};

#[track_caller]
fn check(front: &str, expect: &[(&str, Option<&str>)]) {
    let text = format!("---\n{front}\n---\n# Title\n\nDo it.\n");
    let task = parse_task(&[TaskDocument { path: "PROMPT.md".to_owned(), text }]);
    let found: Vec<(String, Option<String>)> = task
        .criteria
        .iter()
        .map(|it| {
            let command = it.check.as_ref().map(|check| match check {
                Check::Command { command, .. } => command.clone(),
                other => format!("{other:?}"),
            });
            (it.name.clone(), command)
        })
        .collect();
    let expect: Vec<(String, Option<String>)> =
        expect.iter().map(|(name, check)| ((*name).to_owned(), check.map(str::to_owned))).collect();
    assert_eq!(found, expect, "{front}");
}

#[test]
fn criteria_of_other_tools_are_read() {
    check("test_command: npm test", &[("npm test", Some("npm test"))]);
    check(
        "task: x\ntest_command: \"cargo test -- --quiet\"  ",
        &[("cargo test -- --quiet", Some("cargo test -- --quiet"))],
    );
    check("test_command: 'make test' ", &[("make test", Some("make test"))]);
    check("test_command: make test # all of them", &[("make test", Some("make test"))]);
    check("test_command:", &[]);
    check("title: test_command: x", &[]);
    check(
        "criteria:\n  - \"All pass: `$ npm test`\"\n  - It reads well\n  - $ make lint\nagent: mine\nlist:\n  - no criterion",
        &[("All pass", Some("npm test")), ("It reads well", None), ("make lint", Some("make lint"))],
    );
    check("criteria: [\"One: `$ a`\", two]", &[("One", Some("a")), ("two", None)]);
}

#[test]
fn values_are_read_as_in_yaml() {
    let one = |front: &str, command: &str| check(front, &[(command, Some(command))]);
    one("test_command: |\n  npm test", "npm test");
    one("test_command: >-\n  npm test\n  -- --all\nagent: x", "npm test -- --all");
    one("test_command: npm test\n  -- --all", "npm test -- --all");
    one("test_command: \"npm test\" # all of them", "npm test");
    one("test_command: 'it''s'", "it's");
    one("test_command: \"a \\\"b\\\\\"", "a \"b\\");
    one("test_command: \"a b\" && c", "\"a b\" && c");
    one("\"test_command\": npm test", "npm test");
    one("test_command: [ -f a ]", "[ -f a ]");
    for nothing in ["~", "null", "\"\"", "# later", "|"] {
        check(&format!("test_command: {nothing}"), &[]);
    }
    check("test_command:\n  - npm test\n  - make", &[("npm test", Some("npm test")), ("make", Some("make"))]);
    check("criteria: # the list\n  - a\n\n  # note\n  - b # why\n", &[("a", None), ("b", None)]);
    check(
        "criteria: [\"a, b\", 'c', it's, d: `$ x --y=1,2`]",
        &[("a, b", None), ("c", None), ("it's", None), ("d", Some("x --y=1,2"))],
    );
    check("criteria: [\n  a,\n  \"b\", # two\n]\nagent: x", &[("a", None), ("b", None)]);
    check("criteria: [\"a # b\", c] # two", &[("a # b", None), ("c", None)]);
    check("criteria: [\n  \"a # b\", # one\n  'c # d']", &[("a # b", None), ("c # d", None)]);
    check("criteria:\n  - >\n    a\n    b\n  - c\n    d", &[("a b", None), ("c d", None)]);
    check("criteria:\n  - A `$ grep ' # ' x`", &[("A", Some("grep ' # ' x"))]);
    check("criteria:\n- \n- ~\n- a", &[("a", None)]);
}

/// Unreadable values of these keys prevent a start.
#[test]
fn unread_keys_are_reported() {
    let check = |text: &str, expect: &str| {
        let task = parse_task(&[TaskDocument { path: "PROMPT.md".to_owned(), text: text.to_owned() }]);
        let finding = task.findings.iter().find(|it| it.code.blocks_start());
        assert_eq!(finding.map(|it| it.message.as_str()).unwrap_or_default(), expect, "{text}");
        assert!(finding.is_none_or(|it| text.get(it.place.range.clone()).is_some_and(|it| !it.is_empty())));
    };
    let keys = "keys are not read here. Write each as one line of text.";
    check("---\ncriteria:\n  - name: a\n    check: npm test\n---\n", &format!("criteria: {keys}"));
    check("---\ncriteria:\n  first: a\n---\n", &format!("criteria: {keys}"));
    check("---\ntest_command:\n  run: npm test\n---\n", &format!("test_command: {keys}"));
    check(
        "---\ntest_command: [npm, test]\n---\n",
        "test_command: a list in brackets. Write it as one line of text.",
    );
    check("---\ncriteria: [\n  a,\n  b\n---\n", "criteria: a list that is not closed. Write the `]`.");
    check("---\ntest_command: |\n  a\n  b\n---\n", "a b: no command of one line. Write one.");
    let unclosed = "front matter: no `---` closes it, so `test_command` is not read. Add one.";
    check("---\nagent: x\ntest_command: npm test\n## Done when\n- a\n", unclosed);
    check("\u{feff}---\r\ntest_command: npm test\r\n", unclosed);
    check("---\nagent: x\n\n## Done when\n- test_command: a\n", "");
    check("---\nagent: x\n\ntest_command: is what we call it\n", "");
    check("--- test_command: x\n", "");
    check("Intro\n---\ntest_command: x\n", "");
}

/// The settings of a document: `key = value [its bytes]`.
#[test]
fn settings_are_read_with_their_ranges() {
    let check = |front: &str, expect: &[&str]| {
        let text = format!("---\n{front}\n---\n# Title\n\nDo it.\n");
        let task = parse_task(&[TaskDocument { path: "PROMPT.md".to_owned(), text: text.clone() }]);
        let shown = |it: &crate::WrittenSetting| {
            format!("{} = {} [{}]", it.key, it.value, &text[it.place.range.clone()])
        };
        let mut texts: Vec<String> = task.settings.iter().map(shown).collect();
        texts.extend(task.promise.iter().map(|it| format!("promise {it}")));
        let relevant = task.findings.iter().filter(|it| it.code != FindingCode::NoCriteria);
        texts.extend(
            relevant.map(|it| format!("! {:?} {} [{}]", it.code, it.message, &text[it.place.range.clone()])),
        );
        assert_eq!(texts, expect, "{front}");
    };
    check("agent: codex", &["agent = codex [agent: codex]"]);
    check(
        "may_change: tests/golden/**",
        &["criteria.may_change = tests/golden/** [may_change: tests/golden/**]"],
    );
    check(
        "may_change:\n  - tests/golden/**\n  - tests/test_old.py",
        &["criteria.may_change = tests/golden/** tests/test_old.py [  - tests/golden/**]"],
    );
    check("max_iterations: 7", &["limits.iterations = 7 [max_iterations: 7]"]);
    check("completion_promise: \"ALL DONE\"", &["promise ALL DONE"]);
    check("agent:\nmax_iterations: null\ncompletion_promise: ''", &[]);
    check(
        "agent: claude -p --dangerously-skip-permissions",
        &[
            "agent = claude [agent: claude -p --dangerously-skip-permissions]",
            "! BadValue agent: only `claude` of this line is used. Write arguments into `loopkeeper.toml`. \
             [agent: claude -p --dangerously-skip-permissions]",
        ],
    );
    check(
        "max_iterations: many",
        &["! Syntax max_iterations: takes a whole number from 1. [max_iterations: many]"],
    );
    check(
        "max_iterations: 0",
        &["! Syntax max_iterations: takes a whole number from 1. [max_iterations: 0]"],
    );
    check(
        "agent:\n  - a\n  - b",
        &["! Syntax agent: takes one value. Write it as one line of text. [agent]"],
    );
    check(
        "agent: # ééééé\n  - a",
        &["! Syntax agent: takes one value. Write it as one line of text. [agent]"],
    );
    check(
        "max_iteration: 7",
        &["! UnknownKey max_iteration: not read. Did you mean `max_iterations`? [max_iteration]"],
    );
    check("\"author\": me", &["! UnknownKey author: not read. [author]"]);
}

#[test]
fn commands_inform_and_are_not_required() {
    let check = |front: &str, expect: &[&str]| {
        let text = format!("---\n{front}\n---\n# Title\n\nDo it.\n");
        let task = parse_task(&[TaskDocument { path: "RALPH.md".to_owned(), text: text.clone() }]);
        let mut texts: Vec<String> = task
            .criteria
            .iter()
            .map(|it| {
                let Some(Check::Command { command, .. }) = &it.check else { panic!("{it:?}") };
                let timeout = it.timeout_ms.map_or(String::new(), |it| format!(" {it} ms"));
                let must = if it.required { " required" } else { "" };
                format!("{}: {command}{timeout}{must}", it.name)
            })
            .collect();
        texts.extend(
            task.findings
                .iter()
                .map(|it| format!("! {:?} {} [{}]", it.code, it.message, &text[it.place.range.clone()])),
        );
        assert_eq!(texts, expect, "{front}");
    };
    check(
        "commands:\n  - name: tests\n    run: uv run pytest -x\n    timeout: 60\n  - run: git log --oneline -5\n    name: log",
        &["tests: uv run pytest -x 60000 ms", "log: git log --oneline -5"],
    );
    check("commands:\n  - npm test\n  - make lint", &["npm test: npm test", "make lint: make lint"]);
    check("commands: make", &["make: make"]);
    check(
        "commands:\n  - name: tests",
        &["! Syntax commands: an item without `run`. Write the command below its name. [  - name: tests]"],
    );
    check(
        "commands:\n  - name: a\n    runs: b\n    run: c",
        &["a: c", "! UnknownKey runs: not read. Did you mean `run`? [runs]"],
    );
    check(
        "commands:\n  tests: npm test",
        &[
            "! Syntax commands: takes a list. Write `- name: …` and `run: …` below it. [commands:\n  tests: npm test]",
        ],
    );
    check("commands:\n  - {name: t, run: x} # c\n  - name: b\n    run: y", &["t: x", "b: y"]);
    check(
        "commands:\n  - { run: \"echo {a, b}\", timeout: 5 }\n  - {name: tüv, command: 'a: b'}",
        &["echo {a, b}: echo {a, b} 5000 ms", "tüv: a: b"],
    );
    check("commands: [{name: t, run: x}, {name: u, run: y}]", &["t: x", "u: y"]);
    check("commands: [\n  {name: t, run: x},\n]", &["t: x"]);
    check(
        "commands:\n  - {name: t, run: x",
        &["! Syntax commands: takes a list. Write `- name: …` and `run: …` below it. [  - {name: t, run: x]"],
    );
    check(
        "commands:\n  - {name: a, runs: b, run: c}",
        &["a: c", "! UnknownKey runs: not read. Did you mean `run`? [runs]"],
    );
    check(
        "commands: [a, b]",
        &["! Syntax commands: takes a list. Write `- name: …` and `run: …` below it. [commands: [a, b]]"],
    );
}

#[test]
fn criteria_that_are_in_the_text_too_are_read_once() {
    let text = "---\ntask: Shop\ncompletion_criteria:\n  - It sells\n  - \"It opens: `exists open`\"\n---\n\n## Success Criteria\n\n1. [ ] It sells\n";
    let task = parse_task(&[TaskDocument { path: "RALPH_TASK.md".to_owned(), text: text.to_owned() }]);
    let names: Vec<&str> = task.criteria.iter().map(|it| it.name.as_str()).collect();
    assert_eq!((names, task.findings), (vec!["It sells", "It opens"], Vec::new()));
    assert_eq!(task.title, "Success Criteria");
    let text = "---\ntask: Shop\n---\n\nSell.\n";
    let task = parse_task(&[TaskDocument { path: "RALPH_TASK.md".to_owned(), text: text.to_owned() }]);
    assert_eq!(task.title, "Shop");
}

#[test]
fn every_key_that_is_offered_is_read() {
    for key in crate::FRONT_MATTER_KEYS {
        let value = if key.form.ends_with(' ') { "x" } else { "" };
        let text = format!("---\n{}:{}{value}\n---\n# T\n\nDo it.\n", key.name, key.form);
        let task = crate::parse_task(&[crate::TaskDocument { path: "a.ralph.md".to_owned(), text }]);
        let unread = task.findings.iter().filter(|it| it.code != crate::FindingCode::NoCriteria);
        assert_eq!(unread.count(), 0, "{}: {:?}", key.name, task.findings);
    }
}
