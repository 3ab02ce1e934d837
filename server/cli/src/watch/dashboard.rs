//! The event loop of the full-screen view: keys, signals, loops and results of commands in; frames and commands out.

use std::time::Duration;

use loopkeeper_system::runtime::new_runtime;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_view::dashboard::{
    Dashboard, DashboardAction, DashboardCharset, DashboardCommand, DashboardKey,
};
use rustix::process::Signal;
use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::events::DashboardEvent;
use super::feed::LoopFeed;
use super::full_screen::FullScreen;
use super::input::KeyParser;
use super::subcommands;
use crate::exit::Exit;
use crate::failure::{ExitResult, Failure};
use crate::render::Glyphs;

/// Poll interval of running loops without a stream; with one, the keeper reports records.
const POLL: Duration = Duration::from_millis(500);
/// Polls of the selected loop between two polls of all loops and keepers.
const POLLS_PER_SCAN: u32 = 4;
/// Time between two frames, however much an agent prints.
const FRAME: Duration = Duration::from_millis(100);
/// The rest of a key's sequence arrives within this time.
const ESCAPE_TIMEOUT: Duration = Duration::from_millis(50);
const MAX_EVENTS: usize = 256;

/// Shows all loops, or one of them first.
pub(super) fn run(store: StateDir, opened: Option<&str>) -> ExitResult {
    let runtime = new_runtime()?;
    let end = runtime.block_on(async { LiveDashboard::new(store, opened)?.run(opened).await });
    // A command that still runs finishes by itself.
    runtime.shutdown_background();
    end
}

struct LiveDashboard {
    view: Dashboard,
    feed: LoopFeed,
    screen: FullScreen,
    parser: KeyParser,
    events_in: mpsc::Sender<DashboardEvent>,
    events: mpsc::Receiver<DashboardEvent>,
}

/// Whether a key ends the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyOutcome {
    Continue,
    Quit,
}

/// The signals that end or redraw the view.
struct DashboardSignals {
    ends: [SignalStream; 3],
    resized: SignalStream,
    stopped: SignalStream,
    continued: SignalStream,
}

impl DashboardSignals {
    fn new() -> std::io::Result<Self> {
        let of = |it: Signal| signal(SignalKind::from_raw(it.as_raw()));
        Ok(Self {
            ends: [of(Signal::INT)?, of(Signal::TERM)?, of(Signal::HUP)?],
            resized: of(Signal::WINCH)?,
            stopped: of(Signal::TSTP)?,
            continued: of(Signal::CONT)?,
        })
    }

    async fn end(ends: &mut [SignalStream; 3]) {
        let [interrupt, terminate, hang_up] = ends;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    }
}

impl LiveDashboard {
    fn new(store: StateDir, opened: Option<&str>) -> Result<Self, Failure> {
        let charset = match Glyphs::of_environment() {
            Glyphs::Unicode => DashboardCharset::Unicode,
            Glyphs::Ascii => DashboardCharset::Ascii,
        };
        let (events_in, events) = mpsc::channel(MAX_EVENTS);
        let mut view = Dashboard::new(charset);
        let mut feed = LoopFeed::new(store, events_in.clone());
        if let Some(id) = opened {
            view.open(id);
        }
        // Before the terminal is taken over, so that an error is printed as of any command.
        feed.scan(&mut view)?;
        Ok(Self { view, feed, screen: FullScreen::open()?, parser: KeyParser::default(), events_in, events })
    }

    async fn run(mut self, opened: Option<&str>) -> ExitResult {
        let mut signals = DashboardSignals::new()?;
        let mut tick = interval(POLL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        if let Some(id) = opened {
            self.load_output(id);
        }
        let mut ticks = 0_u32;
        let mut next_frame = Some(Instant::now());
        // Set when bytes arrive, and not moved by what else happens: an agent may print without a pause.
        let mut escape_deadline = None;
        loop {
            tokio::select! {
                () = DashboardSignals::end(&mut signals.ends) => return Ok(Exit::Signalled),
                _ = signals.stopped.recv() => self.screen.suspend()?,
                _ = signals.continued.recv() => self.screen.enter()?,
                _ = signals.resized.recv() => self.screen.invalidate(),
                typed = self.screen.typed() => {
                    // The terminal is gone.
                    let Some(bytes) = typed else { return Ok(self.exit(opened)) };
                    let keys = self.parser.feed(&bytes);
                    if self.press(keys)? == KeyOutcome::Quit {
                        return Ok(self.exit(opened));
                    }
                    escape_deadline = self.parser.is_waiting().then(|| Instant::now() + ESCAPE_TIMEOUT);
                    next_frame = Some(Instant::now());
                }
                () = wait_until(escape_deadline) => {
                    escape_deadline = None;
                    let key = self.parser.flush();
                    if self.press(key)? == KeyOutcome::Quit {
                        return Ok(self.exit(opened));
                    }
                    next_frame = Some(Instant::now());
                }
                Some(event) = self.events.recv() => {
                    if !self.apply(event) {
                        continue;
                    }
                }
                _ = tick.tick() => {
                    ticks = ticks.wrapping_add(1);
                    if ticks.is_multiple_of(POLLS_PER_SCAN) {
                        self.feed.scan(&mut self.view)?;
                    } else {
                        self.feed.poll(None, &mut self.view);
                    }
                }
                () = wait_until(next_frame) => {
                    let size = FullScreen::size();
                    self.screen.draw(&self.view.render(size), size.columns)?;
                    next_frame = None;
                    continue;
                }
            }
            next_frame = next_frame.or_else(|| Some(Instant::now() + FRAME));
        }
    }

    /// That of the loop named on the command line, if it has ended.
    fn exit(&self, opened: Option<&str>) -> Exit {
        opened.and_then(|id| self.feed.exit_of(id)).unwrap_or(Exit::Done)
    }

    /// Whether the screen may differ: the output of other loops than the selected one is not on it.
    fn apply(&mut self, event: DashboardEvent) -> bool {
        let is_selected = |view: &Dashboard, id: &str| view.selected() == Some(id);
        match event {
            DashboardEvent::Recorded { id } => self.feed.poll(Some(&id), &mut self.view),
            DashboardEvent::Activity { id, text } => {
                self.view.set_activity(&id, &text);
                return is_selected(&self.view, &id);
            }
            DashboardEvent::OutputLine { id, text } => {
                self.view.add_output(&id, &text);
                return is_selected(&self.view, &id);
            }
            DashboardEvent::StreamEnded { id } => {
                self.feed.poll(Some(&id), &mut self.view);
                self.feed.stream_ended(&id);
            }
            DashboardEvent::Output { id, text } => self.view.set_output(&id, &text),
            DashboardEvent::Patch { id, text } => {
                if is_selected(&self.view, &id) {
                    self.view.set_patch(&text);
                }
            }
            DashboardEvent::Note(text) => self.view.set_note(&text),
        }
        true
    }

    fn press(&mut self, keys: impl IntoIterator<Item = DashboardKey>) -> Result<KeyOutcome, Failure> {
        for key in keys {
            match self.view.press(key) {
                None => {}
                Some(DashboardAction::Quit) => return Ok(KeyOutcome::Quit),
                Some(DashboardAction::Suspend) => self.screen.suspend()?,
                Some(DashboardAction::LoadOutput { id }) => self.load_output(&id),
                Some(DashboardAction::LoadDiff { id }) => {
                    let shown = id.clone();
                    subcommands::run(&["diff", &id], self.events_in.clone(), |text| DashboardEvent::Patch {
                        id: shown,
                        text,
                    });
                }
                Some(DashboardAction::Send { id, command }) => self.send(&id, &command),
            }
        }
        Ok(KeyOutcome::Continue)
    }

    fn load_output(&self, id: &str) {
        let Some(iteration) = self.feed.iteration(id).filter(|it| *it > 0) else { return };
        let (number, shown) = (iteration.to_string(), id.to_owned());
        subcommands::run(&["log", id, "--output", &number], self.events_in.clone(), |text| {
            DashboardEvent::Output { id: shown, text }
        });
    }

    fn send(&self, id: &str, command: &DashboardCommand) {
        let args: &[&str] = match command {
            DashboardCommand::Pause => &["pause", id],
            DashboardCommand::Resume => &["resume", id],
            DashboardCommand::Stop => &["stop", id],
            DashboardCommand::StopNow => &["stop", "--now", id],
            // The text may begin with a hyphen.
            DashboardCommand::Answer(text) => &["answer", "--", id, text],
        };
        subcommands::run(args, self.events_in.clone(), DashboardEvent::Note);
    }
}

/// Resolves at this time, or never.
async fn wait_until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
