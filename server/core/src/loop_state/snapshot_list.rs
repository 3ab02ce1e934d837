//! The snapshots of a loop, by iteration. Their trees are in one text: an iteration begins with the tree that the one
//! before it left, and so most trees occur twice.

use std::ops::Range;

use crate::journal::SnapshotWhen;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SnapshotList {
    /// The ids of the trees, one after the other.
    trees: String,
    /// By iteration, and within one in the order in which they were taken.
    rows: Vec<SnapshotRow>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RowArray", into = "RowArray")]
struct SnapshotRow {
    iteration: u32,
    when: SnapshotWhen,
    /// The place of the tree in the text.
    start: u32,
    end: u32,
}

/// A row as it is stored, without names.
type RowArray = (u32, SnapshotWhen, u32, u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotRef<'a> {
    pub iteration: u32,
    pub when: SnapshotWhen,
    pub tree: &'a str,
}

impl SnapshotList {
    pub(crate) fn add(&mut self, iteration: u32, when: SnapshotWhen, tree: &str) {
        let same = self.rows.last().filter(|it| self.snapshot(it).tree == tree).map(SnapshotRow::place);
        let place = same.unwrap_or_else(|| self.add_tree(tree));
        let bound = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let row = SnapshotRow { iteration, when, start: bound(place.start), end: bound(place.end) };
        // A rollback while the next iteration is prepared still has the number of the one before.
        let index = self.rows.partition_point(|it| it.iteration <= iteration);
        self.rows.insert(index, row);
    }

    fn add_tree(&mut self, tree: &str) -> Range<usize> {
        let start = self.trees.len();
        self.trees.push_str(tree);
        start..self.trees.len()
    }

    pub fn last(&self) -> Option<SnapshotRef<'_>> {
        self.rows.last().map(|it| self.snapshot(it))
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = SnapshotRef<'_>> {
        self.rows.iter().map(|it| self.snapshot(it))
    }

    /// The last snapshot of its kind, where there are several.
    pub(crate) fn find(&self, iteration: u32, when: SnapshotWhen) -> Option<&str> {
        let later = self.rows.partition_point(|it| it.iteration <= iteration);
        let until = self.rows.get(..later).unwrap_or_default().iter().rev();
        let mut its = until.take_while(|it| it.iteration == iteration);
        its.find(|it| it.when == when).map(|it| self.snapshot(it).tree)
    }

    fn snapshot(&self, row: &SnapshotRow) -> SnapshotRef<'_> {
        let tree = self.trees.get(row.place()).unwrap_or_default();
        SnapshotRef { iteration: row.iteration, when: row.when, tree }
    }
}

impl SnapshotRow {
    fn place(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl From<SnapshotRow> for RowArray {
    fn from(row: SnapshotRow) -> Self {
        (row.iteration, row.when, row.start, row.end)
    }
}

impl From<RowArray> for SnapshotRow {
    fn from((iteration, when, start, end): RowArray) -> Self {
        Self { iteration, when, start, end }
    }
}

#[cfg(test)]
mod tests {
    use super::{SnapshotList, SnapshotRef, SnapshotWhen};

    #[test]
    fn a_tree_that_comes_twice_in_a_row_is_stored_once() {
        use SnapshotWhen::{After, Before, BeforeRollback};
        let mut list = SnapshotList::default();
        let taken = [
            (0, After, "aa"),
            (1, Before, "aa"),
            (1, After, "bbb"),
            (2, Before, "bbb"),
            (2, Before, "aa"),
            (2, BeforeRollback, ""),
        ];
        for (iteration, when, tree) in taken {
            list.add(iteration, when, tree);
        }
        assert_eq!(list.trees, "aabbbaa");
        let expect = taken.map(|(iteration, when, tree)| SnapshotRef { iteration, when, tree });
        assert!(list.iter().eq(expect));
        assert_eq!(list.last(), expect.last().copied());
        let found = [(0, After), (1, After), (2, Before), (2, After), (3, Before)];
        assert_eq!(
            found.map(|(iteration, when)| list.find(iteration, when)),
            [Some("aa"), Some("bbb"), Some("aa"), None, None]
        );
        let text = serde_json::to_string(&list).unwrap();
        assert!(text.contains(r#"[1,"after",2,5]"#), "{text}");
        assert_eq!(serde_json::from_str::<SnapshotList>(&text).unwrap(), list);
    }

    #[test]
    fn rollbacks_during_the_preparation_of_an_iteration_hide_no_snapshot() {
        use SnapshotWhen::{After, Before, BeforeRollback};
        let mut list = SnapshotList::default();
        list.add(0, After, "start");
        for number in 1..20 {
            list.add(number, Before, &format!("before {number}"));
            list.add(number - 1, BeforeRollback, "aside");
            list.add(number, Before, &format!("again before {number}"));
            list.add(number, After, &format!("after {number}"));
            for earlier in 1..=number {
                assert_eq!(list.find(earlier, Before), Some(&*format!("again before {earlier}")), "{number}");
                assert_eq!(list.find(earlier, After), Some(&*format!("after {earlier}")), "{number}");
                assert_eq!(list.find(earlier - 1, BeforeRollback), Some("aside"), "{number}");
            }
        }
    }
}
