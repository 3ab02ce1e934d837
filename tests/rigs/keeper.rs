//! The keeper under faults: the real binary, a scripted agent that records its starts outside the tree, and an
//! independent oracle that checks the remaining files. The oracle's own controls are in [`oracle`].

mod damage;
mod disk;
mod errors;
mod kills;
mod oracle;
mod power;
mod world;
