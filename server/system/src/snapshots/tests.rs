//! Tests of the store with real folders. Repository kinds are in `tests/e2e/snapshots.rs`.

mod collected;
mod edits;
mod kept;
mod quick;
mod races;
mod rollback;
mod world;
