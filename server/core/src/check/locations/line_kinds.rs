//! Recognises lines that describe the locations in other lines.

/// `error[E0308]: mismatched types`, `warning: unused variable`.
pub(super) fn is_diagnostic(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("error").or_else(|| line.strip_prefix("warning")) else {
        return false;
    };
    rest.starts_with(": ") || (rest.starts_with('[') && rest.contains("]: "))
}

/// `TypeError: x is not a function`, `AssertionError [ERR_ASSERTION]: 2 == 3`, `Error: boom`.
pub(super) fn is_exception(line: &str) -> bool {
    let line = line.trim_start();
    let name = line.split([':', ' ']).next().unwrap_or_default();
    let is_name = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'_' | b'$');
    let named = (name.ends_with("Error") || name.ends_with("Exception")) && name.bytes().all(is_name);
    named && line.contains(": ") || line.starts_with("expect(") && line.contains(").")
}

/// A line of a failed comparison: `Expected: 4`, `+ actual - expected`, `0 !== 4`.
pub(super) fn is_detail(text: &str) -> bool {
    let begins = ["+", "-", "Expected", "Received"].iter().any(|it| text.starts_with(it));
    begins && !text.starts_with("--") || text.contains(" !== ")
}

/// The line above console output of a test, which Jest repeats with the location of the call.
pub(super) fn is_console(text: &str) -> bool {
    text.strip_prefix("console.").is_some_and(|it| ["log", "info", "debug", "warn", "error"].contains(&it))
}

/// The message of `error: 'boom'` in TAP; empty for `error: |-`, whose text is on the lines below.
pub(super) fn tap_error(line: &str) -> Option<&str> {
    let error = line.strip_prefix("  ")?.trim().strip_prefix("error: ")?;
    let quoted = error.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
    quoted.or_else(|| error.starts_with('|').then_some(""))
}
