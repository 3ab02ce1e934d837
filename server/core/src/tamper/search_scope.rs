//! Detects files that leave what a `lacks` check reads while they keep the text that it forbids: links out of the work
//! tree, which are not read, and files that move out of the globs.

use std::collections::{BTreeMap, BTreeSet, HashSet};

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
        // A link in place of a folder hides the files below it that the check read.
        let read = changed.iter().filter(|it| self.globs.is_match(it));
        let read_folders: HashSet<&str> = read.flat_map(|it| ancestors(it)).collect();
        let is_read = |it: &str| self.globs.is_match(it) || read_folders.contains(it);
        let links = changed.iter().filter(|it| is_read(it) && files.leads_out(it));
        let link = |path: &&str| {
            self.finding(
                path,
                tr!("{path} is a link out of the work tree, where `lacks` reads nothing", path),
            )
        };
        links.map(link).chain(self.find_moved(changed, files)).collect()
    }

    fn find_moved(&self, changed: &[&str], files: &dyn FileVersions) -> Vec<WeakeningFinding> {
        let Some(pattern) = compile_pattern(&self.pattern) else { return Vec::new() };
        let contains = |text: Option<String>| text.is_some_and(|it| pattern.is_match(&it));
        let lines = self.find_moved_lines(&pattern, changed, files);
        let is_gone = |it: &&&str| self.globs.is_match(it) && !files.exists(it);
        let gone = changed.iter().filter(is_gone).take(MAX_READ);
        let gone: Vec<&str> = gone.copied().filter(|it| contains(files.read_before(it))).collect();
        if gone.is_empty() {
            return lines;
        }
        let is_new = |it: &&&str| !self.globs.is_match(it) && files.exists(it) && !files.existed_before(it);
        let new = changed.iter().filter(is_new).take(MAX_READ);
        let moved = new.filter_map(|path| {
            let old = gone.iter().find(|it| is_similar(it, path))?;
            let what = || {
                let pattern = self.pattern.written();
                tr!("{path} contains {pattern} and replaces {old}, which `lacks` read", path, pattern, old)
            };
            contains(files.read_after(path)).then(|| self.finding(path, what()))
        });
        let mut moved: Vec<WeakeningFinding> = moved.collect();
        let is_known =
            |it: &WeakeningFinding, all: &[WeakeningFinding]| all.iter().any(|known| known.path == it.path);
        let more: Vec<WeakeningFinding> = lines.into_iter().filter(|it| !is_known(it, &moved)).collect();
        moved.extend(more);
        moved
    }

    /// Files outside the globs that gained a line which the check found, while the files that it reads lost it.
    fn find_moved_lines(
        &self,
        pattern: &Regex,
        changed: &[&str],
        files: &dyn FileVersions,
    ) -> Vec<WeakeningFinding> {
        let (read, unread): (Vec<&str>, Vec<&str>) =
            changed.iter().copied().take(MAX_READ).partition(|it| self.globs.is_match(it));
        let found = |text: Option<String>| -> BTreeSet<String> {
            let text = text.unwrap_or_default();
            text.lines().map(str::trim).filter(|it| pattern.is_match(it)).map(str::to_owned).collect()
        };
        let mut lost = BTreeMap::new();
        for path in &read {
            lost.extend(found(files.read_before(path)).into_iter().map(|line| (line, *path)));
        }
        for line in read.iter().flat_map(|it| found(files.read_after(it))) {
            lost.remove(&line);
        }
        let gained = unread.into_iter().filter(|_| !lost.is_empty()).filter_map(|path| {
            let before = found(files.read_before(path));
            let after = found(files.read_after(path));
            let (_, old) = lost.iter().find(|(line, _)| after.contains(*line) && !before.contains(*line))?;
            let pattern = self.pattern.written();
            let what = tr!(
                "{path} has the line of {old} with {pattern}, and `lacks` does not read it",
                path,
                old,
                pattern
            );
            Some(self.finding(path, what))
        });
        gained.collect()
    }

    fn finding(&self, path: &str, what: String) -> WeakeningFinding {
        WeakeningFinding { path: path.to_owned(), what, criterion: Some(self.criterion.clone()) }
    }
}

/// The folders above a path.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}

/// Compiles the pattern as the check itself does.
fn compile_pattern(pattern: &TextPattern) -> Option<Regex> {
    let is_literal = pattern.kind == PatternKind::Literal;
    let written = if is_literal { regex::escape(&pattern.source) } else { pattern.source.clone() };
    RegexBuilder::new(&written)
        .multi_line(true)
        .crlf(!is_literal)
        .case_insensitive(pattern.kind == PatternKind::RegexIgnoreCase)
        .build()
        .ok()
}

/// Whether two files have the same extension, or the same name up to the extension.
fn is_similar(a: &str, b: &str) -> bool {
    let parts = |path| file_name(path).split_once('.').unwrap_or((file_name(path), ""));
    let (a, b) = (parts(a), parts(b));
    a.1 == b.1 || a.0 == b.0
}
