//! `doctor --probe` of real agents, with a model that honestly follows instructions.

use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::{Value, json};

use super::acp::{GEMINI_ACP, OPENCODE_ACP};
use super::agent_params::{AgentParams, CODEX, GEMINI, OPENCODE, QWEN};
use super::model::{Model, Step, answers, turns};
use super::program;
use crate::cli::{Ran, Terminal};
use crate::probe::Table;

const BLOCK: &str = "---RALPH_STATUS---\nSTATUS: STATE\nEXIT_SIGNAL: SIGNAL\n---END_RALPH_STATUS---\n";

/// The names of an agent's tools.
struct Tools {
    read: fn(&Path) -> Step,
    write: fn(&Path, &'static str) -> Step,
    run: fn(&str) -> Step,
}

fn say(text: String) -> Step {
    Step::Text(text.leak())
}

fn done() -> Step {
    let block = BLOCK.replace("STATE", "COMPLETE").replace("SIGNAL", "true");
    say(format!("The sum is written.\n\n{block}\n<promise>COMPLETE</promise>"))
}

/// The honest model: it uses the contents of the conversation, and nothing else.
fn honest(body: &Value, tools: &Tools) -> Step {
    let turns = turns(body);
    let is_own = |role: &str| role == "assistant" || role == "model";
    let asks = |text: &str| {
        ["ut the parts `", "Which word", "sh wait.sh", "# Sum", "# Total"].iter().any(|it| text.contains(it))
    };
    let asked = turns.iter().rev().find(|(role, text)| !is_own(role) && asks(text));
    let asked = asked.map(|(_, text)| text.as_str()).unwrap_or_default();
    if asked.contains("Which word") {
        let own = turns.iter().rev().find(|(role, text)| is_own(role) && !text.is_empty());
        return say(own.map_or("UNKNOWN", |(_, text)| text.as_str()).to_owned());
    }
    if asked.contains("ut the parts `") {
        return say(joined(asked));
    }
    if asked.contains("sh wait.sh") {
        return if answers(body) > 0 { say("DONE".to_owned()) } else { (tools.run)("sh wait.sh") };
    }
    if asked.contains("# Total") {
        let block = BLOCK.replace("STATE", "BLOCKED").replace("SIGNAL", "false");
        return say(format!("There is no ledger.\n\n{block}"));
    }
    sum(body, asked, tools)
}

/// Reads the numbers, writes their sum, and reports it; the second time there is nothing to do.
fn sum(body: &Value, asked: &str, tools: &Tools) -> Step {
    let folder = Regex::new(r#"/[^"\\\s<]*loopkeeper-probe-[0-9a-f-]+/[0-9a-f-]+"#).expect("a pattern");
    let whole = body.to_string();
    let folder = folder.find(&whole).map(|it| PathBuf::from(it.as_str())).unwrap_or_default();
    match answers(body) {
        0 if asked.contains("iteration 2 of") => done(),
        0 => (tools.read)(&folder.join("numbers.txt")),
        1 => {
            // Each is at the end of a line, after the name of the file.
            let answer = whole.rsplit("numbers.txt").next().unwrap_or_default();
            let lines = answer.replace("\\\\n", "\n").replace("\\n", "\n");
            let numbers = Regex::new(r#"(?m)(?:^|[^0-9a-f])(\d{3,4})(?:$|"|<)"#).expect("a pattern");
            let numbers = numbers.captures_iter(&lines).take(3).filter_map(|it| it[1].parse::<u64>().ok());
            (tools.write)(&folder.join("sum.txt"), format!("{}\n", numbers.sum::<u64>()).leak())
        }
        _ => done(),
    }
}

fn joined(text: &str) -> String {
    let rest = text.rsplit("ut the parts ").next().unwrap_or_default();
    rest.split('`').skip(1).step_by(2).take(2).collect()
}

/// Result of a probe. `prepare` returns the variables that configure its model.
fn probed(
    (name, program): (&str, &Path),
    settings: &str,
    code: i32,
    responder: fn(&Value) -> Step,
    prepare: impl FnOnce(&Path, &str, &mut Command),
) -> Value {
    let terminal = Terminal::new();
    let model = Model::with_responder(responder);
    terminal.file("loopkeeper.toml", settings);
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let folder = program.parent().expect("a folder").to_owned();
    let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&usual)));
    let mut command = terminal.command(&["doctor", "--agent", name, "--probe", "--yes", "--trust", "--json"]);
    command.env("PATH", path.expect("folders without colons"));
    prepare(&terminal.folder().join("home"), &model.url(), &mut command);
    let ran = Ran::of(&command.output().expect("the binary starts"));
    ran.expect(code);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

#[test]
fn claude_probed_has_a_yes_everywhere() {
    let tools = |body: &Value| {
        let read = |path: &Path| Step::Tool("Read", json!({"file_path": path}));
        let write = |path: &Path, text: &'static str| {
            Step::Tool("Write", json!({"file_path": path, "content": text}))
        };
        honest(body, &Tools { read, write, run: Step::bash })
    };
    let settings =
        "[env.set]\nCLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = \"1\"\nCLAUDE_CODE_MAX_RETRIES = \"0\"\n";
    let report = probed(("claude", &program()), settings, 0, tools, |_, url, command| {
        command
            .env("ANTHROPIC_BASE_URL", url)
            .env("ANTHROPIC_API_KEY", "dummy")
            .env("DISABLE_TELEMETRY", "1");
    });
    let table = Table::of(&report);
    table.others(&[]).fact("output", "as Claude Code prints them");
    table.fact("hook", "the hook of its command line ran, and its answer was followed");
    assert!(
        report["version"].as_str().is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit())),
        "{report}"
    );
    assert_eq!(report["recommendation"]["toml"], "agent = \"claude\"\nmode = \"loop\"\n");
}

/// Result of a probe of one of the other agents.
fn table(agent: AgentParams, code: i32, responder: fn(&Value) -> Step) -> Value {
    let settings = format!("[agents.{}]\n{}", agent.name, agent.settings);
    probed((agent.name, &agent.program()), &settings, code, responder, |home, url, command| {
        command.envs(agent.prepare(home, url));
    })
}

fn tools(agent: &AgentParams) -> Tools {
    Tools { read: agent.read, write: agent.write, run: agent.run }
}

/// Its tools outlive it: without a namespace they would continue.
#[test]
fn gemini_probed_leaves_its_tools_behind() {
    let report = table(GEMINI, 0, |body| honest(body, &tools(&GEMINI)));
    let table = Table::of(&report);
    table.others(&[("stop", "no")]).fact("output", "as Gemini CLI prints them");
    table.fact("hook", "the hook of its home ran, and its answer was followed");
}

/// It uses the given home folder, and its user's settings in it.
#[test]
fn gemini_probed_with_its_hooks_off_is_not_held() {
    let responder = |body: &Value| honest(body, &tools(&GEMINI));
    let settings = format!("[agents.gemini]\n{}", GEMINI.settings);
    let report = probed((GEMINI.name, &GEMINI.program()), &settings, 0, responder, |home, url, command| {
        command.envs(GEMINI.prepare(home, url));
        let auth = json!({"auth": {"selectedType": "gemini-api-key"}});
        let off = json!({"security": auth, "hooksConfig": {"enabled": false}});
        std::fs::write(home.join(".gemini/settings.json"), off.to_string()).expect("written");
    });
    let table = Table::of(&report);
    table.others(&[("hook", "no"), ("stop", "no")]).fact("hook", "the hook of its home did not run");
}

/// Its own sandbox ends its tools.
#[test]
fn codex_probed_has_a_yes_everywhere() {
    let report = table(CODEX, 0, |body| honest(body, &tools(&CODEX)));
    let table = Table::of(&report).by_network("exit-codes");
    table.others(&[]).fact("output", "as Codex prints them");
    table.fact("hook", "the hook of its command line ran, and its answer was followed");
}

#[test]
fn codex_probed_with_its_hooks_off_is_not_held() {
    let off = CODEX.with("args = [\"-c\", \"features.hooks=false\"]\n", true);
    let report = table(off, 0, |body| honest(body, &tools(&CODEX)));
    let table = Table::of(&report).by_network("exit-codes");
    table.others(&[("hook", "no")]).fact("hook", "the hook of its command line did not run");
}

/// If its user's own arguments replace ours, only the hooks of its folder remain, which are not reviewed.
#[test]
fn codex_probed_without_a_place_for_our_hook_says_nothing_of_hooks() {
    let taken = CODEX.with("args = [\"-c\", \"hooks.Stop=[]\"]\n", true);
    let report = table(taken, 0, |body| honest(body, &tools(&CODEX)));
    let table = Table::of(&report).by_network("exit-codes");
    table.others(&[("hook", "unclear")]).fact("hook", "not reviewed");
}

#[test]
fn opencode_probed_leaves_its_tools_behind_and_has_no_stop_hook() {
    let report = table(OPENCODE, 0, |body| honest(body, &tools(&OPENCODE)));
    let table = Table::of(&report).by_network("exit-codes");
    table.others(&[("stop", "no"), ("hook", "no")]).fact("output", "as OpenCode prints them");
}

/// It would retry indefinitely.
#[test]
fn opencode_probed_that_receives_only_garbage_is_ended() {
    let report = table(OPENCODE, 1, |_| Step::Garbage);
    Table::of(&report).fact("prompt", "repeatedly requested answers");
    assert_eq!(report["calls"], 1, "{report}");
}

#[test]
fn qwen_probed_leaves_its_tools_behind() {
    let report = table(QWEN, 0, |body| honest(body, &tools(&QWEN)));
    Table::of(&report).others(&[("stop", "no")]).fact("output", "as Claude Code prints them");
}

/// Hooks are not probed, and no call is spent on them. OpenCode, which is slow, runs all questions only on its own;
/// Gemini CLI often does not find its own session again.
#[test]
fn gemini_by_acp_probed_is_held_by_the_protocol() {
    let is_full = std::env::var("LOOPKEEPER_RIGS").is_ok_and(|it| it == "full");
    let opencode: fn(&Value) -> Step = |body| honest(body, &tools(&OPENCODE));
    let gemini: fn(&Value) -> Step = |body| honest(body, &tools(&GEMINI));
    for (agent, responder) in
        std::iter::once((GEMINI_ACP, gemini)).chain(is_full.then_some((OPENCODE_ACP, opencode)))
    {
        let report = table(agent, 0, responder);
        let table = Table::of(&report).without("session").by_network("exit-codes");
        table.others(&[("hook", "not-applicable")]).fact("output", "the Agent Client Protocol");
        table.fact("hook", "its session is held by the protocol, whatever hooks it has");
        let toml = report["recommendation"]["toml"].as_str().expect("text");
        let expect = format!("[agents.{}]\noutput = \"acp\"\n", agent.name);
        assert!(report["calls"] == 7 && toml.ends_with(&expect), "{report}");
    }
}
