//! A work tree with a scripted agent, the real binary on it, and everything that can be observed from outside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::oracle::Evidence;
use crate::cli::{Ran, Terminal};
use crate::kill_domain::rig::{alive, remaining, token};

/// Iteration limit of the loop.
pub(super) const LIMIT: usize = 6;
/// No wait of the rig takes this long.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// The agent records whether its start is in the journal and whether a process of an earlier start is alive: that would
/// hold the lock, in whatever process namespace. It leaves such a process behind, in a separate session and with an
/// empty environment. While the power is off the journal cannot be read.
const AGENT: &str = r#"
exec 9>>"OUTSIDE/lock"
flock -n 9 && company=alone || company=crowded
grep -qs "\"session\":\"$1\"" STATE/workspaces/*/loops/*/journal.jsonl && intent=intended || intent=unintended
[ ! -e "OUTSIDE/dark" ] || intent=dark
echo "start $1 $intent $company" >> "OUTSIDE/ledger"
echo "$1" >> work.txt
env -i setsid sh -c 'while :; do sleep 100; done' TOKEN &
while [ -e "OUTSIDE/gate" ]; do sleep 0.02; done
sleep 0.0$(($$ % 5))
"#;

/// Passes when enough iterations have left their line. No process of the agent may be alive while it runs.
const CHECK: &str = r#"
exec 9>>"OUTSIDE/lock"
flock -n 9 || echo "check - - crowded" >> "OUTSIDE/ledger"
[ "$(grep -c . work.txt)" -ge LINES ]
"#;

pub(super) struct World {
    pub(super) terminal: Terminal,
    outside: TempDir,
    token: String,
}

pub(super) struct Kind {
    /// Number of iterations that it takes.
    pub(super) lines: usize,
    /// `auto` or `off`.
    pub(super) sandbox: &'static str,
}

/// The output lines of one run of the binary.
pub(super) trait Lines {
    fn stdout_lines(&self) -> Vec<String>;
}

impl Lines for Ran {
    fn stdout_lines(&self) -> Vec<String> {
        // A last line without a line end was cut off, so it acknowledged nothing.
        self.stdout.split_inclusive('\n').filter_map(|it| it.strip_suffix('\n')).map(str::to_owned).collect()
    }
}

impl World {
    pub(super) fn new() -> Self {
        Self::of(&Kind { lines: 4, sandbox: "auto" })
    }

    /// With its state on another disk.
    pub(super) fn on(disk: &Path) -> Self {
        let world = Self::new();
        std::os::unix::fs::symlink(disk, world.terminal.state()).unwrap();
        world
    }

    pub(super) fn of(kind: &Kind) -> Self {
        let Kind { lines, sandbox } = kind;
        let world =
            Self { terminal: Terminal::new(), outside: tempfile::tempdir().unwrap(), token: token("keeper") };
        fs::write(world.outside("ledger"), "").unwrap();
        fs::write(world.agent(), world.filled(AGENT)).unwrap();
        let check = world.outside("check.sh");
        fs::write(&check, world.filled(CHECK).replace("LINES", &lines.to_string())).unwrap();
        let task = format!("# Lines\n\nCompletion criteria:\n\n- enough: `$ sh {}`\n", check.display());
        let settings = format!(
            "agent = \"stub\"\n[agents.stub]\ncommand = [\"sh\", \"{}\", \"{{session}}\"]\n\
             [limits]\niterations = {LIMIT}\ngrace = \"1s\"\n[sandbox]\nkind = \"{sandbox}\"\n",
            world.agent().display()
        );
        world.terminal.file("PROMPT.md", &task).file("loopkeeper.toml", &settings);
        world
    }

    fn filled(&self, script: &str) -> String {
        let outside = self.outside.path().to_str().unwrap();
        let state = self.terminal.state();
        script
            .replace("OUTSIDE", outside)
            .replace("STATE", state.to_str().unwrap())
            .replace("TOKEN", &self.token)
    }

    /// The path of one of the rig's own files.
    pub(super) fn outside(&self, name: &str) -> PathBuf {
        self.outside.path().join(name)
    }

    fn agent(&self) -> PathBuf {
        self.outside("agent.sh")
    }

    /// A `run` that is the loop's keeper itself.
    pub(super) fn run_command(&self) -> Command {
        self.terminal.command(&["run", "--trust", "--json"])
    }

    /// The whole loop, undisturbed.
    pub(super) fn foreground(&self) -> Ran {
        self.terminal.run(&["run", "--trust", "--json"])
    }

    /// A keeper as our child process, for the existing loop.
    pub(super) fn keeper_command(&self) -> Command {
        let folder = self.loop_folder().unwrap();
        self.terminal.command(&["keeper", folder.to_str().unwrap()])
    }

    /// Runs the agent without a keeper, as must never happen.
    pub(super) fn agent_by_hand(&self) {
        let mut command = Command::new("sh");
        command.arg(self.agent()).arg("by-hand").current_dir(self.terminal.root());
        let ran = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(ran.unwrap().success());
    }

    pub(super) fn end_strays(&self) {
        alive(&self.token).iter().for_each(crate::kill_domain::rig::LiveProcess::kill);
    }

    /// Makes every agent from now on wait until [`Self::release_agents`].
    pub(super) fn hold_agents(&self) {
        fs::write(self.outside("gate"), "").unwrap();
    }

    pub(super) fn release_agents(&self) {
        fs::remove_file(self.outside("gate")).unwrap();
    }

    /// The folder of the newest loop.
    pub(super) fn loop_folder(&self) -> Option<PathBuf> {
        let workspaces = fs::read_dir(self.terminal.state().join("workspaces")).ok()?;
        let loops = workspaces.flatten().filter_map(|it| fs::read_dir(it.path().join("loops")).ok());
        let age = |it: &PathBuf| fs::metadata(it.join("task.md")).and_then(|it| it.modified()).ok();
        loops.flatten().flatten().map(|it| it.path()).max_by_key(age)
    }

    pub(super) fn journal(&self) -> PathBuf {
        self.loop_folder().map(|it| it.join("journal.jsonl")).unwrap_or_default()
    }

    /// Adds everything that can be read now to the evidence.
    pub(super) fn collect_evidence(&self, evidence: &mut Evidence) {
        evidence.limit = LIMIT;
        evidence.journal =
            String::from_utf8_lossy(&fs::read(self.journal()).unwrap_or_default()).into_owned();
        evidence.ledger = fs::read_to_string(self.outside("ledger")).unwrap();
    }

    pub(super) fn ledger(&self) -> String {
        fs::read_to_string(self.outside("ledger")).unwrap()
    }

    /// The newest loop as `status --json` shows it; `None` before its first record.
    pub(super) fn status(&self) -> Option<Value> {
        let ran = self.terminal.run(&["status", "--json"]);
        ran.expect(0);
        let status: Value = serde_json::from_str(&ran.stdout).unwrap();
        status["loops"].as_array().unwrap().first().cloned()
    }

    pub(super) fn phase(&self) -> String {
        self.status().map(|it| it["phase"].as_str().unwrap().to_owned()).unwrap_or_default()
    }

    /// Polls until `look` returns a value.
    #[track_caller]
    pub(super) fn until<T>(&self, what: &str, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        let until = Instant::now() + LONG;
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            let log = self.loop_folder().map(|it| it.join("keeper.log")).unwrap_or_default();
            assert!(
                Instant::now() < until,
                "never {what}: {:?}\n{}\n{}",
                self.status(),
                fs::read_to_string(log).unwrap_or_default(),
                fs::read_to_string(self.journal()).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Resumes the loop until it has ended.
    pub(super) fn resume_to_the_end(&self) {
        self.terminal.run(&["resume"]).expect(0);
        self.until("ended", |it| (it.phase() == "ended").then_some(()));
    }

    /// Brings the loop to its end from any state.
    pub(super) fn to_the_end(&self) {
        match self.phase().as_str() {
            "ended" => {}
            "" => drop(self.foreground()),
            _ => self.resume_to_the_end(),
        }
    }

    /// The processes of agents that are alive now.
    pub(super) fn survivors(&self) -> Vec<String> {
        alive(&self.token).into_iter().map(|it| it.arguments).collect()
    }

    /// No process of any agent is alive or will be.
    #[track_caller]
    pub(super) fn assert_no_process(&self, when: &str) {
        let stayed = remaining(&self.token, LONG);
        assert!(stayed.is_empty(), "{when}: {stayed:?}");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // A failed test leaves no process behind either.
        if let Some(pid) = self.loop_folder().and_then(|it| keeper_pid(&it)) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        self.end_strays();
    }
}

/// The pid of the process that holds the loop's lock.
pub(super) fn keeper_pid(folder: &Path) -> Option<rustix::process::Pid> {
    let lock = fs::File::open(folder.join("lock")).ok()?;
    if lock.try_lock_shared().is_ok() {
        return None;
    }
    let pid = fs::read_to_string(folder.join("lock")).ok()?;
    rustix::process::Pid::from_raw(pid.trim().parse().ok()?)
}

/// Waits for the end of a child, with its output.
pub(super) fn output(child: Child) -> Output {
    child.wait_with_output().unwrap()
}
