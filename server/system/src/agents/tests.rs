use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use loopkeeper_agent::kind::Dialect;
use loopkeeper_agent::{PermissionMode, PromptBy};
use loopkeeper_core::settings::{AgentSettings, CommitPolicy};
use loopkeeper_task::criterion::{Check, Criterion};
use loopkeeper_text::language::Language;
use loopkeeper_text::message::HintedError as _;

use super::{AgentError, AgentQuery, find_program, plan_agent};

/// A work tree and a folder of programs next to it.
struct World {
    _folder: tempfile::TempDir,
    root: PathBuf,
    bin: PathBuf,
}

fn make_world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let (root, bin) = (real.join("tree"), real.join("bin"));
    fs::create_dir_all(&root).unwrap();
    fs::create_dir_all(&bin).unwrap();
    World { _folder: folder, root, bin }
}

fn program(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn agent(name: &str, command: &[&str]) -> AgentSettings {
    AgentSettings {
        name: name.to_owned(),
        command: command.iter().map(ToString::to_string).collect(),
        prompt: PromptBy::Stdin,
        output: Dialect::Text,
        permissions: PermissionMode::Edits,
        model: None,
        effort: None,
        args: Vec::new(),
        env: Vec::new(),
    }
}

fn path_of(folders: &[&Path]) -> OsString {
    std::env::join_paths(folders).unwrap()
}

fn planned(world: &World, wanted: &str, agents: &[AgentSettings]) -> Result<Vec<String>, AgentError> {
    planned_as(world, wanted, agents, User { is_root: false, env_set: &[] })
}

/// The user who starts the agent, and the value of `[env] set`.
#[derive(Clone, Copy)]
struct User<'a> {
    is_root: bool,
    env_set: &'a [(String, String)],
}

fn planned_as(
    world: &World,
    agent: &str,
    agents: &[AgentSettings],
    user: User<'_>,
) -> Result<Vec<String>, AgentError> {
    let path = path_of(&[&world.root.join("bin"), &world.bin]);
    let User { is_root, env_set } = user;
    let wanted = AgentQuery {
        agent,
        agents,
        root: &world.root,
        criteria: &[],
        path: &path,
        is_root,
        env_set,
        committer: CommitPolicy::Agent,
    };
    plan_agent(&wanted).map(|it| it.argv)
}

#[test]
fn programs_inside_the_work_tree_are_never_found() {
    let world = make_world();
    program(&world.root.join("claude"));
    program(&world.root.join("node_modules/.bin/claude"));
    symlink(world.root.join("node_modules/.bin"), world.bin.join("sneaky")).unwrap();
    let inside = path_of(&[
        Path::new(""),
        Path::new("."),
        Path::new("node_modules/.bin"),
        &world.root,
        &world.root.join("node_modules/.bin"),
        &world.bin.join("sneaky"),
        &world.bin,
    ]);
    assert_eq!(find_program("claude", &inside, &world.root), None);
    // The same search finds a program outside.
    program(&world.bin.join("claude"));
    assert_eq!(find_program("claude", &inside, &world.root), Some(world.bin.join("claude")));
}

#[test]
fn folders_and_files_without_permission_are_not_programs() {
    let world = make_world();
    fs::create_dir(world.bin.join("claude")).unwrap();
    fs::write(world.bin.join("other"), "").unwrap();
    let path = path_of(&[&world.bin]);
    assert_eq!(find_program("claude", &path, &world.root), None);
    assert_eq!(find_program("other", &path, &world.root), None);
}

#[test]
fn auto_selects_the_first_installed_agent() {
    let world = make_world();
    let agents = ["claude", "codex", "gemini", "opencode", "demo"].map(|it| agent(it, &[]));
    let error = planned(&world, "auto", &agents).unwrap_err();
    assert!(matches!(error, AgentError::NoneFound), "{error}");
    assert!(error.to_string().contains("`claude`, `codex`, `opencode`, `gemini`"), "{error}");
    assert!(error.hint().unwrap().contains("install Claude Code"), "{}", error.hint().unwrap());
    for (name, first) in [("gemini", "-o"), ("opencode", "run"), ("codex", "exec"), ("claude", "-p")] {
        program(&world.bin.join(name));
        let argv = planned(&world, "auto", &agents).unwrap();
        assert_eq!(argv[..2], [world.bin.join(name).to_str().unwrap(), first]);
    }
}

#[test]
fn agents_that_refuse_root_are_reported_before_the_start() {
    let world = make_world();
    program(&world.bin.join("claude"));
    program(&world.bin.join("codex"));
    let all = |name: &str| AgentSettings { permissions: PermissionMode::All, ..agent(name, &[]) };
    let sandbox = [("IS_SANDBOX".to_owned(), "1".to_owned())];
    let check = |name: &str, is_root: bool, env_set: &[(String, String)], refused: bool| {
        let planned = planned_as(&world, name, &[all(name)], User { is_root, env_set });
        assert_eq!(matches!(planned, Err(AgentError::Root { .. })), refused, "{name}: {planned:?}");
    };
    check("claude", true, &[], true);
    check("claude", true, &sandbox, false);
    check("claude", false, &[], false);
    check("codex", true, &[], false);
    let error =
        planned_as(&world, "claude", &[all("claude")], User { is_root: true, env_set: &[] }).unwrap_err();
    assert!(error.hint().unwrap().contains("permissions = \"edits\""), "{}", error.hint().unwrap());
}

/// One of the known agents with these `args`.
fn with_args(
    world: &World,
    name: &str,
    permissions: PermissionMode,
    args: &[&str],
) -> Result<Vec<String>, AgentError> {
    program(&world.bin.join(name));
    let args = args.iter().map(ToString::to_string).collect();
    planned(world, name, &[AgentSettings { permissions, args, ..agent(name, &[]) }])
}

#[test]
fn arguments_that_bypass_permissions_are_refused() {
    use PermissionMode::{All, Edits, ReadOnly};
    let world = make_world();
    let skip = "--dangerously-skip-permissions";
    for (name, word) in [("claude", skip), ("codex", "--yolo"), ("gemini", "-y"), ("opencode", "--auto")] {
        let error = with_args(&world, name, Edits, &["--verbose", word]).unwrap_err();
        let expect = format!(
            "with `{word}` the agent `{name}` runs every tool without asking, but `permissions` is `\"edits\"`"
        );
        assert_eq!(error.to_string(), expect);
        assert!(
            error.hint().unwrap().contains("`permissions = \"all\"` there has the same effect"),
            "{}",
            error.hint().unwrap()
        );
        let error = with_args(&world, name, ReadOnly, &[word]).unwrap_err();
        assert!(error.to_string().ends_with("a judge may only read"), "{error}");
        assert!(with_args(&world, name, All, &[word]).is_ok());
    }
    assert!(with_args(&world, "claude", Edits, &["--permission-mode", "plan"]).is_ok());
    let in_front = AgentSettings { command: vec!["claude".into(), skip.into()], ..agent("claude", &[]) };
    assert!(matches!(planned(&world, "claude", &[in_front]), Err(AgentError::Bypass { .. })));
    assert!(with_args(&world, "amp", Edits, &["--dangerously-allow-all"]).is_ok());
    // Nothing is known about a user's own command; trust shows it.
    let mine = agent("mine", &["claude", skip]);
    assert!(planned(&world, "mine", &[mine]).is_ok());
}

#[test]
fn user_settings_are_merged_with_the_permissions() {
    let world = make_world();
    fs::write(world.root.join("Cargo.toml"), "").unwrap();
    fs::write(world.root.join("mine.json"), r#"{"permissions":{"deny":["Read(.env)"]}}"#).unwrap();
    fs::write(world.root.join("list.json"), "[]").unwrap();
    fs::write(world.root.join("long.json"), format!("{{\"a\":\"{}\"}}", "x".repeat(70_000))).unwrap();
    let plan = |args: &[&str]| with_args(&world, "claude", PermissionMode::Edits, args);
    for args in [&["--settings", "mine.json", "-x"][..], &["-x", "--settings=mine.json"]] {
        let argv = plan(args).unwrap();
        let settings: Vec<&String> =
            argv.iter().filter(|it| it.starts_with('{') && it.contains("allow")).collect();
        assert_eq!(argv.iter().filter(|it| it.starts_with("--settings")).count(), 1, "{argv:?}");
        assert!(settings[0].contains("Bash(cargo test)") && settings[0].contains("Read(.env)"), "{argv:?}");
        assert_eq!(argv.last().map(String::as_str), Some("-x"));
    }
    for (args, why) in [
        ("none.json", "`--settings none.json` cannot be read: there is no such file"),
        ("list.json", "`--settings list.json` contains no JSON object"),
        ("long.json", "`--settings long.json` is larger than"),
        (".", "`--settings .` cannot be read: "),
        (r#"{"permissions":[]}"#, "`--settings {…}` has no list `permissions.allow`"),
    ] {
        let error = plan(&["--settings", args]).unwrap_err();
        assert!(error.to_string().starts_with(why), "{error}");
        assert!(
            error.hint().unwrap().starts_with("correct `args` under `[agents.claude]`"),
            "{}",
            error.hint().unwrap()
        );
    }
}

#[test]
fn agents_without_edits_in_safe_mode_are_reported() {
    let world = make_world();
    program(&world.bin.join("cursor-agent"));
    let error = planned(&world, "cursor", &[agent("cursor", &[])]).unwrap_err();
    assert!(
        matches!(error, AgentError::NoSafeMode { .. }) && error.hint().unwrap().contains("sandboxed-all"),
        "{error}"
    );
    let all = AgentSettings { permissions: PermissionMode::All, ..agent("cursor", &[]) };
    assert!(planned(&world, "cursor", &[all]).unwrap().contains(&"--force".to_owned()));
}

#[test]
fn the_plan_contains_options_without_an_argument() {
    let world = make_world();
    program(&world.bin.join("opencode"));
    let path = path_of(&[&world.bin]);
    let agents = [AgentSettings { env: vec![("A".into(), "1".into())], ..agent("opencode", &[]) }];
    let wanted = AgentQuery {
        agent: "opencode",
        agents: &agents,
        root: &world.root,
        criteria: &[],
        path: &path,
        is_root: true,
        env_set: &[],
        committer: CommitPolicy::Agent,
    };
    let plan = plan_agent(&wanted).unwrap();
    assert_eq!(plan.dialect, Dialect::Opencode);
    let names: Vec<&str> = plan.env.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["OPENCODE_PERMISSION", "A"]);
}

#[test]
fn a_configured_command_receives_the_prompt_as_configured() {
    let world = make_world();
    program(&world.root.join("agent.sh"));
    program(&world.bin.join("mine"));
    let root = world.root.to_str().unwrap();
    let bin = world.bin.to_str().unwrap();
    let by = |prompt, command: &[&str]| AgentSettings { prompt, ..agent("mine", command) };
    for (agent, expect) in [
        (by(PromptBy::Stdin, &["./agent.sh", "-x"]), vec![format!("{root}/agent.sh"), "-x".into()]),
        (by(PromptBy::Argument, &["mine"]), vec![format!("{bin}/mine"), "{prompt}".into()]),
        (
            by(PromptBy::Argument, &["mine", "--do={prompt}"]),
            vec![format!("{bin}/mine"), "--do={prompt}".into()],
        ),
        (by(PromptBy::File, &["mine"]), vec![format!("{bin}/mine"), "{prompt_file}".into()]),
    ] {
        assert_eq!(planned(&world, "mine", std::slice::from_ref(&agent)).unwrap(), expect);
    }
}

#[test]
fn an_agent_that_cannot_start_has_a_remedy() {
    let world = make_world();
    fs::write(world.root.join("plain.sh"), "").unwrap();
    fs::write(world.root.join("bare.sh"), "cat\n").unwrap();
    fs::set_permissions(world.root.join("bare.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    for (agents, expect, remedy) in [
        (agent("mine", &["gone"]), "no program `gone` on PATH", "full path"),
        (agent("mine", &["./plain.sh"]), "/tree/plain.sh is not executable", "chmod +x"),
        (agent("mine", &["./gone.sh"]), "/tree/gone.sh does not exist", "the path given as the agent"),
        (agent("mine", &["./bare.sh"]), "/tree/bare.sh names no interpreter", "`#!/bin/sh`"),
        (agent("mine", &["./"]), "/tree is not a file", "correct the path"),
        (agent("mine", &[]), "has no command", "add `command"),
        (agent("other", &[]), "there is no agent `mine`", "name of `[agents]`"),
    ] {
        let error = planned(&world, "mine", &[agents]).unwrap_err();
        assert!(error.to_string().contains(expect), "{error}");
        assert!(error.hint().unwrap().contains(remedy), "{}", error.hint().unwrap());
    }
}

#[test]
fn the_agent_may_run_the_checks_and_the_test_runner() {
    let world = make_world();
    program(&world.bin.join("claude"));
    fs::write(world.root.join("Cargo.toml"), "").unwrap();
    let criterion =
        Criterion::new("a", "a", Some(Check::Command { command: "sh check.sh".into(), expect: Vec::new() }));
    let path = path_of(&[&world.bin]);
    let agents = [agent("claude", &[])];
    let wanted = AgentQuery {
        agent: "claude",
        agents: &agents,
        root: &world.root,
        criteria: &[criterion],
        path: &path,
        is_root: false,
        env_set: &[],
        committer: CommitPolicy::Agent,
    };
    let plan = plan_agent(&wanted).unwrap();
    assert_eq!((plan.prompt, plan.dialect), (PromptBy::Stdin, Dialect::Claude));
    let settings = plan.argv.last().unwrap();
    assert_eq!(
        settings,
        r#"{"permissions":{"allow":["Bash(cargo test *)","Bash(cargo test)","Bash(sh check.sh)"]}}"#
    );
}

#[test]
fn an_error_is_in_the_language_of_the_user() {
    let error = AgentError::Missing { agent: "mine".to_owned(), program: "mine".to_owned() };
    Language::SimplifiedChinese.during(|| {
        assert_eq!(error.to_string(), "代理 `mine` 无法启动：PATH 中没有程序 `mine`");
        assert_eq!(
            error.hint().as_deref(),
            Some("请在 `[agents.mine]` 下以 `command` 给出完整路径；不会在工作树中搜索。")
        );
    });
}
