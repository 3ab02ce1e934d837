//! Loops played through the pure machine with a fake clock.
