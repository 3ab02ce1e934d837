//! The PID namespace only hides processes: files, devices, network, user and tools stay the same.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use loopkeeper_core::check::CommandExit;
use loopkeeper_core::settings::SandboxMode;
use loopkeeper_system::process::{Job, orphans, run_to_end, start};
use loopkeeper_system::sandbox::{Isolation, detect_landlock};

use crate::kill_domain::rig::{
    self, BINARY, alive, assert_none_alive, hostile, job, namespace, plain, remaining, token, until_ready,
};

const LONG: std::time::Duration = std::time::Duration::from_secs(60);

/// Facts that an agent might depend on, one line each.
const LOOK: &str = r#"
id -u; id -g; id -Gn
echo "home $HOME $(stat -c '%u %a %i' "$HOME")"
hostname; readlink /proc/self/ns/net /proc/self/ns/ipc /proc/self/ns/uts
stat -c '%n %t %T %a' /dev/null /dev/tty /dev/ptmx /dev/urandom
ls -d /dev/pts /dev/shm; stat -f -c %T /dev/shm
f=$(mktemp -p /dev/shm) && echo shm && rm "$f"
f=$(mktemp) && echo tmp && rm "$f"
umask; ulimit -n; pwd
cat /proc/self/oom_score_adj
script -qec 'test -t 0 && echo terminal' /dev/null </dev/null
"#;

async fn output(script: &str, domain: &Isolation) -> String {
    let mut job = job(&["bash", "-c", script]);
    job.env.push(("HOME".into(), std::env::var_os("HOME").unwrap()));
    let run = run_to_end(&job, LONG, domain).await;
    assert_eq!((run.ending, String::from_utf8(run.stderr).unwrap().as_str()), (CommandExit::Exited(0), ""));
    String::from_utf8(run.stdout).unwrap()
}

#[tokio::test]
async fn paths_are_the_same_inside_the_sandbox() {
    let Some(domain) = namespace() else { return };
    let inside = output(LOOK, &domain).await;
    assert_eq!(inside, output(LOOK, &plain()).await);
    assert!(inside.contains("terminal") && inside.contains("shm\ntmp\n"), "{inside}");
}

const NESTED: &str = "bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc -- echo nested";

#[tokio::test]
async fn agents_can_build_sandboxes_of_their_own_inside() {
    let Some(domain) = namespace() else { return };
    assert_eq!(output(NESTED, &domain).await, "nested\n");
    // Root's warden mounts `/proc` for the namespace only.
    assert_eq!(fs::read_link("/proc/self").unwrap().to_str(), Some(std::process::id().to_string().as_str()));
    let mounts = |text: &str| text.lines().filter(|line| line.contains(" /proc ")).count();
    let before = mounts(&fs::read_to_string("/proc/self/mounts").unwrap());
    output("true", &domain).await;
    assert_eq!(mounts(&fs::read_to_string("/proc/self/mounts").unwrap()), before);
}

#[tokio::test]
async fn the_warden_cannot_be_killed_from_inside() {
    let Some(domain) = namespace() else { return };
    assert_eq!(output("kill -9 1; kill -9 -- -1 2>&-; echo still here", &domain).await, "still here\n");
}

#[test]
fn settings_choose_the_domain() {
    let warden = Path::new(BINARY);
    let off = Isolation::detect(SandboxMode::Off, warden).unwrap();
    assert_eq!(off, Isolation::unlimited(warden));
    let Some(domain) = namespace() else { return };
    assert!(matches!(domain, Isolation::PidNamespace { .. }));
    assert_eq!(Isolation::detect(SandboxMode::Auto, warden).unwrap(), domain);
}

/// Namespaces are forbidden, as on some systems: bubblewrap exists and fails.
#[test]
fn without_namespaces_landlock_takes_over_and_the_reason_is_named() {
    if namespace().is_none() {
        return;
    }
    let landlock = detect_landlock();
    if let Err(why) = &landlock {
        crate::not_run("Landlock in place of a PID namespace", why);
    }
    let script = "echo 0 > /proc/sys/user/max_pid_namespaces && exec \"$@\"";
    let forbidden = helper(&["unshare", "-Ur", "sh", "-c", script, "sh"], "detect");
    let hidden = ["bwrap", "--dev-bind", "/", "/", "--tmpfs", "/usr/bin", "--"];
    let missing = helper(&hidden, "detect");
    for (text, why) in
        [(&forbidden, "bubblewrap does not work here ("), (&missing, "bubblewrap is not installed")]
    {
        let (auto, required) = match &landlock {
            Ok(version) => {
                let text = format!("Processes run under Landlock (version {version}");
                (format!("auto {text}"), format!("required {text}"))
            }
            Err(_) => (
                "auto Processes run without a PID namespace".to_owned(),
                "required The sandbox is required and cannot be had".to_owned(),
            ),
        };
        for line in [auto, required] {
            assert!(text.lines().any(|it| it.contains(&line) && it.contains(why)), "{line} {why}: {text}");
        }
    }
}

#[test]
fn an_ordinary_user_gets_the_same() {
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    if namespace().is_none() || !possible(&nobody, "kill domain of an ordinary user") {
        return;
    }
    let text = helper(&nobody, "hostile");
    assert!(text.contains("namespace 0 alive") && text.contains("plain 0 alive"), "{text}");
    assert!(text.contains("namespace nested") && text.contains("plain nested"), "{text}");
}

#[test]
fn the_channel_of_an_ordinary_users_warden_is_closed() {
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    if !possible(&nobody, "report channel of an ordinary user") {
        return;
    }
    let text = helper(&nobody, "forge");
    assert!(text.contains("plain exit Some(1)"), "{text}");
    assert!(!text.contains("exit Some(0)"), "{text}");
}

/// Every process forks until the system refuses.
#[test]
fn a_fork_bomb_is_defused() {
    let limited = ["prlimit", "--nproc=300", "setpriv", "--reuid=65533", "--clear-groups"];
    if !possible(&limited, "kill domain against a fork bomb") {
        return;
    }
    let text = helper(&limited, "bomb");
    assert!(text.contains("plain 0 alive"), "{text}");
}

#[test]
fn processes_of_a_killed_keeper_are_found_by_their_mark() {
    let mark = uuid::Uuid::new_v4().simple().to_string();
    let token = token("mark");
    // Without any warden, as if that had been killed too; one member has lost the mark.
    let mut child = Command::new(rig::rig())
        .args([&token, "calm"])
        .env("LOOPKEEPER_LOOP", format!("{mark}:secret"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
    let before = alive(&token).len();
    let orphans = orphans::end_marked(&mark);
    child.wait().unwrap();
    assert!(orphans.ended.len() > 40, "{orphans:?}");
    assert_eq!(orphans.unkillable, [""; 0]);
    // Only the daemon without environment and parent cannot be identified: the reason for wardens.
    let left = alive(&token);
    assert!(before > 100 && left.iter().all(|process| process.arguments.contains("-bare")));
    for process in &left {
        process.kill();
    }
    assert_eq!(remaining(&token, LONG), [""; 0]);
    assert_eq!(orphans::end_marked(&mark), orphans::Orphans::default());
}

const HELPER: &str = "SANDBOX_HELPER";

/// Whether this test binary and its requirements work that way; reports if not.
fn possible(around: &[&str], what: &str) -> bool {
    let looks = Command::new(around[0])
        .args(&around[1..])
        .args(["sh", "-c", "test -x \"$0\" && test -x \"$1\" && test -x \"$2\""])
        .arg(std::env::current_exe().unwrap())
        .args([Path::new(BINARY), &rig::rig()])
        .output();
    let possible = looks.is_ok_and(|looks| looks.status.success());
    if !possible {
        crate::not_run(what, "needs root, and a checkout that every user may read");
    }
    possible
}

/// Runs this test binary again as another user or in another environment.
fn helper(around: &[&str], mode: &str) -> String {
    let output = Command::new(around[0])
        .args(&around[1..])
        .arg(std::env::current_exe().unwrap())
        .args(["sandbox::helper_process", "--exact", "--nocapture", "--test-threads=1"])
        .env(HELPER, mode)
        .env("HOME", "/tmp")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Not an independent test: the process that [`helper`] starts.
#[tokio::test]
async fn helper_process() {
    let Ok(mode) = std::env::var(HELPER) else { return };
    let mut outputs = Vec::new();
    if mode == "forge" {
        outputs = crate::report_channel::forged_by_all().await;
    } else if mode == "detect" {
        outputs.push(format!(
            "auto {}",
            Isolation::detect(SandboxMode::Auto, Path::new(BINARY)).unwrap().sentence()
        ));
        let required = Isolation::detect(SandboxMode::Required, Path::new(BINARY));
        outputs.push(format!("required {}", required.map_or_else(|it| it.to_string(), |it| it.sentence())));
    } else {
        let bomb =
            "$| = 1; while (1) { next if defined fork; print qq(ready\\n); select undef, undef, undef, 0.2 }";
        let domains = [("plain", Some(plain())), ("namespace", namespace())];
        for (name, domain) in domains.into_iter().filter_map(|(name, domain)| Some((name, domain?))) {
            let token = token("nobody");
            let tree =
                if mode == "bomb" { job(&["perl", "-e", bomb, &token]) } else { hostile(&token, "stay") };
            let mut running = start(&Job { cwd: "/".into(), ..tree }, &domain).unwrap();
            until_ready(&mut running).await;
            assert!(alive(&token).len() > 100);
            running.terminate(loopkeeper_system::process::TerminateMode::Now);
            running.wait().await;
            assert_none_alive(&token, "as an ordinary user");
            outputs.push(format!("{name} 0 alive"));
            let nested =
                run_to_end(&Job { cwd: "/".into(), ..job(&["sh", "-c", NESTED]) }, LONG, &domain).await;
            outputs.push(format!("{name} {}", String::from_utf8_lossy(&nested.stdout)));
        }
    }
    std::io::stdout().write_all((outputs.join("\n") + "\n").as_bytes()).unwrap();
}
