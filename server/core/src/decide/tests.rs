//! Loops played through the pure machine with a fake clock.

mod outcomes;
mod properties;
pub(crate) mod sim;
