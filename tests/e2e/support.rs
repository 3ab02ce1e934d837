//! Shared code of end-to-end tests: a world with a scripted agent in it, scenarios that run there, and a list of living
//! processes; the editor's side of the protocol; pseudo terminals. The terminal itself is in `cli.rs`.

pub(crate) mod ended_loop;
pub(crate) mod lsp;
pub(crate) mod port;
pub(crate) mod processes;
pub(crate) mod pty;
pub(crate) mod scenario;
pub(crate) mod world;
