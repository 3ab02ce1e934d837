//! Finds the new lines of a text.

use std::collections::{BTreeSet, HashMap};

/// The numbers, from 1, of the lines of `after` that `before` does not contain, or not as often. A line that only moved
/// is not new. Linear, unlike an alignment of both texts.
pub(super) fn changed_lines(before: &str, after: &str) -> BTreeSet<u32> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let shorter = old.len().min(new.len());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let from_end = old.iter().rev().zip(new.iter().rev()).take(shorter - head);
    let tail = from_end.take_while(|(old, new)| old == new).count();
    let mut remaining: HashMap<&str, u32> = HashMap::new();
    for line in old.get(head..old.len() - tail).unwrap_or_default() {
        *remaining.entry(line.trim()).or_default() += 1;
    }
    let mut changed = BTreeSet::new();
    for (index, line) in new.get(head..new.len() - tail).unwrap_or_default().iter().enumerate() {
        match remaining.get_mut(line.trim()) {
            Some(count) if *count > 0 => *count -= 1,
            _ => {
                changed.insert((head + index + 1) as u32);
            }
        }
    }
    changed
}
