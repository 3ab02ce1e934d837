//! Tables of small plans and the result of each edit; then arbitrary plans: nothing else changes, and undoing an edit
//! restores the text.

mod any_plan;
mod other_tools;

use super::{DocumentEdit, PlanEdit, PlanEditError, PlanEditOutcome, compute_edit, find_item};
use crate::{TaskDocument, parse_task};

fn plan(file: &str, text: &str) -> Vec<TaskDocument> {
    let prompt = TaskDocument { path: "PROMPT.md".into(), text: "# T\n\n- [ ] not of the plan\n".into() };
    vec![prompt, TaskDocument { path: file.into(), text: text.into() }]
}

/// The edit of the item named `name`.
fn changed(file: &str, text: &str, name: &str, edit: PlanEdit) -> Result<DocumentEdit, PlanEditError> {
    let documents = plan(file, text);
    let task = parse_task(&documents);
    let made = compute_edit(&documents, &find_item(&task, name)?.id, edit)?;
    assert_eq!(made.file, file);
    let mut applied = text.to_owned();
    applied.replace_range(made.range.clone(), &made.text);
    assert_eq!(applied, made.after, "the range and its text are the change");
    Ok(made)
}

#[track_caller]
fn skip(file: &str, text: &str, name: &str, expect: &str) {
    let made = changed(file, text, name, PlanEdit::Skip).unwrap();
    assert_eq!((made.after.as_str(), made.done), (expect, PlanEditOutcome::Skipped));
    let back = changed(file, expect, name, PlanEdit::Skip).unwrap();
    assert_eq!((back.after.as_str(), back.done), (text, PlanEditOutcome::Resumed));
}

/// Moves an item and moves it back.
#[track_caller]
fn raise(file: &str, text: &str, name: &str, by: i32, expect: &str) {
    let made = changed(file, text, name, PlanEdit::Raise(by)).unwrap();
    assert_eq!((made.after.as_str(), made.done), (expect, PlanEditOutcome::Moved(by)));
    let back = changed(file, expect, name, PlanEdit::Raise(-by)).unwrap();
    assert_eq!(back.after, text);
}

#[track_caller]
fn refused(file: &str, text: &str, name: &str, edit: PlanEdit, expect: &str) {
    let (PlanEditError::Unknown(error) | PlanEditError::Conflict(error)) =
        changed(file, text, name, edit).unwrap_err();
    assert_eq!(error.to_string(), expect);
}

#[test]
fn a_story_is_skipped_as_its_author_writes() {
    let check = |before: &str, expect: &str| skip("prd.json", before, "A", expect);
    check(
        "{\n  \"userStories\": [\n    {\n      \"id\": \"A\",\n      \"title\": \"T\"\n    }\n  ]\n}\n",
        "{\n  \"userStories\": [\n    {\n      \"id\": \"A\",\n      \"title\": \"T\",\n      \"skipped\": true\n    }\n  ]\n}\n",
    );
    check(
        "\u{feff}{\"userStories\": [\r\n\t{\r\n\t\t\"id\" : \"A\",\r\n\t\t\"passes\" : false\r\n\t}\r\n]}",
        "\u{feff}{\"userStories\": [\r\n\t{\r\n\t\t\"id\" : \"A\",\r\n\t\t\"passes\" : false,\r\n\t\t\"skipped\" : true\r\n\t}\r\n]}",
    );
    check(
        r#"{"userStories":[{"id":"A","title":"T"},{"id":"B","title":"U"}]}"#,
        r#"{"userStories":[{"id":"A","title":"T","skipped":true},{"id":"B","title":"U"}]}"#,
    );
    check(r#"{"userStories": [{ "id": "A" }]}"#, r#"{"userStories": [{ "id": "A", "skipped": true }]}"#);
    check(r#"{"userStories":[{"id":"A"}]}"#, r#"{"userStories":[{"id":"A","skipped":true}]}"#);
    // A comma and a comment after the last property keep their position.
    check(
        "{\"userStories\": [{\n  \"id\": \"A\",\n  \"title\": \"T\", // why\n}]}",
        "{\"userStories\": [{\n  \"id\": \"A\",\n  \"title\": \"T\",\n  \"skipped\": true, // why\n}]}",
    );
    // A value written by hand elsewhere is only inverted.
    check(
        r#"{"userStories": [{"id": "A", "skipped": false, "title": "T"}]}"#,
        r#"{"userStories": [{"id": "A", "skipped": true, "title": "T"}]}"#,
    );
    let text = r#"{"userStories": [{"id": "A", "skipped": "no"}]}"#;
    let error = "\"A\" cannot be skipped as it is written. Hint: write `\"skipped\": true`";
    refused("prd.json", text, "A", PlanEdit::Skip, error);
}

#[test]
fn a_box_is_skipped_by_its_mark() {
    let check = |before: &str, expect: &str| skip("fix_plan.md", before, "one", expect);
    check("- [ ] one\n- [ ] two\n", "- [ ] one (optional)\n- [ ] two\n");
    check("- [ ] one", "- [ ] one (optional)");
    check("- [ ] one  \r\n- [x] two", "- [ ] one (optional)  \r\n- [x] two");
    check("1. [ ] one: `$ make`\n   - [ ] deep\n", "1. [ ] one: `$ make` (optional)\n   - [ ] deep\n");
    check("- [ ] one\n  goes on.\n\n  more\n", "- [ ] one\n  goes on. (optional)\n\n  more\n");
    check("# P\n\n    - [ ] one\n", "# P\n\n    - [ ] one (optional)\n");
    check("- [ ] **one** (timeout 5m)\n", "- [ ] **one** (timeout 5m) (optional)\n");
    let taken_up = changed("fix_plan.md", "- [ ] one（可选）\n", "one", PlanEdit::Skip).unwrap();
    assert_eq!((taken_up.after.as_str(), taken_up.done), ("- [ ] one\n", PlanEditOutcome::Resumed));
    let error = "\"one\" is optional by its heading. Hint: move it to another one";
    refused("fix_plan.md", "# Optional\n\n- [ ] one\n", "one", PlanEdit::Skip, error);
    let error = "\"one\" is done: there is nothing to skip";
    refused("fix_plan.md", "- [x] one\n", "one", PlanEdit::Skip, error);
}

/// `id priority`, separated by commas.
fn stories(row: &str) -> String {
    let story = |it: &str| {
        let mut parts = it.split_whitespace();
        let id = parts.next().unwrap();
        let priority = parts.next().map_or(String::new(), |it| format!(",\n    \"priority\": {it}"));
        format!("  {{\n    \"id\": \"{id}\"{priority},\n    \"passes\": {}\n  }}", id.starts_with('x'))
    };
    let all: Vec<String> = row.split(',').map(story).collect();
    format!("{{\"userStories\": [\n{}\n]}}\n", all.join(",\n"))
}

#[test]
fn stories_change_priorities_or_places() {
    let check = |before: &str, name: &str, by: i32, expect: &str| {
        raise("prd.json", &stories(before), name, by, &stories(expect));
    };
    check("A 1,B 2,C 3", "B", 1, "A 2,B 1,C 3");
    check("A 1,B 2,C 3", "B", -1, "A 1,B 3,C 2");
    check("A 1,B 2,C 3", "C", 2, "A 2,B 3,C 1");
    check("C 30,A 10,B 20", "B", 1, "C 30,A 20,B 10");
    // With equal or missing numbers, document order applies.
    check("A 1,B 1", "B", 1, "B 1,A 1");
    check("A,B,C", "C", 2, "C,A,B");
    // Finished items are skipped.
    check("A 1,x 2,B 3", "B", 1, "A 3,x 2,B 1");
    check("A,x,B", "B", 1, "B,x,A");
    let error = |row: &str, name: &str, by: i32, expect: &str| {
        refused("prd.json", &stories(row), name, PlanEdit::Raise(by), expect);
    };
    error("A 1,B 2", "A", 1, "\"A\" is already the first open item");
    error("A 1,B 2", "B", -1, "\"B\" is already the last open item");
    error("A 1,x 2", "x", 1, "\"x\" is done: its place makes no difference");
    error("A 1,B 2", "A", 0, "\"A\" stays where it is when it moves by 0");
    error(
        "A 1,B",
        "B",
        1,
        "\"B\" cannot change places with \"A\": one of them has no `priority`. Hint: give it one",
    );
    let far = changed("prd.json", &stories("A 1,B 2,C 3"), "C", PlanEdit::Raise(9)).unwrap();
    assert_eq!((far.after, far.done), (stories("A 2,B 3,C 1"), PlanEditOutcome::Moved(2)));
}

#[test]
fn boxes_change_places_with_all_that_is_in_them() {
    let check = |before: &str, by: i32, expect: &str| raise("fix_plan.md", before, "one", by, expect);
    check("- [ ] one\n- [ ] two\n", -1, "- [ ] two\n- [ ] one\n");
    check("- [ ] one\r\n- [ ] two", -1, "- [ ] two\r\n- [ ] one");
    check(
        "# P\n\n- [ ] one: `$ a`\n  - [ ] deep\n\n  more\n\n- [x] done\n- [ ] two  \n\nEnd\n",
        -1,
        "# P\n\n- [ ] two  \n\n- [x] done\n- [ ] one: `$ a`\n  - [ ] deep\n\n  more\n\nEnd\n",
    );
    check("1. [ ] one\n2. [ ] two\n3. [ ] three\n", -2, "1. [ ] two\n2. [ ] three\n3. [ ] one\n");
    check("> - [ ] one\n> - [ ] two\n", -1, "> - [ ] two\n> - [ ] one\n");
    let error = |text: &str, by: i32, expect: &str| {
        refused("fix_plan.md", text, "one", PlanEdit::Raise(by), expect);
    };
    error("- [ ] one\n\n# Next\n\n- [ ] two\n", -1, "\"one\" is already the last open item of its list");
    error("- [ ] two\n  - [ ] one\n", 1, "\"one\" is already the first open item of its list");
    error("# P\n\n    - [ ] zero\n    - [ ] one\n", 1, "\"one\" is already the first open item of its list");
}

#[test]
fn items_are_named_by_id_title_or_a_part_of_it() {
    let text = r#"{"userStories": [{"id": "US-1", "title": "Add a cart"}, {"id": "US-2", "title": "Pay the cart"},
        {"id": "US-3", "title": "Pay", "passes": true}, {"id": "pay", "title": "By bill"}]}"#;
    let task = parse_task(&plan("prd.json", text));
    let check = |name: &str, expect: Result<&str, &str>| {
        let found = find_item(&task, name).map(|it| it.id.clone());
        let found =
            found.map_err(|(PlanEditError::Unknown(it) | PlanEditError::Conflict(it))| it.to_string());
        assert_eq!(found, expect.map(str::to_owned).map_err(str::to_owned));
    };
    check("US-2", Ok("US-2"));
    check("add a CART", Ok("US-1"));
    check("bill", Ok("pay"));
    check("pay", Ok("pay"));
    check("Pay", Ok("US-3"));
    check("cart", Err("the plan has several items \"cart\""));
    check("US-9", Err("the plan has no item \"US-9\""));
    check("", Err("the plan has no item \"\""));
}

#[test]
fn a_refusal_is_written_in_the_language_of_the_user() {
    let refuse = |edit| {
        loopkeeper_text::language::Language::SimplifiedChinese.during(|| {
            match changed("PLAN.md", "- [ ] 付款\n- [x] 登录\n", "登录", edit) {
                Err(PlanEditError::Conflict(why) | PlanEditError::Unknown(why)) => why.to_string(),
                Ok(made) => made.after,
            }
        })
    };
    assert_eq!(refuse(PlanEdit::Skip), "“登录”已完成：没有可跳过的内容");
    assert_eq!(refuse(PlanEdit::Raise(0)), "移动 0 位时，“登录”的位置不变");
}
