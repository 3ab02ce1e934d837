//! The pure core of loopkeeper: documents to tasks, output to facts, facts to decisions.
//!
//! Contract: no I/O, no clock, no threads, no LSP types (`clippy.toml` forbids them). Text and facts come in
//! as arguments, time comes in as [`moment::Moment`], what should happen goes out as data.
//!
//! Reading order: [`task`] (what must hold), [`check`] (what a check found), [`agent`] (what an agent said),
//! [`claims`] (what its last message claims), [`jury`] (what an agent as a judge says), [`journal`] (what is recorded),
//! [`decide`] (`decide` and `apply`, the heart), [`view`] (what is shown), [`settings`] (the one table of configuration).

pub mod agent;
pub mod branch;
pub mod check;
pub mod claims;
pub mod decide;
pub mod digest;
pub mod doctor;
pub mod exit_condition;
pub mod journal;
pub mod jury;
pub mod lines;
pub mod moment;
pub mod plugin_loop;
pub mod probe;
pub mod prompt;
pub mod redact;
pub mod sanitize;
pub mod settings;
pub mod tamper;
pub mod task;
pub mod truncate;
pub mod trust;
pub mod view;
