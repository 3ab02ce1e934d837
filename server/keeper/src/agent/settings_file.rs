//! Moves settings from the agent's command line to a 0600 file next to its prompt: every user of the machine can read a
//! command line, and the settings may contain a key.

use loopkeeper_text::tr;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::Path;

use loopkeeper_agent::claude::settings;
use loopkeeper_agent::hooks::HookMechanism;
use loopkeeper_core::journal::AgentPlan;

use crate::private_file;

/// Suffix of the file's name; files with it are excluded from everything that leaves the machine.
pub const SETTINGS: &str = ".settings.json";

/// The same command line with settings replaced by the path of the file.
pub fn extract_settings(
    plan: &AgentPlan,
    argv: Vec<String>,
    prompt_file: &Path,
) -> Result<Vec<OsString>, String> {
    // Other programs with Claude-compatible output may not accept its arguments.
    if plan.kind().stop_hook_mechanism() != Some(HookMechanism::Settings) {
        return Ok(argv.into_iter().map(OsString::from).collect());
    }
    let mut file = prompt_file.with_extension("").into_os_string();
    file.push(SETTINGS);
    let file = Path::new(&file);
    let failed =
        |why: &dyn Display| tr!("could not write {path}: {error}", path = file.display(), error = why);
    let name = file.to_str().ok_or_else(|| failed(&tr!("its path is not UTF-8")))?;
    let (argv, text) = settings::move_inline_to_file(argv, name);
    if let Some(text) = text {
        private_file(file, text.as_bytes()).map_err(|error| failed(&error))?;
    }
    Ok(argv.into_iter().map(OsString::from).collect())
}
