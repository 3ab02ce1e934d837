//! Tests with real folders: which tasks are found and read, and what a hostile root cannot make us read.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loopkeeper_task::FindingCode;
use loopkeeper_text::DocumentRange;
use loopkeeper_text::message::HintedError as _;
use tempfile::TempDir;

use super::{DiscoveredTask, LoadedTask, TaskFileError, discover, load, missing_context, reload};

const DEFAULT_EXCLUDE: &str = "**/fixtures/**";

struct Root {
    /// Held for its `Drop`, which removes the folder.
    _home: TempDir,
    path: PathBuf,
    outside: PathBuf,
}

impl Root {
    fn with(files: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let base = home.path().canonicalize().unwrap();
        let root = Self { _home: home, path: base.join("root"), outside: base.join("outside") };
        fs::create_dir(&root.path).unwrap();
        fs::create_dir(&root.outside).unwrap();
        for file in files {
            root.write(file, "# T\n");
        }
        root
    }

    fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        let path = self.path.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn found(&self) -> Vec<DiscoveredTask> {
        discover(&self.path, &[DEFAULT_EXCLUDE.to_owned()], &[]).unwrap()
    }

    /// Shown as `task: plan plan`, one per line.
    fn shown(&self, found: &[DiscoveredTask]) -> Vec<String> {
        let name = |path: &Path| path.strip_prefix(&self.path).unwrap().display().to_string();
        let shown = found.iter().map(|found| {
            assert_eq!(found.id.0, name(&found.path));
            let plans: Vec<String> = found.plans.iter().map(|plan| name(plan)).collect();
            format!("{}: {}", found.id.0, plans.join(" ")).trim_end_matches([':', ' ']).to_owned()
        });
        shown.collect()
    }

    fn task(&self, file: &str) -> Result<LoadedTask, TaskFileError> {
        let id = loopkeeper_task::TaskId(file.to_owned());
        load(&self.path, &DiscoveredTask { id, path: self.path.join(file), plans: Vec::new() })
    }
}

#[test]
fn archived_stories_are_no_tasks() {
    let root = Root::with(&[
        "scripts/ralph/prd.json",
        "scripts/ralph/archive/2026-01-02-login/prd.json",
        "archive/2026/prd.json",
    ]);
    let found = root.found();
    assert_eq!(root.shown(&found), ["archive/2026/prd.json", "scripts/ralph/prd.json"]);
}

#[test]
fn documents_are_parsed_again_only_when_one_of_them_changed() {
    let root = Root::with(&["PROMPT.md", "fix_plan.md"]);
    let mut last = LoadedTask::default();
    let mut is_parsed = |files: &[(&str, &[u8])]| {
        for (file, text) in files {
            root.write(file, text);
        }
        let loaded = reload(&root.path, &root.found()[0], &last).unwrap();
        let fresh = load(&root.path, &root.found()[0]).unwrap();
        assert_eq!(loaded, fresh, "{files:?}");
        let before = std::mem::replace(&mut last, loaded);
        !Arc::ptr_eq(&before.task, &last.task)
    };
    assert!(is_parsed(&[]), "the first time");
    assert!(!is_parsed(&[]));
    assert!(!is_parsed(&[("PROMPT.md", b"# T\n")]), "the same bytes, written again");
    assert!(is_parsed(&[("PROMPT.md", b"# U\n")]));
    assert!(is_parsed(&[("fix_plan.md", b"- [ ] a\n")]));
    assert!(is_parsed(&[("prd.json", br#"{"userStories": []}"#)]), "one more document");
    assert!(!is_parsed(&[]));
    // The text has `?` for a byte that is not UTF-8, so it differs from the file.
    assert!(is_parsed(&[("PROMPT.md", b"# \xff\n")]));
    assert!(is_parsed(&[("PROMPT.md", b"# ?\n")]));
    fs::remove_file(root.path.join("prd.json")).unwrap();
    assert!(is_parsed(&[]), "one document less");
}

#[track_caller]
fn check(files: &[&str], expect: &[&str]) {
    let root = Root::with(files);
    assert_eq!(root.shown(&root.found()), expect);
}

#[test]
fn task_documents_are_found_by_name_the_most_specific_first() {
    check(&[], &[]);
    check(&["README.md", "prompt.md", "docs/prompt.md", ".ralph.md"], &[]);
    check(
        &[
            "PROMPT_build.md",
            "scripts/ralph/prompt.md",
            "RALPH_TASK.md",
            "fix.ralph.md",
            "RALPH.md",
            ".ralph/PROMPT.md",
            "packages/a/PROMPT.md",
            "PROMPT.md",
        ],
        &[
            "PROMPT.md",
            "packages/a/PROMPT.md",
            ".ralph/PROMPT.md",
            "RALPH.md",
            "fix.ralph.md",
            "RALPH_TASK.md",
            "scripts/ralph/prompt.md",
            "PROMPT_build.md",
        ],
    );
}

#[test]
fn plans_belong_to_the_tasks_of_their_folder() {
    check(
        &[".ralph/PROMPT.md", ".ralph/fix_plan.md", "docs/IMPLEMENTATION_PLAN.md"],
        &[".ralph/PROMPT.md: .ralph/fix_plan.md"],
    );
    check(
        &["PROMPT.md", "a.ralph.md", "fix_plan.md", "prd.json", "@fix_plan.md"],
        &["PROMPT.md: prd.json @fix_plan.md fix_plan.md", "a.ralph.md: prd.json @fix_plan.md fix_plan.md"],
    );
    check(&["scripts/ralph/prompt.md", "prd.json"], &["scripts/ralph/prompt.md"]);
}

#[test]
fn plans_alone_are_tasks() {
    check(&["prd.json"], &["prd.json"]);
    check(
        &["a/fix_plan.md", "prd.json", "IMPLEMENTATION_PLAN.md"],
        &["prd.json: IMPLEMENTATION_PLAN.md", "a/fix_plan.md"],
    );
}

#[test]
fn ignored_files_are_left_out() {
    let root = Root::with(&[
        "PROMPT.md",
        "a/PROMPT.md",
        "b/PROMPT.md",
        "c/PROMPT.md",
        "c/d/PROMPT.md",
        "e/RALPH.md",
    ]);
    root.write(".gitignore", "/a/\n");
    root.write("c/.gitignore", "PROMPT.md\n!d/PROMPT.md\n");
    root.write(".git/info/exclude", "b\n");
    root.write(".git/HEAD", "ref: refs/heads/main\n");
    for built_in in
        [".git", "target", "node_modules", "x/__pycache__", ".venv", ".pytest_cache", ".mypy_cache"]
    {
        root.write(&format!("{built_in}/PROMPT.md"), "");
    }
    root.write("fixtures/PROMPT.md", "");
    root.write("x/fixtures/y/PROMPT.md", "");
    assert_eq!(root.shown(&root.found()), ["PROMPT.md", "c/d/PROMPT.md", "e/RALPH.md"]);
}

#[test]
fn folders_are_searched_to_depth_six() {
    check(&["1/2/3/4/5/PROMPT.md", "1/2/3/4/5/6/PROMPT.md"], &["1/2/3/4/5/PROMPT.md"]);
}

#[test]
fn links_to_folders_are_not_followed() {
    let root = Root::with(&["PROMPT.md"]);
    symlink(".", root.path.join("loop")).unwrap();
    symlink(&root.outside, root.path.join("out")).unwrap();
    fs::write(root.outside.join("PROMPT.md"), "# Outside\n").unwrap();
    fs::create_dir(root.path.join("RALPH.md")).unwrap();
    assert_eq!(root.shown(&root.found()), ["PROMPT.md"]);
}

#[test]
fn named_files_are_tasks_wherever_they_are() {
    let root = Root::with(&["PROMPT.md", "docs/todo.md", "docs/fix_plan.md", "target/x.md", "fixtures/a.md"]);
    let named =
        ["./docs/todo.md", "PROMPT.md", "target/x.md", "fixtures/a.md", "nowhere.md"].map(str::to_owned);
    let found = discover(&root.path, &[DEFAULT_EXCLUDE.to_owned()], &named).unwrap();
    assert_eq!(
        root.shown(&found),
        ["PROMPT.md", "docs/todo.md: docs/fix_plan.md", "target/x.md", "fixtures/a.md", "nowhere.md",]
    );
    assert!(matches!(load(&root.path, &found[4]), Err(TaskFileError::Read { .. })));
}

#[test]
fn a_bad_glob_and_a_missing_root_are_errors() {
    let root = Root::with(&[]);
    let error = discover(&root.path, &["[a".to_owned()], &[]).unwrap_err();
    assert!(error.to_string().starts_with("`[a` of `[tasks] exclude` is not a glob"), "{error}");
    let error = discover(&root.path.join("nowhere"), &[], &[]).unwrap_err();
    assert!(matches!(error, TaskFileError::Read { .. }));
}

#[test]
fn a_task_is_read_with_its_plans() {
    let root = Root::with(&[]);
    root.write("PROMPT.md", "# Title\n\n## Done when\n\n- A: `$ true`\n");
    root.write("fix_plan.md", "- [ ] one\n- [x] two\n");
    root.write("prd.json", r#"{"userStories": [{"id": "US-1", "title": "Story", "passes": false}]}"#);
    let loaded = load(&root.path, &root.found()[0]).unwrap();
    let paths: Vec<&str> = loaded.documents.iter().map(|document| document.path.as_str()).collect();
    assert_eq!(paths, ["PROMPT.md", "prd.json", "fix_plan.md"]);
    assert_eq!(loaded.task.title, "Title");
    assert_eq!(loaded.task.criteria.len(), 1);
    let plan: Vec<&str> = loaded.task.plan.iter().map(|item| item.title.as_str()).collect();
    assert_eq!(plan, ["Story", "one", "two"]);
    assert_eq!(loaded.task.findings, []);
}

#[test]
fn invalid_utf_8_keeps_positions_exact() {
    let root = Root::with(&[]);
    let bytes = b"# T\xe4sk \xff\xfe\n\n## Done when\n\n- Caf\xe9: `$ true`\n";
    root.write("PROMPT.md", bytes);
    let loaded = root.task("PROMPT.md").unwrap();
    let criterion = &loaded.task.criteria[0];
    assert_eq!(&bytes[criterion.place.range.clone()], b"Caf\xe9: `$ true`");
    let finding = &loaded.task.findings[0];
    assert_eq!(finding.code, FindingCode::Syntax);
    assert_eq!(finding.message, "PROMPT.md: byte 3 is not UTF-8. Save the file as UTF-8.");
    assert_eq!(finding.place, DocumentRange { file: "PROMPT.md".to_owned(), range: 3..4 });
    root.write("PROMPT.md", b"\xff\xfe#\0 \0T\0");
    let finding = &root.task("PROMPT.md").unwrap().task.findings[0];
    assert_eq!(finding.message, "PROMPT.md: UTF-16 text. Save the file as UTF-8.");
}

#[test]
fn special_and_oversized_files_are_refused() {
    let root = Root::with(&["in.md"]);
    let outside = root.outside.join("secret.md");
    fs::write(&outside, "# Secret\n").unwrap();
    let check = |expect: &str| {
        let error = root.task("PROMPT.md").unwrap_err();
        let path = root.path.join("PROMPT.md");
        assert_eq!(error.to_string(), expect.replace('%', &path.display().to_string()));
        assert!(error.hint().unwrap().ends_with('.'));
        fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)).unwrap_or_default();
    };
    check("cannot read %: No such file or directory (os error 2)");
    fs::create_dir(root.path.join("PROMPT.md")).unwrap();
    check("% is not a regular file");
    rustix::fs::mkfifoat(rustix::fs::CWD, root.path.join("PROMPT.md"), rustix::fs::Mode::RUSR).unwrap();
    check("% is not a regular file");
    symlink(&outside, root.path.join("PROMPT.md")).unwrap();
    check("% is a link that leaves the root");
    symlink("../outside/secret.md", root.path.join("PROMPT.md")).unwrap();
    check("% is a link that leaves the root");
    symlink("/dev/zero", root.path.join("PROMPT.md")).unwrap();
    check("% is a link that leaves the root");
    root.write("PROMPT.md", vec![b'a'; 4 * 1024 * 1024 + 1]);
    check("% is larger than 4 MiB");
    root.write("PROMPT.md", vec![b'a'; 4 * 1024 * 1024]);
    assert!(root.task("PROMPT.md").is_ok());
    fs::remove_file(root.path.join("PROMPT.md")).unwrap();
    // Inside the root a link is as good as a file, relative or absolute.
    symlink("in.md", root.path.join("PROMPT.md")).unwrap();
    assert_eq!(root.task("PROMPT.md").unwrap().task.title, "T");
    fs::remove_file(root.path.join("PROMPT.md")).unwrap();
    symlink(root.path.join("in.md"), root.path.join("PROMPT.md")).unwrap();
    assert_eq!(root.task("PROMPT.md").unwrap().task.title, "T");
}

/// A folder is repeatedly exchanged for a link to the outside while we read below it.
#[test]
fn a_link_put_in_while_reading_is_never_followed() {
    let root = Root::with(&["folder/PROMPT.md"]);
    fs::write(root.outside.join("PROMPT.md"), "# Secret\n").unwrap();
    let folder = root.path.join("folder");
    let link = root.path.join("link");
    symlink(&root.outside, &link).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let exchange = rustix::fs::RenameFlags::EXCHANGE;
                let _ = rustix::fs::renameat_with(rustix::fs::CWD, &folder, rustix::fs::CWD, &link, exchange);
            }
        });
        let mut refused = 0;
        let mut read = 0;
        for _ in 0..20_000 {
            match root.task("folder/PROMPT.md") {
                Ok(loaded) => {
                    assert_eq!(loaded.task.title, "T");
                    read += 1;
                }
                Err(_) => refused += 1,
            }
        }
        // Control: a plain open of the path is led outside, so the trap was set.
        let trapped = (0..1_000_000)
            .any(|_| fs::read(folder.join("PROMPT.md")).is_ok_and(|bytes| bytes.starts_with(b"# Secret")));
        done.store(true, Ordering::Relaxed);
        assert!(trapped && read > 0 && refused > 0, "{trapped} {read} {refused}");
    });
}

#[test]
fn missing_context_paths_are_reported() {
    let root = Root::with(&["src/a.rs", "docs/b.md"]);
    symlink(&root.outside, root.path.join("out")).unwrap();
    root.write(
        "PROMPT.md",
        "# T\n\nCONTEXT:\n\n- src/a.rs\n- `docs/b.md:12`\n- src/\n- src/**/*.rs\n- nowhere/**\n- src/c.rs\n- ../x.md\n\
         - /etc/passwd\n- out/x\n- out\n",
    );
    let loaded = root.task("PROMPT.md").unwrap();
    let messages: Vec<String> =
        missing_context(&root.path, &loaded.task).into_iter().map(|finding| finding.message).collect();
    assert_eq!(
        messages,
        [
            "nowhere/**: does not exist. Correct the path or remove it.",
            "src/c.rs: does not exist. Correct the path or remove it.",
            "../x.md: leaves the root. Name a path inside it.",
            "/etc/passwd: leaves the root. Name a path inside it.",
            "out/x: does not exist. Correct the path or remove it.",
            "out: is a link that leaves the root.",
        ]
    );
}

#[test]
fn other_work_trees_of_the_repository_hold_no_tasks_of_this_one() {
    let root = Root::with(&[
        "PROMPT.md",
        "trees/x/PROMPT.md",
        "trees/x/sub/PROMPT.md",
        "nested/PROMPT.md",
        ".git/HEAD",
        "nested/.git/HEAD",
    ]);
    root.write("trees/x/.git", format!("gitdir: {}\n", root.path.join(".git/worktrees/x").display()));
    assert_eq!(root.shown(&root.found()), ["PROMPT.md", "nested/PROMPT.md"]);
    // From inside, it is its own root.
    let found = discover(&root.path.join("trees/x"), &[], &[]).unwrap();
    let ids: Vec<&str> = found.iter().map(|it| it.id.0.as_str()).collect();
    assert_eq!(ids, ["PROMPT.md", "sub/PROMPT.md"]);
}

#[test]
fn files_of_common_names_are_tasks_only_by_their_text() {
    let check = |files: &[(&str, &str)], expect: &[&str]| {
        let root = Root::with(&[]);
        for (name, text) in files {
            root.write(name, text);
        }
        assert_eq!(root.shown(&root.found()), expect, "{files:?}");
    };
    let (boxes, notes, criteria) = ("- [ ] a\n", "- a\n", "# T\n\nDone when:\n\n- a\n");
    check(&[("README.md", boxes), ("CONTRIBUTING.md", boxes), ("notes/todo.md", boxes)], &[]);
    check(&[("TODO.md", notes), ("TASK.md", notes)], &[]);
    check(&[("TASK.md", boxes)], &[]);
    check(&[("TODO.md", boxes)], &["TODO.md"]);
    check(&[("TASK.md", criteria), ("TODO.md", boxes)], &["TASK.md"]);
    check(&[("TASK.md", &format!("{criteria}\nSee TODO.md.\n")), ("TODO.md", boxes)], &["TASK.md: TODO.md"]);
    check(&[("PROMPT.md", "Do TODO.md"), ("TODO.md", notes)], &["PROMPT.md"]);
    check(&[("specs/a/tasks.md", boxes)], &[]);
    check(
        &[("specs/a/tasks.md", boxes), ("specs/a/checklists/b.md", boxes), (".specify/c.md", "")],
        &["specs/a/tasks.md"],
    );
    check(&[("specs/a/tasks.md", notes), (".specify/c.md", boxes)], &[]);
    check(
        &[(".kiro/specs/a/tasks.md", boxes), (".kiro/specs/b/tasks.md", boxes)],
        &[".kiro/specs/a/tasks.md", ".kiro/specs/b/tasks.md"],
    );
    check(&[(".kiro/steering/tasks.md", boxes), ("tasks.md", boxes)], &[]);
}

#[test]
fn the_specification_beside_a_plan_is_its_context() {
    let check = |folder: &str, names: &[&str], expect: &[&str]| {
        let root = Root::with(&[".specify/a.md"]);
        root.write(&format!("{folder}/tasks.md"), "- [ ] a\n");
        let found = root.found().remove(0);
        let first = load(&root.path, &found).unwrap();
        assert!(first.task.context.is_empty());
        for it in names {
            root.write(&format!("{folder}/{it}"), "# S\n");
        }
        let read = |last: &LoadedTask| reload(&root.path, &found, last).unwrap();
        let second = read(&first);
        let paths: Vec<&str> = second.task.context.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(paths, expect);
        assert!(Arc::ptr_eq(&read(&second).task, &second.task), "nothing changed");
        assert!(missing_context(&root.path, &second.task).is_empty());
        fs::remove_file(root.path.join(expect[0])).unwrap();
        assert_eq!(read(&second).task.context.len(), expect.len() - 1);
    };
    check("specs/a", &["spec.md", "plan.md", "notes.md"], &["specs/a/spec.md", "specs/a/plan.md"]);
    check(
        ".kiro/specs/a",
        &["design.md", "requirements.md", "spec.md"],
        &[".kiro/specs/a/requirements.md", ".kiro/specs/a/design.md"],
    );
}

#[test]
fn gates_belong_to_the_prompt_that_their_file_names() {
    let check = |config: &str, expect: &[&str]| {
        let root = Root::with(&["docs/PROMPT.md", "other/PROMPT.md", ".ralph/agent/tasks.jsonl"]);
        root.write("ralph.yml", config);
        assert_eq!(root.shown(&root.found()), expect, "{config}");
    };
    let gates = "backpressure:\n  gates: [{name: t, command: make}]\n";
    let named = "docs/PROMPT.md: .ralph/agent/tasks.jsonl ralph.yml";
    check(&format!("event_loop:\n  prompt_file: ./docs/PROMPT.md\n{gates}"), &[named, "other/PROMPT.md"]);
    check(&format!("prompt_file: docs/PROMPT.md\n{gates}"), &[named, "other/PROMPT.md"]);
    check(gates, &["docs/PROMPT.md", "other/PROMPT.md"]);
}
