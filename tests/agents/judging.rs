//! Judges run by the real CLIs: with read-only permissions they change nothing, whatever they try, and their verdict is
//! read.

use std::path::Path;

use loopkeeper_core::jury;
use serde_json::{Value, json};

use super::agent_params::{AgentParams, CODEX, GEMINI, OPENCODE, QWEN};
use super::model::{Model, Step, answers, turns};
use super::others::AgentFixture;

const TASK: &str =
    "# A pair\n\n## Done when\n\n- The first is there: `exists a.txt`\n- Both are there: `judge`\n";

/// Creates one file per iteration; when judging, it tries to write in two ways before it returns its verdict.
fn responder(agent: AgentParams, root: &Path) -> impl Fn(&Value) -> Step + Send + use<> {
    let root = root.to_owned();
    move |body| {
        let prompt: String = turns(body).into_iter().map(|(_, text)| text).collect();
        let write = |name: &str| (agent.write)(&root.join(name), "one\n");
        let Some(key) = jury::answer_key(&prompt) else {
            return match (answers(body), prompt.contains("iteration 1 of")) {
                (0, true) => write("a.txt"),
                (0, false) => write("b.txt"),
                _ => Step::Text("Written."),
            };
        };
        match answers(body) {
            0 => write("tool.txt"),
            1 => (agent.run)("echo no > shell.txt"),
            _ => {
                let holds = prompt.contains("+++ b/b.txt");
                let reason = if holds { "Nothing is missing." } else { "The second is missing." };
                let verdict = json!({"judge": key, "holds": holds, "reason": reason, "places": []});
                Step::Text(verdict.to_string().leak())
            }
        }
    }
}

fn judges_without_a_trace(agent: AgentParams) {
    let fixture =
        AgentFixture::with_model(agent, TASK, "", |root| Model::with_responder(responder(agent, root)));
    let journal = fixture.run();
    // The agent judged its own work.
    assert_eq!(journal.ended(6, "completed")["outcome"]["verified"], false);
    let root = fixture.terminal.root();
    // Files that its own agent wrote with the same tool exist.
    let there = ["a.txt", "b.txt", "tool.txt", "shell.txt"].map(|it| root.join(it).exists());
    assert_eq!(there, [true, true, false, false], "{}", journal.summary());
    let rounds = journal.all("checks-done");
    let result = |at: usize| &rounds[at]["round"]["results"][1];
    let told = |at: usize| (&result(at)["status"], result(at)["fact"].as_str().unwrap_or_default());
    assert_eq!(told(rounds.len() - 2), (&json!("fail"), "The second is missing."), "{}", journal.summary());
    assert_eq!(result(rounds.len() - 1)["status"], "pass", "{}", journal.summary());
    let last = &rounds[rounds.len() - 1]["round"]["judging"];
    assert!(last["calls"] == 1 && last["tokens"].as_u64().is_some_and(|it| it > 0), "{last}");
    // Both were tried each time.
    let asked = fixture.model.asked();
    let judged = asked.iter().filter(|it| turns(it).iter().any(|(_, text)| jury::answer_key(text).is_some()));
    assert_eq!(judged.map(answers).max(), Some(2));
}

#[test]
fn codex_judges_without_a_trace() {
    judges_without_a_trace(CODEX);
}

#[test]
fn opencode_judges_without_a_trace() {
    judges_without_a_trace(OPENCODE);
}

#[test]
fn gemini_judges_without_a_trace() {
    judges_without_a_trace(GEMINI);
}

#[test]
fn qwen_judges_without_a_trace() {
    judges_without_a_trace(QWEN);
}
