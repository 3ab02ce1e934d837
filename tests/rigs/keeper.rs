//! The keeper under faults: the real binary, a scripted agent that writes down its starts outside the tree, and an
//! oracle with code of its own that reads what is left. The oracle's own controls are in [`oracle`].

mod damage;
mod disk;
mod errors;
mod kills;
mod oracle;
mod power;
mod world;
