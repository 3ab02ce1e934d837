//! What end-to-end tests of loops share: a world with a scripted agent in it, scenarios played there, and a look
//! at who is still alive; an editor's side of the protocol. The terminal itself is in `cli.rs`.

pub(crate) mod lsp;
pub(crate) mod played;
pub(crate) mod port;
pub(crate) mod processes;
pub(crate) mod scenario;
pub(crate) mod world;
