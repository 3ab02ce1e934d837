//! Uses the terminal as a full screen: raw mode, alternate screen, and only changed lines written, each frame at once.
//!
//! The terminal is restored on every way out: at the end, before a panic is reported, and while the program is
//! suspended.

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use loopkeeper_text::words;
use loopkeeper_view::dashboard::{DashboardLine, DashboardSize, DashboardStyle};
use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::sync::mpsc;

use crate::render::{BOLD, DIM, FAILURE, SUCCESS, WARNING};

/// Alternate screen, no cursor, no line wrap, pasted text marked.
const ENTER_SCREEN: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[2J";
const LEAVE_SCREEN: &str = "\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l";
/// A frame that terminals with this mode show at once.
const FRAME_BEGINS: &str = "\x1b[?2026h";
const FRAME_ENDS: &str = "\x1b[?2026l";
const REVERSE_VIDEO: &str = "\x1b[7m";
const FALLBACK: DashboardSize = DashboardSize { columns: 80, rows: 24 };

/// The terminal's own settings.
static ORIGINAL: OnceLock<Termios> = OnceLock::new();
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

pub(super) struct FullScreen {
    typed: mpsc::Receiver<Vec<u8>>,
    encoder: LineEncoder,
    /// The lines on the screen.
    lines: Vec<String>,
}

impl FullScreen {
    pub(super) fn open() -> io::Result<Self> {
        let original = tcgetattr(io::stdin())?;
        if ORIGINAL.set(original).is_ok() {
            let report = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                report(panic);
            }));
        }
        let has_colours = std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
        let mut screen =
            Self { typed: read_keyboard()?, encoder: LineEncoder { has_colours }, lines: Vec::new() };
        screen.enter()?;
        Ok(screen)
    }

    /// Takes the terminal over; the next frame is drawn as a whole.
    pub(super) fn enter(&mut self) -> io::Result<()> {
        self.lines.clear();
        if let Some(original) = ORIGINAL.get() {
            let mut raw = original.clone();
            raw.make_raw();
            // Before the change, so that it is undone if a signal arrives in between.
            IS_ACTIVE.store(true, Ordering::SeqCst);
            tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        }
        write(ENTER_SCREEN)
    }

    /// Stops this process until the shell continues it.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        restore();
        kill_process(getpid(), Signal::STOP)?;
        self.enter()
    }

    /// The typed bytes; `None` if the terminal has closed.
    pub(super) async fn typed(&mut self) -> Option<Vec<u8>> {
        self.typed.recv().await
    }

    pub(super) fn size() -> DashboardSize {
        match tcgetwinsize(io::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                DashboardSize { columns: usize::from(size.ws_col), rows: usize::from(size.ws_row) }
            }
            _ => FALLBACK,
        }
    }

    /// Drops the assumed content of the screen, which a terminal may have rearranged.
    pub(super) fn invalidate(&mut self) {
        self.lines.clear();
    }

    pub(super) fn draw(&mut self, lines: &[DashboardLine], columns: usize) -> io::Result<()> {
        let lines: Vec<_> = lines.iter().map(|it| self.encoder.encode(it, columns)).collect();
        let frame = frame(&self.lines, &lines);
        self.lines = lines;
        if frame.is_empty() { Ok(()) } else { write(&frame) }
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        restore();
    }
}

/// A thread, because standard input is shared with the shell and must not become non-blocking. It ends with the process.
fn read_keyboard() -> io::Result<mpsc::Receiver<Vec<u8>>> {
    const MAX_WAITING: usize = 16;
    let (typed_in, typed) = mpsc::channel(MAX_WAITING);
    thread::Builder::new().name("keyboard".to_owned()).spawn(move || {
        let mut buffer = [0; 1024];
        while let Ok(length @ 1..) = io::stdin().lock().read(&mut buffer) {
            let bytes = buffer.get(..length).unwrap_or_default();
            if typed_in.blocking_send(bytes.to_vec()).is_err() {
                return;
            }
        }
    })?;
    Ok(typed)
}

/// Gives the terminal back as it was; more than once has no effect.
fn restore() {
    if IS_ACTIVE.swap(false, Ordering::SeqCst) {
        // Nothing can be done about a terminal that is gone.
        let _ = write(LEAVE_SCREEN);
        if let Some(original) = ORIGINAL.get() {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, original);
        }
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The output that turns the old screen into the new one; empty if nothing differs.
fn frame(old: &[String], new: &[String]) -> String {
    let mut text = String::new();
    for (row, line) in new.iter().enumerate() {
        if old.get(row) != Some(line) {
            let _ = write!(text, "\x1b[{};1H{line}", row + 1);
        }
    }
    if text.is_empty() { text } else { format!("{FRAME_BEGINS}{text}{FRAME_ENDS}") }
}

struct LineEncoder {
    has_colours: bool,
}

impl LineEncoder {
    /// The line with its styles; the rest of the row is erased.
    fn encode(&self, line: &DashboardLine, columns: usize) -> String {
        let mut text = String::new();
        let mut cells = 0;
        for span in &line.0 {
            text.push_str(&self.style(span.style));
            text.push_str(&span.text);
            text.push_str("\x1b[0m");
            cells += words::width(&span.text);
        }
        // In the last column the cursor stays on the character, which would be erased.
        if cells < columns {
            text.push_str("\x1b[K");
        }
        text
    }

    fn style(&self, style: DashboardStyle) -> String {
        match style {
            DashboardStyle::Bold => BOLD.to_string(),
            DashboardStyle::Dim => DIM.to_string(),
            DashboardStyle::Selected => REVERSE_VIDEO.to_owned(),
            DashboardStyle::Success if self.has_colours => SUCCESS.to_string(),
            DashboardStyle::Failure if self.has_colours => FAILURE.to_string(),
            DashboardStyle::Warning if self.has_colours => WARNING.to_string(),
            DashboardStyle::Plain
            | DashboardStyle::Success
            | DashboardStyle::Failure
            | DashboardStyle::Warning => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};
    use std::io::Read as _;
    use std::process::{Command, Stdio};

    use loopkeeper_keeper::abort_on_panic;
    use loopkeeper_view::dashboard::{DashboardLine, DashboardSpan, DashboardStyle};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{LocalModes, tcgetattr};

    use super::{ENTER_SCREEN, FullScreen, LEAVE_SCREEN, LineEncoder, frame};

    /// Set in the process of the test that panics.
    const PANICS: &str = "LOOPKEEPER_TEST_PANICS";
    const PANIC: &str = "a panic on the full screen";

    #[test]
    fn a_panic_leaves_the_terminal_as_it_was() {
        if std::env::var_os(PANICS).is_some() {
            return panic_on_the_screen();
        }
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap();
        // Open until the end, so that the settings survive the process.
        let side = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let before = tcgetattr(&side).unwrap();
        let mut panicking = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "watch::full_screen::tests::a_panic_leaves_the_terminal_as_it_was",
                "--nocapture",
            ])
            .env(PANICS, "1")
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::from(side.try_clone().unwrap()))
            .stdout(Stdio::from(side.try_clone().unwrap()))
            .stderr(Stdio::from(side.try_clone().unwrap()))
            .spawn()
            .unwrap();
        assert!(!panicking.wait().unwrap().success());
        let after = tcgetattr(&side).unwrap();
        assert_eq!(after.local_modes, before.local_modes);
        assert!(after.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO));
        let shown = written(File::from(terminal), side);
        let entered = shown.find(ENTER_SCREEN).expect("the full screen");
        let left = shown.find(LEAVE_SCREEN).expect("its end");
        let reported = shown.find(PANIC).expect("the report");
        assert!(entered < left && left < reported, "{shown:?}");
    }

    fn panic_on_the_screen() {
        abort_on_panic();
        let mut screen = FullScreen::open().unwrap();
        let line =
            DashboardLine(vec![DashboardSpan { text: "1 loop".to_owned(), style: DashboardStyle::Plain }]);
        screen.draw(&[line], 80).unwrap();
        assert!(!tcgetattr(std::io::stdin()).unwrap().local_modes.contains(LocalModes::ICANON));
        panic!("{PANIC}");
    }

    /// Everything that was written on `side`; reading ends with an error once that is closed.
    fn written(mut terminal: File, side: File) -> String {
        drop(side);
        let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(length @ 1..) = terminal.read(&mut buffer) {
            all.extend_from_slice(&buffer[..length]);
        }
        String::from_utf8_lossy(&all).into_owned()
    }

    fn lines(text: &[&str]) -> Vec<String> {
        text.iter().map(|it| (*it).to_owned()).collect()
    }

    #[test]
    fn only_changed_lines_are_written() {
        let check = |old: &[&str], new: &[&str], expect: &str| {
            assert_eq!(frame(&lines(old), &lines(new)), expect);
        };
        check(&["a", "b"], &["a", "b"], "");
        check(&["a", "b"], &["a", "c"], "\x1b[?2026h\x1b[2;1Hc\x1b[?2026l");
        check(&[], &["a"], "\x1b[?2026h\x1b[1;1Ha\x1b[?2026l");
    }

    #[test]
    fn colours_are_left_out_but_the_selection_stays_visible() {
        let encode = |style, has_colours| {
            let line = DashboardLine(vec![DashboardSpan { text: "ab".to_owned(), style }]);
            LineEncoder { has_colours }.encode(&line, 2)
        };
        assert_eq!(encode(DashboardStyle::Failure, true), "\x1b[31mab\x1b[0m");
        assert_eq!(encode(DashboardStyle::Failure, false), "ab\x1b[0m");
        assert_eq!(encode(DashboardStyle::Selected, false), "\x1b[7mab\x1b[0m");
    }

    #[test]
    fn a_full_row_keeps_its_last_character() {
        let line = DashboardLine(vec![DashboardSpan { text: "ab".to_owned(), style: DashboardStyle::Plain }]);
        let encoder = LineEncoder { has_colours: true };
        assert!(!encoder.encode(&line, 2).contains("\x1b[K"));
        assert!(encoder.encode(&line, 3).ends_with("\x1b[K"));
    }
}
