//! Random edits: everything comes back, forwards and backwards.
