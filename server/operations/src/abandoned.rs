//! Ends the processes of a loop whose keeper was killed, and removes its temporary files, as soon as a command or a
//! server reads the loop: a loop that is shown as interrupted costs nothing and changes no file.

use loopkeeper_core::liveness::KeeperLiveness;
use loopkeeper_system::loop_temporary::LoopTemporary;
use loopkeeper_system::process::orphans;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::LoopDir;

/// Does nothing if the loop has a keeper, or gets one in the meantime.
pub fn clean_up(store: &StateDir, dir: &LoopDir, has_ended: bool) {
    // An ended loop has no processes, and the search for some reads all processes of the machine.
    if has_ended || end_processes(store, dir) {
        LoopTemporary::remove_abandoned(store, dir);
    }
}

/// Returns whether no process is left.
fn end_processes(store: &StateDir, dir: &LoopDir) -> bool {
    let has_no_keeper = || store.keeper_of(dir).is_ok_and(|it| it == KeeperLiveness::Gone);
    let orphans = orphans::end_marked_while(dir.id(), has_no_keeper);
    if orphans != orphans::Orphans::default() {
        tracing::warn!(
            "ended what the killed keeper of loop {} left: {}; still running: {}",
            dir.id(),
            orphans.ended.join(", "),
            orphans.unkillable.join(", "),
        );
    }
    orphans.unkillable.is_empty()
}
