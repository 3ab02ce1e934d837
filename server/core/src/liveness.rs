//! Whether a loop has a keeper.

/// Whether a loop has a keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeeperLiveness {
    /// The pid is informational: it may belong to another PID namespace.
    Alive {
        pid: Option<u32>,
        /// Its process is stopped (`SIGSTOP`).
        stopped: bool,
    },
    #[default]
    Gone,
}

impl KeeperLiveness {
    /// Alive with an unknown pid, and not stopped.
    pub const RUNNING: Self = Self::Alive { pid: None, stopped: false };

    pub fn is_alive(self) -> bool {
        self != Self::Gone
    }

    pub fn is_stopped(self) -> bool {
        matches!(self, Self::Alive { stopped: true, .. })
    }

    pub fn pid(self) -> Option<u32> {
        match self {
            Self::Alive { pid, .. } => pid,
            Self::Gone => None,
        }
    }
}
