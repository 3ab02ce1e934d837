//! Reads `PRD.md` of other tools: boxes with annotations. `**T2** Count depends: T1` depends on the box that begins
//! with `**T1**`, and a box with `[DECOMPOSED]` does not keep the loop running, because other boxes replace it.

use std::collections::HashSet;
use std::ops::Range;

use loopkeeper_text::tr;

use super::FindingCode;
use super::blocks::{self, MarkdownBlock};
use super::markdown;
use super::outline::TaskOutline;
use super::source::MarkdownSource;

const DEPENDS: &str = "depends:";
const DECOMPOSED: &str = "[DECOMPOSED]";

pub(super) fn parse_requirements(path: &str, text: &str) -> TaskOutline {
    let mut out = markdown::parse_plan(path, text, None);
    if text.contains(DECOMPOSED) {
        for item in &mut out.plan {
            let written = text.get(item.place.range.clone()).unwrap_or_default();
            item.blocking &= !written.contains(DECOMPOSED);
        }
    }
    if text.contains(DEPENDS) {
        add_dependencies(text, &mut out);
    }
    out
}

/// Whether a document has sections such as `### Task 2: Sell`, as an execution plan has.
pub fn has_task_headings(text: &str) -> bool {
    text.lines().any(|line| line.strip_prefix("### ").is_some_and(|it| markdown::is_task_heading(it.trim())))
}

/// Makes boxes outside the tasks of `docs/plans/*.md` not block: those below `## Post-Completion` are for people.
pub(super) fn skip_outside_tasks(text: &str, out: &mut TaskOutline) {
    // The offset of each heading that begins or ends a task, and whether it begins one. A comment in a code block is
    // no heading.
    let mut places: Vec<(usize, bool)> = Vec::new();
    let mut depth = 0_usize;
    for block in blocks::parse_blocks(&MarkdownSource::new(text)) {
        match block {
            MarkdownBlock::ListOpen => depth += 1,
            MarkdownBlock::ListClose => depth = depth.saturating_sub(1),
            MarkdownBlock::Heading { level, text } if depth == 0 && !text.range.is_empty() => {
                let is_task = level == 3 && markdown::is_task_heading(&text.plain_text());
                if is_task || level <= 2 {
                    places.push((text.range.start, is_task));
                }
            }
            MarkdownBlock::Heading { .. }
            | MarkdownBlock::Paragraph(_)
            | MarkdownBlock::Item(_)
            | MarkdownBlock::Fence(_)
            | MarkdownBlock::Indented(_)
            | MarkdownBlock::Table(_)
            | MarkdownBlock::Html(_)
            | MarkdownBlock::Rule => {}
        }
    }
    if places.iter().all(|it| !it.1) {
        return;
    }
    for item in &mut out.plan {
        let after = places.partition_point(|it| it.0 <= item.place.range.start);
        item.blocking &= after.checked_sub(1).and_then(|it| places.get(it)).is_some_and(|it| it.1);
    }
}

/// Makes boxes that are examples not block: in `docs/plans/*.md`, those whose text contains a box.
pub(super) fn skip_examples(text: &str, out: &mut TaskOutline) {
    for item in &mut out.plan {
        let written = text.get(item.place.range.clone()).unwrap_or_default();
        item.blocking &= !["[ ]", "[x]", "[X]"].iter().any(|it| written.contains(it));
    }
}

fn add_dependencies(text: &str, out: &mut TaskOutline) {
    let written = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
    for item in &mut out.plan {
        if let Some(id) = id_of(written(&item.place.range)) {
            id.clone_into(&mut item.id);
        }
    }
    let known: HashSet<String> = out.plan.iter().map(|it| it.id.clone()).collect();
    let mut unknown = Vec::new();
    for item in &mut out.plan {
        let whole = written(&item.place.range);
        let Some((before, after)) = whole.split_once(DEPENDS) else { continue };
        let mut at = item.place.range.start + before.len() + DEPENDS.len();
        let end =
            after.find(|it: char| !(it.is_alphanumeric() || "_,- \t".contains(it))).unwrap_or(after.len());
        for name in after.get(..end).unwrap_or_default().split(',') {
            let (start, trimmed) = (at + name.len() - name.trim_start().len(), name.trim());
            at += name.len() + 1;
            if known.contains(trimmed) {
                item.depends_on.push(trimmed.to_owned());
            } else if !trimmed.is_empty() {
                unknown.push((trimmed.to_owned(), start..start + trimmed.len()));
            }
        }
    }
    for (name, range) in unknown {
        out.add_finding(FindingCode::BadValue, &name, tr!("names no box"), range);
    }
}

/// `T1` of `**T1** Sell things`.
fn id_of(text: &str) -> Option<&str> {
    let (id, _) = text.strip_prefix("**")?.split_once("**")?;
    Some(id.trim()).filter(|it| !it.is_empty() && !it.contains('\n'))
}

#[cfg(test)]
mod tests {
    use super::parse_requirements;
    use crate::{TaskDocument, parse_task};

    #[test]
    fn boxes_for_people_do_not_block() {
        let text = "# Shop\r\n\r\n## Overview\r\n\r\n- [ ] read\r\n\r\n### Task 1: Sell\r\n\r\n- [ ] sell\r\n\r\n#### Notes\r\n\r\n- [ ] count\r\n\r\n### Iteration 2a: Open\r\n\r\n- [ ] open\r\n\r\n## Post-Completion\r\n\r\n- [ ] deploy\r\n";
        let blocking = |text: &str| {
            let document = TaskDocument { path: "docs/plans/shop.md".to_owned(), text: text.to_owned() };
            let plan = parse_task(&[document]).plan;
            plan.into_iter().filter(|it| it.blocking).map(|it| it.title).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(blocking(text), "sell count open");
        assert_eq!(blocking("# Shop\n\n- [ ] sell\n"), "sell");
        let comment = "### Task 1: Sell\n\n- [ ] sell\n\n```sh\n# install\nnpm ci\n```\n\n- [ ] count\n\n## Later\n\n- [ ] open\n";
        assert_eq!(blocking(comment), "sell count");
    }

    #[test]
    fn boxes_wait_for_those_that_they_name() {
        let text = "# Shop\n\n- [ ] **T1** Sell\n- [ ] **T2** Count depends: T1, T9\n- [ ] **T0** Open [DECOMPOSED]\n";
        let out = parse_requirements("PRD.md", text);
        let items: Vec<_> =
            out.plan.iter().map(|it| (it.id.as_str(), it.depends_on.join(","), it.blocking)).collect();
        assert_eq!(
            items,
            [("T1", String::new(), true), ("T2", "T1".to_owned(), true), ("T0", String::new(), false)]
        );
        let finding = &out.findings[0];
        assert_eq!(
            (finding.message.as_str(), &text[finding.place.range.clone()]),
            ("T9: names no box.", "T9")
        );
    }
}
