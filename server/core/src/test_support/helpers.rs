//! Recognises files of helpers for tests by their names, their functions and what they import.

use std::collections::BTreeSet;

use crate::drift::names;
use loopkeeper_source::test_inventory::{TestLanguage, language};
use loopkeeper_text::pattern::ConstantPattern;

/// Whether the file consists of assertions for tests: by its name, by the names of all its functions, or because it
/// imports a framework for tests.
pub(super) fn asserts(path: &str, text: &str) -> bool {
    // The compiler decides which modules of Rust belong to tests.
    if language(path) == Some(TestLanguage::Rust) {
        return false;
    }
    has_name_of_helper(path) || imports_framework(path, text) || consists_of_assertions(text)
}

fn has_name_of_helper(path: &str) -> bool {
    static NAME: ConstantPattern = ConstantPattern::new(
        r"(?i)(?:^|[_.-])(?:asserts?|assertions?|expectations?|matchers?|test[_-]?(?:utils?|helpers?|kit|lib|support))(?:[_.-]|$)",
    );
    static TYPE_NAME: ConstantPattern = ConstantPattern::new(
        r"(?:^|[a-z0-9])(?:Asserts?|Assertions?|Expectations?|Matchers?|Tests?(?:Utils?|Helpers?|Kit|Support|Base|Fixtures?))(?:[A-Z]|$)",
    );
    NAME.is_match(names::stem(path)) || TYPE_NAME.is_match(names::stem(path))
}

fn imports_framework(path: &str, text: &str) -> bool {
    static GO: ConstantPattern = ConstantPattern::new(r#"(?m)^(?:import\s+|\s+)(?:\w+\s+)?"testing"\s*$"#);
    static JVM: ConstantPattern = ConstantPattern::new(
        r"(?m)^import\s+(?:static\s+)?(?:org\.(?:junit|testng|hamcrest|assertj|mockito)|junit\.framework|kotlin\.test|io\.kotest|org\.scalatest)\b",
    );
    static CSHARP: ConstantPattern = ConstantPattern::new(
        r"(?m)^(?:global\s+)?using\s+(?:static\s+)?(?:Xunit|NUnit|FluentAssertions|Shouldly|Microsoft\.VisualStudio\.TestTools)\b",
    );
    static PHP: ConstantPattern = ConstantPattern::new(r"(?m)^use\s+PHPUnit\\");
    let framework = match language(path) {
        Some(TestLanguage::Go) => &GO,
        Some(TestLanguage::Jvm) => &JVM,
        Some(TestLanguage::CSharp) => &CSHARP,
        Some(TestLanguage::Php) => &PHP,
        _ => return false,
    };
    framework.is_match(text)
}

fn consists_of_assertions(text: &str) -> bool {
    static FUNCTION: ConstantPattern = ConstantPattern::new(
        r"(?m)^[ \t]*(?:export\s+)?(?:(?:(?:public|protected|private|internal|static|final|async)\s+)*(?:def|function|func|fun|void|boolean|bool)\s+(?:self\.)?(?P<name>\w+)|(?P<shell>\w+)\s*\(\)\s*\{|(?:module\.)?exports\.(?P<export>\w+)\s*=)",
    );
    static OF_TESTS: ConstantPattern = ConstantPattern::new(
        r"(?i)^_*(?:assert|expect|should|fail|pass|ok|not_ok|check|verify|compare|die|skip|set_?up|tear_?down|run_?test|test)",
    );
    static ASSERTION: ConstantPattern = ConstantPattern::new(r"(?i)^_*(?:assert|expect|fail)");
    let named = FUNCTION.captures_iter(text).filter_map(|it| {
        ["name", "shell", "export"].into_iter().find_map(|name| Some(it.name(name)?.as_str()))
    });
    let functions: Vec<&str> = named.collect();
    functions.iter().all(|it| OF_TESTS.is_match(it)) && functions.iter().any(|it| ASSERTION.is_match(it))
}

/// The functions, types and values at the top level of a file of Go: files of a package use them without an import.
pub(super) fn declared_in_go(text: &str) -> BTreeSet<String> {
    static DECLARATION: ConstantPattern =
        ConstantPattern::new(r"(?m)^(?:func|type|var|const)\s+(?P<name>[A-Za-z_]\w*)");
    let declared = DECLARATION.captures_iter(text);
    declared.filter_map(|it| Some(it.name("name")?.as_str().to_owned())).filter(|it| it != "_").collect()
}
