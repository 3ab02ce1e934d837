//! The executables of a detached keeper and its warden: the small ones if those are installed, else the whole program.
//! Always run from the state folder.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use super::detached::{WAITS, end, go};
use crate::cli::Ran;
use crate::support::processes::around;
use crate::support::scenario::Scenario;
use crate::support::world::World;

/// A loop whose agent is working.
fn working_loop(command: impl FnOnce(&World, &[&str]) -> Command) -> World {
    // A namespace's warden is a child of bubblewrap, whose arguments contain the same text.
    let settings = "[sandbox]\nkind = \"off\"\n";
    let world =
        Scenario { criteria: &["Done: `exists log`"], settings, acts: &[WAITS], ..Scenario::default() }
            .world();
    let ran = command(&world, &["run", "--trust", "--detach"]).output().unwrap();
    Ran::of(&ran).expect(0);
    world.until_shared("up.1");
    world
}

/// Names in the state folder of the executables of the loop's keeper and its warden.
fn programs(world: &World) -> Option<[String; 2]> {
    if !rustix::process::geteuid().is_root() {
        crate::not_run("what keepers and wardens run from", "they are closed to all but root");
        return None;
    }
    let keeper = world.status()["keeper"]["pid"].as_i64().unwrap();
    let near = around(world.terminal.folder());
    let warden = near.iter().find(|it| it.arguments.contains(" domain --")).expect("a warden").pid;
    Some([keeper, i64::from(warden)].map(|pid| {
        let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap();
        let name =
            program.strip_prefix(world.terminal.state().join("bin")).expect("a copy of the state folder's");
        name.to_str().unwrap().to_owned()
    }))
}

/// The whole program alone in a separate folder.
fn alone(world: &World) -> PathBuf {
    let program = world.terminal.folder().join("installed/loopkeeper");
    fs::create_dir(program.parent().unwrap()).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_loopkeeper"), &program).unwrap();
    program
}

#[track_caller]
fn assert_completes(world: &World) {
    go(world, 1);
    assert_eq!(end(world), ("completed".to_owned(), true, 1));
}

#[test]
fn a_keeper_and_a_warden_are_programs_of_their_own() {
    let world = working_loop(|world, args| world.terminal.command(args));
    let version = env!("CARGO_PKG_VERSION");
    let expect = [format!("{version}-keeper"), format!("{version}-warden")];
    assert!(programs(&world).is_none_or(|it| it == expect));
    assert!(!world.terminal.state().join("bin").join(version).exists(), "the whole program is not needed");
    assert_completes(&world);
}

#[test]
fn the_whole_program_is_keeper_and_warden_where_it_is_alone() {
    let world = working_loop(|world, args| world.terminal.command_of(&alone(world), args));
    assert!(programs(&world).is_none_or(|it| it == [env!("CARGO_PKG_VERSION"); 2]));
    assert_completes(&world);
}

#[test]
fn a_keeper_alone_is_its_own_warden() {
    let world = working_loop(|world, args| {
        let program = alone(world);
        let keeper = program.with_file_name("loopkeeper-keeper");
        fs::copy(env!("CARGO_BIN_EXE_loopkeeper-keeper"), keeper).unwrap();
        world.terminal.command_of(&program, args)
    });
    let own = format!("{}-keeper", env!("CARGO_PKG_VERSION"));
    assert!(programs(&world).is_none_or(|it| it == [own.clone(), own]));
    assert_completes(&world);
}

#[test]
fn a_keeper_of_another_build_is_not_used() {
    let world = working_loop(|world, args| {
        let program = alone(world);
        let keeper = program.with_file_name("loopkeeper-keeper");
        // The exit code of a program of another build.
        fs::write(&keeper, "#!/bin/sh\nexit 64\n").unwrap();
        fs::set_permissions(&keeper, Permissions::from_mode(0o755)).unwrap();
        world.terminal.command_of(&program, args)
    });
    assert!(programs(&world).is_none_or(|it| it == [env!("CARGO_PKG_VERSION"); 2]));
    assert_completes(&world);
}

#[test]
fn without_its_program_a_request_could_not_be_made() {
    let get = "Up: `GET http://127.0.0.1:1/`";
    let world = Scenario { criteria: &[get], acts: &["true"], ..Scenario::default() }.world();
    let program = alone(&world);
    let run = |args: &[&str]| Ran::of(&world.terminal.command_of(&program, args).output().unwrap());
    run(&["run", "--trust", "--max-iterations", "1"]).expect(4);
    run(&["check"]).expect(1).out("could not be asked: `loopkeeper-request` was not found");
}

/// Otherwise an unrelated server could be checked instead of the one to be started.
#[test]
fn no_server_is_started_if_its_address_cannot_be_probed() {
    let serve = "[[serve]]\ncommand = [\"sh\", \"-c\", \"echo x >> ../agent/served\"]\n\
                 ready = \"http://localhost:1/\"\n";
    let get = "Up: `GET http://localhost:1/`";
    let world =
        Scenario { criteria: &[get], settings: serve, acts: &["true"], ..Scenario::default() }.world();
    let program = alone(&world);
    let run = |args: &[&str]| Ran::of(&world.terminal.command_of(&program, args).output().unwrap());
    run(&["run", "--trust", "--max-iterations", "1"]).expect(4);
    run(&["check"])
        .expect(1)
        .out("whether another process answers at http://localhost:1/: `loopkeeper-request`");
    assert!(!world.shared("served").exists());
}

/// Code linked into a long-running program stays in memory.
#[test]
fn only_the_request_program_links_certificates() {
    let check = |program: &str, expect: bool| {
        let bytes = fs::read(program).unwrap();
        assert_eq!(memchr::memmem::find(&bytes, b"GlobalSign").is_some(), expect, "{program}");
    };
    check(env!("CARGO_BIN_EXE_loopkeeper-request"), true);
    check(env!("CARGO_BIN_EXE_loopkeeper"), false);
    check(env!("CARGO_BIN_EXE_loopkeeper-keeper"), false);
    check(env!("CARGO_BIN_EXE_loopkeeper-warden"), false);
}

#[test]
fn the_keeper_program_refuses_other_builds_and_commands() {
    let keeper = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_loopkeeper-keeper")).args(args).output().unwrap();
        Ran::of(&output)
    };
    assert_eq!(keeper(&["keeper", "--detach", "--build", "another", "/nowhere"]).expect(64).stderr, "");
    keeper(&["keeper", "/nowhere"]).expect(1).err("error: ").err("Hint: ");
    keeper(&["keeper", "--now"]).expect(2).err("error: ").err("Hint: ");
    keeper(&["status"]).expect(2).err("error: ").err("Hint: Run `loopkeeper` instead.");
    keeper(&[]).expect(2).err("error: ");
}
