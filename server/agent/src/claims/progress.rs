//! Parses the progress that the agent reports, in percent. Percentages of something else (coverage, tests) do not count.

use super::prose::{ProseToken, Sentence};

const MAX_DISTANCE: usize = 3;
const NAMES: &[&str] = &["progress", "completion", "进", "度"];
const COMPLETION_WORDS: &[&str] = &["done", "complete", "completed", "finished", "完"];
const WHOLE_NOUNS: &[&str] = &["way", "work", "task", "project", "plan", "tasks"];
const OTHER_METRICS: &[&str] = &["coverage", "覆"];
const HYPOTHETICALS: &[&str] =
    &["if", "until", "when", "once", "to", "not", "target", "goal", "should", "will"];

/// The last percentage that refers to the work.
pub(super) fn find(sentences: &[Sentence]) -> Option<u8> {
    sentences.iter().filter(|it| !it.is_question).rev().find_map(percent_of_sentence)
}

fn percent_of_sentence(sentence: &Sentence) -> Option<u8> {
    let tokens = &sentence.tokens;
    (0..tokens.len()).rev().find_map(|at| {
        let percent = percent(tokens, at)?;
        let before = tokens.get(at.saturating_sub(MAX_DISTANCE)..at).unwrap_or_default();
        let after = tokens.get(at + 1..tokens.len().min(at + 1 + MAX_DISTANCE)).unwrap_or_default();
        let is_progress = has(before, NAMES)
            || has(before, &["完"])
            || (has(after, COMPLETION_WORDS) && !is_behind_mark(after));
        let is_share = has(after, &["of"])
            && has(tokens.get(at..tokens.len().min(at + 6)).unwrap_or_default(), WHOLE_NOUNS);
        let is_meant =
            !has(before, HYPOTHETICALS) && !has(before, OTHER_METRICS) && !has(after, OTHER_METRICS);
        ((is_progress || is_share) && is_meant).then_some(percent)
    })
}

/// Whether the first mark comes before anything that could belong to the number.
fn is_behind_mark(after: &[ProseToken]) -> bool {
    let mark = after.iter().position(|it| matches!(it, ProseToken::Mark(_)));
    mark.is_some_and(|mark| !has(after.get(..mark).unwrap_or_default(), COMPLETION_WORDS))
}

fn percent(tokens: &[ProseToken], at: usize) -> Option<u8> {
    let ProseToken::Word(word) = tokens.get(at)? else { return None };
    let number = match word.strip_suffix('%') {
        Some(number) => number,
        None if matches!(tokens.get(at + 1), Some(ProseToken::Word(next)) if next == "percent") => word,
        None => return None,
    };
    let whole = number.split_once('.').map_or(number, |(whole, _)| whole);
    whole.parse().ok().filter(|it| *it <= 100)
}

fn has(tokens: &[ProseToken], words: &[&str]) -> bool {
    tokens.iter().any(|it| matches!(it, ProseToken::Word(word) if words.contains(&word.as_str())))
}
