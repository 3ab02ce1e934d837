//! The order in which mutants are tried, so that any prefix of it covers files and lines evenly.

use std::collections::BTreeSet;

use super::SourceEdit;

/// The preferred edit of every line first, lines far apart one after the other; then the second of every line, and so
/// on.
pub(super) fn order(edits: Vec<SourceEdit>) -> Vec<SourceEdit> {
    let mut rest = edits;
    let mut ordered = Vec::with_capacity(rest.len());
    rest.sort_by_key(|it| (it.line, it.kind, it.range.start));
    while !rest.is_empty() {
        let mut lines = BTreeSet::new();
        let (first, others): (Vec<SourceEdit>, Vec<SourceEdit>) =
            rest.into_iter().partition(|it| lines.insert(it.line));
        ordered.extend(scatter(first));
        rest = others;
    }
    ordered
}

/// One of each list in turn.
pub(super) fn interleave<T>(lists: Vec<Vec<T>>) -> Vec<T> {
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    let mut all = Vec::new();
    loop {
        let before = all.len();
        all.extend(lists.iter_mut().filter_map(Iterator::next));
        if all.len() == before {
            return all;
        }
    }
}

/// Steps of about the golden ratio visit every item once and leave no large gap at any time.
fn scatter<T>(items: Vec<T>) -> Vec<T> {
    let count = items.len();
    let golden = (count * 618 / 1000).max(1);
    let step = (golden..golden + count).find(|it| greatest_common_divisor(*it, count) == 1).unwrap_or(1);
    let mut slots: Vec<Option<T>> = items.into_iter().map(Some).collect();
    (0..count).filter_map(|it| slots.get_mut(it * step % count)?.take()).collect()
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
