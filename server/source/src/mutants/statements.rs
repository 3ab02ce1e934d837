//! Mutations of whole lines: a condition is negated, a call or an assignment is removed, a value is not returned. Only
//! in languages whose statements are known, and only where a statement is one line.

use std::ops::Range;

use super::lexer::TokenKind;
use super::syntax::{ConditionForm, KEYWORDS, SourceFamily};
use super::{LexedSource, MutationKind, SourceEdit, operators};

/// Statements that only report, or that judge.
const REPORTING_CALLS: &[&str] = &[
    "log",
    "logger",
    "logging",
    "tracing",
    "console",
    "debug",
    "trace",
    "info",
    "warn",
    "assert_eq",
    "assert_ne",
    "assert",
    "debug_assert",
    "debug_assert_eq",
    "drop",
    "free",
    "close",
    "dispose",
    "release",
    "fprintf",
    "error_log",
    "syslog",
];
const ASSIGNS: &[&str] = &["=", "+=", "-=", "*=", "/=", "%=", "//=", "|=", "&=", "^=", "**=", "<<=", ">>="];
/// Signs at the end of a line that the next one continues.
const CONTINUATION_SIGNS: &[&str] = &[
    ",", ".", "=", "+", "-", "*", "/", "%", "&&", "||", "?", ":", "=>", "\\", "(", "[", "==", "|", "&", "::",
    ":=", "->", "!",
];

/// The edits of one line of tokens.
pub(super) fn edits(file: &LexedSource<'_>, line: Range<usize>) -> Vec<SourceEdit> {
    let negation = negation_edit(file, &line).into_iter();
    if matches!(file.family(), SourceFamily::Other | SourceFamily::Lua | SourceFamily::Shell) {
        return negation.collect();
    }
    negation.chain(removal_edit(file, &line)).chain(return_edit(file, &line)).collect()
}

fn negation_edit(file: &LexedSource<'_>, line: &Range<usize>) -> Option<SourceEdit> {
    const WORDS: [&str; 6] = ["if", "elif", "elsif", "elseif", "unless", "while"];
    let is_keyword = |it: &usize| WORDS.iter().any(|word| file.is_token(*it, word));
    let begins = |it: &usize| (line.start..*it).all(|it| file.is_token(it, "}") || file.is_token(it, "else"));
    let keyword = line.clone().find(is_keyword).filter(begins)?;
    let condition = condition(file, keyword, line)?;
    // What binds a name is no condition alone.
    let is_plain =
        |it: usize| !["let", "var", "case", ";", "=", ":="].iter().any(|word| file.is_token(it, word));
    if condition.is_empty()
        || !condition.clone().all(is_plain)
        || operators::has_decision(file, condition.clone())
    {
        return None;
    }
    let range = bytes(file, &condition)?;
    let text = file.text.get(range.clone())?;
    let replacement = match file.syntax.condition {
        ConditionForm::NotUntil(_) => format!("not ({text})"),
        _ => format!("!({text})"),
    };
    Some(edit(file, keyword, (range, replacement, MutationKind::Condition)))
}

/// The tokens of the condition, where it ends on the line.
fn condition(file: &LexedSource<'_>, keyword: usize, line: &Range<usize>) -> Option<Range<usize>> {
    let depth = file.token(keyword)?.depth;
    let at_depth = |it: &usize| file.token(*it).is_some_and(|it| it.depth == depth);
    let mut rest = (keyword + 1..line.end).filter(at_depth);
    match file.syntax.condition {
        ConditionForm::Parentheses => {
            let open = keyword + 1;
            let close = file.closing_in(open, line).filter(|_| file.is_token(open, "("))?;
            Some(open + 1..close)
        }
        ConditionForm::Until(end) | ConditionForm::NotUntil(end) => {
            Some(keyword + 1..rest.find(|it| file.is_token(*it, end))?)
        }
        ConditionForm::Line => {
            let end = rest.find(|it| file.is_token(*it, "then")).unwrap_or(line.end);
            // `empty?` is a name.
            let signs = CONTINUATION_SIGNS.iter().filter(|it| !matches!(**it, "?" | "!"));
            let is_continued = signs.into_iter().any(|it| file.is_token(end - 1, it));
            (!is_continued).then_some(keyword + 1..end)
        }
        ConditionForm::None => None,
    }
}

fn removal_edit(file: &LexedSource<'_>, line: &Range<usize>) -> Option<SourceEdit> {
    let statement = statement(file, line)?;
    let first = file.token(statement.start)?;
    let word = file.word(first);
    let is_kept =
        KEYWORDS.contains(&word) && !["await", "print"].contains(&word) || REPORTING_CALLS.contains(&word);
    let acts = || assigns(file, &statement) || calls(file, &statement) || prints(file, &statement);
    let begins = first.kind == TokenKind::Word || word == "$";
    if !begins || is_kept || !acts() {
        return None;
    }
    let replacement = match file.family() {
        SourceFamily::Python => "pass",
        SourceFamily::Go => "",
        _ => ";",
    };
    let whole =
        if file.is_token(statement.end, ";") { statement.start..statement.end + 1 } else { statement };
    let range = bytes(file, &whole)?;
    Some(edit(file, whole.start, (range, replacement.to_owned(), MutationKind::Statement)))
}

fn return_edit(file: &LexedSource<'_>, line: &Range<usize>) -> Option<SourceEdit> {
    const NOTHING: &[&str] = &["None", "null", "undefined", "nil", "false", "true", "False", "True"];
    let statement = statement(file, line)?;
    let value = statement.start + 1..statement.end;
    let only = if value.len() == 1 { file.token(value.start) } else { None };
    let is_constant = only.is_some_and(|it| it.kind == TokenKind::Number || NOTHING.contains(&file.word(it)));
    if !file.is_token(statement.start, "return") || value.is_empty() || is_constant {
        return None;
    }
    let replacement = match file.family() {
        SourceFamily::Python => "None",
        SourceFamily::Script => "null",
        SourceFamily::Rust => "Default::default()",
        _ => return None,
    };
    let range = bytes(file, &value)?;
    Some(edit(file, statement.start, (range, replacement.to_owned(), MutationKind::Return)))
}

/// The tokens of the line without the final semicolon, where they are exactly one statement.
fn statement(file: &LexedSource<'_>, line: &Range<usize>) -> Option<Range<usize>> {
    let first = file.token(line.start)?;
    let is_block = match file.family() {
        SourceFamily::Python => first.inside.is_none(),
        _ => matches!(first.inside, None | Some('{')),
    };
    let begins = file.token_before(line.start).is_none_or(|it| {
        let before = file.word(it);
        match file.family() {
            SourceFamily::Rust | SourceFamily::CLike => matches!(before, ";" | "{" | "}"),
            SourceFamily::Python => !CONTINUATION_SIGNS.contains(&before) || before == ":",
            _ => !CONTINUATION_SIGNS.contains(&before) || it.kind == TokenKind::Text,
        }
    });
    let last = line.end - 1;
    let has_semicolon = file.is_token(last, ";");
    let end = if has_semicolon { last } else { line.end };
    let follows = |it: &str| file.is_token(line.end, it);
    let is_continued = CONTINUATION_SIGNS.iter().any(|it| file.is_token(last, it))
        || [".", "?", ":"].iter().any(|it| follows(it));
    let needs_semicolon = matches!(file.family(), SourceFamily::Rust | SourceFamily::CLike);
    let ends = has_semicolon || (!needs_semicolon && !is_continued);
    let inside = (line.start..end).filter_map(|it| file.token(it));
    let is_balanced = inside.clone().all(|it| it.depth >= first.depth)
        && inside
            .clone()
            .next_back()
            .is_some_and(|it| it.depth == first.depth && !"([{".contains(file.word(it)));
    let is_one = (line.start..end).all(|it| !file.is_token(it, ";"));
    (is_block && begins && ends && is_balanced && is_one).then_some(line.start..end)
}

/// An assignment to something that exists already.
fn assigns(file: &LexedSource<'_>, statement: &Range<usize>) -> bool {
    let outer = outer_tokens(file, statement);
    let Some(place) = outer.iter().position(|it| ASSIGNS.iter().any(|sign| file.is_token(*it, sign))) else {
        return false;
    };
    let (target, sign) = (outer.get(..place).unwrap_or_default(), outer.get(place).copied());
    let is_name = |it: &usize| file.token(*it).is_some_and(|it| it.kind == TokenKind::Word);
    let is_path = target.iter().all(|it| {
        is_name(it) || [".", "[", "]", "?.", "::", "->", "$"].iter().any(|sign| file.is_token(*it, sign))
    });
    let declares = target.windows(2).any(|it| it.iter().all(is_name));
    let is_plain = sign.is_some_and(|it| file.is_token(it, "="));
    // The first assignment to a name of Python declares it.
    let may_declare = is_plain && target.len() == 1 && file.family() == SourceFamily::Python;
    is_path && !declares && !may_declare
}

/// A call whose result is not used.
fn calls(file: &LexedSource<'_>, statement: &Range<usize>) -> bool {
    const PARTS: &[&str] = &[".", "::", "!", "?", "?.", "->", "$", "(", ")", "[", "]"];
    let outer = outer_tokens(file, statement);
    let outer = if outer.first().is_some_and(|it| file.is_token(*it, "await")) {
        outer.get(1..).unwrap_or_default()
    } else {
        &outer
    };
    let is_name = |it: &usize| file.token(*it).is_some_and(|it| it.kind == TokenKind::Word);
    let is_part = |it: &usize| is_name(it) || PARTS.iter().any(|part| file.is_token(*it, part));
    let last = outer.iter().rev().find(|it| !file.is_token(**it, "?"));
    last.is_some_and(|it| file.is_token(*it, ")") || file.is_token(*it, "await"))
        && outer.iter().any(|it| file.is_token(*it, "("))
        && outer.iter().all(is_part)
        && !outer.windows(2).any(|it| it.iter().all(is_name))
}

/// Output of awk that goes nowhere else.
fn prints(file: &LexedSource<'_>, statement: &Range<usize>) -> bool {
    let is_output = file.is_token(statement.start, "print") || file.is_token(statement.start, "printf");
    let redirects = |it: usize| [">", ">>", "|"].iter().any(|sign| file.is_token(it, sign));
    file.family() == SourceFamily::Awk && is_output && !statement.clone().any(redirects)
}

/// The tokens of a statement that are inside none of its brackets.
fn outer_tokens(file: &LexedSource<'_>, statement: &Range<usize>) -> Vec<usize> {
    let depth = file.token(statement.start).map_or(0, |it| it.depth);
    statement.clone().filter(|it| file.token(*it).is_some_and(|it| it.depth == depth)).collect()
}

fn bytes(file: &LexedSource<'_>, tokens: &Range<usize>) -> Option<Range<usize>> {
    let last = tokens.end.checked_sub(1)?;
    Some(file.token(tokens.start)?.range.start..file.token(last)?.range.end)
}

fn edit(
    file: &LexedSource<'_>,
    at: usize,
    (range, replacement, kind): (Range<usize>, String, MutationKind),
) -> SourceEdit {
    SourceEdit { line: file.token(at).map_or(0, |it| it.line), range, replacement, kind }
}
