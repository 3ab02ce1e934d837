//! Stories: what the prompt contains about their file, and other tools' placeholders for them.

use super::PromptFixture;
use crate::check::Status;
use crate::journal::Role;
use crate::prompt::task_of_stories;
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::Check;
use loopkeeper_text::DocumentRange;

#[test]
fn a_plan_says_where_it_is_and_who_keeps_it() {
    let story = |id: &str, file: &str| PlanItem {
        id: id.to_owned(),
        title: "Log in".to_owned(),
        done: false,
        blocking: true,
        priority: Some(1),
        depends_on: Vec::new(),
        done_field: None,
        done_value: None,
        place: DocumentRange { file: file.to_owned(), range: 0..0 },
    };
    let check = |items: &[(&str, &str)], expect: &str| {
        let plan = items.iter().map(|(id, file)| story(id, file)).collect();
        let text = PromptFixture { plan, ..PromptFixture::new() }.build();
        let (_, section) = text.split_once(" done\n\n").unwrap();
        assert_eq!(section.split("\n\n## ").next().unwrap().trim_end(), expect);
    };
    check(
        &[("US-7", "plans/prd.json")],
        "Its stories are in `plans/prd.json`, and you keep that file up to date: once all that a story asks for holds, \
         set its `passes` to `true` there and change nothing else of it. `passes` says that the story is done; the \
         checks decide whether that is so.\n\n- next: US-7: Log in",
    );
    check(
        &[("0123456789", "fix_plan.md")],
        "Its boxes are in `fix_plan.md`, and you keep that file up to date: once what a box asks for is done, tick it \
         there (`[x]`); in a table, set its status.\n\n- next: Log in",
    );
    // An id that is derived from the title adds no information.
    let text =
        PromptFixture { plan: vec![story("0123456789-2", "prd.json")], ..PromptFixture::new() }.build();
    assert!(text.contains("- next: Log in\n"), "{text}");
}

#[test]
fn placeholders_of_other_tools_are_filled_in_or_left_out() {
    let check = |task: &str, expect: &str| {
        let command = Check::Command { command: "make test".to_owned(), expect: Vec::new() };
        let failed = Some((Status::Fail, "exit 2", "1 failed"));
        let mut fixture = PromptFixture::new().with("tests", command, Role::Goal, failed);
        fixture.task = task.to_owned();
        let item = |id: &str, title: &str| PlanItem {
            id: id.to_owned(),
            title: title.to_owned(),
            done: false,
            blocking: true,
            priority: None,
            depends_on: Vec::new(),
            done_field: None,
            done_value: None,
            place: DocumentRange { file: "prd.json".to_owned(), range: 0..0 },
        };
        fixture.plan = vec![item("US-1", "{{STORY_ID}}"), item("US-2", "B")];
        let text = fixture.build();
        assert_eq!(text.split("\n\n---\n").next().unwrap(), expect, "{task}");
    };
    check("Do {{STORY_ID}} of {{PRD_PATH}}, {{ITERATION}}.", "Do US-1 of prd.json, 2.");
    // What is filled in is not read again.
    check("{{STORY_TITLE}}", "{{STORY_ID}}");
    check("Gates:\n{{QUALITY_GATES}}", "Gates:\n- `$ make test`");
    check("{{ commands.tests }}", "```\n1 failed\n```");
    check("```\n{{ commands.tests }}\n```", "```\n1 failed\n```");
    check("A{{UNKNOWN_NAME}}B `{{UNKNOWN_NAME}}` {{ user.name }}", "AB `{{UNKNOWN_NAME}}` {{ user.name }}");
}

#[test]
fn a_story_file_is_introduced() {
    let short = task_of_stories("plans/prd.json", "Shop", "\u{feff}{\"userStories\": []}\n");
    assert_eq!(
        short,
        "# Shop\n\nThe task is the list of stories in `plans/prd.json`. Do one story at a time: the one that is named as \
         the next one below, under \"The plan\", else one of your choice.\n\nThe file as it is now:\n\n\
         ```\n{\"userStories\": []}\n```\n"
    );
    let with =
        |field: &str| task_of_stories("prd.json", "", &format!("{{\"userStories\": [{{\"{field}\": []}}]}}"));
    assert!(with("acceptanceCriteria").contains(" Its `acceptanceCriteria` say what must hold.\n"));
    assert!(with("acceptance").contains(" Its `acceptance` says what must hold.\n"));
    assert!(with("steps").contains(" Its `steps` say how to try it.\n"));
    let long = task_of_stories("prd.json", "", &"x".repeat(40_000));
    assert!(
        long.starts_with("# prd.json\n") && long.ends_with("read the story that you work on there.\n"),
        "{long}"
    );
}

#[test]
fn a_file_with_another_field_than_usual_is_marked_by_it() {
    let item = |file: &str, field: Option<&str>| PlanItem {
        id: "US-7".to_owned(),
        title: "Log in".to_owned(),
        done: false,
        blocking: true,
        priority: None,
        depends_on: Vec::new(),
        done_field: field.map(str::to_owned),
        done_value: None,
        place: DocumentRange { file: file.to_owned(), range: 0..0 },
    };
    let check = |file: &str, field: Option<&str>, expect: &str| {
        let text = PromptFixture { plan: vec![item(file, field)], ..PromptFixture::new() }.build();
        assert!(text.contains(&format!("set its {expect} there")), "{text}");
    };
    check(".ralph/tasks.json", None, "`status` to `\"done\"`");
    check(".ralph/tasks.json", Some("passes"), "`passes` to `true`");
    check("prd.json", Some("status"), "`status` to `\"done\"`");
    check("prd.json", Some("completed"), "`completed` to `true`");
    let mut feature = item("feature_list.json", Some("status"));
    feature.done_value = Some("\"passing\"".to_owned());
    let text = PromptFixture { plan: vec![feature], ..PromptFixture::new() }.build();
    assert!(text.contains("set its `status` to `\"passing\"` there"), "{text}");
    let text =
        PromptFixture { plan: vec![item(".beads/issues.jsonl", None)], ..PromptFixture::new() }.build();
    assert!(text.contains("Its issues are in `.beads/issues.jsonl`, which Beads writes"), "{text}");
}
