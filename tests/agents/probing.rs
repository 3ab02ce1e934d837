//! `doctor --probe` of the real CLI, with a model that does honestly what it is asked.

use std::path::PathBuf;

use regex::Regex;
use serde_json::{Value, json};

use super::model::{Model, Step};
use super::program;
use crate::cli::{Ran, Terminal};
use crate::probe::Table;

const BLOCK: &str = "---RALPH_STATUS---\nSTATUS: STATE\nEXIT_SIGNAL: SIGNAL\n---END_RALPH_STATUS---\n";

fn said(text: String) -> Step {
    Step::Text(text.leak())
}

fn done() -> Step {
    let block = BLOCK.replace("STATE", "COMPLETE").replace("SIGNAL", "true");
    said(format!("The sum is written.\n\n{block}\n<promise>COMPLETE</promise>"))
}

/// The honest model: it knows what the conversation holds, and nothing else.
fn honest(body: &Value) -> Step {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let conversation = Value::from(messages.clone()).to_string();
    let last = messages.last().map(|it| it["content"].to_string()).unwrap_or_default();
    if last.contains("ut the parts `") {
        return said(joined(&last));
    }
    if last.contains("Which word did you put together") {
        let own = messages.iter().rev().find(|it| it["role"] == "assistant");
        let known = own.and_then(|it| it["content"][0]["text"].as_str().or_else(|| it["content"].as_str()));
        return said(known.unwrap_or("UNKNOWN").to_owned());
    }
    if conversation.contains("sh wait.sh") {
        return Step::bash("sh wait.sh");
    }
    if conversation.contains("ledger.csv") {
        let block = BLOCK.replace("STATE", "BLOCKED").replace("SIGNAL", "false");
        return said(format!("There is no ledger.\n\n{block}"));
    }
    sum(&body.to_string(), &conversation)
}

/// Reads the numbers, writes their sum, and says so; the second time there is nothing to do.
fn sum(body: &str, conversation: &str) -> Step {
    let folder = Regex::new(r#"/[^"\\\s]*loopkeeper-probe-[0-9a-f-]+/[0-9a-f-]+"#).expect("a pattern");
    let folder = folder.find(body).map(|it| PathBuf::from(it.as_str())).unwrap_or_default();
    match conversation.matches("\"tool_result\"").count() {
        0 if conversation.contains("iteration 2 of") => done(),
        0 => Step::Tool("Read", json!({"file_path": folder.join("numbers.txt")})),
        1 => {
            let numbers = Regex::new(r"(?:→|\\t)(\d{3,4})").expect("a pattern");
            let sum: u64 =
                numbers.captures_iter(conversation).filter_map(|it| it[1].parse::<u64>().ok()).sum();
            Step::write(&folder.join("sum.txt").to_string_lossy(), &format!("{sum}\n"))
        }
        _ => done(),
    }
}

fn joined(text: &str) -> String {
    let rest = text.rsplit("ut the parts ").next().unwrap_or_default();
    rest.split('`').skip(1).step_by(2).take(2).collect()
}

#[test]
fn claude_probed_has_a_yes_everywhere() {
    let terminal = Terminal::new();
    let model = Model::with_mind(honest);
    terminal.file(
        "loopkeeper.toml",
        "[env.set]\nCLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = \"1\"\nCLAUDE_CODE_MAX_RETRIES = \"0\"\n",
    );
    let folder = program().parent().expect("a folder").to_owned();
    let path = std::env::join_paths([folder, PathBuf::from("/usr/bin"), PathBuf::from("/bin")]);
    let mut command =
        terminal.command(&["doctor", "--agent", "claude", "--probe", "--yes", "--trust", "--json"]);
    command
        .env("PATH", path.expect("folders without colons"))
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("ANTHROPIC_API_KEY", "dummy")
        .env("DISABLE_TELEMETRY", "1");
    let ran = Ran::of(&command.output().expect("the binary starts"));
    ran.expect(0);
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    Table::of(&report).others(&[]).fact("output", "as Claude Code prints them");
    assert!(
        report["version"].as_str().is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit())),
        "{report}"
    );
    assert_eq!(report["recommendation"]["toml"], "agent = \"claude\"\nmode = \"loop\"\n");
}
