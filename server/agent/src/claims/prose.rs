//! Tokenises a message into sentences of words: Latin words in lower case, single Chinese characters, and the marks
//! between clauses. Independent of the meaning.

use std::ops::Range;

use super::prose_mask::{MessageLine, push_blank};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProseToken {
    Word(String),
    /// A mark that ends a clause: a comma, a colon, a dash between blanks, a bracket.
    Mark(char),
}

/// The kind of line that a sentence is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SentenceContext {
    Text,
    Heading,
    Item,
    /// A list item with a ticked box.
    Ticked,
    /// A list item with an open box, or a row of a table: it lists something and claims nothing.
    Listed,
}

#[derive(Debug, Clone)]
pub(super) struct Sentence {
    pub(super) tokens: Vec<ProseToken>,
    /// The range of the sentence in the message.
    pub(super) range: Range<usize>,
    pub(super) context: SentenceContext,
    pub(super) is_question: bool,
    /// Ends its line with a colon: it names what follows.
    pub(super) is_label: bool,
}

impl Sentence {
    pub(super) fn word(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at)? {
            ProseToken::Word(word) => Some(word),
            ProseToken::Mark(_) => None,
        }
    }
}

/// The sentences of a masked message; a line continues in the next one if that begins in lower case.
pub(super) fn sentences(masked: &str, lines: &[MessageLine<'_>]) -> Vec<Sentence> {
    let mut out = Vec::new();
    let mut open: Option<Sentence> = None;
    for line in lines {
        let text = masked.get(line.range.clone()).unwrap_or_default();
        let text = without_quotes(text);
        let (context, begin) = context_of_line(&text);
        let body = text.get(begin..).unwrap_or_default();
        let continues =
            context == SentenceContext::Text && body.trim_start().starts_with(|c: char| c.is_lowercase());
        if !continues {
            push_sentence(&mut out, open.take());
        }
        let context = open.as_ref().map_or(context, |it| it.context);
        let mut it = read_line(
            body,
            line.range.start + begin,
            open.take(),
            &mut |done| push_sentence(&mut out, Some(done)),
            context,
        );
        it.is_label = body.trim_end().trim_end_matches(['*', '_']).ends_with([':', '：']);
        let is_over = body.trim().is_empty() || it.is_label || context == SentenceContext::Heading;
        if is_over {
            push_sentence(&mut out, Some(it));
        } else {
            open = Some(it);
        }
    }
    push_sentence(&mut out, open);
    out
}

fn push_sentence(out: &mut Vec<Sentence>, sentence: Option<Sentence>) {
    out.extend(sentence.filter(|it| it.tokens.iter().any(|token| matches!(token, ProseToken::Word(_)))));
}

fn context_of_line(line: &str) -> (SentenceContext, usize) {
    let start = line.trim_start();
    let indent = line.len() - start.len();
    if start.starts_with('#') {
        return (SentenceContext::Heading, indent);
    }
    if start.starts_with('|') {
        return (SentenceContext::Listed, indent);
    }
    let digits = start.bytes().take_while(u8::is_ascii_digit).count();
    let after = start.get(digits..).unwrap_or_default();
    let numbered = (digits > 0 && digits < 4).then(|| after.strip_prefix(['.', ')'])).flatten();
    let bullet = start.strip_prefix(['-', '*', '+', '•']).or(numbered);
    let Some(rest) = bullet.filter(|it| it.starts_with([' ', '\t'])) else {
        return (SentenceContext::Text, indent);
    };
    let item = rest.trim_start();
    let context = match item.get(..3) {
        Some("[ ]") => SentenceContext::Listed,
        Some("[x]" | "[X]") => SentenceContext::Ticked,
        _ => SentenceContext::Item,
    };
    let skipped = if context == SentenceContext::Item { 0 } else { 3 };
    (context, line.len() - item.len() + skipped)
}

/// Adds the sentences of one line; returns the last one, which the next line may continue.
fn read_line(
    text: &str,
    start: usize,
    open: Option<Sentence>,
    close: &mut impl FnMut(Sentence),
    context: SentenceContext,
) -> Sentence {
    let new_sentence = |at: usize| Sentence {
        tokens: Vec::new(),
        range: at..at,
        context,
        is_question: false,
        is_label: false,
    };
    let mut current = open.unwrap_or_else(|| new_sentence(start));
    let mut chars = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        match c {
            _ if is_cjk(c) => current.tokens.push(ProseToken::Word(c.to_string())),
            _ if is_word_char(before, c, next) => push_char(&mut current.tokens, before, c),
            '%' | '％' if ends_in_number(&current.tokens) => push_percent(&mut current.tokens),
            '.' | '!' | '?' | '…' | '。' | '！' | '？' => {
                current.is_question |= matches!(c, '?' | '？');
                current.range.end = start + at + c.len_utf8();
                if !matches!(next, '?' | '!' | '.' | '？' | '！') {
                    let end = current.range.end;
                    close(std::mem::replace(&mut current, new_sentence(end)));
                }
            }
            ',' | ';' | ':' | '(' | ')' | '—' | '–' | '=' | '→' | '|' | '，' | '；' | '：' | '、' | '（'
            | '）' => {
                current.tokens.push(ProseToken::Mark(fold_char(c)));
            }
            '-' if before == ' ' && next == ' ' => current.tokens.push(ProseToken::Mark('-')),
            _ => {}
        }
        current.range.end = current.range.end.max(start + at + c.len_utf8());
        before = c;
    }
    current
}

/// Letters, digits, and characters inside words: `don't`, `lib.rs`, `3/5`, `is_done`.
fn is_word_char(before: char, c: char, next: char) -> bool {
    let letter = |c: char| (c.is_alphanumeric() && !is_cjk(c)) || c == '_';
    let joint = matches!(c, '\'' | '’' | '.' | '/') && letter(before) && letter(next);
    letter(c) && !(c == '_' && !letter(before) && !letter(next)) || joint
}

fn push_char(tokens: &mut Vec<ProseToken>, before: char, c: char) {
    let c = if c == '’' { '\'' } else { c };
    let joined =
        (before.is_alphanumeric() && !is_cjk(before)) || matches!(before, '_' | '\'' | '’' | '.' | '/');
    if joined && let Some(ProseToken::Word(word)) = tokens.last_mut() {
        word.extend(c.to_lowercase());
    } else {
        tokens.push(ProseToken::Word(c.to_lowercase().collect()));
    }
}

fn ends_in_number(tokens: &[ProseToken]) -> bool {
    matches!(tokens.last(), Some(ProseToken::Word(word)) if word.bytes().all(|it| it.is_ascii_digit() || it == b'.'))
}

fn push_percent(tokens: &mut [ProseToken]) {
    if let Some(ProseToken::Word(word)) = tokens.last_mut() {
        word.push('%');
    }
}

fn fold_char(c: char) -> char {
    match c {
        '，' | '、' => ',',
        '；' => ';',
        '：' => ':',
        '（' => '(',
        '）' => ')',
        _ => c,
    }
}

pub(super) fn is_cjk(c: char) -> bool {
    ('\u{2e80}'..='\u{9fff}').contains(&c) && !matches!(c, '\u{3000}'..='\u{303f}')
}

const QUOTES: &[(char, char)] = &[('"', '"'), ('“', '”'), ('「', '」'), ('『', '』'), ('«', '»'), ('‘', '’')];

/// Text between quotation marks on one line is quoted, not claimed.
fn without_quotes(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    // An unpaired mark is ignored, and searched for only once.
    let mut unpaired = Vec::new();
    let opens = |c: char, unpaired: &[char]| QUOTES.iter().any(|(it, _)| *it == c) && !unpaired.contains(&c);
    while let Some((at, open)) = rest.char_indices().find(|(_, c)| opens(*c, &unpaired)) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let inside = from.get(open.len_utf8()..).unwrap_or_default();
        let close = QUOTES.iter().find(|(it, _)| *it == open).map_or(open, |(_, close)| *close);
        let found = inside.find(close);
        if found.is_none() {
            unpaired.push(open);
        }
        let end = open.len_utf8() + found.map_or(0, |it| it + close.len_utf8());
        push_blank(&mut out, from.get(..end).unwrap_or_default());
        rest = from.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    without_single_quotes(&out)
}

/// `'all tests pass'`, distinguished from apostrophes by the characters around the marks.
fn without_single_quotes(line: &str) -> String {
    let bytes = line.as_bytes();
    let is_letter = |at: Option<usize>| {
        at.and_then(|it| bytes.get(it)).is_some_and(|it| it.is_ascii_alphanumeric() || !it.is_ascii())
    };
    let marks: Vec<usize> = line.match_indices('\'').map(|(at, _)| at).collect();
    let mut out = String::with_capacity(line.len());
    let mut from = 0;
    let mut open: Option<usize> = None;
    for at in marks {
        let (before, after) = (is_letter(at.checked_sub(1)), is_letter(Some(at + 1)));
        match open {
            None if !before && after => open = Some(at),
            Some(begin) if !after && at > begin => {
                out.push_str(line.get(from..begin).unwrap_or_default());
                push_blank(&mut out, line.get(begin..=at).unwrap_or_default());
                from = at + 1;
                open = None;
            }
            _ => {}
        }
    }
    out.push_str(line.get(from..).unwrap_or_default());
    out
}
