//! Commands in a terminal that lacks something: its folder, its files, its time zone.

use std::fs;

use rustix::fs::{CWD, Mode, mkfifoat};

use crate::cli::{Ran, Terminal};
use crate::cli_refusals::run_limited;
use crate::cli_run::project;

const TASK: &str = "# T\n\nDone when:\n\n- It exists: `exists a.txt`\n";

/// Runs the command with one more variable and a time limit.
fn run_with(terminal: &Terminal, (name, value): (&str, &str), args: &[&str]) -> Ran {
    let mut command = terminal.command_within(&["timeout", "20"], args);
    Ran::of(&command.env(name, value).output().expect("timeout"))
}

#[test]
fn a_deleted_folder_is_named_as_such() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", TASK);
    for args in [&["check"][..], &["run"], &["trust"], &["init"], &["doctor"], &["import", "-"]] {
        let gone = terminal.folder().join("gone");
        fs::create_dir(&gone).unwrap();
        let removes = ["sh", "-c", "rmdir \"$PWD\" && exec \"$@\"", "sh"];
        let ran = Ran::of(&terminal.command_within(&removes, args).current_dir(&gone).output().unwrap());
        ran.expect(2)
            .err("error: the current folder no longer exists")
            .err("Hint: Change to a folder that exists");
    }
}

#[test]
fn a_time_zone_opens_no_pipe_of_the_workspace() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", TASK);
    fs::create_dir(terminal.root().join("Mars")).unwrap();
    mkfifoat(CWD, terminal.root().join("Mars/Olympus"), Mode::RUSR | Mode::WUSR).unwrap();
    for zone in ["Mars/Olympus", ":Mars/Olympus", "./zoneinfo/../Mars/Olympus", ":/dev/zero"] {
        run_with(&terminal, ("TZ", zone), &["status"]).expect(0).out("PROMPT.md");
    }
}

#[test]
fn a_check_without_descriptors_names_their_limit() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", TASK);
    let (mut refused, mut checked) = (0, 0);
    // The number that a check needs differs between systems.
    for limit in 8..=32 {
        let ran = run_limited(&terminal, &format!("--nofile={limit}"), &["check", "--trust"]);
        if ran.expect(1).stdout.contains("a.txt does not exist") {
            checked += 1;
        } else {
            ran.err("Too many open files").err("ulimit -n");
            refused += 1;
        }
    }
    assert!(refused > 0 && checked > 0, "{refused} refused, {checked} checked");
}

#[test]
fn a_question_without_an_answer_ends_its_line() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", "# T\n\nDone when:\n\n- It works: `$ true`\n");
    terminal.run(&["trust"]).expect(5).err("[y/N] \nerror: ");
}

#[test]
fn a_command_that_no_system_starts_is_refused_where_it_is_written() {
    let terminal = Terminal::new();
    let check = |length: usize| {
        let command = format!("true {}", "x".repeat(length - "true ".len()));
        terminal.file("PROMPT.md", &format!("# T\n\nDone when:\n\n- It works: `$ {command}`\n"));
        terminal.run(&["check", "--trust"])
    };
    check(128 * 1024 - 1).expect(0);
    check(128 * 1024).expect(2).err("PROMPT.md:5: ").err("a command of more than 128 KiB cannot be started");
}

#[test]
fn a_limit_of_file_sizes_is_named() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", TASK);
    terminal.file("loopkeeper.toml", "agent = \"mine\"\n[agents.mine]\ncommand = [\"/bin/true\"]\n");
    for args in [&["check", "--trust"][..], &["run", "--trust"], &["run", "--trust", "--detach"]] {
        let ran = run_limited(&terminal, "--fsize=4096", args);
        ran.expect(1).err("File too large").err("ulimit -f");
    }
    assert_eq!(terminal.run(&["status"]).expect(0).stderr, "", "something is left of the loops");
}

/// Its journal reaches the limit: each message of the agent is in a record.
#[test]
fn a_loop_that_reaches_a_limit_of_file_sizes_is_interrupted_and_resumed() {
    let terminal = project(TASK, "date +%s%N > x; head -c 300000 /dev/zero | tr '\\0' x");
    let ran = run_limited(&terminal, "--fsize=70000", &["run", "--trust", "--max-iterations", "90"]);
    ran.expect(1).out("checks before iteration 1").err("File too large").err("ulimit -f");
    terminal.run(&["status"]).expect(0).out("interrupted in iteration ");
    terminal.file("agent.sh", "touch a.txt").run(&["resume"]).expect(0).out("continues");
    terminal.run(&["watch"]).expect(0).out("Completed, verified");
}

#[test]
fn too_little_memory_is_named_before_an_allocation_fails() {
    let terminal = Terminal::new();
    let settings = "agent = \"mine\"\n[agents.mine]\ncommand = [\"true\"]\n[limits]\niterations = 1\n";
    terminal.file("PROMPT.md", TASK).file("loopkeeper.toml", settings);
    let commands =
        [&["status"][..], &["check", "--trust"], &["run", "--trust"], &["--stdio"], &["keeper", "."]];
    // Far below, the system cannot load the program, which then prints nothing itself.
    for mib in (0..256).step_by(32) {
        for args in commands {
            let ran = run_limited(&terminal, &format!("--as={}", mib << 20), args);
            let is_loaded = !matches!(ran.code, None | Some(127));
            assert!(is_loaded || mib < 128, "{args:?} with {mib} MiB: {ran:?}");
            if is_loaded {
                ran.expect(1).err(&format!("memory is limited to {mib} MiB")).err("ulimit -v");
            }
        }
    }
    // The control: the lowest limit that is accepted is enough, for a document of the largest size too.
    let limited = |args: &[&str]| run_limited(&terminal, "--as=268435456", args);
    limited(&["status"]).expect(0);
    limited(&["check", "--trust"]).expect(1).out("fail");
    limited(&["run", "--trust"]).expect(4);
    terminal.file("PROMPT.md", &format!("{TASK}{}", "- item of a list\n".repeat(60_000)));
    for (args, code) in [(&["status"][..], 0), (&["check", "--trust"], 1), (&["doctor"], 0)] {
        limited(args).expect(code);
    }
}

#[test]
fn a_small_stack_is_named_before_it_overflows() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", TASK);
    let commands = [&["--version"][..], &["--help"], &["status"], &["check"], &["doctor"], &["--stdio"]];
    for (limit, kib) in [("--stack=65536", "64"), ("--stack=1048575", "1023")] {
        for args in commands {
            let ran = run_limited(&terminal, limit, args);
            ran.expect(1).err(&format!("limited to {kib} KiB")).err("ulimit -s");
        }
    }
    // The control: the lowest limit that is accepted is enough, for a deep list too.
    let deep: Vec<String> = (0..1_000).map(|it| format!("{}- [ ] item {it}", "  ".repeat(it))).collect();
    terminal.file("PROMPT.md", &format!("{TASK}\n{}\n", deep.join("\n"))).file("a.txt", "");
    for (args, code) in [(&["status"][..], 0), (&["check", "--trust"], 1), (&["doctor"], 1)] {
        run_limited(&terminal, "--stack=1048576", args).expect(code);
    }
}
