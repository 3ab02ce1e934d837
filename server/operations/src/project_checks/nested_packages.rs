//! Finds the packages below a folder that has no manifest of its own: `services/api` and `services/web` of a monorepo.

use std::path::{Path, PathBuf};

use super::package::{PackageFolder, subfolders};
use super::{InstalledTools, ManifestError, ProposedChecks};

/// `packages/api` is two levels below the root.
const MAX_DEPTH: usize = 2;
/// A task with the checks of more packages says nothing about any of them.
const MAX_PACKAGES: usize = 6;

/// The checks of the packages below `folder`, or none if there are too many of them.
pub(super) fn checks(
    root: &Path,
    folder: &Path,
    installed: &InstalledTools,
) -> Result<ProposedChecks, ManifestError> {
    let mut all = ProposedChecks::default();
    if installed.is_home(folder) {
        return Ok(all);
    }
    let mut packages = 0;
    let mut folders: Vec<(PathBuf, usize)> = level(folder, 1);
    while let Some((found, depth)) = folders.pop() {
        let package = PackageFolder::new(root, &found, installed);
        let mut checks = ProposedChecks::of_package(&package)?;
        if checks.found.is_empty() && checks.left_out.is_empty() {
            if depth < MAX_DEPTH {
                folders.extend(level(&found, depth + 1));
            }
            continue;
        }
        packages += 1;
        if packages > MAX_PACKAGES {
            return Ok(ProposedChecks::default());
        }
        for check in checks.found.iter_mut().chain(&mut checks.left_out) {
            package.shown("").trim_end_matches('/').clone_into(&mut check.package);
        }
        all.found.append(&mut checks.found);
        all.left_out.append(&mut checks.left_out);
    }
    Ok(all)
}

/// The folders in `folder`, the first by name at the end.
fn level(folder: &Path, depth: usize) -> Vec<(PathBuf, usize)> {
    subfolders(folder).into_iter().rev().map(|it| (it, depth)).collect()
}
