//! Parses the section `May change`: globs of tests, test data and files of checks that a task allows the agent to
//! change.

/// The heading, or the label in front of a list.
const LABELS: [&str; 3] = ["may change", "也可以改", "可以修改"];

/// The text after the label in `May change: tests/golden/**`; empty where a list follows. `None` for any other text.
pub(super) fn after_label(plain: &str) -> Option<&str> {
    let text = plain.trim_start_matches(|it: char| !it.is_alphanumeric());
    let rest = LABELS.iter().find_map(|label| {
        let head = text.get(..label.len())?;
        head.eq_ignore_ascii_case(label).then(|| text.get(label.len()..)).flatten()
    })?;
    let rest = rest.trim_start_matches(['*', '_', '#']).trim();
    if rest.is_empty() { Some("") } else { rest.strip_prefix([':', '：']).map(str::trim) }
}

/// The globs of one line; a remark in brackets or words between them do not count.
pub(super) fn globs(line: &str) -> Vec<String> {
    let bare = |it: &str| it.trim_matches(['`', '"', '\'']).trim_start_matches("./").to_owned();
    // `**` alone would allow everything.
    let is_glob = |it: &String| {
        let names = it.contains(char::is_alphanumeric) && it.contains(['/', '*', '.']);
        names && !it.starts_with(['(', '/']) && !it.ends_with(')')
    };
    let words = line.split(|it: char| it.is_whitespace() || matches!(it, ',' | '，' | '、'));
    words.map(|it| bare(it.trim_end_matches(['.', ';', '。']))).filter(is_glob).collect()
}

#[cfg(test)]
mod tests {
    use super::{after_label, globs};

    #[test]
    fn the_label_is_recognised_in_any_form() {
        for (text, expect) in [
            ("May change", Some("")),
            ("📝 May change:", Some("")),
            ("May change: `a/**`", Some("`a/**`")),
            ("也可以改：a/**", Some("a/**")),
            ("May changes: a", None),
            ("May change often", None),
            ("Mayonnaise", None),
        ] {
            assert_eq!(after_label(text), expect, "{text}");
        }
    }

    #[test]
    fn globs_of_a_line() {
        for (line, expect) in [
            ("tests/golden/**, tests/test_old.py", "tests/golden/** tests/test_old.py"),
            ("`tests/**` and `./docs/*.md`.", "tests/** docs/*.md"),
            ("tests/golden (made again)", "tests/golden"),
            ("nothing", ""),
            ("/etc/passwd", ""),
        ] {
            assert_eq!(globs(line).join(" "), expect, "{line}");
        }
    }
}
