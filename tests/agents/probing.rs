//! `doctor --probe` of real agents, with a model that does honestly what it is asked.

use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::{Value, json};

use super::hands::GEMINI;
use super::model::{Model, Step, turns};
use super::program;
use crate::cli::{Ran, Terminal};
use crate::probe::Table;

const BLOCK: &str = "---RALPH_STATUS---\nSTATUS: STATE\nEXIT_SIGNAL: SIGNAL\n---END_RALPH_STATUS---\n";
/// How each protocol marks what a tool answered.
const ANSWERS: [&str; 4] =
    ["\"tool_result\"", "\"function_call_output\"", "\"role\":\"tool\"", "\"functionResponse\""];

/// An agent's own tools.
struct Tools {
    read: fn(&Path) -> Step,
    write: fn(&Path, &'static str) -> Step,
    run: fn(&str) -> Step,
}

fn said(text: String) -> Step {
    Step::Text(text.leak())
}

fn done() -> Step {
    let block = BLOCK.replace("STATE", "COMPLETE").replace("SIGNAL", "true");
    said(format!("The sum is written.\n\n{block}\n<promise>COMPLETE</promise>"))
}

/// The honest model: it knows what the conversation holds, and nothing else.
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
        return said(own.map_or("UNKNOWN", |(_, text)| text.as_str()).to_owned());
    }
    if asked.contains("ut the parts `") {
        return said(joined(asked));
    }
    if asked.contains("sh wait.sh") {
        let is_over = ANSWERS.iter().any(|it| body.to_string().contains(it));
        return if is_over { said("DONE".to_owned()) } else { (tools.run)("sh wait.sh") };
    }
    if asked.contains("# Total") {
        let block = BLOCK.replace("STATE", "BLOCKED").replace("SIGNAL", "false");
        return said(format!("There is no ledger.\n\n{block}"));
    }
    sum(&body.to_string(), asked, tools)
}

/// Reads the numbers, writes their sum, and says so; the second time there is nothing to do.
fn sum(body: &str, asked: &str, tools: &Tools) -> Step {
    let folder = Regex::new(r#"/[^"\\\s<]*loopkeeper-probe-[0-9a-f-]+/[0-9a-f-]+"#).expect("a pattern");
    let folder = folder.find(body).map(|it| PathBuf::from(it.as_str())).unwrap_or_default();
    let answers: usize = ANSWERS.iter().map(|it| body.matches(it).count()).sum();
    match answers {
        0 if asked.contains("iteration 2 of") => done(),
        0 => (tools.read)(&folder.join("numbers.txt")),
        1 => {
            // Each stands at the end of a line, behind what named the file.
            let answer = body.rsplit("numbers.txt").next().unwrap_or_default();
            let lines = answer.replace("\\\\n", "\n").replace("\\n", "\n");
            let numbers = Regex::new(r#"(?m)(?:^|[^0-9])(\d{3,4})(?:$|"|<)"#).expect("a pattern");
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

/// What a probe of it says. `prepare` gives the variables by which it finds its model.
fn probed(
    name: &str,
    settings: &str,
    program: &Path,
    mind: fn(&Value) -> Step,
    prepare: impl FnOnce(&Path, &str, &mut Command),
) -> Value {
    let terminal = Terminal::new();
    let model = Model::with_mind(mind);
    terminal.file("loopkeeper.toml", settings);
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let folder = program.parent().expect("a folder").to_owned();
    let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&usual)));
    let mut command = terminal.command(&["doctor", "--agent", name, "--probe", "--yes", "--trust", "--json"]);
    command.env("PATH", path.expect("folders without colons"));
    prepare(&terminal.folder().join("home"), &model.url(), &mut command);
    let ran = Ran::of(&command.output().expect("the binary starts"));
    ran.expect(0);
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
    let report = probed("claude", settings, &program(), tools, |_, url, command| {
        command
            .env("ANTHROPIC_BASE_URL", url)
            .env("ANTHROPIC_API_KEY", "dummy")
            .env("DISABLE_TELEMETRY", "1");
    });
    Table::of(&report).others(&[]).fact("output", "as Claude Code prints them");
    assert!(
        report["version"].as_str().is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit())),
        "{report}"
    );
    assert_eq!(report["recommendation"]["toml"], "agent = \"claude\"\nmode = \"loop\"\n");
}

#[test]
fn gemini_probed_leaves_its_tools_behind() {
    let tools = |body: &Value| {
        let read = |path: &Path| Step::Tool("read_file", json!({"file_path": path}));
        honest(body, &Tools { read, write: GEMINI.write, run: GEMINI.run })
    };
    let settings = format!("[agents.gemini]\n{}", GEMINI.settings);
    let report = probed("gemini", &settings, &GEMINI.program(), tools, |home, url, command| {
        command.envs(GEMINI.prepare(home, url));
    });
    Table::of(&report).others(&[("stop", "no")]).fact("output", "as Gemini CLI prints them");
}
