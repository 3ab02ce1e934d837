//! Reads multi-line errors from first to last line: compiler messages, tracebacks, stack traces, panics. Keeps only the
//! decisive line.

use loopkeeper_text::pattern::ConstantPattern;

/// Longer blocks are cut, and the following lines are read as new ones.
const BLOCK_LINES: u32 = 400;
/// Maximum bytes of a panic's message.
const MESSAGE_BYTES: usize = 600;

/// Lines under a compiler message: its location, the marked source, remarks.
static MESSAGE_DETAIL: ConstantPattern =
    ConstantPattern::new(r"^(?:\s*(?:-->|:::|\||\d+ *\||\.\.\.|= ?\w)|(?:help|note): )");
static FRAME: ConstantPattern =
    ConstantPattern::new(r"^(?:\s+at |\s+\.\.\. \d+ |\s*\^+$|\s+\d+: |stack backtrace:|note: run with )");
static EXCEPTION_CAUSE: ConstantPattern =
    ConstantPattern::new(r"^(?:During handling of the above|The above exception was the direct)");
/// Frames, their source lines and markers, and the drawing of exception groups.
static PYTHON_FRAME: ConstantPattern = ConstantPattern::new(r"^(?:\s|[|+-]|Traceback )");

#[derive(Debug)]
enum ErrorBlockKind {
    /// `error:` of a compiler.
    Message,
    /// A panic whose message is on the next line.
    PanicHead,
    Panic,
    /// Between `Traceback` and the exception.
    Python,
    /// After the exception, where a chained one may follow.
    PythonException,
    Stack,
}

#[derive(Debug)]
pub(super) struct ErrorBlock {
    kind: ErrorBlockKind,
    decisive: Option<String>,
    lines: u32,
}

/// How a line changes a block.
pub(super) enum BlockTransition {
    /// The line belongs to the block.
    Continues(ErrorBlock),
    /// The line does not belong to the block. Contains the block's decisive line.
    Ended(Option<String>),
}

impl ErrorBlock {
    pub(super) fn begin(line: &str) -> Self {
        let kind = if line.contains("Traceback (most recent call last)") {
            return Self { kind: ErrorBlockKind::Python, decisive: None, lines: 0 };
        } else if line.contains("panicked at") {
            if line.ends_with(':') { ErrorBlockKind::PanicHead } else { ErrorBlockKind::Panic }
        } else if line.contains("error") {
            ErrorBlockKind::Message
        } else {
            ErrorBlockKind::Stack
        };
        Self { kind, decisive: Some(line.to_owned()), lines: 0 }
    }

    pub(super) fn push_line(mut self, line: &str) -> BlockTransition {
        self.lines += 1;
        if self.lines > BLOCK_LINES {
            return BlockTransition::Ended(self.decisive);
        }
        match self.kind {
            ErrorBlockKind::Message if MESSAGE_DETAIL.is_match(line) || FRAME.is_match(line) => {
                BlockTransition::Continues(self)
            }
            ErrorBlockKind::PanicHead if !line.is_empty() => {
                BlockTransition::Continues(self.append_message(line, ErrorBlockKind::Panic))
            }
            ErrorBlockKind::Panic if FRAME.is_match(line) => BlockTransition::Continues(self),
            ErrorBlockKind::Panic if line.starts_with(' ') => {
                BlockTransition::Continues(self.append_message(line, ErrorBlockKind::Panic))
            }
            ErrorBlockKind::Python if line.is_empty() || PYTHON_FRAME.is_match(line) => {
                BlockTransition::Continues(self)
            }
            ErrorBlockKind::Python => BlockTransition::Continues(Self {
                kind: ErrorBlockKind::PythonException,
                decisive: Some(line.to_owned()),
                ..self
            }),
            ErrorBlockKind::PythonException if line.is_empty() => BlockTransition::Continues(self),
            ErrorBlockKind::PythonException if EXCEPTION_CAUSE.is_match(line) => {
                BlockTransition::Continues(Self { kind: ErrorBlockKind::Python, ..self })
            }
            ErrorBlockKind::Stack if FRAME.is_match(line) => BlockTransition::Continues(self),
            ErrorBlockKind::Stack => match line.strip_prefix("Caused by: ") {
                Some(cause) => BlockTransition::Continues(Self { decisive: Some(cause.to_owned()), ..self }),
                None => BlockTransition::Ended(self.decisive),
            },
            ErrorBlockKind::Message
            | ErrorBlockKind::PanicHead
            | ErrorBlockKind::Panic
            | ErrorBlockKind::PythonException => BlockTransition::Ended(self.decisive),
        }
    }

    /// The decisive line of a block that ends early.
    pub(super) fn into_decisive_line(self) -> Option<String> {
        self.decisive
    }

    /// Appends a further line of its message to a panic's head.
    fn append_message(mut self, line: &str, kind: ErrorBlockKind) -> Self {
        if let Some(decisive) = &mut self.decisive
            && decisive.len() < MESSAGE_BYTES
        {
            decisive.push(' ');
            decisive.push_str(line.trim());
        }
        Self { kind, ..self }
    }
}
