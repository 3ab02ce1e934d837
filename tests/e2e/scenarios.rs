//! Complete loops run by the real binary with a scripted agent. A scenario is data: files, criteria, the agent's act at
//! each start, and the expected end. One file per area.

mod acp;
mod agents;
mod attached;
mod authority;
mod breaker;
mod checks;
mod claims;
mod damage;
pub(crate) mod detached;
mod final_verdict;
mod git;
mod held;
mod hooks;
mod judges;
mod limits;
mod memory;
mod missing;
mod permissions;
mod plans;
mod programs;
mod progress;
mod questions;
mod recovery;
mod servers;
mod sessions;
mod signals;
mod spawns;
mod starts;
mod success;
mod table;
mod takeover;
mod terminal;
mod trees;
mod wardens;
mod ways_back;
mod weakening;
