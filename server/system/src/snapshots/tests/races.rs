//! Tests of races: a folder is repeatedly swapped for a symlink to the outside while a restore writes below it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rustix::fs::{CWD, RenameFlags};

use super::world::{World, contents};

struct Swapper {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
}

impl Swapper {
    fn start(a: &Path, b: &Path) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (seen, a, b) = (Arc::clone(&stop), a.to_path_buf(), b.to_path_buf());
        let thread = thread::spawn(move || {
            let mut swaps = 0;
            while !seen.load(Ordering::Relaxed) {
                swaps +=
                    u64::from(rustix::fs::renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).is_ok());
            }
            swaps
        });
        Self { stop, thread: Some(thread) }
    }

    fn stop(mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

#[test]
fn a_restore_writes_and_deletes_nothing_outside() {
    let mut world = World::new();
    let outside = tempfile::tempdir().unwrap();
    world.write(".gitignore", "/trap\n");
    world.write("d/overwritten", "target");
    world.write("d/recreated", "target");
    let target = world.take().tree;
    // The same names as inside, so that a misdirected write would hit a file.
    fs::write(outside.path().join("overwritten"), "ruined").unwrap();
    fs::write(outside.path().join("added"), "ruined").unwrap();
    let expect = contents(outside.path());
    world.link("trap", outside.path());
    for round in 0..60 {
        world.write("d/overwritten", "ruined");
        world.write("d/added", "ruined");
        let _ = fs::remove_file(world.path("d/recreated"));
        let swapper = Swapper::start(&world.path("d"), &world.path("trap"));
        let _ = world.store.restore(&target, None);
        swapper.stop();
        if world.path("d").is_symlink() {
            fs::rename(world.path("d"), world.path("other")).unwrap();
            fs::rename(world.path("trap"), world.path("d")).unwrap();
            fs::rename(world.path("other"), world.path("trap")).unwrap();
        }
        assert_eq!(contents(outside.path()), expect, "round {round}");
    }
    world.restore(&target);
    assert_eq!(fs::read_to_string(world.path("d/overwritten")).unwrap(), "target");
}

#[test]
fn control_writing_by_path_goes_astray() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    world.write("d/x", "");
    world.link("trap", outside.path());
    let swapper = Swapper::start(&world.path("d"), &world.path("trap"));
    let mut astray = false;
    for _ in 0..1_000_000 {
        let _ = fs::write(world.path("d/file"), "astray");
        astray = outside.path().join("file").exists();
        if astray {
            break;
        }
    }
    assert!(swapper.stop() > 0);
    assert!(astray);
}
