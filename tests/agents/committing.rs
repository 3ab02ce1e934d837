//! Commits that are left to the agent: in its safe mode a commit succeeds and a push does not; if commits are not left
//! to it, neither does.

use std::net::TcpListener;
use std::process::Command;

use super::acp::{GEMINI_ACP, OPENCODE_ACP};
use super::agent_params::{AgentParams, CODEX, CODEX_PLAIN, GEMINI, OPENCODE, QWEN};
use super::journal::Journal;
use super::model::Step;
use super::others::{AgentFixture, ONE_FILE};
use super::{looping, others};
use crate::cli::Terminal;

const COMMIT: &str = "git add a.txt && git commit -m one";
const BYPASS: &str = "git commit --allow-empty --no-verify -m two";
const PUSH: &str = "git push origin HEAD";

/// A repository whose remote does not answer, and the listener that a push would connect to.
pub(super) fn repository(terminal: &Terminal) -> TcpListener {
    let remote = TcpListener::bind("127.0.0.1:0").expect("a free port on loopback");
    remote.set_nonblocking(true).expect("a socket");
    let url = format!("http://{}/x.git", remote.local_addr().expect("a bound address"));
    for words in [
        &["init", "-q"][..],
        &["config", "user.name", "a"],
        &["config", "user.email", "a@b"],
        &["remote", "add", "origin", &url],
        &["commit", "-q", "--allow-empty", "-m", "zero"],
    ] {
        let done = Command::new("git").args(words).current_dir(terminal.root()).output();
        assert!(done.expect("git starts").status.success(), "{words:?}");
    }
    remote
}

pub(super) fn committed(terminal: &Terminal) -> String {
    let log = Command::new("git").args(["log", "--format=%s"]).current_dir(terminal.root()).output();
    String::from_utf8(log.expect("git starts").stdout).expect("UTF-8")
}

/// The agent's denials in all iterations.
fn denied(journal: &Journal) -> String {
    journal.all("agent-ended").iter().map(|it| it["run"]["denied"].to_string()).collect()
}

/// Checks the resulting commits for `git.commit`, and which of the commands are denied.
fn check(agent: AgentParams, committer: &str, expect: &str, is_denied: &[&str]) {
    let more = format!("[git]\ncommit = \"{committer}\"\n");
    let fixture = AgentFixture::new(agent, ONE_FILE, &more, |root| {
        let run = agent.run;
        let write = (agent.write)(&root.join("a.txt"), "one\n");
        vec![write, run(COMMIT), run(BYPASS), run(PUSH), Step::Text("Done.")]
    });
    let remote = repository(&fixture.terminal);
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    assert_eq!(committed(&fixture.terminal), expect, "{}", journal.summary());
    let told = denied(&journal);
    for command in [COMMIT, BYPASS, PUSH].iter().chain(is_denied) {
        assert_eq!(
            told.contains(command),
            is_denied.contains(command),
            "{command}: {told}\n{}",
            journal.summary()
        );
    }
    assert!(remote.accept().is_err(), "it was pushed: {}", journal.summary());
}

#[test]
fn claude_commits_and_cannot_push() {
    for (committer, expect, is_denied) in
        [("agent", "one\nzero\n", &[BYPASS, PUSH][..]), ("never", "zero\n", &[COMMIT, BYPASS, PUSH])]
    {
        let fixture = looping::ClaudeFixture::new(others::ONE_FILE, |root| {
            let write = Step::write(&looping::path(root, "a.txt"), "one\n");
            vec![write, Step::bash(COMMIT), Step::bash(BYPASS), Step::bash(PUSH), Step::Text("Done.")]
        });
        let config = fixture.terminal.read("loopkeeper.toml");
        fixture.terminal.file("loopkeeper.toml", &format!("{config}[git]\ncommit = \"{committer}\"\n"));
        let remote = repository(&fixture.terminal);
        let journal = fixture.run();
        assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
        assert_eq!(committed(&fixture.terminal), expect, "{}", journal.summary());
        let told = denied(&journal);
        for command in [COMMIT, BYPASS, PUSH] {
            assert_eq!(told.contains(command), is_denied.contains(&command), "{command}: {told}");
        }
        assert!(remote.accept().is_err(), "{}", journal.summary());
    }
}

/// Its sandbox restricts paths and the network, not commands.
#[test]
fn codex_commits_and_cannot_push() {
    check(CODEX_PLAIN, "agent", "two\none\nzero\n", &[]);
    check(CODEX, "never", "zero\n", &[]);
    // A sandbox configured by the user is not changed.
    check(CODEX, "agent", "zero\n", &[]);
}

/// Files outside of its sandbox stay unchanged.
#[test]
fn codex_that_commits_leaves_hooks_and_configuration_alone() {
    let fixture = AgentFixture::new(CODEX_PLAIN, ONE_FILE, "", |root| {
        let write = (CODEX_PLAIN.write)(&root.join("a.txt"), "one\n");
        let run = CODEX_PLAIN.run;
        let hook = run("echo 'touch ran' > .git/hooks/post-checkout");
        vec![write, hook, run("git config core.hooksPath /elsewhere"), run(COMMIT), Step::Text("Done.")]
    });
    repository(&fixture.terminal);
    let before = fixture.terminal.read(".git/config");
    let journal = fixture.run();
    assert_eq!(journal.ended(0, "completed")["outcome"]["verified"], true);
    assert_eq!(committed(&fixture.terminal), "one\nzero\n", "{}", journal.summary());
    assert_eq!(fixture.terminal.read(".git/config"), before);
    assert!(!fixture.terminal.root().join(".git/hooks/post-checkout").exists());
}

#[test]
fn opencode_commits_and_cannot_push() {
    check(OPENCODE, "agent", "one\nzero\n", &[BYPASS, PUSH]);
    // Without any allowed command it has no shell at all.
    check(OPENCODE, "never", "zero\n", &["\"bash\""]);
}

#[test]
fn opencode_by_acp_commits_and_cannot_push() {
    // Its turn ends with the first refused call.
    check(OPENCODE_ACP, "agent", "one\nzero\n", &[BYPASS]);
}

/// Its rules only match the beginning of a command.
#[test]
fn gemini_commits_and_cannot_push() {
    check(GEMINI, "agent", "two\none\nzero\n", &[PUSH]);
}

/// Without any allowed command it has no shell at all.
#[test]
fn gemini_may_not_commit_where_that_is_not_left_to_it() {
    check(GEMINI, "never", "zero\n", &[COMMIT, BYPASS, PUSH]);
}

#[test]
fn gemini_by_acp_commits_and_cannot_push() {
    check(GEMINI_ACP, "agent", "one\nzero\n", &[BYPASS, PUSH]);
}

#[test]
fn qwen_commits_and_cannot_push() {
    check(QWEN, "agent", "one\nzero\n", &[BYPASS, PUSH]);
    check(QWEN, "never", "zero\n", &[COMMIT, BYPASS, PUSH]);
}
