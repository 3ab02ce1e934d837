use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use loopkeeper_agent::kind::Dialect;
use loopkeeper_agent::{PermissionMode, PromptBy};
use loopkeeper_core::journal::AgentPlan;
use loopkeeper_core::trust::{TrustContent, TrustItem, TrustSubject};
use loopkeeper_task::TaskId;
use tempfile::TempDir;

use super::agent_files::{AgentFileError, MAX_BYTES, MAX_FILES, find_agent_files};
use super::permit::{CheckOrigin, Permit, PermitError};
use super::{TrustError, TrustStore};
use crate::state_dir::StateDir;

const ROOT: &str = "/home/u/project";

fn state() -> (TempDir, StateDir) {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::at(&dir.path().join("state")).unwrap();
    (dir, state)
}

fn check(command: &str) -> TrustItem {
    TrustItem::new(TrustSubject::Check { command: command.to_owned() })
}

fn task(id: &str) -> TaskId {
    TaskId(id.to_owned())
}

/// The commands that the store on disk does not trust.
fn unknown(state: &StateDir, root: &str, commands: &[&str]) -> Vec<String> {
    let items: Vec<_> = commands.iter().map(|it| check(it)).collect();
    let unknown = TrustStore::open(state).untrusted_items(Path::new(root), &items);
    unknown
        .into_iter()
        .map(|it| match it.runs {
            TrustSubject::Check { command } => command,
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn only_the_same_bytes_in_the_same_root_are_trusted() {
    let (_dir, state) = state();
    assert_eq!(unknown(&state, ROOT, &["make"]), ["make"]);
    TrustStore::open(&state).grant(Path::new(ROOT), None, &[check("make")]).unwrap();
    assert_eq!(unknown(&state, ROOT, &["make", "make ", "make test"]), ["make ", "make test"]);
    assert_eq!(unknown(&state, "/home/u/other", &["make"]), ["make"]);
    assert_eq!(unknown(&state, "/home/u/project/sub", &["make"]), ["make"]);
    let settings = [TrustItem::new(TrustSubject::Settings { lines: vec!["make".to_owned()] })];
    assert_eq!(TrustStore::open(&state).untrusted_items(Path::new(ROOT), &settings), settings);
}

#[test]
fn a_permit_reads_the_current_grants() {
    let (_dir, state) = state();
    let root = Path::new(ROOT);
    let permit = Permit::new(&state, root, CheckOrigin::Written);
    let plan = AgentPlan {
        name: "mine".to_owned(),
        argv: vec!["./agent.sh".to_owned(), "{prompt}".to_owned()],
        prompt: PromptBy::Argument,
        dialect: Dialect::Text,
        permissions: PermissionMode::Edits,
        env: Vec::new(),
    };
    assert_eq!(permit.check("make"), Err(PermitError::Unknown));
    assert_eq!(permit.agent(&plan), Err(PermitError::Unknown));
    let mut store = TrustStore::open(&state);
    store.grant(root, None, &[check("make"), TrustItem::from_agent(&plan)]).unwrap();
    let argv = permit.check("make").unwrap().map(|it| ["sh".to_owned(), "-c".to_owned(), it]);
    assert_eq!(argv.value()[2], "make");
    assert_eq!(permit.agent(&plan).unwrap().value(), &plan);
    assert_eq!(permit.check("make all"), Err(PermitError::Unknown));
    let more = AgentPlan { permissions: PermissionMode::All, ..plan.clone() };
    assert_eq!(permit.agent(&more), Err(PermitError::Unknown));
    assert_eq!(
        Permit::new(&state, Path::new("/other"), CheckOrigin::Written).check("make"),
        Err(PermitError::Unknown)
    );

    // Typed checks are trusted because the user typed them; the agent is not.
    let typed = Permit::new(&state, Path::new("/other"), CheckOrigin::Typed);
    assert_eq!(typed.check("anything").unwrap().value(), "anything");
    assert_eq!(typed.agent(&plan), Err(PermitError::Unknown));

    store.revoke(root, None).unwrap();
    assert_eq!(permit.check("make"), Err(PermitError::Unknown));
    fs::write(state.trust().join("granted.jsonl"), "nonsense").unwrap();
    assert!(matches!(permit.check("make"), Err(PermitError::Unreadable(why)) if why.contains("damaged")));
}

#[test]
fn trust_is_revoked_by_task_or_root() {
    let (_dir, state) = state();
    let mut store = TrustStore::open(&state);
    let root = Path::new(ROOT);
    store.grant(root, Some(&task("A.md")), &[check("a"), check("both")]).unwrap();
    store.grant(root, Some(&task("B.md")), &[check("b"), check("both")]).unwrap();
    store.grant(Path::new("/other"), Some(&task("A.md")), &[check("a")]).unwrap();
    store.revoke(root, Some(&task("A.md"))).unwrap();
    assert_eq!(unknown(&state, ROOT, &["a", "b", "both"]), ["a", "both"]);
    assert!(unknown(&state, "/other", &["a"]).is_empty());
    store.revoke(root, None).unwrap();
    assert_eq!(unknown(&state, ROOT, &["b"]), ["b"]);
    assert!(unknown(&state, "/other", &["a"]).is_empty());
}

#[test]
fn concurrent_stores_lose_no_grant() {
    let (_dir, state) = state();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let state = &state;
            scope.spawn(move || {
                let mut store = TrustStore::open(state);
                for number in 0..5 {
                    store.grant(Path::new(ROOT), None, &[check(&format!("{thread} {number}"))]).unwrap();
                }
            });
        }
    });
    let all: Vec<_> = (0..8).flat_map(|it| (0..5).map(move |number| format!("{it} {number}"))).collect();
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    assert!(unknown(&state, ROOT, &all).is_empty());
}

/// Truncated or changed anywhere, the list never trusts anything new.
#[test]
fn a_damaged_list_trusts_nothing_and_is_reported() {
    let (_dir, state) = state();
    TrustStore::open(&state).grant(Path::new(ROOT), None, &[check("a"), check("b")]).unwrap();
    let path = state.trust().join("granted.jsonl");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let whole = fs::read(&path).unwrap();
    let mut harmed: Vec<Vec<u8>> = (0..whole.len()).map(|cut| whole[..cut].to_vec()).collect();
    harmed.extend((0..whole.len()).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    }));
    harmed.push([whole.clone(), whole.clone()].concat());
    for bytes in harmed {
        fs::write(&path, &bytes).unwrap();
        let store = TrustStore::open(&state);
        assert!(
            matches!(store.load_error(), Some(TrustError::Damaged { .. })),
            "{}",
            String::from_utf8_lossy(&bytes)
        );
        assert_eq!(unknown(&state, ROOT, &["a", "b"]), ["a", "b"]);
    }
}

#[test]
fn a_damaged_list_is_kept_aside_when_trust_is_granted_again() {
    let (_dir, state) = state();
    let path = state.trust().join("granted.jsonl");
    for number in 1..3 {
        fs::write(&path, "nonsense").unwrap();
        let mut store = TrustStore::open(&state);
        store.grant(Path::new(ROOT), None, &[check("new")]).unwrap();
        assert!(store.load_error().is_none());
        assert!(unknown(&state, ROOT, &["new"]).is_empty());
        let aside = path.with_extension(format!("damaged-{number}"));
        assert_eq!(fs::read_to_string(aside).unwrap(), "nonsense");
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let mut store = TrustStore::open(&state);
    assert!(matches!(store.load_error(), Some(TrustError::Io { action: "read", .. })));
    assert!(store.grant(Path::new(ROOT), None, &[check("new")]).is_err());
}

/// The findings, as `path content`.
fn found(root: &Path) -> Vec<String> {
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    let item = |it: TrustItem| match it.runs {
        TrustSubject::AgentFile { path, content: TrustContent::File(bytes) } => {
            format!("{} {}", text(&path), text(&bytes))
        }
        TrustSubject::AgentFile { path, content: TrustContent::Link(to) } => {
            format!("{} -> {}", text(&path), text(&to))
        }
        other => panic!("{other:?}"),
    };
    find_agent_files(root).unwrap().into_iter().map(item).collect()
}

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn files_that_agents_load_are_found() {
    let dir = tempfile::tempdir().unwrap();
    assert!(found(dir.path()).is_empty());
    for file in [
        ".mcp.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/CLAUDE.md",
        ".claude/other.json",
        ".codex/config.toml",
        ".codex/hooks/a/b.sh",
        ".gemini/settings.json",
        "src/.mcp.json",
        "settings.json",
    ] {
        write(dir.path(), file, "x");
    }
    let expect = [
        ".claude/settings.json x",
        ".claude/settings.local.json x",
        ".codex/config.toml x",
        ".codex/hooks/a/b.sh x",
        ".gemini/settings.json x",
        ".mcp.json x",
    ];
    assert_eq!(found(dir.path()), expect);
}

#[test]
fn links_are_followed_inside_the_root_only() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    write(outside.path(), "secret", "secret");
    let (root, elsewhere) = (dir.path(), outside.path().to_str().unwrap());
    write(root, "tools/claude/settings.json", "inside");
    write(root, ".codex/a", "a");
    symlink("tools/claude", root.join(".claude")).unwrap();
    symlink(outside.path().join("secret"), root.join(".mcp.json")).unwrap();
    symlink(outside.path(), root.join(".gemini")).unwrap();
    symlink("nowhere", root.join(".codex/b")).unwrap();
    symlink("../..", root.join(".codex/c")).unwrap();
    let expect = [
        ".claude/settings.json inside".to_owned(),
        ".codex/a a".to_owned(),
        ".codex/b -> nowhere".to_owned(),
        ".codex/c -> ../..".to_owned(),
        format!(".gemini -> {elsewhere}"),
        format!(".mcp.json -> {elsewhere}/secret"),
    ];
    assert_eq!(found(root), expect);

    fs::remove_file(root.join(".claude")).unwrap();
    symlink(outside.path(), root.join(".claude")).unwrap();
    write(outside.path(), "settings.json", "secret");
    assert!(found(root).contains(&format!(".claude -> {elsewhere}")), "{:?}", found(root));
}

#[test]
fn agent_files_too_large_to_read_are_refused() {
    let check = |make: fn(&Path), expect: fn(&AgentFileError) -> bool| {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path());
        let error = find_agent_files(dir.path()).unwrap_err();
        assert!(expect(&error), "{error}");
    };
    check(
        |root| write(root, ".mcp.json", &"x".repeat(MAX_BYTES as usize + 1)),
        |it| matches!(it, AgentFileError::TooBig { .. }),
    );
    check(
        |root| (0..=MAX_FILES).for_each(|it| write(root, &format!(".codex/{}/{it}", it % 2), "")),
        |it| matches!(it, AgentFileError::TooMany { .. }),
    );
    check(
        |root| {
            fs::create_dir(root.join(".gemini")).unwrap();
            rustix::fs::mknodat(
                rustix::fs::CWD,
                root.join(".gemini/fifo"),
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::RWXU,
                0,
            )
            .unwrap();
        },
        |it| matches!(it, AgentFileError::Special { .. }),
    );
    check(
        |root| {
            fs::create_dir(root.join(".codex")).unwrap();
            (0..10).for_each(|it| symlink(".", root.join(format!(".codex/{it}"))).unwrap());
        },
        |it| matches!(it, AgentFileError::TooMany { .. }),
    );
}
