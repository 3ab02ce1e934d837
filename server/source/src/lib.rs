//! Source code of the user in many languages: which tests a file has ([`test_inventory`]), and small faults in changed
//! lines ([`mutants`]). Lexers and line patterns read it, so that no grammar is needed and broken files are read as well.
//!
//! No I/O; text in, data out. What the results mean for a loop is decided in `loopkeeper-core`.

pub mod mutants;
pub mod test_inventory;
