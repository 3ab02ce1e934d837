//! Loops, state folders and keepers of other versions: earlier ones are continued, later ones refused with a sentence.
//! `tests/fixtures/versions/<version>.tar.gz` holds a work tree and a state folder as that version left them when its
//! keeper was killed in the third iteration, `<version>.control.jsonl` the greeting of its keeper and requests of its
//! clients with the replies. `tests/bench/record_version.py` makes both at a release; they are never changed.

mod control;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use loopkeeper_text::digest::sha256;
use serde_json::Value;

use crate::cli::Terminal;

/// Where all of them were recorded.
const RECORDED: &str = "/tmp/recorded-";

fn archives() -> Vec<PathBuf> {
    recordings(".tar.gz")
}

/// What was recorded of each version, oldest first.
fn recordings(ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/versions");
    let files = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let mut found: Vec<_> = files.filter(|it| it.to_str().unwrap().ends_with(ending)).collect();
    found.sort();
    found
}

/// A terminal in the work tree of an archive, with its state folder; and the journal of the loop in it.
fn unpacked(archive: &Path) -> (Terminal, PathBuf) {
    let terminal = Terminal::new();
    let version = archive.file_name().unwrap().to_str().unwrap().trim_end_matches(".tar.gz");
    let recorded = terminal.folder().join("recorded");
    let unpack = |into: &Path, member: &str| {
        fs::create_dir_all(into).unwrap();
        let strip = ["--strip-components=1", "-xzf"];
        let mut tar = Command::new("tar");
        let ran = tar.args(strip).arg(archive).arg("-C").arg(into).arg(member).status();
        assert!(ran.unwrap().success());
    };
    unpack(&terminal.root(), "tree");
    // Trust depends on the path, so it is given here by a loop of this version, of which nothing else is kept.
    terminal.file("go", "").run(&["run", "--trust"]).expect(0);
    unpack(&recorded, "state");
    unpack(&terminal.root(), "tree");
    for name in ["workspaces", "calls"] {
        let place = terminal.state().join(name);
        let _ = fs::remove_dir_all(&place).or_else(|_| fs::remove_file(&place));
        fs::rename(recorded.join(name), place).unwrap();
    }
    let root = terminal.root().canonicalize().unwrap();
    let root = root.to_str().unwrap();
    let workspaces = terminal.state().join("workspaces");
    let old = fs::read_dir(&workspaces).unwrap().next().unwrap().unwrap().path();
    let workspace = workspaces.join(&sha256(root.as_bytes())[..16]);
    fs::rename(old, &workspace).unwrap();
    let folder = fs::read_dir(workspace.join("loops")).unwrap().next().unwrap().unwrap().path();
    let journal = folder.join("journal.jsonl");
    for file in [&journal, &folder.join("start.json"), &workspace.join("root")] {
        let text = fs::read_to_string(file).unwrap();
        fs::write(file, text.replace(&format!("{RECORDED}{version}/tree"), root)).unwrap();
    }
    rechain(&journal, str::to_owned);
    (terminal, journal)
}

/// Rewrites every line and its checksum.
fn rechain(journal: &Path, edit: impl Fn(&str) -> String) {
    let (mut text, mut sum) = (String::new(), 0);
    for line in fs::read_to_string(journal).unwrap().lines() {
        let (body, _) = line.rsplit_once(",\"sum\":\"").unwrap();
        let body = edit(body);
        sum = crc32c::crc32c_append(sum, body.as_bytes());
        writeln!(text, "{body},\"sum\":\"{sum:08x}\"}}").unwrap();
    }
    fs::write(journal, text).unwrap();
}

fn loop_status(terminal: &Terminal) -> Value {
    let status: Value = serde_json::from_str(&terminal.run(&["status", "--json"]).expect(0).stdout).unwrap();
    status["loops"][0].clone()
}

#[test]
fn loops_of_earlier_versions_are_continued() {
    assert!(!archives().is_empty());
    for archive in archives() {
        let (terminal, journal) = unpacked(&archive);
        let before = fs::read_to_string(&journal).unwrap();
        let status = loop_status(&terminal);
        assert_eq!((&status["phase"], &status["iteration"]), (&"interrupted".into(), &3.into()), "{status}");
        terminal.run(&["resume"]).expect(0);
        terminal.run(&["watch"]).expect(0).out("Completed, verified");
        assert!(fs::read_to_string(&journal).unwrap().starts_with(&before));
        // The number in flight is used, and every later one is new.
        assert!(loop_status(&terminal)["iteration"].as_u64() > Some(3));
    }
}

const LATER: &str = "format version 2, this loopkeeper reads version 1";
const USE_LATER: &str = "It may come from a later version of loopkeeper: use that one to continue.";

/// A journal whose second line has the next version of the format.
fn with_later_journal() -> (Terminal, PathBuf) {
    let (terminal, journal) = unpacked(&archives()[0]);
    rechain(&journal, |body| body.replacen("{\"v\":1,\"seq\":2,", "{\"v\":2,\"seq\":2,", 1));
    (terminal, journal)
}

/// Commands that show what they can read, with the reason why there is no more of it.
const SHOW: &[&[&str]] = &[&["status"], &["status", "latest"], &["log"]];

/// Commands that fail with the reason: what they would do or print depends on the whole journal.
const REFUSE: &[&[&str]] = &[
    &["accept", "latest"],
    &["answer", "latest", "yes"],
    &["diff", "latest"],
    &["diff", "latest", "1"],
    &["log", "--json"],
    &["pause"],
    &["receipt", "latest"],
    &["reset", "breaker"],
    &["resume"],
    &["rollback", "latest", "--list"],
    &["rollback", "latest", "--undo"],
    &["rollback", "latest", "1"],
    &["steer", "latest", "look"],
    &["stop"],
    &["stop", "--now"],
    &["watch"],
    &["watch", "--json"],
];

/// The control of the test above: only the version differs.
#[test]
fn a_journal_of_a_later_version_is_refused_by_every_command_and_left_as_it_is() {
    let (terminal, journal) = with_later_journal();
    let before = fs::read(&journal).unwrap();
    for args in SHOW {
        terminal.run(args).expect(0).out(LATER).out(USE_LATER);
    }
    for args in REFUSE {
        terminal.run(args).expect(1).err(LATER).err(&format!("Hint: Nothing was changed. {USE_LATER}"));
    }
    terminal.run(&["insight"]).expect(0).out("1 loop cannot be read and is left out").out(LATER);
    terminal.run(&["gc"]).expect(0).out("1 loop cannot be read; snapshots stay");
    assert_eq!(loop_status(&terminal)["phase"], "damaged");
    assert_eq!(fs::read(&journal).unwrap(), before);
}

/// Members, records and files that a later version adds without another version of the format.
#[test]
fn additions_of_a_later_version_are_ignored() {
    let (terminal, journal) = unpacked(&archives()[0]);
    let (folder, seq) = (journal.parent().unwrap(), loop_status(&terminal)["seq"].as_u64().unwrap());
    let mut text = fs::read_to_string(&journal).unwrap();
    let added =
        r#""epoch":1,"at":"2026-11-25T20:43:45.000Z","up":18111000,"type":"of-a-later-version","more":[{}]"#;
    writeln!(text, r#"{{"v":1,"seq":{},{added},"sum":""}}"#, seq + 1).unwrap();
    fs::write(&journal, text).unwrap();
    rechain(&journal, |body| body.replacen("\"type\":", "\"added\":{\"a\":1},\"type\":", 1));
    let start = fs::read_to_string(folder.join("start.json")).unwrap();
    fs::write(folder.join("start.json"), start.replacen('{', "{\"added\":[1],", 2)).unwrap();
    for place in [folder, &terminal.state(), &terminal.state().join("workspaces")] {
        fs::write(place.join("of-a-later-version"), "added").unwrap();
    }
    terminal.run(&["status"]).expect(0).out("nterrupted");
    terminal.run(&["log"]).expect(0);
    terminal.run(&["resume"]).expect(0);
    terminal.run(&["watch"]).expect(0).out("Completed, verified");
}
