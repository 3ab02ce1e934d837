//! Programs in `node_modules/.bin` that were replaced: the package that declares a program is the same as before, and the
//! entry in `.bin` leads to another file.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use super::{MAX_MANIFEST_BYTES, is_changed_since, normalized};
use crate::regular_file::read_text;

/// Maximum number of packages whose manifests are read for one changed program.
const MAX_PACKAGES: usize = 5_000;

/// Whether a package declares `program`, an entry of `node_modules/.bin`, and the entry does not lead to its file. A
/// package whose manifest changed after `since` was installed again, and its programs may differ.
pub(super) fn replaces_package_program(program: &Path, since: SystemTime) -> bool {
    let (Some(modules), Some(name)) = (program.ancestors().nth(2), program.file_name()) else { return false };
    let entry = entry_content(program, modules);
    packages_in(modules).take(MAX_PACKAGES).any(|package| {
        let manifest = package.join("package.json");
        if is_changed_since(&manifest, since) {
            return false;
        }
        let below = package.strip_prefix(modules).unwrap_or(&package);
        declared_file(&manifest, name)
            .is_some_and(|it| !entry.contains(&*below.join(it.trim_start_matches("./")).to_string_lossy()))
    })
}

/// The target of a link, or the text of a script that package managers write where links do not work.
fn entry_content(program: &Path, modules: &Path) -> String {
    match fs::read_link(program) {
        Ok(target) => normalized(&modules.join(".bin").join(target)).to_string_lossy().into_owned(),
        Err(_) => read_text(program, MAX_MANIFEST_BYTES).unwrap_or_default(),
    }
}

/// The folders of the packages in `modules`, scoped ones included.
fn packages_in(modules: &Path) -> impl Iterator<Item = PathBuf> {
    let folders = |of: &Path| fs::read_dir(of).into_iter().flatten().flatten().map(|it| it.path());
    let is_scope = |it: &PathBuf| it.file_name().is_some_and(|it| it.to_string_lossy().starts_with('@'));
    let (scopes, packages): (Vec<_>, Vec<_>) = folders(modules).take(MAX_PACKAGES).partition(is_scope);
    let scoped: Vec<PathBuf> = scopes.iter().flat_map(|it| folders(it)).take(MAX_PACKAGES).collect();
    packages.into_iter().chain(scoped)
}

/// The file that a manifest declares for a program. A `bin` that is a string belongs to the package's own name.
fn declared_file(manifest: &Path, program: &OsStr) -> Option<String> {
    let manifest: Value = serde_json::from_str(&read_text(manifest, MAX_MANIFEST_BYTES)?).ok()?;
    let bin = manifest.get("bin")?;
    if let Some(file) = bin.as_str() {
        let package = manifest.get("name")?.as_str()?.rsplit('/').next()?;
        return (program == package).then(|| file.to_owned());
    }
    bin.get(program.to_str()?)?.as_str().map(str::to_owned)
}
