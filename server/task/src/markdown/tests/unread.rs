//! Criteria in a form that Markdown reads differently from its author.

use super::check;

#[test]
fn a_list_continues_with_another_marker() {
    check("Done when:\n- a: `$ x`\n* b: `$ y`\n1. c\n\nMore.\n\n- no\n", &["a | $ x", "b | $ y", "c"]);
    check("Done when:\n\n- a\n\n<!-- slow -->\n\n- b\n", &["a", "b"]);
    check("Done when:\n\n1. a\n```\nx\n```\n2. b\n", &["a", "b"]);
    check("CONTEXT:\n- src/a.rs\n* src/b.rs\n\nDone when:\n- a\n", &["a"]);
    check("Done when:\n- a\n\n---\n\n- no\n", &["a"]);
}

#[test]
fn blocks_of_html_end_before_a_list_and_a_heading() {
    check(
        "## Done when\n\n- a\n\n<details>\n<summary>More</summary>\n- b: `$ x`\n</details>\n",
        &["a", "b | $ x"],
    );
    check("<task>\n## Done when\n- a: `$ x`\n</task>\n", &["a | $ x"]);
    check("## Done when\n</div>\nprose\n1. a\n", &["a"]);
    check("## Done when\n\n- a\n\n<!--\n<details>\n- no\n-->\n", &["a"]);
    check("## Done when\n\n- a\n\n<pre>\n- no\n</pre>\n", &["a"]);
}

#[test]
fn an_unclosed_block_that_hides_criteria_is_a_fault() {
    check("```sh\nx\n\n## Done when\n\n- a\n", &["! syntax [```sh]"]);
    check("## Done when\n\n- a\n\n~~~~\nx\n~~~\n- b\n", &["a", "! syntax [~~~~]"]);
    check("## Done when\n\n- a\n\n<!-- note\n\n- b\n", &["a", "! syntax [<!-- note]"]);
    check("> ```\n> Done when:\n> - a\n", &["! syntax [```]"]);
    // Nothing is lost.
    check("## Done when\n\n- a\n\n```\nx\n", &["a"]);
    check("# Notes\n\n```\n- x\n", &[]);
    check("## Done when\n\n- a\n\n````\n```\n- x\n```\n````\n", &["a"]);
}

#[test]
fn checks_outside_of_a_list_are_reported() {
    check("## Done when\n\n- a\n\nAlso `$ x` passes.\n", &["a", "! not-a-check [Also `$ x` passes.]"]);
    check("Done when: `$ x` passes\n", &["! not-a-check [Done when: `$ x` passes]"]);
    check("Done when:\n- a\n\n  And `$ x` passes.\n", &["a", "! not-a-check [And `$ x` passes.]"]);
    let table = "| a | b |\n|---|---|\n| `$ x` | y |\n";
    check(&format!("## Done when\n\n- a\n\n{table}"), &["a", &format!("! not-a-check [{table}]")]);
    check("Run `$ x` first.\n\n## Done when\n\n- a\n\nAll of it.\n", &["a"]);
}

#[test]
fn indented_boxes_among_criteria_are_criteria() {
    check("## Done when\n\n- a\n\ntext\n\n    - [ ] b: `$ x`\n    - [x] c\n", &["a", "[ ] b | $ x", "[x] c"]);
    check("## Done when\n\n\t- [ ] b: `$ x`\n", &["[ ] b | $ x"]);
    check("# Notes\n\n    - [ ] b: `$ x`\n", &[]);
}

#[test]
fn a_heading_in_an_item_is_its_text() {
    check("## Done when\n\n1. ### a: `$ x`\n2. b\n", &["a | $ x", "b"]);
}

#[test]
fn the_text_of_a_marked_box_has_all_its_lines_and_its_markup() {
    check("## Done when\n\n- [/] it **sells**\n  `$ x`\n", &["[ ] it sells | $ x"]);
    check("## Done when\n\n- [~] a \\`b\\` &amp; c\n", &["[ ] a `b` & c"]);
}

#[test]
fn a_heading_of_criteria_is_no_comment_of_front_matter() {
    check("---\nTask: x\n\n## Done when\n\n- a: `$ x`\n\n---\n\nMore.\n", &["a | $ x"]);
}
