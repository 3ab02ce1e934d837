//! Loops played through the pure machine with a fake clock.

mod limits;
mod outcomes;
mod properties;
pub(crate) mod sim;
