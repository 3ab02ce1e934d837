//! Agents and checks have folders of the loop for temporary files, which are removed after it.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::kill_domain::rig::namespace;
use crate::support::scenario::{Ends, Scenario};
use crate::support::world::{World, wait_until};

const NAMED: &str = "echo $TMPDIR > $folder/tmpdir; touch $TMPDIR/left";

/// The folder of the loop, as its agent wrote it down.
fn of_loop(world: &World) -> PathBuf {
    let text = fs::read_to_string(world.shared("tmpdir")).unwrap();
    Path::new(text.trim()).parent().unwrap().to_owned()
}

#[test]
fn temporary_files_are_apart_and_removed_after_the_loop() {
    let criteria = &[
        "Apart: `$ touch $TMPDIR/mine && test \"$(stat -c %a $TMPDIR)\" = 700 && test $TMP = $TMPDIR && test $TEMP = $TMPDIR && ! test -e $TMPDIR/left`",
        "It is there: `exists done`",
    ];
    let act = format!("{NAMED}; mkdir -p $TMPDIR/closed/folder; chmod 0 $TMPDIR/closed; touch done");
    let played =
        Scenario { criteria, acts: &["true", &act], ends: Ends::Verified(2, ""), ..Scenario::default() }
            .play();
    let folder = of_loop(&played.world);
    let loop_id = played.world.loops()[0].file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(folder.file_name().unwrap().to_str(), Some(format!("loopkeeper-{loop_id}").as_str()));
    assert!(!folder.exists(), "{}", folder.display());
}

#[test]
fn without_a_sandbox_and_by_the_settings_the_folder_is_another() {
    for settings in ["sandbox.kind = \"off\"", "env.set = { TMPDIR = \"/var/tmp\" }"] {
        let act = format!("{NAMED}; rm $TMPDIR/left; touch done");
        let world = Scenario {
            criteria: &["It is there: `exists done`"],
            settings,
            acts: &[&act],
            ..Scenario::default()
        }
        .world();
        let command = world.terminal.command(&["run", "--trust"]).env("TMPDIR", "/var/tmp").output().unwrap();
        assert!(command.status.success(), "{command:?}");
        assert_eq!(fs::read_to_string(world.shared("tmpdir")).unwrap(), "/var/tmp\n", "{settings}");
    }
}

/// A keeper that was killed removes nothing; the next command or server that sees the loop does.
#[test]
fn temporary_files_of_a_killed_keeper_are_removed_by_the_next_command() {
    let criteria = &["It is there: `exists done`"];
    for next in [&["status"] as &[&str], &["log"], &["resume"], &["run", "--trust"]] {
        let act = format!("{NAMED}; touch $folder/ready; sleep 60");
        let world = Scenario { criteria, acts: &[&act], ..Scenario::default() }.world();
        world.run(&["run", "--trust", "--detach"]).expect(0);
        world.until_shared("ready");
        let pid = Pid::from_raw(world.status()["keeper"]["pid"].as_i64().unwrap() as i32).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        wait_until(|| test_kill_process(pid).is_err(), || "the keeper stays".to_owned());
        assert!(of_loop(&world).join("agent/left").exists());
        world.acts(&["touch done"]);
        world.run(next).expect(0);
        wait_until(|| !of_loop(&world).exists(), || format!("{next:?}: the folder stays"));
        let names = fs::read_dir(of_loop(&world).parent().unwrap()).unwrap().flatten();
        let id = world.loops()[0].file_name().unwrap().to_str().unwrap().to_owned();
        let left = names.map(|it| it.file_name()).filter(|it| it.to_str().unwrap().contains(&id));
        assert_eq!(left.count(), 0, "{next:?}");
    }
}

/// Work that is not in the tree is not verified.
#[test]
fn checks_of_the_final_verdict_do_not_see_temporary_files() {
    if namespace().is_none() {
        return;
    }
    let criteria = &["Left: `$ test -e \"$(cat where)/left\"`"];
    let acts = &["touch $TMPDIR/left; echo $TMPDIR > where", "true"];
    let ends = Ends::Limit(2, "the one required criterion passes here and fails in a clean room");
    let settings = "limits.iterations = 2";
    let played = Scenario { criteria, settings, acts, ends, ..Scenario::default() }.play();
    played.first_result(1, "pass", "exit 0");
    let verdict = played.record("final-verdict", 1);
    assert_eq!(verdict["asLeft"]["results"][0]["status"], "fail", "{verdict}");
}

/// The folder that the environment names does not exist.
#[test]
fn a_loop_without_the_named_folder_uses_another() {
    let act = format!("{NAMED}; rm $TMPDIR/left; touch done");
    let world =
        Scenario { criteria: &["It is there: `exists done`"], acts: &[&act], ..Scenario::default() }.world();
    let absent = world.terminal.folder().join("absent");
    fs::write(&absent, "").unwrap();
    let ran =
        world.terminal.command(&["run", "--trust"]).env("TMPDIR", absent.join("below")).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    assert!(of_loop(&world).starts_with("/tmp"), "{}", of_loop(&world).display());
}
