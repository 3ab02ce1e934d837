//! Complete loops with the real CLI: `loopkeeper run` starts it, the scripted model answers it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::journal::Journal;
use super::model::{Model, Step};
use super::{program, stopping};
use crate::cli::{Ran, Terminal};

/// A work tree with a task, and the model of its agent.
pub(super) struct ClaudeFixture {
    pub(super) terminal: Terminal,
    pub(super) model: Model,
    /// The variable with the agent's API key.
    key: &'static str,
}

impl ClaudeFixture {
    pub(super) fn new(task: &str, script: impl FnOnce(&Path) -> Vec<Step>) -> Self {
        let terminal = Terminal::new();
        let model = Model::start(script(&terminal.root().canonicalize().expect("a real path")));
        terminal.file("PROMPT.md", task).file(
            "loopkeeper.toml",
            "agent = \"claude\"\n[limits]\ngrace = \"2s\"\n[env.set]\n\
             CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = \"1\"\nCLAUDE_CODE_MAX_RETRIES = \"0\"\n",
        );
        Self { terminal, model, key: "ANTHROPIC_API_KEY" }
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let folder = program().parent().expect("a folder").to_owned();
        let path = std::env::join_paths([folder, PathBuf::from("/usr/bin"), PathBuf::from("/bin")]);
        let mut command = self.terminal.command(args);
        command
            .env("PATH", path.expect("folders without colons"))
            .env("ANTHROPIC_BASE_URL", self.model.url())
            .env(self.key, "dummy")
            .env("DISABLE_TELEMETRY", "1")
            // As if started by a tool of another agent: it would refuse to be nested.
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_ENTRYPOINT", "cli");
        command
    }

    pub(super) fn run(&self) -> Journal {
        Journal::of(&Ran::of(&self.start().wait_with_output().expect("the loop ends")))
    }

    pub(super) fn start(&self) -> Child {
        let mut command = self.command(&["run", "--trust", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
    }
}

pub(super) fn path(root: &Path, name: &str) -> String {
    root.join(name).to_string_lossy().into_owned()
}

/// One line in each of three iterations.
pub(super) fn three_lines(root: &Path) -> Vec<Step> {
    let mut script = vec![Step::write(&path(root, "a.txt"), "one\n"), Step::Text("One line is there.")];
    script.extend(edit(root, "one\n", "one\ntwo\n"));
    script.push(Step::Text("Two lines are there."));
    script.extend(edit(root, "two\n", "two\nthree\n"));
    script.push(Step::Text("Three lines are there."));
    script
}

fn edit(root: &Path, old: &str, new: &str) -> [Step; 2] {
    let file = path(root, "a.txt");
    [
        Step::Tool("Read", json!({"file_path": file})),
        Step::Tool("Edit", json!({"file_path": file, "old_string": old, "new_string": new})),
    ]
}

pub(super) const THREE_LINES: &str = "# Three lines\n\nWrite them into a.txt.\n\n## Done when\n\n\
    - The first is there: `has \"one\" a.txt`\n\
    - The second is there: `has \"two\" a.txt`\n\
    - There are three: `$ sh count.sh` `== 3`\n";

pub(super) const ONE_LINE: &str = "# A line\n\n## Done when\n\n- It is there: `has \"one\" a.txt`\n";

#[test]
fn claude_edits_over_three_iterations_until_it_is_verified() {
    let fixture = ClaudeFixture::new(THREE_LINES, |root| {
        let mut script = three_lines(root);
        script.insert(4, Step::bash("sh count.sh"));
        script
    });
    fixture.terminal.file("count.sh", "wc -l < a.txt\n");
    let journal = fixture.run();
    let ended = journal.ended(0, "completed");
    assert_eq!(ended["outcome"]["verified"], true);
    assert_eq!(fixture.terminal.read("a.txt"), "one\ntwo\nthree\n");
    assert_eq!(fixture.model.left(), 0);

    let runs = journal.all("agent-ended");
    assert_eq!(runs.len(), 3);
    let cost = |it: &&Value| it["run"]["costMicros"].as_u64().unwrap_or(0);
    assert!(runs.iter().all(|it| cost(it) > 0 && it["run"]["denials"] == 0), "{runs:#?}");
    let sessions: Vec<_> = runs.iter().map(|it| it["run"]["session"].clone()).collect();
    assert!(sessions[0] != sessions[1] && sessions[1] != sessions[2], "{sessions:?}");

    let prompts = fixture.model.prompts();
    assert_eq!(prompts.len(), 3);
    assert!(prompts[0].contains("Write them into a.txt.") && prompts[0].contains("iteration 1 of at most"));
    assert!(prompts[1].contains("iteration 2 of at most") && prompts[1].contains("The second is there"));
    assert!(prompts[2].contains("== 3"), "{}", prompts[2]);
}

#[test]
fn claude_turned_away_for_a_moment_is_waited_for() {
    let fixture = ClaudeFixture::new(ONE_LINE, |root| {
        vec![
            Step::fails(429, "rate_limit_error", "slow down"),
            Step::write(&path(root, "a.txt"), "one\n"),
            Step::Text("Written."),
        ]
    });
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    let runs = journal.all("agent-ended");
    let error = &runs[0]["run"]["error"];
    assert_eq!((&error["class"], &error["status"]), (&json!("transient"), &json!(429)), "{error}");
    assert!(journal.all("waiting").iter().any(|it| it["reason"] == "backoff"), "{}", journal.summary());
    // A failure of the provider is no lack of progress.
    assert!(journal.all("breaker-changed").is_empty(), "{}", journal.summary());
    assert_eq!(runs.len(), 2);
}

#[test]
fn claude_over_its_subscription_is_waited_for_until_the_reset() {
    let reset = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() + 3_000;
    let fixture = ClaudeFixture::new(ONE_LINE, |_| vec![Step::used_up(reset)]);
    let fixture = ClaudeFixture { key: "CLAUDE_CODE_OAUTH_TOKEN", ..fixture };
    let mut run = fixture.start();
    let lines = BufReader::new(run.stdout.take().expect("a pipe")).lines();
    let read =
        |line: std::io::Result<String>| serde_json::from_str::<Value>(&line.expect("a line")).expect("JSON");
    let mut records = lines.map(read);
    let waiting = records.by_ref().find(|it| it["type"] == "waiting").expect("it waits");
    assert_eq!(waiting["reason"], "quota", "{waiting}");
    let until = waiting["until"]["wall"].as_u64().expect("a moment");
    assert!((reset * 1000..reset * 1000 + 60_000).contains(&until), "{waiting}, reset {reset}");
    Ran::of(&fixture.command(&["stop"]).output().expect("the binary starts")).expect(0);
    let last = records.last().expect("an end");
    assert_eq!(last["outcome"]["kind"], "stopped", "{last}");
    assert_eq!(run.wait().expect("it ends").code(), Some(1));
    assert_eq!(fixture.model.prompts().len(), 1);
}

#[test]
fn claude_claiming_too_early_continues() {
    let fixture = ClaudeFixture::new(ONE_LINE, |root| {
        vec![
            Step::Text("Everything is done.\n\n<promise>COMPLETE</promise>"),
            Step::write(&path(root, "a.txt"), "one\n"),
            Step::Text("Now it is written."),
        ]
    });
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    let iterations = journal.all("iteration-ended");
    assert_eq!(iterations.len(), 2);
    assert_eq!((&iterations[0]["claim"], &iterations[1]["claim"]), (&json!("promise"), &Value::Null));
    let prompts = fixture.model.prompts();
    assert!(
        prompts[1].contains("It said that all was done. The checks above say otherwise."),
        "{}",
        prompts[1]
    );
}

#[test]
fn claude_stopped_while_a_tool_runs_leaves_nothing() {
    stopped_while_a_tool_runs("auto");
}

#[test]
fn claude_stopped_while_a_tool_runs_leaves_nothing_without_a_namespace() {
    let journal = stopped_while_a_tool_runs("off");
    assert_eq!(journal.all("agent-started")[0]["domain"], "subreaper");
}

/// Like the rig of all agents, with Claude Code.
fn stopped_while_a_tool_runs(sandbox: &str) -> Journal {
    let fixture = ClaudeFixture::new(stopping::TASK, |root| {
        vec![Step::write(&path(root, "go"), "\n"), Step::bash("sh work.sh")]
    });
    stopping::while_a_tool_runs(&fixture.terminal, sandbox, |args| fixture.command(args))
}
