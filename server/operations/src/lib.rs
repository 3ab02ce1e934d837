//! Operations shared by the terminal and the language server: resolve a task or a loop, check trust, start, send
//! control requests, roll back. Acts for one user; prints nothing, asks nothing, and depends on neither exit codes nor
//! LSP.

pub mod abandoned;
pub mod agents;
pub mod authority;
pub mod changes;
pub mod continuation;
pub mod control_client;
pub mod current_tree;
pub mod export;
pub mod failure;
pub mod feedback;
pub mod follow;
pub mod foreign;
pub mod import;
pub mod insight;
pub mod installed;
pub mod keeper;
pub mod keeper_main;
pub mod leftovers;
pub mod local_time;
pub mod loops;
pub mod new_task;
pub mod notify_saved;
pub mod plan_edit;
pub mod process_limits;
pub mod project_checks;
pub mod project_profile;
pub mod receipt;
pub mod remarks;
pub mod resolved_task;
pub mod restore;
pub mod start;
pub mod suitability;
pub mod tasks;
pub mod transcript;
pub mod trust;
mod unaccepted_changes;
pub mod watch_client;
