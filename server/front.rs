//! What terminal and editor share: from a name to a task or a loop, what is trusted, starting, ordering, going
//! back. Acts on behalf of one user; prints nothing, asks nothing, knows neither exit codes nor LSP.

pub(crate) mod changes;
pub(crate) mod crew;
pub(crate) mod current_tree;
pub(crate) mod export;
pub(crate) mod failure;
pub(crate) mod follow;
pub(crate) mod foreign;
pub(crate) mod installed;
pub(crate) mod keeper;
pub mod keeping;
pub(crate) mod loops;
pub(crate) mod murmur;
pub(crate) mod order;
pub(crate) mod patience;
pub(crate) mod replan;
pub(crate) mod restore;
pub(crate) mod saved;
pub(crate) mod start;
pub(crate) mod tasks;
pub(crate) mod trust;
pub(crate) mod work;
pub(crate) mod zone;
