//! Finds completion phrases in a message and decides whether they count: negated, hypothetical and quoted ones do
//! not, and one about a part weighs less. In doubt, a phrase is not an indicator.

mod scope;
mod whole;

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::phrases::{CompletionMeaning, PHRASES, PatternStep, PhrasePattern, WHOLE_DONE, literal, pattern};
use super::prose::{ProseToken, Sentence};
use super::{MAX_LISTED, excerpt};
use scope::PhraseScope;

/// A phrase about a part: shown, and below the threshold.
const OF_A_PART: u8 = 40;
/// Maximum number of words that `_` matches.
const MAX_GAP_WORDS: usize = 3;
/// Maximum number of the user's entries.
const MAX_WORDS: usize = 64;
const BARE_WORDS: &[&str] = &["complete", "done", "finished", "implemented", "ready"];

/// One sign of completion in the agent's message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Indicator {
    /// The phrase's name in the table, or the user's words.
    pub phrase: String,
    /// Confidence in percent.
    pub percent: u8,
    pub source: IndicatorSource,
    /// Its line, at most 120 characters.
    pub excerpt: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IndicatorSource {
    /// A field of the status block.
    Status,
    /// A built-in phrase.
    Words,
    /// `exit.words`.
    Dictionary,
}

#[derive(Debug, Default)]
pub(super) struct IndicatorMatches {
    pub(super) done: Vec<Indicator>,
    pub(super) not_yet: Vec<Indicator>,
}

/// Every distinct phrase once, with its highest confidence.
pub(super) fn find(text: &str, sentences: &[Sentence], words: &[(String, u8)]) -> IndicatorMatches {
    let mut found = IndicatorMatches::default();
    let counts = |it: &&Sentence| !it.is_question && it.context != super::prose::SentenceContext::Listed;
    let mut sentences = sentences.iter().filter(counts).peekable();
    if sentences.peek().is_none() {
        return found;
    }
    let entries = indicator_entries(words);
    let table = by_first_word(&entries);
    let of_whole = entries.iter().find(|it| it.name == WHOLE_DONE);
    for sentence in sentences {
        let mut covered = Vec::new();
        let mut at = 0;
        while at < sentence.tokens.len() {
            let Some((entry, end)) = longest_match(&table, &sentence.tokens, at) else {
                at += 1;
                continue;
            };
            let (is_bare, says) = (entry.is_bare, entry.says);
            let phrase = scope::PhraseMatch { sentence, start: at, end, is_bare, says, is_whole: false };
            if scope::phrase_scope(&phrase) != PhraseScope::OfAPart {
                covered.push(at..end);
            }
            add_match(&mut found, entry, &phrase, text);
            at = end;
        }
        // One statement is one indication, also if a phrase of the table is in it.
        let overlaps =
            |it: &Range<usize>| covered.iter().any(|other| it.start < other.end && other.start < it.end);
        let whole = whole::find_whole(sentence).filter(|it| !overlaps(it));
        if let Some((entry, Range { start, end })) = of_whole.zip(whole) {
            let (is_bare, says) = (false, entry.says);
            let phrase = scope::PhraseMatch { sentence, start, end, is_bare, says, is_whole: true };
            add_match(&mut found, entry, &phrase, text);
        }
    }
    found
}

struct IndicatorEntry<'a> {
    name: &'a str,
    percent: u8,
    says: CompletionMeaning,
    source: IndicatorSource,
    is_bare: bool,
    patterns: Vec<PhrasePattern>,
}

/// The user's phrases come first: they override the table if both match the same length.
fn indicator_entries(words: &[(String, u8)]) -> Vec<IndicatorEntry<'_>> {
    let own = words.iter().take(MAX_WORDS).filter_map(|(text, percent)| {
        let patterns = vec![literal(text)?];
        let percent = (*percent).min(100);
        Some(IndicatorEntry {
            name: text,
            percent,
            says: CompletionMeaning::Done,
            source: IndicatorSource::Dictionary,
            is_bare: false,
            patterns,
        })
    });
    let built_in = PHRASES.iter().map(|it| IndicatorEntry {
        name: it.name,
        percent: words
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(it.name))
            .map_or(it.percent, |own| own.1),
        says: it.says,
        source: IndicatorSource::Words,
        is_bare: BARE_WORDS.contains(&it.name),
        patterns: it.patterns.iter().map(|it| pattern(it)).collect(),
    });
    own.chain(built_in).collect()
}

type PhraseIndex<'a> = HashMap<&'a str, Vec<(&'a IndicatorEntry<'a>, &'a PhrasePattern)>>;

/// Fast rejection: most words of a message do not begin a phrase.
fn by_first_word<'a>(entries: &'a [IndicatorEntry<'a>]) -> PhraseIndex<'a> {
    let mut table = PhraseIndex::new();
    for entry in entries {
        for pattern in &entry.patterns {
            let Some(PatternStep::OneOf(words)) = pattern.steps.first() else { continue };
            for word in words {
                table.entry(word).or_default().push((entry, pattern));
            }
        }
    }
    table
}

fn longest_match<'a>(
    table: &PhraseIndex<'a>,
    tokens: &[ProseToken],
    at: usize,
) -> Option<(&'a IndicatorEntry<'a>, usize)> {
    let Some(ProseToken::Word(first)) = tokens.get(at) else { return None };
    let mut best: Option<(&IndicatorEntry<'_>, usize)> = None;
    for (entry, pattern) in table.get(first.as_str())? {
        if let Some(end) = match_end(&pattern.steps, tokens, at)
            && best.is_none_or(|(_, it)| end > it)
        {
            best = Some((entry, end));
        }
    }
    best
}

/// The end of a pattern that begins at `at`; gaps are as short as possible.
fn match_end(steps: &[PatternStep], tokens: &[ProseToken], at: usize) -> Option<usize> {
    let Some((first, rest)) = steps.split_first() else { return Some(at) };
    match first {
        PatternStep::OneOf(words) => match tokens.get(at)? {
            ProseToken::Word(word) if words.iter().any(|it| it == word) => match_end(rest, tokens, at + 1),
            _ => None,
        },
        PatternStep::Gap => (0..=2 * MAX_GAP_WORDS)
            .take_while(|it| tokens.get(at..at + it).is_some_and(is_gap))
            .find_map(|it| match_end(rest, tokens, at + it)),
    }
}

/// A Chinese word is two characters.
fn is_gap(tokens: &[ProseToken]) -> bool {
    let width = |token: &ProseToken| match token {
        ProseToken::Word(word) if word.is_ascii() => Some(2),
        ProseToken::Word(_) => Some(1),
        ProseToken::Mark(_) => None,
    };
    tokens.iter().map(width).sum::<Option<usize>>().is_some_and(|it| it <= 2 * MAX_GAP_WORDS)
}

fn add_match(
    found: &mut IndicatorMatches,
    entry: &IndicatorEntry<'_>,
    phrase_match: &scope::PhraseMatch<'_>,
    text: &str,
) {
    let verdict = scope::phrase_scope(phrase_match);
    let (list, percent) = match (entry.says, verdict) {
        (CompletionMeaning::Done, PhraseScope::Meant) => (&mut found.done, entry.percent),
        (CompletionMeaning::Done, PhraseScope::OfAPart) => (&mut found.done, entry.percent.min(OF_A_PART)),
        (CompletionMeaning::Done, PhraseScope::Denied) => (&mut found.not_yet, entry.percent),
        (CompletionMeaning::NotYet, PhraseScope::Meant | PhraseScope::OfAPart) => {
            (&mut found.not_yet, entry.percent)
        }
        (CompletionMeaning::NotYet, PhraseScope::Denied) | (_, PhraseScope::Hypothetical) => return,
    };
    if percent == 0 {
        return;
    }
    let phrase = match (entry.says, verdict) {
        (CompletionMeaning::Done, PhraseScope::Denied) => format!("not {}", entry.name),
        _ => entry.name.to_owned(),
    };
    let is_full = list.len() >= MAX_LISTED;
    match list.iter_mut().find(|it| it.phrase == phrase) {
        Some(known) if known.percent >= percent => {}
        Some(known) => {
            known.percent = percent;
            known.excerpt = excerpt(text, phrase_match.sentence.range.start);
        }
        None if !is_full => {
            let excerpt = excerpt(text, phrase_match.sentence.range.start);
            list.push(Indicator { phrase, percent, source: entry.source, excerpt });
        }
        None => {}
    }
}
