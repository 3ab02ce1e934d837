//! The names that a source binds: imports, its own definitions, assignments to a module. Parsed by lines and
//! indentation like the inventory of tests; comments and strings are ignored.

mod defined;
mod imports;

use std::rc::Rc;

use super::lines::{self, CodeLine};
use super::strings::continued;
use super::{TestLanguage, language};

/// The names that one file binds where its tests can see them.
#[derive(Debug, Default)]
pub struct FileBindings {
    pub imports: Vec<ImportBinding>,
    pub defined: Vec<Definition>,
    /// Its code, a line each, without comments.
    pub code: String,
}

/// A name from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportBinding {
    /// The local name; empty: all names of the module.
    pub name: String,
    pub module: String,
    /// The name in the module; `None`: the module itself.
    pub of: Option<String>,
}

/// A name that the file gives a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// `add`; set on something else, `calc.add`; in the place of a module, its name.
    pub name: String,
    pub kind: DefinitionKind,
    pub line: usize,
    /// The text after the name, with the body below it. Shared by all names of its line.
    pub value: Rc<str>,
    /// Within this test, not for the whole file.
    pub test: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefinitionKind {
    /// Declared by a keyword of the language: a function, a class.
    Declared,
    Assigned,
    /// On an object that has another name.
    Set,
    /// A whole module is replaced for all its importers.
    Replaced,
}

impl Definition {
    /// It holds code, not only a value.
    pub fn is_function(&self) -> bool {
        const WORDS: [&str; 6] = ["lambda", "=>", "function", "func(", "func (", "class"];
        self.kind == DefinitionKind::Declared
            || WORDS.iter().any(|it| self.value.contains(it))
            || self.value.trim_start_matches("move ").starts_with('|')
    }
}

/// Reads a file. Empty where the language is not known.
pub fn bindings(path: &str, text: &str) -> FileBindings {
    let Some(language) = language(path) else { return FileBindings::default() };
    let inside = continued(language, text);
    let mut code = lines::code(language, text);
    code.retain(|it| !inside.strings.contains(&it.number) && !inside.brackets.contains(&it.number));
    let joined: Vec<&str> = code.iter().map(|it| it.code).collect();
    let joined = joined.join("\n");
    FileBindings {
        imports: imports::imports(language, &joined),
        defined: defined::find_definitions(language, super::is_test_path(path), &code),
        code: joined,
    }
}

/// The name at the beginning, and what follows it.
fn split_identifier(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(|it: char| !super::is_word(it)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Whether it occurs as a separate word.
pub fn mentions(text: &str, word: &str) -> bool {
    places(text, word).next().is_some()
}

/// Whether it is used on its own: neither as an attribute of another value nor as the beginning of a string.
pub fn uses(text: &str, word: &str) -> bool {
    let alone = |at: usize| text.get(..at).is_none_or(|it| !it.ends_with(['.', '"', '\'', '`']));
    places(text, word).any(alone)
}

/// Whether it is called there.
pub fn calls(text: &str, word: &str) -> bool {
    places(text, word).any(|at| text.get(at + word.len()..).is_some_and(|it| it.starts_with('(')))
}

fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let whole = move |at: &usize| {
        let before = text.get(..*at).and_then(|it| it.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|it| it.chars().next());
        !word.is_empty() && !before.is_some_and(super::is_word) && !after.is_some_and(super::is_word)
    };
    text.match_indices(word).map(|(at, _)| at).filter(whole)
}
