//! Files of which a check runs a part by name: targets of a Makefile or justfile, scripts of a `package.json`. Only
//! this part is compared, with its dependencies.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::file_name;
use loopkeeper_text::tr;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecipeKind {
    Make,
    Scripts,
}

pub(super) fn recipe_kind(path: &str) -> Option<RecipeKind> {
    match file_name(path) {
        "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile" | ".justfile" => {
            Some(RecipeKind::Make)
        }
        "package.json" | "composer.json" | "deno.json" => Some(RecipeKind::Scripts),
        other if other.rsplit_once('.').is_some_and(|(_, it)| it == "mk") => Some(RecipeKind::Make),
        _ => None,
    }
}

pub(super) fn is_make(name: &str) -> bool {
    recipe_kind(name) == Some(RecipeKind::Make)
}

/// The file of which a command runs parts, and the parts.
pub(super) struct RecipeQuery {
    pub(super) folder: String,
    /// The first one that exists is used.
    pub(super) files: Vec<String>,
    pub(super) parts: Vec<String>,
}

/// Parses the arguments of a tool that runs recipes; `None` for every other tool.
pub(super) fn parse_query(tool: &str, words: &[&str]) -> Option<RecipeQuery> {
    let files: &[&str] = match tool {
        "make" | "gmake" => &["GNUmakefile", "makefile", "Makefile"],
        "just" => &["justfile", "Justfile", ".justfile"],
        "npm" | "pnpm" | "yarn" | "bun" => &["package.json"],
        "composer" => &["composer.json"],
        "deno" if words.first() == Some(&"task") => &["deno.json"],
        _ => return None,
    };
    let mut asked = RecipeQuery {
        folder: String::new(),
        files: files.iter().map(ToString::to_string).collect(),
        parts: Vec::new(),
    };
    let is_make = matches!(tool, "make" | "gmake" | "just");
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "-C" | "--prefix" | "--cwd" | "--dir" => {
                words.next().unwrap_or_default().clone_into(&mut asked.folder);
            }
            "-f" | "--file" | "--justfile" if is_make => {
                asked.files = words.next().map(str::to_owned).into_iter().collect();
            }
            "--" => break,
            "run" | "run-script" | "task" | "exec" if !is_make => {}
            "t" | "tst" if tool == "npm" => asked.parts.push("test".to_owned()),
            it if it.starts_with('-') || it.contains('=') => {}
            it => {
                asked.parts.push(it.to_owned());
                if !is_make {
                    break;
                }
            }
        }
    }
    Some(asked)
}

/// The default target.
pub(super) fn default_parts(path: &str, text: &str) -> Vec<String> {
    if recipe_kind(path) != Some(RecipeKind::Make) {
        return Vec::new();
    }
    let first = parse_rules(text).into_iter().flat_map(|it| it.targets).find(|it| !it.starts_with('.'));
    first.into_iter().collect()
}

/// The commands behind the parts.
pub(super) fn recipe_commands(path: &str, parts: &[String], text: &str) -> Vec<String> {
    match recipe_kind(path) {
        Some(RecipeKind::Make) => make_commands(parts, text)
            .into_iter()
            .map(|it| it.trim_start_matches(['@', '-', '+']).replace("$(MAKE)", "make"))
            .collect(),
        Some(RecipeKind::Scripts) => script_commands(parts, text),
        None => Vec::new(),
    }
}

/// The change of the parts, as a clause.
pub(super) fn describe_change(path: &str, parts: &[String], before: &str, after: &str) -> Option<String> {
    let parts: Vec<String> = parts.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect();
    (verdict_lines(path, &parts, before) != verdict_lines(path, &parts, after))
        .then(|| tr!("changed what `{targets}` runs", targets = parts.join(" ")))
}

/// The commands behind the parts, with everything that affects their exit status.
fn verdict_lines(path: &str, parts: &[String], text: &str) -> Vec<String> {
    const VERDICT_VARIABLES: [&str; 5] = ["SHELL", ".SHELLFLAGS", "MAKEFLAGS", ".IGNORE", ".ONESHELL"];
    if recipe_kind(path) != Some(RecipeKind::Make) {
        return recipe_commands(path, parts, text);
    }
    let name = |line: &str| line.split([':', '=', '+', '?', ' ']).next().unwrap_or_default().to_owned();
    let decides = text.lines().filter(|it| VERDICT_VARIABLES.contains(&name(it).as_str())).map(str::to_owned);
    // `-` turns a failure into a success; `@` and `+` have no effect on the exit status.
    let normalized = |line: &String| {
        let prefix = line.chars().take_while(|it| matches!(it, '@' | '-' | '+' | ' '));
        let ignored = if prefix.clone().any(|it| it == '-') { "-" } else { "" };
        format!("{ignored}{}", line.chars().skip(prefix.count()).collect::<String>())
    };
    make_commands(parts, text).iter().map(normalized).chain(decides).collect()
}

#[derive(Clone)]
struct MakeRule {
    targets: Vec<String>,
    needs: Vec<String>,
    recipe: Vec<String>,
}

/// The recipe of each target with the variables it uses; a target without a recipe stands for its prerequisites.
fn make_commands(parts: &[String], text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for rule in reached_rules(parts, text) {
        if rule.recipe.is_empty() {
            found.push(rule.needs.join(" "));
        } else {
            found.extend(rule.recipe);
        }
    }
    let used = used_variables(text, &found).into_iter().map(|(name, value)| format!("{name} = {value}"));
    found.extend(used.collect::<Vec<_>>());
    found
}

/// The rules of the parts, and of the prerequisites of those without a recipe.
fn reached_rules(parts: &[String], text: &str) -> Vec<MakeRule> {
    let rules = parse_rules(text);
    let mut by_target: HashMap<&str, BTreeSet<usize>> = HashMap::new();
    for (at, rule) in rules.iter().enumerate() {
        for target in &rule.targets {
            by_target.entry(target).or_default().insert(at);
        }
    }
    let (mut queue, mut seen, mut found) = (parts.to_vec(), BTreeSet::new(), Vec::new());
    while let Some(part) = queue.pop() {
        if !seen.insert(part.clone()) {
            continue;
        }
        let indices = by_target.get(part.as_str()).into_iter().flatten();
        for rule in indices.filter_map(|it| rules.get(*it)) {
            if rule.recipe.is_empty() {
                queue.extend(rule.needs.iter().cloned());
            }
            found.push(rule.clone());
        }
    }
    found
}

/// The targets whose rules the parts run.
pub(super) fn reached_targets(parts: &[String], text: &str) -> Vec<String> {
    let all: BTreeSet<String> = reached_rules(parts, text).into_iter().flat_map(|it| it.targets).collect();
    all.into_iter().filter(|it| !it.starts_with('.')).collect()
}

/// The targets whose recipes make no file of their name: a file of this name would keep them from running.
pub(super) fn targets_without_file(path: &str, parts: &[String], text: &str) -> Vec<String> {
    if !matches!(file_name(path), "GNUmakefile" | "makefile" | "Makefile") {
        return Vec::new();
    }
    let rules = parse_rules(text);
    let phony = rules.iter().filter(|it| it.targets.iter().any(|it| it == ".PHONY"));
    let phony: BTreeSet<&String> = phony.flat_map(|it| &it.needs).collect();
    let makes = |recipe: &[String], target: &str| {
        let is_end = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        recipe
            .iter()
            .any(|it| it.contains("$@") || it.contains("$(@") || it.split(is_end).any(|it| it == target))
    };
    let reached = reached_rules(parts, text).into_iter().filter(|it| !it.recipe.is_empty());
    let without_file = |it: MakeRule| {
        let MakeRule { targets, recipe, .. } = it;
        targets.into_iter().filter(move |it| !it.contains(['%', '$']) && !makes(&recipe, it))
    };
    reached.flat_map(without_file).filter(|it| !phony.contains(it)).collect()
}

/// The names of the variables that these rules use, and of those that their values use.
pub(super) fn reached_variables(parts: &[String], text: &str) -> BTreeSet<String> {
    let mut lines: Vec<String> = reached_rules(parts, text).into_iter().flat_map(|it| it.recipe).collect();
    let mut names = BTreeSet::new();
    while !lines.is_empty() {
        let mut used = used_variables(text, &lines);
        used.retain(|(name, _)| !names.contains(name));
        let (new_names, values): (Vec<_>, Vec<_>) = used.into_iter().unzip();
        names.extend(new_names);
        lines = values;
    }
    names
}

fn parse_rules(text: &str) -> Vec<MakeRule> {
    let mut rules: Vec<MakeRule> = Vec::new();
    let mut open = false;
    for line in text.replace("\\\n", " ").lines() {
        let indented = line.starts_with([' ', '\t']);
        if indented && open {
            let recipe = line.split_whitespace().collect::<Vec<_>>().join(" ");
            if let Some(rule) = rules.last_mut().filter(|_| !recipe.is_empty() && !recipe.starts_with('#')) {
                rule.recipe.push(recipe);
            }
            continue;
        }
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        open = false;
        let Some((left, right)) = line.split_once(':').filter(|(left, right)| {
            !left.contains('=') && !right.starts_with('=') && !right.starts_with(":=")
        }) else {
            continue;
        };
        open = true;
        let (needs, inline) =
            right.split_once(';').map_or((right, None), |(needs, recipe)| (needs, Some(recipe)));
        let words = |it: &str| it.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        rules.push(MakeRule {
            targets: words(left),
            needs: words(needs.trim_start_matches(':')),
            recipe: inline.map(|it| it.trim().to_owned()).into_iter().collect(),
        });
    }
    rules
}

/// The assignments of the variables that the lines use.
fn used_variables(text: &str, lines: &[String]) -> Vec<(String, String)> {
    let names: HashSet<&str> = lines.iter().flat_map(|it| referenced_names(it)).collect();
    let assigned = |line: &str| {
        let (name, value) = line.split_once('=')?;
        let name = name.trim_end_matches([':', '?', '+', '!']).trim();
        (!line.starts_with([' ', '\t', '#']) && names.contains(name))
            .then(|| (name.to_owned(), value.trim().to_owned()))
    };
    text.lines().filter_map(assigned).collect()
}

/// The names in `$(…)`, `${…}` and `{{…}}`, also in nested ones such as `$(A_$(B))`.
fn referenced_names(line: &str) -> Vec<&str> {
    /// Longer text is a call of a function. It bounds the work for nested ones.
    const MAX_NAME_BYTES: usize = 500;
    let braced = line.split("{{").skip(1).filter_map(|it| Some(it.split_once("}}")?.0));
    let mut names: Vec<&str> = braced.collect();
    let mut open: Vec<(usize, u8, bool)> = Vec::new();
    let mut previous = b' ';
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'(' => open.push((at + 1, b')', previous == b'$')),
            b'{' => open.push((at + 1, b'}', previous == b'$')),
            b')' | b'}' if open.last().is_some_and(|(_, close, _)| *close == byte) => {
                let reference = open.pop().filter(|(_, _, is_reference)| *is_reference);
                let name = reference.and_then(|(from, ..)| line.get(from..at));
                names.extend(name.filter(|it| it.len() <= MAX_NAME_BYTES));
            }
            _ => {}
        }
        previous = byte;
    }
    names
}

/// The scripts with what runs before and after them, and what they run in turn.
fn script_commands(parts: &[String], text: &str) -> Vec<String> {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let with_hooks = |it: String| [format!("pre{it}"), it.clone(), format!("post{it}")];
    let names = script_names(parts, &value).into_iter().flat_map(with_hooks);
    names.filter_map(|it| script(&value, &it)).collect()
}

fn script(manifest: &Value, name: &str) -> Option<String> {
    let of = |key: &str| manifest.get(key).and_then(|it| it.get(name));
    of("scripts").or_else(|| of("tasks")).map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned))
}

/// The parts and the scripts that they run in turn, without their hooks.
pub(super) fn script_names(parts: &[String], manifest: &Value) -> Vec<String> {
    let (mut queue, mut seen, mut found) = (parts.to_vec(), BTreeSet::new(), Vec::new());
    while let Some(part) = queue.pop() {
        if !seen.insert(part.clone()) {
            continue;
        }
        for name in [format!("pre{part}"), part.clone(), format!("post{part}")] {
            for words in script(manifest, &name).iter().flat_map(|it| super::shell::split_commands(it)) {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let inner = words.split_first().and_then(|(tool, rest)| parse_query(tool, rest));
                queue.extend(inner.filter(|it| it.folder.is_empty()).into_iter().flat_map(|it| it.parts));
            }
        }
        found.push(part);
    }
    found
}
