//! Recognises scripts that judge the work by their text: they run another file of the project and compare its output,
//! or consist of assertions. Their name says nothing about it.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::shell::{INTERPRETERS, is_shell, script_argument, split_commands, strip_wrappers};
use super::{TestLanguage, file_name, is_golden, language};
use loopkeeper_text::pattern::ConstantPattern;

/// Whether the script compares what the work returns. `exists`: whether the tree has another file of this path.
pub(super) fn compares_work(path: &str, text: &str, exists: &dyn Fn(&str) -> bool) -> bool {
    match language(path) {
        Some(TestLanguage::Python) => asserts_mostly(text, "#", &PYTHON_ASSERTION, &PYTHON_SETUP),
        Some(TestLanguage::Script) => asserts_mostly(text, "//", &SCRIPT_ASSERTION, &SCRIPT_SETUP),
        Some(TestLanguage::Shell) | None if is_shell(path, text) => compares_output(text, exists),
        _ => false,
    }
}

static PYTHON_ASSERTION: ConstantPattern = ConstantPattern::new(r"^assert\b.*\(");
static PYTHON_SETUP: ConstantPattern = ConstantPattern::new(r#"^(?:import|from)\s|^["')\]}@]|^print\("#);
static SCRIPT_ASSERTION: ConstantPattern = ConstantPattern::new(r"^assert\b(?:\.\w+)*\(");
static SCRIPT_SETUP: ConstantPattern =
    ConstantPattern::new(r#"^import\s|^(?:const|let|var)\s.*\brequire\(|^["')\]}]|^console\.log\("#);

/// Whether at least half of the statements at the top level assert something, apart from imports and messages.
fn asserts_mostly(text: &str, comment: &str, assertion: &ConstantPattern, setup: &ConstantPattern) -> bool {
    let is_statement =
        |it: &&str| !it.is_empty() && !it.starts_with([' ', '\t']) && !it.starts_with(['#', '/', '*']);
    let statements = text.lines().filter(is_statement).filter(|it| !it.starts_with(comment));
    let (mut asserted, mut others) = (0usize, 0usize);
    for line in statements.filter(|it| !setup.is_match(it)) {
        if assertion.is_match(line) { asserted += 1 } else { others += 1 }
    }
    asserted > 0 && asserted >= others
}

/// Whether a test of the script reads the output of another file of the project, or compares with expected output.
fn compares_output(text: &str, exists: &dyn Fn(&str) -> bool) -> bool {
    static OUTPUT: ConstantPattern =
        ConstantPattern::new(r#"(?:(?:^|[\s;])(?P<name>[A-Za-z_]\w*)="?)?\$\((?P<command>[^()]+)\)"#);
    static TEST: ConstantPattern = ConstantPattern::new(
        r"(?:^|[;&|{(]\s*|\b(?:if|elif|while|until|then|do)\s+(?:!\s*)?|!\s*)(?:\[\[?|test)\s",
    );
    let mut outputs: BTreeSet<&str> = BTreeSet::new();
    for line in text.lines().map(str::trim).filter(|it| !it.starts_with('#')) {
        let is_test = TEST.is_match(line);
        if compares_files(line) || (is_test && variables(line).any(|it| outputs.contains(it))) {
            return true;
        }
        for found in OUTPUT.captures_iter(line) {
            let runs_work = found.name("command").is_some_and(|it| runs_file(it.as_str(), exists));
            match found.name("name") {
                _ if !runs_work => {}
                Some(name) => drop(outputs.insert(name.as_str())),
                None if is_test => return true,
                None => {}
            }
        }
    }
    false
}

/// The files whose rows a loop of a shell script reads, and compares one of the columns: expected results.
pub(super) fn expected_rows(text: &str) -> Vec<&str> {
    static READ: ConstantPattern =
        ConstantPattern::new(r"\bwhile\b.*\bread\s+(?:-\w+\s+)*(?P<names>\w+(?:\s+\w+)*)");
    static INPUT: ConstantPattern = ConstantPattern::new(r#"^done\s*<\s*["']?(?P<file>[\w./-]+)"#);
    static COMPARISON: ConstantPattern = ConstantPattern::new(r"(?:\[\[?|\btest)\s.*\s(?:==?|!=|-eq|-ne)\s");
    let (mut columns, mut is_compared, mut found) = (Vec::new(), false, Vec::new());
    for line in text.lines().map(str::trim).filter(|it| !it.starts_with('#')) {
        if let Some(names) = READ.captures(line).and_then(|it| it.name("names")) {
            columns = names.as_str().split_whitespace().collect();
            is_compared = false;
        }
        is_compared |= COMPARISON.is_match(line) && variables(line).any(|it| columns.contains(&it));
        if let Some(file) = INPUT.captures(line).and_then(|it| it.name("file"))
            && std::mem::take(&mut is_compared)
        {
            found.push(file.as_str());
        }
    }
    found
}

/// The variables that a line reads.
fn variables(line: &str) -> impl Iterator<Item = &str> {
    line.split('$').skip(1).map(|it| {
        let name = it.strip_prefix('{').unwrap_or(it);
        let end = name.find(|it: char| !it.is_ascii_alphanumeric() && it != '_').unwrap_or(name.len());
        name.get(..end).unwrap_or_default()
    })
}

/// Whether the command runs a file of the tree.
fn runs_file(command: &str, exists: &dyn Fn(&str) -> bool) -> bool {
    split_commands(command).iter().any(|words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some((program, rest)) = strip_wrappers(&words).split_first() else { return false };
        let script = if INTERPRETERS.contains(&file_name(program)) { script_argument(rest) } else { None };
        let file = script.or_else(|| program.contains('/').then(|| (*program).to_owned()));
        file.is_some_and(|it| exists(it.trim_start_matches("./")))
    })
}

/// Whether the line compares a file with one of expected output.
fn compares_files(line: &str) -> bool {
    if !line.contains("diff") && !line.contains("cmp") {
        return false;
    }
    split_commands(line).iter().any(|words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let words = strip_wrappers(&words);
        let is_comparison = words.first().is_some_and(|it| matches!(*it, "diff" | "cmp"));
        is_comparison && words.iter().skip(1).any(|it| is_golden(it))
    })
}
