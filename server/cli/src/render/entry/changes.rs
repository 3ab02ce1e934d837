//! Renders the changes of an iteration: lines of files, and sources that the task does not mention.

use loopkeeper_core::journal::{ChangeStats, DriftShare, LineStats};
use loopkeeper_text::clauses;
use loopkeeper_text::{sanitize, tr, words};

/// `drift: the task does not mention 1 of 2 changed sources: src/theme.py`
pub(super) fn off_topic(share: &DriftShare) -> Option<String> {
    let paths: Vec<String> = share.paths.iter().map(|it| sanitize::line(it)).collect();
    let more = if share.off > paths.len() as u64 { tr!(", …") } else { "" };
    let (off, total) = (share.off, words::counted(share.total, "changed source"));
    (off > 0).then(|| {
        tr!(
            "drift: the task does not mention {off} of {total}: {paths}{more}",
            off,
            total,
            paths = clauses::list(paths),
            more
        )
    })
}

/// `changed: +13 -1 lines: src/a.rs +3 -1, src/b.rs +10 -0`; empty if no lines were counted.
pub(super) fn changed_lines(changes: &ChangeStats) -> Option<String> {
    let total = changes.lines?;
    let file = |(path, lines): (&str, Option<LineStats>)| {
        let lines = lines.map_or_else(String::new, |it| format!(" {it}"));
        format!("{}{lines}", sanitize::line(path))
    };
    let files: Vec<String> = changes.files_with_lines().map(file).collect();
    let more = if changes.count > files.len() as u64 { tr!(", …") } else { "" };
    Some(tr!("changed: {total} lines: {files}{more}", total, files = clauses::list(files), more))
}

#[cfg(test)]
mod tests {
    use super::off_topic;
    use loopkeeper_core::journal::DriftShare;

    #[test]
    fn only_a_share_of_unmentioned_sources_is_a_line() {
        let line = |off, total, paths: &[&str]| {
            let paths = paths.iter().map(ToString::to_string).collect();
            off_topic(&DriftShare { off, total, paths })
        };
        assert_eq!(line(0, 2, &[]), None);
        let one = "drift: the task does not mention 1 of 2 changed sources: src/a.py";
        assert_eq!(line(1, 2, &["src/a.py"]).as_deref(), Some(one));
        let many = "drift: the task does not mention 4 of 4 changed sources: ab, c, d, …";
        assert_eq!(line(4, 4, &["a\u{1b}[31mb", "c", "d"]).as_deref(), Some(many));
    }
}
