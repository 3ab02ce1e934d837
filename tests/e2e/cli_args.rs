//! Refused command lines and their messages.

use std::io::Read;
use std::process::Stdio;

use crate::cli::Terminal;

#[test]
fn wrong_use_exits_2_with_an_error_and_a_hint() {
    let terminal = Terminal::new();
    let check = |args: &[&str], what: &str| {
        let ran = terminal.run(args);
        ran.expect(2).err("error: ").err("Hint: ").err(what);
        assert!(ran.stdout.is_empty(), "{args:?} wrote to stdout: {}", ran.stdout);
    };
    check(&["serve", "--log", "x"], "unexpected argument '--log'");
    check(&["import", "x"], "x cannot be imported: its format is not supported yet");
    check(&["doctor", "--cure"], "unexpected argument '--cure'");
    check(&["report", "--format", "pdf"], "invalid value 'pdf'");
    check(&["hook", "keep"], "unrecognized subcommand 'keep'");
    check(&["undo"], "Hint: The command is `loopkeeper rollback` here");
    check(&["stopp"], "a similar subcommand exists: 'stop'");
    check(&["stop", "--later"], "unexpected argument '--later'");
    check(&["stop", "--force"], "Hint: The flag is `--now` here");
    check(&["rollback", "latest", "0", "--yes"], "Hint: The flag is `--anyway` here");
    check(&["diff", "latest", "seven"], "invalid value 'seven'");
    check(&["diff", "latest", "0"], "not an iteration number: 1, 2, 3 …\n");
    check(&["diff", "latest", "-1"], "not an iteration number: 1, 2, 3 …\n");
    check(&["log", "--prompt", "first"], "not an iteration number: 1, 2, 3 …\n");
    check(&["rollback", "latest", "start"], "1, 2, 3 …, or 0 for the start\n");
    check(&["run", "--max-iterations", "-3"], "`limits.iterations` takes a whole number from 1");
    check(&["reset", "agent"], "possible values: breaker, session");
    check(&["run", "A.md", "--prompt", "x"], "cannot be used with");
    check(&["run", "--criterion", "x"], "--prompt <TEXT>");
    check(&["completions", "tcsh"], "invalid value 'tcsh'");
}

#[test]
fn help_and_version_exit_with_zero() {
    let terminal = Terminal::new();
    let help = terminal.run(&["--help"]);
    help.expect(0).out("Usage: loopkeeper").out("rollback");
    for hidden in ["keeper", "domain", "demo-agent"] {
        assert!(!help.stdout.contains(&format!("\n  {hidden} ")), "help lists {hidden}");
    }
    terminal.run(&["--version"]).expect(0).out("loopkeeper ");
    terminal.run(&["run", "--help"]).expect(0).out("--max-iterations <N>");
}

#[test]
fn completions_cover_the_commands_and_nothing_hidden() {
    let terminal = Terminal::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = terminal.run(&["completions", shell]);
        ran.expect(0).out("rollback").out("max-iterations");
        assert!(!ran.stdout.contains("demo-agent"), "{shell} completes hidden commands");
    }
}

#[test]
fn a_closed_stdout_is_not_an_error() {
    let terminal = Terminal::new();
    // The script is larger than a pipe's capacity, so the writer is still writing when the reader exits.
    let mut child = terminal
        .command(&["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let mut errors = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut errors).expect("text");
    assert_eq!(child.wait().expect("an exit").code(), Some(0));
    assert_eq!(errors, "");
}
