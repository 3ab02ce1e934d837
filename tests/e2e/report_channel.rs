//! A job cannot report its own result: it cannot access the warden's channel to the keeper.

use std::path::Path;
use std::time::Duration;

use loopkeeper_core::check::CommandExit;
use loopkeeper_system::process::{Job, StreamLayout, WardenPool, run_to_end};
use loopkeeper_system::sandbox::Isolation;

use crate::kill_domain::rig::{domains, job};

const LONG: Duration = Duration::from_secs(60);

fn forger() -> Job {
    let rig = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rigs/forge_report.py");
    Job { cwd: "/".into(), ..job(&["/usr/bin/env", "python3", rig.to_str().unwrap()]) }
}

/// The reports of every kind of warden about the forger, one line each.
pub(crate) async fn forged_by_all() -> Vec<String> {
    let mut received = Vec::new();
    for domain in domains() {
        let name = if matches!(domain, Isolation::PidNamespace { .. }) { "namespace" } else { "plain" };
        let wardens = WardenPool::new(&domain);
        let pooled = wardens.run_to_end(&forger(), StreamLayout::Apart, LONG).await;
        for run in [run_to_end(&forger(), LONG, &domain).await, pooled] {
            let exit = match run.ending {
                CommandExit::Exited(exit) => Some(exit),
                _ => None,
            };
            let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
            received.push(format!("{name} exit {exit:?} {} {}", out.trim(), err.trim()));
        }
        wardens.shutdown().await;
    }
    received
}

#[tokio::test]
async fn no_job_writes_its_own_report() {
    for line in forged_by_all().await {
        assert!(line.contains("exit Some(1) "), "{line}");
        assert!(line.contains("stolen 0 opened 0 read 0 attached 0"), "{line}");
        if line.contains("control 0") {
            crate::not_run("taking the files of an unprotected process", "this machine forbids it");
        }
    }
}
