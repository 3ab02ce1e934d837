//! The state folder on a disk that fills up while a keeper is running.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::oracle::{Evidence, LoopProgress};
use super::world::{Lines, World, output};
use crate::cli::Ran;
use crate::rigs::disk::Disk;
use crate::rigs::unavailable;

/// Room for the program's own copy and a loop or two.
const OPTIONS: &str = "size=480m,mode=0700";

/// Takes every byte that the disk has left, except `spare`.
fn fill(disk: &Path, spare: u64) -> PathBuf {
    let path = disk.join("filler");
    let mut file = fs::File::create(&path).unwrap();
    for size in [1 << 20, 1 << 12, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
    let len = file.metadata().unwrap().len();
    file.set_len(len - spare).unwrap();
    path
}

fn disk() -> Option<Disk> {
    Disk::memory(OPTIONS).inspect_err(|why| unavailable("a full disk under a keeper", why)).ok()
}

#[test]
fn root_a_full_disk_pauses_a_detached_keeper() {
    // Completely full, and full in the middle of the next writes.
    for spare in [0, 8 * 1024, 40 * 1024, 100 * 1024] {
        let Some(disk) = disk() else { return };
        let world = World::on(&disk.path());
        world.hold_agents();
        world.terminal.run(&["run", "--trust", "--detach"]).expect(0);
        world.until("at work", |it| it.ledger().contains("start").then_some(()));
        let filler = fill(&disk.path(), spare);
        world.release_agents();
        let paused = world.until("at rest", |it| {
            it.status()
                .filter(|it| ["paused", "interrupted", "ended"].contains(&it["phase"].as_str().unwrap()))
        });
        let mut evidence = Evidence::default();
        world.collect_evidence(&mut evidence);
        evidence.assert_sound(LoopProgress::Killed, "on a full disk");
        if paused["phase"] == "ended" {
            assert!(spare >= 100 * 1024, "{spare}: {paused}\n{}", evidence.journal);
            continue;
        }
        assert_eq!(paused["state"], "needsYou");
        world.terminal.run(&["status"]).expect(0).out("disk");
        assert!(evidence.journal.contains("\"reason\":\"disk\""), "{spare}: {}", evidence.journal);
        world.assert_no_process("paused for the disk");

        fs::remove_file(filler).unwrap();
        world.until("continued", |it| (it.phase() == "ended").then_some(()));
        world.collect_evidence(&mut evidence);
        evidence.assert_sound(LoopProgress::Ended, "after room was made");
        world.assert_no_process("after the end");
    }
}

/// Takes every inode that the disk has left, except `spare`.
fn fill_inodes(disk: &Path, spare: usize) -> PathBuf {
    let folder = disk.join("inodes");
    fs::create_dir(&folder).unwrap();
    let taken = (0..).map(|it| folder.join(it.to_string())).take_while(|it| fs::write(it, "").is_ok());
    for path in taken.collect::<Vec<_>>().into_iter().take(spare) {
        fs::remove_file(path).unwrap();
    }
    folder
}

#[test]
fn root_inodes_that_run_out_are_named_and_waited_for() {
    // None at all, and enough for the beginning of an iteration.
    for spare in [0, 5] {
        let disk = Disk::memory("size=480m,nr_inodes=3000,mode=0700");
        let Ok(disk) = disk.inspect_err(|why| unavailable("a disk without inodes", why)) else { return };
        let world = World::on(&disk.path());
        world.hold_agents();
        world.terminal.run(&["run", "--trust", "--detach"]).expect(0);
        world.until("at work", |it| it.ledger().contains("start").then_some(()));
        let filler = fill_inodes(&disk.path(), spare);
        world.release_agents();
        world.until("at rest", |it| (it.status()?["state"] == "needsYou").then_some(()));
        world.terminal.run(&["status"]).expect(0).out("inodes are left");
        // Nothing is charged while there is no room.
        assert_eq!(world.ledger().matches("start").count(), 1, "{}", world.ledger());

        fs::remove_dir_all(filler).unwrap();
        world.until("continued", |it| (it.phase() == "ended").then_some(()));
        let mut evidence = Evidence::default();
        world.collect_evidence(&mut evidence);
        evidence.assert_sound(LoopProgress::Ended, "after room was made");
        world.assert_no_process("after the end");
    }
}

#[test]
fn root_a_full_disk_ends_a_keeper_of_the_foreground() {
    for spare in [0, 8 * 1024, 40 * 1024] {
        let Some(disk) = disk() else { return };
        let world = World::on(&disk.path());
        world.hold_agents();
        let mut command = world.run_command();
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        world.until("at work", |it| it.ledger().contains("start").then_some(()));
        let filler = fill(&disk.path(), spare);
        world.release_agents();
        let ran = Ran::of(&output(child));
        ran.expect(1);
        let mut evidence =
            Evidence { printed: ran.stdout_lines(), excuse: Some("the disk is full"), ..Evidence::default() };
        world.collect_evidence(&mut evidence);
        evidence.assert_sound(LoopProgress::Ended, &format!("{spare} left: {ran:?}"));
        world.assert_no_process("after the end");
        fs::remove_file(filler).unwrap();
        world.terminal.run(&["status"]).expect(0).out("disk");
    }
}

#[test]
fn root_a_disk_without_room_starts_no_loop() {
    let Some(disk) = disk() else { return };
    let world = World::on(&disk.path());
    world.terminal.run(&["status"]).expect(0);
    fill(&disk.path(), 0);
    let ran = world.foreground();
    ran.expect(1).err("disk");
    assert_eq!(world.ledger(), "");
}

#[test]
fn root_a_read_only_disk_starts_no_loop_and_doctor_says_so() {
    let Some(disk) = disk() else { return };
    let world = World::on(&disk.path());
    world.terminal.run(&["status"]).expect(0);
    world.terminal.run(&["doctor"]).out("state is kept in");
    disk.make_read_only();
    world.foreground().expect(1).err("Read-only file system").err("LOOPKEEPER_STATE_DIR");
    assert_eq!(world.ledger(), "");
    world.terminal.run(&["doctor"]).expect(1).out("is read-only");
}

#[test]
fn root_a_read_only_work_tree_is_named_before_an_agent_starts() {
    let Some(disk) = disk() else { return };
    let world = World::new();
    for name in ["PROMPT.md", "loopkeeper.toml"] {
        fs::copy(world.terminal.root().join(name), disk.path().join(name)).unwrap();
    }
    disk.make_read_only();
    let mut command = world.run_command();
    let child = command.current_dir(disk.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = Ran::of(&output(child.spawn().unwrap()));
    ran.expect(1).out("the workspace cannot be snapshotted: the disk of").out("is read-only");
    assert_eq!(world.ledger(), "");
}
