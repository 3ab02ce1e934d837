//! `sandbox.memory` and `sandbox.processes`: what one agent or check may use, and how an agent that needs more is named.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use loopkeeper_system::sandbox::{Isolation, ResourceLimits};
use rustix::process::geteuid;

use crate::kill_domain::rig::{BINARY, namespace};
use crate::support::scenario::{Ends::Verified, Scenario};

const FILL: &str = "python3 -c \"a = []\nwhile len(a) < 64: a.append(bytearray(1 << 24))\"";
/// Far more processes than the limit; the shell ends where it cannot start one.
const FORK: &str =
    "n=0; while [ $n -lt 1000 ]; do sleep 60 & n=$((n + 1)); echo $n > forked; done; touch done";

#[test]
fn an_agent_without_memory_is_named_and_the_next_one_starts() {
    let played = Scenario {
        criteria: &["It is there: `exists done`", "Too much: `$ ! python3 -c 'bytearray(1 << 30)'`"],
        settings: "sandbox.memory = \"256MiB\"",
        acts: &[FILL, "touch done"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    let run = &played.record("agent-ended", 1)["run"];
    assert_eq!(run["note"], "ran out of memory: `sandbox.memory` allows 256 MiB", "{run}");
    assert!(run["error"].is_null(), "{run}");
    played.world.run(&["log"]).out("ran out of memory");
}

/// Each process is far below the limit.
const FILL_TOGETHER: &str = "for it in 1 2 3 4 5 6 7 8; do python3 -c 'import time; a = bytearray(60 << 20); time.sleep(2)' & pids=\"$pids $!\"; done
for it in $pids; do wait $it || exit 1; done; touch done";

#[test]
fn processes_that_take_too_much_memory_together_are_named() {
    if let Some(why) = no_groups("memory") {
        return crate::not_run("a limit of memory for all processes of a job", &why);
    }
    let criteria = &["It is there: `exists done`"];
    let played = Scenario {
        criteria,
        settings: "sandbox.memory = \"256MiB\"",
        acts: &[FILL_TOGETHER, "touch done"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    let run = &played.record("agent-ended", 1)["run"];
    assert_eq!(run["note"], "ran out of memory: `sandbox.memory` allows 256 MiB", "{run}");
    assert_eq!(left_groups(256), Vec::<PathBuf>::new());
    // Control: they fit into a larger limit.
    let settings = "sandbox.memory = \"2GiB\"";
    Scenario { criteria, settings, acts: &[FILL_TOGETHER], ends: Verified(1, ""), ..Scenario::default() }
        .play();
}

#[test]
fn an_agent_cannot_lift_the_limits_of_its_group() {
    if namespace().is_none() {
        return;
    }
    if let Some(why) = no_groups("pids") {
        return crate::not_run("limits of a control group", &why);
    }
    let run = |settings: &str| {
        let settings = format!("sandbox.processes = 150\n{settings}");
        let criteria = &["It is there: `exists done`"];
        let scenario = Scenario { criteria, settings: &settings, acts: &[LIFT], ..Scenario::default() };
        let played = Scenario { ends: Verified(1, ""), ..scenario }.play();
        assert!(played.world.terminal.read("limits").lines().any(|it| it == "154"));
        played.world.run(&["doctor"]).out("Control groups limit their processes");
        played.world.terminal.read("succeeded")
    };
    assert_eq!(run(""), "");
    // Control.
    assert_eq!(run("sandbox.kind = \"off\""), "lifted\nleft\n");
}

const LIFT: &str = "for it in $(find /sys/fs/cgroup -type d -name 'loopkeeper-*'); do
        test -e $it/pids.max && grep -qx $$ $it/cgroup.procs || continue
        cat $it/pids.max >> limits
        (echo max > $it/pids.max) 2>&- && echo lifted >> succeeded
        (echo $$ > ${it%/*}/cgroup.procs) 2>&- && echo left >> succeeded
    done
    touch done succeeded";

/// Why this user can make no group with this limit.
fn no_groups(controller: &str) -> Option<String> {
    let limits = ResourceLimits { memory: Some(1 << 30), processes: Some(100) };
    let isolation = Isolation::unlimited(Path::new(BINARY)).with_resources(limits);
    let words = if controller == "memory" { "memory" } else { "processes" };
    let sentence = isolation.sentence();
    let of_groups = sentence.split_once("Control groups limit").and_then(|(_, it)| it.split('.').next());
    let has = of_groups.is_some_and(|it| it.contains(words));
    (!has).then_some(sentence)
}

/// Groups of ended loops with this limit of memory, which no other test has: a keeper that another test kills leaves its
/// groups to the next one.
fn left_groups(mebibytes: u64) -> Vec<PathBuf> {
    let found = Command::new("find").args(["/sys/fs/cgroup", "-name", "loopkeeper-*"]).output().unwrap();
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    // The warden has 16 MiB of its own.
    let limit = ((mebibytes + 16) << 20).to_string();
    let has_limit = |it: &PathBuf| {
        let files = ["memory.limit_in_bytes", "memory.max"].map(|name| fs::read_to_string(it.join(name)));
        files.into_iter().flatten().any(|it| it.trim() == limit)
    };
    let is_dead = |it: &PathBuf| {
        let name = it.file_name().unwrap().to_str().unwrap();
        !Path::new("/proc").join(name.split('-').nth(1).unwrap()).exists()
    };
    found.lines().map(PathBuf::from).filter(is_dead).filter(has_limit).collect()
}

#[test]
fn an_agent_with_too_many_processes_is_named() {
    let is_limited = no_groups("pids").is_none() || (namespace().is_some() && has_own_numbers());
    if geteuid().is_root() && !is_limited {
        return crate::not_run("a limit of processes for root", "needs bubblewrap and Linux 6.14");
    }
    let played = Scenario {
        criteria: &["It is there: `exists done`"],
        settings: "sandbox.processes = 100",
        acts: &[FORK, "touch done"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    let run = &played.record("agent-ended", 1)["run"];
    assert_eq!(run["note"], "ran out of processes: `sandbox.processes` allows 100", "{run}");
    let forked: u32 = played.world.terminal.read("forked").trim().parse().unwrap();
    assert!((50..1000).contains(&forked), "{forked}");
}

fn has_own_numbers() -> bool {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split('.').map(|it| it.parse::<u32>().unwrap_or(0));
    (numbers.next(), numbers.next()) >= (Some(6), Some(14))
}
