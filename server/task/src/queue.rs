//! Queue documents: a Markdown list of links to tasks that are worked on one after another.
//!
//! ```text
//! - [Login](login/PROMPT.md)
//! - [Mails](mails.ralph.md) (after Login)
//! ```

use std::collections::HashMap;
use std::sync::LazyLock;

use loopkeeper_text::closest::closest;
use loopkeeper_text::sanitize::shown;
use loopkeeper_text::{DocumentRange, tr};
use regex::Regex;

use crate::dependencies::find_cycle_members;
use crate::{Finding, FindingCode};

/// Maximum number of entries; a longer queue is refused.
const MAX_ENTRIES: usize = 1000;

/// An item, its box, its link and what follows the link.
static ITEM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^\s{0,12}(?:[-*+]|\d{1,6}[.)])\s+(?:\[[ xX]\]\s+)?(?:\[(?P<name>[^\]]*)\]\(<?(?P<path>[^)>\s]+)>?\)(?P<rest>.*)|(?P<text>.*))$",
    )
    .ok()
});
static AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)\(after\s+([^)]*)\)").ok());

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskQueue {
    /// In the order of the document.
    pub entries: Vec<QueueEntry>,
    /// Each makes the queue unusable.
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueEntry {
    /// The text of the link.
    pub name: String,
    /// The path as written, relative to the folder of the document.
    pub path: String,
    /// Indices of the entries that have to be completed before.
    pub after: Vec<usize>,
    pub place: DocumentRange,
}

/// Whether the file at `path` is a queue by its name: `QUEUE.md`, `queue.md`, `night.queue.md`.
pub fn is_queue(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    name == "queue.md" || name.strip_suffix(".queue.md").is_some_and(|it| !it.is_empty())
}

/// Parses the queue document `file`.
pub fn parse_queue(file: &str, text: &str) -> TaskQueue {
    let mut reader = QueueReader { file, queue: TaskQueue::default(), waits: Vec::new(), is_full: false };
    let (mut start, mut is_fenced) = (0, false);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_fenced = !is_fenced;
        } else if !is_fenced {
            reader.read_line(start, line.trim_end());
        }
        start += line.len();
    }
    reader.finish()
}

impl TaskQueue {
    /// The queue of these paths, without dependencies.
    pub fn of_paths(paths: &[String]) -> Self {
        let place = DocumentRange { file: String::new(), range: 0..0 };
        let entry = |path: &String| QueueEntry {
            name: path.clone(),
            path: path.clone(),
            after: Vec::new(),
            place: place.clone(),
        };
        Self { entries: paths.iter().map(entry).collect(), findings: Vec::new() }
    }

    /// The indices of the entries in the order of work: that of the document, each after those that it waits for.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = Vec::new();
        let mut is_placed = vec![false; self.entries.len()];
        let is_ready = |it: &QueueEntry, placed: &[bool]| {
            it.after.iter().all(|index| placed.get(*index).copied().unwrap_or(true))
        };
        loop {
            let next = self.entries.iter().enumerate().position(|(index, it)| {
                !is_placed.get(index).copied().unwrap_or(true) && is_ready(it, &is_placed)
            });
            let Some(next) = next else { return order };
            if let Some(placed) = is_placed.get_mut(next) {
                *placed = true;
            }
            order.push(next);
        }
    }
}

struct QueueReader<'a> {
    file: &'a str,
    queue: TaskQueue,
    /// An entry, the name that it waits for, and where that is written.
    waits: Vec<(usize, String, DocumentRange)>,
    /// The limit of entries was reached.
    is_full: bool,
}

impl QueueReader<'_> {
    fn read_line(&mut self, start: usize, line: &str) {
        let Some(found) = ITEM.as_ref().and_then(|it| it.captures(line)) else { return };
        let (Some(name), Some(path)) = (found.name("name"), found.name("path")) else {
            let text = found.name("text").filter(|it| !it.as_str().trim().is_empty());
            if let Some(text) = text {
                let message = tr!("not a link to a task. Write `- [Title](path/to/PROMPT.md)`").to_owned();
                self.report(start + text.start()..start + text.end(), message);
            }
            return;
        };
        let place = self.place(start + name.start()..start + path.end());
        let index = self.queue.entries.len();
        let name = if name.as_str().trim().is_empty() { path.as_str() } else { name.as_str().trim() };
        if self.queue.entries.iter().any(|it| it.path == path.as_str()) {
            self.report(place.range, tr!("`{path}` is already in this list", path = shown(path.as_str())));
            return;
        }
        if index >= MAX_ENTRIES {
            if !std::mem::replace(&mut self.is_full, true) {
                self.report(place.range, tr!("more than {most} tasks. Split the list", most = MAX_ENTRIES));
            }
            return;
        }
        let entry =
            QueueEntry { name: name.to_owned(), path: path.as_str().to_owned(), after: Vec::new(), place };
        self.queue.entries.push(entry);
        let Some(rest) = found.name("rest") else { return };
        for waits in AFTER.iter().flat_map(|it| it.captures_iter(rest.as_str())).filter_map(|it| it.get(1)) {
            let mut at = start + rest.start() + waits.start();
            for part in waits.as_str().split(',') {
                let name = part.trim();
                let begin = at + (part.len() - part.trim_start().len());
                if !name.is_empty() {
                    self.waits.push((index, name.to_owned(), self.place(begin..begin + name.len())));
                }
                at += part.len() + 1;
            }
        }
    }

    fn finish(mut self) -> TaskQueue {
        let key = |it: &str| it.trim().to_lowercase();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (index, entry) in self.queue.entries.iter().enumerate().rev() {
            known.insert(key(&entry.path), index);
            known.insert(key(&entry.name), index);
        }
        for (index, name, place) in std::mem::take(&mut self.waits) {
            let before = known.get(&key(&name)).copied();
            match (before, self.queue.entries.get_mut(index)) {
                (Some(before), Some(entry)) if before != index => entry.after.push(before),
                (Some(_), _) => {
                    self.report(place.range, tr!("`{name}` depends on itself", name = shown(&name)));
                }
                (None, _) => {
                    let near = closest(&name, self.queue.entries.iter().map(|it| it.name.as_str()));
                    let hint = near.map_or_else(
                        || tr!("Name the text or the path of a link in this list").to_owned(),
                        |it| tr!("Did you mean `{name}`?", name = shown(it)),
                    );
                    self.report(
                        place.range,
                        tr!("there is no task `{name}` here. {hint}", name = shown(&name), hint),
                    );
                }
            }
        }
        self.report_cycles();
        self.queue.findings.sort_by_key(|it| it.place.range.start);
        self.queue
    }

    /// Reports entries that wait for each other, but none that only waits for these.
    fn report_cycles(&mut self) {
        let before: Vec<Vec<usize>> = self.queue.entries.iter().map(|it| it.after.clone()).collect();
        let members = find_cycle_members(&before);
        let names: Vec<String> =
            members.iter().filter_map(|it| self.queue.entries.get(*it)).map(|it| shown(&it.name)).collect();
        for index in members {
            let Some(place) = self.queue.entries.get(index).map(|it| it.place.clone()) else { continue };
            self.report(
                place.range,
                tr!("tasks depend on each other: {names}", names = names.join(tr!(", "))),
            );
        }
    }

    fn report(&mut self, range: std::ops::Range<usize>, message: String) {
        let place = self.place(range);
        self.queue.findings.push(Finding { code: FindingCode::BadValue, message, place, fix: None });
    }

    fn place(&self, range: std::ops::Range<usize>) -> DocumentRange {
        DocumentRange { file: self.file.to_owned(), range }
    }
}

#[cfg(test)]
mod tests {
    use super::{TaskQueue, is_queue, parse_queue};
    use proptest::prelude::*;

    fn queue(text: &str) -> TaskQueue {
        parse_queue("QUEUE.md", text)
    }

    /// Paths in the order of work.
    fn order(text: &str) -> Vec<String> {
        let queue = queue(text);
        assert!(queue.findings.is_empty(), "{:?}", queue.findings);
        queue.order().into_iter().map(|it| queue.entries[it].path.clone()).collect()
    }

    #[track_caller]
    fn check_refused(text: &str, expect: &[(&str, &str)]) {
        let found = queue(text).findings;
        let reported: Vec<(&str, &str)> =
            found.iter().map(|it| (&text[it.place.range.clone()], it.message.as_str())).collect();
        assert_eq!(reported.len(), expect.len(), "{reported:?}");
        for ((at, message), (place, part)) in reported.iter().zip(expect) {
            assert!(at == place && message.contains(part), "{reported:?}");
        }
    }

    #[test]
    fn a_queue_is_known_by_its_name() {
        for (path, expect) in [
            ("QUEUE.md", true),
            ("docs/queue.md", true),
            ("night.queue.md", true),
            (".queue.md", false),
            ("PROMPT.md", false),
            ("QUEUE.json", false),
        ] {
            assert_eq!(is_queue(path), expect, "{path}");
        }
    }

    #[test]
    fn each_comes_after_what_it_waits_for() {
        assert_eq!(order("- [A](a.md)\n- [B](b.md)\n"), ["a.md", "b.md"]);
        assert_eq!(
            order("# Night\n\n1. [A](a.md) (after C)\n2. [B](b.md)\n3. [C](c.md)\n"),
            ["b.md", "c.md", "a.md"]
        );
        assert_eq!(
            order("- [ ] [A](a.md) (after b.md, C)\n- [x] [B](b.md)\n* [C](c.md) (After B)\n"),
            ["b.md", "c.md", "a.md"]
        );
        assert_eq!(order("- [登录](登录.md)\r\n- [邮件](mail.md) (after 登录)\r\n"), ["登录.md", "mail.md"]);
        assert_eq!(order("Read [this](a.md).\n\n```\n- [B](b.md)\n```\n- [C](c.md)\n"), ["c.md"]);
    }

    #[test]
    fn broken_references_are_reported_at_their_range() {
        check_refused("- [Login](a.md)\n- [B](b.md) (after Logn)\n", &[("Logn", "Did you mean `Login`?")]);
        check_refused("- [A](a.md)\n- buy milk\n", &[("buy milk", "not a link")]);
        check_refused("- [A](a.md)\n- [B](a.md)\n", &[("B](a.md", "already in this list")]);
        check_refused("- [A](a.md) (after A)\n", &[("A", "depends on itself")]);
        let cycle = "- [A](a.md) (after B)\n- [B](b.md) (after A)\n- [C](c.md) (after A)\n";
        check_refused(
            cycle,
            &[("A](a.md", "depend on each other: A, B"), ("B](b.md", "depend on each other")],
        );
    }

    #[test]
    fn a_queue_that_is_too_long_is_refused_once() {
        let lines: Vec<String> = (0..1010).map(|it| format!("- [{it}]({it}.md)\n")).collect();
        let text = lines.concat();
        check_refused(&text, &[("1000](1000.md", "more than 1000 tasks")]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in r"([-*1.)\]\[( ]|after|a|界|\n|,){0,60}") {
            let queue = queue(&text);
            for finding in &queue.findings {
                prop_assert!(text.get(finding.place.range.clone()).is_some());
            }
            prop_assert!(queue.order().len() <= queue.entries.len());
        }
    }
}
