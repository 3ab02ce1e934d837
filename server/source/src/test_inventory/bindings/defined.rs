//! Finds the names that a source defines, assigns and sets in the scope of its tests: in the whole file, or in a test.

use super::{CodeLine, Definition, DefinitionKind, TestLanguage, ident};

/// What a line is within.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LineScope {
    Test(String),
    /// The tests of a source that holds the work as well.
    Tests,
    Other,
}

pub(super) fn defined(language: TestLanguage, is_all_tests: bool, code: &[CodeLine<'_>]) -> Vec<Definition> {
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
        if let Some(test) = test {
            for (name, kind, value) in of_line(language, line.code) {
                let body = code.iter().skip(at + 1).take_while(|it| it.indent > line.indent);
                let body: Vec<&str> = body.map(|it| it.code).collect();
                let value = format!("{value}\n{}", body.join("\n"));
                found.push(Definition { name, kind, line: line.number, value, test: test.clone() });
            }
        }
        scopes.extend(opened_scope(language, line.code).map(|it| (line.indent, it)));
    }
    found
}

/// What the lines below it are within; `None`: nothing else than it is.
fn opened_scope(language: TestLanguage, code: &str) -> Option<LineScope> {
    let word = unmodified(language, code).0;
    let is_group = ["describe", "context", "suite", "if", "try", "else", "for", "with", "}"].contains(&word)
        || code.starts_with('}');
    if let Some(test) = language.words().test.captures(code) {
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
fn unmodified(language: TestLanguage, code: &str) -> (&str, &str) {
    let modifiers: &[&str] = match language {
        TestLanguage::Python => &["async"],
        TestLanguage::Script => &["export", "default", "async", "declare"],
        TestLanguage::Php => &["final", "abstract", "readonly"],
        TestLanguage::Rust => &["pub", "async", "unsafe", "extern"],
        _ => &[],
    };
    let mut remaining = code;
    loop {
        let Some((word, rest)) = ident(remaining) else { return ("", remaining) };
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

type ParsedBinding = (String, DefinitionKind, String);

fn of_line(language: TestLanguage, code: &str) -> Vec<ParsedBinding> {
    let (word, rest) = unmodified(language, code);
    if declares(language).contains(&word) {
        let rest = rest.trim_start().trim_start_matches('*');
        let Some((name, value)) = ident(rest) else { return Vec::new() };
        return match value.strip_prefix('.').and_then(ident) {
            // `def Calc.add`; of itself it is a method as any other.
            Some(_) if name == "self" => Vec::new(),
            Some((of, value)) => vec![(format!("{name}.{of}"), DefinitionKind::Set, value.to_owned())],
            None => vec![(name.to_owned(), DefinitionKind::Declared, value.to_owned())],
        };
    }
    match language {
        TestLanguage::Python | TestLanguage::Script => {
            replaced(code).map_or_else(|| assigned(code), |it| vec![it])
        }
        TestLanguage::Ruby | TestLanguage::Rust | TestLanguage::Go => assigned(code),
        _ => Vec::new(),
    }
}

/// The text behind `begin` up to the closing quote, and the rest.
fn quoted<'a>(code: &'a str, begin: &str) -> Option<(&'a str, &'a str)> {
    let rest = code.strip_prefix(begin)?;
    let quote = rest.chars().next().filter(|it| matches!(it, '\'' | '"' | '`'))?;
    rest.get(1..)?.split_once(quote)
}

/// Modules and members that are put in the place of others.
fn replaced(code: &str) -> Option<ParsedBinding> {
    let whole = ["jest.mock(", "vi.mock(", "mock.module(", "jest.doMock(", "vi.doMock("];
    if let Some((module, rest)) = whole.iter().find_map(|it| quoted(code, it)) {
        // Without a replacement of one's own nothing passes that tests it.
        let value = rest.trim_start().strip_prefix(',')?;
        return Some((module.to_owned(), DefinitionKind::Replaced, value.to_owned()));
    }
    if let Some((module, rest)) = quoted(code, "sys.modules[") {
        let value = rest.strip_prefix(']')?.trim_start().strip_prefix('=')?;
        return Some((module.to_owned(), DefinitionKind::Replaced, value.to_owned()));
    }
    if let Some((name, rest)) = quoted(code, "globals()[") {
        let value = rest.strip_prefix(']')?.trim_start().strip_prefix('=')?;
        return Some((name.to_owned(), DefinitionKind::Assigned, value.to_owned()));
    }
    let (object, rest) = ["setattr(", "Object.assign(", "Object.defineProperty("]
        .iter()
        .find_map(|it| code.strip_prefix(it))
        .and_then(|it| it.split_once(','))?;
    let rest = rest.trim_start().trim_start_matches(['\'', '"', '{', ' ']);
    let (name, value) = ident(rest)?;
    Some((format!("{object}.{name}"), DefinitionKind::Set, value.to_owned()))
}

/// `add = …`, `const { add, sub } = …`, `calc.add = …`, `calc["add"] = …`.
fn assigned(code: &str) -> Vec<ParsedBinding> {
    let plain = ["const ", "let ", "var "].into_iter().find_map(|it| code.strip_prefix(it)).unwrap_or(code);
    let Some((targets, value)) = plain.split_once('=') else { return Vec::new() };
    let compares = value.starts_with(['=', '~', '>'])
        || targets.ends_with(['!', '<', '>', '+', '-', '*', '/', '|', '&', '%']);
    if compares {
        return Vec::new();
    }
    let targets = targets.trim_end().trim_end_matches(':').trim().trim_matches(['{', '}', '[', '(', ')']);
    let value = value.trim();
    let of_one = |target: &str| -> Option<ParsedBinding> {
        let target = target.trim().trim_start_matches("mut ");
        let (name, rest) = ident(target)?;
        let rest = rest.trim_start();
        if rest.is_empty() || rest.starts_with(':') {
            return Some((name.to_owned(), DefinitionKind::Assigned, value.to_owned()));
        }
        let last = rest.trim_end_matches(']').trim_end_matches(['\'', '"']);
        let start = last.rfind(|it: char| !super::super::is_word(it))? + 1;
        let is_member = rest.starts_with(['.', '[']) && !rest.contains(['(', ' ']);
        let member = last.get(start..).filter(|it| is_member && !it.is_empty())?;
        Some((format!("{name}.{member}"), DefinitionKind::Set, value.to_owned()))
    };
    targets.split(',').filter_map(of_one).collect()
}
