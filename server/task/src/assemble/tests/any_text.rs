//! Properties that hold for any text: no panic, exact ranges, unique ids, never a silently empty task.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use proptest::{prop_assert, prop_assert_eq, proptest};

use super::super::{TaskDocument, parse_inline_task, parse_task};
use crate::{FindingCode, Task};
use loopkeeper_text::DocumentRange;

const FILES: [&str; 3] = ["PROMPT.md", "fix_plan.md", "prd.json"];

/// Fragments with a meaning, so that random texts combine them.
const FRAGMENTS: &[&str] = &[
    "- ",
    "* ",
    "1. ",
    "  ",
    "    ",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    "`",
    "``",
    "```\n",
    "$ ",
    "$",
    "cargo test",
    "exists ",
    "missing a",
    "has \"x\" y",
    "lacks /(/ z",
    "clean",
    "judge",
    "GET http://x",
    "== 0",
    "/re/",
    "!/re/",
    "exit 2",
    "(optional)",
    "（可选）",
    "(timeout 10m)",
    "(timeout ",
    ")",
    "(",
    "[ ] ",
    "[x] ",
    "[a](b)",
    "## ",
    "# ",
    "Done when",
    "Done when:",
    "Validation Commands:",
    "完成标准：",
    "Optional",
    ":",
    "：",
    " - ",
    "> ",
    "<!--",
    "-->",
    "<b>",
    "| a |\n|---|\n",
    "---\n",
    "***",
    "**",
    "_",
    "\\",
    "\u{feff}",
    "\0",
    "🚀",
    "é",
    "，",
    "。",
    "<promise>",
    "</promise>",
    "<<promise>>",
    "OBJECTIVE:",
    "CONTEXT:",
    "src/a.rs",
    "&amp;",
    "&#96;",
    "word",
    ".",
    "=====\n",
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    "{\"userStories\": [",
    "\"id\": \"A\"",
    "\"acceptanceCriteria\": [\"a: `$ x`\"]",
    "\\u00e9",
    "true",
    "]}",
    "//",
];

fn fragments() -> impl Strategy<Value = String> {
    vec(select(FRAGMENTS), 0..60).prop_map(|parts| parts.concat())
}

/// A valid document with pieces cut out, duplicated and inserted.
fn mutated() -> impl Strategy<Value = String> {
    let sound = select(&[MARKDOWN, PLAN, STORIES][..]);
    (sound, vec((any::<Index>(), any::<Index>(), select(FRAGMENTS), 0..4_u8), 1..6)).prop_map(
        |(text, edits)| {
            edits.into_iter().fold(text.to_owned(), |text, (from, to, fragment, kind)| {
                let edges: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                let (a, b) = (*from.get(&edges), *to.get(&edges));
                let (start, end) = (a.min(b), a.max(b));
                match kind {
                    0 => text[..start].chars().chain(text[start..].chars().skip(12)).collect(),
                    1 => format!("{}{}{}", &text[..end], &text[start..end], &text[end..]),
                    2 => format!("{}{fragment}{}", &text[..start], &text[start..]),
                    _ => text[..start].to_owned(),
                }
            })
        },
    )
}

const MARKDOWN: &str = "---\nagent: x\n---\n# Title\n\nOBJECTIVE: Do it\nCONTEXT:\n- src/a.rs\nDone when:\n- Tests: `$ cargo \
    test` (optional).\n- [x] Cov: `$ cov`, `>= 80` (timeout 5m)\n  - `exists a b`\n\n## 验收标准\n\n1. 通过：`$ make`。\n2. \
    ``$ echo `x` ``\n\n### Validation Commands\n\n- `go test`\n\n```sh\n- x\n```\n\nPrint <promise>DONE</promise>\n";
const PLAN: &str = "# Plan\n\n- [ ] a: `$ x`\n  - [x] b\n\n## Optional\n\n- [ ] c\n\n    - [ ] d `$ y`\n";
const STORIES: &str = r#"{"project": "P", "userStories": [{"id": "A", "title": "T", "acceptanceCriteria": ["a: `$ x`",
    "\"b\" `cargo test`"], "completionCriteria": ["npm test"], "passes": false, "dependsOn": ["B"]}, // c
    {"id": "B", "title": "U",}], "qualityGates": ["make"]}"#;

pub(super) fn holds(
    task: &Task,
    documents: &[TaskDocument],
) -> Result<(), proptest::test_runner::TestCaseError> {
    let sound = |place: &DocumentRange| {
        let document = documents.iter().find(|document| document.path == place.file);
        document.is_some_and(|document| document.text.get(place.range.clone()).is_some())
    };
    for criterion in &task.criteria {
        prop_assert!(sound(&criterion.place) && !criterion.place.range.is_empty(), "{criterion:?}");
        prop_assert!(!criterion.name.is_empty() && !criterion.name.contains('\n'), "{criterion:?}");
        let item = criterion.plan_item.as_ref();
        prop_assert!(item.is_none_or(|id| task.plan.iter().any(|item| item.id == *id)), "{criterion:?}");
    }
    for item in &task.plan {
        prop_assert!(sound(&item.place) && !item.id.is_empty() && !item.title.is_empty(), "{item:?}");
    }
    for finding in &task.findings {
        prop_assert!(sound(&finding.place), "{finding:?}");
        let length = finding.message.chars().count();
        prop_assert!(length <= 100 && !finding.message.contains(['\n', '\r']), "{finding:?}");
    }
    prop_assert!(task.context.iter().all(|mention| sound(&mention.place)));
    let ids: HashSet<&str> = task.criteria.iter().map(|criterion| criterion.id.0.as_str()).collect();
    prop_assert_eq!(ids.len(), task.criteria.len());
    let ids: HashSet<&str> = task.plan.iter().map(|item| item.id.as_str()).collect();
    prop_assert_eq!(ids.len(), task.plan.len());
    let is_empty = task.criteria.is_empty() && task.plan.is_empty();
    prop_assert!(!is_empty || !task.findings.is_empty(), "empty without a finding");
    Ok(())
}

proptest! {
    #[test]
    fn any_document_is_read(text in prop_oneof![2 => any::<String>(), 5 => fragments(), 5 => mutated()]) {
        for file in FILES {
            let documents = [TaskDocument { path: file.to_owned(), text: text.clone() }];
            holds(&parse_task(&documents), &documents)?;
        }
        let all = FILES.map(|file| TaskDocument { path: file.to_owned(), text: text.clone() });
        holds(&parse_task(&all), &all)?;
    }

    #[test]
    fn any_argument_is_read(prompt in fragments(), line in prop_oneof![any::<String>(), fragments()]) {
        let task = parse_inline_task(&prompt, std::slice::from_ref(&line));
        let document = |path: &str, text: String| TaskDocument { path: path.to_owned(), text };
        holds(&task, &[document("--prompt", prompt), document("--criterion", line)])?;
    }
}

/// The control: random texts reach checks and faults, and the properties fail where they should.
#[test]
fn the_properties_can_fail() {
    let mut runner = TestRunner::deterministic();
    let (mut checked, mut faulty) = (0, 0);
    for _ in 0..300 {
        let text = prop_oneof![fragments(), mutated()].new_tree(&mut runner).unwrap().current();
        let documents = FILES.map(|file| TaskDocument { path: file.to_owned(), text: text.clone() });
        let task = parse_task(&documents);
        checked += usize::from(task.criteria.iter().any(|criterion| criterion.check.is_some()));
        faulty += usize::from(task.findings.iter().any(|finding| finding.code == FindingCode::BadCheck));
    }
    assert!(checked > 30 && faulty > 10, "{checked} {faulty}");

    let documents =
        [TaskDocument { path: "PROMPT.md".to_owned(), text: "Done when:\n- a\n- é\n".to_owned() }];
    let sound = parse_task(&documents);
    let refused = |break_it: fn(&mut Task)| {
        let mut task = sound.clone();
        break_it(&mut task);
        assert!(holds(&task, &documents).is_err(), "{task:?}");
    };
    assert!(holds(&sound, &documents).is_ok());
    refused(|task| task.criteria.clear());
    refused(|task| task.criteria[1].id = task.criteria[0].id.clone());
    refused(|task| task.criteria[1].place.range.end -= 1);
    refused(|task| task.criteria[1].place.range.end += 9);
    refused(|task| task.criteria[0].place.file.push('x'));
    refused(|task| task.criteria[0].name.clear());
}

/// Sizes and depths beyond any real document are read quickly and without exhausting the stack.
#[test]
fn bombs_are_read() {
    let long = |unit: &str| unit.repeat(300_000 / unit.len());
    let deep = |unit: &str| unit.repeat(20_000);
    let documents = [
        format!("## Done when\n\n- {}", "a ".repeat(500_000)),
        format!("## Done when\n\n- `$ x` {}", long("`a` ")),
        format!("## Done when\n\n- `$ x` {}", long("`200` ")),
        format!("## Done when\n\n- {}", long("\\")),
        format!("Done when: {}", long("- `a` ")),
        format!("{{\"userStories\": [{{{}\"id\": \"a\"}}]}}", long("\"id\": \"a\", ")),
        format!("## Done when\n\n- {}", long("`a` ")),
        format!("## Done when\n\n- {}", long("`$ a` ")),
        format!("## Done when\n\n- {}", long("(a ")),
        format!("## Done when\n\n- {}", long("(optional) ")),
        format!("## Done when\n\n- {}", long("\\`")),
        format!("## Done when\n\n- x `has /{}/ y`", long("(a")),
        format!("## Done when\n\n- x `exists {}`", long("a ")),
        format!("Done when: {}", long("- a ")),
        format!("Done when: {}", long(": ")),
        long("Done when:\n"),
        long("## Done when\n"),
        long("- [ ] a\n"),
        long("<promise>a</promise>\n"),
        long("CONTEXT: a/b\n"),
        (1..1400).map(|length| "`".repeat(length) + " ").collect(),
        deep("- "),
        deep("> "),
        deep("1. "),
        format!("## Done when\n\n{}a: `$ x`", deep("- ")),
        deep("["),
        deep("*a _b "),
        deep("<!-- "),
        deep("{\"a\":"),
    ];
    for text in documents {
        for file in FILES {
            let documents = [TaskDocument { path: file.to_owned(), text: text.clone() }];
            let task = parse_task(&documents);
            assert!(holds(&task, &documents).is_ok(), "{file} of {}", &text[..40]);
        }
        parse_inline_task("x", &[text]);
    }
}
