//! Moves settings from the agent's command line to a 0600 file beside its prompt: every user of the machine can read a
//! command line, and the settings may contain a key.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::Path;

use loopkeeper_agent::claude::settings;
use loopkeeper_agent::hooks::HookMechanism;
use loopkeeper_core::journal::AgentPlan;

use crate::private_file;

/// How its name ends; nothing that leaves the machine holds it.
pub const SETTINGS: &str = ".settings.json";

/// The same line, with the file in place of what is written to it.
pub fn extract_settings(
    plan: &AgentPlan,
    argv: Vec<String>,
    prompt_file: &Path,
) -> Result<Vec<OsString>, String> {
    // Whatever else talks as it does may not take its arguments.
    if plan.kind().way_to_a_stop_hook() != Some(HookMechanism::Settings) {
        return Ok(argv.into_iter().map(OsString::from).collect());
    }
    let mut file = prompt_file.with_extension("").into_os_string();
    file.push(SETTINGS);
    let file = Path::new(&file);
    let failed = |why: &dyn Display| format!("could not write {}: {why}", file.display());
    let name = file.to_str().ok_or_else(|| failed(&"its path is not UTF-8"))?;
    let (argv, text) = settings::aside(argv, name);
    if let Some(text) = text {
        private_file(file, text.as_bytes()).map_err(|error| failed(&error))?;
    }
    Ok(argv.into_iter().map(OsString::from).collect())
}
