//! Evaluates the context of a phrase. Prefers false negatives: a missed completion costs an iteration, a false one
//! costs the task.

mod words;

use crate::claims::phrases::CompletionMeaning;
use crate::claims::prose::{ProseToken, Sentence, SentenceContext};
use words::{
    CHINESE_CONDITIONS, CHINESE_FALSE_MATCHES, CHINESE_HYPOTHETICALS, CHINESE_NEGATIONS, CLAUSE_STARTS,
    CONDITIONS, EXCEPTIONS, HYPOTHETICALS, INTENTIONS, NEARBY_NEGATIONS, NEGATIONS, NO_OBJECT, PART_NOUNS,
    READY_FOR, SUBJECTS, WHOLE_NOUNS,
};

/// A phrase in its sentence: the tokens `start..end`.
pub(super) struct PhraseMatch<'a> {
    pub(super) sentence: &'a Sentence,
    pub(super) start: usize,
    pub(super) end: usize,
    /// A single word, which may refer to a part.
    pub(super) is_bare: bool,
    pub(super) says: CompletionMeaning,
    /// A statement about the whole, which names no part.
    pub(super) is_whole: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PhraseScope {
    Meant,
    OfAPart,
    Denied,
    /// A wish, a plan, a condition: neither done nor undone.
    Hypothetical,
}

/// Maximum distance of a word that can affect a phrase.
const MAX_DISTANCE: usize = 80;

pub(super) fn phrase_scope(phrase_match: &PhraseMatch<'_>) -> PhraseScope {
    let before = phrase_match
        .sentence
        .tokens
        .get(phrase_match.start.saturating_sub(MAX_DISTANCE)..phrase_match.start)
        .unwrap_or_default();
    let clause = clause_before(before, phrase_match);
    if is_supposed(before, phrase_match) || is_intended(clause, phrase_match) || is_conditional(phrase_match)
    {
        return PhraseScope::Hypothetical;
    }
    if is_denied(clause, phrase_match) || is_excepted(phrase_match) {
        return PhraseScope::Denied;
    }
    let has_subject = phrase_match.sentence.word(phrase_match.start).is_some_and(|it| SUBJECTS.contains(&it));
    if phrase_match.is_bare || has_subject && !phrase_match.is_whole {
        whole_or_part(clause, phrase_match)
    } else {
        PhraseScope::Meant
    }
}

/// The words between the last mark or conjunction and the phrase. A negation right in front of a comma, and an
/// enumeration with `or`, reach over it.
fn clause_before<'a>(before: &'a [ProseToken], phrase_match: &PhraseMatch<'_>) -> &'a [ProseToken] {
    let mut start = 0;
    let listed = matches!(before.last().and_then(word), Some("or" | "nor"));
    for (at, token) in before.iter().enumerate() {
        let previous = at.checked_sub(1).and_then(|it| before.get(it)).and_then(word).unwrap_or_default();
        let cuts = match token {
            ProseToken::Mark(_) => !listed && !(at > 1 && (previous == "not" || previous.ends_with("n't"))),
            ProseToken::Word(word) if word == "and" => !(phrase_match.is_bare && at + 1 == before.len()),
            // In "not yet done" it belongs to the negation.
            ProseToken::Word(word) if word == "yet" => !(previous == "not" || previous.ends_with("n't")),
            ProseToken::Word(word) => CLAUSE_STARTS.contains(&word.as_str()),
        };
        if cuts {
            start = at + 1;
        }
    }
    before.get(start..).unwrap_or_default()
}

fn word(token: &ProseToken) -> Option<&str> {
    match token {
        ProseToken::Word(word) => Some(word),
        ProseToken::Mark(_) => None,
    }
}

fn has(tokens: &[ProseToken], words: &[&str]) -> bool {
    tokens.iter().filter_map(word).any(|it| words.contains(&it))
}

/// Chinese is read by its characters, since it sets no blanks between words.
fn has_chinese(tokens: &[ProseToken], texts: &[&str]) -> bool {
    let joined: String = tokens.iter().filter_map(word).filter(|it| !it.is_ascii()).collect();
    if joined.is_empty() {
        return false;
    }
    let joined = CHINESE_FALSE_MATCHES.iter().fold(joined, |text, it| text.replace(it, " "));
    texts.iter().any(|it| joined.contains(it))
}

fn is_supposed(before: &[ProseToken], phrase_match: &PhraseMatch<'_>) -> bool {
    let last = before.last().and_then(word).unwrap_or_default();
    let is_verb =
        matches!(last, "to" | "'ll") || (matches!(last, "a" | "an" | "more") && phrase_match.is_bare);
    is_verb || has(before, HYPOTHETICALS) || has_chinese(before, CHINESE_CONDITIONS)
}

/// An intention to continue is no completion, nor is an intention to be done.
fn is_intended(clause: &[ProseToken], phrase_match: &PhraseMatch<'_>) -> bool {
    let phrase =
        phrase_match.sentence.tokens.get(phrase_match.start + 1..phrase_match.end).unwrap_or_default();
    match phrase_match.says {
        CompletionMeaning::Done => {
            // In a gap as in front of the phrase: 所有功能需要完成.
            has(clause, INTENTIONS)
                || has_chinese(clause, CHINESE_HYPOTHETICALS)
                || !says_no(phrase_match) && has_chinese(phrase, CHINESE_HYPOTHETICALS)
        }
        CompletionMeaning::NotYet => has(clause, &["can", "may", "could", "might", "you", "to"]),
    }
}

/// `done when …`, `complete once …`, `finished soon`.
fn is_conditional(phrase_match: &PhraseMatch<'_>) -> bool {
    let next =
        [phrase_match.end, phrase_match.end + 1].into_iter().filter_map(|it| phrase_match.sentence.word(it));
    let is_under = next.into_iter().any(|it| CONDITIONS.contains(&it));
    let after = tokens_after(phrase_match);
    let clause = after.split(|it| matches!(it, ProseToken::Mark(_))).next().unwrap_or_default();
    is_under
        || has_chinese(clause, &["之前", "以前"])
        || phrase_match.sentence.tokens.last().and_then(word) == Some("吗")
}

fn is_denied(clause: &[ProseToken], phrase_match: &PhraseMatch<'_>) -> bool {
    let phrase = phrase_match.sentence.tokens.get(phrase_match.start..phrase_match.end).unwrap_or_default();
    // A negation that belongs to a phrase (`no errors`, 没有错误) is at its beginning; in its gaps it denies.
    let inner = phrase.get(1..).unwrap_or_default();
    let near = clause.len().saturating_sub(3);
    let denies = |tokens: &[ProseToken]| {
        has(tokens, NEGATIONS) || tokens.iter().filter_map(word).any(|it| it.ends_with("n't") || is_share(it))
    };
    let first_is_chinese = phrase.first().and_then(word).is_some_and(|it| !it.is_ascii());
    let pair = |one: &str, two: &str| {
        let is = |it: &[ProseToken]| matches!(it, [a, b] if word(a) == Some(one) && word(b) == Some(two));
        clause.windows(2).any(is) || inner.windows(2).any(is)
    };
    denies(clause)
        || pair("far", "from")
        || pair("close", "to")
        || has(clause.get(near..).unwrap_or_default(), NEARBY_NEGATIONS)
        || (!is_self_denying(phrase) && denies(inner))
        || has_chinese(clause, CHINESE_NEGATIONS)
        || (first_is_chinese && !says_no(phrase_match) && has_chinese(phrase, &["没", "未", "尚", "不"]))
        || is_answered_no(phrase_match)
}

/// Chinese phrases that begin with a negation, such as 没有遗留.
fn says_no(phrase_match: &PhraseMatch<'_>) -> bool {
    let first = phrase_match.sentence.word(phrase_match.start).unwrap_or_default();
    ["没", "无", "未", "尚", "还", "不", "仍"].contains(&first)
}

/// Phrases that contain a word which is a negation elsewhere: `not yet`, `nothing to do`, `close to`.
fn is_self_denying(phrase: &[ProseToken]) -> bool {
    matches!(phrase.first().and_then(word), Some("not" | "nothing" | "no" | "without" | "yet" | "still"))
}

/// `3/5`, `80%`: less than the whole.
fn is_share(word: &str) -> bool {
    let number = |it: &str| it.parse::<u32>().ok();
    if let Some(percent) = word.strip_suffix('%') {
        return percent.parse::<f32>().is_ok_and(|it| it < 100.0);
    }
    let Some((part, whole)) = word.split_once('/') else { return false };
    matches!((number(part), number(whole)), (Some(part), Some(whole)) if part < whole)
}

/// `Done: no`, `complete = false`, `Completed 3 of 5`, `all tests pass but one`.
fn is_answered_no(phrase_match: &PhraseMatch<'_>) -> bool {
    let tokens = &phrase_match.sentence.tokens;
    let next = phrase_match.sentence.word(phrase_match.end).unwrap_or_default();
    let after = phrase_match.sentence.word(phrase_match.end + 1).unwrap_or_default();
    let is_value = phrase_match.is_bare
        && matches!(tokens.get(phrase_match.end), Some(ProseToken::Mark(':' | '=' | '-' | '—')));
    let no = is_value && matches!(after, "no" | "not" | "false" | "none" | "0" | "否" | "未" | "不");
    let count = |it: &str| it.parse::<u32>().ok();
    let whole = phrase_match.sentence.word(phrase_match.end + 2).and_then(count);
    let of = after == "of" && matches!((count(next), whole), (Some(part), Some(whole)) if part < whole);
    let but =
        next == "but" && (count(after).is_some() || matches!(after, "one" | "two" | "three" | "a" | "some"));
    let rest = [next, after].into_iter().any(is_share);
    no || of || but || (phrase_match.is_bare && rest)
}

fn is_excepted(phrase_match: &PhraseMatch<'_>) -> bool {
    let after = tokens_after(phrase_match);
    // "Apart from the export, everything is in place."
    let before = phrase_match.sentence.tokens.get(..phrase_match.start).unwrap_or_default();
    let is_excepted_before = has(before, EXCEPTIONS) && !has(before, &["besides"]);
    let phrase = phrase_match.sentence.tokens.get(phrase_match.start..phrase_match.end).unwrap_or_default();
    is_excepted_before
        || has(phrase, EXCEPTIONS)
        || has(after, EXCEPTIONS)
        || has_chinese(before, &["除了", "除外", "除"])
        || has_chinese(after, &["除了", "除外"])
}

fn tokens_after<'a>(phrase_match: &PhraseMatch<'a>) -> &'a [ProseToken] {
    let tokens = &phrase_match.sentence.tokens;
    tokens.get(phrase_match.end..tokens.len().min(phrase_match.end + MAX_DISTANCE)).unwrap_or_default()
}

/// A single word counts if it refers to the whole, or is alone.
fn whole_or_part(clause: &[ProseToken], phrase_match: &PhraseMatch<'_>) -> PhraseScope {
    let sentence = phrase_match.sentence;
    let next = sentence.word(phrase_match.end).unwrap_or_default();
    let this = sentence.word(phrase_match.start).unwrap_or_default();
    if this == "ready" && matches!(next, "to" | "for") {
        let mut goal = (phrase_match.end + 1..phrase_match.end + 4).filter_map(|it| sentence.word(it));
        return if goal.any(|it| READY_FOR.contains(&it)) {
            PhraseScope::Meant
        } else {
            PhraseScope::Hypothetical
        };
    }
    let accompanied = next == "with" && !matches!(this, "done" | "finished");
    let has_object = !next.is_empty() && next.is_ascii() && !NO_OBJECT.contains(&next) && !accompanied;
    let object_in_chinese =
        !next.is_empty() && !next.is_ascii() && !matches!(next, "了" | "并" | "且" | "所" | "全");
    let phrase = sentence.tokens.get(phrase_match.start..phrase_match.end).unwrap_or_default();
    let numbered = clause
        .iter()
        .chain(phrase)
        .filter_map(word)
        .any(|it| it.chars().any(|c| c.is_ascii_digit()) && !it.ends_with('%'));
    let ticked = matches!(sentence.context, SentenceContext::Ticked);
    let alone_in_heading = sentence.context == SentenceContext::Heading && sentence.tokens.len() == 1;
    let is_part = has_object
        || object_in_chinese
        || numbered
        || ticked
        || alone_in_heading
        || sentence.is_label
        || has(clause, PART_NOUNS)
        || has(tokens_after(phrase_match), &["iteration", "loop", "session", "far"])
        || has_chinese(clause, &["第", "步", "阶段", "部分", "模块", "本次", "这个"])
        || is_value_of_a_part(phrase_match);
    if is_part { PhraseScope::OfAPart } else { PhraseScope::Meant }
}

/// `Parser: done`, `Docs - complete`, and `Done: the parser`.
fn is_value_of_a_part(phrase_match: &PhraseMatch<'_>) -> bool {
    let tokens = &phrase_match.sentence.tokens;
    let before = tokens.get(..phrase_match.start).unwrap_or_default();
    let is_value = matches!(before.last(), Some(ProseToken::Mark(':' | '-' | '—' | '=' | '|')));
    let names_what = matches!(tokens.get(phrase_match.end), Some(ProseToken::Mark(':')))
        && tokens.len() > phrase_match.end + 1;
    (is_value && !has(before, WHOLE_NOUNS)) || names_what
}
