//! Properties for any plan: what an edit may change, what it must leave alone, and that it can be undone.

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::sample::select;
use proptest::{prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::super::{DocumentEdit, PlanEdit, PlanEditOutcome, compute_edit};
use super::plan;
use crate::{PlanItem, Task, parse_task};

/// Markdown fragments that surround boxes.
const MARKDOWN: &[&str] = &[
    "- [ ] a\n",
    "- [ ] b: `$ x`\n",
    "- [x] c\n",
    "* [ ] d\n",
    "  - [ ] e\n",
    "    - [ ] f\n",
    "1. [ ] g\n",
    "2. [ ] h (timeout 5m)\n",
    "10. [ ] i (optional)\n",
    "\r\n",
    "\n",
    "\n\n",
    "  more\n",
    "# Optional\n",
    "## Next\n",
    "## Done when\n\n",
    "> - [ ] quoted\n",
    "<!-- \n",
    "-->\n",
    "```\n",
    "- no box\n",
    "- [ ] `odd\n",
    "| Task | Status |\n|---|---|\n| j | todo |\n| k | done |\n",
    "| l: `$ x` | todo |\n",
    "- [ ] é🚀 （可选）\r\n",
    "---\n",
    "\u{feff}",
    "CONTEXT:\n",
    "[x]: y\n",
];

/// Stories in one of many styles: line end, indentation, text after a colon, and one number per story that determines
/// its properties.
fn story_file((style, stories): (u8, Vec<u8>)) -> String {
    let end = ["\n", "\r\n", "", "\n"][usize::from(style % 4)];
    let deep = if end.is_empty() { "" } else { ["  ", "\t", "    "][usize::from(style / 4 % 3)] };
    let colon = [": ", ":", " : "][usize::from(style / 12 % 3)];
    let mark = if style / 36 % 2 == 0 { "" } else { "\u{feff}" };
    let story = |(at, bits): (usize, &u8)| {
        let mut fields = vec![format!("\"id\"{colon}\"S{}\"", if bits % 16 == 0 { 0 } else { at })];
        let also = [
            (1, format!("\"priority\"{colon}{}", bits / 16)),
            (2, format!("\"acceptanceCriteria\"{colon}[\"a: `$ x{}`\"]", at % 2)),
            (4, format!("\"passes\"{colon}{}", bits % 5 == 0)),
            (8, format!("\"skipped\"{colon}{}, \"notes\"{colon}\"\"", bits % 3 == 0)),
        ];
        fields.extend(also.into_iter().filter(|(bit, _)| bits & bit != 0).map(|(_, it)| it));
        let comma = format!(",{end}{deep}{deep}");
        format!("{deep}{{{end}{deep}{deep}{}{end}{deep}}}", fields.join(&comma))
    };
    let stories: Vec<String> = stories.iter().enumerate().map(story).collect();
    format!("{mark}{{\"userStories\"{colon}[{end}{}{end}]}}{end}", stories.join(&format!(",{end}")))
}

/// Tasks in YAML, in block or in brackets, with one number per task that determines its fields.
fn yaml_file((style, tasks): (u8, Vec<u8>)) -> String {
    let end = if style % 2 == 0 { "\n" } else { "\r\n" };
    let is_in_brackets = style % 5 == 0;
    let task = |(at, bits): (usize, &u8)| {
        let mut fields = vec![format!("title: \"é🚀 {at}\"")];
        let also = [
            (1, format!("parallel_group: {}", bits / 16)),
            (2, "completionCriteria: [a]".to_owned()),
            (4, format!("completed: {}", bits % 5 == 0)),
        ];
        fields.extend(also.into_iter().filter(|(bit, _)| bits & bit != 0).map(|(_, it)| it));
        if is_in_brackets || bits & 8 != 0 {
            return format!("{{{}}}", fields.join(", "));
        }
        fields.push(format!("notes: |{end}      one{end}{end}      two"));
        fields.join(&format!(" # x{end}    "))
    };
    let tasks: Vec<String> = tasks.iter().enumerate().map(task).collect();
    if is_in_brackets {
        return format!("tasks: [{}]{end}", tasks.join(&format!(",{end}  ")));
    }
    let lines: Vec<String> = tasks.iter().map(|it| format!("  - {it}{end}")).collect();
    format!("tasks:{end}{}", lines.concat())
}

fn any_plan() -> impl Strategy<Value = (&'static str, String)> {
    let boxes = vec(select(MARKDOWN), 0..24).prop_map(|it| ("fix_plan.md", it.concat()));
    let stories = (any::<u8>(), vec(any::<u8>(), 0..8)).prop_map(|it| ("prd.json", story_file(it)));
    let tasks = (any::<u8>(), vec(any::<u8>(), 0..6)).prop_map(|it| ("tasks.yaml", yaml_file(it)));
    prop_oneof![boxes, stories, tasks]
}

fn sorted_items(items: &[PlanItem]) -> Vec<(String, bool, bool)> {
    let mut all: Vec<_> = items.iter().map(|it| (it.title.clone(), it.done, it.blocking)).collect();
    all.sort();
    all
}

fn checks(task: &Task) -> Vec<String> {
    let mut all: Vec<String> = task.criteria.iter().map(|it| format!("{} {:?}", it.name, it.check)).collect();
    all.sort();
    all
}

fn is_consistent(text: &str, made: &DocumentEdit) -> bool {
    let mut applied = text.to_owned();
    applied.replace_range(made.range.clone(), &made.text);
    applied == made.after
}

proptest! {
    #[test]
    fn skipping_changes_one_item_and_can_be_undone((file, text) in any_plan()) {
        let before = plan(file, &text);
        let task = parse_task(&before);
        for (at, item) in task.plan.iter().enumerate() {
            let Ok(made) = compute_edit(&before, &item.id, PlanEdit::Skip) else { continue };
            prop_assert!(is_consistent(&text, &made));
            let after = plan(file, &made.after);
            let now = parse_task(&after);
            for (index, (old, new)) in task.plan.iter().zip(&now.plan).enumerate() {
                prop_assert_eq!(&old.id, &new.id);
                prop_assert_eq!(old.blocking != new.blocking, index == at);
            }
            prop_assert_eq!((task.plan.len(), checks(&task)), (now.plan.len(), checks(&now)));
            let back = compute_edit(&after, &item.id, PlanEdit::Skip);
            if made.done == PlanEditOutcome::Skipped {
                prop_assert_eq!(&back.unwrap().after, &text);
            }
        }
    }

    #[test]
    fn moving_keeps_every_item_and_byte((file, text) in any_plan(), by in -3..4i32) {
        let before = plan(file, &text);
        let task = parse_task(&before);
        for item in &task.plan {
            let Ok(made) = compute_edit(&before, &item.id, PlanEdit::Raise(by)) else { continue };
            prop_assert!(is_consistent(&text, &made));
            let now = parse_task(&plan(file, &made.after));
            prop_assert_eq!(sorted_items(&task.plan), sorted_items(&now.plan));
            prop_assert_eq!(checks(&task), checks(&now));
            let bytes = |text: &str| {
                let mut all = text.as_bytes().to_vec();
                all.sort_unstable();
                all
            };
            prop_assert_eq!(bytes(&text), bytes(&made.after));
        }
    }

    #[test]
    fn edits_of_any_text_do_not_panic(bits in vec(any::<char>(), 0..40), by in any::<i32>()) {
        let text: String = bits.into_iter().collect();
        for file in ["prd.json", "fix_plan.md"] {
            let before = plan(file, &format!("- [ ] a{text}\n- [ ] b\n"));
            for item in &parse_task(&before).plan {
                for edit in [PlanEdit::Skip, PlanEdit::Raise(by)] {
                    let _ = compute_edit(&before, &item.id, edit);
                }
            }
        }
    }
}
