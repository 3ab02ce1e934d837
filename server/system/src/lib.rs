//! The only code that touches the machine. One file, one error enum each.

pub mod agents;
pub mod archive;
pub mod boottime_timer;
pub mod calls;
pub mod clean_room;
pub mod clock;
pub mod config_files;
pub mod durable;
pub mod env;
pub mod git;
pub mod host_info;
pub mod http;
pub mod journal_file;
mod last_result;
pub mod logging;
pub mod process;
pub mod removal_watch;
pub mod sandbox;
pub mod scratch;
pub mod snapshots;
pub mod state_dir;
pub mod task_files;
pub mod template_file;
pub mod trust;
pub mod usage_limits;
pub mod versions;
pub mod work_trees;
