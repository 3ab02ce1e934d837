//! Splits a script into words, control operators and redirections, without comments and here-documents. Refuses what it
//! does not understand, because everything after a wrong quote would be taken for its opposite.

use std::ops::Range;

use super::super::MAX_LINE;
use super::super::lexer::SourcePart;

const CONTROLS: &[&str] = &[";;&", ";;", ";&", "&&", "||", "|&", ";", "&", "|", "(", ")"];
const REDIRECTIONS: &[&str] = &["&>>", "&>", "<<<", "<<-", "<<", ">>", "<&", ">&", "<>", ">|", "<", ">"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellToken {
    pub(super) form: WordForm,
    pub(super) range: Range<usize>,
    pub(super) line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordForm {
    /// Letters that mean themselves.
    Plain,
    /// All of it in single quotes.
    SingleQuoted,
    /// `((…))`
    Arithmetic,
    /// With quotes, expansions or globs.
    Mixed,
    Control,
    Redirection,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ShellScript {
    pub(super) tokens: Vec<ShellToken>,
    /// The inner texts of `$((…))` and `((…))`.
    pub(super) arithmetic: Vec<SourcePart>,
    /// The inner texts of `$(…)`.
    pub(super) substitutions: Vec<SourcePart>,
}

impl ShellScript {
    pub(super) fn text_of<'a>(&self, text: &'a str, token: usize) -> &'a str {
        self.tokens.get(token).and_then(|it| text.get(it.range.clone())).unwrap_or_default()
    }

    pub(super) fn is_control(&self, token: usize) -> bool {
        self.tokens.get(token).is_some_and(|it| it.form == WordForm::Control)
    }
}

/// `None`: a quote, bracket or here-document does not end, or it cannot be known where.
pub(super) fn read(text: &str, part: &SourcePart) -> Option<ShellScript> {
    let text = text.get(..part.range.end)?;
    let (at, line) = (part.range.start, part.line);
    let mut reader = ShellReader {
        text,
        at,
        line,
        documents: Vec::new(),
        script: ShellScript::default(),
        arithmetic_from: 0,
    };
    while reader.at < text.len() {
        reader.step()?;
    }
    reader.documents.is_empty().then_some(reader.script)
}

pub(super) struct ShellReader<'a> {
    text: &'a str,
    at: usize,
    pub(super) line: u32,
    /// Here-documents that begin after this line.
    documents: Vec<HereDocument<'a>>,
    pub(super) script: ShellScript,
    /// No `((` before this position is checked again, so that many of them take linear time.
    arithmetic_from: usize,
}

struct HereDocument<'a> {
    end: &'a str,
    is_indented: bool,
}

impl<'a> ShellReader<'a> {
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn letter_before(&self) -> Option<char> {
        self.text.get(..self.at).and_then(|it| it.chars().next_back())
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn skip(&mut self, length: usize) {
        let skipped = self.text.get(self.at..self.at + length).unwrap_or_default();
        self.line += skipped.matches('\n').count() as u32;
        self.at += length;
    }

    fn push(&mut self, form: WordForm, length: usize) {
        let range = self.at..self.at + length;
        self.script.tokens.push(ShellToken { form, range, line: self.line });
        self.skip(length);
    }

    fn step(&mut self) -> Option<()> {
        let rest = self.rest();
        let first = rest.chars().next()?;
        if first == '\n' {
            self.push(WordForm::Control, 1);
            return self.skip_documents();
        }
        if first == ' ' || first == '\t' || first == '\r' {
            self.skip(1);
        } else if rest.starts_with("\\\n") {
            self.skip(2);
        } else if first == '#' {
            self.skip(rest.find('\n').unwrap_or(rest.len()));
        } else if let Some(length) = self.arithmetic_command() {
            self.push(WordForm::Arithmetic, length);
        } else if rest.starts_with("<(") || rest.starts_with(">(") {
            return self.word();
        } else if let Some(sign) = REDIRECTIONS.iter().find(|it| rest.starts_with(**it)) {
            self.push(WordForm::Redirection, sign.len());
        } else if let Some(sign) = CONTROLS.iter().find(|it| rest.starts_with(**it)) {
            self.push(WordForm::Control, sign.len());
        } else {
            return self.word();
        }
        Some(())
    }

    /// The length of `((…))` where a command may begin.
    fn arithmetic_command(&mut self) -> Option<usize> {
        let begins = match self.script.tokens.last() {
            None => true,
            Some(it) if it.form == WordForm::Control => true,
            Some(it) => {
                let word = self.text.get(it.range.clone());
                matches!(
                    word,
                    Some("if" | "elif" | "while" | "until" | "then" | "do" | "else" | "for" | "!" | "{")
                )
            }
        };
        let inner = self.rest().strip_prefix("((").filter(|_| begins && self.at >= self.arithmetic_from)?;
        let Some(length) = arithmetic_length(inner) else {
            self.arithmetic_from = self.at + MAX_LINE;
            return None;
        };
        self.record_arithmetic(2, length);
        Some(2 + length + 2)
    }

    fn record_arithmetic(&mut self, opened: usize, length: usize) {
        let start = self.at + opened;
        self.script.arithmetic.push(SourcePart { range: start..start + length, line: self.line });
    }

    /// One word with its quotes and expansions.
    fn word(&mut self) -> Option<()> {
        let (start, line) = (self.at, self.line);
        let is_pattern =
            self.script.tokens.last().and_then(|it| self.text.get(it.range.clone())) == Some("=~");
        let mut form = WordForm::Plain;
        loop {
            let rest = self.rest();
            let Some(first) = rest.chars().next() else { break };
            let is_substitution = rest.starts_with("<(") || rest.starts_with(">(");
            let is_bracket = first == '(' && self.opens_list(start);
            match first {
                ' ' | '\t' | '\n' | '\r' => break,
                // Where the pattern of `=~` ends depends on more than its quotes.
                '\'' | '"' if is_pattern => return None,
                _ if is_pattern => self.skip(first.len_utf8()),
                ';' | '&' | '|' | ')' => break,
                '<' | '>' | '(' if !is_substitution && !is_bracket => break,
                _ => {
                    let is_quoted = first == '\'' && self.at == start;
                    self.word_part(first, &mut form)?;
                    let ends = self.rest().chars().next().is_none_or(|it| " \t\n\r;&|()<>".contains(it));
                    if is_quoted && ends {
                        form = WordForm::SingleQuoted;
                    }
                }
            }
        }
        if is_pattern {
            form = WordForm::Mixed;
        }
        self.end_word(start, line, form)
    }

    /// `name=(`, and the brackets of an extended pattern such as `@(a|b)`
    fn opens_list(&self, start: usize) -> bool {
        let before = self.text.get(start..self.at).and_then(|it| it.chars().next_back());
        before.is_some_and(|it| "=@?*+!".contains(it))
    }

    fn word_part(&mut self, first: char, form: &mut WordForm) -> Option<()> {
        let rest = self.rest();
        if !first.is_alphanumeric() && !"_-./:=,@%+!".contains(first) {
            *form = WordForm::Mixed;
        }
        let length = match first {
            '\\' => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            '\'' => rest.get(1..)?.find('\'')? + 2,
            '`' => backquoted_length(rest)?,
            '"' | '(' | '<' | '>' => return self.skip_nested(),
            '$' if rest.starts_with("$'") => escaped_length(rest)?,
            '$' if rest.starts_with("$((") => {
                let Some(length) = rest.get(3..).and_then(arithmetic_length) else {
                    return self.skip_nested();
                };
                self.record_arithmetic(3, length);
                3 + length + 2
            }
            '$' if rest.starts_with("$(") || rest.starts_with("${") => return self.skip_nested(),
            _ => first.len_utf8(),
        };
        self.skip(length);
        Some(())
    }

    fn end_word(&mut self, start: usize, line: u32, form: WordForm) -> Option<()> {
        let word = self.text.get(start..self.at)?;
        let is_bracket = matches!(word, "[" | "[[" | "]" | "]]" | "{" | "}");
        let form = if is_bracket { WordForm::Plain } else { form };
        let last = self.script.tokens.last().filter(|it| it.form == WordForm::Redirection);
        let redirection = last.and_then(|it| self.text.get(it.range.clone()));
        if matches!(redirection, Some("<<" | "<<-")) {
            let end = word.trim_matches(|it| matches!(it, '\'' | '"' | '\\'));
            self.documents.push(HereDocument { end, is_indented: redirection == Some("<<-") });
        }
        let is_descriptor = word.bytes().all(|it| it.is_ascii_digit()) && self.rest().starts_with(['<', '>']);
        if !is_descriptor {
            self.script.tokens.push(ShellToken { form, range: start..self.at, line });
        }
        (self.at > start).then_some(())
    }

    fn skip_documents(&mut self) -> Option<()> {
        for document in std::mem::take(&mut self.documents) {
            let mut length = 0;
            let mut lines = self.rest().split_inclusive('\n');
            loop {
                let line = lines.next()?;
                length += line.len();
                let line = line.trim_end_matches('\n');
                let line = if document.is_indented { line.trim_start_matches('\t') } else { line };
                if line == document.end {
                    break;
                }
            }
            self.skip(length);
        }
        Some(())
    }
}

/// The length up to `))`, in arithmetic on one line without quotes and substitutions.
fn arithmetic_length(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, letter) in text.char_indices().take(MAX_LINE) {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => return text.get(at..)?.starts_with("))").then_some(at),
            ')' => depth -= 1,
            '\n' | '\'' | '"' | '`' | '\\' | '{' => return None,
            _ => {}
        }
    }
    None
}

/// `` `…` ``
pub(super) fn backquoted_length(text: &str) -> Option<usize> {
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '`' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// `$'…'`
fn escaped_length(text: &str) -> Option<usize> {
    let mut letters = text.char_indices().skip(2);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '\'' => return Some(at + 1),
            _ => {}
        }
    }
    None
}
