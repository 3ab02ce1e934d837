//! Converts the log of a failed CI run to a task: the command that failed, its error output, and a criterion that it
//! passes. Supports logs of GitHub Actions (also as `gh run view --log-failed` prints them), GitLab, Azure Pipelines,
//! CircleCI, Jenkins and Buildkite, and traces of a shell.

use std::fmt::Write as _;

use loopkeeper_text::sanitize;
use loopkeeper_text::truncate::shortened;

/// Lines of the log that go into the task, the last ones of the step that failed.
const MAX_LINES: usize = 40;
const MAX_ERRORS: usize = 8;
const MAX_CHARS: usize = 200;
/// Texts that only such logs contain.
const LOG_MARKERS: [&str; 12] = [
    "##[error]",
    "##[group]",
    "Process completed with exit code",
    "ERROR: Job failed",
    "section_start:",
    "Job failed: exit code",
    "##[section]",
    "[Pipeline] ",
    "Finished: FAILURE",
    "Exited with code exit status",
    "Error: The command exited with status",
    "~~~ Running ",
];
/// Beginnings of lines of test runners, compilers and build tools that report a failure.
const FAILURE_PREFIXES: [&str; 13] = [
    "=========================== short test summary info",
    "--- FAIL: ",
    "test result: FAILED",
    "error: test failed, to rerun pass",
    "error: could not compile `",
    "[INFO] BUILD FAILURE",
    "FAILURE: Build failed with an exception.",
    "Failed!  - Failed:",
    "Build FAILED.",
    "npm ERR! ",
    "npm error ",
    " ERR_PNPM_",
    "make: *** [",
];
/// Line prefixes of prose: an issue that quotes a log is not a log.
const PROSE_PREFIXES: [&str; 3] = ["```", "## ", "### "];
/// Beginnings of lines of build tools that say nothing about the cause.
const ADVICE_PREFIXES: [&str; 6] = [
    "[ERROR] Please refer to",
    "[ERROR] -> [Help",
    "[ERROR] To see the full",
    "[ERROR] Re-run Maven",
    "[ERROR] For more information",
    "[ERROR] [Help",
];
/// Beginnings of lines that end a step which failed.
const STEP_FAILURE_PREFIXES: [&str; 11] = [
    "##[error]Process completed with exit code",
    "Error: Process completed with exit code",
    "Process completed with exit code",
    "ERROR: Job failed",
    "make: *** [",
    "##[error]Bash exited with code",
    "##[error]PowerShell exited with code",
    "##[error]Cmd.exe exited with code",
    "ERROR: script returned exit code",
    "Exited with code exit status",
    "🚨 Error: The command exited with status",
];

pub(super) fn is_log(text: &str) -> bool {
    let plain = sanitize::strip_escapes(text);
    let begins = |line: &str, with: &[&str]| with.iter().any(|it| line.starts_with(it));
    // Later lines that begin with `# ` are those of a test runner.
    let is_titled = ["title:\t", "# "].iter().any(|it| plain.trim_start().starts_with(it));
    if is_titled || plain.lines().any(|it| begins(it, &PROSE_PREFIXES)) {
        return false;
    }
    LOG_MARKERS.iter().any(|it| plain.contains(it)) || plain.lines().any(|it| begins(it, &FAILURE_PREFIXES))
}

/// The task, with `checks`, each a name and a command, besides the command that failed.
pub(super) fn document(text: &str, checks: &[(String, String)]) -> String {
    let plain = sanitize::strip_escapes(text);
    let log = FailedStep::of(&plain);
    let mut out = String::new();
    let _ = writeln!(out, "# {}\n", log.title());
    out.push_str(
        "A run in continuous integration failed. Find the cause and fix it. Weaken, skip or delete no test, and change \
         the configuration of the run only if it is the cause.\n",
    );
    let errors = log.errors();
    if !errors.is_empty() {
        out.push_str("\n## What it said\n\n");
        for error in errors {
            let _ = writeln!(out, "- {}", error.replace('`', "'"));
        }
    }
    out.push_str("\n## The end of its log\n\n~~~~text\n");
    for line in &log.lines {
        let _ = writeln!(out, "{}", shortened(line, MAX_CHARS).replace("~~~~", "~~~ "));
    }
    out.push_str("~~~~\n\n## Done when\n\n");
    if let Some(command) = &log.command {
        let _ = writeln!(out, "- The command that failed passes: `$ {command}`");
    }
    for (name, command) in checks.iter().filter(|it| log.command.as_ref() != Some(&it.1)) {
        let _ = writeln!(out, "- {name}: `$ {command}`");
    }
    if log.command.is_none() && checks.is_empty() {
        out.push_str("- The run passes\n");
    }
    out
}

/// The last step of the log that failed.
#[derive(Debug, Default)]
struct FailedStep<'a> {
    /// Job and step, where the log names them.
    place: Option<String>,
    /// A command of one line that can be run elsewhere too.
    command: Option<String>,
    /// The output without time stamps, at most [`MAX_LINES`].
    lines: Vec<&'a str>,
}

impl<'a> FailedStep<'a> {
    fn of(plain: &'a str) -> Self {
        let mut found: Option<Self> = None;
        let mut step = LogStep::default();
        for raw in plain.lines() {
            let (place, line) = without_frame(raw);
            if step.place != place {
                step = LogStep { place, ..LogStep::default() };
            }
            step.read(line);
            if STEP_FAILURE_PREFIXES.iter().any(|it| line.starts_with(it)) {
                // The first failure is the cause of those after it.
                found.get_or_insert_with(|| step.to_failed_step());
            }
        }
        found.unwrap_or_else(|| step.to_failed_step())
    }

    fn title(&self) -> String {
        match (&self.place, &self.command) {
            (Some(place), _) => format!("Fix the failing run: {place}"),
            (None, Some(command)) => format!("Fix `{command}` in continuous integration"),
            (None, None) => "Fix the failing run in continuous integration".to_owned(),
        }
    }

    fn errors(&self) -> Vec<String> {
        const ERROR_MARKERS: [&str; 16] = [
            "--- FAIL: ",
            "Failure:",
            "error",
            "Error:",
            "FAILED",
            "FAIL ",
            "panicked at",
            "AssertionError",
            "not ok ",
            "✕",
            "✗",
            "Traceback",
            "[ERROR]",
            "Failed ",
            "Failure/Error",
            "● ",
        ];
        let mut errors: Vec<String> = Vec::new();
        for line in &self.lines {
            let trimmed = line.trim_start_matches("##[error]").trim();
            let is_end = STEP_FAILURE_PREFIXES.iter().any(|it| line.starts_with(it));
            let is_summary = trimmed.starts_with("npm ") || trimmed.ends_with("0 errors");
            let is_advice = trimmed == "[ERROR]" || ADVICE_PREFIXES.iter().any(|it| trimmed.starts_with(it));
            // pytest marks the lines of an assertion.
            let is_marked = trimmed.starts_with("E  ") || ERROR_MARKERS.iter().any(|it| trimmed.contains(it));
            if is_end || is_summary || is_advice || !is_marked {
                continue;
            }
            let trimmed = shortened(trimmed, MAX_CHARS).into_owned();
            if !errors.contains(&trimmed) && errors.len() < MAX_ERRORS {
                errors.push(trimmed);
            }
        }
        errors
    }
}

/// A step while it is read.
#[derive(Default)]
struct LogStep<'a> {
    place: Option<String>,
    command: Option<String>,
    /// The lines of a script that the log shows before its output.
    script: Option<Vec<&'a str>>,
    /// An empty line ends the script.
    ends_at_blank: bool,
    /// Inside the lines about shell and environment that GitHub prints before the output.
    in_header: bool,
    lines: Vec<&'a str>,
}

impl<'a> LogStep<'a> {
    fn read(&mut self, line: &'a str) {
        if let Some(title) = line.strip_prefix("##[group]Run ") {
            self.begin_script(false);
            self.command = command_of(&[title]);
        } else if line == "Script contents:" || line.starts_with("#!/bin/bash -e") {
            self.begin_script(line.starts_with('#'));
        } else if let Some(script) = &mut self.script {
            let ends = ["shell: ", "with:", "env:", "##[endgroup]", "====="];
            let is_end =
                ends.iter().any(|it| line.starts_with(it)) || self.ends_at_blank && line.trim().is_empty();
            if !is_end {
                return script.push(line);
            }
            self.command = command_of(script).or_else(|| self.command.take());
            self.script = None;
            // `shell:`, `with:` and `env:` begin the header; other ends have none.
            self.in_header = line.starts_with(['s', 'w', 'e']);
        } else if self.in_header
            && (line.starts_with("  ") || line.ends_with(':') || line.starts_with("shell: "))
        {
            // A variable of the environment.
        } else if let Some(command) = line.strip_prefix("$ ").or_else(|| line.strip_prefix("+ ")) {
            self.lines.clear();
            self.command = command_of(&[command]);
        } else {
            self.in_header = false;
            self.lines.push(line);
        }
    }

    fn begin_script(&mut self, ends_at_blank: bool) {
        self.lines.clear();
        self.script = Some(Vec::new());
        self.ends_at_blank = ends_at_blank;
    }

    fn to_failed_step(&self) -> FailedStep<'a> {
        let is_output =
            |it: &&&str| !it.trim().is_empty() && !it.starts_with("##[endgroup]") && !it.starts_with("=====");
        // In a shortened log the script has no end: its first line is the command, the others are output.
        let cut = self.script.iter().flatten().skip(1).filter(|_| self.lines.is_empty());
        let mut lines: Vec<&str> = self.lines.iter().chain(cut).filter(is_output).copied().collect();
        lines.drain(..lines.len().saturating_sub(MAX_LINES));
        let command = self.command.clone().or_else(|| lines.iter().find_map(|it| make_target(it)));
        FailedStep { place: self.place.clone(), command, lines }
    }
}

/// `make test` of `make: *** [Makefile:3: test] Error 1`.
fn make_target(line: &str) -> Option<String> {
    let (inner, _) = line.strip_prefix("make: *** [")?.split_once(']')?;
    let target = inner.rsplit(": ").next()?;
    let is_plain = !target.is_empty() && target.chars().all(|it| it.is_alphanumeric() || "-_.".contains(it));
    is_plain.then(|| format!("make {target}"))
}

/// The script as one command line. `None`: an action, or too much for one line.
fn command_of(script: &[&str]) -> Option<String> {
    const MAX_COMMANDS: usize = 4;
    let lines: Vec<&str> =
        script.iter().map(|it| without_colors(it).trim()).filter(|it| !it.is_empty()).collect();
    let is_plain = |it: &&str| {
        let keyword = it.split([' ', ';']).next().unwrap_or_default();
        !["if", "then", "else", "fi", "for", "do", "done", "while", "case", "esac", "{", "}"]
            .contains(&keyword)
            && !it.contains(['`', '\0'])
            && !it.contains("${{")
            && !it.contains("<<")
            && !it.ends_with(['\\', '|', '&'])
            && !it.starts_with('#')
    };
    let is_action = |it: &str| it.split(' ').next().is_some_and(|it| it.contains('/') && it.contains('@'));
    match lines.as_slice() {
        [] => None,
        [only] if is_action(only) => None,
        all if all.len() > MAX_COMMANDS || !all.iter().all(is_plain) => None,
        all => Some(all.join(" && ")),
    }
}

/// Without the colour codes around it, whose escape characters a copied log has lost: `[36;1mnpm test[0m`.
fn without_colors(line: &str) -> &str {
    let bare = line.trim().trim_end_matches("[0m");
    let code = bare.strip_prefix('[').and_then(|it| it.split_once('m'));
    match code {
        Some((code, rest)) if !code.is_empty() && code.chars().all(|it| it.is_ascii_digit() || it == ';') => {
            rest
        }
        _ => bare,
    }
}

/// A line without its time stamp, and the job and step that `gh run view --log` puts before it.
fn without_frame(raw: &str) -> (Option<String>, &str) {
    let mut parts = raw.splitn(3, '\t');
    if let (Some(job), Some(step), Some(rest)) = (parts.next(), parts.next(), parts.next())
        && let Some(line) = without_time(rest.trim_start_matches('\u{feff}'))
    {
        let step = if step == "UNKNOWN STEP" { "" } else { step };
        let place = if step.is_empty() { job.to_owned() } else { format!("{job} / {step}") };
        return (Some(place), line);
    }
    (None, without_time(raw.trim_start_matches('\u{feff}')).unwrap_or(raw))
}

/// `2026-01-01T10:00:00.1234567Z text` without its first word.
fn without_time(line: &str) -> Option<&str> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    // Jenkins writes brackets around it.
    let word = word.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(word);
    let is_digit = |at: usize| word.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let is_time = word.len() >= 20
        && word.ends_with('Z')
        && is_digit(0)
        && is_digit(3)
        && word.get(10..11) == Some("T");
    is_time.then(|| without_stream(rest))
}

/// Without the number of the stream that GitLab writes behind the time: `00O text`, `01E text`, `00O+text`.
fn without_stream(line: &str) -> &str {
    let is_stream = |it: &str| {
        let bytes = it.as_bytes();
        bytes.len() == 3
            && bytes.iter().take(2).all(u8::is_ascii_hexdigit)
            && matches!(bytes.last(), Some(b'O' | b'E'))
    };
    let rest = line.get(..3).filter(|it| is_stream(it)).and_then(|_| line.get(3..));
    rest.and_then(|it| it.strip_prefix([' ', '+'])).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::{document, is_log};

    const GITHUB: &str = "2026-01-01T10:00:00.1234567Z ##[group]Run actions/checkout@v4\n2026-01-01T10:00:00.1234567Z with:\n2026-01-01T10:00:00.1234567Z ##[endgroup]\n2026-01-01T10:00:01.1234567Z ##[group]Run npm ci\n2026-01-01T10:00:01.1234567Z \u{1b}[36;1mnpm ci\u{1b}[0m\n2026-01-01T10:00:01.1234567Z \u{1b}[36;1mnpm test\u{1b}[0m\n2026-01-01T10:00:01.1234567Z shell: /usr/bin/bash -e {0}\n2026-01-01T10:00:01.1234567Z ##[endgroup]\n2026-01-01T10:00:09.1234567Z FAIL test/cart.test.ts\n2026-01-01T10:00:09.1234567Z   ✕ adds `two` items (3 ms)\n2026-01-01T10:00:09.1234567Z ##[error]Process completed with exit code 1.\n2026-01-01T10:00:10.1234567Z Post job cleanup.\n";

    #[test]
    fn the_command_that_failed_is_the_criterion() {
        assert!(is_log(GITHUB));
        let task = document(GITHUB, &[("All tests pass".to_owned(), "npm test".to_owned())]);
        assert!(task.starts_with("# Fix `npm ci && npm test` in continuous integration\n"), "{task}");
        assert!(task.contains("- FAIL test/cart.test.ts\n- ✕ adds 'two' items (3 ms)\n"), "{task}");
        assert!(!task.contains("Post job cleanup"), "{task}");
        let ends = "## Done when\n\n- The command that failed passes: `$ npm ci && npm test`\n- All tests pass: `$ npm test`\n";
        assert!(task.ends_with(ends), "{task}");
    }

    #[test]
    fn a_shortened_log_keeps_its_output() {
        let log = "##[group]Run npm test\nnpm test\n FAIL  test/cart.test.ts\n##[error]Process completed with exit code 1.\n";
        let task = document(log, &[]);
        assert!(task.contains("- FAIL  test/cart.test.ts\n"), "{task}");
        assert!(task.ends_with("- The command that failed passes: `$ npm test`\n"), "{task}");
        let make = "--- FAIL: TestAdd (0.00s)\nmake: *** [Makefile:3: test] Error 1\n";
        assert!(document(make, &[]).ends_with("- The command that failed passes: `$ make test`\n"));
        let odd = "make: *** [a b; rm -rf x] Error 1\n";
        assert!(document(odd, &[]).ends_with("- The run passes\n"));
    }

    #[test]
    fn logs_of_other_tools_are_read() {
        let check = |log: &str, title: &str, end: &str| {
            assert!(is_log(log), "{log}");
            let task = document(log, &[]);
            assert!(task.starts_with(&format!("# {title}\n")), "{task}");
            assert!(task.ends_with(&format!("## Done when\n\n{end}")), "{task}");
        };
        check(
            "build\tTest\t2026-01-01T10:00:01.1234567Z ##[group]Run cargo test\nbuild\tTest\t2026-01-01T10:00:01.1234567Z shell: bash\nbuild\tTest\t2026-01-01T10:00:02.1234567Z error[E0308]: mismatched types\nbuild\tTest\t2026-01-01T10:00:02.1234567Z ##[error]Process completed with exit code 101.\n",
            "Fix the failing run: build / Test",
            "- The command that failed passes: `$ cargo test`\n",
        );
        check(
            "section_start:1:step_script\n\u{1b}[32;1m$ make lint\u{1b}[0;m\nok\n\u{1b}[32;1m$ make test\u{1b}[0;m\nsrc/a.c:3:1: error: expected ';'\nERROR: Job failed: exit code 2\n",
            "Fix `make test` in continuous integration",
            "- The command that failed passes: `$ make test`\n",
        );
        let script = "##[group]Run if true; then\nif true; then\n  x\nfi\nshell: bash\n##[error]Process completed with exit code 1.\n";
        check(script, "Fix the failing run in continuous integration", "- The run passes\n");
    }

    #[test]
    fn logs_of_other_services_are_read() {
        let check = |log: &str, command: &str, said: &str, gone: &str| {
            assert!(is_log(log), "{log}");
            let task = document(log, &[]);
            let end = format!("## Done when\n\n- The command that failed passes: `$ {command}`\n");
            assert!(task.ends_with(&end) && task.contains(said) && !task.contains(gone), "{task}");
        };
        check(
            "Started by user me\n[Pipeline] { (Test)\n[Pipeline] sh\n+ mvn -B test\n[INFO] Scanning\n[ERROR] CartTest.adds <<< FAILURE!\n[Pipeline] }\nERROR: script returned exit code 1\nFinished: FAILURE\n",
            "mvn -B test",
            "- [ERROR] CartTest.adds <<< FAILURE!\n",
            "Started by",
        );
        check(
            "#!/bin/bash -eo pipefail\nnpm test\n\n> shop@1.0.0 test\n> jest\n\nFAIL src/cart.test.js\n  ● adds items\n\nExited with code exit status 1\n",
            "npm test",
            "- FAIL src/cart.test.js\n- ● adds items\n",
            "#!/bin",
        );
        check(
            "2026-01-01T10:00:00.1234567Z ##[section]Starting: Run tests\n2026-01-01T10:00:00.3334567Z Script contents:\n2026-01-01T10:00:00.3334567Z dotnet test\n2026-01-01T10:00:00.3434567Z ===== Starting Command Output =====\n2026-01-01T10:00:05.1234567Z   Failed AddsItems [12 ms]\n2026-01-01T10:00:06.1234567Z ##[error]Bash exited with code '1'.\n",
            "dotnet test",
            "- Failed AddsItems [12 ms]\n",
            "=====",
        );
        check(
            "~~~ Running commands\n$ bundle exec rspec\n  1) Cart adds items\n     Failure/Error: expect(1).to eq 2\n🚨 Error: The command exited with status 1\n",
            "bundle exec rspec",
            "- Failure/Error: expect(1).to eq 2\n",
            "~~~ Running",
        );
        check(
            "Started by user me\n[Pipeline] sh\n[2026-05-01T10:00:00.000Z] + ./gradlew test\n[2026-05-01T10:00:21.000Z] CartTest > addsItems() FAILED\n[2026-05-01T10:00:22.000Z] BUILD FAILED in 22s\n[Pipeline] }\nERROR: script returned exit code 1\nFinished: FAILURE\n",
            "./gradlew test",
            "- CartTest > addsItems() FAILED\n",
            "2026",
        );
        check(
            "2026-05-01T10:00:00.123456Z 00O section_start:1714557600:step_script\r\u{1b}[0K\n2026-05-01T10:00:03.123456Z 01O \u{1b}[32;1m$ cargo clippy -- -D warnings\u{1b}[0;m\n2026-05-01T10:00:04.123456Z 01E error: this `if` has identical blocks\n2026-05-01T10:00:05.123456Z 01O+ --> src/lib.rs:3:5\n2026-05-01T10:00:30.123456Z 00O \u{1b}[31;1mERROR: Job failed: exit code 101\n",
            "cargo clippy -- -D warnings",
            "- error: this 'if' has identical blocks\n",
            "01O",
        );
        check(
            "+ mvn test\n[ERROR] CartTest.adds <<< FAILURE!\n[ERROR] \n[ERROR] -> [Help 1]\n[INFO] BUILD FAILURE\nERROR: script returned exit code 1\n",
            "mvn test",
            "## What it said\n\n- [ERROR] CartTest.adds <<< FAILURE!\n\n",
            "01O",
        );
        // Copied from a web page, without the escape characters.
        check(
            "2026-05-01T10:00:01.0000000Z ##[group]Run pytest -q\n2026-05-01T10:00:01.0000000Z [36;1mpytest -q[0m\n2026-05-01T10:00:01.0000000Z shell: /usr/bin/bash -e {0}\n2026-05-01T10:00:01.0000000Z env:\n2026-05-01T10:00:01.0000000Z   pythonLocation: /opt\n2026-05-01T10:00:01.0000000Z ##[endgroup]\n2026-05-01T10:00:03.0000000Z FAILED tests/test_cart.py::test_add\n2026-05-01T10:00:03.0000000Z ##[error]Process completed with exit code 1.\n",
            "pytest -q",
            "- FAILED tests/test_cart.py::test_add\n",
            "pythonLocation",
        );
    }

    #[test]
    fn output_without_a_frame_becomes_the_end_of_the_log() {
        let task = document(
            "running 1 test\ntest cart::adds ... FAILED\nerror: test failed\n",
            &[("All tests pass".to_owned(), "cargo test".to_owned())],
        );
        assert!(task.contains("- test cart::adds ... FAILED\n- error: test failed\n"), "{task}");
        assert!(task.ends_with("## Done when\n\n- All tests pass: `$ cargo test`\n"), "{task}");
    }

    #[test]
    fn output_of_a_runner_is_a_log() {
        for log in [
            "ok  \tshop/api\t0.012s\n--- FAIL: TestTotal (0.00s)\nFAIL\n",
            "E   assert 10 == 9\n=========================== short test summary info ============\nFAILED a.py::b\n",
            "running 1 test\n\ntest result: FAILED. 0 passed; 1 failed\n",
            "[INFO] BUILD FAILURE\n",
            "TAP version 13\n# Subtest: cart\nnot ok 1 - cart\nnpm error code 1\n",
        ] {
            assert!(is_log(log), "{log}");
        }
        let go = document("--- FAIL: TestTotal (0.00s)\nFAIL\n", &[]);
        assert!(go.contains("- --- FAIL: TestTotal (0.00s)\n"), "{go}");
        let task = document("E       assert 10 == 9\n", &[]);
        assert!(task.contains("- E       assert 10 == 9\n"), "{task}");
    }

    #[test]
    fn a_text_about_a_failure_is_not_a_log() {
        assert!(!is_log("# Crash\n\nIt exits with code 1.\n"));
        let quoted =
            "CI fails:\n\n```\n--- FAIL: TestTotal\n##[error]Process completed with exit code 1.\n```\n";
        assert!(
            !is_log(quoted)
                && !is_log("title:\tCI fails\n--\n##[error]Process completed with exit code 1.\n")
        );
    }
}
