//! Resolves paths for rules, which apply to real paths.

use std::fs;
use std::path::PathBuf;

/// The real paths of those that exist, sorted, each once.
pub(super) fn existing_real_paths(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut real: Vec<_> = paths.iter().filter_map(|it| fs::canonicalize(it).ok()).collect();
    real.sort();
    real.dedup();
    real
}
