//! Parses one item's prose and code spans into name, check, expectations, attributes and faults, identically for
//! Markdown items, story criteria and boxes. Runs nothing and never guesses: text that begins like a check and does not
//! parse is a fault, so that it is neither run nor silently left unverified.

mod attributes;
mod code_spans;
mod commands;
mod expectations;
mod fault;
mod name;
mod near;
mod number_rules;
mod numbers;
mod span_fixes;
mod spans;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub(super) use attributes::ItemAttributes;
pub(super) use commands::looks_like_command;
pub(super) use fault::{FaultSubject, ItemFault};

use super::item::{InlineContent, PieceKind};
use super::{FindingCode, ids};
use crate::criterion::{Check, Expect, NumberRule};
use code_spans::{CodeSpan, TrailingText, code_spans};
use expectations::ParsedExpectation as Expectation;
use fault::SpanError;
use loopkeeper_text::fold::one_line;
use loopkeeper_text::tr;
use loopkeeper_text::truncate::shortened;
use spans::CodeSpanKind;

/// How strictly an item of this kind is read as a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemMode {
    Criterion,
    /// Under Validation Commands: one bare span is a command.
    Validation,
    /// A box of a plan is primarily a note: only a clear attempt at a check is a fault.
    PlanBox,
}

/// The parsed content of one item.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParsedItem {
    /// Not yet unique in its task.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) check: Option<Check>,
    pub(super) number_rules: Vec<NumberRule>,
    pub(super) attributes: ItemAttributes,
    pub(super) faults: Vec<ItemFault>,
}

impl ParsedItem {
    pub(super) fn new(name: String, check: Option<Check>, faults: Vec<ItemFault>) -> Self {
        let id = ids::base_id(check.as_ref(), &[], &name);
        Self { id, name, check, number_rules: Vec::new(), attributes: ItemAttributes::default(), faults }
    }

    fn with_number_rules(self, number_rules: Vec<NumberRule>) -> Self {
        let id = ids::base_id(self.check.as_ref(), &number_rules, &self.name);
        Self { id, number_rules, ..self }
    }

    /// With a name from elsewhere, on one line; unchanged if that is blank.
    pub(super) fn renamed(self, name: &str) -> Self {
        if name.trim().is_empty() {
            return self;
        }
        let item = Self { attributes: self.attributes, ..Self::new(one_line(name), self.check, self.faults) };
        item.with_number_rules(self.number_rules)
    }

    /// Whether the author intended a check, valid or not.
    pub(super) fn means_check(&self) -> bool {
        self.check.is_some() || self.faults.iter().any(|fault| fault.code == FindingCode::BadCheck)
    }
}

pub(super) fn parse_item(inline: &InlineContent<'_>, mode: ItemMode) -> ParsedItem {
    let spans: Vec<CodeSpan<'_>> = code_spans(inline);
    let mut parser = ItemParser { inline, spans, mode, faults: Vec::new() };
    parser.report_broken_spans();
    let check_at = parser.find_check();
    let mut check = check_at.and_then(|at| parser.with_expectations(at));
    let parts = name::NameParts::from_inline(inline, |index| parser.role_of(index, check_at));
    let mut attributes = ItemAttributes::default();
    let name = parts.name(check.as_ref(), &mut attributes, |reason| {
        parser.faults.push(ItemFault::new(FindingCode::BadValue, reason, &inline.range));
    });
    // Only attributes or punctuation: the item must still be recognisable.
    let name = if name.is_empty() { one_line(&inline.plain_text()) } else { name };
    check = check.and_then(|it| parser.with_judge_prose(it, &name));
    if check.is_none() && parser.faults.iter().all(|fault| fault.code != FindingCode::BadCheck) {
        parser.report_unmarked_command();
    }
    parser.keep_single_fix();
    let number_rules = parser.number_rules(check_at, check.as_ref(), &attributes);
    let item = ParsedItem { attributes, ..ParsedItem::new(name, check, parser.faults) };
    item.with_number_rules(number_rules)
}

/// Maximum length of the prose that a judge receives.
const PROSE_CHARS: usize = 4_000;
/// Maximum length of a command in a sentence that contains it twice.
const COMMAND_CHARS: usize = 34;

struct ItemParser<'a> {
    inline: &'a InlineContent<'a>,
    spans: Vec<CodeSpan<'a>>,
    mode: ItemMode,
    faults: Vec<ItemFault>,
}

impl ItemParser<'_> {
    /// Reports malformed spans: an unpaired backtick, a line end inside.
    fn report_broken_spans(&mut self) {
        let lenient = self.mode == ItemMode::PlanBox;
        let is_attempt = |stray: &Range<usize>| !lenient || self.text_after(stray.end).starts_with("$ ");
        if self.inline.stray.as_ref().is_some_and(is_attempt) {
            self.report_stray_backtick();
        }
        let torn: Vec<Range<usize>> = self
            .spans
            .iter()
            .filter(|seen| seen.source.kind == PieceKind::TornCode)
            .filter(|seen| !lenient || !matches!(seen.span, CodeSpanKind::Other))
            .map(|seen| seen.source.range.clone())
            .collect();
        for range in torn {
            self.faults.push(
                ItemFault::new(FindingCode::BadCheck, tr!("a code span over two lines"), &range)
                    .with_hint(tr!("Put it on one line")),
            );
        }
    }

    fn report_stray_backtick(&mut self) {
        let Some(stray) = &self.inline.stray else { return };
        if self.faults.iter().all(|it| it.range != *stray) {
            let fault = ItemFault::new(FindingCode::BadCheck, tr!("an unpaired backtick"), stray);
            self.faults.push(fault.with_hint(tr!("Close the code span")));
        }
    }

    fn text_after(&self, offset: usize) -> &str {
        let behind =
            self.inline.pieces.iter().find(|piece| piece.range.end > offset && !piece.kind.is_code());
        behind.map_or("", |piece| {
            let skip = offset.saturating_sub(piece.range.start);
            piece.text.get(skip..).unwrap_or_default()
        })
    }

    fn text_before(&self, piece: usize) -> String {
        self.inline.pieces.iter().take(piece).map(|piece| &*piece.text).collect()
    }

    /// The index into `spans` of the one span that is the check. All other candidates are reported.
    fn find_check(&mut self) -> Option<usize> {
        let mut checks: Vec<usize> = Vec::new();
        let mut bad: Vec<ItemFault> = Vec::new();
        let of_span = |error: &SpanError, seen: &CodeSpan<'_>| {
            ItemFault::of_span(FindingCode::BadCheck, error.clone(), seen.source)
        };
        let last_check = self.spans.iter().rposition(|seen| match seen.span {
            CodeSpanKind::Command(_) | CodeSpanKind::BadCommand(_) => true,
            CodeSpanKind::Word(_) | CodeSpanKind::BadWord(_) => seen.follows == TrailingText::Nothing,
            CodeSpanKind::Near(_) | CodeSpanKind::Other => false,
        });
        for (index, seen) in self.spans.iter().enumerate() {
            // A word form followed by "and" and another check is the first of two checks.
            let counts = seen.follows == TrailingText::Nothing
                || (seen.follows == TrailingText::Checks && last_check.is_some_and(|last| last > index));
            match &seen.span {
                CodeSpanKind::Command(_) => checks.push(index),
                CodeSpanKind::Word(_) if counts => checks.push(index),
                CodeSpanKind::BadCommand(error) => bad.push(of_span(error, seen)),
                CodeSpanKind::BadWord(error) if counts => bad.push(of_span(error, seen)),
                CodeSpanKind::Word(_)
                | CodeSpanKind::BadWord(_)
                | CodeSpanKind::Near(_)
                | CodeSpanKind::Other => {}
            }
        }
        if checks.is_empty() && bad.is_empty() {
            bad.extend(self.near_miss());
        }
        if checks.is_empty() && bad.is_empty() {
            checks.extend(self.bare_commands(&mut bad));
        }
        let is_torn =
            |at: &usize| self.spans.get(*at).is_some_and(|seen| seen.source.kind == PieceKind::TornCode);
        let torn = checks.iter().any(is_torn);
        if let [first, second, ..] = checks.as_slice()
            && let (Some(first), Some(second)) = (self.spans.get(*first), self.spans.get(*second))
        {
            bad.push(ItemFault::two_checks(first.source, second.source));
        }
        let sound = bad.is_empty() && !torn && self.inline.stray.is_none();
        // Also in a box of a plan: its check is not run.
        if !checks.is_empty() {
            self.report_stray_backtick();
        }
        self.faults.extend(bad);
        checks.first().copied().filter(|_| sound)
    }

    /// Without a check, the first span that is nearly one. A box of a plan is a note and has no near misses.
    fn near_miss(&self) -> Option<ItemFault> {
        if self.mode == ItemMode::PlanBox {
            return None;
        }
        let near = |seen: &&CodeSpan<'_>| match &seen.span {
            CodeSpanKind::Near(meant) => meant.starts_with('$') || seen.follows == TrailingText::Nothing,
            _ => false,
        };
        let seen = self.spans.iter().find(near)?;
        let sentence = tr!("{span} is not a check", span = fault::quoted_span(seen.source));
        Some(ItemFault::sentence(FindingCode::BadCheck, sentence, &seen.source.range))
    }

    /// Under Validation Commands, the one span that is neither check nor expectation.
    fn bare_commands(&self, bad: &mut Vec<ItemFault>) -> Option<usize> {
        if self.mode != ItemMode::Validation {
            return None;
        }
        let bare = |(index, seen): (usize, &CodeSpan<'_>)| {
            let first_or_plain = matches!(
                seen.expectation,
                Expectation::Other | Expectation::Status(_) | Expectation::NearStatus
            );
            (matches!(seen.span, CodeSpanKind::Other)
                && first_or_plain
                && !seen.source.text.trim().is_empty())
            .then_some(index)
        };
        let bare: Vec<usize> = self.spans.iter().enumerate().filter_map(bare).collect();
        if let &[only] = bare.as_slice() {
            return Some(only);
        }
        let commands: Vec<&CodeSpan<'_>> = bare
            .iter()
            .filter_map(|&at| self.spans.get(at))
            .filter(|seen| looks_like_command(&seen.source.text))
            .collect();
        if let [first, second, ..] = commands.as_slice() {
            bad.push(ItemFault::two_checks(first.source, second.source));
        }
        None
    }

    /// The check with the expectations of later spans. `None`: an expectation is broken.
    fn with_expectations(&mut self, at: usize) -> Option<Check> {
        let seen = self.spans.get(at)?;
        let mut check = match &seen.span {
            CodeSpanKind::Command(check) | CodeSpanKind::Word(check) => check.clone(),
            // A bare span under Validation Commands.
            _ => Check::Command { command: seen.source.text.trim().to_owned(), expect: Vec::new() },
        };
        let mut faults: Vec<ItemFault> = Vec::new();
        let bad = |error: SpanError, span| ItemFault::of_span(FindingCode::BadCheck, error, span);
        let is_get = matches!(check, Check::Get { .. });
        let mut expected = Vec::new();
        for later in self.spans.iter().skip(at + 1) {
            let span = later.source;
            match &later.expectation {
                Expectation::Expect(Expect::Exit { .. }) if is_get => {
                    faults.push(bad(tr!("only a command has an exit code").into(), span));
                }
                Expectation::Expect(Expect::Exit { .. }) if expected.iter().any(is_exit) => {
                    faults.push(bad(
                        SpanError::with_hint(tr!("there are two exit codes"), tr!("Keep one")),
                        span,
                    ));
                }
                Expectation::Expect(expect) => expected.push(expect.clone()),
                Expectation::Status(_) if is_get && expected.iter().any(is_status) => {
                    faults.push(bad(
                        SpanError::with_hint(tr!("there are two statuses"), tr!("Keep one")),
                        span,
                    ));
                }
                Expectation::Baseline(_) if !matches!(check, Check::Command { .. }) => {
                    faults.push(bad(tr!("only a command's number is compared with a baseline").into(), span));
                }
                Expectation::Status(code) if is_get => expected.push(Expect::Status { code: *code }),
                Expectation::Bad(error) => faults.push(bad(error.clone(), span)),
                Expectation::NearStatus if is_get => {
                    faults.push(bad(tr!("a status is three digits").into(), span));
                }
                Expectation::Baseline(_)
                | Expectation::Status(_)
                | Expectation::NearStatus
                | Expectation::Other => {}
            }
        }
        if let Some(unused) = set_expectations(&mut check, expected) {
            faults.push(ItemFault::new(FindingCode::BadCheck, unused, &self.inline.range));
        }
        let sound = faults.is_empty();
        self.faults.extend(faults);
        self.report_early_expectations(at);
        sound.then_some(check)
    }

    fn report_early_expectations(&mut self, at: usize) {
        let error = SpanError::with_hint(
            tr!("an expectation before its check is ignored"),
            tr!("Put it after the check"),
        );
        let early = self.spans.iter().take(at).filter(|seen| {
            matches!(
                seen.expectation,
                Expectation::Expect(Expect::Number { .. } | Expect::Exit { .. }) | Expectation::Baseline(_)
            )
        });
        self.faults
            .extend(early.map(|seen| ItemFault::of_span(FindingCode::BadValue, error.clone(), seen.source)));
    }

    fn role_of(&self, piece: usize, check_at: Option<usize>) -> name::PieceRole {
        let Some(at) = check_at else { return name::PieceRole::Code };
        let index = self.spans.partition_point(|seen| seen.piece < piece);
        let Some(seen) = self.spans.get(index) else { return name::PieceRole::Code };
        match &seen.expectation {
            _ if index == at => name::PieceRole::Check,
            Expectation::Expect(_) | Expectation::Baseline(_) | Expectation::Bad(_) if index > at => {
                name::PieceRole::Expectation
            }
            Expectation::Status(_) | Expectation::NearStatus if index > at && self.is_get(at) => {
                name::PieceRole::Expectation
            }
            _ => name::PieceRole::Code,
        }
    }

    fn is_get(&self, at: usize) -> bool {
        self.spans.get(at).is_some_and(|seen| matches!(seen.span, CodeSpanKind::Word(Check::Get { .. })))
    }

    /// Adds the item's own prose, which the judge has to verify. `None`: there is no prose.
    fn with_judge_prose(&mut self, mut check: Check, name: &str) -> Option<Check> {
        if let Check::Judge { prose, .. } = &mut check {
            if name::check_label(&Check::Judge { of: None, prose: String::new() }) == name {
                let nothing =
                    ItemFault::new(FindingCode::BadCheck, tr!("nothing to judge"), &self.inline.range);
                self.faults.push(nothing.with_hint(tr!("Say in words what must hold")));
                return None;
            }
            *prose = shortened(name, PROSE_CHARS).into_owned();
        }
        Some(check)
    }

    /// A single fault can be fixed by one replacement; two faults of an item may overlap.
    fn keep_single_fix(&mut self) {
        let mut bad = self.faults.iter_mut().filter(|it| it.code == FindingCode::BadCheck);
        let (Some(only), None) = (bad.next(), bad.next()) else { return };
        let Some(seen) = self.spans.iter().find(|it| it.source.range == only.range) else { return };
        let is_torn = seen.source.kind == PieceKind::TornCode;
        only.fix = match (&seen.span, &seen.expectation) {
            (CodeSpanKind::Near(meant), _) => Some(code_span(meant)),
            (CodeSpanKind::BadCommand(_) | CodeSpanKind::BadWord(_), _) => {
                span_fixes::fix_check_span(&seen.source.text)
            }
            (_, Expectation::NearStatus) => near::suggest_status(&seen.source.text).map(|it| code_span(&it)),
            (CodeSpanKind::Command(_) | CodeSpanKind::Word(_), _) if is_torn => {
                span_fixes::fix_check_span(&seen.source.text)
            }
            (_, Expectation::Bad(_)) => span_fixes::fix_expectation_span(&seen.source.text),
            _ => None,
        };
        if only.hint.is_none() {
            only.hint = only.fix.as_ref().map(|it| tr!("Did you mean {span}?", span = it));
        }
    }

    /// Reports a command in backticks, or `$ command` without them, that will not be run.
    fn report_unmarked_command(&mut self) {
        if self.mode == ItemMode::PlanBox {
            return;
        }
        let forgotten = self.spans.iter().find(|seen| {
            let code = seen.source.text.trim();
            let code = code.strip_prefix('$').unwrap_or(code);
            matches!(seen.span, CodeSpanKind::Other | CodeSpanKind::Near(_))
                && (looks_like_command(code)
                    || (seen.follows == TrailingText::Nothing
                        && commands::is_lone_runner(code, || self.text_before(seen.piece))))
        });
        if let Some(seen) = forgotten {
            let code = seen.source.text.trim();
            let fix = command_span(code.strip_prefix('$').unwrap_or(code));
            let short = shortened(&one_line(code), COMMAND_CHARS).into_owned();
            let meant = command_span(short.strip_prefix('$').unwrap_or(&short));
            let fault = ItemFault::not_run(&code_span(&short), &meant, &seen.source.range);
            self.faults.push(fault.with_fix(Some(fix)));
        } else if self.spans.is_empty() {
            self.report_missing_backticks();
        }
    }

    fn report_missing_backticks(&mut self) {
        let text = self.inline.plain_text();
        let text = text.trim();
        let command = match text.strip_prefix("$ ") {
            Some(command) => command.trim(),
            None if self.mode == ItemMode::Validation && looks_like_command(text) => text,
            None => return,
        };
        if command.is_empty() {
            return;
        }
        let (short, meant) = (shortened(text, COMMAND_CHARS), shortened(command, COMMAND_CHARS));
        let fault = ItemFault::not_run(&short, &command_span(&meant), &self.inline.range);
        self.faults.push(fault.with_fix(Some(command_span(command))));
    }
}

fn is_status(expect: &Expect) -> bool {
    matches!(expect, Expect::Status { .. })
}

/// The fault if the check has no output to compare.
fn set_expectations(check: &mut Check, expected: Vec<Expect>) -> Option<&'static str> {
    match check {
        Check::Command { expect, .. } | Check::Get { expect, .. } => {
            *expect = expected;
            None
        }
        Check::Exists { .. }
        | Check::Missing { .. }
        | Check::Has { .. }
        | Check::Lacks { .. }
        | Check::Clean
        | Check::Judge { .. } => {
            (!expected.is_empty()).then(|| tr!("only a command's output can be compared"))
        }
    }
}

fn is_exit(expect: &Expect) -> bool {
    matches!(expect, Expect::Exit { .. })
}

/// `command` as a check span.
fn command_span(command: &str) -> String {
    code_span(&["$ ", command].concat())
}

/// A code span with as many backticks as its text needs.
pub(super) fn code_span(code: &str) -> String {
    if !code.contains('`') {
        return ["`", code, "`"].concat();
    }
    let mut longest = 0;
    let mut run = 0;
    for char in code.chars() {
        run = if char == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    format!("{fence} {code} {fence}")
}
