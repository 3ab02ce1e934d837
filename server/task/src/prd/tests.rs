//! Story files: their parsed content, and the message for every kind of damage.

mod features;

use std::fmt::Write as _;

use super::parse_prd;
use crate::FindingCode;
use crate::criterion::Check;
use crate::outline::TaskOutline;

fn shown(text: &str) -> Vec<String> {
    let TaskOutline { plan, criteria, findings, .. } = parse_prd("prd.json", text);
    let mut lines = Vec::new();
    for item in &plan {
        let mark = if item.done { "x" } else { " " };
        lines.push(format!("[{mark}] {} {} [{}]", item.id, item.title, &text[item.place.range.clone()]));
    }
    for draft in &criteria {
        let criterion = &draft.criterion;
        let check = match &criterion.check {
            Some(Check::Command { command, expect }) if expect.is_empty() => format!(" | $ {command}"),
            Some(other) => format!(" | {other:?}"),
            None => String::new(),
        };
        let story = draft.plan.map_or("-", |index| plan[index].id.as_str());
        lines.push(format!("{story}: {}{check} [{}]", criterion.name, &text[criterion.place.range.clone()]));
    }
    for finding in &findings {
        assert!(finding.message.chars().count() <= 100, "{}", finding.message);
        let code = match finding.code {
            FindingCode::Syntax => "syntax",
            FindingCode::BadValue => "bad-value",
            FindingCode::BadCheck => "bad-check",
            FindingCode::UnknownKey => "unknown-key",
            FindingCode::NotACheck => "not-a-check",
            other => panic!("{other:?}"),
        };
        let fix = finding.fix.as_ref().map(|fix| format!(" => {fix}")).unwrap_or_default();
        lines.push(format!("! {code} {} [{}]{fix}", finding.message, &text[finding.place.range.clone()]));
    }
    lines
}

#[track_caller]
fn check(text: &str, expect: &[&str]) {
    assert_eq!(shown(text), expect, "in {text}");
    assert_eq!(shown(&format!("\u{feff}{text}")), expect, "with a byte order mark");
}

/// One story with these fields after its id.
fn story(fields: &str) -> String {
    format!(r#"{{"userStories": [{{"id": "A", "title": "T", {fields}}}]}}"#)
}

#[test]
fn stories_are_plan_items_and_their_criteria_are_criteria() {
    let text = r#"{
  "project": "Shop",
  "branchName": "ralph/shop",
  "description": "A shop",
  "userStories": [
    {
      "id": "US-001",
      "title": "Add a cart",
      "description": "As a user …",
      "acceptanceCriteria": ["Typecheck passes: `$ tsc`", "It looks good", "All tests: `npm test`"],
      "completionCriteria": ["npm test", "$ npm run lint", "`make check`"],
      "priority": 1,
      "passes": false,
      "notes": "",
      "labels": ["a"],
      "dependsOn": ["US-002"]
    },
    {"id": "US-002", "title": "Pay", "acceptanceCriteria": [], "passes": true, "notes": null}
  ],
  "qualityGates": ["npm run typecheck"]
}"#;
    check(
        text,
        &[
            "[ ] US-001 Add a cart [Add a cart]",
            "[x] US-002 Pay [Pay]",
            "US-001: Typecheck passes | $ tsc [Typecheck passes: `$ tsc`]",
            "US-001: It looks good [It looks good]",
            "US-001: All tests: npm test [All tests: `npm test`]",
            "US-001: npm test | $ npm test [npm test]",
            "US-001: npm run lint | $ npm run lint [$ npm run lint]",
            "US-001: make check | $ make check [`make check`]",
            "-: npm run typecheck | $ npm run typecheck [npm run typecheck]",
            "! not-a-check `npm test` is not run. Write `$ npm test`. [`npm test`] => `$ npm test`",
        ],
    );
    assert_eq!(parse_prd("prd.json", text).title, "Shop");
}

/// Checks a story's priority, its dependencies, and whether it and its criteria keep a loop running.
#[track_caller]
fn check_order(fields: &str, expect: (Option<i64>, &[&str], bool)) {
    let criterion = r#""acceptanceCriteria": ["Tests: `$ make`"]"#;
    let TaskOutline { plan, criteria, .. } = parse_prd("prd.json", &story(&format!("{fields}, {criterion}")));
    let found: Vec<&str> = plan[0].depends_on.iter().map(String::as_str).collect();
    assert_eq!((plan[0].priority, found.as_slice(), plan[0].blocking), expect, "{fields}");
    assert_eq!(criteria[0].criterion.required, expect.2, "{fields}");
}

#[test]
fn a_story_is_ordered_by_its_fields_and_can_be_skipped() {
    check_order(r#""priority": 2"#, (Some(2_000), &[], true));
    check_order(r#""priority": -1.5"#, (Some(-1_500), &[], true));
    check_order(r#""priority": "high""#, (None, &[], true));
    check_order(r#""dependsOn": ["A", "nobody"]"#, (None, &["A"], true));
    check_order(r#""skipped": true"#, (None, &[], false));
    check_order(r#""skipped": false"#, (None, &[], true));
}

#[test]
fn escapes_widen_a_place_to_its_literal() {
    check(
        &story(r#""acceptanceCriteria": ["Say \"hi\": `$ echo \"hi\"`", "caf\u00e9: `cargo test`"]"#),
        &[
            "[ ] A T [T]",
            r#"A: Say "hi" | $ echo "hi" ["Say \"hi\": `$ echo \"hi\"`"]"#,
            r#"A: café: cargo test ["caf\u00e9: `cargo test`"]"#,
            r#"! not-a-check `cargo test` is not run. Write `$ cargo test`. ["caf\u00e9: `cargo test`"]"#,
        ],
    );
    check(
        &story(r#""acceptanceCriteria": ["é: `$ x` `$ y`"]"#),
        &[
            "[ ] A T [T]",
            "A: é: $ x $ y [é: `$ x` `$ y`]",
            "! bad-check two checks in one item, `$ x` and `$ y`. Write two items. [`$ y`]",
        ],
    );
}

#[test]
fn shell_commands_are_taken_as_they_are() {
    let gates = |gate: &str, expect: &[&str]| {
        let found = shown(&format!(r#"{{"userStories": [], "qualityGates": [{gate}]}}"#));
        assert_eq!(found, expect, "in {gate}");
    };
    gates(r#""test -n `date`""#, &["-: test -n `date` | $ test -n `date` [test -n `date`]"]);
    gates(r#""All tests: `npm test`""#, &["-: All tests | $ npm test [All tests: `npm test`]"]);
    gates(r#""All tests: `$ npm test`""#, &["-: All tests | $ npm test [All tests: `$ npm test`]"]);
    gates(
        r#""anything && at all | really""#,
        &["-: anything && at all | really | $ anything && at all | really [anything && at all | really]"],
    );
    gates(
        r#""a\nb""#,
        &["-: a b [\"a\\nb\"]", "! bad-check a b: no command of one line. Write one. [\"a\\nb\"]"],
    );
    gates(r#""$ ""#, &["-: $ [$ ]", "! bad-check $: no command of one line. Write one. [$ ]"]);
    gates(
        r#""  ", 5"#,
        &[
            "! bad-value qualityGates: must not be empty. [\"  \"]",
            "! syntax qualityGates: must be text in quotes, is 5. [5]",
        ],
    );
}

#[test]
fn comments_and_trailing_commas_are_read() {
    check(
        "// note\n{\"userStories\": [/* none */ {\"id\": \"A\", \"title\": \"T\",},],}\n",
        &["[ ] A T [T]"],
    );
}

#[test]
fn an_invalid_branch_is_reported_at_its_line() {
    let branch =
        |name: &str| format!(r#"{{"branchName": {name}, "userStories": [{{"id": "A", "title": "T"}}]}}"#);
    let named =
        |name: &str| shown(&branch(name)).into_iter().filter(|it| it.starts_with('!')).collect::<Vec<_>>();
    for good in ["\"ralph/shop\"", "\"\"", "null", "\" a \""] {
        assert_eq!(named(good), Vec::<String>::new(), "{good}");
    }
    let faults = [
        ("7", "must be text in quotes, is 7"),
        ("\"a b\"", "not a valid branch name: it contains a space or one of ~ ^ : ? * [ \\"),
        ("\"a/\"", "not a valid branch name: one of its parts is empty, begins with `.` or ends in `.lock`"),
    ];
    for (name, fault) in faults {
        assert_eq!(named(name), [format!("! bad-value branchName: {fault}. [{name}]")]);
    }
}

#[test]
fn invalid_values_are_named_and_the_others_read() {
    let wrong = |fields: &str, expect: &str| {
        assert_eq!(shown(&story(fields)), ["[ ] A T [T]", expect], "in {fields}");
    };
    wrong(r#""passes": "yes""#, "! bad-value passes: must be true or false, is \"yes\". [\"yes\"]");
    wrong(r#""passes": null"#, "! bad-value passes: must be true or false, is null. [null]");
    wrong(r#""priority": "high""#, "! bad-value priority: must be a number, is \"high\". [\"high\"]");
    wrong(r#""notes": []"#, "! bad-value notes: must be text in quotes, is []. [[]]");
    wrong(r#""labels": "x""#, "! bad-value labels: must be a list in brackets, is \"x\". [\"x\"]");
    wrong(r#""labels": [1]"#, "! bad-value labels: must be text in quotes, is 1. [1]");
    wrong(r#""dependsOn": ["B"]"#, "! bad-value B: no story has this id. [\"B\"]");
    wrong(
        r#""acceptanceCriteria": "x""#,
        "! syntax acceptanceCriteria: must be a list in brackets, is \"x\". [\"x\"]",
    );
    wrong(
        r#""acceptanceCriteria": [{"text": "x"}]"#,
        "! syntax acceptanceCriteria: must be text in quotes, is {\"text\": \"x\"}. [{\"text\": \"x\"}]",
    );
    wrong(r#""acceptanceCriteria": [""]"#, "! bad-value acceptanceCriteria: must not be empty. [\"\"]");
    wrong(
        r#""passes": false, "passes": false"#,
        "! bad-value passes: written twice in one object, the last one counts. [\"passes\": ]",
    );
    check(
        r#"{"userStories": [{"id": 7, "title": "T"}, {"id": 7, "title": "U"}, 5]}"#,
        &[
            "[ ] 7 T [T]",
            "[ ] 7 U [U]",
            "! bad-value id: must be text in quotes, is 7. [7]",
            "! bad-value id: must be text in quotes, is 7. [7]",
            "! bad-value 7: a second story with this id. [7]",
            "! bad-value userStories: must be stories in braces, is 5. [5]",
        ],
    );
    let untitled = shown(r#"{"userStories": [{}]}"#);
    assert_eq!(untitled.len(), 2);
    assert_eq!(untitled[1], "! bad-value story: neither `id` nor `title`. [{}]");
}

#[test]
fn both_names_of_a_list_of_criteria_are_read() {
    let text =
        r#"{"tasks": [{"id": "1", "status": "todo", "acceptance": ["a"], "acceptance_criteria": ["b"]}]}"#;
    let criteria = parse_prd(".ralph/tasks.json", text).criteria;
    assert_eq!(criteria.iter().map(|it| it.criterion.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_list_of_another_tool_is_named_as_it_is_there() {
    let check = |path: &str, text: &str, expect: &str| {
        let documents = [crate::TaskDocument { path: path.to_owned(), text: text.to_owned() }];
        let found: Vec<String> =
            crate::parse_task(&documents).findings.into_iter().map(|it| it.message).collect();
        assert_eq!(found, [expect], "{path} {text}");
    };
    let empty = |list: &str| format!("`{list}` is empty, so there is nothing to do. Add one.");
    check(".ralph/tasks.json", "{\"tasks\": []}", &format!("task list: {}", empty("tasks")));
    check(".ralph/queue.jsonc", "{\"tasks\": [] // none\n}", &format!("task list: {}", empty("tasks")));
    check("tasks.json", "{\"tasks\": []}", &format!("task list: {}", empty("tasks")));
    check(".agents/tasks/prd.json", "{\"stories\": []}", &format!("story file: {}", empty("stories")));
    check("feature_list.json", "{\"features\": []}", &format!("story file: {}", empty("features")));
    check(".ralph/tasks.json", "{\"tasks\": \"x\"}", "tasks: must be a list of stories, is \"x\".");
    check(".ralph/tasks.json", "{\"x\": 1}", "story file: no `tasks`.");
    check(".ralph/tasks.json", "", "story file: no object with `tasks`.");
    assert!(crate::is_task_text(crate::DocumentKind::TaskQueue, "\n"));
    let twice = "{\"tasks\": [{\"id\": \"1\", \"status\": \"todo\", \"status\": \"done\"}]}";
    check(".ralph/tasks.json", twice, "status: written twice in one object, the last one counts.");
}

#[test]
fn a_file_without_stories_is_not_an_empty_plan() {
    let check = |text: &str, expect: &str| assert_eq!(shown(text), [expect], "in {text:?}");
    check("", "! syntax story file: no object with `userStories`. []");
    check("// only a note\n", "! syntax story file: no object with `userStories`. [/]");
    check("[]", "! syntax story file: no object with `userStories`. [[]");
    check("{}", "! syntax story file: no `userStories`. [{]");
    check("\n{\"stories\": []}", "! syntax story file: `stories` is not read. Call it `userStories`. [{]");
    check("{\"userStories\": {}}", "! syntax userStories: must be a list of stories, is {}. [{}]");
    for broken in [
        "{",
        "{\"userStories\": [",
        "{\"userStories\": [{]}",
        "{\"a\" 1}",
        "{'a': 1}",
        "\0",
        "{\"é",
        "é",
        "nul",
    ] {
        let found = shown(&format!("\n\n{broken}"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("! syntax story file: "), "{found:?}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(parse_prd("prd.json", &deep).findings.len(), 1);
}

#[test]
fn a_hundred_thousand_stories_are_read() {
    let mut text = String::from("{\"userStories\": [");
    for number in 0..100_000 {
        let comma = if number == 0 { "" } else { "," };
        let criteria = "\"acceptanceCriteria\": [\"a: `$ x`\"]";
        write!(text, "{comma}\n{{\"id\": \"US-{number}\", \"title\": \"T\", {criteria}, \"passes\": false}}")
            .unwrap();
    }
    text.push_str("]}");
    let outline = parse_prd("prd.json", &text);
    assert_eq!((outline.plan.len(), outline.criteria.len(), outline.findings.len()), (100_000, 100_000, 0));
}

#[test]
fn a_misspelt_field_is_named_and_a_foreign_one_left_alone() {
    let check_fields = |fields: &str, expect: &[&str]| {
        let all = [&["[ ] A T [T]"], expect].concat();
        check(&story(fields), &all);
    };
    check_fields(
        r#""passed": true"#,
        &["! unknown-key passed: not read. Write `passes`. [\"passed\"] => \"passes\""],
    );
    check_fields(
        r#""acceptance_criteria": ["a"]"#,
        &[
            "! unknown-key acceptance_criteria: not read. Write `acceptanceCriteria`. [\"acceptance_criteria\"] => \
           \"acceptanceCriteria\"",
        ],
    );
    check_fields(r#""status": "open", "type": "bug", "estimate": 3, "levels": [], "ids": []"#, &[]);
    // Next to the field itself it belongs to another tool.
    check_fields(r#""passes": false, "passed": true"#, &[]);
    check(
        r#"{"userStories": [], "qualityGate": ["x"]}"#,
        &["! unknown-key qualityGate: not read. Write `qualityGates`. [\"qualityGate\"] => \"qualityGates\""],
    );
}

#[test]
fn faults_beside_the_plan_are_reported() {
    check(
        r#"{"userStories": [{"id": 1, "title": "T", "dependsOn": ["2", " A "]}, {"id": 2, "title": "U"}, {"id": "A ", "title": "V"}]}"#,
        &[
            "[ ] 1 T [T]",
            "[ ] 2 U [U]",
            "[ ] A V [V]",
            "! bad-value id: must be text in quotes, is 1. [1]",
            "! bad-value id: must be text in quotes, is 2. [2]",
        ],
    );
    check(
        &story(r#""userStories": [{"id": "B"}]"#),
        &[
            "[ ] A T [T]",
            "! bad-value userStories: stories in a story are not read. Put them next to it. [[{\"id\": \"B\"}]]",
        ],
    );
}

/// Field names are compared with the known ones, not with each other.
#[test]
fn an_object_of_many_fields_is_read_in_linear_time() {
    let mut fields = String::from("\"note\": 1");
    (0..20_000).for_each(|number| write!(fields, ", \"k{number}\": 1").unwrap());
    assert_eq!(parse_prd("prd.json", &story(&fields)).plan.len(), 1);
}

#[test]
fn a_status_counts_as_passes() {
    let text = r#"{"version": 1, "stories": [{"id": "a", "title": "A", "status": "done"}, {"id": "b", "title": "B", "status": "in_progress"}]}"#;
    assert_eq!(shown(text), ["[x] a A [A]", "[ ] b B [B]"]);
    let without = r#"{"stories": [{"id": "a", "title": "A"}]}"#;
    assert_eq!(shown(without), ["! syntax story file: `stories` is not read. Call it `userStories`. [{]"]);
}

#[test]
fn queue_fields_map_to_story_fields() {
    let text = r#"{"tasks": [{"id": "a", "title": "A", "status": "done"}, {"id": "b", "title": "B", "status": "todo", "acceptance": ["it sells"], "depends_on": ["a"]}]}"#;
    assert_eq!(shown(text), ["[x] a A [A]", "[ ] b B [B]", "b: it sells [it sells]"]);
    assert_eq!(parse_prd("tasks.json", text).plan[1].depends_on, ["a"]);
}

#[test]
fn a_draft_does_not_have_to_be_done() {
    let text = r#"{"tasks": [{"id": "A", "title": "a", "status": "draft"}, {"id": "B", "title": "b", "status": "todo"}]}"#;
    let documents = [crate::TaskDocument { path: ".ralph/queue.jsonc".to_owned(), text: text.to_owned() }];
    let plan = crate::parse_task(&documents).plan;
    let shown: Vec<(&str, bool, bool)> =
        plan.iter().map(|it| (it.id.as_str(), it.done, it.blocking)).collect();
    assert_eq!(shown, [("A", false, false), ("B", false, true)]);
}

#[test]
fn stories_without_the_usual_frame_are_read() {
    let text = r#"{"project": "P", "stories": [{"id": "S-1", "title": "A", "passes": true, "acceptance": ["done"]}, {"id": "S-2", "title": "B", "passes": false, "deps": ["S-1"], "acceptance": ["`exists sold`"]}]}"#;
    assert_eq!(
        shown(text),
        [
            "[x] S-1 A [A]",
            "[ ] S-2 B [B]",
            "S-1: done [done]",
            "S-2: exists sold | Exists { globs: [\"sold\"] } [`exists sold`]"
        ]
    );
    assert_eq!(parse_prd(".ralph/prd.json", text).plan[1].depends_on, ["S-1"]);
    let list = r#"[{"category": "setup", "description": "Build it", "steps": ["Run it"], "passes": false}, {"id": 2, "name": "Open", "description": "x", "passes": true}]"#;
    assert_eq!(shown(list), ["[ ] 18af94e0fa Build it [Build it]", "[x] 2 Open [Open]",]);
    let numbers = r#"[{"id": 1, "description": "a", "passes": true}, {"id": 2, "description": "b", "passes": false, "dependsOn": [1]}]"#;
    assert_eq!(shown(numbers), ["[x] 1 a [a]", "[ ] 2 b [b]"]);
    assert_eq!(parse_prd("prd.json", numbers).plan[1].depends_on, ["1"]);
    for other in ["[1, 2]", r#"[{"title": "a"}]"#, r#"{"stories": [{"title": "a"}]}"#] {
        assert!(shown(other)[0].starts_with("! syntax story file: "), "{other}");
    }
    // An object in the place of the command is the tool's own.
    let tasks = r#"[{"id": "t", "description": "Sell", "depends_on": [], "validation": {"commands": ["test -f sold"]}, "passes": false}]"#;
    assert_eq!(shown(tasks), ["[ ] t Sell [Sell]"]);
}

#[test]
fn a_task_of_a_queue_may_wait_for_one_that_was_moved_away() {
    let text = r#"{"tasks": [{"id": "b", "title": "B", "status": "todo", "depends_on": ["a"]}]}"#;
    let found = |path: &str| parse_prd(path, text).findings.len();
    assert_eq!((found(".ralph/queue.jsonc"), found(".agents/tasks/prd.json")), (0, 1));
}

#[test]
fn the_field_that_marks_a_story_as_done_is_known() {
    let check = |path: &str, text: &str, expect: Option<&str>| {
        assert_eq!(parse_prd(path, text).plan[0].done_field.as_deref(), expect, "{path} {text}");
    };
    check("prd.json", &story("\"passes\": false"), None);
    check("prd.json", &story("\"status\": \"todo\""), Some("status"));
    check("prd.json", &story("\"completed\": true"), Some("completed"));
    check(".ralph/tasks.json", r#"[{"id": "t", "passes": false}]"#, Some("passes"));
    check(".ralph/tasks.json", r#"{"tasks": [{"id": "t", "status": "todo"}]}"#, None);
}
