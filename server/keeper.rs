//! Owns one loop.
