//! Many tasks in one folder: the cost of a keystroke does not grow with them.

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use super::editor_fixture::{EditorFixture, has};
use crate::support::scenario::Scenario;

const KEYSTROKES: i32 = 60;

#[test]
fn a_keystroke_costs_little_more_in_a_folder_of_two_hundred_tasks() {
    let (one, many) = (cost_of_keystrokes(1), cost_of_keystrokes(200));
    // Both type the same into the same task. The remaining cost per other task is to detect that it is unchanged: some
    // microseconds, in an unoptimised program. Reading the tasks again would take ten times the allowed time on any
    // machine.
    let allowed = 4 * one + Duration::from_millis(10) * KEYSTROKES as u32;
    assert!(many < allowed, "{many:?} of processor time, {one:?} with a single task");
}

/// CPU time of the server for a burst of changes, each of them answered.
fn cost_of_keystrokes(tasks: usize) -> Duration {
    let names: Vec<String> = (0..tasks).map(|it| format!("task-{it}.ralph.md")).collect();
    let text = task(20);
    let files: Vec<(&str, &str)> = names.iter().map(|it| (it.as_str(), text.as_str())).collect();
    let fixture = EditorFixture::open(&Scenario { files: &files, ..Scenario::default() });
    fixture.world.run(&["check", &names[0]]).expect(1);
    fixture.status(|it| it["tasks"].as_array().unwrap().len() == tasks);
    fixture.show(&names[0]);
    fixture.remarks(&names[0], |it| has(it, "failing"));
    let before = processor_time(fixture.editor.pid());
    for version in 2..2 + KEYSTROKES {
        // Alternating, so that each change has a response to wait for.
        let bad = version % 2 == 0;
        let more = if bad { "- twice: `$ a` `$ b`\n" } else { "" };
        fixture.type_into(&names[0], version, &format!("{text}{more}"));
        fixture.remarks(&names[0], |it| has(it, "bad-check") == bad);
    }
    processor_time(fixture.editor.pid()).saturating_sub(before)
}

fn task(criteria: usize) -> String {
    let mut text = "# Many\n\nDone when:\n\n".to_owned();
    for number in 0..criteria {
        let _ = writeln!(text, "- number {number}: `exists file-{number}`");
    }
    text
}

fn processor_time(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after = stat.rsplit_once(") ").unwrap().1;
    let fields: Vec<&str> = after.split(' ').collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}
