//! The checks that are found in the projects of `tests/fixtures/projects`, on a machine with every tool.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{InstalledTools, ProposedChecks};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/projects")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A machine with these programs on `PATH`.
fn machine(programs: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    for program in programs {
        fs::write(bin.join(program), "#!/bin/sh\nexit 1\n").unwrap();
        fs::set_permissions(bin.join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let modules = folder.path().join("usr/lib/python3.12/dist-packages");
    for module in ["pytest", "ruff", "mypy", "flake8", "pyright", "coverage"] {
        fs::create_dir_all(modules.join(module)).unwrap();
    }
    folder
}

const PROGRAMS: &[&str] = &[
    "cargo",
    "cargo-clippy",
    "cargo-fmt",
    "cargo-nextest",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "go",
    "golangci-lint",
    "make",
    "just",
    "uv",
    "python3",
    "java",
    "mvn",
    "dotnet",
];

/// Finds the checks of a folder of a project; expects these lines, `criterion: command`.
#[track_caller]
fn check(project: &str, folder: &str, expect: &[&str]) {
    let root = tempfile::tempdir().unwrap();
    copy(&fixtures().join(project), root.path());
    if root.path().join("package.json").exists() {
        let programs = root.path().join("node_modules/.bin");
        fs::create_dir_all(&programs).unwrap();
        for program in ["vitest", "jest", "eslint", "biome", "tsc", "prettier"] {
            fs::write(programs.join(program), "").unwrap();
        }
    }
    let machine = machine(PROGRAMS);
    let machine = InstalledTools::in_folder(machine.path());
    let checks = ProposedChecks::of(root.path(), &root.path().join(folder), &machine).unwrap();
    let lines: Vec<String> =
        checks.found.iter().map(|it| format!("{}: {}", it.criterion(), it.command)).collect();
    assert_eq!(lines, expect, "{project}/{folder}");
    let lacking: Vec<_> =
        checks.found.iter().chain(&checks.left_out).filter(|it| it.lack.is_some()).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

#[test]
fn checks_of_rust_and_go_are_found() {
    check(
        "cargo_workspace",
        "",
        &[
            "All tests pass: cargo nextest run --workspace",
            "The linter has no complaints: cargo clippy --all-targets -- -D warnings",
            "The code is formatted: cargo fmt --all -- --check",
        ],
    );
    check(
        "cargo_workspace",
        "parser/src",
        &[
            "All tests pass: cd parser && cargo nextest run",
            "The linter has no complaints: cd parser && cargo clippy --all-targets -- -D warnings",
            "The code is formatted: cd parser && cargo fmt -- --check",
        ],
    );
    check(
        "go_module",
        "",
        &["All tests pass: go test ./...", "The linter has no complaints: golangci-lint run"],
    );
    check("go_workspace", "", &["All tests pass: go test ./api/... ./tools/gen/..."]);
    check("go_workspace", "api", &["All tests pass: cd api && go test ./..."]);
}

#[test]
fn scripts_of_a_package_are_checks() {
    check(
        "npm_vite",
        "",
        &[
            "All tests pass: npx --no-install vitest run",
            "The linter has no complaints: npx --no-install eslint .",
            "The types check: npx --no-install tsc --noEmit",
            "The code is formatted: npx --no-install prettier --check .",
        ],
    );
    check(
        "npm_jest_coverage",
        "",
        &[
            "All tests pass: npm test",
            "The linter has no complaints: npm run lint",
            "The tests cover as much as the project demands: npm run test:coverage",
        ],
    );
    check(
        "pnpm_monorepo",
        "",
        &[
            "All tests pass: pnpm --recursive run test",
            "The linter has no complaints: pnpm exec biome check .",
        ],
    );
    check(
        "pnpm_monorepo",
        "packages/core",
        &[
            "All tests pass: cd packages/core && pnpm test",
            "The types check: cd packages/core && pnpm exec tsc --noEmit",
        ],
    );
    check("yarn_berry", "", &["All tests pass: yarn run jest", "The types check: yarn run check-types"]);
    check("bun_app", "", &["All tests pass: bun test"]);
}

#[test]
fn configured_python_tools_are_checks() {
    check(
        "python_uv",
        "",
        &[
            "All tests pass: uv run pytest -q",
            "The linter has no complaints: uv run ruff check .",
            "The code is formatted: uv run ruff format --check .",
            "The types check: uv run mypy .",
            "The tests cover as much as the project demands: uv run coverage run -m pytest -q && uv run coverage report",
        ],
    );
    check(
        "python_setup_cfg",
        "",
        &[
            "All tests pass: python3 -m pytest -q",
            "The linter has no complaints: python3 -m flake8",
            "The types check: python3 -m mypy .",
        ],
    );
    check(
        "python_unittest",
        "",
        &["All tests pass: python3 -m unittest", "The types check: python3 -m pyright"],
    );
}

#[test]
fn checks_of_task_runners_and_build_tools_are_found() {
    check(
        "make_c",
        "",
        &[
            "All tests pass: make test",
            "The linter has no complaints: make lint",
            "The tests cover as much as the project demands: make coverage",
        ],
    );
    check("rust_just", "", &["All tests pass: cargo test", "The linter has no complaints: just lint"]);
    check("just_scripts", "", &["All tests pass: just test", "The code is formatted: just fmt-check"]);
    check(
        "gradle_kotlin",
        "",
        &[
            "All tests pass: ./gradlew test",
            "The linter has no complaints: ./gradlew ktlintCheck",
            "The tests cover as much as the project demands: ./gradlew jacocoTestCoverageVerification",
        ],
    );
    check("gradle_kotlin", "orders", &["All tests pass: cd orders && ../gradlew test"]);
    check(
        "maven_spring",
        "",
        &["All tests pass: mvn -B test", "The linter has no complaints: mvn -B checkstyle:check"],
    );
    check(
        "dotnet_solution",
        "",
        &["All tests pass: dotnet test", "The code is formatted: dotnet format --verify-no-changes"],
    );
}

#[test]
fn packages_below_a_folder_without_a_manifest_are_found() {
    check(
        "services",
        "",
        &[
            "All tests pass in services/api: cd services/api && go test ./...",
            "All tests pass in services/web: cd services/web && npm test",
        ],
    );
    check("services", "services/web", &["All tests pass: cd services/web && npm test"]);
}

#[test]
fn a_tool_that_is_not_installed_is_named() {
    let check = |project: &str, expect: &[&str]| {
        let machine = machine(&[]);
        let root = fixtures().join(project);
        let checks = ProposedChecks::of(&root, &root, &InstalledTools::in_folder(machine.path())).unwrap();
        let all = checks.found.iter().chain(&checks.left_out);
        let lacks: Vec<String> = all.filter_map(|it| it.lack.as_ref()).map(|it| it.what.clone()).collect();
        assert_eq!(lacks, expect, "{project}");
    };
    check("gradle_kotlin", &["java is not installed"; 3]);
    check("maven_spring", &["mvn is not installed"; 2]);
    check("dotnet_solution", &["dotnet is not installed"; 2]);
    check("go_module", &["go is not installed", "golangci-lint is not installed"]);
    check("bun_app", &["bun is not installed"]);
}
