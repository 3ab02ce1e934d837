//! The demo shows every step: work, a false claim, a regression, and the verified end.

use std::fs;

use crate::cli::Terminal;

const STEPS: [&str; 8] = [
    "checks before iteration 1: 1 of 5 pass",
    "1 file changed, 2 of 5 pass; ✗ ",
    "2 files changed, 4 of 5 pass, although the agent says it is done",
    "1 file changed, 4 of 5 pass, 1 broke; ✗ Unknown options are refused: exit 0, needs exit 2",
    "1 file changed, 5 of 5 pass",
    "final verdict in a clean room: 4/4 pass, 1 other check was judged in the work tree",
    "mutants: 12 of 13 noticed; receipt.sh:8: no check notices that `echo 'A basket has one ",
    "ompleted, verified",
];

#[test]
fn the_picture_of_the_demo_shows_its_steps() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/server/guide/media/demo.svg");
    let picture = fs::read_to_string(path).expect("the picture");
    let text: String = picture.split('<').filter_map(|it| it.split_once('>')).map(|it| it.1).collect();
    // Long lines are broken at words.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for step in STEPS {
        assert!(text.contains(step.trim_end()), "{step}: {text}");
    }
}

#[test]
fn the_demo_ends_verified_and_leaves_no_file() {
    let terminal = Terminal::new();
    let ran = terminal.run(&["demo"]);
    let ran = ran.expect(0);
    for step in STEPS {
        ran.out(step);
    }
    ran.out("needs exit 2\n").out("5 of 5 pass\n");
    // Its log is removed, too.
    assert!(!ran.stdout.contains("loopkeeper log"), "{}", ran.stdout);
    // No file of it is left anywhere.
    for folder in [terminal.state(), terminal.root()] {
        let left = fs::read_dir(&folder).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{}", folder.display());
    }
}

#[test]
fn a_kept_demo_can_be_started_again() {
    let terminal = Terminal::new();
    let project = terminal.root().join("demo");
    let folder = project.to_string_lossy().into_owned();
    terminal.run(&["demo", "--keep", &folder]).expect(0);
    let begun = fs::read_to_string(project.join("receipt.sh")).expect("the program");
    assert!(!begun.contains("--help"), "as it was before the loop");
    // Its commands are trusted because the folder belongs to the demo.
    let again = terminal.command(&["run"]).current_dir(&project).output().expect("the binary starts");
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
    assert!(fs::read_to_string(project.join("receipt.sh")).expect("the program").contains("--help"));
    // A folder that is not empty is not used by the demo.
    terminal.run(&["demo", "--keep", &folder]).expect(2).err("is not empty").err("Hint: ");
}
