//! Agents that implement the Agent Client Protocol natively, each with `output = "acp"`: the same loops as without it,
//! and their denials.

use std::path::Path;

use super::agent_params::{AgentParams, GEMINI, OPENCODE, QWEN};
use super::model::Step;
use super::others::{
    AgentFixture, ONE_FILE, continues_its_session, is_retried_after_a_rate_limit, no_check, outside, stopped,
    three_iterations, waits_for_the_reset_of_its_quota,
};

pub(super) const GEMINI_ACP: AgentParams =
    GEMINI.with("output = \"acp\"\nmodel = \"gemini-2.5-flash\"\n", true);
pub(super) const OPENCODE_ACP: AgentParams = OPENCODE.with("output = \"acp\"\n", false);
const QWEN_ACP: AgentParams = QWEN.with("output = \"acp\"\nargs = [\"--auth-type\", \"openai\"]\n", false);

/// A call that is no check is asked about, and runs once the user allows it.
fn asks(agent: AgentParams) {
    let task = "# A file\n\n## Done when\n\n- It is there: `has \"yes\" b.txt`\n";
    let run = |_: &Path| vec![(agent.run)("echo yes > b.txt"), Step::Text("Done.")];
    let fixture = AgentFixture::new(agent, task, "permissions = \"ask\"\n", run);
    fixture.order(&["run", "--trust", "--detach"]);
    let asked = fixture.once(|it| it["question"]["kind"] == "permission");
    let text = asked["question"]["text"].as_str().expect("a text");
    assert!(text.contains("test runner): echo yes > b.txt"), "{text}");
    assert!(!fixture.terminal.root().join("b.txt").exists());
    fixture.order(&["answer", "latest", "allow"]);
    let ended = fixture.once(|it| it["state"] == "done");
    assert_eq!((&ended["outcome"]["verified"], &ended["iteration"]), (&true.into(), &1.into()), "{ended:#}");
}

#[test]
fn gemini_by_acp_asks_its_user() {
    asks(GEMINI_ACP);
}

#[test]
fn opencode_by_acp_asks_its_user() {
    asks(OPENCODE_ACP);
}

#[test]
fn gemini_by_acp_completes_three_iterations() {
    three_iterations(GEMINI_ACP);
}

/// It often does not find its own session again: the loop then begins a new one, and ends well either way.
#[test]
fn gemini_by_acp_that_loses_its_session_starts_again() {
    let fixture = AgentFixture::new(GEMINI_ACP, ONE_FILE, "[session]\ncontinue = true\n", |root| {
        vec![Step::Text("Looking."), (GEMINI.write)(&root.join("a.txt"), "one\n"), Step::Text("Written.")]
    });
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    let lost: Vec<bool> =
        journal.all("agent-ended").iter().map(|it| it["run"]["sessionLost"] == true).collect();
    assert!(matches!(lost[..], [false, true, false] | [false, false]), "{lost:?} {}", journal.summary());
}

#[test]
fn gemini_by_acp_turned_away_for_a_moment_is_waited_for() {
    is_retried_after_a_rate_limit(GEMINI_ACP);
}

#[test]
fn gemini_by_acp_over_its_quota_is_waited_for() {
    waits_for_the_reset_of_its_quota(GEMINI_ACP);
}

#[test]
fn gemini_by_acp_is_denied_commands_that_are_no_checks() {
    no_check(GEMINI_ACP);
}

#[test]
fn gemini_by_acp_stopped_while_a_tool_runs_leaves_nothing() {
    stopped(GEMINI_ACP, "auto", "");
}

#[test]
fn gemini_by_acp_stopped_while_a_tool_runs_leaves_nothing_without_a_namespace() {
    stopped(GEMINI_ACP, "off", "");
}

#[test]
fn opencode_by_acp_completes_three_iterations() {
    three_iterations(OPENCODE_ACP);
}

#[test]
fn opencode_by_acp_continues_its_session() {
    continues_its_session(OPENCODE_ACP);
}

#[test]
fn opencode_by_acp_turned_away_for_a_moment_is_waited_for() {
    is_retried_after_a_rate_limit(OPENCODE_ACP);
}

#[test]
fn opencode_by_acp_over_its_quota_is_waited_for() {
    waits_for_the_reset_of_its_quota(OPENCODE_ACP);
}

#[test]
fn opencode_by_acp_is_denied_commands_that_are_no_checks() {
    no_check(OPENCODE_ACP);
}

#[test]
fn opencode_by_acp_is_denied_paths_outside() {
    outside(OPENCODE_ACP, "");
}

#[test]
fn opencode_by_acp_stopped_while_a_tool_runs_leaves_nothing() {
    stopped(OPENCODE_ACP, "auto", "");
}

#[test]
fn opencode_by_acp_stopped_while_a_tool_runs_leaves_nothing_without_a_namespace() {
    stopped(OPENCODE_ACP, "off", "");
}

/// It has no stop hook, and is held anyway.
#[test]
fn opencode_by_acp_works_two_iterations_in_one_session() {
    let fixture = AgentFixture::new(OPENCODE_ACP, ONE_FILE, "", |root| {
        vec![Step::Text("Looking."), (OPENCODE.write)(&root.join("a.txt"), "one\n"), Step::Text("Written.")]
    });
    let settings = format!("mode = \"hook\"\n{}", fixture.terminal.read("loopkeeper.toml"));
    fixture.terminal.file("loopkeeper.toml", &settings);
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    let endings: Vec<_> = journal.all("agent-ended").iter().map(|it| it["run"]["ending"].clone()).collect();
    assert_eq!(endings, ["held", "held"], "{}", journal.summary());
    assert_eq!(journal.all("agent-left").len(), 1);
    // The second prompt was sent in the same conversation.
    assert_eq!(fixture.model.prompts().len(), 1, "{:#?}", fixture.model.prompts());
}

#[test]
fn qwen_by_acp_does_its_work() {
    let fixture = AgentFixture::new(QWEN_ACP, ONE_FILE, "", |root| {
        vec![(QWEN.write)(&root.join("a.txt"), "one\n"), Step::Text("Written.")]
    });
    assert_eq!(fixture.run().ended(0, "completed")["outcome"]["verified"], true);
}

#[test]
fn qwen_by_acp_is_denied_commands_that_are_no_checks() {
    no_check(QWEN_ACP);
}
