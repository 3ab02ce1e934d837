use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

const T0: u64 = 1_795_000_000_000;

struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new(text: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = Self { folder };
        if !text.is_empty() {
            std::fs::write(world.path(), text).unwrap();
        }
        world
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("calls")
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.path()).unwrap()).into_owned()
    }

    #[track_caller]
    fn take(&self, of: &str, iteration: u32, limit: u32, at: u64) -> CallSlot {
        let now = Moment { wall: at, awake: at - T0 + 1_000 };
        take_slot(&self.path(), &CallRequest { loop_id: of.to_owned(), iteration, limit }, now)
            .unwrap()
            .expect("free")
    }
}

fn taken(this_hour: u32) -> CallSlot {
    CallSlot::Taken { this_hour }
}

fn full(wall: u64) -> CallSlot {
    CallSlot::Full { until: Moment { wall, awake: wall - T0 + 1_000 } }
}

#[test]
fn a_slot_is_free_again_after_an_hour() {
    let world = World::new(b"");
    assert_eq!(this_hour(&world.path(), T0).unwrap(), 0);
    assert_eq!(world.take("a", 1, 2, T0), taken(1));
    assert_eq!(world.take("b", 1, 2, T0 + 1_000), taken(2));
    let made = |at| this_hour(&world.path(), at).unwrap();
    assert_eq!((made(T0 + 1_000), made(T0 + HOUR_MS), made(T0 + HOUR_MS + 1_000)), (2, 1, 0));
    assert_eq!(world.take("a", 2, 2, T0 + 2_000), full(T0 + HOUR_MS));
    assert_eq!(world.take("a", 2, 2, T0 + HOUR_MS - 1), full(T0 + HOUR_MS));
    assert_eq!(world.take("a", 2, 2, T0 + HOUR_MS), taken(2));
    assert_eq!(world.take("b", 2, 2, T0 + HOUR_MS), full(T0 + HOUR_MS + 1_000));
    // Another loop has another limit; under a lower one more than the oldest call must expire.
    assert_eq!(world.take("c", 1, 3, T0 + HOUR_MS), taken(3));
    assert_eq!(world.take("d", 1, 1, T0 + HOUR_MS + 10), full(T0 + HOUR_MS + HOUR_MS));
    let mode = std::fs::metadata(world.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn the_same_iteration_is_charged_once() {
    let world = World::new(b"");
    assert_eq!(world.take("a", 1, 1, T0), taken(1));
    assert_eq!(world.take("a", 1, 1, T0 + 5_000), taken(1));
    assert_eq!(this_hour(&world.path(), T0 + 5_000).unwrap(), 1);
    // The call counts from its actual start.
    assert_eq!(world.take("b", 1, 1, T0 + 6_000), full(T0 + 5_000 + HOUR_MS));
}

#[test]
fn malformed_lines_are_skipped() {
    let check = |text: &[u8], this_hour: u32| {
        let world = World::new(text);
        assert_eq!(world.take("own", 9, 50, T0), taken(this_hour), "{}", String::from_utf8_lossy(text));
        assert!(world.text().ends_with(&format!("\n{T0} own 9\n")), "{}", world.text());
        assert_eq!(world.take("own", 10, 50, T0), taken(this_hour + 1), "what was added is read");
    };
    check(b"nonsense\n\n \n1 2\n-1 a 1\n99999999999999999999999 a 1\n", 1);
    check(&[format!("{T0} a 1\n").as_bytes(), b"\xff\xfe\0\n", format!("{T0} a 2\n").as_bytes()].concat(), 3);
    // Torn: the next record starts a new line.
    check(format!("{T0} a 1\n{T0} a").as_bytes(), 2);
    check(format!("{T0} a 1 more\n{T0} a 2\n{T0} a 2\n").as_bytes(), 2);
}

#[test]
fn a_clock_set_back_delays_a_loop_by_at_most_an_hour() {
    let ahead = T0 + 10 * 365 * 24 * HOUR_MS;
    let world = World::new(format!("{ahead} a 1\n{ahead} a 2\n").as_bytes());
    // Counted as made now, for all later requests, too.
    assert_eq!(world.take("b", 1, 2, T0), full(T0 + HOUR_MS));
    assert_eq!(world.take("b", 1, 2, T0 + 60_000), full(T0 + HOUR_MS));
    assert_eq!(world.take("b", 1, 2, T0 + HOUR_MS), taken(1));
    let world = World::new(format!("{ahead} a 1\n").as_bytes());
    assert_eq!(world.take("b", 1, 9, T0), taken(2));
    assert_eq!(world.text(), format!("{T0} a 1\n{T0} b 1\n"));
}

#[test]
fn a_long_list_is_cut_to_what_counts() {
    let old: String = (0..2_000).map(|it| format_line(T0 - HOUR_MS - it, "old", it as u32)).collect();
    let world = World::new(format!("{old}{}", format_line(T0 - 1, "a", 1)).as_bytes());
    assert_eq!(world.take("b", 1, 9, T0), taken(2));
    assert_eq!(world.text(), format!("{} a 1\n{T0} b 1\n", T0 - 1));
    // Whatever the list contains, only its end is read, and it becomes short again.
    let world =
        World::new(&[vec![b'x'; 3 << 20], b"\n".to_vec(), format_line(T0, "a", 1).into_bytes()].concat());
    assert_eq!(world.take("b", 1, 9, T0), taken(2));
    assert!(world.text().len() < 100);
}

#[test]
fn a_long_list_of_calls_that_count_is_not_rewritten_by_each() {
    let counted: String = (0..1_000).map(|it| format_line(T0 - it, "20261127-abcdef", it as u32)).collect();
    let world = World::new(counted.as_bytes());
    let inode = || std::fs::metadata(world.path()).unwrap().ino();
    let before = inode();
    for call in 1..=20 {
        assert_eq!(world.take("b", call, 2_000, T0), taken(1_000 + call));
    }
    assert_eq!((inode(), world.text().lines().count()), (before, 1_020));
    // Once they are over, the next call shortens it.
    assert_eq!(world.take("b", 21, 2_000, T0 + HOUR_MS), taken(1));
    assert_eq!(world.text().lines().count(), 1);
}

#[test]
fn an_unreadable_list_is_not_empty() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls");
    std::fs::create_dir(&path).unwrap();
    let request = CallRequest { loop_id: "a".to_owned(), iteration: 1, limit: 9 };
    let error = take_slot(&path, &request, Moment { wall: T0, awake: 1 }).unwrap_err().to_string();
    assert!(error.starts_with("the list of calls ") && error.contains(" cannot be "), "{error}");
}

#[test]
fn concurrent_requests_never_take_more_than_the_limit() {
    const LIMIT: u32 = 11;
    let world = World::new(b"");
    let path = world.path();
    let (got, most) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (path, got, most) = (&path, &got, &most);
            scope.spawn(move || {
                for iteration in 1..=4 {
                    let request = CallRequest { loop_id: format!("loop{thread}"), iteration, limit: LIMIT };
                    let slot = loop {
                        if let Some(slot) = take_slot(path, &request, Moment { wall: T0, awake: 1 }).unwrap()
                        {
                            break slot;
                        }
                        std::thread::yield_now();
                    };
                    if let CallSlot::Taken { this_hour } = slot {
                        got.fetch_add(1, Ordering::SeqCst);
                        most.fetch_max(this_hour, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    assert_eq!((got.into_inner(), most.into_inner()), (LIMIT, LIMIT));
    assert_eq!(world.text().lines().count(), LIMIT as usize);
}

#[test]
fn concurrent_writers_lose_no_call_while_the_list_is_rewritten() {
    const CALLS: u32 = 40;
    /// How often an iteration takes its call, so that most lines no longer count.
    const TIMES: u32 = 4;
    let world = World::new(&[vec![b'x'; REWRITE_BYTES as usize], b"\n".to_vec()].concat());
    let path = world.path();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let path = &path;
            scope.spawn(move || {
                for iteration in 1..=CALLS / 8 {
                    let loop_id = format!("a-name-that-makes-lines-long-{}-{thread}", "x".repeat(2_000));
                    let request = CallRequest { loop_id, iteration, limit: 1_000 };
                    for _ in 0..TIMES {
                        while take_slot(path, &request, Moment { wall: T0, awake: 1 }).unwrap().is_none() {
                            std::thread::yield_now();
                        }
                    }
                }
            });
        }
    });
    let text = world.text();
    let calls: BTreeSet<&str> = text.lines().collect();
    assert_eq!(calls.len(), CALLS as usize);
    assert!(text.lines().count() < (CALLS * TIMES) as usize, "the list was never rewritten");
}
