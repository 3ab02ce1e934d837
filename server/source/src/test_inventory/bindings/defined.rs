//! Finds the names that a source defines, assigns and sets in the scope of its tests: in the whole file, or in a test.

use std::collections::HashSet;
use std::rc::Rc;

use super::{CodeLine, Definition, DefinitionKind, TestLanguage, split_identifier};

/// The innermost block around a line.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LineScope {
    Test(String),
    /// The tests of a source that holds the work as well.
    Tests,
    Other,
}

pub(super) fn find_definitions(
    language: TestLanguage,
    is_all_tests: bool,
    code: &[CodeLine<'_>],
) -> Vec<Definition> {
    let mut scopes: Vec<(usize, LineScope)> = Vec::new();
    let mut found = Vec::new();
    for (at, line) in code.iter().enumerate() {
        while scopes.last().is_some_and(|(indent, _)| line.indent <= *indent) {
            scopes.pop();
        }
        let test = match scopes.last() {
            None if language != TestLanguage::Rust || is_all_tests => Some(None),
            None | Some((_, LineScope::Other)) => None,
            Some((_, LineScope::Tests)) => Some(None),
            Some((_, LineScope::Test(name))) => Some(Some(name.clone())),
        };
        if let Some(test) = test
            && let Some(LineBindings { names, value }) = line_bindings(language, line.code)
        {
            let body = code.iter().skip(at + 1).take_while(|it| it.indent > line.indent);
            let body: Vec<&str> = body.map(|it| it.code).collect();
            let value: Rc<str> = format!("{value}\n{}", body.join("\n")).into();
            found.extend(names.into_iter().map(|(name, kind)| Definition {
                name,
                kind,
                line: line.number,
                value: Rc::clone(&value),
                test: test.clone(),
            }));
        }
        scopes.extend(opened_scope(language, line.code).map(|it| (line.indent, it)));
    }
    found
}

/// The block that the line opens, if any.
fn opened_scope(language: TestLanguage, code: &str) -> Option<LineScope> {
    let word = strip_modifiers(language, code).0;
    let is_group = ["describe", "context", "suite", "if", "try", "else", "for", "with", "}"].contains(&word)
        || code.starts_with('}');
    if let Some(test) = language.patterns().test.captures(code) {
        let name = test.name("name").map_or_else(String::new, |it| it.as_str().to_owned());
        return Some(LineScope::Test(name));
    }
    match language {
        TestLanguage::Python => matches!(word, "def" | "class").then_some(LineScope::Other),
        TestLanguage::Ruby => {
            let opens = matches!(word, "def" | "class" | "module") || code.ends_with(" do");
            (opens && !is_group).then_some(LineScope::Other)
        }
        TestLanguage::Rust if word == "mod" && code.contains("test") => Some(LineScope::Tests),
        _ => {
            let opens =
                code.ends_with(['{', '(', '[']) || matches!(word, "function" | "class" | "fn" | "func");
            (opens && !is_group).then_some(LineScope::Other)
        }
    }
}

/// The keyword of a definition, and the text after it.
fn strip_modifiers(language: TestLanguage, code: &str) -> (&str, &str) {
    let modifiers: &[&str] = match language {
        TestLanguage::Python => &["async"],
        TestLanguage::Script => &["export", "default", "async", "declare"],
        TestLanguage::Php => &["final", "abstract", "readonly"],
        TestLanguage::Rust => &["pub", "async", "unsafe", "extern"],
        _ => &[],
    };
    let mut remaining = code;
    loop {
        let Some((word, rest)) = split_identifier(remaining) else { return ("", remaining) };
        if !modifiers.contains(&word) {
            return (word, rest);
        }
        remaining = rest;
    }
}

fn declares(language: TestLanguage) -> &'static [&'static str] {
    match language {
        TestLanguage::Python => &["def", "class"],
        TestLanguage::Script => &["function", "class"],
        TestLanguage::Ruby => &["def", "class", "module"],
        TestLanguage::Php => &["function", "class"],
        TestLanguage::Go => &["func", "type", "var"],
        TestLanguage::Rust => &["fn", "struct", "enum"],
        _ => &[],
    }
}

/// The different names that a line binds to one value.
struct LineBindings<'a> {
    names: Vec<(String, DefinitionKind)>,
    value: &'a str,
}

impl<'a> LineBindings<'a> {
    fn single(name: String, kind: DefinitionKind, value: &'a str) -> Self {
        Self { names: vec![(name, kind)], value }
    }
}

fn line_bindings(language: TestLanguage, code: &str) -> Option<LineBindings<'_>> {
    let (word, rest) = strip_modifiers(language, code);
    if declares(language).contains(&word) {
        let rest = rest.trim_start().trim_start_matches('*');
        let (name, value) = split_identifier(rest)?;
        return match value.strip_prefix('.').and_then(split_identifier) {
            // `def self.add` is a method like any other, `def Calc.add` is not.
            Some(_) if name == "self" => None,
            Some((of, value)) => {
                Some(LineBindings::single(format!("{name}.{of}"), DefinitionKind::Set, value))
            }
            None => Some(LineBindings::single(name.to_owned(), DefinitionKind::Declared, value)),
        };
    }
    match language {
        TestLanguage::Python | TestLanguage::Script => {
            parse_replacement(code).or_else(|| parse_assignment(code))
        }
        TestLanguage::Ruby | TestLanguage::Rust | TestLanguage::Go => parse_assignment(code),
        TestLanguage::Php
        | TestLanguage::Shell
        | TestLanguage::Perl
        | TestLanguage::Jvm
        | TestLanguage::CSharp
        | TestLanguage::C => None,
    }
}

/// The text behind `begin` up to the closing quote, and the rest.
fn split_quoted<'a>(code: &'a str, begin: &str) -> Option<(&'a str, &'a str)> {
    let rest = code.strip_prefix(begin)?;
    let quote = rest.chars().next().filter(|it| matches!(it, '\'' | '"' | '`'))?;
    rest.get(1..)?.split_once(quote)
}

/// Modules and members that are put in the place of others.
fn parse_replacement(code: &str) -> Option<LineBindings<'_>> {
    let whole = ["jest.mock(", "vi.mock(", "mock.module(", "jest.doMock(", "vi.doMock("];
    if let Some((module, rest)) = whole.iter().find_map(|it| split_quoted(code, it)) {
        // An automatic mock returns nothing, so that no test of the module passes.
        let value = rest.trim_start().strip_prefix(',')?;
        return Some(LineBindings::single(module.to_owned(), DefinitionKind::Replaced, value));
    }
    if let Some((module, rest)) = split_quoted(code, "sys.modules[") {
        let value = rest.strip_prefix(']')?.trim_start().strip_prefix('=')?;
        return Some(LineBindings::single(module.to_owned(), DefinitionKind::Replaced, value));
    }
    if let Some((name, rest)) = split_quoted(code, "globals()[") {
        let value = rest.strip_prefix(']')?.trim_start().strip_prefix('=')?;
        return Some(LineBindings::single(name.to_owned(), DefinitionKind::Assigned, value));
    }
    let (object, rest) = ["setattr(", "Object.assign(", "Object.defineProperty("]
        .iter()
        .find_map(|it| code.strip_prefix(it))
        .and_then(|it| it.split_once(','))?;
    let rest = rest.trim_start().trim_start_matches(['\'', '"', '{', ' ']);
    let (name, value) = split_identifier(rest)?;
    Some(LineBindings::single(format!("{object}.{name}"), DefinitionKind::Set, value))
}

/// `add = …`, `const { add, sub } = …`, `calc.add = …`, `calc["add"] = …`.
fn parse_assignment(code: &str) -> Option<LineBindings<'_>> {
    let plain = ["const ", "let ", "var "].into_iter().find_map(|it| code.strip_prefix(it)).unwrap_or(code);
    let (targets, value) = plain.split_once('=')?;
    let compares = value.starts_with(['=', '~', '>'])
        || targets.ends_with(['!', '<', '>', '+', '-', '*', '/', '|', '&', '%']);
    if compares {
        return None;
    }
    let targets = targets.trim_end().trim_end_matches(':').trim().trim_matches(['{', '}', '[', '(', ')']);
    let mut seen = HashSet::new();
    let names = targets.split(',').filter_map(assigned_name).filter(|it| seen.insert(it.clone()));
    Some(LineBindings { names: names.collect(), value: value.trim() })
}

/// The name that one target of an assignment binds.
fn assigned_name(target: &str) -> Option<(String, DefinitionKind)> {
    let target = target.trim().trim_start_matches("mut ");
    let (name, rest) = split_identifier(target)?;
    let rest = rest.trim_start();
    if rest.is_empty() || rest.starts_with(':') {
        return Some((name.to_owned(), DefinitionKind::Assigned));
    }
    let last = rest.trim_end_matches(']').trim_end_matches(['\'', '"']);
    let start = last.rfind(|it: char| !super::super::is_word(it))? + 1;
    let is_member = rest.starts_with(['.', '[']) && !rest.contains(['(', ' ']);
    let member = last.get(start..).filter(|it| is_member && !it.is_empty())?;
    Some((format!("{name}.{member}"), DefinitionKind::Set))
}
