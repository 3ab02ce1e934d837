//! Loops, state folders and keepers of other versions: earlier ones are continued, later ones refused with a sentence.
//! `tests/fixtures/versions/<version>.tar.gz` holds a work tree and a state folder as that version left them when its
//! keeper was killed in the third iteration. Such an archive is made at every release and never changed.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use loopkeeper_text::digest::sha256;
use serde_json::Value;

use crate::cli::{Ran, Terminal};

/// Where all of them were recorded.
const RECORDED: &str = "/tmp/recorded-";

fn archives() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/versions");
    let mut archives: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    archives.sort();
    archives
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

/// The control of the test above: only the version differs.
#[test]
fn a_journal_of_a_later_version_is_refused_and_left_as_it_is() {
    let (terminal, journal) = unpacked(&archives()[0]);
    rechain(&journal, |body| body.replacen("{\"v\":1,\"seq\":2,", "{\"v\":2,\"seq\":2,", 1));
    let before = fs::read(&journal).unwrap();
    let reason = "format version 2, this loopkeeper reads version 1";
    terminal.run(&["status"]).expect(0).out(reason);
    let refused = terminal.run(&["resume"]);
    refused.expect(1).err(reason).err("Hint: ");
    assert_eq!(loop_status(&terminal)["phase"], "damaged");
    assert_eq!(fs::read(&journal).unwrap(), before);
}

/// Answers one request as a keeper that greets with `greeting`; holds the loop's lock meanwhile.
fn with_keeper(greeting: &str, order: &[&str], check: impl FnOnce(&Ran)) {
    let (terminal, journal) = unpacked(&archives()[0]);
    let folder = journal.parent().unwrap();
    let lock = fs::File::options().read(true).write(true).open(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let sockets = terminal.state().join("run");
    fs::create_dir_all(&sockets).unwrap();
    let id = folder.file_name().unwrap().to_str().unwrap();
    let listener = UnixListener::bind(sockets.join(format!("{id}.sock"))).unwrap();
    let greeting = format!("{greeting}\n");
    let keeper = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(greeting.as_bytes()).unwrap();
        let mut request = String::new();
        BufReader::new(&stream).read_line(&mut request).unwrap();
        // A client that does not understand the greeting sends nothing.
        let Ok(request) = serde_json::from_str::<Value>(&request) else { return };
        let answer = serde_json::json!({"id": request["id"], "ok": true, "seq": 1, "more": "unknown"});
        let _ = stream.write_all(format!("{answer}\n").as_bytes());
    });
    check(&terminal.run(order));
    keeper.join().unwrap();
}

#[test]
fn keepers_of_other_versions_are_asked_or_named() {
    with_keeper(r#"{"loopkeeper":1,"version":"7.0.0","loop":"x","seq":1,"more":[]}"#, &["pause"], |ran| {
        ran.expect(0);
    });
    with_keeper(r#"{"loopkeeper":2,"version":"7.0.0"}"#, &["pause"], |ran| {
        ran.expect(1)
            .err("its keeper is of loopkeeper 7.0.0 and speaks version 2 of the control protocol")
            .err("Hint: ");
    });
}
