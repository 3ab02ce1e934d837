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

/// The keys of the file with this name in its root.
pub fn counterpart_keys(kind: LayerKind, file: &str) -> Vec<CounterpartKey> {
    if kind == LayerKind::Ralphrc {
        let mapped = ralphrc::MAPPED.iter().map(|it| CounterpartKey { name: it.0, path: Some(it.1) });
        let of_task = ralphrc::TASK_KEYS.iter().map(|it| CounterpartKey { name: it, path: None });
        return mapped.chain(of_task).collect();
    }
    let mapped = other_tools::keys_of(file).map(|it| CounterpartKey { name: it.0, path: Some(it.1) });
    let of_task = other_tools::keys_of_task(file).map(|name| CounterpartKey { name, path: None });
    mapped.chain(of_task).collect()
}
