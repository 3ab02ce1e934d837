//! An agent that tries to leave its sandbox. Every way out fails in a sandbox; the same attempts succeed without one,
//! which shows that they are attempts. Another way is one more line of the table.

mod remaining;
mod table;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::geteuid;

use self::table::{Closed, Gain, NEEDED, WAYS_OUT, WayOut};
use super::unavailable;
use crate::kill_domain::rig::namespace;
use crate::support::scenario::Scenario;
use crate::support::world::{World, wait_until};

/// Files of the user, below home.
const FILES: &[&str] = &[
    "other-project/Makefile",
    "Documents/letter",
    ".ssh/id",
    ".netrc",
    ".aws/credentials",
    ".gnupg/key",
    ".config/gh/hosts.yml",
    ".docker/config.json",
    ".mozilla/cookies",
    ".local/share/keyrings/login",
    ".kube/config",
    ".cargo/credentials.toml",
    ".bash_history",
    ".bashrc",
    ".profile",
    ".zshrc",
    ".gitconfig",
    ".config/nvim/init.lua",
    ".vscode/extensions/one",
    ".config/autostart/one",
    ".config/systemd/user/one",
    ".cargo/config.toml",
    ".npmrc",
    ".config/pip/pip.conf",
    ".gradle/init.gradle",
    ".claude/settings.json",
    ".codex/config.toml",
    ".codex/auth.json",
    ".cache/one",
    ".gem/credentials",
    ".config/composer/auth.json",
    ".s3cfg",
    ".config/vivaldi/cookies",
    ".var/app/one",
    ".config/Signal/key",
    ".Xauthority",
    ".psql_history",
    ".xprofile",
    ".config/environment.d/one.conf",
    ".config/direnv/direnvrc",
    ".vim/vimrc",
    ".gdbinit",
    ".config/sway/config",
    ".local/share/applications/one.desktop",
    ".vscode-server/extensions/one",
    ".claude/hooks/one",
    ".claude/commands/one.md",
    ".codex/AGENTS.md",
    ".config/opencode/plugin/one.js",
    ".bash_aliases",
    ".inputrc",
    ".oh-my-zsh/custom/one.zsh",
    ".cargo/env",
    ".lessfilter",
    ".config/starship.toml",
    ".local/share/nvim/site/plugin/one.lua",
    ".local/share/direnv/allow/one",
    ".local/state/nvim/trust",
    ".local/state/mise/trusted-configs/one",
    ".githooks/pre-commit",
    ".exrc",
    ".ipython/profile_default/startup/one.py",
    ".local/share/gnome-shell/extensions/one",
    ".local/share/dbus-1/services/one.service",
    ".forward",
    ".gradle/gradle.properties",
    ".terraformrc",
    ".mavenrc",
    ".local/share/atuin/history.db",
    ".authinfo",
    ".config/glab-cli/config.yml",
    ".config/helm/registry/config.json",
    ".ethereum/keystore/one",
    ".lima/_config/user",
];
/// Sockets of the user's services, below the folder for them.
const SOCKETS: &[&str] = &[
    "bus",
    "systemd/private",
    "docker.sock",
    "podman/podman.sock",
    "gnupg/S.gpg-agent",
    "keyring/control",
    "agent.sock",
    "screen-user/1.session",
    "wayland-0",
    "nvim.4242.0",
    "vscode-ipc-1.sock",
    "sway-ipc.1.sock",
    "emacs/server",
    "zellij/one",
    "libvirt/libvirt-sock",
    "at-spi/bus",
    "pulse/native",
    "snapd-session-agent.socket",
    "named.sock",
];

/// How the agent is contained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Containment {
    Namespaces,
    /// The same without settings.
    Default,
    /// As where bubblewrap is not installed.
    Landlock,
    Off,
}

/// A user with credentials and services, and an agent that tries every way out.
struct Attempt {
    world: World,
    /// The process of the user.
    outside: Option<Child>,
}

impl Attempt {
    fn new(containment: Containment) -> Self {
        let settings = match containment {
            Containment::Off => "\"off\"",
            Containment::Default => "\"auto\"",
            Containment::Namespaces | Containment::Landlock => "\"required\"",
        };
        let criteria = &["It is there: `exists done`"];
        let settings = format!("sandbox.kind = {settings}");
        let world = Scenario { criteria, settings: &settings, ..Scenario::default() }.world();
        let mut attempt = Self { world, outside: None };
        attempt.make_files();
        attempt.start_services();
        attempt
    }

    fn home(&self) -> PathBuf {
        self.world.terminal.folder().join("home")
    }

    fn services(&self) -> PathBuf {
        self.world.terminal.folder().join("run")
    }

    /// Of a display server, whose place is fixed.
    fn display(&self) -> PathBuf {
        let world = self.world.terminal.folder();
        let name = world.file_name().unwrap().to_string_lossy().into_owned();
        Path::new("/tmp/.X11-unix").join(format!("X-test-{name}"))
    }

    /// Of a forwarded SSH agent, which no variable of this session names.
    fn forwarded(&self) -> PathBuf {
        let world = self.world.terminal.folder();
        let name = world.file_name().unwrap().to_string_lossy().into_owned();
        Path::new("/tmp").join(format!("ssh-test-{name}/agent.1"))
    }

    fn make_files(&self) {
        for path in FILES.iter().map(|it| self.home().join(it)) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::write(self.home().join(".git-credentials"), "https://me:secret@example.org\n").unwrap();
        fs::create_dir(self.home().join("named-hooks")).unwrap();
        fs::create_dir_all(self.home().join(".config/git")).unwrap();
        fs::write(self.home().join(".config/git/config"), "[core]\n\thooksPath = ~/named-hooks\n").unwrap();
        self.world
            .shell("git init -q && git -c user.name=a -c user.email=a@b commit -qm first --allow-empty && git init -q --bare .git/modules/lib && git init -q ../beside");
    }

    fn start_services(&mut self) {
        for path in SOCKETS.iter().map(|it| self.services().join(it)) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        // Without capabilities, so that only the sandbox is in the way of an agent of root.
        let bare: &[&str] = if geteuid().is_root() { &["setpriv", "--bounding-set=-all"] } else { &[] };
        let mut command = Command::new(bare.first().unwrap_or(&"python3"));
        command.args(bare.iter().skip(1)).args(bare.first().map(|_| "python3"));
        command.arg(script("outside.py")).arg(self.home().join(".ssh/id"));
        command.args(SOCKETS.iter().map(|it| self.services().join(it)));
        let _ = fs::create_dir("/tmp/.X11-unix");
        fs::create_dir(self.forwarded().parent().unwrap()).unwrap();
        command.arg(self.display()).arg(self.forwarded());
        command.arg(format!("@{}", self.services().display())).env("TOP_SECRET", "1");
        command.current_dir(self.world.terminal.folder()).stdin(Stdio::null());
        self.outside = Some(command.spawn().unwrap());
        wait_until(|| self.outside_pid().is_ok(), || "the process outside does not start".to_owned());
        if has("tmux") {
            let folder = self.services().join("tmux-user");
            fs::create_dir(&folder).unwrap();
            assert!(self.tmux(&["new-session", "-d", "cat"]), "tmux does not start");
        }
    }

    fn tmux(&self, args: &[&str]) -> bool {
        let mut command = Command::new("tmux");
        command.args(["-f", "/dev/null", "-S"]).arg(self.services().join("tmux-user/default")).args(args);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.current_dir(self.world.terminal.folder()).stdin(Stdio::null());
        command.status().is_ok_and(|it| it.success())
    }

    fn outside_pid(&self) -> std::io::Result<String> {
        fs::read_to_string(self.world.terminal.folder().join("outside.pid"))
    }

    /// Lets the agent try all of these; the names of those that succeeded.
    fn succeed(&self, containment: Containment, tried: &[(&str, &str)]) -> Vec<String> {
        let mut act = format!(
            "export STATE={} RUN={} OUTSIDE={} DISPLAY_SOCKET={} FORWARDED={} CONNECT='python3 {}' ATTACH='python3 {}' TAKE='python3 {}'\n",
            self.world.terminal.state().display(),
            self.services().display(),
            self.outside_pid().unwrap(),
            self.display().display(),
            self.forwarded().display(),
            script("connect.py").display(),
            script("attach.py").display(),
            script("take.py").display(),
        );
        for (name, code) in tried {
            let script = self.world.shared(&format!("{name}.sh"));
            fs::write(&script, format!("set -e\n{code}\n")).unwrap();
            let printed = self.world.shared(&format!("{name}.out"));
            let _ = writeln!(
                act,
                "sh {} >{} 2>&1 && echo {name} >> succeeded",
                script.display(),
                printed.display()
            );
        }
        self.world.acts(&[&format!("{act}touch succeeded done")]);
        let mut command = self.command(containment);
        command.env("XDG_RUNTIME_DIR", self.services()).env("TMUX_TMPDIR", self.services());
        command.env("SSH_AUTH_SOCK", self.services().join("agent.sock"));
        let address = format!("unix:path={},guid=1", self.services().join("named.sock").display());
        command.env("DBUS_SESSION_BUS_ADDRESS", address);
        crate::cli::Ran::of(&command.output().unwrap()).expect(0);
        self.world.terminal.read("succeeded").lines().map(str::to_owned).collect()
    }

    fn command(&self, containment: Containment) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_loopkeeper"));
        let run = ["run", "--trust"];
        let Some(bwrap) = bwrap().filter(|_| containment == Containment::Landlock) else {
            return self.world.terminal.command_of(program, &run);
        };
        // Covers bubblewrap by itself.
        let mut command = self.world.terminal.command_of(&bwrap, &["--dev-bind", "/", "/"]);
        command.args(["--ro-bind", "/dev/null"]).arg(&bwrap).arg("--").arg(program).args(run);
        command
    }

    /// What a way leaves behind in the files of the user.
    fn assert_untouched(&self) {
        for path in FILES.iter().filter(|it| **it != ".codex/auth.json") {
            assert_eq!(fs::read_to_string(self.home().join(path)).unwrap(), "", "{path}");
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if has("tmux") {
            self.tmux(&["kill-server"]);
        }
        if let Some(mut outside) = self.outside.take() {
            let _ = outside.kill();
            let _ = outside.wait();
        }
        let _ = fs::remove_file(self.display());
        let _ = fs::remove_dir_all(self.forwarded().parent().unwrap());
    }
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rigs/ways_out").join(name)
}

fn has(program: &str) -> bool {
    find(program).is_some()
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|it| it.join(program)).find(|it| it.is_file())
}

fn bwrap() -> Option<PathBuf> {
    find("bwrap")
}

/// The ways that this machine has.
fn ways() -> Vec<&'static WayOut> {
    let traces = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").is_ok_and(|it| it.trim() != "0");
    let lacks = |it: &WayOut| match it.name {
        "tmux" => (!has("tmux")).then_some("tmux is not installed"),
        "setuid" | "device-node" | "namespace-of-process" => (!geteuid().is_root()).then_some("needs root"),
        "cron-of-machine" if !geteuid().is_root() => Some("needs root"),
        "cron-of-machine" => (!Path::new("/etc/cron.d").is_dir()).then_some("there is no cron"),
        "ptrace" | "memory-of-process" | "memory-by-call" | "descriptor-by-call" => {
            traces.then_some("Yama forbids it to every program")
        }
        _ => None,
    };
    let is_there = |it: &&WayOut| {
        let why = lacks(it);
        if let Some(why) = why {
            crate::not_run(&format!("the way out `{}`", it.name), why);
        }
        why.is_none()
    };
    WAYS_OUT.iter().filter(is_there).collect()
}

fn tried<'a>(ways: &[&'a WayOut]) -> Vec<(&'a str, &'a str)> {
    ways.iter().map(|it| (it.name, it.code)).chain(NEEDED.iter().copied()).collect()
}

fn names<'a>(ways: impl Iterator<Item = &'a WayOut>) -> Vec<&'a str> {
    ways.map(|it| it.name).chain(NEEDED.iter().map(|it| it.0)).collect()
}

#[test]
fn there_are_enough_ways_of_each_kind_and_each_has_a_name() {
    let mut seen: Vec<&str> = WAYS_OUT.iter().map(|it| it.name).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), WAYS_OUT.len());
    assert!(seen.len() >= 60, "{}", seen.len());
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/SECURITY.md");
    let count = format!("tries {} escapes", seen.len());
    assert!(fs::read_to_string(page).unwrap().contains(&count), "{count}");
    for gain in [Gain::Read, Gain::Write, Gain::Connect, Gain::Execute] {
        assert!(WAYS_OUT.iter().any(|it| it.gain == gain), "{gain:?}");
    }
}

#[test]
fn no_escape_from_namespaces() {
    if namespace().is_none() {
        return;
    }
    let attempt = Attempt::new(Containment::Namespaces);
    let succeeded = attempt.succeed(Containment::Namespaces, &tried(&ways()));
    assert_eq!(succeeded, names(std::iter::empty()));
    attempt.assert_untouched();
}

#[test]
fn only_documented_escapes_from_landlock() {
    if let Err(why) = loopkeeper_system::sandbox::detect_landlock() {
        return unavailable("the sandbox of Landlock", &why);
    }
    let attempt = Attempt::new(Containment::Landlock);
    let succeeded = attempt.succeed(Containment::Landlock, &tried(&ways()));
    assert_eq!(succeeded, names(ways().into_iter().filter(|it| it.closed == Closed::Namespaces)));
    attempt.assert_untouched();
}

/// Control.
#[test]
fn without_a_sandbox_every_escape_succeeds() {
    let attempt = Attempt::new(Containment::Off);
    let ways = ways();
    let succeeded = attempt.succeed(Containment::Off, &tried(&ways));
    assert_eq!(succeeded, names(ways.into_iter()));
}
