//! `CMakeLists.txt`: the commands that add tests and set their properties are judges, all else is work.

use loopkeeper_text::pattern::ConstantPattern;

/// The final text with the test commands of the start behind it; `None` if they are the same.
pub(super) fn with_tests_of_start(start: &str, end: &str) -> Option<String> {
    let of_tests = |text| commands(text).into_iter().filter(|it| is_of_tests(it.1)).collect::<Vec<_>>();
    let (old, new) = (of_tests(start), of_tests(end));
    if old.iter().map(|it| words(it.1)).eq(new.iter().map(|it| words(it.1))) {
        return None;
    }
    let (mut text, mut at) = (String::new(), 0);
    for (from, command) in new {
        text.push_str(end.get(at..from).unwrap_or_default());
        at = from + command.len();
    }
    text.push_str(end.get(at..).unwrap_or_default());
    for (_, command) in old {
        text.push('\n');
        text.push_str(command);
    }
    text.push('\n');
    Some(text)
}

fn is_of_tests(command: &str) -> bool {
    static TESTS: ConstantPattern = ConstantPattern::new(
        r"(?ix)^(?: (?:enable_testing|add_test|set_tests_properties|\w+_(?:discover|add)_tests) \s*\(
            | set_property \s*\( \s* TEST \b | include \s*\( \s* CTest \s*\) | set \s*\( \s* (?:CTEST_|CMAKE_CTEST_|MEMORYCHECK_)
            | (?:configure_file|file) \s*\( [^)]* CTest )",
    );
    TESTS.is_match(command)
}

fn words(command: &str) -> Vec<&str> {
    command.split_whitespace().collect()
}

/// Each command up to its closing parenthesis, with its place in the text.
fn commands(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut from, mut depth, mut is_quoted, mut is_comment) = (None, 0_u32, false, false);
    let mut previous = ' ';
    for (at, it) in text.char_indices() {
        match it {
            '\n' => is_comment = false,
            _ if is_comment => {}
            '"' if depth > 0 && previous != '\\' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '#' => is_comment = true,
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0
                    && let Some(from) = from.take()
                {
                    found.extend(text.get(from..=at).map(|it| (from, it)));
                }
            }
            _ if depth == 0 && from.is_none() && (it.is_alphanumeric() || it == '_') => from = Some(at),
            _ => {}
        }
        previous = it;
    }
    found
}
