//! Queries the versions of programs: outside any workspace, with no stdin, with a timeout, and leaving no process
//! behind.

use std::ffi::OsString;
use std::time::Duration;

use loopkeeper_core::check::CommandExit;
use loopkeeper_text::{sanitize, tr};

use super::process::{Job, StdinSource, run_to_end};
use super::sandbox::Isolation;
use super::trust::permit::ApprovedInput;

/// Some agents take seconds to print their version.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Some agents would check for updates first.
const NO_UPDATE_VARIABLES: [&str; 3] =
    ["DISABLE_AUTOUPDATER", "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH"];

/// Output of `PROGRAM --version`; the error is the reason of the failure, as text. Needs a runtime.
pub async fn query_version(
    program: &str,
    mut env: Vec<(OsString, OsString)>,
    domain: &Isolation,
) -> Result<String, String> {
    env.extend(NO_UPDATE_VARIABLES.map(|name| (name.into(), "1".into())));
    let job = Job {
        argv: ApprovedInput::from_user_input(vec![program.into(), "--version".into()]),
        cwd: "/".into(),
        env,
        stdin: StdinSource::Null,
        grace: Duration::from_secs(1),
        output: None,
    };
    let run = run_to_end(&job, TIMEOUT, domain).await;
    let decode = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match run.ending {
        CommandExit::Exited(0) => Ok(decode(&run.stdout)),
        CommandExit::Exited(code) => {
            let last = decode(&run.stderr).lines().map(sanitize::line).rfind(|it| !it.trim().is_empty());
            Err(last
                .map_or_else(|| tr!("exit {code}", code), |it| tr!("exit {code}: {line}", code, line = it)))
        }
        CommandExit::TimedOut => Err(tr!("no answer within {seconds} s", seconds = TIMEOUT.as_secs())),
        CommandExit::Signalled(signal) => Err(tr!("ended by signal {signal}", signal)),
        CommandExit::NotStarted(why) => Err(why),
    }
}
