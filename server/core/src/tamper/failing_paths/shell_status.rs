//! Whether a shell script that runs commands still reports their failures in its exit status.

use loopkeeper_text::pattern::ConstantPattern;

/// Whether the script could fail before, and ignores the failures of all its commands now.
pub(super) fn is_ignored(before: &str, after: &str) -> bool {
    let (old, new) = (code_lines(before), code_lines(after));
    let Some((last, rest)) = new.split_last() else { return false };
    if may_end_early(&new) || !is_closed(rest) {
        return false;
    }
    let ends = |line: &str| matches!(line.trim_end_matches(';').trim_end(), "exit 0" | "exit");
    if ends(last) && fails_by_itself(&old) {
        return true;
    }
    // The same commands, of which the last one no longer decides.
    let appended = ends(last) || matches!(*last, "true" | ":");
    (appended && rest == old.as_slice() && !old.last().is_some_and(|it| ends(it)))
        || old.split_last().is_some_and(|(old_last, old_rest)| {
            let dropped = last.strip_prefix(old_last).map(str::trim);
            old_rest == rest
                && matches!(dropped, Some("|| true" | "|| :" | "; true" | "|| exit 0" | "; exit 0"))
        })
}

fn code_lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).filter(|it| !it.is_empty() && !it.trim_start().starts_with('#')).collect()
}

/// Whether something can end the script with another status than its last command.
fn may_end_early(lines: &[&str]) -> bool {
    static EARLY_END: ConstantPattern = ConstantPattern::new(
        r#"\bset\s+-\w*[eu]|\b(?:errexit|nounset|exec|kill|trap|source|eval)\b|(?:^|[;&|]\s*)\.\s|\$\{\w+:?\?|<<|\bexit\s+(?:[1-9]|"?\$)"#,
    );
    lines.iter().any(|it| EARLY_END.is_match(it))
}

/// Whether its author had it report failures.
fn fails_by_itself(lines: &[&str]) -> bool {
    static FAILURE: ConstantPattern =
        ConstantPattern::new(r#"\bset\s+-\w*e|\berrexit\b|\bexit\s+(?:[1-9]|"?\$)"#);
    lines.iter().any(|it| FAILURE.is_match(it))
}

/// Whether every block, quote and line of these is complete, so that the next line always runs.
fn is_closed(lines: &[&str]) -> bool {
    let (mut depth, mut quotes) = (0i32, [0usize; 2]);
    for line in lines {
        for (count, quote) in quotes.iter_mut().zip(['"', '\'']) {
            *count += line.matches(quote).count();
        }
        for word in line.split(|it: char| it.is_whitespace() || it == ';') {
            depth += match word {
                "if" | "case" | "do" | "{" | "(" => 1,
                "fi" | "esac" | "done" | "}" | ")" => -1,
                word if word.ends_with("(){") => 1,
                _ => 0,
            };
        }
    }
    let continues = |it: &&str| ["&&", "||", "|", "\\"].iter().any(|end| it.ends_with(end));
    depth == 0 && quotes.iter().all(|it| it % 2 == 0) && !lines.last().is_some_and(continues)
}
