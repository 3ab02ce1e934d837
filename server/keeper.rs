//! Owns one loop.

pub mod checks;
pub mod domain;
