//! The heart: `decide` says what to record and do, `apply` is the only way state changes.
