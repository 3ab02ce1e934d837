//! Runs a loop whose keeper is this process: for scripts and CI. The loop ends with the process and never waits for the
//! user; INT and TERM stop it immediately.

use loopkeeper_core::decide::{self, LoopState};
use loopkeeper_core::journal::{Entry, OutcomeKind};
use loopkeeper_text::tr;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::show::LoopPrinter;
use loopkeeper_keeper::{block_on, launch};
use loopkeeper_system::logging::WarningEcho;
use loopkeeper_system::state_dir::workspace::LoopDir;

/// Runs the loop until it ends; returns its exit code and its last state.
pub(crate) fn run_to_end(dir: &LoopDir, show: LoopPrinter<'_>) -> Result<(Exit, LoopState), Failure> {
    block_on(run_and_show(dir, show))?
}

async fn run_and_show(dir: &LoopDir, mut show: LoopPrinter<'_>) -> Result<(Exit, LoopState), Failure> {
    let (records_in, mut records) = mpsc::unbounded_channel();
    // A dropped receiver is no reason to stop.
    let observer = Box::new(move |entry: &Entry| drop(records_in.send(entry.clone())));
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut keeper = Box::pin(launch::run_keeper(dir, observer, None, WarningEcho::Terminal));
    let mut state = None;
    let mut signalled = false;
    let result = loop {
        tokio::select! {
            biased;
            Some(entry) = records.recv() => show_entry(&mut state, &mut show, &entry),
            // The keeper receives them too and may stop immediately; here they only affect the exit code.
            _ = interrupt.recv() => signalled = true,
            _ = terminate.recv() => signalled = true,
            result = &mut keeper => break result,
        }
    };
    while let Ok(entry) = records.try_recv() {
        show_entry(&mut state, &mut show, &entry);
    }
    let ended = result.map_err(Failure::from)?;
    show.finish(Some(&ended));
    let outcome = ended.outcome().ok_or_else(|| Failure::ended(tr!("the loop is interrupted")))?;
    let by_signal = signalled && outcome.kind == OutcomeKind::Stopped;
    let exit = if by_signal { Exit::Signalled } else { Exit::of(outcome) };
    Ok((exit, ended))
}

fn show_entry(state: &mut Option<LoopState>, show: &mut LoopPrinter<'_>, entry: &Entry) {
    match state {
        None => *state = decide::state_from_first(entry),
        Some(state) => decide::apply(state, entry),
    }
    if let Some(state) = state {
        show.print_entry(entry, state);
    }
}
