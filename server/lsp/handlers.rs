//! One file per request or notification of the protocol, each with one `handle`.

pub(super) mod did_change;
pub(super) mod did_close;
pub(super) mod did_open;
pub(super) mod did_save;
pub(super) mod initialize;
