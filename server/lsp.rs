//! The language server: a viewer of loops that may crash, be killed or run twice; loops do not notice.
//!
//! Map: [`serve`] (the entry) puts [`server`] (which method goes to which handler) behind [`pump`] (the transport).
//! Handlers get [`shared::Shared`]: the client, what it can do ([`capabilities`]) and the open [`documents`].
//! Rules about tasks and loops live in the core; nothing here decides one.
//!
//! To add a request: a file `handlers/<request>.rs` with one `async fn handle(&Shared, Params) -> Result<…>`, the
//! one-line method in `server.rs`, and what announces it in `capabilities.rs`. A notification's handler changes the
//! state and returns: it never waits for the client, since everything behind it waits for it.

pub mod capabilities;
pub mod documents;
mod handlers;
mod pump;
mod serve;
mod server;
pub mod shared;

pub use self::serve::serve;
