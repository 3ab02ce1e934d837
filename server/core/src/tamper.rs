//! Detects weakened tests, files under `criteria.protected` and scripts that checks name, by comparing the pinned
//! start with the current files. Text in, sentences out: files are read, and consequences decided, elsewhere.
//!
//! In tests only a loss counts: additions, renames and moves are allowed. In files that produce a verdict (a check's
//! script, a target of its Makefile, golden files) every change counts.

mod check_files;
mod doc_tests;
mod failing_paths;
pub mod judge_files;
mod judge_programs;
mod judging_scripts;
mod linters;
mod mixed_files;
mod recipes;
mod runner_exits;
mod search_scope;
mod setup_inputs;
mod shadowed_imports;
mod shadowing_files;
mod shell;
mod suppressions;
mod test_evasion;
mod test_readers;
#[cfg(test)]
mod tests;
mod type_escapes;

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::OnceLock;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use self::check_files::{CheckScan, CheckedFile, FileRole};
use self::search_scope::AbsenceCheck;
use self::shadowed_imports::TestFileVersions;
use loopkeeper_source::test_inventory::{
    TestInventory, TestLanguage, find_additions, inventory, is_test_path, language, test_loss,
};
use loopkeeper_task::criterion::{Check, Criterion, CriterionId, Expect};
use loopkeeper_text::clauses::join_with_commas;
use loopkeeper_text::pattern::ConstantPattern;
use loopkeeper_text::tr;

/// Maximum number of files that are read; those that checks name come first.
pub(crate) const MAX_FILES: usize = 200;
/// Maximum size of a file that is compared.
pub const MAX_BYTES: usize = 1024 * 1024;

/// The watched files, as the loop pinned them.
#[derive(Debug, Clone, Default)]
pub struct ProtectionRules {
    commands: Vec<CheckCommand>,
    absences: Vec<AbsenceCheck>,
    /// Paths that the command of the judge names.
    judge_programs: Vec<String>,
    /// Paths that are protected literally: a matcher, even of plain names, is expensive to build.
    paths: Vec<String>,
    globs: Vec<String>,
    /// Built on the first query: most scans of the tree have no candidate.
    protected: OnceLock<GlobSet>,
    /// Paths that the task allows to change.
    allowed: GlobSet,
    artefacts: BTreeSet<String>,
    /// Files that only tests use, although nothing in their path says so.
    test_support: BTreeSet<String>,
    /// Files that the configuration of a runner or linter reads.
    setup_inputs: BTreeSet<String>,
}

/// A check that runs a command.
#[derive(Debug, Clone)]
struct CheckCommand {
    criterion: CriterionId,
    line: String,
    /// The exit code of its command is the verdict; otherwise the output is judged.
    by_exit: bool,
}

/// The contents of a file. `None`: missing, too long, or not text.
pub trait FileVersions {
    fn read_before(&self, path: &str) -> Option<String>;
    fn read_after(&self, path: &str) -> Option<String>;
    /// Whether the file exists now, with any contents.
    fn exists(&self, path: &str) -> bool;
    /// Whether the file existed before, with any contents.
    fn existed_before(&self, path: &str) -> bool {
        self.read_before(path).is_some()
    }
    /// Whether the file is now a link that leads out of the tree, or to nothing.
    fn leads_out(&self, _path: &str) -> bool {
        false
    }
}

/// One weakening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeakeningFinding {
    pub path: String,
    /// `tests/test_sum.py lost 2 tests`
    pub what: String,
    /// The check that names it.
    pub criterion: Option<CriterionId>,
}

impl ProtectionRules {
    /// `artefacts`: files that the checks themselves write.
    pub fn new(criteria: &[&Criterion], protected: &[String], artefacts: &BTreeSet<String>) -> Self {
        let commands = criteria.iter().filter_map(|it| match &it.check {
            Some(Check::Command { command, expect }) => Some(CheckCommand {
                criterion: it.id.clone(),
                line: command.clone(),
                by_exit: expect.iter().all(|it| matches!(it, Expect::Exit { .. })),
            }),
            _ => None,
        });
        let (globs, paths): (Vec<_>, Vec<_>) = protected.iter().cloned().partition(|it| is_glob(it));
        Self {
            commands: commands.collect(),
            absences: criteria.iter().filter_map(|it| AbsenceCheck::of_criterion(it)).collect(),
            judge_programs: Vec::new(),
            paths,
            globs,
            protected: OnceLock::new(),
            allowed: GlobSet::empty(),
            artefacts: artefacts.clone(),
            test_support: BTreeSet::new(),
            setup_inputs: BTreeSet::new(),
        }
    }

    /// Changes of files at or below a match of these globs are not a weakening.
    #[must_use]
    pub fn allowing(self, globs: &[String]) -> Self {
        Self { allowed: glob_set(globs), ..self }
    }

    /// The files below `root` that the command of a judge runs may not change.
    #[must_use]
    pub fn judged_by(self, argv: &[String], root: &str) -> Self {
        Self { judge_programs: judge_programs::paths_of_command(argv, root), ..self }
    }

    /// These files judge the work: only tests use them.
    #[must_use]
    pub fn with_test_support(self, paths: Vec<String>) -> Self {
        Self { test_support: paths.into_iter().collect(), ..self }
    }

    /// These files judge the work: the configuration of a runner or linter reads them.
    #[must_use]
    pub fn with_setup_inputs(self, paths: Vec<String>) -> Self {
        Self { setup_inputs: paths.into_iter().collect(), ..self }
    }

    fn runs_for_judge(&self, path: &str) -> bool {
        self.judge_programs.iter().any(|it| it == path)
    }

    /// Whether a check writes the file.
    pub fn is_artefact(&self, path: &str) -> bool {
        self.artefacts.contains(path)
    }

    /// Whether the task allows the file to change.
    pub fn is_allowed(&self, path: &str) -> bool {
        let ancestors = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        !self.allowed.is_empty() && ancestors.chain([path]).any(|it| self.allowed.is_match(it))
    }

    fn is_protected(&self, path: &str) -> bool {
        self.paths.iter().any(|it| it == path)
            || self.protected.get_or_init(|| glob_set(&self.globs)).is_match(path)
    }

    /// Whether a change of the file could be a weakening: worth reading it for.
    pub fn is_relevant(&self, path: &str) -> bool {
        self.is_compared(path) || self.may_leave_search(path)
    }

    fn is_compared(&self, path: &str) -> bool {
        self.is_watched(path)
            || (linters::may_have_directives(path)
                && !self.artefacts.contains(path)
                && !self.is_allowed(path))
    }

    fn may_leave_search(&self, path: &str) -> bool {
        !self.absences.is_empty() && !self.artefacts.contains(path) && !self.is_allowed(path)
    }

    /// Whether an edit by the user is one of a watched file, or of the directives in a source.
    pub fn is_relevant_edit(&self, path: &str, files: &dyn FileVersions) -> bool {
        self.is_watched(path)
            || self.may_leave_search(path)
            || (self.is_compared(path) && linters::differ_in_directives(path, files))
    }

    fn is_watched(&self, path: &str) -> bool {
        !self.artefacts.contains(path)
            && !self.is_allowed(path)
            && (self.is_protected(path)
                || self.runs_for_judge(path)
                || language(path).is_some()
                || is_test_path(path)
                || is_recipe(path)
                || is_golden(path)
                || file_name(path) == ".npmrc"
                || transforms_sources(path)
                || may_be_input(path)
                || self.commands.iter().any(|it| it.line.contains(file_name(path))))
    }

    /// The weakenings among the changed paths.
    pub fn find_weakenings(&self, changed: &[String], files: &dyn FileVersions) -> Vec<WeakeningFinding> {
        let unread = self.find_unread(changed, files);
        let relevant: Vec<String> = changed.iter().filter(|it| self.is_compared(it)).cloned().collect();
        if relevant.is_empty() {
            return unread;
        }
        let mut paths: Vec<&str> = relevant.iter().map(String::as_str).collect();
        let CheckScan { files: named, linters, runs_doc_tests } =
            check_files::scan_checks(&self.commands, files);
        paths.sort_by_key(|it| (!named.contains_key(*it), !self.is_protected(it), !is_test_path(it)));
        paths.truncate(MAX_FILES);
        let comparison = TamperComparison {
            watch: self,
            files,
            named,
            moved: moved_tests(&paths, files),
            changed: &paths,
        };
        let mut found: Vec<WeakeningFinding> =
            paths.iter().filter_map(|it| comparison.compare_file(it)).collect();
        let suppressions = suppressions::find_suppressions(&linters, &relevant, files);
        let is_new = |it: &WeakeningFinding| found.iter().all(|known| known.path != it.path);
        let escapes = type_escapes::find_escapes(&linters, &relevant, files);
        let readers = test_readers::find_test_readers(&relevant, files);
        let examples = if runs_doc_tests { doc_tests::find_losses(&relevant, files) } else { Vec::new() };
        let more = suppressions.into_iter().chain(escapes).chain(readers).chain(examples).chain(unread);
        let more: Vec<WeakeningFinding> = more.filter(is_new).collect();
        found.extend(more);
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    }

    fn find_unread(&self, changed: &[String], files: &dyn FileVersions) -> Vec<WeakeningFinding> {
        let changed = changed.iter().filter(|it| self.may_leave_search(it)).map(String::as_str);
        let changed: Vec<&str> = changed.collect();
        self.absences.iter().flat_map(|it| it.find_unread(&changed, files)).collect()
    }
}

fn glob_set(globs: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        if let Ok(glob) = GlobBuilder::new(glob.trim_end_matches('/')).literal_separator(true).build() {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}

/// Tests in a file that did not exist before.
fn moved_tests(paths: &[&str], files: &dyn FileVersions) -> TestInventory {
    let of = |path: &&str| {
        let after = inventory(path, &files.read_after(path)?);
        let before = files.read_before(path).map_or_else(TestInventory::default, |it| inventory(path, &it));
        Some(find_additions(&before, &after))
    };
    let mut all = TestInventory::default();
    for moved in paths.iter().filter_map(of) {
        all.tests.extend(moved.tests);
        all.rows.extend(moved.rows);
    }
    all
}

struct TamperComparison<'a> {
    watch: &'a ProtectionRules,
    files: &'a dyn FileVersions,
    named: BTreeMap<String, CheckedFile>,
    moved: TestInventory,
    changed: &'a [&'a str],
}

impl TamperComparison<'_> {
    fn compare_file(&self, path: &str) -> Option<WeakeningFinding> {
        let named = self.named.get(path);
        let what = match self.files.read_before(path) {
            Some(before) => self.describe_loss(path, &before, named)?,
            None => self.describe_gain(path, named)?,
        };
        let criterion = named.map(|it| it.criterion.clone());
        Some(WeakeningFinding { path: path.to_owned(), what: tr!("{path} {what}", path, what), criterion })
    }

    /// Describes the weakening by a new file.
    fn describe_gain(&self, path: &str, named: Option<&CheckedFile>) -> Option<String> {
        let after = self.files.read_after(path)?;
        let instead = named.and_then(|it| it.instead_of.as_ref());
        let instead = instead.map(|it| tr!("takes the place of {replaced}", replaced = it));
        instead.or_else(|| find_new_hooks(path, "", &after))
    }

    /// Describes the weakening by a change or removal of a file.
    fn describe_loss(&self, path: &str, before: &str, named: Option<&CheckedFile>) -> Option<String> {
        let after = self.files.read_after(path);
        if after.is_none() && self.files.exists(path) {
            // Now too long, or no longer text: no comparison is possible.
            return None;
        }
        let text = after.as_deref().unwrap_or_default();
        if self.watch.runs_for_judge(path) && code_differs(path, before, text) {
            return Some(tr!("was changed, and the judge runs it").to_owned());
        }
        if let Some(parts) = named.map(|it| &it.parts).filter(|it| !it.is_empty()) {
            return recipes::describe_change(path, parts, before, text);
        }
        let protected = self.watch.is_protected(path);
        let old = inventory(path, before);
        let of_assertions = named.is_some_and(|it| it.role == FileRole::Comparison)
            && !decides_verdict(path)
            && !old.loose.is_empty();
        if is_tests(path, &old) || (of_assertions && language(path) != Some(TestLanguage::Shell)) {
            let loss = test_loss(&old, &inventory(path, text), &self.moved);
            let own = TestFileVersions { path, before, after: text, old: &old }
                .describe_shadowing(self.files, self.changed);
            let all = [loss.any().then(|| loss.words()), own];
            let all: Vec<String> = all.into_iter().flatten().collect();
            return if all.is_empty() {
                find_new_hooks(path, before, text)
            } else {
                Some(join_with_commas(all))
            };
        }
        let judges = named.is_some_and(|it| it.role == FileRole::Comparison || decides_verdict(path));
        if named.is_some_and(|it| it.by_exit)
            && !judges
            && after.is_some()
            && let Some(what) = failing_paths::describe_loss(path, before, text)
        {
            return Some(what);
        }
        let supports = self.watch.test_support.contains(path);
        if !(judges || protected || supports || named.is_some_and(|it| it.role == FileRole::Data)) {
            return find_new_hooks(path, before, text);
        }
        if after.is_none() {
            return Some(tr!("was deleted").to_owned());
        }
        let whole = judges || language(path).is_none_or(|it| it == TestLanguage::Shell);
        let weaker = if whole { code_differs(path, before, text) } else { lacks_lines(path, before, text) };
        if weaker { Some(tr!("was changed").to_owned()) } else { find_new_hooks(path, before, text) }
    }
}

/// Whether the file consists of tests, which may be added. A shell script may exit anywhere, so it is compared as a
/// script.
fn is_tests(path: &str, inventory: &TestInventory) -> bool {
    let script = language(path) == Some(TestLanguage::Shell)
        && file_name(path).rsplit_once('.').is_none_or(|(_, it)| it != "bats");
    !script && (!inventory.tests.is_empty() || (is_test_path(path) && !inventory.loose.is_empty()))
}

/// Whether a file that a check runs is a checker, by its name; otherwise it is the work itself.
fn decides_verdict(path: &str) -> bool {
    static CHECKER: ConstantPattern = ConstantPattern::new(
        r"(?i)(?:^|[/._-])(?:tests?|specs?|checks?|checker|verify|verifier|validate|validator|validation|lint|ci|accept|acceptance|assert|smoke|suite|gates?|e2e|grade|grader|judge|qa|audit|bench|benchmark|count|counter|coverage|eval|evaluate|measure|metrics?|score)(?:[/._-]|$)",
    );
    CHECKER.is_match(path) || is_test_path(path)
}

/// Whether the code differs; comments and indentation are ignored in sources.
fn code_differs(path: &str, before: &str, after: &str) -> bool {
    if language(path).is_none() && !before.starts_with("#!") {
        return before != after;
    }
    code_lines(before) != code_lines(after)
}

fn code_lines(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim);
    lines.filter(|it| !it.is_empty() && (!it.starts_with('#') || it.starts_with("#!"))).collect()
}

/// Whether a helper of tests lacks lines that it had; additions are allowed.
fn lacks_lines(path: &str, before: &str, after: &str) -> bool {
    code_differs(path, before, after) && {
        let mut remaining: HashMap<&str, usize> = HashMap::new();
        for line in code_lines(after) {
            *remaining.entry(line).or_default() += 1;
        }
        code_lines(before).into_iter().any(|line| !take_one(&mut remaining, line))
    }
}

/// Takes one of the counted lines; `false` if none is left.
fn take_one<K: Borrow<str> + Eq + Hash>(counts: &mut HashMap<K, usize>, line: &str) -> bool {
    let left = counts.get_mut(line).filter(|it| **it > 0);
    left.map(|it| *it -= 1).is_some()
}

/// Describes new code, in any file, that hides failures of a runner.
fn find_new_hooks(path: &str, before: &str, after: &str) -> Option<String> {
    find_hook(path, before, after)
        .or_else(|| test_evasion::find_evasion(path, before, after))
        .or_else(|| runner_exits::describe(path, before, after))
}

fn find_hook(path: &str, before: &str, after: &str) -> Option<String> {
    static HOOK: ConstantPattern = ConstantPattern::new(
        r"\bpytest_(?:runtest_makereport|runtest_protocol|cmdline_main|itemcollected|deselected|collection_modifyitems|ignore_collect|sessionfinish|pyfunc_call|report_teststatus)\b|\bcollect_ignore|\bos\._exit\(\s*0",
    );
    static SHELL: ConstantPattern = ConstantPattern::new(r"(?m)^\s*(?:script-shell|node-options)\s*=");
    static TRANSFORM: ConstantPattern = ConstantPattern::new(
        r#"\bvisitor\b|\b(?:plugins|presets)["']?\s*:\s*\[[^\]]*["']\.{1,2}/|\btransform(?:IndexHtml)?\s*[(:]"#,
    );
    if transforms_sources(path) {
        let hooked = TRANSFORM.is_match(after) && !TRANSFORM.is_match(before);
        return hooked.then(|| tr!("transforms the sources that the tests run").to_owned());
    }
    let hook: &ConstantPattern = match file_name(path) {
        "conftest.py" | "sitecustomize.py" | "usercustomize.py" => &HOOK,
        ".npmrc" => &SHELL,
        _ => return None,
    };
    let hooked = hook.is_match(after) && !hook.is_match(before);
    hooked.then(|| tr!("changes what the test runner reports").to_owned())
}

/// Whether the file configures a compiler between sources and their tests.
fn transforms_sources(path: &str) -> bool {
    ["babel.config.", ".babelrc", "vite.config."].iter().any(|it| file_name(path).starts_with(it))
}

/// Whether a script or a configuration may read the file: what it is used for is known once these are read.
fn may_be_input(path: &str) -> bool {
    const EXTENSIONS: [&str; 12] =
        ["txt", "csv", "tsv", "dat", "json", "jsonc", "toml", "yaml", "yml", "xml", "ini", "cfg"];
    file_name(path).rsplit_once('.').is_some_and(|(_, it)| EXTENSIONS.contains(&it))
}

/// Whether the path names data that results are compared with.
pub(crate) fn is_golden(path: &str) -> bool {
    static GOLDEN: ConstantPattern = ConstantPattern::new(
        r"(?i)(?:^|[/._-])(?:expected|golden|snapshots?|snap|approved|reference|fixtures?)(?:[/._-]|$)",
    );
    // Cheap pre-check: each of the words contains one of these, and compiling a pattern is expensive.
    let lower = path.to_lowercase();
    let may_be =
        !path.is_ascii() || ["ect", "old", "nap", "pro", "ref", "fix"].iter().any(|it| lower.contains(it));
    may_be && GOLDEN.is_match(path)
}

/// Whether the text is a pattern, not a plain path.
fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', ']', '{', '}', '\\'])
}

fn is_recipe(path: &str) -> bool {
    recipes::recipe_kind(path).is_some()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}
