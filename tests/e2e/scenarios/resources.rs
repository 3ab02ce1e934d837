//! `sandbox.memory` and `sandbox.processes`: what one agent or check may use, and how an agent that needs more is named.

use rustix::process::geteuid;

use crate::kill_domain::rig::namespace;
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

#[test]
fn an_agent_with_too_many_processes_is_named() {
    if geteuid().is_root() && (namespace().is_none() || !has_own_numbers()) {
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
