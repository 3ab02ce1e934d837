//! The words of the files of a tree, by which one file may refer to another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::TreeText;
use crate::drift::names;

/// Calls that load files whose names are not written.
const DYNAMIC: [&str; 9] = [
    "importlib",
    "pkgutil",
    "__import__",
    "import.meta.glob",
    "require.context",
    "readdirSync(",
    "globSync(",
    "ServiceLoader",
    "include_dir!",
];

static DYNAMIC_CALLS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&DYNAMIC.map(regex::escape).join("|")).ok());

/// Files whose patterns select what to compile or to ignore: they are not references.
const PATTERN_FILES: [&str; 8] =
    ["tsconfig", "jsconfig", ".gitignore", ".dockerignore", ".npmignore", ".eslint", "eslint.", ".prettier"];

pub(super) struct ReferenceIndex<'a> {
    /// For the stem of a candidate, the files that contain it as a word.
    by_stem: BTreeMap<String, BTreeSet<&'a str>>,
    /// The parts of patterns before their first `*`.
    glob_starts: Vec<&'a str>,
    is_dynamic: bool,
}

impl<'a> ReferenceIndex<'a> {
    pub(super) fn of(files: &'a [TreeText], candidates: &BTreeSet<&str>) -> Self {
        let mut by_stem: BTreeMap<String, BTreeSet<&str>> =
            candidates.iter().map(|it| (normalise_name(names::stem(it)), BTreeSet::new())).collect();
        let lengths: BTreeSet<usize> = by_stem.keys().map(String::len).collect();
        let firsts: BTreeSet<u8> = by_stem.keys().filter_map(|it| it.bytes().next()).collect();
        let begins = |word: &[u8]| {
            let first = word.iter().find(|it| !is_joint(**it)).map(u8::to_ascii_lowercase);
            first.is_some_and(|it| firsts.contains(&it))
        };
        let mut glob_starts = Vec::new();
        for file in files {
            // Names of candidates are ASCII, and a tree is many millions of words: most are rejected by their first
            // letter or their length.
            let words = file.text.as_bytes().split(|it| !is_of_word(*it)).filter(|it| begins(it));
            for word in words.filter(|it| lengths.contains(&it.iter().filter(|it| !is_joint(**it)).count())) {
                let word = std::str::from_utf8(word).unwrap_or_default();
                if let Some(referrers) = by_stem.get_mut(&normalise_name(word)) {
                    referrers.insert(&file.path);
                }
            }
            if !PATTERN_FILES.iter().any(|it| names::file_name(&file.path).starts_with(it)) {
                glob_starts.extend(
                    lines_with_star(&file.text)
                        .flat_map(|it| it.split(is_quote_or_blank))
                        .filter_map(glob_start),
                );
            }
        }
        // One pass over the text for all of them.
        let dynamic = DYNAMIC_CALLS.as_ref();
        let is_dynamic = dynamic.is_none_or(|calls| files.iter().any(|file| calls.is_match(&file.text)));
        Self { by_stem, glob_starts, is_dynamic }
    }

    pub(super) fn loads_dynamically(&self) -> bool {
        self.is_dynamic
    }

    /// Whether a file that is not in `strays` contains its name, or a pattern that may match it.
    pub(super) fn is_referred_to(&self, path: &str, strays: &BTreeSet<&str>) -> bool {
        let referrers = self.by_stem.get(&normalise_name(names::stem(path)));
        referrers.is_some_and(|all| all.iter().any(|it| !strays.contains(it)))
            || self.glob_starts.iter().any(|it| path.starts_with(it))
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || is_joint(byte)
}

fn is_joint(byte: u8) -> bool {
    matches!(byte, b'_' | b'-')
}

/// `user-login`, `user_login` and `userLogin` are one name.
fn normalise_name(word: &str) -> String {
    word.chars().filter(|it| !matches!(it, '_' | '-')).flat_map(char::to_lowercase).collect()
}

fn is_quote_or_blank(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | ',' | '(' | ')' | '[' | ']' | '=')
}

/// Searches for the star and not line by line, because few of the lines of a tree have one.
fn lines_with_star(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (before, behind) = rest.split_at_checked(rest.find('*')?)?;
        let start = before.rfind('\n').map_or(0, |it| it + 1);
        let end = before.len() + behind.find('\n').unwrap_or(behind.len());
        let (line, next) = (rest.get(start..end)?, rest.get(end..)?);
        rest = next;
        Some(line)
    })
}

/// `src/` of `./src/*.ts`. A pattern without a folder says too little, and `/*` begins a comment.
fn glob_start(token: &str) -> Option<&str> {
    let (start, _) = token.split_once('*')?;
    let start = start.trim_start_matches("./");
    (start.contains('/') && !start.starts_with('/')).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::lines_with_star;

    #[test]
    fn only_lines_with_a_star_are_split_off() {
        let check = |text: &str, expect: &[&str]| {
            assert_eq!(lines_with_star(text).collect::<Vec<_>>(), expect, "{text:?}");
        };
        check("", &[]);
        check("a\nb\n", &[]);
        check("*", &["*"]);
        check("a\nb*c*d\n\n*\n", &["b*c*d", "*"]);
        check("é*\r\né", &["é*\r"]);
    }
}
