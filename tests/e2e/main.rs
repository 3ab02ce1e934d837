//! End to end: the real binary.
