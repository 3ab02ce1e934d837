//! Limits the connections of processes that a loop started: a job that opens connections without end must not take the
//! keeper's files, without which it can neither take a snapshot nor end a process.

use std::collections::VecDeque;

use tokio::task::JoinHandle;

/// More than an agent and its subagents have open at once.
const MAX_CONNECTIONS: usize = 32;

/// The open connections, oldest first.
#[derive(Default)]
pub(super) struct ForeignConnections(VecDeque<JoinHandle<()>>);

impl ForeignConnections {
    /// Closes the oldest connection if there are too many, because a new one may ask whether a command is permitted.
    pub(super) fn add(&mut self, connection: JoinHandle<()>) {
        self.0.retain(|it| !it.is_finished());
        if self.0.len() >= MAX_CONNECTIONS
            && let Some(oldest) = self.0.pop_front()
        {
            oldest.abort();
        }
        self.0.push_back(connection);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::pending;
    use std::rc::Rc;

    use super::{ForeignConnections, MAX_CONNECTIONS};
    use crate::spawn_boxed_local;

    /// Notes when the connection is closed.
    struct OpenConnection(Rc<Cell<usize>>);

    impl Drop for OpenConnection {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    #[test]
    fn only_the_newest_connections_stay_open() {
        let closed = Rc::new(Cell::new(0));
        let counted = crate::block_on(async {
            let mut connections = ForeignConnections::default();
            connections.add(spawn_boxed_local(async {}));
            tokio::task::yield_now().await;
            for _ in 0..MAX_CONNECTIONS + 5 {
                let open = OpenConnection(Rc::clone(&closed));
                connections.add(spawn_boxed_local(async move {
                    let _open = open;
                    pending::<()>().await;
                }));
                tokio::task::yield_now().await;
            }
            (closed.get(), connections.0.len())
        });
        assert_eq!(counted.unwrap(), (5, MAX_CONNECTIONS));
    }
}
