//! Loops played through the pure machine with a fake clock.

mod outcomes;
mod properties;
mod sim;
