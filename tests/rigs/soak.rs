//! A long night in short: many loops with one state folder, servers whose clients come and go, one client that never
//! reads, and a disk that fills up and is emptied again. Every loop ends at its limit, every request is answered, and
//! neither memory nor descriptors grow.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::disk::Disk;
use super::{times, unavailable};
use crate::cli::Terminal;
use crate::support::lsp::{Editor, uri};
use crate::support::processes::{LiveProcess, around, remaining_around};

/// Each iteration leaves a line, and the check never passes.
const SETTINGS: &str = r#"agent = "stub"
[agents.stub]
command = ["sh", "-c", "cat > /dev/null; echo $$ >> work.txt; sleep PACE"]
[limits]
iterations = LIMIT
calls_per_hour = 1000000
duration = "99h"
[breaker]
same_error = 1000000
no_progress = 1000000
"#;
const TASK: &str = "# Soak\n\nDone when:\n\n- never: `$ test -f never`\n- there is work: `exists work.txt`\n";
/// A keeper looks for room every few seconds; a busy machine takes longer.
const LONG: Duration = Duration::from_secs(120);
/// A round of requests to every server.
const PAUSE: Duration = Duration::from_millis(100);

/// The sizes of the rig.
struct Extent {
    loops: usize,
    servers: usize,
    iterations: usize,
    /// Seconds of an iteration at least: the clients need time for their rounds between the iterations.
    pace: &'static str,
    /// How often the disk fills up.
    floods: usize,
}

/// Descriptors and memory of one kind of process, the largest of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Usage {
    descriptors: usize,
    kib: usize,
}

impl Usage {
    /// `None` if the process has ended.
    fn of(pid: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let rss = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
        let kib = rss.trim().trim_end_matches(" kB").parse().ok()?;
        Some(Self { descriptors: fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count(), kib })
    }

    fn largest(all: impl Iterator<Item = Self>) -> Self {
        all.fold(Self::default(), |a, b| Self {
            descriptors: a.descriptors.max(b.descriptors),
            kib: a.kib.max(b.kib),
        })
    }
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    servers: Usage,
    keepers: Usage,
}

struct Soak {
    extent: Extent,
    disk: Disk,
    terminals: Vec<Terminal>,
    /// Those that stay from the first round to the last, then those that come and go.
    editors: Vec<Editor>,
    deaf: Editor,
    answered: usize,
    /// Loops that waited for room on the disk.
    waited: usize,
}

impl Soak {
    fn new(extent: Extent, disk: Disk) -> Self {
        let terminals: Vec<Terminal> = (0..extent.loops).map(|_| Terminal::new()).collect();
        for terminal in &terminals {
            symlink(disk.path(), terminal.state()).unwrap();
            let settings =
                SETTINGS.replace("LIMIT", &extent.iterations.to_string()).replace("PACE", extent.pace);
            terminal.file("PROMPT.md", TASK).file("loopkeeper.toml", &settings);
            terminal.run(&["run", "--trust", "--detach"]).expect(0);
        }
        let deaf = Editor::start_unread(terminals[0].command(&["--stdio"]));
        let mut soak = Self { extent, disk, terminals, editors: Vec::new(), deaf, answered: 0, waited: 0 };
        soak.editors = (0..soak.extent.servers).map(|it| soak.open_editor(it)).collect();
        soak
    }

    fn open_editor(&self, number: usize) -> Editor {
        let terminal = &self.terminals[number % self.terminals.len()];
        let mut editor = Editor::start(terminal.command(&["--stdio"]));
        let capabilities = json!({"experimental": {"loopkeeper": {"version": 1}}});
        editor.initialize(&terminal.root(), &json!({"capabilities": capabilities}));
        editor
    }

    /// Every server answers; one of the clients goes and another one comes.
    fn round(&mut self, number: usize) {
        let staying = self.editors.len().div_ceil(2);
        let leaving = staying + number % (self.editors.len() - staying);
        let newcomer = self.open_editor(number);
        // Half of them close properly, the others are gone at once.
        let mut left = std::mem::replace(&mut self.editors[leaving], newcomer);
        if number.is_multiple_of(2) {
            left.quit();
        }
        drop(left);
        for (number, editor) in self.editors.iter_mut().enumerate() {
            let file = uri(&self.terminals[number % self.terminals.len()].root().join("PROMPT.md"));
            let document = json!({"textDocument": {"uri": file}});
            let loops = editor.request("loopkeeper/loops", &json!({"all": true}));
            // Of the ended ones, the last are listed.
            let listed = loops["loops"].as_array().unwrap().len();
            assert!(listed >= self.extent.loops.min(20), "{loops:#}");
            editor.request("textDocument/codeLens", &document);
            self.answered += 2;
        }
        for id in 0..20 {
            let request =
                json!({"jsonrpc": "2.0", "id": id, "method": "loopkeeper/loops", "params": {"all": true}});
            self.deaf.send(&request);
        }
    }

    /// Iterations of all loops so far.
    fn iterations(&self) -> usize {
        let lines = |it: &Terminal| fs::read_to_string(it.root().join("work.txt")).unwrap_or_default();
        self.terminals.iter().map(|it| lines(it).lines().count()).sum()
    }

    fn statuses(&self) -> Vec<Value> {
        let status = |it: &Terminal| {
            let shown: Value = serde_json::from_str(&it.run(&["status", "--json"]).expect(0).stdout).unwrap();
            shown["loops"][0].clone()
        };
        self.terminals.iter().map(status).collect()
    }

    /// Of the servers that stay and of the keepers.
    fn sample(&self, what: &str) -> Sample {
        let staying = self.editors.iter().take(self.editors.len().div_ceil(2)).map(Editor::pid);
        let servers = Usage::largest(staying.chain([self.deaf.pid()]).filter_map(Usage::of));
        let keepers = self.statuses().into_iter().filter_map(|it| it["keeper"]["pid"].as_u64());
        let keepers = Usage::largest(keepers.filter_map(|it| Usage::of(it as u32)));
        let sample = Sample { servers, keepers };
        print(&format!(
            "{what}: {} iterations, {} answers, {} waits, {sample:?}",
            self.iterations(),
            self.answered,
            self.waited
        ));
        sample
    }

    /// Fills the disk until a loop waits for room, and empties it.
    fn flood(&mut self) {
        let filler = self.disk.path().join("filler");
        let mut file = fs::File::create(&filler).unwrap();
        let is_waiting = |it: &Value| it["state"] == "needsYou" && it.to_string().contains("disk");
        let until = Instant::now() + LONG;
        loop {
            // What a keeper releases is taken at once.
            for size in [1 << 20, 1 << 12, 1] {
                while file.write_all(&vec![0; size]).is_ok() {}
            }
            let statuses = self.statuses();
            let waiting = statuses.iter().filter(|it| is_waiting(it)).count();
            if waiting > 0 || statuses.iter().all(|it| it["phase"] == "ended") {
                self.waited += waiting;
                break;
            }
            assert!(Instant::now() < until, "no loop waits for the disk: {statuses:#?}");
        }
        fs::remove_file(filler).unwrap();
    }

    /// Runs until every loop has ended.
    fn run(&mut self) -> Vec<Sample> {
        let all = self.extent.loops * self.extent.iterations;
        // The middle and the end are compared: what a process loads once is loaded by then.
        let (mut marks, mut floods) = (vec![(10, "start"), (50, "middle"), (70, "end")].into_iter(), 0);
        let (mut next, mut samples) = (marks.next(), Vec::new());
        let (mut last, mut moved) = (0, Instant::now());
        for number in 0.. {
            self.round(number);
            let done = self.iterations();
            if let Some((_, what)) = next.filter(|(percent, _)| done * 100 >= all * percent) {
                samples.push(self.sample(what));
                next = marks.next();
            }
            if floods < self.extent.floods && done * (self.extent.floods + 2) >= all * (floods + 1) {
                self.flood();
                floods += 1;
            }
            if done > last {
                (last, moved) = (done, Instant::now());
            } else if self.statuses().iter().all(|it| it["phase"] == "ended") {
                return samples;
            }
            assert!(moved.elapsed() < LONG, "no progress after {done}: {:#?}", self.statuses());
            std::thread::sleep(PAUSE);
        }
        unreachable!("the rounds have no end")
    }

    fn assert_ended(&self) {
        for status in self.statuses() {
            assert_eq!(status["iteration"], self.extent.iterations, "{status:#}");
            assert_eq!(status["outcome"]["kind"], "limit", "{status:#}");
        }
    }

    /// With its clients, every process ends.
    fn close(&mut self) {
        self.editors.iter_mut().for_each(Editor::quit);
        self.deaf.close_stdin();
        for terminal in &self.terminals {
            let stayed = remaining_around(terminal.folder(), LONG);
            assert!(stayed.is_empty(), "still alive: {stayed:#?}");
        }
    }
}

impl Drop for Soak {
    fn drop(&mut self) {
        for terminal in &self.terminals {
            around(terminal.folder()).iter().for_each(LiveProcess::kill);
        }
    }
}

fn print(line: &str) {
    // Not `eprintln`, which the test harness captures.
    let _ = writeln!(std::io::stderr(), "soak: {line}");
}

/// More than this much more memory at the end than in the middle is growth.
fn assert_flat(what: &str, middle: Usage, end: Usage) {
    let is_flat = end.kib <= middle.kib + middle.kib / 5 + 2_048 && end.descriptors <= middle.descriptors + 8;
    assert!(is_flat, "{what} grow from {middle:?} to {end:?}");
}

#[test]
fn root_rig_soak_of_loops_and_servers_grows_nowhere() {
    let size = times(160, 2_000);
    let Ok(disk) =
        Disk::memory(&format!("size={size}m,mode=0700")).inspect_err(|why| unavailable("a soak", why))
    else {
        return;
    };
    let extent = Extent {
        loops: times(3, 50),
        servers: times(3, 30),
        iterations: times(40, 200),
        pace: ["0.2", "2"][times(0, 1)],
        floods: times(1, 6),
    };
    let mut soak = Soak::new(extent, disk);
    let samples = soak.run();
    soak.sample("after the loops");
    soak.assert_ended();
    soak.close();
    assert!(soak.waited > 0, "no loop waited for the disk");
    let [_, middle, end] = samples[..] else { panic!("{samples:?}") };
    assert_flat("servers", middle.servers, end.servers);
    assert!(middle.keepers.kib > 0, "no keeper was there in the middle");
    assert_flat("keepers", middle.keepers, end.keepers);
}

/// Control: a process that grows is noticed.
#[test]
#[should_panic(expected = "servers grow")]
fn control_growth_is_noticed() {
    let middle = Usage { descriptors: 20, kib: 20_000 };
    assert_flat("servers", middle, Usage { descriptors: 29, kib: 20_000 });
}
