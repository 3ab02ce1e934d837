//! Operations shared by the terminal and the language server: resolve a task or a loop, check trust, start, send
//! control requests, roll back. Acts for one user; prints nothing, asks nothing, and depends on neither exit codes nor
//! LSP.

pub(crate) mod agents;
pub(crate) mod changes;
pub(crate) mod control_client;
pub(crate) mod current_tree;
pub(crate) mod export;
pub(crate) mod failure;
pub(crate) mod follow;
pub(crate) mod foreign;
pub(crate) mod installed;
pub(crate) mod keeper;
pub mod keeper_main;
pub(crate) mod local_time;
pub(crate) mod loops;
pub(crate) mod notify_saved;
pub(crate) mod plan_edit;
pub(crate) mod project_profile;
pub(crate) mod resolved_task;
pub(crate) mod restore;
pub(crate) mod start;
pub(crate) mod tasks;
pub(crate) mod trust;
pub(crate) mod watch_client;
