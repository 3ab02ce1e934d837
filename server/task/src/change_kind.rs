//! Recognises what kind of change to code a sentence asks for, which determines how its result is checked.

/// Kind of a change to code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// New or other behaviour.
    Feature,
    Fix,
    /// The same behaviour in less time or memory: only a measurement shows it.
    Speed,
    /// The same behaviour with other code.
    Refactoring,
    /// Tests of behaviour that exists.
    Tests,
}

/// Words and phrases of a kind, in lower case; Latin ones count as whole words. The first kind with one of them is meant:
/// a slow query is fixed by speed, and a parser that is refactored to be faster has to be faster.
const WORDS: [(ChangeKind, &[&str]); 4] = [
    (
        ChangeKind::Speed,
        &[
            "faster",
            "quicker",
            "speed",
            "slow",
            "slower",
            "latency",
            "performance",
            "throughput",
            "optimize",
            "optimise",
            "less memory",
            "memory usage",
            "memory consumption",
            "startup time",
            "start-up time",
            "build time",
            "bundle size",
            "更快",
            "加快",
            "加速",
            "提速",
            "太慢",
            "变慢",
            "很慢",
            "缓慢",
            "性能",
            "延迟",
            "吞吐",
            "内存占用",
        ],
    ),
    (
        ChangeKind::Tests,
        &[
            "test coverage",
            "code coverage",
            "add tests",
            "add unit tests",
            "add integration tests",
            "write tests",
            "write unit tests",
            "write integration tests",
            "more tests",
            "missing tests",
            "覆盖率",
            "添加测试",
            "补充测试",
            "增加测试",
            "编写测试",
            "单元测试",
        ],
    ),
    (
        ChangeKind::Refactoring,
        &[
            "refactor",
            "refactoring",
            "clean up",
            "cleanup",
            "cleaner",
            "simplify",
            "restructure",
            "reorganize",
            "reorganise",
            "rename",
            "modularize",
            "modularise",
            "deduplicate",
            "readable",
            "maintainable",
            "重构",
            "简化",
            "重命名",
            "整理代码",
            "清理代码",
        ],
    ),
    (
        ChangeKind::Fix,
        &[
            "fix", "fixes", "bug", "bugs", "crash", "crashes", "broken", "repair", "修复", "修正", "修好",
            "崩溃",
        ],
    ),
];

impl ChangeKind {
    /// The kind that the words of a sentence say; a feature if none of them does.
    pub fn of_sentence(sentence: &str) -> Self {
        let sentence = sentence.to_lowercase();
        let found = WORDS.iter().find(|(_, words)| words.iter().any(|it| has_words(&sentence, it)));
        found.map_or(Self::Feature, |(kind, _)| *kind)
    }
}

/// Whether the text has the words as a whole. Chinese has no spaces between words.
fn has_words(text: &str, words: &str) -> bool {
    let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.' | '/');
    text.match_indices(words).any(|(at, _)| {
        let before = text.get(..at).and_then(|it| it.chars().next_back());
        let after = text.get(at + words.len()..).and_then(|it| it.chars().next());
        // A period ends a sentence.
        let continues = |it: char| it != '.' && is_part(it);
        !words.is_ascii() || !before.is_some_and(is_part) && !after.is_some_and(continues)
    })
}

#[cfg(test)]
mod tests {
    use super::ChangeKind::{self, *};

    #[test]
    fn a_sentence_asks_for_one_kind_of_change() {
        let rows: [(&str, ChangeKind); 22] = [
            ("Add a --json flag", Feature),
            ("Make parse_date accept ISO 8601 dates", Feature),
            ("Show the speed_limit of a road", Feature),
            ("Add bug-report.md to the templates", Feature),
            ("Prefix each line with its number", Feature),
            ("Make the parser faster", Speed),
            ("The start is slow.", Speed),
            ("Fix the slow query in src/db.rs", Speed),
            ("Refactor the cache so that lookups are faster", Speed),
            ("Reduce memory usage of the index", Speed),
            ("让首页加载更快", Speed),
            ("提升接口性能", Speed),
            ("Raise the test coverage to 90 %", Tests),
            ("Add tests for the cart", Tests),
            ("为解析器补充测试", Tests),
            ("Refactor the session store", Refactoring),
            ("Clean up src/util.ts", Refactoring),
            ("重构登录模块", Refactoring),
            ("Fix the time zone of exported dates", Fix),
            ("The editor crashes on an empty file", Fix),
            ("修复登录页面的错误", Fix),
            ("完成", Feature),
        ];
        for (sentence, expect) in rows {
            assert_eq!(ChangeKind::of_sentence(sentence), expect, "{sentence}");
        }
    }
}
