//! The rules of a loop: results of checks, claims, settings, journal records, decisions.
//!
//! Contract, as of all crates below `loopkeeper-system`: no I/O, no clock, no threads, no LSP types (`clippy.toml`
//! forbids them). Text and facts are arguments, time is a [`Moment`](loopkeeper_text::moment::Moment), and effects are
//! returned as data.
//!
//! Each module depends only on those before it (a test checks): [`check`] (results of checks), [`exit_condition`],
//! [`network`] (the hosts that the sandbox lets through), [`liveness`] (whether a loop has a keeper), [`settings`] (the
//! one table of configuration), [`jury`] (agents as judges), [`journal`] (records), [`trust`], [`autorun`] (files that
//! are executed later without being asked), [`tamper`], [`mutants`] (which checks noticed a fault), [`drift`] (changes
//! that the task does not mention), [`strays`] (files that nothing needs), [`test_support`] (files that only tests
//! use), [`prompt`] (the prompt of an agent), [`loop_state`] (what the records of a loop add up to), [`decide`]
//! (`decide` and `apply`), [`plugin_loop`].

pub mod autorun;
pub mod check;
pub mod decide;
pub mod drift;
pub mod exit_condition;
pub mod journal;
pub mod jury;
pub mod liveness;
pub mod loop_state;
pub mod mutants;
pub mod network;
pub mod plugin_loop;
pub mod prompt;
pub mod settings;
pub mod strays;
pub mod tamper;
pub mod test_support;
pub mod trust;
