//! The pure core of loopkeeper: documents to tasks, output to facts, facts to decisions.
//!
//! Contract: no I/O, no clock, no threads, no LSP types (`clippy.toml` forbids them). Text and facts come in
//! as arguments, time comes in as [`moment::Moment`], what should happen goes out as data.
//!
//! Each module knows those before it alone (a test checks): [`moment`] and [`text`] (no rules yet), [`criterion`] (what
//! must hold and how that is seen), [`task`] (read from documents), [`agent`] (what an agent says and how it is
//! started), [`check`] (what a check found), [`claims`] (what an agent's last message claims), [`exit_condition`],
//! [`settings`] (the one table of configuration), [`jury`] (what an agent as a judge says), [`journal`] (what is
//! recorded), [`trust`], [`tamper`], [`prompt`] (what an agent is told), [`decide`] (`decide` and `apply`, the heart),
//! [`plugin_loop`], [`view`] (what is shown), [`doctor`], [`probe`].

pub mod agent;
pub mod check;
pub mod claims;
pub mod criterion;
pub mod decide;
pub mod doctor;
pub mod exit_condition;
pub mod journal;
pub mod jury;
pub mod moment;
pub mod plugin_loop;
pub mod probe;
pub mod prompt;
pub mod settings;
pub mod tamper;
pub mod task;
pub mod text;
pub mod trust;
pub mod view;
