//! An error of several lines, from its first to its last: compiler messages, tracebacks, stack traces, panics.
//! Keeps only the line that decides, never the lines themselves.

use std::sync::LazyLock;

use regex::Regex;

use crate::check::constant;

/// Longer blocks are cut: what follows is read anew.
const BLOCK_LINES: u32 = 400;
/// Of a panic's message.
const MESSAGE_BYTES: usize = 600;

/// What belongs under a message of a compiler: its place, the marked source, remarks.
static UNDER_MESSAGE: LazyLock<Regex> =
    LazyLock::new(|| constant(r"^(?:\s*(?:-->|:::|\||\d+ *\||\.\.\.|= ?\w)|(?:help|note): )"));
static FRAME: LazyLock<Regex> = LazyLock::new(|| {
    constant(r"^(?:\s+at |\s+\.\.\. \d+ |\s*\^+$|\s+\d+: |stack backtrace:|note: run with )")
});
static CHAINED: LazyLock<Regex> =
    LazyLock::new(|| constant(r"^(?:During handling of the above|The above exception was the direct)"));
/// Frames, the source they show with its marks, and what a group of exceptions draws.
static PYTHON_INSIDE: LazyLock<Regex> = LazyLock::new(|| constant(r"^(?:\s|[|+-]|Traceback )"));

#[derive(Debug)]
enum Kind {
    /// `error:` of a compiler.
    Message,
    /// A panic whose message stands on the next line.
    PanicHead,
    Panic,
    /// Between `Traceback` and the exception.
    Python,
    /// Behind the exception, where a chained one may follow.
    PythonTold,
    Stack,
}

#[derive(Debug)]
pub(super) struct Block {
    kind: Kind,
    decisive: Option<String>,
    lines: u32,
}

/// What a line makes of a block.
pub(super) enum Next {
    /// The line belongs to it.
    Goes(Block),
    /// The line is of something else; the block's decisive line.
    Ended(Option<String>),
}

impl Block {
    pub(super) fn begin(line: &str) -> Self {
        let kind = if line.contains("Traceback (most recent call last)") {
            return Self { kind: Kind::Python, decisive: None, lines: 0 };
        } else if line.contains("panicked at") {
            if line.ends_with(':') { Kind::PanicHead } else { Kind::Panic }
        } else if line.contains("error") {
            Kind::Message
        } else {
            Kind::Stack
        };
        Self { kind, decisive: Some(line.to_owned()), lines: 0 }
    }

    pub(super) fn next(mut self, line: &str) -> Next {
        self.lines += 1;
        if self.lines > BLOCK_LINES {
            return Next::Ended(self.decisive);
        }
        match self.kind {
            Kind::Message if UNDER_MESSAGE.is_match(line) || FRAME.is_match(line) => Next::Goes(self),
            Kind::PanicHead if !line.is_empty() => Next::Goes(self.told(line, Kind::Panic)),
            Kind::Panic if FRAME.is_match(line) => Next::Goes(self),
            Kind::Panic if line.starts_with(' ') => Next::Goes(self.told(line, Kind::Panic)),
            Kind::Python if line.is_empty() || PYTHON_INSIDE.is_match(line) => Next::Goes(self),
            Kind::Python => {
                Next::Goes(Self { kind: Kind::PythonTold, decisive: Some(line.to_owned()), ..self })
            }
            Kind::PythonTold if line.is_empty() => Next::Goes(self),
            Kind::PythonTold if CHAINED.is_match(line) => Next::Goes(Self { kind: Kind::Python, ..self }),
            Kind::Stack if FRAME.is_match(line) => Next::Goes(self),
            Kind::Stack => match line.strip_prefix("Caused by: ") {
                Some(cause) => Next::Goes(Self { decisive: Some(cause.to_owned()), ..self }),
                None => Next::Ended(self.decisive),
            },
            Kind::Message | Kind::PanicHead | Kind::Panic | Kind::PythonTold => Next::Ended(self.decisive),
        }
    }

    /// The decisive line of a block that breaks off.
    pub(super) fn decisive(self) -> Option<String> {
        self.decisive
    }

    /// A panic's head with a further line of its message.
    fn told(mut self, line: &str, kind: Kind) -> Self {
        if let Some(decisive) = &mut self.decisive
            && decisive.len() < MESSAGE_BYTES
        {
            decisive.push(' ');
            decisive.push_str(line.trim());
        }
        Self { kind, ..self }
    }
}
