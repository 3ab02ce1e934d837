//! The keys of other tools' configurations that have a counterpart here, by file, for completion and for "did you mean".

use super::layer::LayerKind;
use super::{other_tools, ralphrc};

/// A key of another tool's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterpartKey {
    pub name: &'static str,
    /// The setting that it corresponds to; `None`: it belongs to the task.
    pub path: Option<&'static str>,
}

/// Which keys a file has, by the beginnings of their names.
const BY_FILE: [(&str, &[&str]); 4] = [
    ("ralph.yml", &["event_loop.", "cli."]),
    ("ralph.toml", &["agent."]),
    (".ralph-tui/config.toml", &["defaultAgent", "maxIterations", "trackerOptions."]),
    (".ralphex/config", &["max_iterations"]),
];

/// The keys of the file with this name in its root.
pub fn counterpart_keys(kind: LayerKind, file: &str) -> Vec<CounterpartKey> {
    if kind == LayerKind::Ralphrc {
        let mapped = ralphrc::MAPPED.iter().map(|it| CounterpartKey { name: it.0, path: Some(it.1) });
        let of_task = ralphrc::OF_TASK.iter().map(|it| CounterpartKey { name: it, path: None });
        return mapped.chain(of_task).collect();
    }
    let beginnings = BY_FILE.iter().find(|it| it.0 == file).map_or(&[][..], |it| it.1);
    let is_here = |name: &str| beginnings.iter().any(|it| name.starts_with(it));
    let mapped = other_tools::MAPPED.iter().filter(|it| is_here(it.0));
    mapped.map(|it| CounterpartKey { name: it.0, path: Some(it.1) }).collect()
}
