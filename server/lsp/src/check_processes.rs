//! The rounds of checks that this server started, so that it cancels no other.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use loopkeeper_system::process_table::Process;

/// Processes by the URI of their task. The entry of an ended round is replaced by the next round of its task.
#[derive(Default)]
pub(crate) struct CheckProcesses(Mutex<HashMap<String, Process>>);

impl CheckProcesses {
    pub(crate) fn record(&self, task: &str, process: Process) {
        self.table().insert(task.to_owned(), process);
    }

    pub(crate) fn find(&self, task: &str) -> Option<Process> {
        self.table().get(task).cloned()
    }

    fn table(&self) -> MutexGuard<'_, HashMap<String, Process>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
