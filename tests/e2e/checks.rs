//! Rounds of checks with real shells, real files and a real repository, in every kill domain that works on this
//! machine.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use loopkeeper_core::check::{CheckResult, Status};
use loopkeeper_keeper::checks::{RoundExtent, RoundParams, run_round};
use loopkeeper_system::http::HttpClient;
use loopkeeper_system::process::WardenPool;
use loopkeeper_system::sandbox::Isolation;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::trust::permit::{CheckOrigin, Permit};
use loopkeeper_task::criterion::{Check, Compare, Criterion, Expect, PatternKind, TextPattern};
use loopkeeper_text::redact::Redactor;
use tempfile::TempDir;

use crate::kill_domain::rig::{domains, plain};

const REQUEST: &str = env!("CARGO_BIN_EXE_loopkeeper-request");

struct Bench {
    folder: TempDir,
    wardens: WardenPool,
    env: Vec<(OsString, OsString)>,
    redactor: Redactor,
    permit: Permit,
    /// The program that makes requests.
    messenger: &'static str,
    timeout: Duration,
}

impl Bench {
    fn new(domain: &Isolation) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::create_dir(folder.path().join("output")).unwrap();
        let env = vec![("PATH".into(), std::env::var_os("PATH").unwrap()), ("ONLY".into(), "this".into())];
        let redactor = Redactor::new(["hunter2-hunter2".to_owned()]);
        let state = StateDir::at(&folder.path().join("state")).unwrap();
        let permit = Permit::new(&state, &folder.path().join("root"), CheckOrigin::Typed);
        Self {
            folder,
            wardens: WardenPool::new(domain),
            env,
            redactor,
            permit,
            messenger: REQUEST,
            timeout: Duration::from_mins(1),
        }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("output")
    }

    async fn round(&self, criteria: &[Criterion]) -> Vec<CheckResult> {
        self.round_of(criteria, RoundExtent::All).await
    }

    async fn round_of(&self, criteria: &[Criterion], extent: RoundExtent) -> Vec<CheckResult> {
        let plan = RoundParams {
            root: &self.root(),
            criteria,
            extent,
            timeout: self.timeout,
            grace: Duration::from_millis(200),
            env: &self.env,
            wardens: &self.wardens,
            redactor: &self.redactor,
            permit: &self.permit,
            asker: HttpClient {
                program: Path::new(self.messenger),
                domain: self.wardens.isolation(),
                env: &self.env,
            },
            servers: &[],
            untracked: &["there before.txt".to_owned()],
            output: &self.output(),
            number: 7,
            reports: None,
        };
        run_round(&plan).await
    }

    async fn one(&self, check: Check) -> CheckResult {
        self.round(&[criterion("one", Some(check))]).await.remove(0)
    }

    /// The same bench without any trust.
    fn untrusted(self) -> Self {
        let state = StateDir::at(&self.folder.path().join("state")).unwrap();
        Self { permit: Permit::new(&state, &self.root(), CheckOrigin::Written), ..self }
    }

    /// Status and fact of a command.
    async fn says(&self, command: &str, expect: &[Expect]) -> (Status, String) {
        let result = self.one(command_of(command, expect)).await;
        (result.status, result.fact)
    }
}

fn criterion(id: &str, check: Option<Check>) -> Criterion {
    Criterion::new(id, id, check)
}

fn command_of(command: &str, expect: &[Expect]) -> Check {
    Check::Command { command: command.to_owned(), expect: expect.to_vec() }
}

fn regex(source: &str) -> TextPattern {
    TextPattern { source: source.to_owned(), kind: PatternKind::Regex }
}

#[tokio::test]
async fn an_untrusted_command_never_runs() {
    let bench = Bench::new(&plain()).untrusted();
    let (status, fact) = bench.says("touch ran", &[]).await;
    assert_eq!(
        (status, fact.as_str()),
        (Status::CouldNotRun, "not trusted: read it with `loopkeeper trust`")
    );
    assert!(!bench.root().join("ran").exists());
}

#[tokio::test]
async fn a_command_has_the_status_and_fact_of_its_exit() {
    for domain in domains() {
        let bench = Bench::new(&domain);
        fs::write(bench.root().join("here.txt"), "").unwrap();
        let at_least = |value| Expect::Number { compare: Compare::AtLeast, value };
        let table: &[(&str, &[Expect], Status, &str)] = &[
            ("true", &[], Status::Pass, "exit 0"),
            ("exit 3", &[], Status::Fail, "exit 3"),
            ("exit 3", &[Expect::Exit { code: 3 }], Status::Pass, "exit 3"),
            ("echo 76.4%", &[at_least(80.0)], Status::Fail, "76.4, needs >= 80"),
            ("printf '\\033[1m81\\033[0m\\n'", &[at_least(80.0)], Status::Pass, "81"),
            ("echo oops >&2", &[Expect::MatchesNot { pattern: regex("oops") }], Status::Fail, "/oops/ found"),
            ("kill -SEGV $$", &[], Status::CouldNotRun, "killed by SIGSEGV"),
            ("no-such-program --x", &[], Status::CouldNotRun, "program \"no-such-program\" is not installed"),
            ("touch x.sh; ./x.sh", &[], Status::CouldNotRun, "\"./x.sh\" not executable"),
            ("! false", &[], Status::Pass, "exit 0"),
            ("! echo a | grep a # found", &[], Status::Fail, "exit 1"),
            ("! sh -c 'kill -SEGV $$'", &[], Status::Pass, "exit 0"),
            // The shell alone would pass these.
            (
                "! no-such-program --x",
                &[],
                Status::CouldNotRun,
                "program \"no-such-program\" is not installed",
            ),
            ("! ./no-such-script 2>/dev/null", &[], Status::CouldNotRun, "command not found, exit 127"),
            ("! ./x.sh", &[], Status::CouldNotRun, "\"./x.sh\" not executable"),
            ("test -f here.txt && test $(env | grep -c ONLY=this) = 1", &[], Status::Pass, "exit 0"),
            ("cat && test -z \"$HOME$LOOPKEEPER_LOOP\"", &[], Status::Pass, "exit 0"),
            ("if tty; then exit 1; fi", &[], Status::Pass, "exit 0"),
        ];
        for (command, expect, status, fact) in table {
            assert_eq!(bench.says(command, expect).await, (*status, (*fact).to_owned()), "{command}");
        }
    }
}

#[tokio::test]
async fn a_round_may_end_at_its_first_failure() {
    let bench = Bench::new(&plain());
    let criteria = ["true", "exit 1", "touch ran"].map(|it| criterion(it, Some(command_of(it, &[]))));
    assert_eq!(bench.round_of(&criteria, RoundExtent::FirstFailure).await.len(), 2);
    assert!(!bench.root().join("ran").exists());
    assert_eq!(bench.round_of(&criteria, RoundExtent::All).await.len(), 3);
}

#[tokio::test]
async fn a_command_over_its_timeout_is_ended() {
    for domain in domains() {
        let bench = Bench::new(&domain);
        let slow = command_of("trap '' TERM; echo begun; sleep 1000 & sleep 1000", &[]);
        let slow = Criterion { timeout_ms: Some(2_000), ..criterion("slow", Some(slow)) };
        let results = bench.round(&[slow, criterion("next", Some(command_of("true", &[])))]).await;
        assert_eq!((results[0].status, results[0].fact.as_str()), (Status::TimedOut, "no result after 2 s"));
        assert_eq!((results[0].exit, results[0].head.as_str()), (None, "begun\n"));
        assert_eq!(results[1].status, Status::Pass);
    }
}

#[tokio::test]
async fn processes_that_survive_a_check_are_named_and_ended() {
    for domain in domains() {
        let bench = Bench::new(&domain);
        // Before its `exec` the survivor has the name of the shell.
        let result =
            bench.one(command_of("setsid sh -c 'exec sleep 1000' >/dev/null 2>&1 & echo left it", &[])).await;
        assert_eq!(result.status, Status::Pass);
        assert_eq!(result.survivors.len(), 1, "{:?}", result.survivors);
        let result = bench.one(command_of("sleep 0 & wait; echo alone", &[])).await;
        assert_eq!((result.status, result.survivors), (Status::Pass, Vec::new()));
    }
}

/// A named pipe that the check holds open as long as any of its processes lives.
fn lifeline(root: &Path) -> PathBuf {
    let path = root.join("lifeline");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    path
}

#[tokio::test]
async fn a_round_that_is_dropped_ends_its_check() {
    for domain in domains() {
        let bench = Bench::new(&domain);
        let path = lifeline(&bench.root());
        let check =
            command_of("exec 3>lifeline; echo ready >&3; setsid sleep 1000 & sleep 1000; echo over >&3", &[]);
        let criteria =
            [criterion("long", Some(check)), criterion("never", Some(command_of("touch never", &[])))];
        let (begun, begins) = tokio::sync::oneshot::channel();
        let watching = tokio::task::spawn_blocking(move || {
            let mut lines = BufReader::new(File::open(path).unwrap());
            let mut first = String::new();
            lines.read_line(&mut first).unwrap();
            begun.send(first).unwrap();
            let mut rest = String::new();
            lines.read_to_string(&mut rest).unwrap();
            rest
        });
        tokio::select! {
            results = bench.round(&criteria) => panic!("ended by itself: {results:?}"),
            first = begins => assert_eq!(first.unwrap(), "ready\n"),
        }
        // The other end is closed once every process that held it is gone.
        let rest = tokio::time::timeout(Duration::from_secs(20), watching).await.unwrap().unwrap();
        assert_eq!(rest, "");
        assert!(!bench.root().join("never").exists());
    }
}

#[tokio::test]
async fn the_whole_output_is_kept_beside_the_journal() {
    for domain in domains() {
        let bench = Bench::new(&domain);
        let result = bench.one(command_of("seq 5000; echo at $PWD/src/a.rs:3:5 >&2; exit 1", &[])).await;
        let path = bench.output().join("0007.one.out");
        let kept = fs::read_to_string(&path).unwrap();
        assert!(kept.contains("\n2500\n") && kept.contains("src/a.rs:3:5"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(result.head.starts_with("1\n2\n") && result.tail.ends_with("src/a.rs:3:5\n"));
        assert_eq!((result.locations[0].file.as_str(), result.locations[0].line), ("src/a.rs", 3));
        bench.one(command_of("echo again", &[])).await;
        assert_eq!(fs::read_to_string(&path).unwrap(), "again\n");
        let mut bench = bench;
        bench.env.push(("MY_TOKEN".into(), "s3cr3t-value".into()));
        bench.one(command_of("echo $MY_TOKEN", &[])).await;
        assert_eq!(fs::read_to_string(&path).unwrap(), "[redacted]\n");
    }
}

/// A page of warnings on one stream, with failures between them on the other.
const MIXED: &str = "i=0; while [ $i -lt 300 ]; do i=$((i + 1)); echo \"warning: number $i of many\" >&2; \
     [ $((i % 100)) = 0 ] && echo \"src/a.rs:$i:1: expected 4, got $i\"; done; exit 1";

#[tokio::test]
async fn both_streams_keep_the_order_of_writes() {
    let expect: Vec<_> = (1..=300)
        .flat_map(|n| {
            let failure = (n % 100 == 0).then(|| format!("src/a.rs:{n}:1: expected 4, got {n}"));
            [Some(format!("warning: number {n} of many")), failure].into_iter().flatten()
        })
        .collect();
    for domain in domains() {
        let bench = Bench::new(&domain);
        let result = bench.one(command_of(MIXED, &[])).await;
        let shown = result.output_within(20_000);
        assert_eq!(shown.lines().collect::<Vec<_>>(), expect);
        let kept = fs::read_to_string(bench.output().join("0007.one.out")).unwrap();
        assert_eq!(kept.lines().collect::<Vec<_>>(), expect);
        let lines = [100, 200, 300].map(|n| format!("src/a.rs:{n}:1: expected 4, got {n}"));
        assert_eq!(result.failure_lines(5, 1000), lines);
    }
}

#[tokio::test]
async fn an_expectation_of_one_stream_is_not_disturbed_by_the_other() {
    for domain in domains() {
        let bench = Bench::new(&domain);
        let number = Expect::Number { compare: Compare::Equal, value: 42.0 };
        let beside = "printf 42; echo 'took 17 s' >&2; echo; echo 'at src/a.rs:3:5' >&2";
        assert_eq!(bench.says(beside, std::slice::from_ref(&number)).await, (Status::Pass, "42".to_owned()));
        let whole = Expect::Matches { pattern: regex("^all passed$") };
        let within = "printf 'all '; echo noise >&2; echo passed";
        assert_eq!(bench.says(within, &[whole]).await.0, Status::Pass);
        // The displayed output still contains both.
        let result = bench.one(command_of(&format!("{beside}; exit 1"), &[number])).await;
        for part in ["42\n", "took 17 s\n", "at src/a.rs:3:5\n"] {
            assert!(result.output_within(1000).contains(part), "{result:?}");
        }
    }
}

#[tokio::test]
async fn a_flood_of_output_keeps_both_ends_and_the_failures() {
    for domain in domains() {
        let bench = Bench::new(&domain);
        let flood = "echo begun; yes 'warning: the same again' | head -c 96000000; \
                     echo 'src/a.rs:3:5: expected 4, got 5'; echo '1 failed' >&2; exit 1";
        let result = bench.one(command_of(flood, &[])).await;
        assert_eq!((result.status, result.fact.as_str()), (Status::Fail, "exit 1"));
        let shown = result.output_within(20_000);
        assert!(shown.starts_with("begun\nwarning: the same again\n"), "{shown}");
        assert!(shown.contains("[… 92 MiB of the output omitted here …]\n"), "{shown}");
        assert!(shown.ends_with("again\nsrc/a.rs:3:5: expected 4, got 5\n1 failed\n"), "{shown}");
        assert_eq!(result.failure_lines(5, 1000), ["src/a.rs:3:5: expected 4, got 5"]);
        let stored = fs::metadata(bench.output().join("0007.one.out")).unwrap().len();
        assert!(stored < 10_000_000, "{stored}");
    }
}

#[tokio::test]
async fn secrets_and_escapes_of_a_command_are_not_shown() {
    for domain in domains() {
        let bench = Bench::new(&domain);
        let result =
            bench.one(command_of("printf 'src/a.rs:1: \\033]0;x\\007hunter2-hunter2\\n'; exit 1", &[])).await;
        assert_eq!(result.head, "src/a.rs:1: [redacted]\n");
        assert_eq!(result.locations[0].message, "[redacted]");
    }
}

#[tokio::test]
async fn output_beyond_what_is_kept_makes_no_pass() {
    for domain in domains() {
        let bench = Bench::new(&domain);
        let flood = "echo first; seq 1000000; echo needle; seq 1000000; echo 42";
        let number = Expect::Number { compare: Compare::Equal, value: 42.0 };
        assert_eq!(bench.says(flood, &[number]).await, (Status::Pass, "42".to_owned()));
        let old = "echo 99; yes | head -c 3000000";
        let (status, fact) =
            bench.says(old, &[Expect::Number { compare: Compare::Equal, value: 99.0 }]).await;
        assert_eq!((status, fact.as_str()), (Status::Fail, "no number at the end of the output"));
        let absent = Expect::MatchesNot { pattern: regex("needle") };
        let (status, fact) = bench.says(flood, &[absent]).await;
        assert_eq!(status, Status::CouldNotRun, "{fact}");
        let seen = Expect::MatchesNot { pattern: regex("^first$") };
        assert_eq!(bench.says(flood, &[seen]).await.0, Status::Fail);
    }
}

#[tokio::test]
async fn each_kind_of_check_has_its_status_and_fact() {
    for domain in domains() {
        let bench = Bench::new(&domain);
        fs::write(bench.root().join("a.txt"), "hunter2-hunter2 TODO\n").unwrap();
        let globs = vec!["*.txt".to_owned()];
        let todo = TextPattern { source: "TODO".to_owned(), kind: PatternKind::Literal };
        let criteria = [
            criterion("exists", Some(Check::Exists { globs: globs.clone() })),
            criterion("missing", Some(Check::Missing { globs: globs.clone() })),
            criterion("has", Some(Check::Has { pattern: todo.clone(), globs: globs.clone() })),
            criterion("lacks", Some(Check::Lacks { pattern: todo, globs })),
            criterion("get", Some(Check::Get { url: "http://127.0.0.1:1/".to_owned(), expect: Vec::new() })),
            criterion("judge", Some(Check::Judge { of: None, prose: String::new() })),
            criterion("prose", None),
        ];
        let results = bench.round(&criteria).await;
        let messages: Vec<_> =
            results.iter().map(|it| (it.criterion.0.as_str(), it.status, it.fact.as_str())).collect();
        assert_eq!(
            messages,
            [
                ("exists", Status::Pass, "exists"),
                ("missing", Status::Fail, "a.txt exists"),
                ("has", Status::Pass, "found in a.txt"),
                ("lacks", Status::Fail, "\"TODO\" found in a.txt"),
                ("get", Status::CouldNotRun, "nothing listens at 127.0.0.1:1"),
                ("judge", Status::Unverified, "not asked: other checks come first"),
                ("prose", Status::Unverified, "no check"),
            ]
        );
        assert_eq!(results[3].locations[0].message, "[redacted] TODO");
    }
}

/// A server that never responds, and a request for it.
fn silent() -> (TcpListener, Check) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    (silent, Check::Get { url, expect: Vec::new() })
}

#[tokio::test]
async fn a_request_that_times_out_or_fails_does_not_pass() {
    for domain in domains() {
        let (_silent, get) = silent();
        let hurried = Bench { timeout: Duration::from_millis(200), ..Bench::new(&domain) };
        let result = hurried.one(get.clone()).await;
        assert_eq!((result.status, result.fact.as_str()), (Status::TimedOut, "no result after 200 ms"));
        let why = "could not be asked: `/nowhere/request` was not found, or is not executable.";
        let bench = Bench { messenger: "/nowhere/request", ..Bench::new(&domain) };
        let result = bench.one(get.clone()).await;
        assert_eq!((result.status, result.fact.as_str()), (Status::CouldNotRun, why));
        let bench = Bench { messenger: "/bin/false", ..Bench::new(&domain) };
        assert_eq!(bench.one(get.clone()).await.fact, "could not be asked: it was cut off");
        let bench = Bench { messenger: "/bin/true", ..Bench::new(&domain) };
        assert_eq!(bench.one(get).await.fact, "could not be asked: its answer cannot be interpreted");
    }
}

#[tokio::test]
async fn a_request_ends_with_its_dropped_round() {
    for domain in domains() {
        let (silent, get) = silent();
        // Dropping a round before its request was written would prove nothing.
        let asked = tokio::task::spawn_blocking(move || {
            let mut connection = silent.accept().unwrap().0;
            let mut line = [0; 16];
            connection.read_exact(&mut line).unwrap();
            assert_eq!(&line, b"GET / HTTP/1.1\r\n");
            connection
        });
        let bench = Bench::new(&domain);
        let mut connection = tokio::select! {
            connection = asked => connection.unwrap(),
            result = bench.one(get) => panic!("{result:?}"),
        };
        // Closed only by the exit of its process.
        let rest = tokio::task::spawn_blocking(move || connection.read_to_end(&mut Vec::new()));
        rest.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn clean_fails_on_new_untracked_files() {
    let Some(domain) = domains().into_iter().next() else { panic!("no domain") };
    let bench = Bench::new(&domain);
    let root = bench.root();
    let result = bench.one(Check::Clean).await;
    assert_eq!((result.status, result.fact.as_str()), (Status::CouldNotRun, "not a git repository"));
    let git = Command::new("git").args(["init", "-q"]).current_dir(&root).status().unwrap();
    assert!(git.success());
    fs::write(root.join("there before.txt"), "").unwrap();
    fs::write(root.join(".gitignore"), "ignored\n.gitignore\n").unwrap();
    fs::write(root.join("ignored"), "").unwrap();
    let result = bench.one(Check::Clean).await;
    assert_eq!((result.status, result.fact.as_str()), (Status::Pass, "nothing new untracked"));
    fs::write(root.join("stray.txt"), "").unwrap();
    let result = bench.one(Check::Clean).await;
    assert_eq!((result.status, result.fact.as_str()), (Status::Fail, "stray.txt is untracked"));
}
