//! A terminal with a scripted agent: `tests/rigs/agent.sh` (or `acp.sh`) runs one shell act at each start. Its own
//! files are outside the work tree, so that no act on the tree can delete them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::processes::{around, remaining_around};
use crate::cli::{Ran, Terminal};

/// Far longer than any step here takes on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) struct World {
    pub(crate) terminal: Terminal,
    agent: PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        let terminal = Terminal::new();
        let agent = terminal.folder().join("agent");
        fs::create_dir(&agent).unwrap();
        fs::write(agent.join("starts"), "0\n").unwrap();
        Self { terminal, agent }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.terminal.root()
    }

    /// Files that the agent and the test share, outside of the tree: `$folder` of an act.
    pub(crate) fn shared(&self, name: &str) -> PathBuf {
        self.agent.join(name)
    }

    /// Sets the acts from the next start on.
    pub(crate) fn acts(&self, acts: &[&str]) {
        let begun = self.starts();
        for (index, act) in acts.iter().enumerate() {
            let number = begun as usize + index + 1;
            fs::write(self.shared(&format!("act.{number}")), act).unwrap();
            fs::write(self.shared("act.last"), act).unwrap();
        }
    }

    /// Writes `loopkeeper.toml` with the agent in it, or with `mine` and `other` if the settings begin with a list:
    /// both have the same command, except for `$WHO`.
    pub(crate) fn settings(&self, settings: &str, of_agent: &str) {
        let rig = if of_agent.contains("output = \"acp\"") { "acp.sh" } else { "agent.sh" };
        let rig = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rigs").join(rig);
        let (rig, folder) = (rig.display(), self.agent.display());
        let command = format!("command = [\"sh\", \"{rig}\", \"{folder}\"]\n");
        let of_agent = if of_agent.contains("command") { of_agent.to_owned() } else { command + of_agent };
        let is_list = settings.starts_with("agent = [");
        let own = if is_list { "" } else { "agent = \"mine\"\n" };
        let other = format!("[agents.other]\n{of_agent}\nenv = {{ WHO = \"other\" }}\n");
        let other = if is_list { other } else { String::new() };
        let text = format!("{own}{settings}\n[agents.mine]\n{of_agent}\n{other}");
        self.terminal.file("loopkeeper.toml", &text);
        let home = self.terminal.folder().join("home/.config/loopkeeper");
        fs::create_dir_all(&home).unwrap();
        // No test here needs ten seconds of grace time.
        fs::write(home.join("config.toml"), "limits.grace = \"300ms\"\n").unwrap();
    }

    /// Runs shell code of the user in the root.
    #[track_caller]
    pub(crate) fn shell(&self, script: &str) {
        let output = self.shell_command(script).output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn shell_command(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-ec", script])
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.terminal.folder().join("home"))
            // A commit starts this in the background, where it would outlive the script.
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "maintenance.auto")
            .env("GIT_CONFIG_VALUE_0", "false")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.terminal.run(args)
    }

    /// Number of starts of the agent.
    pub(crate) fn starts(&self) -> u64 {
        fs::read_to_string(self.shared("starts")).unwrap().trim().parse().unwrap()
    }

    /// The prompt of the n-th start of the agent.
    pub(crate) fn prompt(&self, number: u32) -> String {
        fs::read_to_string(self.shared(&format!("prompt.{number}"))).unwrap()
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.root().join(path).symlink_metadata().is_ok()
    }

    /// The folders of this world's loops, oldest first.
    pub(crate) fn loops(&self) -> Vec<PathBuf> {
        self.terminal.loops()
    }

    /// The journal of the newest loop; complete lines only.
    pub(crate) fn journal(&self) -> Vec<Value> {
        let Some(newest) = self.loops().pop() else { return Vec::new() };
        let text = fs::read_to_string(newest.join("journal.jsonl")).unwrap_or_default();
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Waits until the newest loop's journal has a matching record, and returns it.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let found = poll(|| self.journal().into_iter().rev().find(&is_it));
        found.unwrap_or_else(|| panic!("no {what} in {:#?}", self.journal()))
    }

    /// Waits for a file that an act leaves in `$folder`.
    #[track_caller]
    pub(crate) fn until_shared(&self, name: &str) {
        let path = self.shared(name);
        wait_until(|| path.exists(), || format!("no {name} by the agent in {:#?}", self.journal()));
    }

    /// The newest loop, as `status --json` shows it.
    pub(crate) fn status(&self) -> Value {
        let ran = self.run(&["status", "--json"]);
        let shown: Value = serde_json::from_str(&ran.expect(0).stdout).unwrap();
        shown["loops"][0].clone()
    }

    /// Asserts that no process of this world remains; waits for those that are about to exit.
    #[track_caller]
    pub(crate) fn assert_no_process_left(&self) {
        let stayed = remaining_around(self.terminal.folder(), TIMEOUT);
        assert!(stayed.is_empty(), "still alive: {stayed:#?}");
    }
}

impl Drop for World {
    /// A failed test must not leave its keeper running.
    fn drop(&mut self) {
        for process in around(self.terminal.folder()) {
            process.kill();
        }
    }
}

/// Waits for a condition outside of the journal.
#[track_caller]
pub(crate) fn wait_until(is_so: impl Fn() -> bool, otherwise: impl Fn() -> String) {
    assert!(poll(|| is_so().then_some(())).is_some(), "{}", otherwise());
}

/// Deletes a folder in which a process may still be creating files.
#[track_caller]
pub(crate) fn delete(folder: &Path) {
    let error = || fs::remove_dir_all(folder).err().filter(|it| it.kind() != std::io::ErrorKind::NotFound);
    wait_until(|| error().is_none(), || format!("{} stays: {:?}", folder.display(), error()));
}

/// Polls for an external condition that produces no event.
fn poll<T>(look: impl Fn() -> Option<T>) -> Option<T> {
    let until = Instant::now() + TIMEOUT;
    loop {
        let found = look();
        if found.is_some() || Instant::now() > until {
            return found;
        }
        sleep(Duration::from_millis(10));
    }
}
