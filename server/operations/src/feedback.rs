//! Records the user's judgement of the moment at which a loop ended. The loop has no keeper any more: this process
//! appends to its journal.

use std::thread::sleep;
use std::time::{Duration, Instant};

use loopkeeper_core::journal::{Record, RestrictedCommand, StopVerdict};
use loopkeeper_text::{sanitize, tr};

use super::authority;
use super::failure::Failure;
use super::loops::{LoopView, damaged_error};
use loopkeeper_system::clock;
use loopkeeper_system::journal_file::JournalFile;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::lock::{Lock, LockError};

const TEXT_CHARS: usize = 300;
/// The keeper of an ended loop still answers its clients.
const KEEPER_EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Appends the feedback; a later one replaces it.
pub fn record(
    store: &StateDir,
    loop_view: &LoopView,
    verdict: StopVerdict,
    text: Option<&str>,
) -> Result<(), Failure> {
    if let Some(damage) = &loop_view.damage {
        return Err(damaged_error(damage.clone()));
    }
    let id = loop_view.dir.id();
    if loop_view.is_open() {
        return Err(Failure::conflict(tr!("loop {id} has not ended, so there is nothing to judge", id))
            .hint(tr!("`loopkeeper steer {id} TEXT` gives its next iteration a hint.", id)));
    }
    authority::ensure_user(store, RestrictedCommand::Feedback)?;
    let _lock = lock_ended_loop(store, loop_view)?;
    let (mut journal, _) = JournalFile::open_with(&loop_view.dir.journal(), |_| ())?;
    let text = text.map(|it| sanitize::line_within(it.trim(), TEXT_CHARS)).filter(|it| !it.is_empty());
    journal.append(clock::now(), vec![Record::Feedback { verdict, text }])?;
    Ok(())
}

fn lock_ended_loop(store: &StateDir, loop_view: &LoopView) -> Result<Lock, Failure> {
    const POLL_INTERVAL: Duration = Duration::from_millis(20);
    let begun = Instant::now();
    loop {
        match store.lock_loop(&loop_view.dir) {
            Err(LockError::Held { .. }) if begun.elapsed() < KEEPER_EXIT_TIMEOUT => sleep(POLL_INTERVAL),
            result => return Ok(result?),
        }
    }
}
