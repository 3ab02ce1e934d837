//! The language server: shows and controls loops. It may crash, be killed or run several times without affecting them.
//!
//! Map: [`fn@serve`], the entry point, connects [`server`] (method to handler) to [`transport`]. Handlers use the state
//! in [`session`] (the client, its [`capabilities`], the open [`documents`], [`open_questions`], [`trust_pages`]); a
//! request about a document gets its [`document_context`], and [`to_proto`] converts the core's views to LSP types. Tasks and loops come from the
//! snapshots of `loopkeeper_workspace`; [`publisher`] sends their changes, [`commands`] executes commands,
//! [`questions`] asks the user, [`virtual_documents`] are generated read-only files, [`trace`] is the log, [`foreign`]
//! shows loops of another tool. [`ext`] declares every message that is not part of LSP itself. Rules about tasks and
//! loops live in the core; nothing here decides one.
//!
//! To add a request: a file `handlers/<request>.rs` with one `async fn handle(&ServerState, Params) -> Result<…>`, the
//! one-line method in `server.rs`, and its announcement in `capabilities.rs`. The handler of a notification changes the
//! state and returns without waiting for the client, because it blocks everything received after it.

pub mod capabilities;
mod check_processes;
mod commands;
mod document_context;
pub mod documents;
mod early_lens_requests;
mod ext;
mod foreign;
mod handlers;
mod open_questions;
mod project_cache;
mod publisher;
mod questions;
mod serve;
mod server;
pub mod session;
mod to_proto;
mod trace;
mod transport;
mod trust_pages;
mod view_input;
mod virtual_documents;

pub use self::serve::{ServeError, serve};
