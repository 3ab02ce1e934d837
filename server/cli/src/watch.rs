//! `watch`: shows all loops on a terminal, or follows one until it ends.

mod dashboard;
mod events;
mod feed;
mod full_screen;
mod input;
mod subcommands;

use loopkeeper_text::tr;
use std::io::IsTerminal as _;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::exit::Exit;
use super::failure::{self, ExitResult, Failure};
use super::out::Ui;
use super::render::live;
use super::select::LoopArg;
use super::show::{LoopFormat, LoopPrinter};
use loopkeeper_core::liveness::KeeperLiveness;
use loopkeeper_operations::follow::LoopTailer;
use loopkeeper_operations::loops;
use loopkeeper_operations::watch_client::WatchStream;
use loopkeeper_system::journal_file::JournalError;
use loopkeeper_system::runtime::new_runtime;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::LoopDir;

/// Poll interval of the journal.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Number of polls between two checks whether the keeper is still running.
const POLLS_PER_KEEPER_CHECK: u32 = 10;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) which: LoopArg,
    /// Print journal records as JSON, one per line
    #[arg(long)]
    pub(crate) json: bool,
    /// Follow one loop in plain lines, as without a terminal
    #[arg(long, conflicts_with = "json")]
    pub(crate) plain: bool,
}

pub(crate) fn run(args: &Args, out: &mut Ui) -> ExitResult {
    let store = StateDir::open()?;
    let name = args.which.name.as_deref();
    if !args.json && !args.plain && live::can_redraw() && std::io::stdin().is_terminal() {
        let opened = name.map(|it| loops::find(&store, Some(it), failure::warn)).transpose()?;
        return dashboard::run(store, opened.as_ref().map(|it| it.dir.id()));
    }
    let loop_view = loops::find(&store, name, failure::warn)?;
    let runtime = new_runtime()?;
    let watched = WatchedLoop { store, dir: loop_view.dir };
    let format = if args.plain { LoopFormat::Plain } else { LoopFormat::from_flag(args.json) };
    runtime.block_on(watched.run_to_end(LoopPrinter::new(format, out), &mut NoInterrupts))
}

/// A loop with a running keeper.
pub(crate) struct WatchedLoop {
    pub(crate) store: StateDir,
    pub(crate) dir: LoopDir,
}

/// A source of user interrupts.
pub(crate) trait InterruptSource {
    /// Resolves at the next interrupt, with a message to print.
    async fn next(&mut self) -> Option<String>;
}

/// No interrupts are handled: by default a signal ends this program, not the loop.
pub(crate) struct NoInterrupts;

impl InterruptSource for NoInterrupts {
    async fn next(&mut self) -> Option<String> {
        std::future::pending().await
    }
}

impl WatchedLoop {
    /// Shows the loop until it ends; the exit code follows from its outcome.
    pub(crate) async fn run_to_end(
        &self,
        mut show: LoopPrinter<'_>,
        interrupts: &mut impl InterruptSource,
    ) -> ExitResult {
        let mut tailer = LoopTailer::new(&self.dir.journal());
        let mut stream = WatchStream::connect(&self.store, self.dir.id()).await;
        let mut tick = interval(POLL_INTERVAL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut polls = 0_u32;
        loop {
            tokio::select! {
                _ = tick.tick() => {
                    polls = polls.wrapping_add(1);
                    let alive = !polls.is_multiple_of(POLLS_PER_KEEPER_CHECK) || self.is_alive()?;
                    if let Some(answer) = self.poll_once(&mut tailer, &mut show, alive)? {
                        show.finish(tailer.state());
                        return answer;
                    }
                }
                line = next_activity(&mut stream) => show.set_activity(line),
                Some(note) = interrupts.next() => show.print_note(&note),
            }
        }
    }

    /// One poll; `Some` when the command is done.
    fn poll_once(
        &self,
        tailer: &mut LoopTailer,
        show: &mut LoopPrinter<'_>,
        alive: bool,
    ) -> Result<Option<ExitResult>, Failure> {
        show_new_entries(tailer, show)?;
        let Some(state) = tailer.state() else {
            return Ok((!alive).then(|| Err(self.interrupted_error(tailer))));
        };
        if let Some(outcome) = state.outcome() {
            return Ok(Some(Ok(Exit::of(outcome))));
        }
        if !alive {
            return Ok(Some(Err(self.interrupted_error(tailer))));
        }
        show.refresh(state);
        Ok(show.is_closed().then_some(Ok(Exit::Done)))
    }

    fn is_alive(&self) -> Result<bool, Failure> {
        Ok(self.store.keeper_of(&self.dir)? != KeeperLiveness::Gone)
    }

    fn interrupted_error(&self, tailer: &LoopTailer) -> Failure {
        if let Some(damage) = tailer.damage() {
            return loops::damaged_error(damage.clone());
        }
        let id = self.dir.id();
        Failure::ended(tr!("loop {id} is interrupted: its keeper is no longer running", id))
            .hint(tr!("`loopkeeper resume {id}` continues it, `loopkeeper stop {id}` ends it.", id))
    }
}

/// Shows every record since the last poll, each with the state after the last of them.
fn show_new_entries(tailer: &mut LoopTailer, show: &mut LoopPrinter<'_>) -> Result<(), Failure> {
    let fresh = match tailer.poll() {
        // The keeper is about to write its first record.
        Err(JournalError::Gone { .. }) if tailer.state().is_none() => Vec::new(),
        other => other?,
    };
    if let Some(state) = tailer.state() {
        for entry in &fresh {
            show.print_entry(entry, state);
        }
    }
    Ok(())
}

/// The next activity of the agent. Without a stream the loop is shown nevertheless.
async fn next_activity(stream: &mut Option<WatchStream>) -> String {
    while let Some(keeper) = stream {
        match keeper.next().await {
            Some(message) if message.kind == "activity" => return message.text,
            Some(_) => {}
            None => *stream = None,
        }
    }
    std::future::pending().await
}
