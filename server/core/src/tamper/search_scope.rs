//! Detects files that leave what a `lacks` check reads while they keep the text that it forbids: links out of the work
//! tree, which are not read, and files that move out of the globs.

use globset::GlobSet;
use regex::{Regex, RegexBuilder};

use super::{FileVersions, WeakeningFinding, file_name, glob_set};
use loopkeeper_task::criterion::{Check, Criterion, CriterionId, PatternKind, TextPattern};
use loopkeeper_text::tr;

/// Maximum number of changed files that are read for one check.
const MAX_READ: usize = 2000;

/// A `lacks` check.
#[derive(Debug, Clone)]
pub(super) struct AbsenceCheck {
    criterion: CriterionId,
    pattern: TextPattern,
    globs: GlobSet,
}

impl AbsenceCheck {
    pub(super) fn of_criterion(criterion: &Criterion) -> Option<Self> {
        let Some(Check::Lacks { pattern, globs }) = &criterion.check else { return None };
        let (criterion, pattern) = (criterion.id.clone(), pattern.clone());
        Some(Self { criterion, pattern, globs: glob_set(globs) })
    }

    /// The changed files that the check no longer reads although they are still in use.
    pub(super) fn find_unread(&self, changed: &[&str], files: &dyn FileVersions) -> Vec<WeakeningFinding> {
        let links = changed.iter().filter(|it| self.reads_at_or_below(it, changed) && files.leads_out(it));
        let link = |path: &&str| {
            self.finding(
                path,
                tr!("{path} is a link out of the work tree, where `lacks` reads nothing", path),
            )
        };
        links.map(link).chain(self.find_moved(changed, files)).collect()
    }

    /// Whether a link at this path hides files that the check read.
    fn reads_at_or_below(&self, path: &str, changed: &[&str]) -> bool {
        let is_below = |it: &&&str| it.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        self.globs.is_match(path) || changed.iter().filter(is_below).any(|it| self.globs.is_match(it))
    }

    fn find_moved(&self, changed: &[&str], files: &dyn FileVersions) -> Vec<WeakeningFinding> {
        let Some(pattern) = regex(&self.pattern) else { return Vec::new() };
        let contains = |text: Option<String>| text.is_some_and(|it| pattern.is_match(&it));
        let is_gone = |it: &&&str| self.globs.is_match(it) && !files.exists(it);
        let gone = changed.iter().filter(is_gone).take(MAX_READ);
        let gone: Vec<&str> = gone.copied().filter(|it| contains(files.read_before(it))).collect();
        if gone.is_empty() {
            return Vec::new();
        }
        let is_new = |it: &&&str| !self.globs.is_match(it) && files.exists(it) && !files.existed(it);
        let new = changed.iter().filter(is_new).take(MAX_READ);
        let moved = new.filter_map(|path| {
            let old = gone.iter().find(|it| is_similar(it, path))?;
            let what = || {
                let pattern = self.pattern.written();
                tr!("{path} contains {pattern} and replaces {old}, which `lacks` read", path, pattern, old)
            };
            contains(files.read_after(path)).then(|| self.finding(path, what()))
        });
        moved.collect()
    }

    fn finding(&self, path: &str, what: String) -> WeakeningFinding {
        WeakeningFinding { path: path.to_owned(), what, criterion: Some(self.criterion.clone()) }
    }
}

/// As the check itself reads it.
fn regex(pattern: &TextPattern) -> Option<Regex> {
    let is_literal = pattern.kind == PatternKind::Literal;
    let written = if is_literal { regex::escape(&pattern.source) } else { pattern.source.clone() };
    RegexBuilder::new(&written)
        .multi_line(true)
        .crlf(!is_literal)
        .case_insensitive(pattern.kind == PatternKind::RegexIgnoreCase)
        .build()
        .ok()
}

/// Whether two files are of one kind, or have one name but for its end.
fn is_similar(a: &str, b: &str) -> bool {
    let parts = |path| file_name(path).split_once('.').unwrap_or((file_name(path), ""));
    let (a, b) = (parts(a), parts(b));
    a.1 == b.1 || a.0 == b.0
}
