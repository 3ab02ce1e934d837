//! The real Claude Code in a separate terminal, as its user sees it, with the hooks of `hook install`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};

use super::journal::Journal;
use super::looping::{ClaudeFixture, THREE_LINES, path, three_lines};
use super::model::{OF_AN_ANSWER, Step};
use super::program;
use crate::not_run;

/// Far longer than any step here takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(90);
const KEY: &str = "dummy-key-of-twenty-letters";

/// A terminal in which Claude Code runs; both end with the test.
struct Screen {
    socket: PathBuf,
    fixture: ClaudeFixture,
}

impl Screen {
    /// Claude Code after the first start in this folder.
    fn open(fixture: ClaudeFixture, variables: &[(&str, &str)]) -> Self {
        let home = fixture.terminal.folder().join("home");
        let root = fixture.terminal.root().canonicalize().expect("a real path");
        let known = json!({
            "hasCompletedOnboarding": true,
            "customApiKeyResponses": {"approved": [KEY[KEY.len() - 20..]], "rejected": []},
            "projects": {root.to_string_lossy(): {"hasTrustDialogAccepted": true}},
        });
        fs::write(home.join(".claude.json"), known.to_string()).expect("written");
        let screen = Self { socket: fixture.terminal.folder().join("tmux.sock"), fixture };
        let mut command = screen.tmux(&["new-session", "-d", "-x", "150", "-y", "50"]);
        command.args([program().to_string_lossy().as_ref(), "--permission-mode", "acceptEdits"]);
        command.envs(variables.iter().copied());
        assert!(command.status().expect("tmux starts").success());
        screen.until("accept edits on", |it| it.contains("accept edits on"));
        screen
    }

    fn tmux(&self, args: &[&str]) -> Command {
        let socket = self.socket.to_string_lossy();
        let first = ["-S", &socket, "-f", "/dev/null"];
        let mut tmux = self.fixture.terminal.command_of(Path::new("tmux"), &first);
        tmux.args(args)
            .env("TERM", "xterm-256color")
            .env("ANTHROPIC_BASE_URL", self.fixture.model.url())
            .env("ANTHROPIC_API_KEY", KEY)
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_AUTOUPDATER", "1");
        tmux
    }

    /// Everything that was displayed.
    fn text(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p", "-S", "-2000"]).output().expect("tmux answers");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[track_caller]
    fn until(&self, what: &str, is_it: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let text = self.text();
            if is_it(&text) {
                return text;
            }
            assert!(
                begun.elapsed() < TIMEOUT,
                "no {what} on the screen:\n{text}\n{}",
                self.journal().summary()
            );
            sleep(Duration::from_millis(100));
        }
    }

    /// Types the text and presses Enter.
    #[track_caller]
    fn say(&self, text: &str) {
        assert!(self.tmux(&["send-keys", "-l", text]).status().expect("tmux answers").success());
        self.until(text, |it| it.contains(&format!("❯ {text}")) || it.contains(&format!("❯\u{a0}{text}")));
        assert!(self.tmux(&["send-keys", "Enter"]).status().expect("tmux answers").success());
    }

    fn journal(&self) -> Journal {
        Journal::of(&self.fixture.terminal.run(&["log", "--json"]))
    }

    #[track_caller]
    fn until_recorded(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Journal {
        let begun = Instant::now();
        loop {
            let journal = self.journal();
            if journal.records.iter().any(&is_it) {
                return journal;
            }
            assert!(begun.elapsed() < TIMEOUT, "no {what}: {}\n{}", journal.summary(), self.text());
            sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]).status();
    }
}

/// A loop that waits for a session. `None`: no terminal is available.
fn waiting(settings: &str, script: impl FnOnce(&Path) -> Vec<Step>) -> Option<ClaudeFixture> {
    if Command::new("tmux").arg("-V").output().is_err() {
        not_run("Claude Code in a terminal", "tmux is not installed");
        return None;
    }
    let fixture = ClaudeFixture::new(THREE_LINES, script);
    let settings = format!("{}{settings}", fixture.terminal.read("loopkeeper.toml"));
    fixture.terminal.file("count.sh", "wc -l < a.txt\n").file("loopkeeper.toml", &settings);
    fixture.terminal.run(&["hook", "install"]).expect(0);
    fixture.terminal.run(&["run", "--attach", "--trust"]).expect(0);
    Some(fixture)
}

#[test]
fn claude_in_its_users_terminal_works_three_iterations() {
    let Some(fixture) = waiting("", three_lines) else { return };
    let screen = Screen::open(fixture, &[]);
    screen.say("go");
    // It may clear the screen later.
    screen.until("notice", |it| it.contains("Ralph: this session works on Three lines, iteration 1"));
    let seen = screen.until("end", |it| it.contains("ompleted, verified"));
    assert!(seen.contains("Three lines are there."), "{seen}");
    let journal = screen.until_recorded("end", |it| it["type"] == "ended");
    let ended = &journal.all("ended")[0]["outcome"];
    assert_eq!(
        (&ended["kind"], &ended["verified"]),
        (&json!("completed"), &json!(true)),
        "{}",
        journal.summary()
    );
    let runs = journal.all("agent-ended");
    assert_eq!((runs.len(), journal.all("session-joined").len()), (3, 1), "{}", journal.summary());
    assert!(runs.iter().all(|it| it["run"]["ending"] == "held"), "{runs:#?}");
    assert_eq!(runs[1]["run"]["finalText"], "Two lines are there.");
    // The tokens that the model reports for each of its responses; on a slow machine the last is recorded too late.
    let tokens = runs.iter().filter_map(|it| it["run"]["tokens"].as_u64()).sum::<u64>();
    assert!(tokens == 8 * OF_AN_ANSWER || tokens == 7 * OF_AN_ANSWER, "{tokens}: {}", journal.summary());
    // One conversation, in which every response of the hook is the next prompt.
    let told = screen.fixture.model.asked().last().expect("a request").to_string();
    assert!((1..4).all(|it| told.contains(&format!("iteration {it} of at most"))), "{told}");
    assert_eq!(screen.fixture.model.left(), 0);
    // The session is the user's: it outlives the loop.
    let pid = journal.all("agent-started")[0]["pid"].as_i64().and_then(|it| Pid::from_raw(it as i32));
    assert!(pid.is_some_and(|it| test_kill_process(it).is_ok()), "{}", journal.summary());
    screen.fixture.terminal.run(&["hook", "remove"]).expect(0);
    assert!(!screen.fixture.terminal.root().join(".claude").exists());
}

#[test]
fn claude_in_its_users_terminal_is_left_alone_without_the_hooks() {
    let Some(fixture) = waiting("", |_| vec![Step::Text("Good morning.")]) else { return };
    fixture.terminal.run(&["hook", "remove"]).expect(0);
    let screen = Screen::open(fixture, &[]);
    screen.say("go");
    screen.until("answer", |it| it.contains("Good morning."));
    screen.say("bye");
    screen.until("second answer", |_| screen.fixture.model.asked().len() >= 2);
    assert!(screen.journal().all("session-joined").is_empty(), "{}", screen.journal().summary());
    screen.fixture.terminal.run(&["stop"]).expect(0);
}

#[test]
fn claude_in_its_users_terminal_continues_after_its_own_cap() {
    let Some(fixture) = waiting("", three_lines) else { return };
    let screen = Screen::open(fixture, &[("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "1")]);
    screen.say("go");
    screen.until("rest", |it| it.contains("send your session any prompt"));
    assert!(screen.text().contains("Two lines are there."));
    screen.say("again");
    screen.until("end", |it| it.contains("ompleted, verified"));
    let journal = screen.until_recorded("end", |it| it["type"] == "ended");
    assert_eq!((journal.all("agent-ended").len(), journal.all("session-joined").len()), (3, 2));
    let rests = journal.all("paused");
    assert!(rests[1]["message"].to_string().contains("no longer continues this turn"), "{rests:#?}");
}

#[test]
fn claude_that_is_closed_by_its_user_can_be_followed_by_another() {
    let Some(fixture) = waiting("", |root| {
        let mut script = three_lines(root);
        script.insert(2, Step::bash("sleep 60"));
        script
    }) else {
        return;
    };
    let screen = Screen::open(fixture, &[]);
    screen.say("go");
    screen.until_recorded("second iteration", |it| it["type"] == "agent-started" && it["iteration"] == 2);
    let _ = screen.tmux(&["kill-server"]).status();
    let is_it = |it: &Value| it["type"] == "paused" && it["message"].to_string().contains("was closed");
    screen.until_recorded("rest", is_it);
    screen.fixture.terminal.run(&["stop"]).expect(0);
}

#[test]
fn claude_in_its_users_terminal_is_refused_subagents_over_the_budget() {
    let subagent = |what: &str| {
        let input =
            json!({"description": what, "prompt": "Say what you see.", "subagent_type": "general-purpose"});
        Step::Tool("Task", input)
    };
    let Some(fixture) = waiting("[spawns]\nbudget = 1\n", |root| {
        let mut script = vec![subagent("look around"), Step::Text("I see a task."), subagent("look again")];
        script.extend([
            Step::write(&path(root, "a.txt"), "one\ntwo\nthree\n"),
            Step::Text("Three lines are there."),
        ]);
        script
    }) else {
        return;
    };
    // Otherwise they run in the background, concurrently with the turn that started them, and take each other's steps.
    let screen = Screen::open(fixture, &[("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1")]);
    screen.say("go");
    screen.until("end", |it| it.contains("ompleted, verified"));
    let journal = screen.until_recorded("end", |it| it["type"] == "ended");
    let asked = journal.all("subagent-asked");
    assert_eq!(asked.len(), 2, "{}", journal.summary());
    let why = asked[1]["refused"].as_str().expect("refused");
    assert!(asked[0]["refused"].is_null() && why.contains("budget, 1 subagent, is used up"), "{asked:#?}");
    let (started, ended) = (journal.all("subagent-started"), journal.all("subagent-ended"));
    assert_eq!((started.len(), ended.len()), (1, 1), "{}", journal.summary());
    assert_eq!((&started[0]["id"], &started[0]["call"]), (&ended[0]["id"], &asked[0]["call"]));
    let asked = screen.fixture.model.asked();
    assert!(asked.iter().any(|it| it.to_string().contains(why)), "it reads why");
}
