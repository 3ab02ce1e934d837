//! loopkeeper: runs and supervises Ralph loops and tells the truth about them.
//!
//! Map, from the top: [`cli`] (one file per subcommand) and [`lsp`] (the language server, a viewer of what keepers do,
//! on `workspace`, the index of tasks, loops and results) share [`operations`]. It starts the [`keeper`], which owns one loop: selects
//! events, lets the core decide, records, performs. [`acp`] and [`hook`] are the processes beside an agent, [`adapters`]
//! the only code that touches the machine. Rules live in `loopkeeper_core`; see `server/ARCHITECTURE.md`.

pub mod acp;
pub mod adapters;
pub mod cli;
pub mod hook;
pub mod keeper;
pub mod lsp;
pub mod operations;
mod workspace;
