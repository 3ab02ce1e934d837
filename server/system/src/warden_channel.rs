//! Defines the messages between keeper and warden: commands to the warden, one line of JSON when the main process has
//! started, and one when the domain is empty.

use serde::{Deserialize, Serialize};

/// The warden's subcommand, which identifies its command line.
pub const SUBCOMMAND: &str = "domain";
/// The option that names the warden's loop, because other processes cannot read its environment.
pub const LOOP: &str = "--loop";
/// The first option of a guard: the warden's arguments follow.
pub const GUARD: &str = "--guard";
/// Command to a warden: let the main process exit within the grace time, then end everything.
pub const GRACE: u8 = b't';
/// Command to a warden: end everything now. EOF on the channel means the same.
pub const NOW: u8 = b'k';

/// The main process has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartReport {
    /// Its pid in the warden's own PID namespace.
    pub main: i32,
}

/// How the main process ended, and which processes outlived it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WardenReport {
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    /// Why it could not be started, as text.
    pub not_started: Option<String>,
    /// Processes that outlived the main process and were ended, as `pid name` (pids of the domain's namespace).
    pub survivors: Vec<String>,
    /// Processes that could not be ended.
    #[serde(rename = "left")]
    pub unkillable: Vec<String>,
    pub cpu_ms: u64,
    /// The warden accepts another job: nothing was left of this one.
    pub again: bool,
}
