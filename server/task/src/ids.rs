//! Ids that survive rewording. The canonical text below is hashed and the hash is stored in journals: changing it gives
//! every criterion of every task a new id.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::criterion::{Check, Expect, NumberRule, PatternKind, TextPattern};
use loopkeeper_text::digest::hex;
use loopkeeper_text::fold::{folded, one_line};

/// 10 hex digits of sha256 over check, expectations and number rules, or over the prose if there is no check.
pub(super) fn base_id(check: Option<&Check>, rules: &[NumberRule], prose: &str) -> String {
    let digest = match check {
        Some(check) => {
            let with_rule = |text: String, rule: &NumberRule| text + "\n" + &rule.written();
            Sha256::digest(rules.iter().fold(canonical_check(check), with_rule))
        }
        None => Sha256::new_with_prefix("prose\n").chain_update(folded(prose).to_lowercase()).finalize(),
    };
    hex(digest.get(..5).unwrap_or_default())
}

/// Assigns ids in document order: the second of its kind gets `-2`, the third `-3`.
#[derive(Debug, Default)]
pub(super) struct IdAllocator {
    /// Every assigned id, with the number of requests for it.
    used: HashMap<String, u32>,
}

impl IdAllocator {
    /// Reserves capacity for `count` more ids.
    pub(super) fn reserve(&mut self, count: usize) {
        self.used.reserve(count);
    }

    pub(super) fn allocate(&mut self, base: &str) -> String {
        let Some(mut count) = self.used.get(base).copied() else {
            self.used.insert(base.to_owned(), 1);
            return base.to_owned();
        };
        let id = loop {
            count += 1;
            let id = format!("{base}-{count}");
            if !self.used.contains_key(&id) {
                break id;
            }
        };
        self.used.insert(base.to_owned(), count);
        self.used.insert(id.clone(), 1);
        id
    }
}

fn canonical_check(check: &Check) -> String {
    match check {
        Check::Command { command, expect } => {
            append_expectations(format!("$\n{}", one_line(command)), expect)
        }
        Check::Exists { globs } => format!("exists\n{}", globs.join("\n")),
        Check::Missing { globs } => format!("missing\n{}", globs.join("\n")),
        Check::Has { pattern, globs } => format!("has\n{}\n{}", pattern_text(pattern), globs.join("\n")),
        Check::Lacks { pattern, globs } => format!("lacks\n{}\n{}", pattern_text(pattern), globs.join("\n")),
        Check::Clean => "clean".to_owned(),
        Check::Get { url, expect } => append_expectations(format!("get\n{url}"), expect),
        // The prose is the check: different prose is a different question.
        Check::Judge { of, prose } => {
            let (needed, asked) = of.unwrap_or((1, 1));
            format!("judge\n{needed} of {asked}\n{}", one_line(prose).to_lowercase())
        }
    }
}

fn append_expectations(check: String, expect: &[Expect]) -> String {
    expect.iter().fold(check, |text, expect| text + "\n" + &canonical_expectation(expect))
}

fn canonical_expectation(expect: &Expect) -> String {
    match expect {
        Expect::Number { compare, value } => format!("{} {value}", compare.sign()),
        Expect::Matches { pattern } => pattern_text(pattern),
        Expect::MatchesNot { pattern } => format!("!{}", pattern_text(pattern)),
        Expect::Exit { code } => format!("exit {code}"),
        Expect::Status { code } => format!("status {code}"),
    }
}

/// Not [`TextPattern::written`], because ids depend on these exact bytes.
fn pattern_text(pattern: &TextPattern) -> String {
    match pattern.kind {
        PatternKind::Literal => format!("\"{}\"", pattern.source),
        PatternKind::Regex => format!("/{}/", pattern.source),
        PatternKind::RegexIgnoreCase => format!("/{}/i", pattern.source),
    }
}

/// Whether the id was made by [`base_id`] rather than by an author.
pub fn is_made(id: &str) -> bool {
    let base = id.split_once('-').map_or(id, |(base, _)| base);
    base.len() == 10 && base.bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it))
}
