//! Completion and hovers in the front matter of a task.

use std::collections::BTreeSet;
use std::ops::Range;

use super::complete::agents;
use super::explain;
use crate::editor::{Hover, HoverBlock, Suggestion, SuggestionKind};
use loopkeeper_core::settings::lookup::{KeyLookup, look_up};
use loopkeeper_task::{FRONT_MATTER_KEYS, FrontMatterKey};
use loopkeeper_text::DocumentRange;
use loopkeeper_text::language::translate;
use loopkeeper_text::lines::line_around;
use loopkeeper_text::tr;

/// The completion items at `offset`. `None`: it is not in front matter.
pub fn complete_front_matter(text: &str, offset: usize) -> Option<Vec<Suggestion>> {
    let block = block(text).filter(|it| it.contains(&offset) || it.end == offset)?;
    let line = line_around(text, offset);
    let written = text.get(line.clone())?;
    let before = text.get(line.start..offset)?;
    let Some((key, _)) = before.split_once(':') else {
        let is_key = before.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
        let word = written.find(':').unwrap_or(written.trim_end().len());
        let replaces = line.start..line.start + word.max(before.len());
        let is_set = written.contains(':');
        return Some(if is_key { keys(text.get(block)?, written, &replaces, is_set) } else { Vec::new() });
    };
    let value = line.start + key.len() + 1;
    let space = text.get(value..line.end)?.len() - text.get(value..line.end)?.trim_start().len();
    Some(if key == "agent" { values((value + space).min(offset)..line.end) } else { Vec::new() })
}

/// The hover over a key.
pub fn explain_front_matter((file, text): (&str, &str), offset: usize) -> Option<Hover> {
    block(text).filter(|it| it.contains(&offset))?;
    let line = line_around(text, offset);
    let (name, _) = text.get(line.clone())?.split_once(':')?;
    let key = FRONT_MATTER_KEYS.iter().find(|it| it.name == name)?;
    let mut blocks =
        vec![HoverBlock::Title(name.to_owned()), HoverBlock::Text(translate(key.doc).to_owned())];
    blocks.extend(key.setting.map(|it| HoverBlock::Text(tr!("Overrides `{key}`.", key = it))));
    let place = DocumentRange { file: file.to_owned(), range: line.start..line.start + name.len() };
    Some(Hover { place, blocks })
}

fn keys(block: &str, own: &str, replaces: &Range<usize>, is_set: bool) -> Vec<Suggestion> {
    let given: BTreeSet<&str> =
        block.lines().filter(|it| *it != own).filter_map(|it| Some(it.split_once(':')?.0)).collect();
    let suggestion = |key: &FrontMatterKey| Suggestion {
        label: key.name.to_owned(),
        kind: SuggestionKind::Key,
        detail: key.setting.unwrap_or_default().to_owned(),
        documentation: translate(key.doc).to_owned(),
        replaces: replaces.clone(),
        text: if is_set { key.name.to_owned() } else { format!("{}:{}", key.name, key.form) },
        filter: None,
    };
    FRONT_MATTER_KEYS.iter().filter(|it| !given.contains(it.name)).map(suggestion).collect()
}

fn values(replaces: Range<usize>) -> Vec<Suggestion> {
    let documentation = match look_up(&["agent"]) {
        KeyLookup::Key(key) => explain::sentence(key),
        _ => String::new(),
    };
    let value = |label: String| Suggestion {
        text: label.clone(),
        label,
        kind: SuggestionKind::Value,
        detail: String::new(),
        documentation: documentation.clone(),
        replaces: replaces.clone(),
        filter: None,
    };
    agents("").into_iter().map(value).collect()
}

/// The lines between the first `---` and the second, or up to the first empty line where there is none yet.
fn block(text: &str) -> Option<Range<usize>> {
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let rest = text.get(start..)?;
    let first = rest.find('\n').filter(|at| rest.get(..*at).is_some_and(|it| it.trim_end() == "---"))?;
    let begin = start + first + 1;
    let inner = text.get(begin..)?;
    let is_closed = has_end(inner);
    let mut at = begin;
    for line in inner.split_inclusive('\n') {
        let bare = line.trim_end();
        if matches!(bare, "---" | "...") || bare.starts_with('#') && !line.starts_with("# ") {
            return Some(begin..at);
        }
        if bare.is_empty() && !is_closed {
            return Some(begin..at);
        }
        at += line.len();
    }
    Some(begin..at)
}

fn has_end(text: &str) -> bool {
    text.lines().any(|it| matches!(it.trim_end(), "---" | "..."))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::sample::Index;
    use proptest::{prop_assert, proptest};

    use super::{complete_front_matter, explain_front_matter};
    use crate::editor::HoverBlock;

    /// The labels at the `|`, and the document after the first is taken; `None`: no front matter there.
    fn taken(text: &str) -> Option<(Vec<String>, String)> {
        let offset = text.find('|').expect("a cursor");
        let text = text.replacen('|', "", 1);
        let all = complete_front_matter(&text, offset)?;
        let mut after = text.clone();
        if let Some(first) = all.first() {
            after.replace_range(first.replaces.clone(), &first.text);
        }
        Some((all.into_iter().map(|it| it.label).collect(), after))
    }

    #[test]
    fn keys_and_agents_are_completed() {
        let (labels, after) = taken("---\n|\n---\n# T\n").unwrap();
        assert_eq!((labels.len(), after.as_str()), (9, "---\nagent: claude\n---\n# T\n"));
        let (labels, after) = taken("---\r\nagent: codex\r\nma|x: 3\r\n---\r\n").unwrap();
        assert!(!labels.contains(&"agent".to_owned()) && labels.contains(&"max_iterations".to_owned()));
        assert_eq!(after, "---\r\nagent: codex\r\ncommands: 3\r\n---\r\n");
        let (labels, after) = taken("---\nagent: co|\n---\n").unwrap();
        assert!(labels.iter().any(|it| it == "codex"), "{labels:?}");
        assert_eq!(after, format!("---\nagent: {}\n---\n", labels[0]));
        assert_eq!(taken("---\ncriteria:\n  - te|\n---\n").unwrap().0, [""; 0]);
        assert_eq!(taken("---\nagent: a\n\n# T\n|"), None);
        assert_eq!(taken("# T\n\n|"), None);
        assert!(taken("---\n|\n\n# T\n").is_some());
    }

    #[test]
    fn keys_are_explained() {
        let text = "---\nmax_iterations: 3\nother: x\n---\n# T\n";
        let hover = explain_front_matter(("PROMPT.md", text), 8).unwrap();
        assert_eq!(&text[hover.place.range], "max_iterations");
        assert_eq!(hover.blocks.last(), Some(&HoverBlock::Text("Overrides `limits.iterations`.".to_owned())));
        assert!(explain_front_matter(("PROMPT.md", text), 25).is_none());
        assert!(explain_front_matter(("PROMPT.md", text), text.len() - 1).is_none());
    }

    #[test]
    fn blank_lines_are_read_in_linear_time() {
        let text = format!("---\n{}agent: a\n---\n# T\n", "\n".repeat(100_000));
        let hover = explain_front_matter(("PROMPT.md", &text), text.find("agent").unwrap()).unwrap();
        assert_eq!(&text[hover.place.range], "agent");
    }

    proptest! {
        #[test]
        fn what_is_replaced_is_on_one_line(text in "(---\n)?[a-dé:=. \\[\\]#\\-\r\n]{0,40}", at in any::<Index>()) {
            let at = text.floor_char_boundary(at.index(text.len() + 1));
            let all = complete_front_matter(&text, at).unwrap_or_default();
            for it in all {
                let replaced = text.get(it.replaces.clone());
                prop_assert!(replaced.is_some_and(|it| !it.contains('\n')), "{:?} of {text:?}", it.replaces);
            }
        }
    }
}
