//! The section on the project's memory files: their paths, their first lines, and how to maintain them. The agent
//! writes these files; loopkeeper never does.

use std::fmt::Write as _;

use loopkeeper_text::truncate;

use super::PromptInput;
use super::markdown::{code_span, fenced_block, single_line};

/// Maximum size of the patterns at the top of a progress file.
const PATTERNS_BYTES: usize = 8 * 1024;

/// Which of these files exist, by paths relative to the root. Unchanged until they are edited.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryFiles {
    /// `progress.txt` and files like it.
    pub progress: Vec<String>,
    /// `AGENTS.md`.
    pub agents: Vec<String>,
    /// The section of patterns of each progress file that has one, by the file's path.
    pub patterns: Vec<(String, String)>,
    /// A `progress.txt` that a task with stories lacks.
    pub missing: Option<String>,
}

/// The section `Codebase Patterns` of a progress file, without its heading; empty if there is none.
pub fn patterns_section(text: &str) -> &str {
    let Some((at, level)) = find_heading(text) else { return "" };
    let rest = text.get(at..).unwrap_or_default();
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        let ends = heading_level(line).is_some_and(|(it, _)| it <= level) || line.trim() == "---";
        if ends {
            break;
        }
        end += line.len();
    }
    truncate::first_bytes(rest.get(..end).unwrap_or_default().trim(), PATTERNS_BYTES)
}

/// The offset of the text after the heading, and the heading's level.
fn find_heading(text: &str) -> Option<(usize, usize)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        if let Some((level, title)) = heading_level(line)
            && title.trim_end_matches(':').eq_ignore_ascii_case("codebase patterns")
        {
            return Some((at, level));
        }
    }
    None
}

fn heading_level(line: &str) -> Option<(usize, &str)> {
    let level = line.len() - line.trim_start_matches('#').len();
    let title = line.get(level..)?.strip_prefix([' ', '\t'])?;
    (1..=6).contains(&level).then_some((level, title.trim()))
}

/// The section of the prompt.
pub(super) fn write_section(out: &mut String, input: &PromptInput<'_>) {
    let notes = input.notes;
    if notes == &MemoryFiles::default() {
        return;
    }
    out.push_str("## Notes that this project keeps\n\n");
    for path in &notes.progress {
        let _ = writeln!(
            out,
            "- {}: read it before you begin. Before you end, append a dated entry with what you did, which files \
             changed, and what the next one should know; what holds everywhere goes into `## Codebase Patterns` at \
             its top. Never replace what is there.",
            path_span(path)
        );
    }
    for path in &notes.agents {
        let _ = writeln!(
            out,
            "- {}: read it before you begin. Add what you learned that later iterations must know.",
            path_span(path)
        );
    }
    if let Some(path) = &notes.missing {
        write_missing(out, path);
    }
    out.push('\n');
    for (path, patterns) in &notes.patterns {
        let _ = write!(out, "Codebase Patterns of {}:\n\n{}\n", path_span(path), fenced_block(patterns));
    }
}

fn write_missing(out: &mut String, path: &str) {
    let _ = writeln!(
        out,
        "- {} is not there yet: start it in this form, one entry an iteration.\n",
        path_span(path)
    );
    out.push_str(&fenced_block(
        "# Ralph Progress Log\n\
         Started: <date>\n\
         ---\n\n\
         ## Codebase Patterns\n\
         - <what holds everywhere in this code>\n\n\
         ## Key Files\n\
         - <path>: <what it is for>\n\n\
         ---\n\n\
         ## <date and time> - <story id>\n\
         - <what was done, and which files changed>\n\
         - Learnings: <what the next one should know>\n\
         ---\n",
    ));
}

fn path_span(path: &str) -> String {
    code_span(&single_line(path))
}

#[cfg(test)]
mod tests {
    use super::patterns_section;

    fn check(text: &str, expect: &str) {
        assert_eq!(patterns_section(text), expect, "{text:?}");
    }

    #[test]
    fn the_section_of_patterns_ends_where_the_next_begins() {
        check("", "");
        check("# Ralph Progress Log\n---\n## 2026-01-01 - US-1\n- Codebase Patterns\n", "");
        check("# Log\n## Codebase Patterns\n- a\n- b\n\n## Key Files\n- c\n", "- a\n- b");
        check("# Log\r\n## Codebase Patterns\r\n- a\r\n---\r\n- b\r\n", "- a");
        check("## codebase patterns:\n- a\n### More\n- b\n# Next\n- c", "- a\n### More\n- b");
        check("## Codebase Patterns", "");
        check("## Codebase Patterns of old\n- a\n", "");
        check("#Codebase Patterns\n- a\n", "");
    }

    #[test]
    fn patterns_are_bounded() {
        let text = format!("## Codebase Patterns\n{}", "ü".repeat(10_000));
        assert_eq!(patterns_section(&text).len(), 8 * 1024);
    }
}
