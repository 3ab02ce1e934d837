//! Owns one loop.

pub mod domain;
