//! The agent has no authority: commands that change a verdict or a budget are the user's alone, whichever way they
//! arrive.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::detached::{WAITS, detached, end, go, kinds};
use crate::support::scenario::{Scenario, task};
use crate::support::world::World;

const BINARY: &str = env!("CARGO_BIN_EXE_loopkeeper");
const CRITERIA: &[&str] = &["Is there: `exists done`"];
const PLAN: (&str, &str) = ("PLAN.md", "# Plan\n\n## Optional\n\n- [ ] one\n- [ ] two\n");

fn rig() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rigs/orders.py").display().to_string()
}

/// Shell code that sets what an agent can find out: the program, the state folder, its loop.
fn preamble(world: &World) -> String {
    let state = world.terminal.state();
    format!(
        "export LOOPKEEPER_STATE_DIR={state}\nloop=$(cd {state}/run && ls | sed 's/.sock$//')\nbin={BINARY}\nrig={}\n",
        rig(),
        state = state.display()
    )
}

/// A loop whose agent runs this in its first iteration, and then waits for the test.
fn loop_with(settings: &str, act: &str) -> (World, String) {
    let world = Scenario { criteria: CRITERIA, settings, files: &[PLAN], ..Scenario::default() }.world();
    let act = format!("{}{act}\n{WAITS}; touch done", preamble(&world));
    world.acts(&[&act]);
    let ran = world.run(&["run", "PROMPT.md", "--trust", "--detach", "--json"]);
    let started: Value = serde_json::from_str(&ran.expect(0).stdout).unwrap();
    let id = started["loopId"].as_str().unwrap().to_owned();
    world.until_shared("up.1");
    (world, id)
}

/// The results of the agent's attempts in a file, and the recorded commands as `order by source`.
fn attempts(world: &World, file: &str) -> (String, Vec<String>) {
    let printed = fs::read_to_string(world.shared(file)).unwrap_or_default();
    let refused = world.journal();
    let refused = refused.iter().filter(|it| it["type"] == "order-refused");
    let word = |it: &Value, key: &str| it[key].as_str().unwrap().to_owned();
    (printed, refused.map(|it| format!("{} by {}", word(it, "order"), word(it, "by"))).collect())
}

/// It ends as the work deserves, and no forged command took effect.
#[track_caller]
fn assert_unaffected(world: &World) {
    go(world, 1);
    assert_eq!(end(world), ("completed".to_owned(), true, 1));
    for kind in ["steered", "paused", "stopping", "weakening-accepted", "breaker-changed", "rolled-back"] {
        assert!(!kinds(world).contains(&kind.to_owned()), "{kind}");
    }
}

/// An agent without a namespace sees its user's processes, but cannot access the streams of a language server.
#[test]
fn the_streams_of_the_users_language_server_are_closed() {
    let world = World::new();
    let mut command = world.terminal.command(&["--stdio"]);
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let pid = server.id();
    // The response shows that the server is ready.
    let request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"capabilities\":{}}}";
    let mut stdin = server.stdin.take().unwrap();
    write!(stdin, "Content-Length: {}\r\n\r\n{request}", request.len()).unwrap();
    server.stdout.as_mut().unwrap().read_exact(&mut [0; 16]).unwrap();
    let script = format!("exec 2>/dev/null; (: > /proc/{pid}/fd/0) && echo open; echo looked");
    let mut other = Command::new("sh");
    if rustix::process::geteuid().is_root() {
        other = Command::new("setpriv");
        other.args(["--bounding-set=-sys_ptrace", "sh"]);
    }
    let looked = other.args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&looked.stdout), "looked\n");
    drop(stdin);
    server.wait().unwrap();
}

const SANDBOXES: [&str; 2] = ["", "[sandbox]\nkind = \"off\"\n"];

#[test]
fn the_agent_orders_nothing_by_command() {
    for sandbox in SANDBOXES {
        let act = r##"
        for order in accept "steer $loop well" "answer $loop yes" "reset breaker" resume "rollback $loop 0" pause stop "stop --now" "skip PLAN.md one" "prioritize PLAN.md two 1" gc; do
          echo "# $order" >> $folder/said
          "$bin" $order >> $folder/said 2>&1; echo "exit $?" >> $folder/said
        done"##;
        let (world, _) = loop_with(sandbox, act);
        let (printed, refused) = attempts(&world, "said");
        assert_eq!(printed.matches("only the user may request it").count(), 12, "{printed}");
        assert!(!printed.contains("exit 0"), "{printed}");
        for order in ["accept", "steer", "reset", "resume", "pause", "stop", "skip", "prioritize", "gc"] {
            assert!(refused.contains(&format!("{order} by agent")), "{order}: {refused:?}\n{printed}");
        }
        assert_eq!(world.terminal.read("PLAN.md"), PLAN.1);
        let warnings = world.status()["warnings"].to_string();
        assert!(warnings.contains("the agent tried to accept its own change"), "{warnings}");
        assert!(warnings.contains("the agent tried to stop its own loop (2 times)"), "{warnings}");
        world.run(&["status"]).expect(0).out("the agent tried to accept its own change");
        assert_unaffected(&world);
        world.run(&["log"]).expect(0).out("refused: the agent tried to accept its own change");
        world.run(&["status"]).expect(0).out("the agent tried to accept its own change");
    }
}

#[test]
fn the_agent_orders_nothing_by_the_socket_even_when_detached() {
    // In a separate session, with no parent and no environment, and in separate namespaces.
    let act = r#"
    sock=$LOOPKEEPER_STATE_DIR/run/$loop.sock
    python3 $rig socket $sock > $folder/plain 2>&1
    env -i PATH="$PATH" setsid sh -c "(python3 $rig socket $sock > $folder/hidden.new 2>&1; mv $folder/hidden.new $folder/hidden) &"
    until [ -f $folder/hidden ]; do sleep 0.02; done
    unshare -Urpf --mount-proc python3 $rig socket $sock > $folder/spaces 2>&1"#;
    for sandbox in SANDBOXES {
        let (world, _) = loop_with(sandbox, act);
        let (plain, refused) = attempts(&world, "plain");
        let hidden = attempts(&world, "hidden").0;
        let spaces = attempts(&world, "spaces").0;
        for printed in [&plain, &hidden] {
            assert_eq!(printed.matches(" forbidden\n").count(), 14, "{printed}");
        }
        if spaces.contains("unshare") {
            crate::not_run("orders from namespaces of the agent's own", "no user namespaces");
        } else {
            assert_eq!(spaces.matches(" forbidden\n").count(), 14, "{spaces}");
        }
        assert!(refused.len() >= 28 && refused.iter().all(|it| it.ends_with(" by agent")), "{refused:?}");
        assert_unaffected(&world);
    }
}

/// The hooks of a session that its user opened accept only calls by that session.
#[test]
fn the_agent_cannot_act_as_a_session_of_its_user() {
    let (world, id) =
        loop_with("", "python3 $rig hook $LOOPKEEPER_STATE_DIR/run/$loop.sock > $folder/said 2>&1");
    let (printed, _) = attempts(&world, "said");
    assert!(
        printed.contains("'allow'") && printed.contains("the caller is a process of the loop"),
        "{printed}"
    );
    let socket = world.terminal.state().join("run").join(format!("{id}.sock"));
    let ran = Command::new("python3").args([&rig(), "hook", socket.to_str().unwrap()]).output().unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert!(printed.contains("'ok': True"), "{printed}");
    assert!(!printed.contains("the caller is a process of the loop"), "{printed}");
    assert_unaffected(&world);
}

#[test]
fn the_agent_trusts_nothing_on_a_terminal_of_its_own() {
    // The second is not visible to the process that asks: only a keeper can detect it.
    let act = r#"
    printf '# Other\n\n## Done when\n\n- x: `$ echo evil`\n' > OTHER.md
    printf 'y\ny\n' | script -qec "$bin trust OTHER.md" /dev/null > $folder/said 2>&1
    python3 $rig terminal $bin trust OTHER.md >> $folder/said 2>&1
    env -i PATH="$PATH" HOME="$HOME" LOOPKEEPER_STATE_DIR=$LOOPKEEPER_STATE_DIR unshare -Urpf --mount-proc python3 $rig terminal $bin trust OTHER.md >> $folder/said 2>&1
    "$bin" check OTHER.md --trust >> $folder/said 2>&1
    "$bin" run --prompt x --check 'echo evil' --agent /bin/true --trust >> $folder/said 2>&1
    cat OTHER.md > $folder/other; rm OTHER.md"#;
    for sandbox in SANDBOXES {
        let (world, _) = loop_with(sandbox, act);
        let (printed, refused) = attempts(&world, "said");
        assert!(!printed.contains("Trusted "), "{printed}");
        assert!(printed.contains("`trust` came from a process of this loop"), "{printed}");
        let count = refused.iter().filter(|it| *it == "trust by agent").count();
        assert!(count >= 3, "{refused:?}\n{printed}");
        assert_unaffected(&world);
        world.run(&["status"]).expect(0).out("the agent tried to trust commands");
        fs::copy(world.shared("other"), world.root().join("OTHER.md")).unwrap();
        world.run(&["check", "OTHER.md"]).expect(5);
        // The same command by the user.
        let ran = Command::new("python3")
            .args([&rig(), "terminal", BINARY, "trust", "OTHER.md"])
            .current_dir(world.root())
            .env("LOOPKEEPER_STATE_DIR", world.terminal.state())
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&ran.stdout);
        assert!(printed.contains("Trusted 1 command"), "{printed}");
        world.run(&["check", "OTHER.md"]).expect(0);
    }
}

#[test]
fn the_agent_orders_nothing_by_a_language_server_of_its_own() {
    let act = "python3 $rig lsp $bin $PWD/PROMPT.md $loop > $folder/said 2>&1";
    for sandbox in SANDBOXES {
        let (world, _) = loop_with(sandbox, act);
        let (printed, refused) = attempts(&world, "said");
        assert_eq!(printed.matches("only the user may request it").count(), 7, "{printed}");
        for order in ["accept", "steer", "pause", "stop", "skip", "trust"] {
            assert!(refused.contains(&format!("{order} by agent")), "{order}: {refused:?}\n{printed}");
        }
        assert_eq!(world.terminal.read("PLAN.md"), PLAN.1);
        assert_unaffected(&world);
    }
}

#[test]
fn checks_cannot_send_orders_either() {
    let world = Scenario { settings: "[sandbox]\nkind = \"off\"\n", ..Scenario::default() }.world();
    let order = format!("{}\"$bin\" accept > $PWD/../said 2>&1; test -f done\n", preamble(&world));
    world.terminal.file("check.sh", &order);
    world.terminal.file("PROMPT.md", "# T\n\n## Done when\n\n- Holds: `$ sh check.sh`\n");
    world.acts(&["touch done"]);
    world.run(&["run", "--trust", "--json"]).expect(0);
    let (_, refused) = attempts(&world, "none");
    assert_eq!(refused, ["accept by job", "accept by job"]);
    world
        .run(&["status"])
        .expect(0)
        .out("a command of this loop tried to accept the agent's change (2 times)");
}

/// Without a loop there is no keeper to ask, so the process's ancestors decide.
#[test]
fn a_check_without_a_loop_cannot_grant_trust() {
    let world = Scenario::default().world();
    let own = world.terminal.folder().join("own-state");
    let script = format!(
        "{}python3 $rig terminal $bin trust OTHER.md > ../said 2>&1\nsleep 0.2\nLOOPKEEPER_STATE_DIR={} python3 $rig terminal $bin trust OTHER.md > ../own 2>&1\n",
        preamble(&world),
        own.display()
    );
    world.terminal.file("check.sh", &script);
    world.terminal.file("PROMPT.md", &task(&["Holds: `$ sh check.sh`"]));
    world.terminal.file("OTHER.md", &task(&["Evil: `$ echo evil`"]));
    world.run(&["check", "PROMPT.md", "--trust"]).expect(0);
    let read = |name: &str| fs::read_to_string(world.terminal.folder().join(name)).unwrap();
    let (printed, own) = (read("said"), read("own"));
    assert!(printed.contains("`trust` came from a process that loopkeeper started"), "{printed}");
    assert!(!printed.contains("Trusted "), "{printed}");
    assert!(own.contains("Trusted "), "a state folder of its own is its own: {own}");
    world.run(&["check", "OTHER.md"]).expect(5);
}

/// Control: the same program with the same commands, started by the user.
#[test]
fn control_the_user_orders_all_of_it() {
    let (world, id) = detached(&Scenario { criteria: CRITERIA, acts: &[WAITS], ..Scenario::default() });
    world.until_shared("up.1");
    let socket = world.terminal.state().join("run").join(format!("{id}.sock"));
    let ran = Command::new("python3").args([&rig(), "socket", socket.to_str().unwrap()]).output().unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert!(!printed.contains("forbidden"), "{printed}");
    for done in ["steer done", "pause done", "stop done", "saved done", "authorize done"] {
        assert!(printed.contains(done), "{done}: {printed}");
    }
    let _ = end(&world);
    let kinds = kinds(&world);
    assert!(kinds.contains(&"steered".to_owned()) && !kinds.contains(&"order-refused".to_owned()));
}

/// The process that starts a loop may command it, also with a shell, an editor or an agent's session in between.
#[test]
fn the_process_that_started_the_keeper_keeps_access() {
    let world = Scenario { criteria: CRITERIA, acts: &[WAITS], ..Scenario::default() }.world();
    let state = world.terminal.state();
    let script = format!(
        "export LOOPKEEPER_STATE_DIR={}; bin={BINARY}; $bin run --trust --detach && $bin steer latest well && (setsid $bin pause) && $bin resume && $bin stop",
        state.display()
    );
    world.shell(&script);
    go(&world, 1);
    assert_eq!(end(&world).0, "stopped");
    assert!(!kinds(&world).contains(&"order-refused".to_owned()));
}

/// An agent may run its own loop on a task that its user trusts, and command that loop.
#[test]
fn the_agent_commands_a_nested_loop_that_it_started() {
    let world = Scenario { criteria: CRITERIA, ..Scenario::default() }.world();
    let inner = world.terminal.folder().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("PROMPT.md"), "# Inner\n\n## Done when\n\n- x: `exists never`\n").unwrap();
    fs::write(
        inner.join("loopkeeper.toml"),
        "agent = \"mine\"\n[agents.mine]\ncommand = [\"sleep\", \"60\"]\n",
    )
    .unwrap();
    let trusted = Command::new("python3")
        .args([&rig(), "terminal", BINARY, "trust"])
        .current_dir(&inner)
        .env("LOOPKEEPER_STATE_DIR", world.terminal.state())
        .output()
        .unwrap();
    assert!(trusted.status.success(), "{}", String::from_utf8_lossy(&trusted.stdout));
    let act = format!(
        "{}(cd {} && $bin run --detach && $bin steer latest well && $bin pause && $bin stop --now) > $folder/said 2>&1; touch done",
        preamble(&world),
        inner.display()
    );
    world.acts(&[&act]);
    world.run(&["run", "--trust", "--json"]).expect(0);
    let (printed, refused) = attempts(&world, "said");
    assert!(printed.contains(" stops now"), "{printed}");
    assert!(!printed.contains("only the user"), "{printed}");
    assert_eq!(refused, [""; 0]);
}
