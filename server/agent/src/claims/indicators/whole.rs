//! Finds statements that the whole work is done by their form: a word for the whole (`every box`, `the last bug`, 全部)
//! with a predicate of completion (`was migrated`, `is closed`, 已满足). The form generalises to verbs that no table of
//! phrases contains. Whether such a statement counts in its context is decided elsewhere.

use std::ops::Range;

use crate::claims::prose::{ProseToken, Sentence};

const WHOLE: &[&str] = &["all", "every", "each", "both", "everything", "whole", "entire"];
const LAST: &[&str] = &["last", "final", "remaining", "rest"];
/// Names of the whole work. Names of its parts, such as `story`, are none.
const WORK: &[&str] = &[
    "task",
    "work",
    "job",
    "request",
    "ticket",
    "mission",
    "project",
    "plan",
    "assignment",
    "implementation",
    "brief",
    "requirements",
    "goal",
    "objective",
    "migration",
];
/// Units of work: in the present tense a sentence about all of them is no description of a program.
const UNITS: &[&str] = &[
    "task",
    "tasks",
    "item",
    "items",
    "point",
    "points",
    "box",
    "boxes",
    "change",
    "changes",
    "step",
    "steps",
    "bug",
    "bugs",
    "criterion",
    "criteria",
    "requirement",
    "requirements",
    "goal",
    "goals",
    "todo",
    "todos",
    "issue",
    "issues",
    "story",
    "stories",
    "feature",
    "features",
    "everything",
    "piece",
    "case",
    "cases",
];
const AUXILIARIES: &[&str] = &["is", "are", "was", "were", "has", "have", "had", "been", "got"];
/// Those of a finished act, also of one on files and modules.
const PAST_AUXILIARIES: &[&str] = &["was", "were", "has", "have", "had", "been", "got"];
/// Predicates of an end.
const ENDED: &[&str] = &[
    "done",
    "complete",
    "completed",
    "finished",
    "closed",
    "over",
    "accomplished",
    "achieved",
    "resolved",
    "delivered",
    "settled",
    "fulfilled",
    "met",
    "satisfied",
    "implemented",
    "concluded",
    "shipped",
    "through",
];
/// Predicates of an end in two words.
const ENDED_IN_TWO: &[(&str, &str)] = &[
    ("taken", "care"),
    ("carried", "out"),
    ("brought", "to"),
    ("wrapped", "up"),
    ("in", "place"),
    ("at", "end"),
];
/// Participles without `-ed`.
const IRREGULAR: &[&str] = &[
    "written",
    "rewritten",
    "built",
    "rebuilt",
    "made",
    "sent",
    "put",
    "set",
    "cut",
    "brought",
    "dealt",
    "drawn",
    "given",
    "taken",
    "shown",
    "run",
    "split",
    "chosen",
    "driven",
    "laid",
    "led",
    "paid",
    "sold",
    "spent",
    "swept",
    "torn",
    "redone",
    "done",
    "met",
];
/// Active verbs with the whole as their object.
const FINISHES: &[&str] = &[
    "finished",
    "completed",
    "resolved",
    "delivered",
    "closed",
    "implemented",
    "fixed",
    "handled",
    "addressed",
    "covered",
    "ticked",
    "settled",
    "concluded",
    "met",
    "satisfied",
];
/// Active verbs with the whole as their subject or object in the present tense.
const HOLDS: &[&str] = &["hold", "holds", "covers", "meets", "satisfies", "fulfils", "fulfills"];
/// Participles that report no success.
const SETBACKS: &[&str] = &[
    "failed",
    "skipped",
    "blocked",
    "ignored",
    "reverted",
    "postponed",
    "deferred",
    "missed",
    "rejected",
    "needed",
    "required",
    "expected",
    "supposed",
    "started",
    "planned",
    "listed",
    "called",
    "described",
    "used",
    "based",
    "located",
    "unchanged",
    "limited",
    "related",
];

const WHOLE_CHINESE: &[&str] =
    &["全部", "全都", "全数", "所有", "每", "整个", "整份", "整套", "都", "均", "皆", "逐个", "逐一", "悉数"];
const LAST_CHINESE: &[&str] = &["最后一", "最后的", "最后两", "最后几"];
const WORK_CHINESE: &[&str] =
    &["任务", "工作", "需求", "计划", "事情", "活儿", "目标", "项目", "要求", "开发", "迁移"];
const ENDED_CHINESE: &[&str] = &[
    "完成", "完结", "结束", "完毕", "收尾", "收工", "办妥", "搞定", "做完", "干完", "完工", "达成", "了结",
    "交付",
];
/// Marks of a finished act, each with the characters after which it is part of another word.
const PERFECTIVE: &[(char, &str)] = &[('了', "解"), ('已', ""), ('完', "整善美全"), ('毕', "业竟")];
/// After the name of an end they make it a time or a property: 任务完成后, 完成度.
const NO_END: &str = "后前时之度情率的日条者";
const SETBACKS_CHINESE: &[&str] =
    &["失败", "报错", "出错", "挂了", "卡住", "丢失", "损坏", "漏", "跳过", "看了", "读了", "过了一遍"];
const OTHER_WORDS: &[&str] = &["平均", "首都", "成都", "每次", "每当"];

/// The tokens of the first statement that the whole is done.
pub(super) fn find_whole(sentence: &Sentence) -> Option<Range<usize>> {
    let tokens = &sentence.tokens;
    let is_mark = |at: &usize| matches!(tokens.get(*at), Some(ProseToken::Mark(_)));
    let mut from = 0;
    while from < tokens.len() {
        let end = (from..tokens.len()).find(is_mark).unwrap_or(tokens.len());
        let words: Vec<&str> = (from..end).filter_map(|at| sentence.word(at)).collect();
        if let Some(found) = in_english(&words).or_else(|| in_chinese(&words)) {
            return Some(from + found.start..from + found.end);
        }
        from = end + 1;
    }
    None
}

fn in_english(words: &[&str]) -> Option<Range<usize>> {
    (0..words.len()).find_map(|at| predicate(words, at).or_else(|| object(words, at)))
}

/// "every box is ticked", "the work is over", "mission accomplished".
fn predicate(words: &[&str], at: usize) -> Option<Range<usize>> {
    const MAX_SUBJECT: usize = 8;
    const MAX_ADVERBS: usize = 4;
    let subject = *words.get(at)?;
    let is_whole = WHOLE.contains(&subject) || LAST.contains(&subject);
    let is_work = WORK.contains(&subject) && !is_part(words, at);
    if !is_whole && !is_work {
        return None;
    }
    let is_last_word = |it: usize| it + 1 == words.len();
    if is_work && words.get(at + 1).is_some_and(|it| ENDED.contains(it)) && is_last_word(at + 1) {
        return Some(at..at + 2);
    }
    let until = words.len().min(at + MAX_SUBJECT);
    let verb = (at + 1..until).find(|it| {
        let word = words.get(*it).copied().unwrap_or_default();
        AUXILIARIES.contains(&word) || HOLDS.contains(&word)
    })?;
    let word = words.get(verb)?;
    if HOLDS.contains(word) {
        let object = words.get(verb + 1).copied().unwrap_or_default();
        let is_met = is_whole && matches!(object, "" | "now" | "true") || is_work && WHOLE.contains(&object);
        return is_met.then_some(at..verb + 1);
    }
    let is_past = PAST_AUXILIARIES.contains(word);
    let is_about_units = words.get(at..verb)?.iter().any(|it| UNITS.contains(it));
    let counts = |it: usize| {
        let word = words.get(it).copied().unwrap_or_default();
        let next = words.get(it + 1).copied().unwrap_or_default();
        let is_regular = word.len() > 4 && word.ends_with("ed") && !SETBACKS.contains(&word);
        let is_participle = is_regular || IRREGULAR.contains(&word);
        let is_act = is_whole && is_participle && (is_past || is_about_units);
        is_act || ENDED.contains(&word) || ENDED_IN_TWO.contains(&(word, next))
    };
    let end = (verb + 1..words.len().min(verb + 1 + MAX_ADVERBS)).find(|it| counts(*it))?;
    // "Every page has to be rewritten."
    if words.get(verb + 1..end)?.contains(&"to") {
        return None;
    }
    Some(at..end + 1)
}

/// "resolved every issue", "closed the last item".
fn object(words: &[&str], at: usize) -> Option<Range<usize>> {
    let is_whole = |it: &&str| WHOLE.contains(it) || LAST.contains(it);
    words.get(at).filter(|it| FINISHES.contains(it))?;
    let is_passive =
        at.checked_sub(1).and_then(|it| words.get(it)).is_some_and(|it| AUXILIARIES.contains(it));
    let was_perfect = is_passive && words.get(at - 1).is_some_and(|it| matches!(*it, "have" | "has"));
    let whole = (at + 1..words.len().min(at + 4)).find(|it| words.get(*it).is_some_and(is_whole))?;
    (!is_passive || was_perfect).then_some(at..whole + 1)
}

/// "the first task", "task 2", "another plan".
fn is_part(words: &[&str], at: usize) -> bool {
    let near = words.get(at.saturating_sub(2)..words.len().min(at + 2)).unwrap_or_default();
    let is_ordinal = |it: &&str| {
        matches!(*it, "first" | "second" | "third" | "next" | "another" | "one" | "a" | "an" | "this")
    };
    near.iter().any(|it| is_ordinal(it) || it.chars().any(|it| it.is_ascii_digit()))
}

fn in_chinese(words: &[&str]) -> Option<Range<usize>> {
    // One character for each word, so that positions are those of words.
    let chars: Vec<char> =
        words.iter().map(|it| it.chars().next().filter(|it| !it.is_ascii()).unwrap_or(' ')).collect();
    let text: String = chars.iter().collect();
    if !text.contains(|it: char| it != ' ') || SETBACKS_CHINESE.iter().any(|it| text.contains(it)) {
        return None;
    }
    let masked = OTHER_WORDS.iter().fold(text.clone(), |text, it| text.replace(it, "  "));
    let position =
        |word: &str| masked.find(word).map(|it| masked.get(..it).unwrap_or_default().chars().count());
    let whole = WHOLE_CHINESE.iter().chain(LAST_CHINESE).filter_map(|it| position(it)).min();
    let act = whole.and_then(|whole| {
        let is_done = |at: &usize| is_perfective(&chars, *at);
        let done = (whole + 1..chars.len()).find(is_done);
        let was_before = || (0..whole).find(|at| chars.get(*at) == Some(&'已'));
        done.map(|it| whole..it + 1).or_else(|| was_before().map(|it| it..whole + 1))
    });
    act.or_else(|| ended_work(&chars, &masked))
}

fn is_perfective(chars: &[char], at: usize) -> bool {
    let next = chars.get(at + 1).copied().unwrap_or(' ');
    PERFECTIVE.iter().any(|(mark, other)| chars.get(at) == Some(mark) && !other.contains(next))
}

/// 任务圆满结束, 事情办妥了: the work, and its end within six characters.
fn ended_work(chars: &[char], text: &str) -> Option<Range<usize>> {
    const MAX_BETWEEN: usize = 6;
    let at = |word: &str, from: usize| {
        let start = text.char_indices().nth(from)?.0;
        let found = start + text.get(start..)?.find(word)?;
        Some(text.get(..found)?.chars().count())
    };
    let work = WORK_CHINESE.iter().filter_map(|it| at(it, 0)).min()?;
    let end = ENDED_CHINESE
        .iter()
        .filter_map(|it| at(it, work + 2))
        .min()
        .filter(|it| *it <= work + 2 + MAX_BETWEEN)?;
    let behind = chars.get(end + 2).copied().unwrap_or(' ');
    (!NO_END.contains(behind)).then_some(work..end + 2)
}
