//! The machine's prerequisites of a loop: git, the sandbox, file watches, the state folder.

use super::{DoctorFinding, DoctorLevel, DoctorProblem, DoctorTopic};
use loopkeeper_core::settings::SandboxMode;
use loopkeeper_text::language::translate;
use loopkeeper_text::words;
use loopkeeper_text::{tr, tr_later};

#[derive(Debug)]
pub struct MachineFacts {
    /// Output of `git --version`, or the error.
    pub git: Result<String, String>,
    pub sandbox: SandboxFacts,
    /// `fs.inotify.max_user_watches`; `None` if the system has no such limit.
    pub watches: Option<u64>,
    /// The error of creating another watcher.
    pub watcher: Result<(), String>,
    pub state: Result<StateFacts, DoctorProblem>,
}

/// What contains the processes of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxKind {
    Namespaces,
    Landlock,
    /// Only the warden.
    Nothing,
}

/// How the processes of a loop would be contained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxFacts {
    /// The mode requested in the settings.
    pub wanted: SandboxMode,
    pub kind: SandboxKind,
    /// Although the settings close it.
    pub is_network_open: bool,
    pub has_bubblewrap: bool,
    pub sentence: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFacts {
    pub path: String,
    pub mode: u32,
    pub free: u64,
}

/// Sufficient for the folders of tasks and the state folder of several editors.
const ENOUGH_WATCHES: u64 = 8_192;
const LOW_FREE_BYTES: u64 = 1 << 30;
/// Too little for snapshots and outputs of one iteration.
const MIN_FREE_BYTES: u64 = 100 << 20;

pub(super) fn examine_machine(facts: &MachineFacts) -> Vec<DoctorFinding> {
    vec![
        git_finding(&facts.git),
        sandbox_finding(&facts.sandbox),
        watch_limit_finding(facts),
        state_dir_finding(&facts.state),
    ]
}

fn finding(level: DoctorLevel, what: impl Into<String>) -> DoctorFinding {
    DoctorFinding::new(DoctorTopic::Machine, level, what)
}

fn git_finding(git: &Result<String, String>) -> DoctorFinding {
    match git {
        Ok(version) => finding(DoctorLevel::Good, version.clone()),
        Err(why) => finding(DoctorLevel::Note, tr!("git cannot be used: {reason}", reason = why))
            .with_hint(tr!("install git: `clean` checks and commits need it")),
    }
}

fn sandbox_finding(it: &SandboxFacts) -> DoctorFinding {
    let level = match (it.wanted, it.kind) {
        (SandboxMode::Off, _) | (_, SandboxKind::Namespaces) if it.is_network_open => DoctorLevel::Note,
        (SandboxMode::Off, _) | (_, SandboxKind::Namespaces) => DoctorLevel::Good,
        (SandboxMode::Required, SandboxKind::Nothing) => DoctorLevel::Bad,
        (SandboxMode::Auto | SandboxMode::Required, _) => DoctorLevel::Note,
    };
    let finding = finding(level, it.sentence.trim_end_matches(['.', '。']).to_owned());
    match (level, it.kind) {
        (DoctorLevel::Good | DoctorLevel::Info, _) => finding,
        (_, _) if it.wanted == SandboxMode::Off => {
            finding.with_hint(tr!("remove `sandbox.kind`, or set `sandbox.network = true`"))
        }
        (_, SandboxKind::Landlock | SandboxKind::Nothing) if it.has_bubblewrap => {
            finding.with_hint(translate(FORBIDDEN_HINT))
        }
        (_, SandboxKind::Landlock) => finding.with_hint(translate(LANDLOCK_HINT)),
        (DoctorLevel::Note | DoctorLevel::Bad, _) => finding.with_hint(tr!(
            "install bubblewrap (`apt install bubblewrap`) and allow unprivileged user namespaces"
        )),
    }
}

/// Where the system keeps the installed bubblewrap from working.
const FORBIDDEN_HINT: &str = tr_later!(
    "bubblewrap is installed and may not make namespaces: allow it with `user.max_user_namespaces` and, on Ubuntu, a \
     profile of AppArmor with `userns`; in a container, run it with the right to make user namespaces"
);

/// What Landlock lacks, and the remedy.
const LANDLOCK_HINT: &str = tr_later!(
    "install bubblewrap (`apt install bubblewrap`) and allow user namespaces: Landlock hides \
     no sockets of services and no git hooks, and lets nothing be created directly in the home folder"
);

fn watch_limit_finding(facts: &MachineFacts) -> DoctorFinding {
    const COMMAND: &str = "sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512";
    let hint = || tr!("raise it: `{command}`", command = COMMAND);
    match (&facts.watcher, facts.watches) {
        (Err(why), _) => finding(
            DoctorLevel::Note,
            tr!("files cannot be watched ({reason}): editors check every few seconds", reason = why),
        )
        .with_hint(hint()),
        (Ok(()), Some(limit)) if limit < ENOUGH_WATCHES => {
            finding(DoctorLevel::Note, tr!("only {limit} files and folders can be watched", limit))
                .with_hint(hint())
        }
        (Ok(()), Some(limit)) => {
            finding(DoctorLevel::Good, tr!("{limit} files and folders can be watched", limit))
        }
        (Ok(()), None) => finding(DoctorLevel::Good, tr!("files can be watched")),
    }
}

fn state_dir_finding(state: &Result<StateFacts, DoctorProblem>) -> DoctorFinding {
    let it = match state {
        Ok(it) => it,
        Err(problem) => return DoctorFinding::from_problem(DoctorTopic::Machine, problem),
    };
    let what = tr!(
        "state is kept in {path} (mode {mode}, {space} free)",
        path = it.path,
        mode = format!("{:03o}", it.mode),
        space = words::bytes(it.free)
    );
    let level = match it.free {
        free if free < MIN_FREE_BYTES => DoctorLevel::Bad,
        free if free < LOW_FREE_BYTES => DoctorLevel::Note,
        _ => DoctorLevel::Good,
    };
    match level {
        DoctorLevel::Good | DoctorLevel::Info => finding(level, what),
        DoctorLevel::Note | DoctorLevel::Bad => {
            finding(level, what).with_hint(tr!("make room; `loopkeeper gc` removes what old loops left"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MachineFacts, SandboxFacts, SandboxKind, StateFacts, examine_machine};
    use crate::doctor::{DoctorLevel, DoctorProblem};
    use loopkeeper_core::settings::SandboxMode;

    fn healthy_machine() -> MachineFacts {
        MachineFacts {
            git: Ok("git version 2.43.0".into()),
            sandbox: SandboxFacts {
                wanted: SandboxMode::Auto,
                kind: SandboxKind::Namespaces,
                is_network_open: false,
                has_bubblewrap: false,
                sentence: "Enclosed.".into(),
            },
            watches: Some(65_536),
            watcher: Ok(()),
            state: Ok(StateFacts { path: "/s".into(), mode: 0o700, free: 20 << 30 }),
        }
    }

    fn check(change: impl FnOnce(&mut MachineFacts), row: usize, expect: (DoctorLevel, &str)) {
        let mut facts = healthy_machine();
        change(&mut facts);
        let found = examine_machine(&facts);
        let finding = &found[row];
        assert_eq!(finding.level, expect.0, "{finding:?}");
        assert!(finding.what.contains(expect.1), "{finding:?}");
        assert_eq!(finding.hint.is_some(), finding.level != DoctorLevel::Good, "{finding:?}");
    }

    #[test]
    fn every_finding_that_is_not_good_has_a_hint() {
        check(|_| {}, 0, (DoctorLevel::Good, "git version 2.43.0"));
        check(|it| it.git = Err("not found".into()), 0, (DoctorLevel::Note, "not found"));
        check(|_| {}, 1, (DoctorLevel::Good, "Enclosed"));
        for (wanted, kind, level) in [
            (SandboxMode::Auto, SandboxKind::Landlock, DoctorLevel::Note),
            (SandboxMode::Auto, SandboxKind::Nothing, DoctorLevel::Note),
            (SandboxMode::Required, SandboxKind::Landlock, DoctorLevel::Note),
            (SandboxMode::Required, SandboxKind::Nothing, DoctorLevel::Bad),
            (SandboxMode::Off, SandboxKind::Nothing, DoctorLevel::Good),
        ] {
            let sandbox = SandboxFacts { wanted, kind, ..healthy_machine().sandbox };
            check(|it| it.sandbox = sandbox, 1, (level, "Enclosed"));
        }
        for (has_bubblewrap, hint) in [(true, "bubblewrap is installed"), (false, "install bubblewrap")] {
            for kind in [SandboxKind::Landlock, SandboxKind::Nothing] {
                let sandbox = SandboxFacts { kind, has_bubblewrap, ..healthy_machine().sandbox };
                let found = examine_machine(&MachineFacts { sandbox, ..healthy_machine() });
                assert!(found[1].hint.as_ref().is_some_and(|it| it.starts_with(hint)), "{found:?}");
            }
        }
        for wanted in [SandboxMode::Auto, SandboxMode::Off] {
            let sandbox = SandboxFacts { wanted, is_network_open: true, ..healthy_machine().sandbox };
            check(|it| it.sandbox = sandbox, 1, (DoctorLevel::Note, "Enclosed"));
        }
        check(|_| {}, 2, (DoctorLevel::Good, "65536 files"));
        check(|it| it.watches = Some(100), 2, (DoctorLevel::Note, "only 100"));
        check(|it| it.watches = None, 2, (DoctorLevel::Good, "can be watched"));
        check(|it| it.watcher = Err("too many".into()), 2, (DoctorLevel::Note, "too many"));
        check(|_| {}, 3, (DoctorLevel::Good, "/s (mode 700, "));
        let free = |free| Ok(StateFacts { path: "/s".into(), mode: 0o700, free });
        check(|it| it.state = free(500 << 20), 3, (DoctorLevel::Note, "free"));
        check(|it| it.state = free(5 << 20), 3, (DoctorLevel::Bad, "free"));
        let exposed = DoctorProblem { what: "open to others".into(), hint: "chmod".into() };
        check(|it| it.state = Err(exposed), 3, (DoctorLevel::Bad, "open to others"));
    }
}
