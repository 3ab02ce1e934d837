//! Detects files of tests that end their runner before its tests, or select the tests that it runs.

#[cfg(test)]
mod tests;

use loopkeeper_source::test_inventory::{TestLanguage, is_test_path, language};
use loopkeeper_text::language::translate;
use loopkeeper_text::pattern::ConstantPattern;
use loopkeeper_text::tr_later;

const ENDS_RUN: &str = tr_later!("ends the run before its tests");
const IGNORES_RESULT: &str = tr_later!("ignores the result of its tests");
const SELECTS: &str = tr_later!("runs only some of its tests");

static PYTHON_END: ConstantPattern = ConstantPattern::new(
    r"(?m)^(?:os\._exit\(\s*0|(?:sys\.exit|exit|quit)\(\s*0?\s*\)|raise SystemExit(?:\(\s*0?\s*\))?\s*$)",
);
static SCRIPT_END: ConstantPattern = ConstantPattern::new(r"(?m)^process\.(?:exit|reallyExit)\(\s*0?\s*\)");
static RUBY_END: ConstantPattern = ConstantPattern::new(r"(?m)^exit!?(?:\s*\(?\s*(?:0|true)?\s*\)?)?\s*$");
static PHP_END: ConstantPattern = ConstantPattern::new(r"(?m)^(?:exit|die)(?:\(\s*0?\s*\))?\s*;");
static PERL_END: ConstantPattern = ConstantPattern::new(r"(?m)^exit(?:\s*\(?\s*0\s*\)?)?\s*;");
static GO_INIT: ConstantPattern =
    ConstantPattern::new(r"func init\(\)\s*\{[^}]*\b(?:os\.Exit\(0\)|os\.Args\s*=|flag\.Set\(\x22test\.)");
static GO_SELECTION: ConstantPattern =
    ConstantPattern::new(r#"\bflag\.(?:CommandLine\.)?Set\(\s*"test\.(?:run|skip|list|bench|count)""#);

/// Describes what the text of a file of tests gained since `before`.
pub(super) fn describe(path: &str, before: &str, after: &str) -> Option<String> {
    if !is_test_path(path) {
        return None;
    }
    let gained = |it: &ConstantPattern| it.is_match(after) && !it.is_match(before);
    let what = match language(path)? {
        TestLanguage::Python => gained(&PYTHON_END).then_some(ENDS_RUN),
        TestLanguage::Script => gained(&SCRIPT_END).then_some(ENDS_RUN),
        TestLanguage::Ruby => gained(&RUBY_END).then_some(ENDS_RUN),
        TestLanguage::Php => gained(&PHP_END).then_some(ENDS_RUN),
        TestLanguage::Perl => gained(&PERL_END).then_some(ENDS_RUN),
        TestLanguage::Go => {
            let ends = gained(&GO_INIT).then_some(ENDS_RUN);
            let drops = || (drops_result(after) && !drops_result(before)).then_some(IGNORES_RESULT);
            ends.or_else(drops).or_else(|| gained(&GO_SELECTION).then_some(SELECTS))
        }
        TestLanguage::Rust
        | TestLanguage::Jvm
        | TestLanguage::CSharp
        | TestLanguage::Shell
        | TestLanguage::C => None,
    };
    what.map(|it| translate(it).to_owned())
}

/// Whether `TestMain` of Go does not use its argument, or ends as a success whatever the tests returned.
fn drops_result(text: &str) -> bool {
    static MAIN: ConstantPattern = ConstantPattern::new(
        r"func TestMain\(\s*(?P<name>\w+)\s+\*testing\.M\s*\)\s*\{(?P<line>[^\n{}]*\})?",
    );
    static SUCCESS: ConstantPattern = ConstantPattern::new(r"(?m)^(?:\t| {2,4})os\.Exit\(0\)");
    let Some(found) = MAIN.captures(text) else { return false };
    let (Some(all), Some(name)) = (found.get(0), found.name("name")) else { return false };
    let body = match found.name("line") {
        Some(line) => line.as_str(),
        None => text.get(all.end()..).and_then(|it| it.split("\n}").next()).unwrap_or_default(),
    };
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    let uses_argument = body.split(|it| !is_word(it)).any(|it| it == name.as_str());
    !uses_argument || SUCCESS.is_match(body) || body.trim_start().starts_with("os.Exit(0)")
}
