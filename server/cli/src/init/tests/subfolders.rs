//! Tests `init` in folders below the root, and beside other tasks.

use std::fs;

use super::*;

#[test]
fn members_of_a_workspace_have_their_own_checks() {
    let machine = machine();
    let check = |files: &[(&str, &str)], folder: &str, expect: &[&str]| {
        check_on(machine.path(), files, folder, expect);
    };
    let member = ("packages/a/package.json", r#"{"scripts":{"test":"x"}}"#);
    let root = ("package.json", r#"{"workspaces":["packages/*"]}"#);
    check(&[root, member], "", &["npm run test --workspaces --if-present"]);
    check(&[root, member], "packages/a", &["cd packages/a && npm test"]);
    check(&[root, ("packages/a/package.json", "{}")], "", &[]);
    let pnpm = ("pnpm-workspace.yaml", "packages:\n  - 'packages/*'\n  - \"!x\"\n");
    check(
        &[("package.json", "{}"), pnpm, ("pnpm-lock.yaml", ""), member],
        "",
        &["pnpm --recursive run test"],
    );
    check(
        &[("package.json", "{}"), pnpm, ("pnpm-lock.yaml", ""), member],
        "packages/a",
        &["cd packages/a && pnpm test"],
    );
    let yarn = |version: &str| {
        format!(r#"{{"workspaces":{{"packages":["packages/a"]}},"packageManager":"yarn@{version}"}}"#)
    };
    check(&[("package.json", &yarn("1.22.0")), member], "", &["yarn workspaces run test"]);
    check(&[("package.json", &yarn("4.1.0")), member], "", &["yarn workspaces foreach --all run test"]);
    let (cargo, crate_a) =
        (("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n"), ("a/Cargo.toml", "[package]\n"));
    check(
        &[cargo, crate_a, ("rustfmt.toml", "")],
        "",
        &["cargo test --workspace", "cargo fmt --all -- --check"],
    );
    check(
        &[cargo, crate_a, ("rustfmt.toml", "")],
        "a",
        &["cd a && cargo test", "cd a && cargo fmt -- --check"],
    );
    let service = [
        ("services/api b/pytest.ini", ""),
        (".venv/bin/python", ""),
        (".venv/lib/python3.12/site-packages/pytest/x", ""),
    ];
    check(&service, "services/api b", &["cd 'services/api b' && ../../.venv/bin/python -m pytest -q"]);
    // If a folder is not a package, the one above it is used.
    check(&[cargo, crate_a, ("a/src/deep/x.rs", "")], "a/src/deep", &["cd a && cargo test"]);
}

#[test]
fn the_file_is_written_where_it_is_asked_for() {
    let root = project(&[("packages/a/package.json", r#"{"scripts":{"test":"x"}}"#)]);
    let folder = root.path().join("packages/a");
    let report = init(root.path(), &folder).unwrap();
    assert_eq!(report.file, folder.join("PROMPT.md"));
    assert_eq!((report.notes.as_slice(), report.start.as_str()), (&[][..], "loopkeeper run"));
    let text = fs::read_to_string(report.file).unwrap();
    assert!(text.contains("This file is below the root of the project"), "{text}");
    assert!(text.ends_with("- All tests pass: `$ cd packages/a && npm test`\n"), "{text}");
    assert!(!root.path().join("PROMPT.md").exists());
}

#[test]
fn effects_on_other_tasks_are_reported() {
    let check = |files: &[(&str, &str)], folder: &str, expect: &[&str]| {
        let root = project(files);
        let report = init(root.path(), &root.path().join(folder)).unwrap();
        assert_eq!(report.notes, expect, "{files:?}");
        report.start
    };
    let run = "loopkeeper run";
    let inside = ("a/main.c", "");
    assert_eq!(
        check(
            &[("PROMPT.md", "# T\n"), inside],
            "a",
            &[
                "In this folder `loopkeeper run` now starts the new task; `loopkeeper run PROMPT.md` starts the previous one.",
            ]
        ),
        run
    );
    assert_eq!(check(&[("b/PROMPT.md", "# T\n"), inside], "a", &[]), run);
    assert_eq!(check(&[("prd.json", "{}")], "", &["prd.json is the plan of this task now."]), run);
    assert_eq!(
        check(
            &[("plans/fix_plan.md", "- [ ] a\n")],
            "",
            &[
                "plans/fix_plan.md is no longer a separate task: plans count as tasks only where there is no task document. Name it to start it: `loopkeeper run plans/fix_plan.md`.",
            ]
        ),
        run
    );
    let stories = project(&[("plans/prd.json", "{}")]);
    let refused = init(stories.path(), stories.path()).unwrap_err().to_string();
    assert_eq!(refused, "a task document already exists: plans/prd.json");
    let unsearched = "This folder is not searched for tasks (ignored, excluded or too deep): name PROMPT.md when you start it.";
    assert_eq!(check(&[(".gitignore", "/a/\n"), inside], "a", &[unsearched]), "loopkeeper run PROMPT.md");
}
