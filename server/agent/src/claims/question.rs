//! Detects a question to the user at the end of the agent's message. Politeness, rhetorical questions and questions
//! that the agent answers itself do not count.

use super::prose::{ProseToken, Sentence, is_cjk};
use loopkeeper_text::sanitize;

/// Maximum length of the question's text.
const QUESTION_CHARS: usize = 500;
/// Number of sentences at the end of a message that are searched for a question.
const MAX_LAST_SENTENCES: usize = 10;
/// Maximum number of sentences of prose after a question that is still the point of a message.
const MAX_AFTER: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AgentQuestion {
    pub(super) text: String,
    pub(super) kind: AgentQuestionKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentQuestionKind {
    /// The work depends on the answer.
    Needed,
    /// More work is offered: after a report of finished work that is politeness.
    Offer,
}

/// Anywhere in a sentence with a question mark.
const QUESTION_PHRASES: &[&str] = &[
    "should i",
    "shall i",
    "should we",
    "shall we",
    "may i",
    "can i",
    "would you",
    "do you",
    "could you",
    "can you",
    "are you ok",
    "is it ok",
    "is it okay",
    "is that ok",
    "is this ok",
    "want me to",
    "which",
    "how should",
    "what should",
    "what would you",
    "where should",
    "your preference",
    "does that",
    "does this look",
    "is this what",
    "请 问",
    "要 不 要",
    "是 否 需 要",
    "是 否 要",
    "是 否 应",
    "是 否 可 以",
    "希 望",
    "哪 种",
    "哪 个",
    "哪 一",
    "可 以 吗",
    "需 要 我",
    "您 想",
    "你 想",
    "要 我",
    "好 吗",
    "我 应 该",
    "我 该",
    "还 是",
    "能 否",
    "如 何 处 理",
];
/// Anywhere in a sentence, whatever mark ends it.
const REQUEST_PHRASES: &[&str] = &[
    "please confirm",
    "please clarify",
    "please advise",
    "please choose",
    "please decide",
    "please specify",
    "please provide",
    "please tell me",
    "please let me know which",
    "please let me know how",
    "please let me know whether",
    "please let me know what",
    "let me know which",
    "let me know whether",
    "let me know how you",
    "need clarification",
    "needs clarification",
    "need your input",
    "need your decision",
    "need your approval",
    "need your confirmation",
    "need your answer",
    "need your help",
    "need you to",
    "waiting for your",
    "waiting for you",
    "waiting on your",
    "awaiting your",
    "awaiting input",
    "awaiting confirmation",
    "awaiting further",
    "awaiting instructions",
    "waiting for input",
    "waiting for confirmation",
    "waiting for further",
    "waiting for a response",
    "waiting for approval",
    "before i proceed",
    "before i continue",
    "请 确 认",
    "请 告 诉 我",
    "请 告 知",
    "请 选 择",
    "请 提 供",
    "请 指 示",
    "请 决 定",
    "等 待 您",
    "等 待 你",
    "等 您",
    "等 你",
    "需 要 您",
    "需 要 你",
];
const OFFER_PHRASES: &[&str] = &[
    "would you like me",
    "would you like to",
    "do you want me",
    "want me to",
    "shall i also",
    "should i also",
    "can i help",
    "would you like any",
    "shall i proceed with",
    "需 要 我",
    "要 我",
];
const COURTESIES: &[&str] = &[
    "anything else",
    "any questions",
    "any other",
    "feel free",
    "let me know if",
    "if you have",
    "if you need",
    "if you want",
    "if you'd like",
    "如 有",
    "还 有 什 么",
    "其 他 需 要",
    "其 他 问 题",
    "随 时",
    "if you would like",
];
/// Beginnings of the agent's own answer to its question.
const ANSWERS: &[&str] = &[
    "i decided",
    "i chose",
    "i went with",
    "i picked",
    "i opted",
    "i assumed",
    "i'll assume",
    "i will assume",
    "i'll go with",
    "i will go with",
    "we chose",
    "so i",
    "therefore",
    "yes",
    "no",
    "because",
    "the answer",
    "it turns out",
    "decided",
    "chose",
    "turned out",
    "我 选 择",
    "我 决 定",
    "采 用",
    "我 假 设",
    "因 为",
    "答 案",
];

/// The last question near the end, with up to two sentences directly before it that ask too.
pub(super) fn find(text: &str, sentences: &[Sentence]) -> Option<AgentQuestion> {
    let tail = sentences.get(sentences.len().saturating_sub(MAX_LAST_SENTENCES)..)?;
    let words: Vec<String> = tail.iter().map(plain_words).collect();
    // A question that ends a message asks; one amid prose has to address the user.
    let last = tail.iter().rposition(|it| !it.tokens.is_empty())?;
    let asks: Vec<bool> = tail
        .iter()
        .zip(&words)
        .enumerate()
        .map(|(at, (it, words))| is_asked(it, words, at == last))
        .collect();
    let at = asks.iter().rposition(|it| *it)?;
    let after = || tail.iter().zip(&words).skip(at + 1);
    let is_answered = after().any(|(it, words)| !it.is_question && begins_answer(words));
    let prose = after()
        .filter(|(it, _)| it.context == super::prose::SentenceContext::Text && !it.is_question)
        .count();
    if is_answered || prose > MAX_AFTER {
        return None;
    }
    let first = (at.saturating_sub(2)..=at).rev().take_while(|it| asks.get(*it) == Some(&true)).last()?;
    let asked = tail.get(first..=at)?;
    let range = asked.first()?.range.start..asked.last()?.range.end;
    let shown = sanitize::line_within(text.get(range)?, QUESTION_CHARS);
    let is_offer = words.get(first..=at)?.iter().all(|it| contains_phrase(it, OFFER_PHRASES));
    let kind = if is_offer { AgentQuestionKind::Offer } else { AgentQuestionKind::Needed };
    Some(AgentQuestion { text: shown.trim_matches(['*', '_', ' ']).to_owned(), kind })
}

/// The words with a blank around each; marks are left out.
fn plain_words(sentence: &Sentence) -> String {
    let mut out = String::from(" ");
    for token in sentence.tokens.iter().take(200) {
        if let ProseToken::Word(word) = token {
            out.push_str(word);
            out.push(' ');
        }
    }
    out
}

fn contains_phrase(words: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|it| words.contains(&format!(" {it} ")))
}

fn is_asked(sentence: &Sentence, words: &str, is_last: bool) -> bool {
    if contains_phrase(words, COURTESIES) {
        return false;
    }
    if !sentence.is_question {
        let asks_in_chinese =
            sentence.tokens.last().is_some_and(|it| *it == ProseToken::Word("吗".to_owned()));
        return contains_phrase(words, REQUEST_PHRASES) || asks_in_chinese;
    }
    let count = sentence.tokens.iter().filter(|it| matches!(it, ProseToken::Word(_))).count();
    let is_chinese = words.chars().any(is_cjk);
    let long_enough = count >= if is_chinese { 4 } else { 3 };
    contains_phrase(words, QUESTION_PHRASES)
        || contains_phrase(words, REQUEST_PHRASES)
        || (is_last && long_enough)
}

fn begins_answer(words: &str) -> bool {
    ANSWERS.iter().any(|it| words.starts_with(&format!(" {it} ")))
        || contains_phrase(words, &["i decided", "i chose", "i went with", "i assumed", "i picked"])
}
