//! Fix plans as tables.

use crate::markdown::{DocumentRole, parse_markdown};

/// One line per box: `[x] title`, `(optional)` if an open one does not block, followed by its criterion.
#[track_caller]
fn check(text: &str, expect: &[&str]) {
    for text in [text.to_owned(), text.replace('\n', "\r\n")] {
        let outline = parse_markdown("fix_plan.md", &text, DocumentRole::Plan);
        let shown: Vec<String> = outline
            .plan
            .iter()
            .enumerate()
            .map(|(index, item)| {
                let slice = &text[item.place.range.clone()];
                assert!(slice.contains(item.title.split(' ').next().unwrap()), "{slice:?}");
                let mark = if item.done { "x" } else { " " };
                let optional = if item.blocking { "" } else { " (optional)" };
                let criterion = outline.criteria.iter().find(|draft| draft.plan == Some(index));
                let criterion =
                    criterion.map_or("", |draft| match (&draft.criterion.check, draft.criterion.required) {
                        (Some(_), true) => " + check",
                        (Some(_), false) => " + optional check",
                        (None, _) => " + no check",
                    });
                format!("[{mark}] {}{optional}{criterion}", item.title)
            })
            .collect();
        assert_eq!(shown, expect, "in {text:?}");
    }
}

#[test]
fn every_box_is_an_item() {
    check("", &[]);
    check(
        "# Plan\n\n- bullet\n- [ ] a\n- [x] b\n* [X] c\n+ [ ] d\n1. [ ] e\n",
        &["[ ] a", "[x] b", "[x] c", "[ ] d", "[ ] e"],
    );
    check("- [ ] a\n  - [x] b\n    - [ ] c\n", &["[ ] a", "[x] b", "[ ] c"]);
    check("# P\n\n    - [ ] deep\n    - [x] too\n    - no\n", &["[ ] deep", "[x] too"]);
    check("> - [ ] quoted\n", &["[ ] quoted"]);
    check("- [ ] a\n\n  more\n\n- [ ] b\n", &["[ ] a", "[ ] b"]);
    check("- [ ] \n- [ ]\n- [y] b\n- [ ]c\n", &[]);
    check("```\n- [ ] a\n```\n<!--\n- [ ] b\n-->\n\n| - [ ] c |\n|---|\n", &[]);
}

#[test]
fn marks_of_other_tools_are_boxes() {
    check(
        "- [~] begun\n- [/] begun too: `$ x`\n- [!] blocked\n- [-] given up: `$ y`\n1. [-] numbered\n",
        &[
            "[ ] begun",
            "[ ] begun too + check",
            "[ ] blocked",
            "[ ] given up (optional) + optional check",
            "[ ] numbered (optional)",
        ],
    );
    check(
        "## Done when\n\n- [~] it sells: `$ x`\n- [-] it shines\n",
        &["[ ] it sells + check", "[ ] it shines (optional) + no check"],
    );
    // The text of a box may begin on the line after its mark.
    check("- [~] \n  begun\n- [!] \n:\n- [/] \n", &["[ ] begun", "[ ] :"]);
}

#[test]
fn tables_with_a_status_are_plans_where_no_box_is() {
    let table = "| # | Task | Status |\n|---|:---|---|\n| 1 | Sell \\| buy é | ✅ Done |\n| 2 | **Count** `x` | In Progress (1 of 2) |\n| 3 | Open | |\n| 4 | Shine | ❌ |\n| 5 | Close | Deferred - v2 |\n| 6 | Load | 100% |\n";
    let items = [
        "[x] Sell \\| buy é",
        "[ ] **Count** x",
        "[ ] Open",
        "[ ] Shine",
        "[ ] Close (optional)",
        "[x] Load",
    ];
    check(table, &items);
    let later = "## Later\n\n| Task | Status |\n|---|---|\n| Sell | todo |\n";
    check(later, &["[ ] Sell (optional)"]);
    check(&format!("- [ ] a\n\n{table}"), &["[ ] a"]);
    check("任务 | 状态\n--- | ---\n卖 | 已完成\n数 | 未完成\n", &["[x] 卖", "[ ] 数"]);
    // A word that is no status: the table says something else.
    check("| Endpoint | Status |\n|---|---|\n| /cart | 200 |\n| /shop | 404 |\n", &[]);
    check("| Task | Owner |\n|---|---|\n| Sell | me |\n", &[]);
    check("| Status |\n|---|\n| done |\n", &[]);
}

#[test]
fn a_box_with_a_check_is_a_criterion_besides() {
    check(
        "- [ ] a: `$ x`\n- [x] b: `exists y`\n- [ ] c `cargo test`\n- [ ] d: `$ `\n",
        &["[ ] a + check", "[x] b + check", "[ ] c cargo test", "[ ] d: $ + no check"],
    );
    check("## Done when\n\n- [ ] a\n- b\n", &["[ ] a + no check"]);
}

#[test]
fn boxes_under_an_optional_heading_do_not_block() {
    check(
        "# Plan\n- [ ] a\n## Optional\n- [ ] b: `$ x`\n### Deeper\n- [ ] c\n## Next\n- [ ] d\n# Future\n- [ ] e\n# End\n- [ ] f\n",
        &[
            "[ ] a",
            "[ ] b (optional) + optional check",
            "[ ] c (optional)",
            "[ ] d",
            "[ ] e (optional)",
            "[ ] f",
        ],
    );
    check("- [ ] a (optional)\n- [ ] b（可选）\n", &["[ ] a (optional)", "[ ] b (optional)"]);
    check("# Optional\n\n    - [ ] deep\n", &["[ ] deep (optional)"]);
    let headings = |headings: &[&str], expect: &str| {
        for heading in headings {
            check(&format!("## {heading}\n\n- [ ] a\n"), &[expect]);
        }
    };
    headings(
        &[
            "Optional",
            "OPTIONAL:",
            "Future",
            "Future Enhancements",
            "Future work (v2)",
            "Nice to have",
            "Nice-to-have",
            "Nice to Haves",
            "Later",
            "3. Later",
            "🔮 Future",
            "**Optional**",
            "Phase 4 (optional)",
            "阶段四（可选）",
        ],
        "[ ] a (optional)",
    );
    headings(
        &[
            "Optional chaining",
            "Futures",
            "Future-proof the API",
            "Not optional",
            "Later stages",
            "Lateral",
            "Nice",
        ],
        "[ ] a",
    );
}

#[test]
fn notes_in_boxes_are_not_errors() {
    let text = "- [ ] an odd ` backtick\n- [ ] run `cargo test`\n- [ ] (timeout 5)\n- [ ] `a\n  b`\n";
    assert_eq!(parse_markdown("fix_plan.md", text, DocumentRole::Plan).findings, []);
}

/// A nearly correct box was meant to be done, so it is reported.
#[test]
fn misspelt_boxes_are_reported() {
    let found = |text: &str| {
        let outline = parse_markdown("fix_plan.md", text, DocumentRole::Plan);
        let shown =
            |it: &crate::Finding| format!("{} => {}", &text[it.place.range.clone()], it.fix.clone().unwrap());
        (outline.plan.len(), outline.findings.iter().map(shown).collect::<Vec<_>>())
    };
    let (items, findings) = found("- [ ] a\n- [ ]b\n- [] c\n- [x]`d`\n- [ x] é\n* [X ]e\n");
    assert_eq!(items, 1);
    assert_eq!(findings, ["[ ] => [ ] ", "[] => [ ]", "[x] => [x] ", "[ x] => [x]", "[X ] => [x] "]);
    let others = "- [x](a.md)\n- [a]b\n- []byte\n- \\[ ]b\n- `[ ]b`\n- [ ]\n- [x][1]\n\n[1]: b\n";
    assert_eq!(found(others), (0, Vec::new()));
}
