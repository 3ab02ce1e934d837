//! `export`: one archive of a loop, without secrets; also of a damaged loop, and never over another file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::cli::Ran;
use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::Verified;
use crate::support::scenario::Scenario;

const SECRET: &str = "orange-elephant-4711";

fn played() -> EndedLoop {
    Scenario {
        criteria: &["It is there: `exists done`"],
        settings: "env.set = { SHORT = \"q7\", LONG = \"horse \\\"battery\\\"\" }",
        of_agent: "env = { OWN = \"z9\" }",
        acts: &["touch done; echo \"$HOME/notes say orange-elephant-4711\"; echo $LONG"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play()
}

fn export(played: &EndedLoop, args: &[&str]) -> Ran {
    let mut command = played.world.terminal.command(&["export"]);
    Ran::of(&command.args(args).env("MY_TOKEN", SECRET).output().expect("it starts"))
}

fn unpacked(archive: &Path, name: &str) -> String {
    let out = Command::new("tar").arg("xzOf").arg(archive).arg(name).output().expect("tar starts");
    assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

#[test]
fn a_loop_is_packed_without_secrets() {
    let played = played();
    let ran = export(&played, &["latest"]);
    let dir = played.world.loops().pop().unwrap();
    let id = dir.file_name().unwrap().to_str().unwrap();
    let archive = played.world.root().join(format!("ralph-{id}.tar.gz"));
    ran.expect(0).out(&format!("Exported loop {id} to ralph-{id}.tar.gz: ")).out("Redacted: ");
    assert_eq!(fs::metadata(&archive).unwrap().permissions().mode() & 0o777, 0o600);
    let of = |name: &str| unpacked(&archive, &format!("ralph-{id}/{name}"));
    let home = played.world.terminal.folder().join("home").display().to_string();
    let listed = Command::new("tar").arg("tzf").arg(&archive).output().unwrap().stdout;
    for name in String::from_utf8(listed).unwrap().lines() {
        let text = unpacked(&archive, name);
        assert!(!text.contains(SECRET) && !text.contains(&home), "{name}: {text}");
        for value in ["\"q7\"", "\"z9\"", "horse"] {
            assert!(!text.contains(value), "{value} in {name}: {text}");
        }
    }
    assert!(of("output/0001.out").contains("~/notes say [redacted]"), "{}", of("output/0001.out"));
    assert!(of("prompts/0001.md").contains("iteration 1 of at most"));
    assert_eq!(of("journal.jsonl").lines().count(), played.records.len(), "every record");
    assert!(of("settings.json").contains("\"iterations\"") && of("settings.json").contains("\"SHORT\""));
    assert!(of("output/0001.out").contains("\n[redacted]\n"));
    let environment: serde_json::Value = serde_json::from_str(&of("environment.json")).unwrap();
    assert!(environment["git"].as_str().unwrap().starts_with("git version"), "{environment:#}");
    assert_eq!((&environment["loop"], &environment["damage"]), (&id.into(), &serde_json::Value::Null));
    assert!(of("README.txt").contains("output/  the prompt of each iteration, and what its agent printed\n"));
    assert!(
        of("README.txt").contains("output/0001.out: 2 secrets, 1 mention of your home folder"),
        "{}",
        of("README.txt")
    );

    export(&played, &[id]).expect(2).err("is already there").err("Hint: Give the archive another name");
    export(&played, &[id, "--to", "other.tar.gz"]).expect(0);
    assert!(played.world.has("other.tar.gz"));
}

#[test]
fn a_damaged_loop_is_packed_as_it_is() {
    let played = played();
    let dir = played.world.loops().pop().unwrap();
    let journal = dir.join("journal.jsonl");
    let broken = fs::read_to_string(&journal).unwrap().replacen("loop-started", "loop-startled", 1);
    fs::write(&journal, broken + "{\"torn").unwrap();
    let id = dir.file_name().unwrap().to_str().unwrap();
    export(&played, &[id, "--to", "it.tar.gz"]).expect(0);
    let text = unpacked(&played.world.root().join("it.tar.gz"), &format!("ralph-{id}/journal.jsonl"));
    assert!(text.contains("loop-startled") && text.ends_with('\n') && !text.contains("torn"), "{text}");
}
