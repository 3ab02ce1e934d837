//! Complete loops with each of the other agents: `loopkeeper run` starts it, the scripted model answers it, and the
//! journal looks the same for every agent.

use std::cell::Cell;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::agent_params::{AgentParams, CODEX, GEMINI, OPENCODE, QWEN};
use super::journal::Journal;
use super::model::{Model, Step, turns};
use super::stopping;
use crate::cli::{Ran, Terminal};

/// A work tree with a task, and the model of its agent.
pub(super) struct AgentFixture {
    pub(super) terminal: Terminal,
    pub(super) model: Model,
    agent: AgentParams,
    env: Vec<(&'static str, String)>,
}

impl AgentFixture {
    /// `more` is appended to the configuration, in the agent's table.
    pub(super) fn new(
        agent: AgentParams,
        task: &str,
        more: &str,
        script: impl FnOnce(&Path) -> Vec<Step>,
    ) -> Self {
        Self::with_model(agent, task, more, |root| Model::start(script(root)))
    }

    /// Like [`Self::new`], with a model that may compute its responses.
    pub(super) fn with_model(
        agent: AgentParams,
        task: &str,
        more: &str,
        model: impl FnOnce(&Path) -> Model,
    ) -> Self {
        let terminal = Terminal::new();
        let model = model(&terminal.root().canonicalize().expect("a real path"));
        let env = agent.prepare(&terminal.folder().join("home"), &model.url());
        let AgentParams { name, settings, .. } = agent;
        terminal.file("PROMPT.md", task).file(
            "loopkeeper.toml",
            &format!(
                "agent = \"{name}\"\n[limits]\niteration_time = \"5m\"\n\
                 [agents.{name}]\n{settings}{more}"
            ),
        );
        Self { terminal, model, agent, env }
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let folder = self.agent.program().parent().expect("a folder").to_owned();
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&usual)));
        let mut command = self.terminal.command(args);
        // As if started by a tool of another agent.
        command.env("PATH", path.expect("folders without colons")).env("CLAUDECODE", "1");
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(super) fn run(&self) -> Journal {
        Journal::of(&Ran::of(&self.command(&["run", "--trust", "--json"]).output().expect("it starts")))
    }

    pub(super) fn order(&self, args: &[&str]) -> Ran {
        let ran = Ran::of(&self.command(args).output().expect("it starts"));
        ran.expect(0);
        ran
    }

    /// Waits until the status of the loop satisfies the condition.
    pub(super) fn once(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + Duration::from_secs(240);
        loop {
            let shown: Value = serde_json::from_str(&self.order(&["status", "--json"]).stdout).expect("JSON");
            let found = &shown["loops"][0];
            if is_it(found) {
                return found.clone();
            }
            assert!(Instant::now() < until, "{found:#}");
            sleep(Duration::from_millis(200));
        }
    }

    /// Runs until a record satisfies the condition, then stops immediately.
    fn until(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        let mut command = self.command(&["run", "--trust", "--json"]);
        let mut run = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let lines = BufReader::new(run.stdout.take().expect("a pipe")).lines();
        let read =
            |line: std::io::Result<String>| serde_json::from_str(&line.expect("a line")).expect("JSON");
        let mut records = lines.map(read);
        let found = records.by_ref().find(is_it).expect("such a record");
        Ran::of(&self.command(&["stop", "--now"]).output().expect("it starts")).expect(0);
        let rest: Vec<Value> = records.collect();
        assert!(rest.iter().any(|it| it["type"] == "ended"), "{rest:#?}");
        run.wait().expect("it ends");
        found
    }
}

pub(super) const THREE_FILES: &str = "# Three files\n\nWrite them.\n\n## Done when\n\n\
    - The first is there: `has \"one\" a.txt`\n\
    - The second is there: `has \"two\" b.txt`\n\
    - There are three: `$ sh count.sh` `== 3`\n";

pub(super) const ONE_FILE: &str = "# A file\n\n## Done when\n\n- It is there: `has \"one\" a.txt`\n";

/// A file in each of three iterations.
pub(super) fn three_files(agent: AgentParams, root: &Path) -> Vec<Step> {
    let write = |name: &str, words| (agent.write)(&root.join(name), words);
    vec![
        write("a.txt", "one\n"),
        Step::Text("One is there."),
        write("b.txt", "two\n"),
        (agent.run)("sh count.sh"),
        Step::Text("Two are there."),
        write("c.txt", "three\n"),
        Step::Text("Three are there."),
    ]
}

pub(super) fn three_iterations(agent: AgentParams) {
    let fixture = AgentFixture::new(agent, THREE_FILES, "", |root| three_files(agent, root));
    fixture.terminal.file("count.sh", "cat ?.txt | wc -l\n");
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    assert_eq!(fixture.terminal.read("c.txt"), "three\n");
    assert_eq!(fixture.model.left(), 0);

    let runs: Vec<&Value> = journal.all("agent-ended").iter().map(|it| &it["run"]).collect();
    assert_eq!(runs.len(), 3);
    for (run, (name, expected)) in
        runs.iter().zip([("a.txt", "One is"), ("b.txt", "Two are"), ("c.txt", "Three are")])
    {
        assert_eq!(
            (&run["ending"], &run["exit"], &run["denials"]),
            (&json!("exited"), &json!(0), &json!(0)),
            "{run}"
        );
        assert!(run["files"][0].as_str().is_some_and(|it| it.ends_with(name)), "{run}");
        assert!(run["finalText"].as_str().is_some_and(|it| it.starts_with(expected)), "{run}");
        assert_eq!(run["tokens"].as_u64().is_some_and(|it| it >= 240), agent.reports_tokens, "{run}");
        assert_eq!(run["costMicros"].as_u64().is_some_and(|it| it > 0), agent.reports_cost, "{run}");
        assert!(run["session"].is_string(), "{run}");
    }
    assert_eq!(runs[1]["commands"].as_array().expect("commands").last(), Some(&json!("sh count.sh")));
    assert!(runs[0]["session"] != runs[1]["session"] && runs[1]["session"] != runs[2]["session"]);
    let prompts = fixture.model.prompts();
    assert_eq!(prompts.len(), 3, "{prompts:#?}");
    assert!(
        prompts[0].contains("Write them.") && prompts[0].contains("iteration 1 of at most"),
        "{prompts:#?}"
    );
    assert!(prompts[1].contains("iteration 2 of at most"), "{prompts:#?}");
    // Missing information is announced in advance.
    let log = Ran::of(&fixture.command(&["log"]).output().expect("it starts"));
    assert_eq!(log.stdout.contains("reports no cost"), !agent.reports_cost, "{}", log.stdout);
}

pub(super) fn continues_its_session(agent: AgentParams) {
    let fixture = AgentFixture::new(agent, ONE_FILE, "[session]\ncontinue = true\n", |root| {
        vec![
            Step::Text("The word is BLUEBIRD."),
            (agent.write)(&root.join("a.txt"), "one\n"),
            Step::Text("Written."),
        ]
    });
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    let runs = journal.all("agent-ended");
    assert_eq!(runs.len(), 2, "{}", journal.summary());
    assert_eq!(runs[0]["run"]["session"], runs[1]["run"]["session"], "{}", journal.summary());
    let resumed: Vec<bool> =
        journal.all("iteration-intended").iter().map(|it| it["resumed"] == true).collect();
    assert_eq!(resumed, [false, true]);
    // The model received what only the first prompt contained.
    let asked = fixture.model.asked();
    let heard = turns(&asked[1]).iter().any(|(_, text)| text.contains("BLUEBIRD"));
    assert!(heard, "{:#}", asked[1]);
    // Tokens of each iteration, whatever total the agent reports.
    let tokens: Vec<u64> = runs.iter().filter_map(|it| it["run"]["tokens"].as_u64()).collect();
    let expect: &[u64] = if agent.reports_tokens { &[120, 240] } else { &[] };
    assert_eq!(tokens, expect, "{}", journal.summary());
}

pub(super) fn is_retried_after_a_rate_limit(agent: AgentParams) {
    let fixture = AgentFixture::new(agent, ONE_FILE, "", |root| {
        vec![(agent.busy)(), (agent.write)(&root.join("a.txt"), "one\n"), Step::Text("Written.")]
    });
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    // Its own retries are neither failures nor lack of progress.
    assert!(journal.all("breaker-changed").is_empty(), "{}", journal.summary());
    assert!(journal.all("agent-ended").len() <= 2, "{}", journal.summary());
}

pub(super) fn waits_for_the_reset_of_its_quota(agent: AgentParams) {
    let fixture = AgentFixture::new(agent, ONE_FILE, "", |_| vec![(agent.used_up)()]);
    let starts = Cell::new(0);
    let waiting = fixture.until(|it| {
        starts.set(starts.get() + u32::from(it["type"] == "agent-started"));
        it["type"] == "waiting"
    });
    assert_eq!(waiting["reason"], "quota", "{waiting}");
    // The number of its own retries does not matter.
    assert_eq!(starts.get(), 1);
}

/// Its safe mode keeps it inside of the work tree, and a denied call does not look like work.
fn denied(agent: AgentParams, more: &str, script: impl FnOnce(&Path) -> Vec<Step>, outside: PathBuf) {
    let fixture = AgentFixture::new(agent, ONE_FILE, more, script);
    let ended = fixture.until(|it| it["type"] == "agent-ended");
    assert!(ended["run"]["denials"].as_u64().is_some_and(|it| it >= 1), "{ended}");
    assert!(!ended["run"]["denied"].as_array().expect("names").is_empty(), "{ended}");
    assert!(!fixture.terminal.root().join(outside).exists());
}

pub(super) fn no_check(agent: AgentParams) {
    let run = |_: &Path| vec![(agent.run)("echo no > b.txt"), Step::Text("Done.")];
    denied(agent, "", run, "b.txt".into());
}

/// `more` as for [`AgentFixture::new`].
pub(super) fn outside(agent: AgentParams, more: &str) {
    let write = |root: &Path| vec![(agent.write)(&root.join("../b.txt"), "no\n"), Step::Text("Done.")];
    denied(agent, more, write, "../b.txt".into());
}

pub(super) fn stopped(agent: AgentParams, sandbox: &str, more: &str) {
    let fixture = AgentFixture::new(agent, stopping::TASK, more, |root| {
        vec![(agent.write)(&root.join("go"), "\n"), (agent.run)("sh work.sh")]
    });
    stopping::while_a_tool_runs(&fixture.terminal, sandbox, |args| fixture.command(args));
}

#[test]
fn codex_completes_three_iterations() {
    three_iterations(CODEX);
}

#[test]
fn codex_continues_its_session() {
    continues_its_session(CODEX);
}

#[test]
fn codex_turned_away_for_a_moment_is_waited_for() {
    is_retried_after_a_rate_limit(CODEX);
}

#[test]
fn codex_over_its_quota_is_waited_for() {
    waits_for_the_reset_of_its_quota(CODEX);
}

#[test]
fn codex_is_denied_paths_outside() {
    // It may write temporary files, and the test runs in their folder.
    let strict = ["slash_tmp", "tmpdir_env_var"]
        .map(|it| format!("\"-c\", \"sandbox_workspace_write.exclude_{it}=true\""));
    outside(CODEX, &format!("args = [{}]\n", strict.join(", ")));
}

/// Its own sandbox would end the tool with it.
#[test]
fn codex_stopped_while_a_tool_runs_leaves_nothing() {
    stopped(CODEX, "auto", "permissions = \"all\"\n");
}

#[test]
fn codex_stopped_while_a_tool_runs_leaves_nothing_without_a_namespace() {
    stopped(CODEX, "off", "permissions = \"all\"\n");
}

#[test]
fn opencode_completes_three_iterations() {
    three_iterations(OPENCODE);
}

#[test]
fn opencode_continues_its_session() {
    continues_its_session(OPENCODE);
}

#[test]
fn opencode_turned_away_for_a_moment_is_waited_for() {
    is_retried_after_a_rate_limit(OPENCODE);
}

#[test]
fn opencode_over_its_quota_is_waited_for() {
    waits_for_the_reset_of_its_quota(OPENCODE);
}

#[test]
fn opencode_is_denied_commands_that_are_no_checks() {
    no_check(OPENCODE);
}

#[test]
fn opencode_stopped_while_a_tool_runs_leaves_nothing() {
    stopped(OPENCODE, "auto", "");
}

#[test]
fn opencode_stopped_while_a_tool_runs_leaves_nothing_without_a_namespace() {
    stopped(OPENCODE, "off", "");
}

/// It would retry indefinitely.
#[test]
fn opencode_that_receives_only_garbage_is_ended() {
    let fixture = AgentFixture::new(OPENCODE, ONE_FILE, "", |_| vec![Step::Garbage]);
    let ended = fixture.until(|it| it["type"] == "agent-ended");
    assert_eq!(ended["run"]["error"]["class"], "transient", "{ended}");
    assert!(fixture.model.asked().len() < 40, "{}", fixture.model.asked().len());
}

#[test]
fn gemini_completes_three_iterations() {
    three_iterations(GEMINI);
}

#[test]
fn gemini_continues_its_session() {
    continues_its_session(GEMINI);
}

#[test]
fn gemini_turned_away_for_a_moment_is_waited_for() {
    is_retried_after_a_rate_limit(GEMINI);
}

#[test]
fn gemini_over_its_quota_is_waited_for() {
    waits_for_the_reset_of_its_quota(GEMINI);
}

#[test]
fn gemini_is_denied_commands_that_are_no_checks() {
    no_check(GEMINI);
}

#[test]
fn gemini_stopped_while_a_tool_runs_leaves_nothing() {
    stopped(GEMINI, "auto", "");
}

/// With its default start it would leave the agent process behind.
#[test]
fn gemini_stopped_while_a_tool_runs_leaves_nothing_without_a_namespace() {
    stopped(GEMINI, "off", "env = { GEMINI_CLI_NO_RELAUNCH = \"false\" }\n");
}

#[test]
fn qwen_completes_three_iterations() {
    three_iterations(QWEN);
}

#[test]
fn qwen_is_denied_commands_that_are_no_checks() {
    no_check(QWEN);
}

#[test]
fn qwen_continues_its_session() {
    continues_its_session(QWEN);
}

#[test]
fn qwen_over_its_quota_is_waited_for() {
    waits_for_the_reset_of_its_quota(QWEN);
}

#[test]
fn qwen_turned_away_for_a_moment_is_waited_for() {
    is_retried_after_a_rate_limit(QWEN);
}

#[test]
fn qwen_stopped_while_a_tool_runs_leaves_nothing() {
    stopped(QWEN, "auto", "");
}

#[test]
fn qwen_stopped_while_a_tool_runs_leaves_nothing_without_a_namespace() {
    stopped(QWEN, "off", "");
}
