//! Finds the files that checks name: programs, targets and scripts, files to compare with. Follows a Makefile, a
//! `package.json` and checker scripts a few levels deep; files that a check only reads are not included.

use std::collections::{BTreeMap, BTreeSet};

use super::linters::CheckLinters;
use super::shell::{INTERPRETERS, is_shell, script_argument, strip_wrappers};
use super::{
    CheckCommand, FileVersions, decides_verdict, doc_tests, file_name, is_golden, judging_scripts, language,
    recipes, shell,
};
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_text::tr;

/// Maximum depth of scripts that run scripts.
const DEPTH: u32 = 3;
/// Modules that are not part of a project.
const RUNNERS: &[&str] =
    &["unittest", "pytest", "nose2", "doctest", "coverage", "tox", "nox", "mypy", "ruff", "flake8", "pylint"];
/// Programs that run tasks by name, and the files that define these in code.
const TASK_FILES: &[(&[&str], &[&str])] = &[
    (&["rake"], &["rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"]),
    (&["inv", "invoke"], &["tasks.py"]),
    (&["doit"], &["dodo.py"]),
    (&["grunt"], &["Gruntfile.js", "Gruntfile.cjs", "Gruntfile.ts"]),
    (&["gulp"], &["gulpfile.js", "gulpfile.mjs", "gulpfile.cjs", "gulpfile.ts"]),
    (&["task", "go-task"], &["Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml"]),
    (&["ant"], &["build.xml"]),
];

/// What a file that a check names is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileRole {
    /// It is run; its name decides whether it judges.
    Program,
    /// It is run, and compares what the work returns with values, whatever its name.
    Comparison,
    /// It defines the tasks that a program runs by name, in code.
    Tasks,
    /// It is used for comparison, not run.
    Data,
}

/// How a check uses a file that it names.
#[derive(Debug, Clone)]
pub(super) struct CheckedFile {
    pub(super) criterion: CriterionId,
    /// Whether its exit code is the verdict.
    pub(super) by_exit: bool,
    pub(super) role: FileRole,
    /// Its targets or scripts that are run; empty: the whole file.
    pub(super) parts: Vec<String>,
    /// The file does not exist, and would be run instead of this one.
    pub(super) instead_of: Option<String>,
}

/// The files and linters that the command lines of the checks name.
pub(super) struct CheckScan {
    pub(super) files: BTreeMap<String, CheckedFile>,
    pub(super) linters: CheckLinters,
    /// Whether a check runs the examples in the documentation of Rust.
    pub(super) runs_doc_tests: bool,
}

pub(super) fn scan_checks(commands: &[CheckCommand], files: &dyn FileVersions) -> CheckScan {
    let search = search(commands, files);
    CheckScan {
        linters: CheckLinters::of_words(&search.words),
        runs_doc_tests: search.runs_doc_tests,
        files: search.found,
    }
}

/// The programs that the checks run by name, with those that these run in turn.
pub(super) fn find_programs(commands: &[CheckCommand], files: &dyn FileVersions) -> BTreeSet<String> {
    let mut programs = search(commands, files).programs;
    for (program, runs) in
        [("npm", "node"), ("npx", "node"), ("pnpm", "node"), ("yarn", "node"), ("cargo", "rustc")]
    {
        if programs.contains(program) {
            programs.insert(runs.to_owned());
        }
    }
    programs
}

fn search<'a>(commands: &[CheckCommand], files: &'a dyn FileVersions) -> CheckedFileSearch<'a> {
    let mut search = CheckedFileSearch {
        files,
        found: BTreeMap::new(),
        programs: BTreeSet::new(),
        words: BTreeSet::new(),
        runs_doc_tests: false,
        criterion: None,
    };
    for command in commands {
        search.criterion = Some(command.criterion.clone());
        search.scan_line(&command.line, command.by_exit, DEPTH);
    }
    search
}

struct CheckedFileSearch<'a> {
    files: &'a dyn FileVersions,
    found: BTreeMap<String, CheckedFile>,
    programs: BTreeSet<String>,
    /// All words of the command lines in lower case; of a path, its last part.
    words: BTreeSet<String>,
    runs_doc_tests: bool,
    criterion: Option<CriterionId>,
}

impl CheckedFileSearch<'_> {
    fn scan_line(&mut self, line: &str, by_exit: bool, depth: u32) {
        let mut folder = String::new();
        for words in shell::split_commands(line) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let words = strip_wrappers(&words);
            let Some((program, rest)) = words.split_first() else { continue };
            if *program == "cd" {
                folder = rest.first().map_or_else(String::new, |it| join_path(&folder, it));
                continue;
            }
            self.scan_command(&folder, (program, rest), by_exit, depth);
        }
    }

    fn scan_command(&mut self, folder: &str, (program, rest): (&str, &[&str]), by_exit: bool, depth: u32) {
        if depth == 0 {
            return;
        }
        let is_option = |it: &str| it.starts_with('-');
        let words = rest.iter().chain([&program]).map(|it| if is_option(it) { it } else { file_name(it) });
        let words = words.map(str::to_lowercase);
        self.words.extend(words);
        let tool = file_name(program);
        if tool == program {
            self.programs.insert(tool.to_owned());
        }
        self.runs_doc_tests |= tool == "cargo" && doc_tests::are_run_by(rest);
        if let Some(asked) = recipes::parse_query(tool, rest) {
            self.scan_recipe(folder, &asked, depth);
        } else if let Some((_, names)) = TASK_FILES.iter().find(|(programs, _)| programs.contains(&tool)) {
            self.add_task_file(folder, names, rest);
        } else if INTERPRETERS.contains(&tool) {
            if let Some(at) = rest.iter().position(|it| *it == "-c") {
                let line = rest.get(at + 1).copied().unwrap_or_default();
                return self.scan_line(line, by_exit, depth - 1);
            }
            if let Some(script) = script_argument(rest) {
                self.add_executed_file(&join_path(folder, &script), by_exit, depth);
            }
            self.add_shadowing_modules(folder, rest);
        } else if program.contains('/') {
            self.add_executed_file(&join_path(folder, program), by_exit, depth);
        }
        for word in rest.iter().filter(|it| is_golden(it)) {
            self.add(&join_path(folder, word), CheckedFile { role: FileRole::Data, ..self.plain(false) });
        }
    }

    /// The file counts if it defines one of the tasks already: a new task is the work.
    fn add_task_file(&mut self, folder: &str, names: &[&str], rest: &[&str]) {
        let paths = names.iter().map(|it| join_path(folder, it));
        let found = paths.into_iter().find_map(|it| Some((self.files.read_before(&it)?, it)));
        let Some((text, path)) = found else { return };
        let mut tasks: Vec<&str> = rest.iter().copied().filter(|it| !it.starts_with('-')).collect();
        if tasks.is_empty() {
            tasks.push("default");
        }
        let is_word = |it: char| it.is_alphanumeric() || it == '_';
        let defines = |task: &str| {
            let name = task.rsplit(':').next().unwrap_or(task).split(['[', '.']).next().unwrap_or(task);
            text.split(|it| !is_word(it)).any(|it| it == name)
        };
        if tasks.iter().any(|it| defines(it)) {
            self.add(&path, CheckedFile { role: FileRole::Tasks, ..self.plain(false) });
        }
    }

    /// Python searches the folder for a module first.
    fn add_shadowing_modules(&mut self, folder: &str, rest: &[&str]) {
        let asked = rest.iter().position(|it| *it == "-m").and_then(|at| rest.get(at + 1));
        let Some(module) = asked.filter(|it| RUNNERS.contains(it)) else { return };
        for file in [".py", "/__init__.py", "/__main__.py"] {
            let path = join_path(folder, &format!("{module}{file}"));
            if self.files.read_before(&path).is_none() {
                let instead_of = Some(tr!("the module `{module}`", module));
                self.add(&path, CheckedFile { instead_of, ..self.plain(true) });
            }
        }
    }

    fn add_executed_file(&mut self, path: &str, by_exit: bool, depth: u32) {
        let Some(text) = self.files.read_before(path) else { return };
        let known = self.found.contains_key(path);
        let exists = |it: &str| it != path && self.files.existed_before(it);
        let compares = judging_scripts::compares_work(path, &text, &exists);
        let role = if compares { FileRole::Comparison } else { FileRole::Program };
        self.add(path, CheckedFile { role, ..self.plain(by_exit) });
        if is_shell(path, &text) {
            for file in judging_scripts::expected_rows(&text) {
                let file = join_path("", file);
                if language(&file).is_none() && exists(&file) {
                    self.add(&file, CheckedFile { role: FileRole::Data, ..self.plain(false) });
                }
            }
        }
        if known || !decides_verdict(path) || !is_shell(path, &text) {
            return;
        }
        // A checker mostly runs the work that it checks: only files named like checkers count.
        for line in text.lines().filter(|it| !it.trim_start().starts_with('#')) {
            self.scan_line(line, false, depth - 1);
        }
    }

    fn scan_recipe(&mut self, folder: &str, asked: &recipes::RecipeQuery, depth: u32) {
        let paths = asked.files.iter().map(|it| join_path(&join_path(folder, &asked.folder), it));
        let paths: Vec<String> = paths.collect();
        let Some((path, text)) = paths.iter().find_map(|it| Some((it.clone(), self.files.read_before(it)?)))
        else {
            return;
        };
        for it in paths.iter().take_while(|it| **it != path) {
            self.add(it, CheckedFile { instead_of: Some(path.clone()), ..self.plain(true) });
        }
        let parts =
            if asked.parts.is_empty() { recipes::default_parts(&path, &text) } else { asked.parts.clone() };
        for target in recipes::targets_without_file(&path, &parts, &text) {
            let file = join_path(&join_path(folder, &asked.folder), &target);
            if !self.files.existed_before(&file) {
                let instead_of = Some(tr!("the target `{target}`", target));
                self.add(&file, CheckedFile { instead_of, ..self.plain(true) });
            }
        }
        let lines = recipes::recipe_commands(&path, &parts, &text);
        if lines.is_empty() {
            return;
        }
        // Scripts that run others of the same file are followed where they are compared.
        let followed = recipes::recipe_kind(&path) == Some(recipes::RecipeKind::Scripts) && depth < DEPTH;
        if !(followed && self.found.contains_key(&path)) {
            self.add(&path, CheckedFile { parts, ..self.plain(true) });
        }
        for line in lines {
            self.scan_line(&line, true, depth - 1);
        }
    }

    fn plain(&self, by_exit: bool) -> CheckedFile {
        let criterion = self.criterion.clone().unwrap_or_else(|| CriterionId(String::new()));
        CheckedFile { criterion, by_exit, role: FileRole::Program, parts: Vec::new(), instead_of: None }
    }

    fn add(&mut self, path: &str, named: CheckedFile) {
        match self.found.get_mut(path) {
            Some(known) => {
                known.by_exit |= named.by_exit;
                known.parts.extend(named.parts);
            }
            None => drop(self.found.insert(path.to_owned(), named)),
        }
    }
}

/// A path below the root; a path that leads out of it matches nothing.
pub(super) fn join_path(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')).filter(|it| !it.is_empty() && *it != ".") {
        if part == ".." && parts.last().is_some_and(|it| *it != "..") {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}
