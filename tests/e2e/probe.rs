//! `loopkeeper doctor --probe` against scripts: an honest agent, and several that lie, each in another way.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{CWD, Mode, OFlags, fcntl_setfl, mkfifoat};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::cli::{Ran, Terminal};

/// The results of a probe, by question.
pub(crate) struct Table(BTreeMap<String, (String, String)>);

impl Table {
    pub(crate) fn of(report: &Value) -> Self {
        let text = |it: &Value| it.as_str().expect("text").to_owned();
        let rows = report["rows"].as_array().expect("rows").iter();
        Self(rows.map(|it| (text(&it["question"]), (text(&it["answer"]), text(&it["fact"])))).collect())
    }

    /// Every question that is not answered with yes.
    #[track_caller]
    pub(crate) fn others(&self, expect: &[(&str, &str)]) -> &Self {
        let others = self.0.iter().filter(|it| it.1.0 != "yes");
        let others: Vec<_> =
            others.map(|(question, (answer, _))| (question.as_str(), answer.as_str())).collect();
        let mut expect = expect.to_vec();
        expect.sort_unstable();
        assert_eq!(others, expect, "{:#?}", self.0);
        self
    }

    /// A question that is answered with yes if there is a network, and not with no if there is none.
    #[track_caller]
    pub(crate) fn by_network(mut self, question: &str) -> Self {
        let row = self.0.remove(question).expect("a row");
        assert!(row.0 == "yes" || row.0 == "unclear", "{question}: {row:?}");
        self
    }

    /// Removes a question whose answer varies between runs.
    pub(crate) fn without(mut self, question: &str) -> Self {
        self.0.remove(question).expect("a row");
        self
    }

    #[track_caller]
    pub(crate) fn fact(&self, question: &str, part: &str) -> &Self {
        assert!(self.0[question].1.contains(part), "{:#?}", self.0);
        self
    }
}

fn configured(kind: &str) -> Terminal {
    let terminal = Terminal::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/probe/agent.sh");
    let config = format!("[agents.fake]\ncommand = [\"sh\", \"{}\", \"{kind}\"]\n", script.display());
    terminal.file("loopkeeper.toml", &config);
    terminal
}

fn command(terminal: &Terminal, args: &[&str]) -> Command {
    let mut command = terminal.command(&[&["doctor", "--agent", "fake", "--probe"], args].concat());
    command.env("FAKE_API_KEY", "k-secret");
    command
}

fn probe(terminal: &Terminal, args: &[&str]) -> Ran {
    Ran::of(&command(terminal, args).output().expect("the binary starts"))
}

fn calls(terminal: &Terminal) -> usize {
    std::fs::read_to_string(terminal.state().join("calls")).map_or(0, |it| it.lines().count())
}

fn probed(kind: &str, code: i32) -> (Value, Table) {
    let ran = probe(&configured(kind), &["--yes", "--trust", "--json"]);
    ran.expect(code).err("starts it 8 times").err("costs what that costs");
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let table = Table::of(&report);
    (report, table)
}

#[test]
fn a_probe_of_an_honest_agent_finds_nothing_but_text() {
    let (report, table) = probed("honest", 0);
    table
        .others(&[("output", "no")])
        .fact("session", "only the call before")
        .fact("hook", "its answer was followed");
    table.fact("exit-codes", "without home and keys: exit 1");
    assert_eq!(report["calls"], 8, "{report}");
    let advice = &report["recommendation"];
    assert_eq!((&advice["drivable"], &advice["mode"]), (&true.into(), &"loop".into()), "{advice}");
    let toml = advice["toml"].as_str().expect("text");
    assert!(toml.contains("agent = \"fake\"") && toml.contains("prompt = \"stdin\""), "{toml}");
    // The recommendation is a valid configuration.
    let again = Terminal::new();
    again.file("loopkeeper.toml", toml).file("PROMPT.md", "# A\n\n## Done when\n\n- It is: `exists a`\n");
    again.run(&["run", "--dry-run"]).expect(0).out("fake");
}

#[test]
fn a_probe_detects_false_claims() {
    let check = |kind, code, others: &[(&str, &str)], fact: (&str, &str)| {
        let (report, table) = probed(kind, code);
        let others: Vec<_> = others.iter().copied().chain([("hook", "no"), ("output", "no")]).collect();
        table.others(&others).fact(fact.0, fact.1);
        report
    };
    let lies = [("work", "no"), ("honesty", "no"), ("rest", "unclear")];
    check("early", 1, &lies, ("honesty", "it claimed to be done while sum.txt was not right"));
    check("forgetful", 0, &[("session", "no")], ("session", "its answer: UNKNOWN"));
    let report = check("deaf", 0, &[("stop", "no")], ("stop", "had to be killed"));
    let toml = report["recommendation"]["toml"].as_str().expect("text");
    assert!(toml.contains("kind = \"required\"") && toml.contains("grace = \"3s\""), "{toml}");
    check("orphans", 0, &[("stop", "no")], ("stop", "left running: "));
}

#[test]
fn a_probe_of_what_does_not_answer_spends_no_more_calls() {
    let (report, table) = probed("garbage", 1);
    table
        .fact("exit-codes", "did not answer, and yet: exit 0")
        .fact("output", "looks like JSON")
        .fact("prompt", "did not answer the question");
    table.fact("session", "not tried").fact("hook", "not tried");
    assert_eq!((&report["calls"], &report["recommendation"]["toml"]), (&2.into(), &"".into()), "{report}");
}

#[test]
fn a_probe_finds_out_how_the_prompt_is_taken_and_writes_it_down() {
    let terminal = configured("argument");
    let ran = probe(&terminal, &["--yes", "--trust", "--out", "table.md"]);
    ran.expect(0).err("trying again with the prompt as an argument").out("✓ yes      gets its prompt");
    ran.out("prompt = \"argument\"").out("Written to table.md and table.json");
    let page = terminal.read("table.md");
    assert!(page.contains("| gets its prompt | yes |") && page.contains("prompt = \"argument\""), "{page}");
    let json: Value = serde_json::from_str(&terminal.read("table.json")).expect("JSON");
    assert_eq!(json["agent"], "fake");
    assert!(!format!("{}{}{page}{json}", ran.stdout, ran.stderr).contains("k-secret"));
}

/// Configured in Claude Code's settings, so that a call would show nothing about the loops here.
#[test]
fn hooks_that_are_off_are_known_without_a_call() {
    let terminal = configured("honest");
    let named = terminal.read("loopkeeper.toml").replace("[agents.fake]", "[agents.claude]");
    terminal.file("loopkeeper.toml", &named);
    let probed = |expect: (&str, usize)| {
        let mut command =
            terminal.command(&["doctor", "--agent", "claude", "--probe", "--yes", "--trust", "--json"]);
        let ran = Ran::of(&command.env("FAKE_API_KEY", "k-secret").output().expect("the binary starts"));
        ran.expect(0).err(&format!("starts it {} times", expect.1));
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        Table::of(&report).fact("hook", expect.0);
        assert_eq!(report["calls"], expect.1, "{report}");
    };
    terminal.file(".claude/settings.json", "{\"disableAllHooks\": true}");
    probed(("`disableAllHooks` in .claude/settings.json switches it off", 7));
    terminal.file(".claude/settings.local.json", "{\"disableAllHooks\": false}");
    probed(("the hook of its command line ran, and", 8));
}

#[test]
fn a_probe_starts_nothing_without_a_yes() {
    let terminal = configured("honest");
    let nothing = |args: &[&str], code, what| {
        probe(&terminal, args).expect(code).err(what);
        let home = terminal.folder().join("home");
        assert_eq!(std::fs::read_dir(home).expect("a home").count(), 0, "{args:?}");
    };
    nothing(&["--yes"], 5, "`fake` is not trusted");
    nothing(&["--trust"], 2, "`--yes` starts it without being asked");
    terminal.run(&["doctor", "--probe"]).expect(2).err("--agent");
}

#[test]
fn each_start_is_a_call_of_this_hour() {
    let terminal = configured("honest");
    probe(&terminal, &["--yes", "--trust"]).expect(0).err("of which there were 0 in the last hour");
    assert_eq!(calls(&terminal), 8);
    let limited = format!("{}[limits]\ncalls_per_hour = 15\n", terminal.read("loopkeeper.toml"));
    terminal.file("loopkeeper.toml", &limited);
    probe(&terminal, &["--yes", "--trust"])
        .expect(1)
        .err("a probe takes 8 calls, and 7 of this hour's 15 are left")
        .err("`limits.calls_per_hour`");
    assert_eq!(calls(&terminal), 8);
}

#[test]
fn a_probe_ends_what_never_exits() {
    let terminal = configured("hanging");
    let limited = format!("{}[limits]\niteration_time = \"1s\"\n", terminal.read("loopkeeper.toml"));
    terminal.file("loopkeeper.toml", &limited);
    let ran = probe(&terminal, &["--yes", "--trust", "--json"]);
    ran.expect(1).err("for at most 1.0 s").err("It does not answer");
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    Table::of(&report).fact("prompt", "was still running at its time limit");
}

/// Every process of the agent holds the pipe open: its other end shows when the last one is gone.
#[test]
fn a_probe_that_is_interrupted_leaves_nothing_behind() {
    let terminal = configured("hanging");
    let (pipe, temporary) = (terminal.folder().join("home/pipe"), terminal.folder().join("probe"));
    std::fs::create_dir(&temporary).expect("a folder");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).expect("a pipe");
    let mut command = command(&terminal, &["--yes", "--trust"]);
    let probe = command.env("TMPDIR", &temporary).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let probe = probe.expect("the binary starts");
    let mut reader = File::open(&pipe).expect("the pipe's end");
    let mut word = [0; 8];
    reader.read_exact(&mut word).expect("the agent's claim");
    assert_eq!(&word, b"started\n");
    fcntl_setfl(&reader, OFlags::NONBLOCK).expect("a flag");
    let early = reader.read(&mut word).expect_err("the agent is alive");
    assert_eq!(early.kind(), ErrorKind::WouldBlock);
    assert_eq!(std::fs::read_dir(&temporary).expect("a folder").count(), 1);

    kill_process(Pid::from_child(&probe), Signal::INT).expect("it is alive");
    Ran::of(&probe.wait_with_output().expect("it ends")).expect(130).err("Interrupted");
    assert_eq!(reader.read(&mut word).expect("no process holds the pipe any more"), 0);
    assert_eq!(std::fs::read_dir(&temporary).expect("a folder").count(), 0);
    assert_eq!(calls(&terminal), 1);
}
