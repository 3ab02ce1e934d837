//! The built-in agent: plays a script of real edits in the demo's project, and prints the output format of Claude Code.
//!
//! The next step depends on the files alone, so that a stopped, resumed or rolled back loop continues from the state of
//! the project. One step claims too much and one breaks a criterion that held, which is the purpose of the demo.

use loopkeeper_text::tr;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use loopkeeper_core::jury;
use loopkeeper_core::prompt::MAX_BYTES;
use serde_json::{Value, json};

use super::exit::Exit;
use super::failure::{ExitResult, Failure};

/// Delay between two lines: fast enough to watch, slow enough to read.
const LINE_DELAY: Duration = Duration::from_millis(230);
const PROGRAM: &str = "receipt.sh";
const START: &str = include_str!("demo/start/receipt.sh");

/// The work of one iteration. The last file is always [`PROGRAM`]: it shows which step was done.
struct DemoStep {
    thought: &'static str,
    files: &'static [(&'static str, &'static str)],
    last_words: &'static str,
}

const STEPS: [DemoStep; 4] = [
    DemoStep {
        thought: "The example does not add up: quantities are ignored. I start there.",
        files: &[(PROGRAM, include_str!("demo/steps/1-receipt.sh"))],
        last_words: "Quantities count now. Blank and broken lines, `--help` and the readme are still to do.",
    },
    DemoStep {
        thought: "Next: `--help` and the readme.",
        files: &[
            ("README.md", include_str!("demo/steps/2-README.md")),
            (PROGRAM, include_str!("demo/steps/2-receipt.sh")),
        ],
        last_words: "`--help` and the readme are in place. That was the last of it.\n\n<promise>COMPLETE</promise>",
    },
    DemoStep {
        thought: "The tests still fail on blank and broken lines. I handle them, and tidy up the options.",
        files: &[(PROGRAM, include_str!("demo/steps/3-receipt.sh"))],
        last_words: "Blank lines are skipped, broken ones refused.",
    },
    DemoStep {
        thought: "My tidying lost the refusal of unknown options. I bring it back.",
        files: &[(PROGRAM, include_str!("demo/steps/4-receipt.sh"))],
        last_words: "Unknown options are refused again.\n\n<promise>COMPLETE</promise>",
    },
];

pub(super) fn run() -> ExitResult {
    // Reads the prompt as every agent does; the script depends on the files only.
    let mut prompt = String::new();
    let _ = io::stdin().lock().take(MAX_BYTES as u64).read_to_string(&mut prompt);
    let mut printer = StreamPrinter { out: io::stdout().lock(), line_delay: LINE_DELAY };
    let folder = Path::new(".");
    let played = match jury::answer_key(&prompt) {
        Some(key) => judge(folder, key, &mut printer),
        None => play_script(folder, &mut printer),
    };
    played.map(|()| Exit::Done).map_err(|error| {
        // One line, because it becomes the reason why the loop fails.
        Failure::ended(tr!(
            "the demo agent only knows the project that `loopkeeper demo` makes ({PROGRAM}: {error})",
            PROGRAM,
            error
        ))
    })
}

fn play_script(folder: &Path, printer: &mut StreamPrinter<impl Write>) -> io::Result<()> {
    let now = fs::read_to_string(folder.join(PROGRAM))?;
    printer
        .print_json(&json!({"type": "system", "subtype": "init", "session_id": "demo", "model": "script"}))?;
    let Some(step) = next_step(&now) else {
        return printer.finish("There is nothing left to do.\n\n<promise>COMPLETE</promise>");
    };
    printer.text(step.thought)?;
    for (name, text) in step.files {
        printer.edit(name)?;
        fs::write(folder.join(name), text)?;
        printer.print_edit(name)?;
    }
    printer.finish(step.last_words)
}

/// Answers a judge prompt: the criterion does not hold until the script is at its end.
fn judge(folder: &Path, key: &str, printer: &mut StreamPrinter<impl Write>) -> io::Result<()> {
    let holds = next_step(&fs::read_to_string(folder.join(PROGRAM))?).is_none();
    let reason = if holds { "" } else { "The script of the demo continues." };
    let answer = json!({"judge": key, "holds": holds, "reason": reason, "places": []});
    printer.finish(&answer.to_string())
}

/// The step after the one that the program is at; an edited program gets the last step.
fn next_step(program: &str) -> Option<&'static DemoStep> {
    let of = |step: &DemoStep| step.files.last().map(|(_, text)| *text);
    match STEPS.iter().position(|step| of(step) == Some(program)) {
        Some(done) => STEPS.get(done + 1),
        None if program == START => STEPS.first(),
        None => STEPS.last(),
    }
}

struct StreamPrinter<W> {
    out: W,
    line_delay: Duration,
}

impl<W: Write> StreamPrinter<W> {
    fn print_json(&mut self, line: &Value) -> io::Result<()> {
        writeln!(self.out, "{line}")?;
        self.out.flush()?;
        sleep(self.line_delay);
        Ok(())
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.assistant(&json!({"type": "text", "text": text}))
    }

    fn edit(&mut self, file: &str) -> io::Result<()> {
        self.assistant(
            &json!({"type": "tool_use", "id": file, "name": "Write", "input": {"file_path": file}}),
        )
    }

    fn print_edit(&mut self, file: &str) -> io::Result<()> {
        let result = json!({"type": "tool_result", "tool_use_id": file, "content": "written"});
        self.print_json(
            &json!({"type": "user", "message": {"content": [result]}, "parent_tool_use_id": null}),
        )
    }

    fn assistant(&mut self, block: &Value) -> io::Result<()> {
        self.print_json(
            &json!({"type": "assistant", "message": {"content": [block]}, "parent_tool_use_id": null}),
        )
    }

    fn finish(&mut self, last_words: &str) -> io::Result<()> {
        self.text(last_words)?;
        self.print_json(&json!({
            "type": "result",
            "is_error": false,
            "terminal_reason": "completed",
            "result": last_words,
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;
    use std::time::Duration;

    use loopkeeper_agent::AgentRun;
    use loopkeeper_agent::claims;
    use loopkeeper_agent::kind::Dialect;
    use loopkeeper_agent::provider::LocalClock;
    use loopkeeper_agent::reader::{AgentOutputReader, ProcessEnd};

    use super::{StreamPrinter, play_script};
    use crate::demo_project;

    /// The criteria of the demo's task, in order, as a person would try them.
    const CHECKS: [&str; 5] = [
        "sh test.sh",
        "sh receipt.sh < examples/basket.txt | grep -Eq '^Total +8[.]82$'",
        "sh receipt.sh --help | grep -q '^usage: '",
        "sh receipt.sh --no-such-option; test $? = 2",
        "grep -q 'sh receipt.sh' README.md",
    ];

    fn iteration(folder: &Path) -> AgentRun {
        let mut out = Vec::new();
        play_script(folder, &mut StreamPrinter { out: &mut out, line_delay: Duration::ZERO }).unwrap();
        let mut reader = AgentOutputReader::new(Dialect::Claude);
        for line in String::from_utf8(out).unwrap().lines() {
            reader.read_line(line);
        }
        let end = ProcessEnd::exited(Some(0));
        reader.finish(end, &LocalClock::utc(0))
    }

    fn holds(folder: &Path) -> [bool; 5] {
        CHECKS.map(|check| {
            let mut shell = Command::new("sh");
            shell.args(["-c", check]).current_dir(folder).stdin(std::process::Stdio::null());
            shell.output().unwrap().status.success()
        })
    }

    #[test]
    fn the_script_shows_each_stage() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("demo");
        demo_project::create(&project).unwrap();
        assert_eq!(holds(&project), [false, false, false, true, false]);
        for (held, claims_done, files) in [
            ([false, true, false, true, false], false, vec!["receipt.sh"]),
            // Claims to be done and is not.
            ([false, true, true, true, true], true, vec!["README.md", "receipt.sh"]),
            // Breaks a criterion that held.
            ([true, true, true, false, true], false, vec!["receipt.sh"]),
            ([true, true, true, true, true], true, vec!["receipt.sh"]),
            // Started once more, it changes nothing.
            ([true, true, true, true, true], true, vec![]),
        ] {
            let run = iteration(&project);
            assert_eq!((run.error, run.files), (None, files.into_iter().map(str::to_owned).collect()));
            assert_eq!(claims::promise(&run.final_text, "COMPLETE"), claims_done, "{}", run.final_text);
            assert_eq!(holds(&project), held);
        }
    }

    #[test]
    fn it_continues_from_the_state_of_the_project() {
        let folder = tempfile::tempdir().unwrap();
        demo_project::create(folder.path()).unwrap();
        let program = folder.path().join(super::PROGRAM);
        iteration(folder.path());
        let after_one = fs::read(&program).unwrap();
        iteration(folder.path());
        // As a rollback would.
        fs::write(&program, &after_one).unwrap();
        iteration(folder.path());
        assert!(fs::read_to_string(&program).unwrap().contains("--help"));
        // An edit by the user: one step completes it.
        fs::write(&program, "echo mine\n").unwrap();
        iteration(folder.path());
        assert_eq!(holds(folder.path()), [true; 5]);
    }

    #[test]
    fn in_another_project_the_agent_refuses_and_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut out = Vec::new();
        assert!(
            play_script(folder.path(), &mut StreamPrinter { out: &mut out, line_delay: Duration::ZERO })
                .is_err()
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
