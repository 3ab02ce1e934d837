//! The amount of an iteration's changes: files, and lines if they could be counted.

use std::fmt;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// What the agent changed, artefacts left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeStats {
    pub count: u64,
    /// The first 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// HEAD moved to a commit with another tree.
    #[serde(default)]
    pub committed: bool,
    /// Total of all files; `None` if too much changed to be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineStats>,
    /// Counts for each of `files`, in their order; empty if not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_file: Vec<LineStats>,
    /// Changed files that programs of the user execute later without being asked, those of git included; the first 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub autorun: Vec<String>,
    /// Files that the loop added and to which nothing refers, searched for only in a round that could end the loop; the
    /// first 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strays: Vec<String>,
}

/// Lines of text files. Binary files, and files longer than 1 MiB, count as none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LineStats {
    pub added: u64,
    pub removed: u64,
}

impl ChangeStats {
    /// Progress is a changed tree, or HEAD at a commit with another tree.
    pub fn has_progress(&self) -> bool {
        self.count > 0 || self.committed
    }

    /// Each named file, with its lines where they were counted.
    pub fn files_with_lines(&self) -> impl Iterator<Item = (&str, Option<LineStats>)> {
        self.files.iter().enumerate().map(|(at, file)| (file.as_str(), self.per_file.get(at).copied()))
    }
}

/// `+12 -3`
impl fmt::Display for LineStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{} -{}", self.added, self.removed)
    }
}

impl Add for LineStats {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            added: self.added.saturating_add(other.added),
            removed: self.removed.saturating_add(other.removed),
        }
    }
}
