//! What an agent can still do: every sentence of that paragraph in `SECURITY.md` is tried in the default sandbox and
//! succeeds, so that none is out of date.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;

use rustix::process::geteuid;

use super::{Attempt, Containment};
use crate::kill_domain::rig::namespace;

/// The paragraph's first words.
const TITLE: &str = "- **What an agent can still do.** ";
/// Its last sentence.
const REFERENCE: &str = "Each of these sentences has a test (`tests/rigs/ways_out/remaining.rs`).";
const ROOT: &str = "As root, it also changes settings of the kernel and opens devices.";

/// A sentence, and shell code that succeeds if it is true.
#[rustfmt::skip]
const STILL_POSSIBLE: &[(&str, &str)] = &[
    ("It reads everything else that the user can, other projects too.",
     "cat $HOME/other-project/file"),
    ("It writes in folders of the home folder whose names begin with a dot (caches, toolchains, programs), in the state of other work trees, in the count of agent calls and, unless `sandbox.kind` is `required`, in `.git/config`.",
     "for it in .cache .rustup .local/bin; do echo x > $HOME/$it/file; cat $HOME/$it/file; done; touch $STATE/workspaces/other/forged; test -w $(ls -d $STATE/*calls*); git config core.pager evil; test $(git config core.pager) = evil"),
    ("It uses the network unless `sandbox.network` limits it, and what it sends is not inspected.",
     "python3 -c \"import socket; socket.create_connection(('127.0.0.1', $(cat $HOME/port))).send(b'key')\""),
    ("It connects to services that start after it.",
     "touch $HOME/started; while ! test -S $RUN/late; do sleep 0.1; done; sleep 0.1; $CONNECT $RUN/late"),
    ("It fills the disk and uses all processors.",
     "head -c 67108864 /dev/zero > filled; rm filled; test $(nproc) = $(cat $HOME/processors)"),
    ("It writes files that run later, which the end of the loop names.",
     "echo evil > .envrc"),
    (ROOT, "exec 3<> /proc/sys/kernel/core_pattern; exec 4< /dev/kmsg"),
];

fn sentences() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/SECURITY.md");
    let page = fs::read_to_string(page).unwrap();
    let paragraph = page.lines().find_map(|it| it.strip_prefix(TITLE)).expect("the paragraph");
    let sentences = paragraph.split_inclusive(". ").map(|it| it.trim().to_owned());
    sentences.filter(|it| it != REFERENCE).collect()
}

#[test]
fn every_sentence_about_what_an_agent_can_still_do_is_tried() {
    let expect: Vec<&str> = STILL_POSSIBLE.iter().map(|it| it.0).collect();
    assert_eq!(sentences(), expect);
}

#[test]
fn what_an_agent_can_still_do_it_can() {
    if namespace().is_none() {
        return;
    }
    let attempt = Attempt::new(Containment::Default);
    for folder in ["other-project", ".cache", ".rustup", ".local/bin"] {
        fs::create_dir_all(attempt.home().join(folder)).unwrap();
    }
    fs::write(attempt.home().join("other-project/file"), "x").unwrap();
    let state = attempt.world.terminal.state();
    fs::create_dir_all(state.join("workspaces/other")).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    fs::write(attempt.home().join("port"), listener.local_addr().unwrap().port().to_string()).unwrap();
    let processors = thread::available_parallelism().unwrap();
    fs::write(attempt.home().join("processors"), processors.to_string()).unwrap();
    let (started, late) = (attempt.home().join("started"), attempt.services().join("late"));
    let service = thread::spawn(move || {
        crate::support::world::wait_until(|| started.exists(), || "no agent".to_owned());
        let listener = UnixListener::bind(late).unwrap();
        listener.accept().unwrap();
    });
    let numbers: Vec<String> = (0..STILL_POSSIBLE.len()).map(|it| it.to_string()).collect();
    let all = numbers.iter().zip(STILL_POSSIBLE).filter(|(_, it)| geteuid().is_root() || it.0 != ROOT);
    let tried: Vec<(&str, &str)> = all.map(|(number, it)| (number.as_str(), it.1)).collect();
    let succeeded = attempt.succeed(Containment::Default, &tried);
    let expect: Vec<&str> = tried.iter().map(|it| it.0).collect();
    let why = |number: &&str| fs::read_to_string(attempt.world.shared(&format!("{number}.out")));
    assert_eq!(succeeded, expect, "{:?}", expect.iter().map(why).collect::<Vec<_>>());
    service.join().unwrap();
    attempt.world.run(&["log"]).out(".envrc");
}
