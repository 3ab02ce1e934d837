//! What terminal and editor share: from a name to a task or a loop, what is trusted, starting, ordering, going
//! back. Acts on behalf of one user; prints nothing, asks nothing, knows neither exit codes nor LSP.

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
