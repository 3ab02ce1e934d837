//! Maps keys to actions of the full-screen view.

use super::{Dashboard, DashboardLoop, DashboardPrompt, DashboardScreen};
use crate::DisplayState;
use loopkeeper_text::tr;

const PAGE_LINES: usize = 10;
const MAX_ANSWER_CHARS: usize = 4000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DashboardKey {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Backspace,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-Z.
    Suspend,
    Char(char),
    /// Text from the clipboard: only an answer accepts it, because its characters are not keys that the user pressed.
    Paste(String),
}

/// The action for the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DashboardAction {
    Quit,
    Suspend,
    LoadOutput { id: String },
    LoadDiff { id: String },
    Send { id: String, command: DashboardCommand },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DashboardCommand {
    Pause,
    Resume,
    Stop,
    StopNow,
    Answer(String),
}

impl Dashboard {
    /// Changes the view; the action is for the caller.
    pub fn press(&mut self, key: DashboardKey) -> Option<DashboardAction> {
        self.note = None;
        match key {
            DashboardKey::Interrupt => return Some(DashboardAction::Quit),
            DashboardKey::Suspend => return Some(DashboardAction::Suspend),
            _ => {}
        }
        match self.prompt.take() {
            Some(DashboardPrompt::Answer { id, text }) => self.type_answer(id, text, key),
            Some(DashboardPrompt::Stop { id }) => Self::confirm_stop(id, &key),
            None => self.press_command(&key),
        }
    }

    fn type_answer(&mut self, id: String, mut text: String, key: DashboardKey) -> Option<DashboardAction> {
        match key {
            DashboardKey::Escape => return None,
            DashboardKey::Enter if !text.trim().is_empty() => {
                return Some(DashboardAction::Send { id, command: DashboardCommand::Answer(text) });
            }
            DashboardKey::Backspace => drop(text.pop()),
            DashboardKey::Char(char) if !char.is_control() => text.push(char),
            DashboardKey::Paste(more) => {
                text.extend(more.chars().map(|it| if it.is_control() { ' ' } else { it }));
            }
            _ => {}
        }
        let text = text.chars().take(MAX_ANSWER_CHARS).collect();
        self.prompt = Some(DashboardPrompt::Answer { id, text });
        None
    }

    /// Every other key declines.
    fn confirm_stop(id: String, key: &DashboardKey) -> Option<DashboardAction> {
        let command = match key {
            DashboardKey::Char('y') => DashboardCommand::Stop,
            DashboardKey::Char('!') => DashboardCommand::StopNow,
            _ => return None,
        };
        Some(DashboardAction::Send { id, command })
    }

    fn press_command(&mut self, key: &DashboardKey) -> Option<DashboardAction> {
        match key {
            DashboardKey::Char('q') => Some(DashboardAction::Quit),
            DashboardKey::Char('?') => {
                self.show(DashboardScreen::Help);
                None
            }
            DashboardKey::Escape => {
                self.go_back();
                None
            }
            DashboardKey::Enter => self.open_details(),
            DashboardKey::Char('o') => self.open_output(),
            DashboardKey::Char('d') => self.open_diff(),
            DashboardKey::Char('a') => self.ask_answer(),
            DashboardKey::Char('p') => self.pause_or_resume(),
            DashboardKey::Char('s') => self.ask_stop(),
            DashboardKey::Up | DashboardKey::Char('k') => self.step(true, 1),
            DashboardKey::Down | DashboardKey::Char('j') => self.step(false, 1),
            DashboardKey::PageUp => self.step(true, PAGE_LINES),
            DashboardKey::PageDown => self.step(false, PAGE_LINES),
            DashboardKey::Home | DashboardKey::Char('g') => self.step(true, usize::MAX),
            DashboardKey::End | DashboardKey::Char('G') => self.step(false, usize::MAX),
            _ => None,
        }
    }

    /// Moves the selection or scrolls.
    fn step(&mut self, is_up: bool, by: usize) -> Option<DashboardAction> {
        let moved = |from: usize, most: usize, is_less: bool| {
            if is_less { from.saturating_sub(by) } else { from.saturating_add(by).min(most) }
        };
        match self.screen {
            DashboardScreen::Loops => {
                let index = moved(self.position(), self.loops.len().saturating_sub(1), is_up);
                self.selected = self.loops.get(index).map(|it| it.id().to_owned());
            }
            DashboardScreen::Help => {}
            // An output is read from its end.
            DashboardScreen::Output => self.scroll = moved(self.scroll, self.max_scroll, !is_up),
            DashboardScreen::Diff | DashboardScreen::Details => {
                self.scroll = moved(self.scroll, self.max_scroll, is_up);
            }
        }
        None
    }

    fn show(&mut self, screen: DashboardScreen) {
        if matches!(self.screen, DashboardScreen::Loops | DashboardScreen::Details) {
            self.previous = self.screen;
        }
        // A screen keeps its loop when the order of the list changes.
        self.selected = self.selected().map(str::to_owned);
        self.screen = screen;
        self.reset_scroll();
    }

    fn go_back(&mut self) {
        self.screen = match self.screen {
            DashboardScreen::Loops | DashboardScreen::Details => DashboardScreen::Loops,
            DashboardScreen::Output | DashboardScreen::Diff | DashboardScreen::Help => self.previous,
        };
        self.reset_scroll();
    }

    /// The next frame limits how far the new screen can be scrolled.
    fn reset_scroll(&mut self) {
        (self.scroll, self.max_scroll) = (0, usize::MAX);
    }

    fn open_details(&mut self) -> Option<DashboardAction> {
        let action = self.load_output()?;
        (self.screen == DashboardScreen::Loops).then(|| {
            self.show(DashboardScreen::Details);
            action
        })
    }

    fn open_output(&mut self) -> Option<DashboardAction> {
        let action = self.load_output()?;
        self.show(DashboardScreen::Output);
        Some(action)
    }

    fn load_output(&self) -> Option<DashboardAction> {
        Some(DashboardAction::LoadOutput { id: self.current()?.id().to_owned() })
    }

    fn open_diff(&mut self) -> Option<DashboardAction> {
        let id = self.current()?.id().to_owned();
        self.patch = vec![tr!("Reading the changes …").to_owned()];
        self.show(DashboardScreen::Diff);
        Some(DashboardAction::LoadDiff { id })
    }

    fn ask_answer(&mut self) -> Option<DashboardAction> {
        let current = self.current()?;
        if current.status.question.is_none() {
            self.note = Some(tr!("This loop has no open question.").to_owned());
            return None;
        }
        let id = current.id().to_owned();
        self.prompt = Some(DashboardPrompt::Answer { id, text: String::new() });
        None
    }

    fn ask_stop(&mut self) -> Option<DashboardAction> {
        let id = self.open_loop()?.id().to_owned();
        self.prompt = Some(DashboardPrompt::Stop { id });
        None
    }

    fn pause_or_resume(&mut self) -> Option<DashboardAction> {
        let current = self.open_loop()?;
        let is_paused = current.status.state != DisplayState::Working || current.status.pause.is_some();
        let command = if is_paused { DashboardCommand::Resume } else { DashboardCommand::Pause };
        Some(DashboardAction::Send { id: current.id().to_owned(), command })
    }

    /// The selected loop; shows a note if it has ended.
    fn open_loop(&mut self) -> Option<&DashboardLoop> {
        if self.current()?.is_ended() {
            self.note = Some(tr!("This loop has ended; `loopkeeper run` starts a new one.").to_owned());
            return None;
        }
        self.current()
    }
}
