//! Rust: finds the checks of Cargo, with nextest, clippy and rustfmt where the project configures them.

use super::package::PackageFolder;
use super::{FORMAT, LINT, ManifestError, ProposedChecks, TESTS, has_header};

const FILE: &str = "Cargo.toml";

pub(super) fn checks(package: &PackageFolder<'_>, checks: &mut ProposedChecks) -> Result<(), ManifestError> {
    let Some(manifest) = package.text(FILE)? else { return Ok(()) };
    let mut add = |name, command: &str, program| checks.add(package.check((name, FILE), command, program));
    let is_workspace = has_header(&manifest, "[workspace");
    let all = if is_workspace { " --workspace" } else { "" };
    // Without nextest, Cargo runs the same tests.
    if package.has_above(".config/nextest.toml") && package.has_program("cargo-nextest") {
        add(TESTS, &format!("cargo nextest run{all}"), "cargo");
    } else {
        add(TESTS, &format!("cargo test{all}"), "cargo");
    }
    let lints = has_header(&manifest, "[lints") || has_header(&manifest, "[workspace.lints");
    if lints || package.has_above("clippy.toml") || package.has_above(".clippy.toml") {
        add(LINT, "cargo clippy --all-targets -- -D warnings", "cargo-clippy");
    }
    if package.has_above("rustfmt.toml") || package.has_above(".rustfmt.toml") {
        let all = if is_workspace || package.is_root() { " --all" } else { "" };
        add(FORMAT, &format!("cargo fmt{all} -- --check"), "cargo-fmt");
    }
    Ok(())
}
