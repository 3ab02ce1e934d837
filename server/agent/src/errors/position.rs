//! Finds the places in a line at which an error may begin: after names of files and programs, or within its first
//! characters.

use loopkeeper_text::pattern::ConstantPattern;

/// Maximum length of a name.
const NAME_CHARS: usize = 200;

/// The line, and what is left of it after up to `count` names that end in `: ` or ` - `.
pub(super) fn after_names(line: &str, count: usize) -> Vec<&str> {
    let mut rests = vec![line];
    let mut from = 0;
    for _ in 0..count {
        let further: Vec<_> = rests.iter().skip(from).flat_map(|it| after_name(it)).flatten().collect();
        from = rests.len();
        rests.extend(further);
    }
    rests
}

fn after_name(line: &str) -> [Option<&str>; 2] {
    let Some((word, rest)) = split_word(line) else { return [None, None] };
    let is_name = |it: &&str| !it.is_empty() && it.chars().count() <= NAME_CHARS;
    let before_colon = word.strip_suffix(':').filter(is_name);
    let before_dash = Some(word).filter(is_name);
    [before_colon.map(|_| rest), before_dash.and_then(|_| without_blank(rest.strip_prefix('-')?))]
}

/// The remainder after a word that ends in a colon.
pub(super) fn after_program(line: &str) -> Option<&str> {
    split_word(line).filter(|(word, _)| word.len() > 1 && word.ends_with(':')).map(|(_, rest)| rest)
}

/// The first word, and the text after the blank that ends it.
fn split_word(line: &str) -> Option<(&str, &str)> {
    let (word, rest) = line.split_at_checked(line.find(char::is_whitespace)?)?;
    Some((word, without_blank(rest)?))
}

fn without_blank(text: &str) -> Option<&str> {
    text.strip_prefix(char::is_whitespace)
}

/// Whether the pattern occurs after at most so many characters.
pub(super) fn has_within(pattern: &ConstantPattern, line: &str, chars: usize) -> bool {
    let before = pattern.find(line).and_then(|it| line.get(..it.start()));
    before.is_some_and(|it| it.chars().count() <= chars)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::{ConstantPattern, after_names, after_program, has_within};

    /// The same as one pattern.
    fn check(names: &Regex, whole: [&Regex; 3], line: &str) {
        static WORD: ConstantPattern = ConstantPattern::new("^e");
        static REASON: ConstantPattern = ConstantPattern::new(r"(?:^|:\s)e");
        static LATER: ConstantPattern = ConstantPattern::new(r"\be\b");
        assert_eq!(after_names(line, 2).iter().any(|it| WORD.is_match(it)), names.is_match(line), "{line:?}");
        let program = after_program(line);
        assert_eq!(program.is_some_and(|it| WORD.is_match(it)), whole[0].is_match(line), "{line:?}");
        let reason = program.is_some_and(|it| has_within(&REASON, it, 9));
        assert_eq!(reason, whole[1].is_match(line), "{line:?}");
        assert_eq!(has_within(&LATER, line, 9), whole[2].is_match(line), "{line:?}");
    }

    proptest! {
        #[test]
        fn places_are_those_of_one_pattern(lines in prop::collection::vec(prop::collection::vec(prop_oneof![
            "[:e -]{1,3}", "[a-zé…]{1,4}", "[a-zé]:", "e", ": ", " - ", "\u{3000}", "\u{a0}-\u{a0}",
            (197_usize..203).prop_map(|it| "é".repeat(it)), (7_usize..12).prop_map(|it| "é ".repeat(it)),
        ], 0..9).prop_map(|it| it.concat()), 0..40)) {
            let names = Regex::new(r"^(?:\S{1,200}(?::\s|\s-\s)){0,2}e").unwrap();
            let program = Regex::new(r"^\S+:\se").unwrap();
            let reason = Regex::new(r"^(?:\S+:\s)(?:.{0,9}:\s)?e").unwrap();
            let later = Regex::new(r"^.{0,9}\be\b").unwrap();
            for line in lines {
                check(&names, [&program, &reason, &later], &line);
            }
        }
    }
}
