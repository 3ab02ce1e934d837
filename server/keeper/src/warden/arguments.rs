//! The warden's arguments, parsed without a library: the warden runs before each agent and check, and must start fast.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use loopkeeper_system::clean_room::OverlayMount;
use loopkeeper_system::process::job_request::JobRequest;
use loopkeeper_system::sandbox::{LandlockRules, NetworkSetup, ResourceLimits};
use loopkeeper_system::warden_channel;

#[derive(Debug, PartialEq)]
pub(super) struct WardenArgs {
    /// Mount the namespace's own `/proc` first.
    pub(super) own_proc: bool,
    /// Mount this over the work tree first.
    pub(super) overlay: Option<OverlayMount>,
    /// Restrict each job by these.
    pub(super) rules: LandlockRules,
    pub(super) resources: ResourceLimits,
    pub(super) network: NetworkSetup,
    pub(super) work: WardenMode,
}

/// Mode of a warden.
#[derive(Debug, PartialEq)]
pub(super) enum WardenMode {
    /// Reports whether this is the first process of a namespace, and exits.
    Probe,
    /// Runs one command in this folder and environment.
    Job(JobRequest),
    /// Runs jobs from stdin sequentially.
    Orders,
}

impl WardenArgs {
    pub(super) fn read(
        mut args: impl Iterator<Item = OsString>,
        env: impl Iterator<Item = (OsString, OsString)>,
    ) -> Option<Self> {
        let (mut own_proc, mut overlay, mut rules) = (false, None, LandlockRules::default());
        let (mut resources, mut network) = (ResourceLimits::default(), NetworkSetup::default());
        let (mut stdin, mut grace) = (None, Duration::ZERO);
        let work = loop {
            let word = args.next()?;
            match word.to_str()? {
                "--own-proc" => own_proc = true,
                "--overlay" => {
                    let [root, upper, work] = [args.next()?, args.next()?, args.next()?].map(PathBuf::from);
                    overlay = Some(OverlayMount { root, upper, work, outside: None });
                }
                "--mounts" => overlay.as_mut()?.outside = Some(PathBuf::from(args.next()?)),
                "--probe" => break WardenMode::Probe,
                "--orders" => break WardenMode::Orders,
                // Marks the process for the next keeper, which searches for orphans of a killed one.
                warden_channel::LOOP => drop(args.next()?),
                "--stdin" => stdin = Some(PathBuf::from(args.next()?)),
                "--grace-ms" => grace = Duration::from_millis(args.next()?.to_str()?.parse().ok()?),
                "--" => {
                    let program = args.next()?;
                    let (cwd, env, args) = (".".into(), env.collect(), args.collect());
                    break WardenMode::Job(JobRequest { cwd, env, stdin, grace, program, args });
                }
                word if network.read_option(word) => {}
                word if rules.read_option(word, &mut args) || resources.read_option(word, &mut args) => {}
                _ => return None,
            }
        };
        Some(Self { own_proc, overlay, rules, resources, network, work })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_parsed_up_to_the_command() {
        let env = || [("A".into(), "b".into())];
        let check = |line: &str, expect: Option<(bool, WardenMode)>| {
            let words = line.split_ascii_whitespace().map(OsString::from);
            let read = WardenArgs::read(words, env().into_iter()).map(|it| (it.own_proc, it.work));
            assert_eq!(read, expect, "{line}");
        };
        let job = |stdin: Option<&str>, grace, args: &[&str]| {
            let request = JobRequest {
                cwd: ".".into(),
                env: env().into(),
                stdin: stdin.map(PathBuf::from),
                grace: Duration::from_millis(grace),
                program: "/bin/x".into(),
                args: args.iter().map(OsString::from).collect(),
            };
            Some((false, WardenMode::Job(request)))
        };
        check("--probe", Some((false, WardenMode::Probe)));
        check("--own-proc --probe", Some((true, WardenMode::Probe)));
        check("--own-proc --orders", Some((true, WardenMode::Orders)));
        check("--own-proc --loop x --orders", Some((true, WardenMode::Orders)));
        check("--grace-ms 50 -- /bin/x -- --stdin", job(None, 50, &["--", "--stdin"]));
        check("--stdin p --grace-ms 1 -- /bin/x", job(Some("p"), 1, &[]));
        let words = ["--overlay", "/r", "/u", "/w", "--mounts", "/m", "--orders"].map(OsString::from);
        let read = WardenArgs::read(words.into_iter(), env().into_iter()).unwrap();
        let [root, upper, work, list] = ["/r", "/u", "/w", "/m"].map(PathBuf::from);
        let overlay = OverlayMount { root, upper, work, outside: Some(list) };
        assert_eq!((read.overlay, read.work), (Some(overlay), WardenMode::Orders));
        for wrong in [
            "",
            "--overlay /r /u",
            "--mounts /m --orders",
            "--",
            "--grace-ms x -- /bin/x",
            "--grace-ms",
            "/bin/x",
            "--what -- /bin/x",
        ] {
            check(wrong, None);
        }
    }
}
