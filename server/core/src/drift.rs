//! Compares the sources that an iteration changed with those that its task mentions. Names only, never contents: a
//! file that the work needs can have any name, so the result is a remark and decides nothing.
//!
//! The rule prefers silence to a false alarm. A word of the task that may mean a file counts as a mention of it, files
//! that accompany any work are left out, and a task that names no source at all has no result.

pub(crate) mod companions;
mod mentions;
pub(crate) mod names;
#[cfg(test)]
mod tests;

use crate::journal::DriftShare;
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::Criterion;

pub use mentions::TaskMentions;

/// Maximum number of changed files that are compared: the first ones.
pub const MAX_FILES: usize = 1000;
/// Maximum number of paths that are listed for an iteration or a streak.
pub(crate) const MAX_PATHS: usize = 3;

/// The texts of a task that can mention a file.
#[derive(Debug, Clone, Copy)]
pub struct TaskTexts<'a> {
    pub prompt: &'a str,
    /// Paths of `CONTEXT:`.
    pub context: &'a [String],
    pub criteria: &'a [Criterion],
    pub plan: &'a [PlanItem],
}

/// `None` if the task names no source, or no changed file is one.
pub fn drift_share(texts: &TaskTexts<'_>, changed: &[String]) -> Option<DriftShare> {
    if changed.is_empty() {
        return None;
    }
    let mentions = TaskMentions::of(texts);
    if !mentions.name_a_source() {
        return None;
    }
    let mut share = DriftShare::default();
    for path in changed.iter().take(MAX_FILES) {
        let is_mentioned = mentions.mention(path);
        if !is_mentioned && companions::accompanies(path) {
            continue;
        }
        share.total += 1;
        if !is_mentioned {
            share.off += 1;
            if share.paths.len() < MAX_PATHS {
                share.paths.push(path.clone());
            }
        }
    }
    (share.total > 0).then_some(share)
}
