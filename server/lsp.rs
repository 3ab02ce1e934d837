//! The language server: a viewer of loops that may crash, be killed or run twice; loops do not notice.
//!
//! Map: [`serve`] (the entry) puts [`server`] (which method goes to which handler) behind [`pump`] (the transport).
//! Handlers get [`shared::Shared`]: the client, what it can do ([`capabilities`]) and the open [`documents`].
//! A request about a document gets its [`sight`]: the task, read from the text that the editor shows; [`convert`]
//! puts what the core says of it into the client's types.
//! What is known of tasks and loops comes from `crate::lookout`; [`publisher`] sends what changed, [`commands`] do
//! what is asked, [`questions`] ask the user, [`pages`] are files to be looked at,
//! [`foreign`] are loops of another tool. [`ext`] declares every message
//! that is not of the protocol itself. Rules about tasks and loops live in the core; nothing here decides one.
//!
//! To add a request: a file `handlers/<request>.rs` with one `async fn handle(&Shared, Params) -> Result<…>`, the
//! one-line method in `server.rs`, and what announces it in `capabilities.rs`. A notification's handler changes the
//! state and returns: it never waits for the client, since everything behind it waits for it.

pub mod capabilities;
mod commands;
mod document_context;
pub mod documents;
mod ext;
mod foreign;
mod handlers;
mod publisher;
mod questions;
mod serve;
mod server;
pub mod session;
mod to_proto;
mod transport;
mod view_input;
mod virtual_documents;

pub use self::serve::serve;
