//! Makefiles and justfiles: the rules that checks run and the variables that they use are judges, all else is work.

use std::collections::BTreeSet;

use super::super::recipes;

/// Assignments and targets that decide how every recipe runs.
const VERDICT_VARIABLES: [&str; 28] = [
    "BATS_TEST_FILTER",
    "CLASSPATH",
    "GOFLAGS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LD_PRELOAD",
    "LUA_INIT",
    "LUA_PATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS",
    "PYTHONPATH",
    "RUBYLIB",
    "RUBYOPT",
    "PATH",
    "ENV",
    "BASH_ENV",
    "SHELL",
    ".SHELLFLAGS",
    "MAKEFLAGS",
    ".IGNORE",
    ".ONESHELL",
    ".PHONY",
    ".DEFAULT_GOAL",
    ".RECIPEPREFIX",
];

pub(super) fn makefile(parts: &[String], start: &str, end: &str) -> Option<String> {
    if parts.is_empty() {
        return None;
    }
    let targets: BTreeSet<String> = recipes::reached_targets(parts, start).into_iter().collect();
    let mut names = recipes::reached_variables(parts, start);
    names.extend(VERDICT_VARIABLES.map(str::to_owned));
    let is_judge = |block: &MakefileBlock<'_>| match &block.kind {
        BlockKind::Rule(names_of_rule) => {
            names_of_rule.iter().any(|it| targets.contains(it) || names.contains(it))
        }
        BlockKind::Assignment(name) => names.contains(name),
        BlockKind::Include => true,
        BlockKind::Other => false,
    };
    let old: Vec<MakefileBlock<'_>> = blocks(start).into_iter().filter(&is_judge).collect();
    let mut written = vec![false; old.len()];
    let mut text = String::new();
    for block in blocks(end) {
        if !is_judge(&block) {
            text.push_str(block.text);
            continue;
        }
        // All blocks of a name are replaced at the first one, so that none of the others remains before or after it.
        for (old, written) in old.iter().zip(&mut written).filter(|(old, _)| old.kind == block.kind) {
            if !std::mem::replace(written, true) {
                let is_same = old.text.trim_end() == block.text.trim_end();
                push_block(&mut text, if is_same { block.text } else { old.text });
            }
        }
    }
    for (old, _) in old.iter().zip(&written).filter(|(_, written)| !**written) {
        push_block(&mut text, old.text);
    }
    (text != end).then_some(text)
}

fn push_block(text: &mut String, block: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(block);
}

struct MakefileBlock<'a> {
    kind: BlockKind,
    text: &'a str,
}

#[derive(Debug, PartialEq, Eq)]
enum BlockKind {
    /// A rule with its recipe.
    Rule(Vec<String>),
    Assignment(String),
    Include,
    Other,
}

/// The text in pieces: each line that begins something, with the indented and continued lines after it.
fn blocks(text: &str) -> Vec<MakefileBlock<'_>> {
    let mut found: Vec<(usize, BlockKind)> = Vec::new();
    let (mut at, mut is_continued, mut is_in_define) = (0, false, false);
    for line in text.split_inclusive('\n') {
        if !is_continued && !is_in_define && !line.starts_with(['\t', ' ']) {
            found.push((at, kind_of(line)));
            is_in_define = without_modifiers(line).starts_with("define ");
        }
        is_in_define &= line.trim() != "endef";
        is_continued = line.trim_end().ends_with('\\');
        at += line.len();
    }
    let ends = found.iter().map(|it| it.0).skip(1).chain([text.len()]).collect::<Vec<_>>();
    let first = found.first().map_or(text.len(), |it| it.0);
    let head = (first > 0).then_some((0..first, BlockKind::Other));
    let rest = found.into_iter().zip(ends).map(|((from, kind), to)| (from..to, kind));
    let block = |(range, kind)| MakefileBlock { kind, text: text.get(range).unwrap_or_default() };
    head.into_iter().chain(rest).map(block).collect()
}

fn kind_of(line: &str) -> BlockKind {
    let line = line.trim_end();
    let words = |it: &str| it.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    if line.is_empty() || line.starts_with('#') {
        return BlockKind::Other;
    }
    let first = line.split_whitespace().next().unwrap_or_default();
    // A line that is expanded can hold any text, such as `$(eval RUNNER = true)`.
    let is_expanded = first.starts_with("$(") || first.starts_with("${");
    if is_expanded || matches!(first, "include" | "-include" | "sinclude" | "import" | "set") {
        return BlockKind::Include;
    }
    if let Some(name) = defined_name(line) {
        return BlockKind::Assignment(name.to_owned());
    }
    let bare = without_modifiers(line);
    if let Some((name, _)) =
        bare.split_once('=').filter(|(name, _)| !name.trim_end_matches(':').contains(':'))
    {
        return BlockKind::Assignment(name.trim_end_matches([':', '?', '+', '!']).trim().to_owned());
    }
    match line.split_once(':') {
        Some((names, _)) => BlockKind::Rule(words(names)),
        None => BlockKind::Other,
    }
}

fn without_modifiers(line: &str) -> &str {
    let words = ["override ", "export ", "unexport ", "private ", "override "];
    words.iter().fold(line, |it, word| it.strip_prefix(word).unwrap_or(it))
}

/// The variable of a line that begins with `define` or `undefine`.
fn defined_name(line: &str) -> Option<&str> {
    let bare = without_modifiers(line.trim_end());
    let rest = bare.strip_prefix("define ").or_else(|| bare.strip_prefix("undefine "))?;
    let name = rest.split('=').next().unwrap_or_default().trim_end_matches([':', '?', '+', '!', ' ']);
    Some(name.trim())
}
