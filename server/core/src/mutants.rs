//! What the results of checks say about mutants: which added tests noticed none, and which expected values no check
//! depends on. The mutants are made in [`loopkeeper_source::mutants`].

mod added_tests;
mod detection;

pub use added_tests::AddedTests;
pub use detection::MutatedValuesRun;
