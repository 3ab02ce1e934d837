//! Messages of diagnostics: short, sanitised, and equal for equal results. Truncated at character boundaries.

use loopkeeper_text::tr;
use loopkeeper_text::{sanitize, words};

/// Maximum length of a diagnostic's message.
pub(super) const MESSAGE_CHARS: usize = 100;
/// Minimum length of a name that makes room for a fact and a remedy.
pub(super) const NAME_CHARS: usize = 24;
const FACT_CHARS: usize = 60;

/// `name: fact. Remedy.`; the remedy is omitted if there is no room for it.
pub(super) fn message(name: &str, fact: &str, remedy: &str) -> String {
    let fact = sanitize::line_within(fact, FACT_CHARS);
    let name = sanitize::line(name);
    let whole = |name: &str| tr!("{name}: {fact}. {remedy}.", name, fact, remedy);
    let short = name.chars().count().min(NAME_CHARS);
    let room = MESSAGE_CHARS.saturating_sub(whole("").chars().count());
    if !remedy.is_empty() && room >= short {
        return whole(&sanitize::line_within(&name, room));
    }
    named(&name, |name| tr!("{name}: {fact}", name, fact))
}

/// `name: fact, files changed since`
pub(super) fn stale(name: &str, fact: &str) -> String {
    let fact = sanitize::line_within(fact, FACT_CHARS);
    named(&sanitize::line(name), |name| tr!("{name}: {fact}, files changed since", name, fact))
}

/// `fact. Hint`; the hint is omitted if there is no room for it, or if the fact ends in a question that contains it. A
/// question keeps its mark.
pub(super) fn fact(fact: &str, hint: &str) -> String {
    if fact.ends_with(['?', '？']) {
        return sentence(fact);
    }
    let hint = words::capitalised(hint);
    let whole = if hint.ends_with(['?', '？']) {
        tr!("{fact}. {hint}", fact, hint)
    } else {
        tr!("{fact}. {hint}.", fact, hint)
    };
    if whole.chars().count() <= MESSAGE_CHARS { sentence(&whole) } else { sentence(fact) }
}

/// A complete sentence.
pub(super) fn sentence(text: &str) -> String {
    sanitize::line_within(text, MESSAGE_CHARS)
}

pub(super) fn stale_sentence(text: &str) -> String {
    let whole = |text: &str| tr!("{text}, files changed since", text);
    let room = MESSAGE_CHARS.saturating_sub(whole("").chars().count());
    whole(&sanitize::line_within(text, room))
}

/// Writes a message whose name is cut as needed.
fn named(name: &str, write: impl Fn(&str) -> String) -> String {
    let room = MESSAGE_CHARS.saturating_sub(write("").chars().count());
    write(&sanitize::line_within(name, room))
}

#[cfg(test)]
mod tests {
    use super::{MESSAGE_CHARS, message, sentence, stale};

    #[test]
    fn a_remedy_is_appended_if_it_fits() {
        let check = |name: &str, fact: &str, remedy: &str, expect: &str| {
            assert_eq!(message(name, fact, remedy), expect);
        };
        check("tests", "3 of 214 fail", "", "tests: 3 of 214 fail");
        check(
            "clippy",
            "could not run, \"cargo-clippy\" not found",
            "Install it or change the command",
            "clippy: could not run, \"cargo-clippy\" not found. Install it or change the command.",
        );
        let long = "every single one of the many integration tests of the payment service passes";
        check(
            long,
            "0 tests ran",
            "Check what it selects",
            "every single one of the many integration tests of the payment…: 0 tests ran. Check what it selects.",
        );
        check(
            long,
            "could not run, \"a-program-with-a-very-long-name\" not found",
            "Install it or change the command",
            "every single one of the many integratio…: could not run, \"a-program-with-a-very-long-name\" not found",
        );
    }

    #[test]
    fn a_question_contains_its_hint() {
        assert_eq!(
            super::fact("`a` is unknown. Did you mean `b`?", "write `b`"),
            "`a` is unknown. Did you mean `b`?"
        );
        assert_eq!(super::fact("`a` is unknown", "remove it"), "`a` is unknown. Remove it.");
        assert_eq!(super::fact("`a` is unknown", "did you mean `b`?"), "`a` is unknown. Did you mean `b`?");
    }

    #[test]
    fn messages_never_grow_beyond_their_line() {
        for name in ["", "ü".repeat(300).as_str(), "a b", "\u{202e}evil\u{1b}[31m"] {
            for fact in ["", "界".repeat(300).as_str(), "exit 1"] {
                for text in [message(name, fact, "Do it again"), stale(name, fact), sentence(fact)] {
                    assert!(text.chars().count() <= MESSAGE_CHARS, "{text}");
                    assert!(!text.contains(['\u{202e}', '\u{1b}']), "{text}");
                }
            }
        }
        assert!(stale("tests", "exit 1").ends_with("exit 1, files changed since"));
    }
}
