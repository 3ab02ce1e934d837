//! What keeper and warden say to each other: orders, one line of JSON when the main process has started, and one
//! when the domain is empty.

use serde::{Deserialize, Serialize};

/// The subcommand's name of a warden, by which its command line is known.
pub const WORD: &str = "domain";
/// The option that names the loop of a warden, whose environment nobody else can read.
pub const LOOP: &str = "--loop";
/// Order to a warden: let the main process end by itself within the grace time, then end everything.
pub const GRACE: u8 = b't';
/// Order to a warden: end everything now. The end of the channel means the same.
pub const NOW: u8 = b'k';

/// The main process has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Its number in the warden's own PID namespace.
    pub main: i32,
}

/// How the main process ended and who outlived it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WardenReport {
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    /// Why it could not be started, in words.
    pub not_started: Option<String>,
    /// Outlived the main process and were ended, as `pid name` (numbers of the domain's own).
    pub survivors: Vec<String>,
    /// Could not be ended.
    pub left: Vec<String>,
    pub cpu_ms: u64,
    /// The warden takes another order: nothing stayed of this job.
    pub again: bool,
}
