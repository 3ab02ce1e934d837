//! Go: finds the tests of a module or of the modules of a workspace, and golangci-lint where it is configured.

use super::package::PackageFolder;
use super::{LINT, ManifestError, ProposedChecks, TESTS};

const LINTERS: [&str; 4] = [".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"];

pub(super) fn checks(package: &PackageFolder<'_>, checks: &mut ProposedChecks) -> Result<(), ManifestError> {
    if package.text("go.mod")?.is_some() {
        checks.add(package.check((TESTS, "go.mod"), "go test ./...", "go"));
    } else if let Some(workspace) = package.text("go.work")? {
        let patterns: Vec<String> = modules(&workspace).iter().map(|it| format!("{it}/...")).collect();
        if patterns.is_empty() {
            return Ok(());
        }
        checks.add(package.check((TESTS, "go.work"), &format!("go test {}", patterns.join(" ")), "go"));
    } else {
        return Ok(());
    }
    if let Some(file) = LINTERS.into_iter().find(|it| package.has(it)) {
        checks.add(package.check((LINT, file), "golangci-lint run", "golangci-lint"));
    }
    Ok(())
}

/// The folders that a `go.work` names: `use ./a`, or a block of them.
fn modules(text: &str) -> Vec<&str> {
    let mut modules = Vec::new();
    let mut is_block = false;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let folder = match line {
            "use (" => {
                is_block = true;
                continue;
            }
            ")" => {
                is_block = false;
                continue;
            }
            _ if is_block => line,
            _ => line.strip_prefix("use ").unwrap_or_default().trim(),
        };
        let is_plain = |it: char| it.is_alphanumeric() || "./-_".contains(it);
        if folder.starts_with("./") && folder.chars().all(is_plain) {
            modules.push(folder.trim_end_matches('/'));
        }
    }
    modules
}
