//! loopkeeper: runs and supervises Ralph loops and tells the truth about them.
//!
//! Map: [`cli`] (one file per subcommand), on top of `front` (what terminal and editor share), starts [`keeper`] (owns one loop: selects events, lets the core
//! decide, records, performs) on top of [`adapters`] (processes, snapshots, journal, trust: the only code that
//! touches the machine). [`lsp`] is the language server, a viewer of what keepers do. Rules live in
//! `loopkeeper_core`; see `server/ARCHITECTURE.md`.

pub mod acp;
pub mod adapters;
pub mod cli;
pub mod front;
pub mod hook;
pub mod keeper;
mod lookout;
pub mod lsp;
