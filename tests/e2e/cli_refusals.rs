//! Refusals before anything runs, with exit code and message.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::cli::{Ran, Terminal};

const TASK: &str = "# Mend it\n\n## Done when\n\n- Tests pass: `$ touch ran-check`\n";
const AGENT: &str = "agent = \"mine\"\n[agents.mine]\ncommand = [\"/bin/sh\", \"-c\", \"touch ran-agent\"]\n";

/// Runs the command with a limit of `prlimit`.
pub(crate) fn run_limited(terminal: &Terminal, limit: &str, args: &[&str]) -> Ran {
    Ran::of(&terminal.command_within(&["prlimit", limit], args).output().expect("prlimit"))
}

#[test]
fn a_loop_that_cannot_open_enough_files_is_not_started() {
    let terminal = Terminal::new();
    let task = "# T\n\n## Done when\n\n- It ran: `$ test -f ran-agent`\n";
    terminal.file("PROMPT.md", task).file("loopkeeper.toml", AGENT);
    for args in [&["run", "--trust"][..], &["run", "--trust", "--detach"]] {
        run_limited(&terminal, "--nofile=23", args).expect(1).err("Only 23 files").err("ulimit -n");
    }
    let loops = terminal.run(&["status", "--json"]).stdout;
    let loops: Value = serde_json::from_str(&loops).unwrap();
    assert_eq!(loops["loops"], serde_json::json!([]));
    assert!(!terminal.root().join("ran-agent").exists());
    // The control: the lowest limit that is accepted is enough.
    run_limited(&terminal, "--nofile=32", &["run", "--trust"]).expect(0);
    assert!(terminal.root().join("ran-agent").exists());
}

#[test]
fn a_run_without_a_clear_task_exits_2() {
    let check = |files: &[(&str, &str)], args: &[&str], words: &[&str]| {
        let terminal = Terminal::new();
        for (path, text) in files {
            terminal.file(path, text);
        }
        let ran = terminal.run(args);
        ran.expect(2).err("error: ").err("Hint: ");
        for word in words {
            ran.err(word);
        }
    };
    check(&[], &["run"], &["there is no task in", "`loopkeeper init`"]);
    check(
        &[("tasks/prd-shop.md", "# Shop\n\nSell.\n")],
        &["run"],
        &["there is no task in", "`loopkeeper import tasks/prd-shop.md`"],
    );
    check(
        &[("a/PROMPT.md", TASK), ("b/RALPH.md", TASK)],
        &["run"],
        &["several tasks", "a/PROMPT.md", "b/RALPH.md"],
    );
    check(&[("PROMPT.md", TASK)], &["run", "OTHER.md"], &["there is no task OTHER.md"]);
    check(&[], &["run", "--prompt", "  "], &["the prompt is empty"]);
    check(&[("PROMPT.md", TASK)], &["run", "--agent", "nobody"], &["--agent: ", "nobody"]);
    check(&[("PROMPT.md", TASK)], &["run", "--max-iterations", "0"], &["--max-iterations: ", "unlimited"]);
    check(&[("PROMPT.md", TASK)], &["run", "--max-duration", "soon"], &["--max-duration: "]);
}

#[test]
fn unrunnable_checks_are_named_with_their_line() {
    let check = |path: &str, text: &str, words: &[&str]| {
        let terminal = Terminal::new();
        terminal.file("PROMPT.md", TASK).file("loopkeeper.toml", AGENT).file(path, text);
        let ran = terminal.run(&["run", "--trust"]);
        ran.expect(2);
        for word in words {
            ran.err(word);
        }
        assert!(!terminal.root().join("ran-check").exists());
    };
    check("PROMPT.md", &format!("{TASK}- Lint: `$ `\n"), &["PROMPT.md:6: "]);
    check("PROMPT.md", &format!("{TASK}- A: `$ `\n- B: `has x`\n"), &["PROMPT.md:6: ", "PROMPT.md:7: "]);
    check("PROMPT.md", "", &["PROMPT.md:1: ", "Hint: Correct the file: "]);
    check("prd.json", "{\n\"userStories\": [ {", &["prd.json:", "Hint: Correct the file: "]);
    check("loopkeeper.toml", "\nagnet = 1\n", &["loopkeeper.toml:2: ", "Hint: Did you mean `agent`?\n"]);
    check("loopkeeper.toml", "[spawns]\nbudget = 0\n", &["loopkeeper.toml:2: ", "from 1"]);
    check("loopkeeper.toml", "a = 1\nb = 2\n", &["loopkeeper.toml:1: ", "loopkeeper.toml:2: "]);
}

#[test]
fn a_template_that_cannot_be_filled_in_keeps_a_loop_from_starting() {
    let check = |template: Option<&str>, words: &[&str]| {
        let terminal = Terminal::new();
        let settings = format!("prompt.template = \"told.md\"\n{AGENT}");
        terminal.file("PROMPT.md", TASK).file("loopkeeper.toml", &settings);
        if let Some(text) = template {
            terminal.file("told.md", text);
        }
        let ran = terminal.run(&["run", "--trust"]);
        ran.expect(2).err("loopkeeper.toml:1: `prompt.template`: ");
        for word in words {
            ran.err(word);
        }
        assert!(!terminal.root().join("ran-agent").exists());
    };
    check(None, &["there is no file told.md\n", "Hint: Write the template"]);
    check(
        Some("{task}\n{failng}"),
        &["told.md:2: `{failng}` is not part", "Hint: Did you mean `{failing}`?\n"],
    );
    check(Some("{{task}}"), &["told.md:1: ", "Hint: Did you mean `{task}`?\n"]);
    check(Some("{failing}"), &["told.md:1: there is no `{task}`"]);
}

#[test]
fn untrusted_commands_do_not_run() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", TASK).file("loopkeeper.toml", AGENT);
    for args in [&["run"][..], &["check"], &["run", "--detach"], &["run", "--json"]] {
        terminal.run(args).expect(5).err("not trusted: nothing was started").err("`run --trust`");
    }
    assert!(!terminal.root().join("ran-check").exists());
    assert!(!terminal.root().join("ran-agent").exists());
    terminal.run(&["status", "--json"]).expect(0).out("{\"loops\":[],");
}

#[test]
fn limits_that_a_pulled_file_raises_need_trust() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", TASK).file("loopkeeper.toml", AGENT);
    answered(&terminal, "y\n").expect(0);
    let raised = format!("limits.cost_usd = 100000\ncriteria.protected = []\n{AGENT}");
    terminal.file("loopkeeper.toml", &raised);
    terminal.run(&["run"]).expect(5).err("2 commands of PROMPT.md are not trusted: nothing was started");
    let page = answered(&terminal, "no\n");
    page.expect(5).out("limit       raised or loosened by this workspace");
    page.out("limits.cost_usd = 100000, else 25.0").out("not protected: tests/**");
    assert!(!terminal.root().join("ran-agent").exists());
    // A check costs nothing of that.
    terminal.run(&["check"]).expect(0);
    // An option replaces the limit of the file, which then needs no trust; the glob still does.
    terminal.run(&["run", "--max-cost", "5"]).expect(5).err("1 command of PROMPT.md is not trusted");
    // Control: the same limits within the user's own bounds.
    terminal.user_file("max.cost_usd = 200000\ncriteria.protected = []\n");
    terminal.run(&["run"]).expect(0);
}

#[test]
fn the_users_maximum_is_stated_where_it_counts() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", TASK).file("loopkeeper.toml", &format!("limits.iterations = 90\n{AGENT}"));
    terminal.user_file("max.iterations = 7\n");
    let shown = terminal.run(&["run", "--dry-run"]);
    shown
        .expect(0)
        .err("note: loopkeeper.toml:1: `limits.iterations = 90` is above your `max.iterations = 7`");
    shown.out("limits.iterations").out("7");
    terminal.file("loopkeeper.toml", &format!("max.iterations = 90\n{AGENT}"));
    terminal.run(&["run"]).expect(2).err("`max.iterations` counts only in your own configuration");
}

#[test]
fn trust_shows_everything_and_needs_a_clear_yes() {
    let terminal = Terminal::new();
    let hostile = "# Mend it\n\n## Done when\n\n- Tests pass: `$ true \u{202e}#\u{1b}[8m`\n";
    terminal.file("PROMPT.md", hostile).file("loopkeeper.toml", AGENT);
    let shown = answered(&terminal, "no\n");
    shown
        .expect(5)
        .out("Commands that \"Mend it\" would run in ")
        .out("2 commands, none of them trusted yet.");
    shown.out("PROMPT.md:5  \"Tests pass\"").out("touch ran-agent");
    assert!(!shown.stdout.contains(['\u{202e}', '\u{1b}']), "{:?}", shown.stdout);
    answered(&terminal, "").expect(5);
    answered(&terminal, "y\n").expect(0).out("Trusted 2 commands");
    answered(&terminal, "").expect(0).out("Everything is trusted");
    terminal.file("PROMPT.md", TASK);
    answered(&terminal, "").expect(5).err("1 command of PROMPT.md is not trusted");
}

#[test]
fn a_dry_run_says_what_would_run_and_starts_nothing() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", TASK).file("loopkeeper.toml", AGENT);
    let ran = terminal.run(&["run", "--dry-run", "--max-iterations", "3"]);
    ran.expect(0).out("PROMPT.md").out("Tests pass").out("touch ran-check").out("2 commands not trusted yet");
    let origin = |row: &str| {
        let line = ran.stdout.lines().find(|it| it.trim_start().starts_with(row)).unwrap_or_default();
        line.split_whitespace().last().unwrap_or_default().to_owned()
    };
    assert_eq!(origin("limits.iterations = 3"), "--max-iterations");
    assert_eq!(origin("agent = \"mine\""), "loopkeeper.toml:1");
    let places = ["\nSettings\n", "limits.iterations = 3", "\nDefaults\n", "limits.duration = \"8h\"\n"];
    let places = places.map(|it| ran.stdout.find(it).expect(it));
    assert!(places.is_sorted(), "{}", ran.stdout);
    assert!(!terminal.root().join("ran-check").exists());
    terminal.run(&["status", "--json"]).expect(0).out("{\"loops\":[],");
}

#[test]
fn a_dry_run_prints_its_plan_as_json() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", TASK).file("loopkeeper.toml", AGENT);
    let ran = terminal.run(&["run", "--dry-run", "--json", "--max-iterations", "3"]);
    assert_eq!(ran.expect(0).stdout.lines().count(), 1);
    let plan: Value = serde_json::from_str(&ran.stdout).unwrap();
    let text = |pointer: &str| plan.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    assert_eq!((text("/task"), text("/agent/name")), ("PROMPT.md", "mine"));
    assert_eq!(text("/root"), terminal.root().to_str().unwrap());
    assert!(text("/prompt").contains("Tests pass"), "{plan}");
    assert!(plan["agent"]["argv"].as_array().is_some_and(|it| !it.is_empty()), "{plan}");
    assert_eq!(plan["criteria"]["items"][0]["name"], "Tests pass");
    assert_eq!((&plan["limits"]["iterations"], &plan["notTrusted"]), (&3.into(), &2.into()));
    let commands = plan["commands"].as_array().unwrap();
    assert!(
        commands.iter().any(|it| it["lines"][0] == "touch ran-check" && it["trusted"] == false),
        "{plan}"
    );
    let row = |key: &str| plan["settings"].as_array().unwrap().iter().find(|it| it["key"] == key).unwrap();
    assert_eq!(row("limits.iterations")["origin"], "--max-iterations");
    assert_eq!(row("agent")["origin"], "loopkeeper.toml:1");
    assert_eq!((&plan["plan"], &plan["branch"]), (&Value::Null, &Value::Null));
    assert!(!terminal.root().join("ran-check").exists());
    terminal.run(&["status", "--json"]).expect(0).out("{\"loops\":[],");
}

#[test]
fn a_loop_that_is_not_there_is_named_in_the_answer() {
    let terminal = Terminal::new();
    for args in [
        &["stop"][..],
        &["pause"],
        &["resume"],
        &["reset", "breaker"],
        &["log"],
        &["watch"],
        &["diff", "latest", "1"],
        &["rollback", "latest", "0"],
        &["steer", "latest", "look"],
    ] {
        terminal.run(args).expect(2).err("there is no loop yet").err("`loopkeeper run` starts one");
    }
    terminal.run(&["status"]).expect(0).out("No loops");
    terminal.run(&["gc"]).expect(0);
}

/// Runs `trust` with this text on stdin.
fn answered(terminal: &Terminal, answer: &str) -> Ran {
    let mut child = terminal
        .command(&["trust"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may exit before it reads.
    let _ = child.stdin.take().unwrap().write_all(answer.as_bytes());
    Ran::of(&child.wait_with_output().unwrap())
}

#[test]
fn a_root_that_a_record_could_not_name_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let terminal = Terminal::new();
    let folder = terminal.root().join(std::ffi::OsStr::from_bytes(b"not \xff utf-8"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("PROMPT.md"), "# T\n\n## Done when\n\n- Never: `$ false`\n").unwrap();
    std::fs::write(folder.join("loopkeeper.toml"), "agent = \"demo\"\n").unwrap();
    for args in [&["run", "--trust"][..], &["check"], &["trust"], &["run", "--prompt", "x"]] {
        let ran = terminal.command(args).current_dir(&folder).output().unwrap();
        Ran::of(&ran).expect(2).err("is not UTF-8").err("Hint: Rename that folder");
    }
}
