//! The language of user-visible texts: English in the source, translations in the tables under `locales/`.
//!
//! A text is looked up by its English template (`tr!`), so that the source stays readable and a text without a
//! translation is shown in English. The language is a property of the process, set once at its start; nothing else in
//! the pure crates is. Everything that programs read (keys, identifiers, prompts to agents) stays English.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::{Display, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The tables, one for each crate that has texts; a template is in one of them.
const TABLES: &[&str] = &[
    include_str!("../locales/zh-cn/text.json"),
    include_str!("../locales/zh-cn/source.json"),
    include_str!("../locales/zh-cn/task.json"),
    include_str!("../locales/zh-cn/agent.json"),
    include_str!("../locales/zh-cn/core.json"),
    include_str!("../locales/zh-cn/lint.json"),
    include_str!("../locales/zh-cn/view.json"),
    include_str!("../locales/zh-cn/system.json"),
    include_str!("../locales/zh-cn/keeper.json"),
    include_str!("../locales/zh-cn/operations.json"),
    include_str!("../locales/zh-cn/lsp.json"),
    include_str!("../locales/zh-cn/cli.json"),
];

/// A language of texts for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    #[default]
    English,
    SimplifiedChinese,
}

static IS_CHINESE: AtomicBool = AtomicBool::new(false);

thread_local! {
    static OVERRIDE: Cell<Option<Language>> = const { Cell::new(None) };
}

impl Language {
    /// The language of a locale such as `zh-cn`, `zh_CN.UTF-8` or `zh-Hans`: Chinese other than traditional, else
    /// English.
    pub fn of_locale(locale: &str) -> Self {
        let locale = locale.to_ascii_lowercase();
        let mut parts = locale.split(['-', '_', '.', '@']);
        let is_chinese = parts.next() == Some("zh");
        if is_chinese && !parts.any(|it| matches!(it, "tw" | "hk" | "mo" | "hant")) {
            Self::SimplifiedChinese
        } else {
            Self::English
        }
    }

    /// The tag of the language, as settings and protocols write it.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::SimplifiedChinese => "zh-CN",
        }
    }

    /// The language with a tag; `None` for `auto`.
    pub fn of_tag(tag: &str) -> Option<Self> {
        [Self::English, Self::SimplifiedChinese].into_iter().find(|it| it.tag().eq_ignore_ascii_case(tag))
    }

    /// The language of this thread, which is that of the process outside [`Self::during`].
    pub fn current() -> Self {
        if let Some(language) = OVERRIDE.get() {
            return language;
        }
        if IS_CHINESE.load(Ordering::Relaxed) { Self::SimplifiedChinese } else { Self::English }
    }

    /// Sets the language of this process, before the first text is written.
    pub fn set_current(self) {
        IS_CHINESE.store(self == Self::SimplifiedChinese, Ordering::Relaxed);
    }

    /// Runs a function whose texts are in this language, such as the prompt of an agent in English.
    pub fn during<T>(self, write: impl FnOnce() -> T) -> T {
        /// Restores the previous language on drop, also after a panic.
        struct LanguageGuard(Option<Language>);
        impl Drop for LanguageGuard {
            fn drop(&mut self) {
                OVERRIDE.set(self.0);
            }
        }
        let _restore = LanguageGuard(OVERRIDE.replace(Some(self)));
        write()
    }
}

/// The translation of an English template in the language of this process; `None` for English.
pub fn translation(template: &str) -> Option<&'static str> {
    match Language::current() {
        Language::English => None,
        Language::SimplifiedChinese => chinese().get(template).map(String::as_str),
    }
}

/// A text without placeholders in the language of this process.
pub fn translate(text: &'static str) -> &'static str {
    translation(text).unwrap_or(text)
}

/// Whether a text is in Chinese: outside of code it has at least as many Chinese characters as Latin words.
pub fn is_chinese(text: &str) -> bool {
    let is_han = |it: char| ('\u{4e00}'..='\u{9fff}').contains(&it);
    // Also of fences, between whose backticks there is nothing.
    let prose = || text.split('`').step_by(2);
    let characters: usize = prose().map(|it| it.chars().filter(|it| is_han(*it)).count()).sum();
    let is_separator = |it: char| !it.is_alphanumeric() || is_han(it);
    let has_latin = |it: &&str| it.contains(|it: char| it.is_ascii_alphabetic());
    let words = || prose().flat_map(|it| it.split(is_separator)).filter(has_latin);
    characters > 0 && characters >= words().count()
}

/// A text without placeholders in the language of an author, whatever the language of the process is.
pub fn in_language_of<'a>(author: &str, english: &'a str) -> &'a str {
    is_chinese(author).then(|| chinese().get(english)).flatten().map_or(english, String::as_str)
}

/// All translations into Simplified Chinese, by their English template.
pub fn chinese() -> &'static HashMap<String, String> {
    static CHINESE: OnceLock<HashMap<String, String>> = OnceLock::new();
    CHINESE.get_or_init(|| {
        // A broken table is found by the tests; a user then reads English.
        TABLES
            .iter()
            .filter_map(|it| serde_json::from_str::<HashMap<String, String>>(it).ok())
            .flatten()
            .collect()
    })
}

/// The first two Latin words in a row of a text that should be Chinese, for tests of translations. Code spans,
/// quotes and these `names` (of products, or texts of the user) may be English.
pub fn english_prose(text: &str, names: &[&str]) -> Option<String> {
    let mut text = without_spans(&without_spans(text, '`', '`'), '\u{201c}', '\u{201d}');
    for name in names {
        text = text.replace(name, "\u{2026}");
    }
    let is_word = |it: &str| {
        let word = it.trim_matches(|it: char| it.is_ascii_punctuation());
        word.len() > 1 && word.chars().all(|it| it.is_ascii_alphabetic() || it == '\'')
    };
    text.lines().find_map(|line| {
        let tokens: Vec<&str> = line.split_whitespace().collect();
        tokens.windows(2).find(|it| it.iter().all(|it| is_word(it))).map(|it| it.join(" "))
    })
}

/// A text with an ellipsis in place of what is between two marks.
fn without_spans(text: &str, open: char, close: char) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, behind)) = rest.split_once(open) {
        let Some((_, after)) = behind.split_once(close) else { break };
        kept.extend([before, "\u{2026}"]);
        rest = after;
    }
    kept + rest
}

/// Replaces `{name}` by its value, and `{{` by `{`.
pub fn fill(template: &str, values: &[(&str, &dyn Display)]) -> String {
    let mut text = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some(start) = rest.find(['{', '}']) {
        text.push_str(&rest[..start]);
        let brace = &rest[start..];
        if let Some(after) = brace.strip_prefix("{{") {
            text.push('{');
            rest = after;
        } else if let Some(after) = brace.strip_prefix("}}") {
            text.push('}');
            rest = after;
        } else {
            rest = push_value(&mut text, brace, values);
        }
    }
    text + rest
}

/// Appends the value of the placeholder at the start of `brace`; returns what follows it.
fn push_value<'a>(text: &mut String, brace: &'a str, values: &[(&str, &dyn Display)]) -> &'a str {
    let found = brace[1..].split_once('}').and_then(|(name, after)| {
        let value = values.iter().find(|(it, _)| *it == name)?.1;
        Some((value, after))
    });
    if let Some((value, after)) = found {
        let _ = write!(text, "{value}");
        after
    } else {
        text.push_str(&brace[..1]);
        &brace[1..]
    }
}

/// A text for people in the language of this process, from its English template: `tr!("Paused")` is a `&'static str`,
/// `tr!("iteration {number} of {max}", number, max = limits.iterations)` a `String`. Placeholders are named and
/// without format specifications. A word with several meanings has a context, `tr!("open" @ "plan")`, which is a part of
/// its key only. `tests/e2e/languages.rs` checks that every template has its translation.
#[macro_export]
macro_rules! tr {
    (@value $name:ident) => { $name };
    (@value $name:ident, $value:expr) => { $value };
    ($text:literal $(,)?) => {
        $crate::language::translate($text)
    };
    ($text:literal @ $context:literal) => {
        $crate::language::translation(concat!($text, " @ ", $context)).unwrap_or($text)
    };
    ($text:literal, $($name:ident $(= $value:expr)?),+ $(,)?) => {
        match $crate::language::translation($text) {
            None => format!($text, $($name = $crate::tr!(@value $name $(, $value)?)),+),
            Some(template) => $crate::language::fill(
                template,
                &[$((stringify!($name), &$crate::tr!(@value $name $(, $value)?) as &dyn ::std::fmt::Display)),+],
            ),
        }
    };
}

/// Marks a text of a static table, which is translated where it is shown, by [`language::translate`](translate).
#[macro_export]
macro_rules! tr_later {
    ($text:literal) => {
        $text
    };
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Language, TABLES, chinese, english_prose, fill, is_chinese};

    #[test]
    fn a_locale_determines_the_language() {
        let check =
            |locale: &str, expect: Language| assert_eq!(Language::of_locale(locale), expect, "{locale}");
        for chinese in ["zh", "zh-cn", "zh-CN", "zh_CN.UTF-8", "zh-Hans", "zh-Hans-CN", "zh_SG.utf8@x"] {
            check(chinese, Language::SimplifiedChinese);
        }
        for other in
            ["", "C", "C.UTF-8", "en", "en_US.UTF-8", "zh-tw", "zh_HK.UTF-8", "zh-Hant-CN", "zhx", "de"]
        {
            check(other, Language::English);
        }
        assert_eq!(Language::of_tag("zh-cn"), Some(Language::SimplifiedChinese));
        assert_eq!(Language::of_tag("auto"), None);
    }

    #[test]
    fn a_text_is_in_the_language_of_most_of_its_words() {
        for chinese in [
            "可以付款",
            "用 Rust 写 CLI",
            "# 付款\n\n- 可以：`has \"pay\" src/a.py b c d e f g`",
            "修复 login",
        ] {
            assert!(is_chinese(chinese), "{chinese}");
        }
        for english in
            ["", "3", "It pays", "Paying is 快 🎉", "The label reads 确定 after a click", "```\n付款\n```"]
        {
            assert!(!is_chinese(english), "{english}");
        }
    }

    #[test]
    fn placeholders_are_filled_in_any_order() {
        let values: [(&str, &dyn std::fmt::Display); 2] = [("count", &3), ("thing", &"{count}")];
        let check = |template: &str, expect: &str| assert_eq!(fill(template, &values), expect, "{template}");
        check("", "");
        check("{thing} 个 {count}", "{count} 个 3");
        check("{{count}} {count}}}", "{count} 3}");
        check("{other} {", "{other} {");
    }

    #[test]
    fn a_template_is_in_one_table() {
        let mut count = 0;
        for table in TABLES {
            count += serde_json::from_str::<BTreeMap<String, String>>(table).expect("a table of texts").len();
        }
        assert_eq!(chinese().len(), count);
    }

    #[test]
    fn english_prose_is_found_in_chinese() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(english_prose(text, &["Claude Code", "it lints"]).as_deref(), expect, "{text}");
        };
        check("循环：3/5 个标准通过，$1.24 `cargo test all`", None);
        check("“the title” 在 Claude Code 中 · it lints", None);
        check("运行 sh -c 于 src/a.rs a.md", None);
        check("已停止: by you", Some("by you"));
        check("`code` was not run", Some("was not"));
        check("` an open span", Some("an open"));
    }

    #[test]
    fn the_macro_formats_english() {
        let count = 2;
        assert_eq!(tr!("Paused"), "Paused");
        assert_eq!(tr!("{count} of {total}", count, total = count + 1), "2 of 3");
    }

    #[test]
    fn a_text_is_translated_where_the_language_says_so() {
        let text = || (crate::words::duration(440), tr!("{seconds} s", seconds = 4), tr!("no such text"));
        let english = || ("440 ms".to_owned(), "4 s".to_owned(), "no such text");
        assert_eq!(text(), english());
        let chinese = Language::SimplifiedChinese.during(|| {
            assert_eq!(Language::English.during(text), english());
            text()
        });
        assert_eq!(chinese, ("440 毫秒".to_owned(), "4 秒".to_owned(), "no such text"));
        assert_eq!(text(), english());
    }
}
