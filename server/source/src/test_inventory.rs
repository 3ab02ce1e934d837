//! Inventory of the tests in a source file: names, assertions, skips. Matches line patterns and indentation, so that
//! it needs no parser and also reads broken files. Reports what was lost between two states of a file, not who removed
//! it.

pub mod bindings;
pub mod doc_examples;
mod languages;
mod lines;
mod losses;
mod reached;
mod rows;
mod strings;
#[cfg(test)]
mod tests;

pub use languages::{TestLanguage, is_test_path, language};
pub use losses::{TestLoss, find_additions, test_loss};
pub use reached::{ReachedLine, reached_lines};

use languages::LanguagePatterns;
use lines::CodeLine;

/// The tests of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestInventory {
    pub tests: Vec<TestCase>,
    /// Assertions outside of every test.
    pub loose: Vec<String>,
    /// Marks that skip more than one test: of a module, a class, a group.
    pub skips: u32,
    /// Marks that let only some tests run.
    pub narrowed: u32,
    /// The rows of values that parametrised tests run with.
    pub rows: Vec<String>,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestCase {
    pub name: String,
    pub skipped: bool,
    /// The lines that assert something, spaces evened out.
    pub assertions: Vec<String>,
    /// It contains more than `pass` and the like.
    pub does_something: bool,
    /// Places where a failure is caught and dropped, or expected.
    pub forgives: u32,
}

impl TestInventory {
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty() && self.loose.is_empty()
    }
}

/// Whether this is the path of a file of tests in a known language.
pub fn is_test_file(path: &str) -> bool {
    is_test_path(path) && language(path).is_some()
}

/// Reads a file. Empty where the language is not known.
pub fn inventory(path: &str, text: &str) -> TestInventory {
    parse(path, text).map(|it| it.found).unwrap_or_default()
}

fn parse(path: &str, text: &str) -> Option<TestFileParser> {
    let language = language(path)?;
    let mut parser = TestFileParser {
        patterns: language.patterns(),
        found: TestInventory::default(),
        reached: Vec::new(),
        marks: TestAttributes::default(),
        open: None,
    };
    let lines = lines::code(language, text);
    for line in &lines {
        parser.read_line(line);
    }
    parser.close();
    if !parser.found.tests.is_empty() {
        let code: Vec<&str> = lines.iter().map(|it| it.code).collect();
        parser.found.rows = rows::table_rows(language, &code.join("\n"), |it| parser.patterns.asserts(it));
    }
    Some(parser)
}

/// Lines above a test that belong to it, such as decorators.
#[derive(Default)]
struct TestAttributes {
    test: bool,
    skipped: bool,
    assertions: Vec<String>,
}

/// The test that the lines belong to, and how far it is indented.
struct OpenTest {
    case: TestCase,
    indent: usize,
    /// How far its body is indented.
    body: Option<usize>,
    /// It has returned: what follows never runs.
    over: bool,
    /// What the line before caught is dropped, if nothing happens in this one.
    catches: bool,
    reached: Vec<ReachedLine>,
}

struct TestFileParser {
    patterns: &'static LanguagePatterns,
    found: TestInventory,
    reached: Vec<ReachedLine>,
    marks: TestAttributes,
    open: Option<OpenTest>,
}

impl TestFileParser {
    fn read_line(&mut self, line: &CodeLine<'_>) {
        let text = line.code;
        if self.open.as_ref().is_some_and(|it| line.indent <= it.indent && !closes(text)) {
            self.close();
        }
        self.found.narrowed += u32::from(self.patterns.only.is_match(text));
        let skips = self.patterns.skip.is_match(text);
        if let Some(name) = self.name_of_test(text) {
            self.close();
            self.begin(name, line, skips);
            return;
        }
        if self.patterns.mark.is_match(text) {
            self.marks.test |= self.patterns.marks_test.is_match(text);
            self.marks.skipped |= skips;
            if self.patterns.asserts(text) {
                self.marks.assertions.push(normalize_formatting(text));
            }
            return;
        }
        if self.open.is_none() && !text.is_empty() {
            // The marks belong to a class, a module, a group.
            self.found.skips += u32::from(skips || self.marks.skipped);
            self.marks = TestAttributes::default();
            if self.patterns.asserts(text) {
                self.found.loose.push(normalize_formatting(text));
                self.reached.push(ReachedLine::outside(line.number));
            }
            return;
        }
        self.add_body_line(line, skips);
    }

    fn name_of_test(&self, text: &str) -> Option<String> {
        let plain = self.patterns.test.captures(text);
        let marked = || self.patterns.named.captures(text).filter(|_| self.marks.test);
        let found = plain.or_else(marked)?;
        Some(found.name("name").map_or_else(String::new, |it| it.as_str().to_owned()))
    }

    fn begin(&mut self, name: String, line: &CodeLine<'_>, skips: bool) {
        let marks = std::mem::take(&mut self.marks);
        let mut case = TestCase {
            name,
            skipped: skips || marks.skipped,
            assertions: marks.assertions,
            ..TestCase::default()
        };
        // Its body may be on the same line.
        let body = LanguagePatterns::body(line.code);
        if self.patterns.asserts(body) {
            case.assertions.push(normalize_formatting(body));
        }
        case.does_something = !case.assertions.is_empty() || LanguagePatterns::has_effect(body);
        case.forgives = case.assertions.iter().filter(|it| it.starts_with("#[should_panic")).count() as u32;
        let reached = vec![ReachedLine::head(line.number, &case.name)];
        self.open =
            Some(OpenTest { case, indent: line.indent, body: None, over: false, catches: false, reached });
    }

    fn add_body_line(&mut self, line: &CodeLine<'_>, skips: bool) {
        let Some(open) = &mut self.open else { return };
        let text = line.code;
        if line.indent > open.indent {
            let body = *open.body.get_or_insert(line.indent);
            open.over |= line.indent == body && LanguagePatterns::returns(text);
        }
        if open.over {
            return;
        }
        if open.body == Some(line.indent) {
            open.reached.push(ReachedLine::in_body(line.number, &open.case.name));
        }
        let drops = |it: &str| !LanguagePatterns::has_effect(it) || LanguagePatterns::only_says(it);
        let caught = LanguagePatterns::after_catch(text);
        let case = &mut open.case;
        case.forgives += u32::from(std::mem::take(&mut open.catches) && drops(text));
        case.forgives += u32::from(caught.is_some_and(|rest| !rest.is_empty() && drops(rest)));
        open.catches = caught == Some("");
        case.skipped |= skips;
        if self.patterns.asserts(text) {
            case.assertions.push(normalize_formatting(text));
        }
        case.does_something |= LanguagePatterns::has_effect(text);
    }

    fn close(&mut self) {
        let Some(OpenTest { case, reached, .. }) = self.open.take() else { return };
        if !case.skipped && case.forgives == 0 {
            self.reached.extend(reached);
        }
        self.found.tests.push(case);
    }
}

/// The end of a block belongs to the test that it ends.
fn closes(text: &str) -> bool {
    text.starts_with(['}', ')', ']', '{']) || text == "end" || text == "do"
}

/// The line without the differences that formatters make.
fn normalize_formatting(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(it) = chars.next() {
        match it {
            ';' | '{' | '}' => {}
            '\'' => out.push('"'),
            ',' if chars.clone().find(|it| !it.is_whitespace()).is_none_or(|it| matches!(it, ')' | ']')) => {}
            it if it.is_whitespace() => {
                let between_words = out.ends_with(is_word) && chars.peek().is_some_and(|it| is_word(*it));
                if between_words {
                    out.push(' ');
                }
            }
            it => out.push(it),
        }
    }
    out
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}
