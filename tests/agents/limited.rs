//! `sandbox.network` with a list: each real agent reaches its model through the proxy of the sandbox, and nothing but it.

use std::path::Path;

use serde_json::Value;

use super::agent_params::{AgentParams, CODEX, GEMINI, OPENCODE, QWEN};
use super::journal::Journal;
use super::looping::{self, path};
use super::model::Step;
use super::others::{AgentFixture, ONE_FILE};
use crate::cli::Terminal;
use crate::kill_domain::rig::namespace;

/// Lets the model through.
fn limit(terminal: &Terminal, url: &str) {
    let host = url.trim_start_matches("http://");
    let settings = terminal.read("loopkeeper.toml") + &format!("[sandbox]\nnetwork = [\"{host}\"]\n");
    terminal.file("loopkeeper.toml", &settings);
}

fn assert_done(journal: &Journal) {
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    let networks: Vec<&Value> = journal.all("agent-started").iter().map(|it| &it["network"]).collect();
    assert_eq!(networks, ["limited to 1 host"], "{}", journal.summary());
}

fn works_with_its_model_alone(agent: AgentParams) {
    if namespace().is_none() {
        return;
    }
    let write = |root: &Path| vec![(agent.write)(&root.join("a.txt"), "one\n"), Step::Text("Written.")];
    let fixture = AgentFixture::new(agent, ONE_FILE, "", write);
    limit(&fixture.terminal, &fixture.model.url());
    assert_done(&fixture.run());
    assert_eq!(fixture.model.left(), 0);
}

#[test]
fn claude_works_with_its_model_alone() {
    if namespace().is_none() {
        return;
    }
    let fixture = looping::ClaudeFixture::new(ONE_FILE, |root| {
        vec![Step::write(&path(root, "a.txt"), "one\n"), Step::Text("Written.")]
    });
    limit(&fixture.terminal, &fixture.model.url());
    assert_done(&fixture.run());
    assert_eq!(fixture.model.left(), 0);
}

#[test]
fn codex_works_with_its_model_alone() {
    works_with_its_model_alone(CODEX);
}

#[test]
fn opencode_works_with_its_model_alone() {
    works_with_its_model_alone(OPENCODE);
}

#[test]
fn gemini_works_with_its_model_alone() {
    works_with_its_model_alone(GEMINI);
}

#[test]
fn qwen_works_with_its_model_alone() {
    works_with_its_model_alone(QWEN);
}
