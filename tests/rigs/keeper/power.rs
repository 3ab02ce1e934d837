//! The power is cut while a keeper works: everything that it acknowledged, and every start of its agent, is on the
//! disk.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Signal, kill_process};

use super::oracle::{Evidence, LoopProgress};
use super::world::{Lines, World, keeper_pid};
use crate::cli::Ran;
use crate::rigs::disk::{Disk, stop_and_wait};
use crate::rigs::store::random;
use crate::rigs::strace::{self, Fault, FaultScope};
use crate::rigs::{times, unavailable};

/// The state after a cut, in a world that continues there.
struct Cut {
    world: World,
    evidence: Evidence,
    /// Mounted for as long as the world needs it.
    _disk: Disk,
}

/// Lets a keeper work for a while, cuts the power of its state folder's disk, and continues on the remaining state.
fn cut(keeper: impl FnOnce(&World) -> Command) -> Result<Cut, String> {
    let disk = Disk::ext4()?;
    fs::set_permissions(disk.path(), PermissionsExt::from_mode(0o700)).unwrap();
    let world = World::on(&disk.path());
    let mut command = keeper(&world);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let pid = world.until("at work", |it| {
        it.ledger().contains("start").then(|| it.loop_folder().and_then(|it| keeper_pid(&it)))?
    });
    std::thread::sleep(Duration::from_micros(random(150_000)));
    stop_and_wait(pid);
    // Processes that the keeper started before continue.
    fs::write(world.outside("dark"), "").unwrap();
    let after = disk.cut_power();
    kill_process(pid, Signal::KILL).unwrap();
    let mut stdout = String::new();
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    child.wait().unwrap();
    let printed = Ran { code: None, stdout, stderr: String::new() }.stdout_lines();
    world.assert_no_process("after the cut");
    let after = after?;
    fs::remove_file(world.outside("dark")).unwrap();
    fs::remove_file(world.terminal.state()).unwrap();
    symlink(after.path(), world.terminal.state()).unwrap();
    let mut evidence = Evidence { printed, ..Evidence::default() };
    world.collect_evidence(&mut evidence);
    Ok(Cut { world, evidence, _disk: after })
}

#[test]
fn root_power_cuts_lose_nothing_that_a_keeper_reported() {
    for _ in 0..times(3, 100) {
        let Cut { world, mut evidence, _disk } = match cut(World::run_command) {
            Ok(cut) => cut,
            Err(why) => return unavailable("power cuts under a keeper", &why),
        };
        evidence.assert_sound(LoopProgress::Killed, "after a power cut");
        assert!(evidence.printed.len() > 4);
        let goes_on = world.keeper_command().stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
        assert!(goes_on.status.success(), "{:?}", Ran::of(&goes_on));
        world.collect_evidence(&mut evidence);
        evidence.assert_sound(LoopProgress::Ended, "after a power cut and the rest");
        // Every recorded tree is in the store, including those from before the cut.
        let iterations = evidence.journal.matches("\"type\":\"iteration-ended\"").count();
        for iteration in 1..=iterations {
            world.terminal.run(&["diff", "latest", &iteration.to_string()]).expect(0);
        }
    }
}

/// Control: the same keeper with syncs that do nothing.
#[test]
fn root_power_cuts_find_a_keeper_whose_syncs_do_nothing() {
    if let Some(why) = strace::missing() {
        return unavailable("a keeper whose syncs do nothing", &why);
    }
    let unsynced = |world: &World| {
        let fault = Fault { call: "fdatasync,fsync", what: "retval=0", at: "1+".to_owned() };
        strace::in_place(
            &world.run_command(),
            &fault,
            FaultScope::AllProcesses,
            &[],
            &world.outside("strace"),
        )
    };
    match cut(unsynced) {
        Ok(cut) => assert!(!cut.evidence.faults(LoopProgress::Killed).is_empty()),
        Err(why) => unavailable("power cut under a keeper that does not sync", &why),
    }
}
