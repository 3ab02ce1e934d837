//! Loops played through the pure machine with a fake clock.

mod attached;
mod autorun;
mod breaker;
mod breaking;
mod drift;
mod exit;
mod final_verdict;
mod git;
mod held;
mod invariants;
mod limits;
mod memory;
mod mutants;
mod numbers;
mod outcomes;
mod permissions;
mod properties;
mod questions;
mod recovery;
mod scenarios;
mod sessions;
mod shared_limits;
mod spawns;
mod takeover;
mod unrunnable;
mod weakening;
