//! A journal that another program wrote into, and a deleted state folder.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use super::world::World;
use crate::support::world::delete;

/// A keeper in the foreground whose first agent waits.
fn at_work(world: &World) -> Child {
    world.hold_agents();
    let mut command = world.run_command();
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    world.until("at work", |it| it.ledger().contains("start").then_some(()));
    child
}

fn interrupted(world: &World) {
    let mut child = at_work(world);
    child.kill().unwrap();
    child.wait().unwrap();
    world.assert_no_process("after the kill");
}

#[test]
fn rig_a_damaged_journal_is_named_and_nothing_starts() {
    let world = World::new();
    interrupted(&world);
    let path = world.journal();
    let sound = fs::read_to_string(&path).unwrap();
    let damaged = sound.replacen("snapshot-taken", "snapshot-tAken", 1);
    assert_ne!(sound, damaged);
    fs::write(&path, &damaged).unwrap();

    assert_eq!(world.phase(), "damaged");
    let place = format!("{} is damaged in line 2", path.display());
    world.terminal.run(&["status"]).expect(0).out(&place);
    for refused in [&["resume"][..], &["stop"]] {
        world.terminal.run(refused).expect(1).err(&place).err("Hint:");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
    assert_eq!(world.ledger().lines().count(), 1);
    world.assert_no_process("with a damaged journal");

    // Control: the damage was the obstacle.
    fs::write(&path, sound).unwrap();
    world.release_agents();
    world.resume_to_the_end();
    assert!(world.ledger().lines().count() > 1);
}

#[test]
fn rig_a_deleted_state_folder_ends_a_detached_keeper() {
    let world = World::new();
    world.hold_agents();
    world.terminal.run(&["run", "--trust", "--detach"]).expect(0);
    let pid = world.until("at work", |it| {
        it.ledger().contains("start").then(|| it.status().unwrap()["keeper"]["pid"].to_string())
    });
    delete(&world.terminal.state());
    world.until("gone", |_| (!Path::new("/proc").join(&pid).join("exe").exists()).then_some(()));
    world.assert_no_process("without a state folder");
    assert!(!world.terminal.state().exists(), "nothing is made anew");
}
