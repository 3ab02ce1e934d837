//! The CLI started with our argv and read by our parser: real flags, permissions and failures.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use loopkeeper_agent::argv::{PlaceholderValues, fill_placeholders};
use loopkeeper_agent::claude::start::ENVIRONMENT;
use loopkeeper_agent::provider::LocalClock;
use loopkeeper_agent::reader::{AgentOutputReader, ProcessEnd};
use loopkeeper_agent::{AgentRun, ProviderClass};
use loopkeeper_core::settings::{CommitPolicy, Settings};
use loopkeeper_system::agents::{AgentQuery, plan_agent};
use loopkeeper_task::criterion::{Check, Criterion};
use serde_json::json;
use tempfile::TempDir;

use super::model::{Model, Step};
use super::program;

/// Wall time of all events, in milliseconds.
const NOW: u64 = 1_795_183_200_000;
const SESSION: &str = "6c1f5f9e-0d4b-4c39-8f55-1f2a3b4c5d6e";

/// One start of the CLI in a new work tree, with these commands as the task's checks.
struct Direct {
    folder: TempDir,
    checks: Vec<&'static str>,
    /// The variable with the API key.
    key: &'static str,
    /// Arguments configured by the user.
    args: Vec<String>,
}

impl Direct {
    fn new(checks: &[&'static str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["home", "work"] {
            fs::create_dir(folder.path().join(name)).expect("an empty folder");
        }
        Self { folder, checks: checks.to_vec(), key: "ANTHROPIC_API_KEY", args: Vec::new() }
    }

    fn work(&self) -> std::path::PathBuf {
        self.folder.path().join("work")
    }

    fn run(&self, model: &Model) -> AgentRun {
        let work = self.work();
        let path = std::env::join_paths([
            program().parent().expect("a folder"),
            Path::new("/usr/bin"),
            Path::new("/bin"),
        ]);
        let path = path.expect("folders without colons");
        let criteria: Vec<Criterion> = self.checks.iter().map(|it| criterion(it)).collect();
        let mut settings = Settings::default();
        settings.agents.iter_mut().for_each(|it| it.args.clone_from(&self.args));
        let wanted = AgentQuery {
            agent: "auto",
            agents: &settings.agents,
            root: &work,
            criteria: &criteria,
            path: &path,
            is_root: false,
            env_set: &[],
            committer: CommitPolicy::Agent,
        };
        let argv = plan_agent(&wanted).expect("the CLI is on PATH").argv;
        let argv =
            fill_placeholders(&argv, PlaceholderValues { session: SESSION, prompt: "", prompt_file: "" });
        let mut child = Command::new(&argv[0])
            .args(&argv[1..])
            .current_dir(&work)
            .env_clear()
            .env("PATH", &path)
            .env("HOME", self.folder.path().join("home"))
            .env("ANTHROPIC_BASE_URL", model.url())
            .env(self.key, "dummy")
            .env("DISABLE_TELEMETRY", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .envs(ENVIRONMENT.iter().copied())
            .env("CLAUDE_CODE_MAX_RETRIES", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the CLI starts");
        child.stdin.take().expect("a pipe").write_all(b"Go on.").expect("the prompt is read");
        let output = child.wait_with_output().expect("the CLI ends");
        let mut reader = AgentOutputReader::new(loopkeeper_agent::kind::Dialect::Claude);
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            reader.read_line(line);
        }
        let end = ProcessEnd {
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            ..ProcessEnd::exited(output.status.code())
        };
        reader.finish(end, &LocalClock::utc(NOW))
    }
}

fn criterion(command: &str) -> Criterion {
    Criterion::new(command, command, Some(Check::Command { command: command.to_owned(), expect: Vec::new() }))
}

/// The response to each tool call of the script.
fn results(model: &Model) -> Vec<(bool, String)> {
    let asked = model.asked();
    let Some(last) = asked.last() else { return Vec::new() };
    let messages = last["messages"].as_array().cloned().unwrap_or_default();
    let blocks = messages.iter().filter_map(|it| it["content"].as_array()).flatten();
    blocks
        .filter(|it| it["type"] == "tool_result")
        .map(|it| (it["is_error"] != true, it["content"].to_string()))
        .collect()
}

#[test]
fn claude_edits_and_reports_what_it_did() {
    let direct = Direct::new(&[]);
    let file = direct.work().join("a.txt");
    let model = Model::start(vec![
        Step::write(file.to_str().expect("UTF-8"), "one\n"),
        Step::Text("Done. <promise>COMPLETE</promise>"),
    ]);
    let run = direct.run(&model);
    assert_eq!(fs::read_to_string(&file).expect("written"), "one\n");
    assert_eq!((run.error.as_ref(), run.exit, run.denials), (None, Some(0), 0));
    assert_eq!(run.session.as_deref(), Some(SESSION));
    assert_eq!(run.final_text, "Done. <promise>COMPLETE</promise>");
    assert_eq!(run.files, [file.to_str().expect("UTF-8")]);
    assert!(run.cost_micros.is_some_and(|it| it > 0) && run.tokens == Some(240), "{run:?}");
    assert!(model.prompts().len() == 1 && model.prompts()[0].contains("Go on."), "{:?}", model.prompts());
    // The id must be new for each start: the second start reports only that.
    let again = direct.run(&Model::start(vec![]));
    assert!(again.error.is_some_and(|it| it.message.contains("already in use")));
}

#[test]
fn claude_may_run_exactly_the_checks() {
    let checks = [
        "sh check.sh",
        "test \"$(sh count.sh | wc -l)\" -ge 1",
        "sh check.sh | sh -s -- fed",
        "sh -c 'echo \"a\\\\b\" ; exit 0'",
        "sh check.sh && sh count.sh",
        "sh wild.sh *.txt",
    ];
    let tried = [
        (checks[0], true),
        (checks[1], true),
        (checks[3], true),
        (checks[4], true),
        // Allowed by the user's own settings.
        ("sh theirs.sh", true),
        // Nothing beyond the trusted commands: other arguments, other commands, a pipe into a shell.
        ("sh check.sh now", false),
        ("sh other.sh", false),
        ("sh -s -- fed", false),
        // A star would be a wildcard, so no rule is created.
        (checks[5], false),
        ("sh wild.sh x; sh other.sh; echo .txt", false),
    ];
    let mut direct = Direct::new(&checks);
    direct.args = vec!["--settings".to_owned(), "theirs.json".to_owned()];
    let theirs = json!({"permissions": {"allow": ["Bash(sh theirs.sh)"]}});
    fs::write(direct.work().join("theirs.json"), theirs.to_string()).expect("a file");
    for name in ["check.sh", "count.sh", "wild.sh", "other.sh", "theirs.sh"] {
        fs::write(direct.work().join(name), "echo \"$0 ran\"\n").expect("a script");
    }
    let mut script: Vec<Step> = tried.iter().map(|(command, _)| Step::bash(command)).collect();
    script.push(Step::Text("end"));
    let model = Model::start(script);
    let run = direct.run(&model);
    let results = results(&model);
    for ((command, allowed), (ran, answer)) in tried.iter().zip(&results) {
        assert_eq!(ran, allowed, "{command}: {answer}");
    }
    assert_eq!(results.len(), tried.len());
    assert_eq!(run.denials as usize, tried.iter().filter(|(_, allowed)| !allowed).count());
    assert_eq!(model.left(), 0);
}

#[test]
fn claude_failures_are_distinguished() {
    let direct = || Direct::new(&[]);
    for (step, class) in [
        (Step::fails(429, "rate_limit_error", "slow down"), ProviderClass::Transient),
        (Step::fails(529, "overloaded_error", "busy"), ProviderClass::Transient),
        (Step::fails(401, "authentication_error", "invalid x-api-key"), ProviderClass::Login),
        (Step::fails(400, "invalid_request_error", "no"), ProviderClass::Refused),
        (Step::fails(400, "invalid_request_error", "Your credit balance is too low"), ProviderClass::Billing),
    ] {
        let told = format!("{step:?}");
        let run = direct().run(&Model::start(vec![step]));
        assert_eq!(run.error.as_ref().map(|it| it.class), Some(class), "{told}: {run:?}");
        assert_eq!(run.final_text, "", "{told}");
    }
}

#[test]
fn claude_over_its_subscription_says_until_when() {
    const RESET: u64 = NOW / 1000 + 3600;
    let model = Model::start(vec![Step::used_up(RESET)]);
    let direct = Direct { key: "CLAUDE_CODE_OAUTH_TOKEN", ..Direct::new(&[]) };
    let error = direct.run(&model).error.expect("a limit");
    assert_eq!((error.class, error.resets_at), (ProviderClass::Quota, Some(RESET * 1000)), "{error:?}");
}

#[test]
fn claude_leaves_no_background_task() {
    let direct = Direct::new(&["sh long.sh"]);
    fs::write(direct.work().join("long.sh"), "echo ran\n").expect("a script");
    let call = json!({"command": "sh long.sh", "description": "x", "run_in_background": true});
    let model = Model::start(vec![Step::Tool("Bash", call), Step::Text("end")]);
    let run = direct.run(&model);
    assert_eq!((run.error.as_ref(), run.final_text.as_str()), (None, "end"));
    assert!(results(&model)[0].1.contains("ran") || !results(&model)[0].0, "{:?}", results(&model));
}
