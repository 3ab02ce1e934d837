//! Items, titles, promises, contexts, and whole documents with everything in them.

use super::{DocumentRole, check, parse_markdown};
use crate::outline::TaskOutline;

fn outline(text: &str) -> TaskOutline {
    parse_markdown("PROMPT.md", text, DocumentRole::Prompt)
}

#[test]
fn items_are_criteria_at_any_depth_but_titles_of_groups() {
    check("## Done when\n\n- Group\n  - a\n  - Deeper:\n    1. b\n       - c\n- d\n", &["a", "c", "d"]);
    check("## Done when\n\n- Group: `$ x`\n  - a\n", &["Group | $ x", "a"]);
    check("## Done when\n\n- Group: `$ `\n  - a\n", &["Group: $", "a", "! bad-check [`$ `]"]);
    check("## Done when\n\n- Group\n\n  Second paragraph: `no`\n\n- b\n", &["Group", "b"]);
    check("## Done when\n\n- First\n  ```sh\n  `$ no`\n  ```\n- b\n", &["First", "b"]);
    check("## Done when\n\n- a\n\n  | `x` |\n  |---|\n- b\n", &["a", "b"]);
    check("- Done when:\n  - a\n  - b\n- no\n", &["a", "b"]);
    check("1. Story\n\n   Acceptance criteria:\n\n   - a\n2. Story\n", &["a"]);
    check("> Done when:\n> - a\n> - b\n", &["a", "b"]);
    check("## Done when\n\n+ a\n+ b\n\n10) c\n", &["a", "b", "c"]);
}

#[test]
fn front_matter_is_not_content() {
    check("---\ncriteria:\n  - a\n# note\n---\n## Done when\n- b\n", &["b"]);
    check("---\n\n# note\ntest_command: x\n...\n## Done when\n- b\n", &["b"]);
    // Horizontal rules are content, and so is an unclosed block.
    check("---\n# Title\n## Done when\n- a\n---\n- b\n", &["a", "b"]);
    check("---\nDone when:\n- a\n\n---\n", &["a"]);
    check("---\nagent: x\n\n## Done when\n- a\n", &["a"]);
}

/// Line ends of old Macs and of some exporters.
#[test]
fn a_carriage_return_alone_ends_a_line() {
    let text = "CONTEXT:\r- a.rs\rDone when:\r- é: `$ x`\r- b\r";
    let outline = outline(text);
    let places = outline.criteria.iter().map(|it| &text[it.criterion.place.range.clone()]);
    assert_eq!(places.collect::<Vec<_>>(), ["é: `$ x`", "b"]);
    assert_eq!(outline.context.len(), 1);
    check("---\rcriteria:\r  - a\r---\r## Done when\r- b\r", &["b"]);
}

#[test]
fn a_ticked_box_is_a_claim() {
    check(
        "## Done when\n\n- [ ] a\n- [x] b: `$ x`\n* [X] c\n1. [ ] d\n- [] e\n- [-] f\n",
        &["[ ] a", "[x] b | $ x", "[x] c", "[ ] d", "[] e", "[ ] f (optional)"],
    );
    let text = "## Done when\n\n- [x]  b: `$ x`.  \n";
    let outline = outline(text);
    assert_eq!(&text[outline.criteria[0].criterion.place.range.clone()], "b: `$ x`.");
}

#[test]
fn places_are_exact_whatever_surrounds_them() {
    let cases = [
        "## Done when\n\n- 🚀 é: `$ x`\n",
        "\u{feff}## Done when\r\n\r\n- 🚀 é: `$ x`\r\n",
        "---\na: 1\n...\nintro\nDone when:\n- 🚀 é: `$ x`",
        "> ## Done when\n> 1. - [ ] 🚀 é: `$ x`\n",
        "x\nOBJECTIVE: a\nCONTEXT:\n- b\nDone when:\n- 🚀 é: `$ x`\n",
        "Done when: - 🚀 é: `$ x` - b",
        "**Done when:** -  🚀 é: `$ x`   ",
    ];
    for text in cases {
        let outline = outline(text);
        let slice = &text[outline.criteria[0].criterion.place.range.clone()];
        assert_eq!(slice, "🚀 é: `$ x`", "in {text:?}");
    }
    // Markup is part of the range.
    let text = "## Done when\n\n- **a** <b>is</b> [link](x): `$ x` (optional).\n";
    assert_eq!(
        &text[outline(text).criteria[0].criterion.place.range.clone()],
        "**a** <b>is</b> [link](x): `$ x` (optional)."
    );
}

#[test]
fn faults_carry_their_place() {
    check(
        "## Done when\n\n- a: `$ x` `$ y`\n- `cargo test`\n- b `\n- c (timeout 5)\n- `judge`\n",
        &[
            "a: $ x $ y",
            "cargo test",
            "b `",
            "c",
            "judge",
            "! bad-check [`$ y`]",
            "! not-a-check [`cargo test`] => `$ cargo test`",
            "! bad-check [`]",
            "! bad-value [c (timeout 5)]",
            "! bad-check [`judge`]",
        ],
    );
}

#[test]
fn messages_have_a_fact_and_a_remedy() {
    let text = "## Done when\n\n- Tests: `has foo`\n- Regex: `has /(/ x`\n- Glob: `exists [a`\n- `cargo test`\n\n\
                ## Done when\n";
    let messages: Vec<String> = outline(text).findings.into_iter().map(|finding| finding.message).collect();
    assert_eq!(
        messages,
        [
            "`has foo`: `has` needs \"text\" or /regex/, then a glob.",
            "`has /(/ x`: bad pattern, unclosed group.",
            "`exists [a`: bad glob, unclosed character class; missing ']'.",
            "`cargo test` is not run. Write `$ cargo test`.",
            "Done when: no list items, so nothing is checked. Write one item per criterion.",
        ]
    );
}

#[test]
fn a_message_about_a_code_span_names_the_span() {
    let check = |item: &str, expect: &str| {
        let found = outline(&format!("## Done when\n\n- {item}\n")).findings;
        let messages: Vec<&str> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, [expect], "{item}");
        assert!(expect.chars().count() <= 100, "{expect}");
    };
    check("Docs: `has \"x README.md`", "`has \"x README.md`: the quote is never closed.");
    check(
        "Two: `exists a` and `exists b`",
        "two checks in one item, `exists a` and `exists b`. Write two items.",
    );
    check("Docs: `exist x`", "`exist x` is not a check. Did you mean `exists x`?");
    check("Up: `$ cov` `>= 80%`", "`>= 80%`: `>=` compares with one plain number. Did you mean `>= 80`?");
    check("Up: `$ cov` `exit 1` `exit 2`", "`exit 2`: there are two exit codes. Keep one.");
    check("Up: `exists a, b`", "`exists a, b`: a comma after a name. Put a space between names.");
    check("$ cargo test", "$ cargo test is not run. Write `$ cargo test`.");
    check("An odd ` here", "An odd ` here: an unpaired backtick. Close the code span.");
    let long = "cargo test --package a-very-long-name --features one,two,three --no-fail-fast";
    check(
        &format!("`{long}`"),
        "`cargo test --package a-very-long-…` is not run. Write `$ cargo test --package a-very-long-…`.",
    );
    // A hint that does not fit is left out rather than cut.
    check(&format!("Docs: `exist {}`", "folder/".repeat(12)), "`exist folder/folder/folde…` is not a check.");
}

#[test]
fn the_title_is_the_objective_or_the_first_heading() {
    let check = |text: &str, expect: &str| assert_eq!(outline(text).title, expect, "in {text:?}");
    check("", "");
    check("Just prose\n", "");
    check("# Fix `parser` *now* #\n\n# Other\n", "Fix parser now");
    check("intro\n\n## Second level\n", "Second level");
    check("# Heading\n\nOBJECTIVE: Fix it\n", "Fix it");
    check("OBJECTIVE: Fix it\nand more\n\n# Heading\n", "Fix it");
    check("**OBJECTIVE:** Fix it\n", "Fix it");
    check("## Objective: Fix it\n", "Fix it");
    check("OBJECTIVE:\nFix it\n", "Fix it");
    check("OBJECTIVE:\n\nFix it\n", "Fix it");
    check("OBJECTIVE：修复\n", "修复");
    check("OBJECTIVE: One\n\nOBJECTIVE: Two\n", "One");
    check("---\ntitle: x\n---\n# Fix it\n", "Fix it");
    check("---\ntitle: x\n\n# Fix it\n", "Fix it");
}

#[test]
fn the_promise_is_what_the_document_asks_for() {
    let check = |text: &str, expect: Option<&str>| {
        assert_eq!(outline(text).promise.as_deref(), expect, "in {text:?}");
    };
    check("", None);
    check("Output <promise>DONE</promise> when done.\n", Some("DONE"));
    check("Output `<promise>ALL  GOOD</promise>`\n", Some("ALL GOOD"));
    check("```\n<promise>DONE</promise>\n```\n", Some("DONE"));
    check("Use the <promise> tag\n", None);
    check("Use <promise></promise>\n", None);
    check(
        "If stuck, output <promise>BLOCKED</promise>\nWhen done output <promise>DONE</promise>\n",
        Some("DONE"),
    );
    check(
        "When done output <promise>DONE</promise>\nIf blocked print <promise>STUCK</promise>\n",
        Some("DONE"),
    );
    check("If stuck, output <promise>BLOCKED</promise>\n", Some("BLOCKED"));
    check(
        "If stuck output <promise>STUCK</promise>, when done output <promise>DONE</promise>.\n",
        Some("DONE"),
    );
    check("If stuck, output <promise>STUCK</promise>; else output <promise>DONE</promise>\n", Some("DONE"));
    check("Print <promise>DONE</promise> when done. When stuck: <promise>STUCK</promise>\n", Some("DONE"));
    check("Use <promise></promise>, print <promise>DONE</promise>\n", Some("DONE"));
    check("# T\r\rIf stuck output <promise>STUCK</promise>\rOutput <promise>DONE</promise>\r", Some("DONE"));
    check("See <promise>X</promise>\nPrint <promise>DONE</promise>\n", Some("DONE"));
}

#[test]
fn the_promise_is_not_a_criterion_and_a_doubled_tag_is_reported() {
    check("## Done when\n\n- a\n- Output <promise>DONE</promise>\n", &["a"]);
    check("## Done when\n\n- a: `$ x` then print <promise>DONE</promise>\n", &["a | $ x"]);
    check("## Done when\n\n- a\nOutput <promise>DONE</promise>\n", &["a"]);
    check("## Done when\n\n- Print\n  <promise>DONE</promise>\n- b\n", &["b"]);
    check(
        "Print <<promise>>DONE<</promise>> now\n",
        &["! bad-promise [<<promise>>DONE<</promise>>] => <promise>DONE</promise>"],
    );
    check(
        "Print <promise><promise>DONE</promise></promise>\n",
        &["! bad-promise [<promise><promise>DONE</promise></promise>] => <promise>DONE</promise>"],
    );
    check("Print <promise>A</promise> or <promise>B</promise>\n", &["! bad-promise [<promise>B</promise>]"]);
    check(
        "Print <promise>A</promise>\nPrint <promise>A</promise>\nPrint <promise>B</promise>\n",
        &["! bad-promise [<promise>B</promise>]"],
    );
}

#[test]
fn context_names_paths() {
    let check = |text: &str, expect: &[&str]| {
        let outline = outline(text);
        let paths: Vec<&str> = outline.context.iter().map(|mention| mention.text.as_str()).collect();
        assert_eq!(paths, expect, "in {text:?}");
        assert_eq!(outline.criteria.len(), 0);
        assert!(
            outline.context.iter().all(|mention| text.get(mention.place.range.clone()).is_some()),
            "{text:?}"
        );
        outline
    };
    check(
        "CONTEXT:\n- src/a.rs\n- `docs/b.md` explains it\n- Makefile\n- README.md - the readme\n",
        &["src/a.rs", "docs/b.md", "Makefile", "README.md"],
    );
    check(
        "## Context:\n\n- @src/a.rs\n- [the guide](docs/guide.md)\n- we use React\n",
        &["src/a.rs", "docs/guide.md"],
    );
    check(
        "**CONTEXT:** src/a.rs, `b c.md` and docs/. See https://x.org/a.html\n",
        &["src/a.rs", "b c.md", "docs/"],
    );
    check("CONTEXT: src/a.rs\n- src/b.rs\n", &["src/a.rs", "src/b.rs"]);
    check("## Context\n\n- src/a.rs is old\n", &[]);
    let prose = "CONTEXT:\n- Follow patterns in lib/… and \"docs/style.md\", e.g. read/write (see src/api/users)\n\
                 - Keep to `docs/a.md` and `docs/b.md`, not `make`\n- Tests live below tests/.\n- Nothing else, and/or v1.2, ok?\n";
    let outline =
        check(prose, &["lib/", "docs/style.md", "src/api/users", "docs/a.md", "docs/b.md", "tests/"]);
    for mention in &outline.context {
        assert_eq!(&prose[mention.place.range.clone()].trim_matches('`'), &mention.text);
    }
    let text = "CONTEXT: see src/a.rs, x\n";
    let outline = check(text, &["src/a.rs"]);
    assert_eq!(&text[outline.context[0].place.range.clone()], "src/a.rs");
}
