//! Receipts: what a loop verified, compared with other checkouts.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::cli::Ran;
use crate::support::scenario::Ends::{Failed, Verified};
use crate::support::scenario::Scenario;
use crate::support::world::World;

const FILES: &[(&str, &str)] = &[
    ("calc.sh", "echo 1\n"),
    ("tests/test_calc.sh", "test \"$(sh calc.sh)\" = 2\n"),
    (".gitignore", "*.log\n"),
];
const CRITERION: &str = "Tests pass: `$ sh tests/test_calc.sh`";
const FIX: &str = "echo 'echo 2' > calc.sh";

fn verified() -> World {
    let played = Scenario {
        files: FILES,
        criteria: &[CRITERION],
        acts: &[FIX],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    played.world
}

/// The receipt as a file outside the tree.
fn receipt(world: &World) -> String {
    let page = world.run(&["receipt"]);
    page.expect(0);
    let path = world.shared("receipt.md");
    fs::write(&path, &page.stdout).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_receipt_fits_its_own_tree_and_a_copy() {
    let world = verified();
    let path = receipt(&world);
    let page = fs::read_to_string(&path).unwrap();
    for part in ["Completed, verified: ", "| As the agent left it | 1 of 1 pass |", "Tests pass: passes"] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    world.run(&["verify", &path, "--trust"]).expect(0).out("the same tree, 1 judge and 1 check compared");

    let copy = world.shared("copy");
    let copied = Command::new("cp").arg("-r").args([world.root(), copy.clone()]).status().unwrap();
    assert!(copied.success());
    let in_copy = |args: &[&str]| Ran::of(&world.terminal.command(args).current_dir(&copy).output().unwrap());
    in_copy(&["verify", &path]).expect(5).err("not trusted");
    in_copy(&["verify", &path, "--trust"]).expect(0).out("Same as loop ");
}

/// The agent leaves a parser that nothing imports and a second lock file; what is imported is not named.
#[test]
fn leftovers_of_abandoned_attempts_are_named() {
    let attempts = "echo 'import used' > begin.py; echo 'x = 1' > used.py; echo 'y = 1' > old_parser.py; \
                    touch yarn.lock; echo 'echo 2' > calc.sh";
    let files = [FILES, &[("package-lock.json", "{}\n")]].concat();
    let played = Scenario {
        files: &files,
        criteria: &[CRITERION, "It begins: `exists begin.py`"],
        acts: &[attempts],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    let page = fs::read_to_string(receipt(&played.world)).unwrap();
    let lists = "## Added files without a reference\n\n- old_parser.py\n\n## Second configurations\n\n\
                 - lock files of two package managers: the loop added yarn.lock next to package-lock.json\n";
    assert!(page.contains(lists), "{page}");
}

#[test]
fn a_receipt_without_leftovers_has_no_list_of_them() {
    let page = fs::read_to_string(receipt(&verified())).unwrap();
    assert!(!page.contains("without a reference") && !page.contains("Second configurations"), "{page}");
}

/// The control: each thing that the receipt names makes a difference.
#[test]
fn control_what_differs_is_named() {
    let world = verified();
    let path = receipt(&world);
    let differs = |what: &str| {
        world.run(&["verify", &path, "--trust"]).expect(1).out(what).out("Not the same as loop ");
    };
    world.terminal.file("tests/test_calc.sh", "true\n");
    differs("- judge tests/test_calc.sh differs");
    world.terminal.file("tests/test_calc.sh", FILES[1].1);

    world.terminal.file("calc.sh", "echo 3\n");
    differs("- \"Tests pass\" passes in the receipt and fails here: exit 1");
    world.terminal.file("calc.sh", "echo 2\n");

    world.terminal.file("other.txt", "new\n");
    world.run(&["verify", &path, "--trust"]).expect(0).out("another tree, with the same changed files");

    let task = world.terminal.read("PROMPT.md");
    world.terminal.file("PROMPT.md", &task.replace("sh tests/test_calc.sh", "true"));
    differs("- the check of \"Tests pass\" differs");
}

#[test]
fn an_edited_receipt_is_refused() {
    let world = verified();
    let path = receipt(&world);
    let page = fs::read_to_string(&path).unwrap();
    fs::write(&path, page.replace("\"verified\": true", "\"verified\": false")).unwrap();
    world.run(&["verify", &path]).expect(2).err("was edited");
    fs::write(&path, "# Notes\n").unwrap();
    world.run(&["verify", &path]).expect(2).err("is not a receipt");
}

#[test]
fn the_receipt_of_a_loop_that_was_not_verified_says_so() {
    let refused = "echo true > tests/test_calc.sh";
    let played = Scenario {
        files: FILES,
        criteria: &[CRITERION],
        acts: &[refused, "true"],
        ends: Failed(2, ""),
        ..Scenario::default()
    }
    .play();
    let json = played.world.run(&["receipt", "--json"]);
    let receipt: Value = serde_json::from_str(&json.expect(0).stdout).unwrap();
    assert_eq!(receipt["outcome"]["verified"], false);
    assert_eq!(receipt["verdict"]["changedJudges"], serde_json::json!(["tests/test_calc.sh"]));
    assert_eq!(receipt["verdict"]["pinned"], serde_json::json!({"passed": 0, "total": 1}));
}

/// Other programs are no difference: a note names them.
#[test]
fn the_programs_of_the_checks_are_named_and_compared() {
    let test = "import unittest\n\nfrom calc import one\n\n\nclass One(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(one(), 1)\n";
    let played = Scenario {
        files: &[("calc.py", "def one():\n    return 0\n"), ("tests/test_calc.py", test)],
        criteria: &["Tests pass: `$ python3 -B -m unittest discover -s tests`"],
        acts: &["printf 'def one():\\n    return 1\\n' > calc.py"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    let world = &played.world;
    let path = receipt(world);
    let page = fs::read_to_string(&path).unwrap();
    let row = page.lines().find(|it| it.starts_with("- python3: /")).unwrap_or_else(|| panic!("{page}"));
    assert!(row.contains(", Python 3.") && row.contains(", sha256 "), "{row}");
    let same = world.run(&["verify", &path, "--trust"]);
    same.expect(0);
    assert!(!same.stdout.contains("Note: "), "{}", same.stdout);

    let folder = world.shared("bin");
    fs::create_dir(&folder).unwrap();
    let python = row.split([' ', ',']).nth(2).unwrap();
    fs::write(folder.join("python3"), format!("#!/bin/sh\nexec {python} \"$@\"\n")).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(folder.join("python3")).status().unwrap().success());
    let folders = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect::<Vec<_>>();
    let search = std::env::join_paths(std::iter::once(folder).chain(folders)).unwrap();
    let mut command = world.terminal.command(&["verify", &path, "--trust"]);
    let other = Ran::of(&command.env("PATH", search).output().unwrap());
    other
        .expect(0)
        .out("Note: python3 is /")
        .out(" in the receipt, and another file here: ")
        .out("Same as loop ");
}
