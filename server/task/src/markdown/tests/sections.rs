//! Which lists are criteria.

use super::check;

/// Whether the heading opens a section.
#[track_caller]
fn check_headings(opens: &[&str], ordinary: &[&str]) {
    for heading in opens {
        check(&format!("{heading}\n\n- a: `$ true`\n"), &["a | $ true"]);
    }
    for heading in ordinary {
        check(&format!("{heading}\n\n- a: `$ true`\n"), &[]);
    }
}

#[test]
fn fallback_headings_count_if_no_usual_one_is_there() {
    let with = |other: &str| format!("{other}\n\n- a: `$ true`\n\n## Definition of done\n\n- reviewed\n");
    for other in ["## Acceptance criteria", "## 验收标准：", "**Done when:**"] {
        check(&with(other), &["a | $ true"]);
    }
    check(&with("## Steps"), &["reviewed"]);
    check("**Definition of done:**\n\n- a: `$ true`\n", &["a | $ true"]);
}

#[test]
fn headings_that_begin_with_a_phrase_open_a_section() {
    check_headings(
        &[
            "# Completion criteria",
            "## Acceptance Criteria",
            "## ACCEPTANCE CRITERIA",
            "### Success criteria:",
            "## Done when",
            "## Done when:",
            "## Done when…",
            "## Done   when",
            "## Done when all of these hold",
            "## Done when (all of these)",
            "## Stop condition",
            "## Stop conditions (v2)",
            "## Validation Commands",
            "## Definition of Done",
            "## Definition of done (DoD)",
            "## Exit criteria",
            "## 完成标准",
            "## 验收条件",
            "## 成功标准：",
            "## 完成条件：",
            "## 验收标准（必须）",
            "## 验收标准说明",
            "## 2. Done when",
            "## 2) Done when",
            "## 3.1. Done when",
            "## (2) Done when",
            "## § 4 Done when",
            "## IV. Done when",
            "## b) Done when",
            "## 一、完成标准",
            "## ✅ Done when",
            "## 🎯🚀 Done when 🎯",
            "## 1️⃣ Done when",
            "## ℹ️ Done when",
            "## :white_check_mark: Done when",
            "## - Done when",
            "## **Done when**",
            "## *Done* when",
            "## `Done when`",
            "## Done when ##",
            "Done when\n=========",
            "Done when\n---------",
            "> ## Done when",
        ],
        &["## Done whenever", "## Not done when", "## Criteria", "## Acceptance", "## Donewhen"],
    );
}

#[test]
fn a_section_ends_at_the_next_heading_of_its_level() {
    check(
        "# T\n\n- no\n\n## Done when\n\n- a\n\n### Backend\n\n1. b\n2. c\n\n* d\n\n## Notes\n\n- no\n",
        &["a", "b", "c", "d"],
    );
    check("## Done when\n- a\n# Up\n- no\n", &["a"]);
    check("# Done when\n- a\n## Deeper\n- b\n\nUp\n===\n- no\n", &["a", "b"]);
    // A nested section has its own kind; the outer one continues after it.
    check(
        "## Acceptance criteria\n\n- `x`\n\n### Validation commands\n\n- `x`\n\n### More\n\n- `y`\n",
        &["x", "x | $ x", "y"],
    );
}

#[test]
fn a_section_without_items_is_reported() {
    check("## Done when\n\nAll is well.\n", &["! no-criteria [Done when]"]);
    check("## Done when\n\n## Done when\n- a\n", &["a", "! no-criteria [Done when]"]);
    check("## Done when\n\n### Deeper\n- a\n", &["a"]);
    check("## Done when\n\n### Validation commands\n- `a`\n", &["a | $ a"]);
    check("## Done when\n\n- [ ]\n- \n", &["! no-criteria [Done when]"]);
    check("## Done when\n\n| a | b |\n|---|---|\n| `$ x` | y |\n", &["! no-criteria [Done when]"]);
    check("## Done when\n\n```sh\n- `$ x`\n```\n", &["! no-criteria [Done when]"]);
    check("## Done when\n\n<!--\n- `$ x`\n-->\n", &["! no-criteria [Done when]"]);
}

#[test]
fn a_paragraph_with_a_colon_makes_the_list_behind_it_criteria() {
    check("Done when:\n\n- a: `$ x`\n\nMore.\n\n- no\n", &["a | $ x"]);
    check("Done when:\n- a\n- b\n", &["a", "b"]);
    check("**Done when:**\n1. a\n", &["a"]);
    check("**Done when**:\n\n1. a\n", &["a"]);
    check("_Acceptance criteria for the parser:_\n* a\n", &["a"]);
    check("完成标准：\n- a\n", &["a"]);
    check("✅ Done when all of these hold:\n- a\n", &["a"]);
    check("Validation commands:\n- `x`\n", &["x | $ x"]);
    // Prose, not a section.
    check("It is done when:\n- a\n", &[]);
    check("Done when it is done.\n\n- a\n", &[]);
    check("Done when:\n\nfoo\n\n- a\n", &["! no-criteria [Done when:]"]);
    check("Done when:\n\n<!-- note -->\n\n- a\n", &["a"]);
    // Nearly a section.
    check(
        "**Acceptance Criteria**\n\n- a\n",
        &["! no-criteria [**Acceptance Criteria**] => **Acceptance Criteria**:"],
    );
    // A nested section phrase must not make items be read twice.
    check("## Done when\n\nAcceptance criteria:\n\n- a\n\n**Done when**\n\n- b\n", &["a", "b"]);
    check("## Done when\n\nValidation commands:\n\n- `a`\n\nRest:\n\n- `b`\n", &["a | $ a", "b"]);
}

#[test]
fn lines_that_open_a_section_need_no_empty_line_before_them() {
    check(
        "OBJECTIVE: Do it\nCONTEXT:\n- src/a.rs\nDONE WHEN:\n- a: `$ x`\n- b\nOutput <promise>X</promise>\n",
        &["a | $ x", "b"],
    );
    check("Some prose\nDone when:\n- a\n", &["a"]);
    check("- no\nDone when:\n- a\nValidation commands:\n- `x`\n", &["a", "x | $ x"]);
    check("```\nx\nDone when:\n- a\n```\n", &[]);
    check("<!--\nx\nDone when:\n- a\n-->\n", &[]);
}

#[test]
fn criteria_in_one_line_are_read_and_a_list_is_offered() {
    check(
        "Done when: - a: `$ x - y` - b - c-d\n",
        &[
            "a | $ x - y",
            "b",
            "c-d",
            "! inline-list [Done when: - a: `$ x - y` - b - c-d] => Done when:\n\n- a: `$ x - y`\n- b\n- c-d",
        ],
    );
    check(
        "**Done when:** - a\n  - b\n",
        &["a", "b", "! inline-list [**Done when:** - a] => **Done when:**\n\n- a"],
    );
    check(
        "Done when all hold: - a (optional) - `x`: `$ y`\n    - c\n",
        &[
            "a (optional)",
            "x | $ y",
            "c",
            "! inline-list [Done when all hold: - a (optional) - `x`: `$ y`\n    - c] => \
             Done when all hold:\n\n- a (optional)\n- `x`: `$ y`\n- c",
        ],
    );
    check("Done when: all is well - really - yes\n", &[]);
    check(
        "## Done when\n\nDone when: - a - b\n",
        &["a", "b", "! inline-list [Done when: - a - b] => Done when:\n\n- a\n- b"],
    );
}

#[test]
fn validation_commands_take_one_bare_span() {
    check(
        "## Validation Commands\n\n- `go test ./...`\n- Lint: `golangci-lint run`\n- `$ make`\n- it works\n",
        &["go test ./... | $ go test ./...", "Lint | $ golangci-lint run", "make | $ make", "it works"],
    );
    check(
        "## Validation Commands\n\n```sh\ngo test\n```\n\n- `x`\n",
        &["x | $ x", "! not-a-check [```sh\ngo test\n```]"],
    );
}

/// Globs of judges that may change, and what a list of them does to the sections around it.
#[test]
fn globs_of_judges_that_may_change_are_settings() {
    let check = |text: &str, expect: &str| {
        let document = crate::TaskDocument { path: "PROMPT.md".to_owned(), text: text.to_owned() };
        let task = crate::parse_task(&[document]);
        let found = task.settings.iter().find(|it| it.key == "criteria.may_change");
        assert_eq!(found.map_or("", |it| it.value.as_str()), expect, "{text}");
        task.criteria.len()
    };
    check(
        "## May change\n\n- tests/golden/**, tests/other/**\n- `tests/test_old.py` (renamed)\n",
        "tests/golden/** tests/other/** tests/test_old.py",
    );
    check("May change: tests/golden/**\n", "tests/golden/**");
    check("**May change:**\n\n- tests/golden/**\n", "tests/golden/**");
    check("## 也可以改\n\n- tests/golden/**\n", "tests/golden/**");
    check("It may change: nothing is certain.\n", "");
    check("## May change your mind\n\n- tests/a.py\n", "");
    let criteria = check("## Done when\n\n- `exists a`\n\n## May change\n\n- tests/a.py\n", "tests/a.py");
    assert_eq!(criteria, 1, "the list is no list of criteria");
}

#[test]
fn a_section_about_stopping_needs_no_list_if_it_says_what_to_print() {
    let print = "When all stories pass, reply with:\n<promise>COMPLETE</promise>\n";
    check(&format!("## Stop Condition\n\nCheck the stories.\n\n{print}"), &[]);
    check(&format!("## Done when\n\n{print}"), &["! no-criteria [Done when]"]);
}
