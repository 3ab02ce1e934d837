//! Inventory of the examples in the documentation of a Rust source, which its test runner compiles and runs.

use super::languages::LanguagePatterns;
use super::{TestCase, TestInventory, TestLanguage, normalize_formatting};
use loopkeeper_text::pattern::ConstantPattern;

/// Each example is a test with the name of the item that it documents.
pub fn inventory(text: &str) -> TestInventory {
    let mut reader =
        ExampleReader { patterns: TestLanguage::Rust.patterns(), done: Vec::new(), open: None, unnamed: 0 };
    for line in text.lines().map(str::trim) {
        match line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) {
            Some(comment) if !comment.starts_with('/') => reader.read_comment(comment.trim()),
            _ => reader.read_code(line),
        }
    }
    reader.close();
    TestInventory { tests: reader.done, ..TestInventory::default() }
}

struct OpenExample {
    case: TestCase,
    fence: &'static str,
}

struct ExampleReader {
    patterns: &'static LanguagePatterns,
    done: Vec<TestCase>,
    open: Option<OpenExample>,
    /// The last examples, whose item follows.
    unnamed: usize,
}

impl ExampleReader {
    fn read_comment(&mut self, comment: &str) {
        if let Some(open) = &mut self.open {
            if comment.starts_with(open.fence) {
                self.close();
            } else {
                let code = comment.strip_prefix("# ").unwrap_or(comment);
                if self.patterns.asserts(code) {
                    open.case.assertions.push(normalize_formatting(code));
                }
                open.case.does_something |= LanguagePatterns::has_effect(code);
            }
            return;
        }
        let fence = ["```", "~~~"].into_iter().find_map(|it| Some((it, comment.strip_prefix(it)?)));
        if let Some((fence, info)) = fence {
            let case = TestCase {
                skipped: !runs(info),
                forgives: u32::from(info.contains("should_panic")),
                ..TestCase::default()
            };
            self.open = Some(OpenExample { case, fence });
        }
    }

    /// The next item gives the examples above it their name.
    fn read_code(&mut self, line: &str) {
        static ITEM: ConstantPattern = ConstantPattern::new(
            r"^(?:pub(?:\([^)]*\))?\s+)?(?:(?:default|const|async|unsafe|extern(?:\s+\x22[^\x22]*\x22)?)\s+)*(?:fn|struct|enum|union|trait|type|mod|static|const|macro_rules!)\s+(?P<name>\w+)",
        );
        self.close();
        if line.is_empty() || line.starts_with("#[") || self.unnamed == 0 {
            return;
        }
        let name = ITEM.captures(line).and_then(|it| Some(it.name("name")?.as_str().to_owned()));
        let from = self.done.len() - self.unnamed;
        for case in self.done.iter_mut().skip(from) {
            case.name = name.clone().unwrap_or_default();
        }
        self.unnamed = 0;
    }

    fn close(&mut self) {
        let Some(OpenExample { case, .. }) = self.open.take() else { return };
        // A block of another language was never an example.
        if !case.skipped || case.does_something {
            self.done.push(case);
            self.unnamed += 1;
        }
    }
}

/// Whether a block with this information runs as a test.
fn runs(info: &str) -> bool {
    info.split([',', ' ', '\t']).filter(|it| !it.is_empty()).all(|it| {
        let it = it.trim_matches(['{', '}', '.']);
        matches!(it, "rust" | "should_panic" | "test_harness") || it.starts_with("edition")
    })
}
