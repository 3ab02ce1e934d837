//! Runs the commands of the full-screen view, each as the subcommand that a user would type, so that rules, refusals
//! and texts are the same. A keeper that does not respond never blocks the screen.

use std::io;
use std::process::Stdio;

use loopkeeper_text::{sanitize, tr, truncate};
use tokio::process::Command;
use tokio::sync::mpsc;

use super::events::DashboardEvent;

/// Maximum size of an output or a patch; the view keeps fewer lines.
const MAX_BYTES: usize = 1024 * 1024;

/// Runs a command; `event` receives its output. An error is shown as a note.
pub(super) fn run(
    args: &[&str],
    events: mpsc::Sender<DashboardEvent>,
    event: impl FnOnce(String) -> DashboardEvent + Send + 'static,
) {
    let args: Vec<String> = args.iter().map(|it| (*it).to_owned()).collect();
    tokio::spawn(async move {
        let result = match call(&args).await {
            Ok(printed) => event(printed),
            Err(error) => DashboardEvent::Note(error),
        };
        // The view may have ended.
        let _ = events.send(result).await;
    });
}

/// The output of the command, otherwise its error.
async fn call(args: &[String]) -> Result<String, String> {
    let failed = |error: io::Error| tr!("cannot run loopkeeper: {error}", error);
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    let output = command.output().await.map_err(failed)?;
    let text = |bytes: &[u8]| sanitize::text(&String::from_utf8_lossy(bytes));
    let (printed, error) = (text(&output.stdout), text(&output.stderr));
    if !output.status.success() {
        return Err(error);
    }
    // Remarks such as "changed no file" are not part of the output.
    Ok(truncate::first_bytes(if printed.is_empty() { &error } else { &printed }, MAX_BYTES).to_owned())
}
