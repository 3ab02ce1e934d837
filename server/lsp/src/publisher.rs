//! Publishes diagnostics, status, progress, alerts, output and lens refreshes. Sends the difference between the latest
//! snapshot and what was last sent; intermediate states are skipped while the client is not reading (backpressure).
//! Nothing is sent that the client did not announce.

mod alert_actions;
mod alerts;
mod diagnostics;
mod lenses;
mod output;
mod progress;
mod questions;
mod satisfied_at_start;
pub(crate) mod status;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use self::alerts::AlertPublisher;
use self::diagnostics::DiagnosticPublisher;
use self::lenses::LensPublisher;
use self::output::OutputPublisher;
use self::progress::ProgressPublisher;
use self::questions::QuestionPublisher;
use self::status::StatusPublisher;
use super::session::ServerState;
use loopkeeper_workspace::WorkspaceSnapshot;

/// Publishes until the index stops.
pub(crate) async fn publish(shared: Arc<ServerState>) {
    let index = shared.index().clone();
    let mut snapshots = index.subscribe_snapshots();
    let mut diagnostics = DiagnosticPublisher::new(&index);
    let mut alerts = AlertPublisher::default();
    let mut lenses = LensPublisher::default();
    let mut questions = QuestionPublisher::default();
    let mut progress = ProgressPublisher::default();
    let mut status = StatusPublisher::default();
    let mut output = OutputPublisher::default();
    let mut shown: Option<Arc<WorkspaceSnapshot>> = None;
    loop {
        let snapshot = snapshots.borrow_and_update().clone();
        let mut due = None;
        if snapshot.is_complete {
            // Live data of keepers affects none of these.
            if shown.as_ref().is_none_or(|it| !Arc::ptr_eq(it, &snapshot)) {
                diagnostics.publish(&shared, &snapshot).await;
                lenses.publish(&shared, &snapshot);
                questions.publish(&shared, &snapshot);
                alerts.publish(&shared, &snapshot).await;
                shown = Some(Arc::clone(&snapshot));
            }
            due = earlier_deadline(due, progress.publish(&shared, &snapshot).await);
            due = earlier_deadline(due, status.publish(&shared, &snapshot).await);
            due = earlier_deadline(due, output.publish(&shared, &snapshot).await);
        }
        tokio::select! {
            changed = snapshots.changed() => if changed.is_err() { return },
            () = index.live_feed().wait_for_updates() => {}
            () = progress.wait_for_reply() => {}
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {}
        }
    }
}

fn earlier_deadline(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Rate limiter: the first is sent immediately, the last of a burst at the end of the interval.
#[derive(Debug)]
struct Throttle {
    every: Duration,
    last: Option<Instant>,
}

impl Throttle {
    fn new(every: Duration) -> Self {
        Self { every, last: None }
    }

    /// When the next one may be sent; `None`: now.
    fn next_allowed(&self) -> Option<Instant> {
        self.last.map(|it| it + self.every).filter(|it| *it > Instant::now())
    }

    /// `Err`: too early, with the time from which it is permitted.
    fn try_acquire(&mut self) -> Result<(), Instant> {
        if let Some(due) = self.next_allowed() {
            return Err(due);
        }
        self.last = Some(Instant::now());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::Throttle;

    #[tokio::test(start_paused = true)]
    async fn the_first_is_sent_at_once_and_the_next_after_the_interval() {
        let mut throttle = Throttle::new(Duration::from_secs(1));
        assert!(throttle.try_acquire().is_ok());
        let due = throttle.try_acquire().unwrap_err();
        advance(Duration::from_millis(999)).await;
        assert_eq!(throttle.try_acquire().unwrap_err(), due);
        advance(Duration::from_millis(1)).await;
        assert!(throttle.try_acquire().is_ok());
    }
}
