//! Reads the keys of a configuration of another tool, in YAML, TOML, JSON or lines of `key = value`.

use std::ops::Range;

use loopkeeper_text::lines::line_around;
use loopkeeper_text::{tr, yaml};
use toml::de::{DeTable, DeValue};

/// A key with its value and its place.
pub(super) struct FileSetting {
    pub(super) path: String,
    pub(super) value: String,
    pub(super) range: Range<usize>,
}

/// Why a file cannot be read, and the line that is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileFault {
    pub(super) message: String,
    pub(super) range: Range<usize>,
}

impl FileFault {
    fn at(offset: usize, text: &str, message: String) -> Self {
        // An error at the end of a file is behind its last line.
        let last = text.trim_end().char_indices().next_back().map_or(0, |(at, _)| at);
        Self { message, range: line_around(text, offset.min(last)) }
    }
}

pub(super) fn read_entries(file: &str, text: &str) -> Result<Vec<FileSetting>, FileFault> {
    match file.rsplit_once('.') {
        Some((_, "toml")) => toml_entries(text),
        Some((_, "json")) => yaml_entries(text, "JSON"),
        Some((_, "yml")) => yaml_entries(text, "YAML"),
        _ => line_entries(text),
    }
}

/// JSON is read as the YAML that it is.
fn yaml_entries(text: &str, format: &str) -> Result<Vec<FileSetting>, FileFault> {
    let document = yaml::parse(text);
    if let Some((fault, at)) = document.fault {
        let message = tr!("this is not {format}: {line}", format, line = fault);
        return Err(FileFault::at(at, text, message));
    }
    // A value without a key: the file ends in its first key.
    if let Some(value) = document.scalars.iter().find(|it| it.path.is_empty() && !it.value.is_empty()) {
        let message = tr!("this is not {format}: {line}", format, line = tr!("a value without a key"));
        return Err(FileFault::at(value.range.start, text, message));
    }
    let entry = |it: yaml::YamlScalar| FileSetting { path: it.path, value: it.value, range: it.range };
    Ok(document.scalars.into_iter().map(entry).collect())
}

/// Lines of `key = value`, below headers in brackets.
fn line_entries(text: &str) -> Result<Vec<FileSetting>, FileFault> {
    let mut all = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let written = line.trim_start_matches('\u{feff}').trim();
        if written.is_empty() || written.starts_with(['#', ';', '[']) {
            continue;
        }
        let Some((key, value)) = written.split_once('=') else {
            return Err(FileFault::at(start, text, tr!("a line without `=`").to_owned()));
        };
        all.push(FileSetting {
            path: key.trim().to_owned(),
            value: value.trim().to_owned(),
            range: start..start + line.trim_end().len(),
        });
    }
    Ok(all)
}

/// Values of the root table and of the tables in it.
fn toml_entries(text: &str) -> Result<Vec<FileSetting>, FileFault> {
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.message().lines().next().unwrap_or(tr!("it cannot be read"));
        let message = tr!("this is not TOML: {line}", line);
        FileFault::at(error.span().map_or(0, |it| it.start), text, message)
    })?;
    let entry = |path: String, range: Range<usize>| {
        let value = text.get(range.clone()).unwrap_or_default().trim_matches(['"', '\'']).to_owned();
        FileSetting { path, value, range }
    };
    let mut all = Vec::new();
    for (key, value) in table.get_ref() {
        match value.get_ref() {
            DeValue::Table(inner) => all.extend(
                inner
                    .iter()
                    .map(|(name, it)| entry(format!("{}.{}", key.get_ref(), name.get_ref()), it.span())),
            ),
            _ => all.push(entry(key.get_ref().to_string(), value.span())),
        }
    }
    all.sort_by_key(|it| it.range.start);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::read_entries;

    /// The message of the fault, with the line that is marked.
    fn fault(file: &str, text: &str) -> Option<(String, String)> {
        let fault = read_entries(file, text).err()?;
        Some((fault.message, text[fault.range].to_owned()))
    }

    #[test]
    fn a_damaged_file_names_its_line() {
        let check = |file: &str, text: &str, message: &str, line: &str| {
            let (found, at) = fault(file, text).expect(text);
            assert!(found.starts_with(message), "{file}: {found}");
            assert_eq!(at, line, "{file}: {found}");
        };
        check("ralph.yml", "a: 1\nb: \"x\n", "this is not YAML: ", "b: \"x");
        check("ralph.yml", "event_lo", "this is not YAML: a value without a key", "event_lo");
        check("ralph.yml", "a: 1\r\na: 2\r\n", "this is not YAML: `a` is written twice", "a: 2");
        check(
            "bmalph/config.json",
            "{\n  \"platform\": \"codex\",\n",
            "this is not JSON: ",
            "  \"platform\": \"codex\",",
        );
        check(
            "bmalph/config.json",
            "{\"a\": 1, \"a\": 2}",
            "this is not JSON: `a` is written twice",
            "{\"a\": 1, \"a\": 2}",
        );
        check("ralph.toml", "[agent]\ncommand = \"co", "this is not TOML: ", "command = \"co");
        check(
            ".ralph-tui/config.toml",
            "maxIterations = 3\nmaxIterations = 4\n",
            "this is not TOML: ",
            "maxIterations = 4",
        );
        check(".ralphex/config", "max_iterations = 3\nsession_tim", "a line without `=`", "session_tim");
    }

    #[test]
    fn a_file_of_another_editor_is_read() {
        let check = |file: &str, text: &str, expect: &[(&str, &str)]| {
            for text in [text.to_owned(), format!("\u{feff}{text}"), text.replace('\n', "\r\n")] {
                let entries = read_entries(file, &text).map_err(|it| it.message).expect(&text);
                let found: Vec<(&str, &str)> =
                    entries.iter().map(|it| (it.path.as_str(), it.value.as_str())).collect();
                assert_eq!(found, expect, "{text:?}");
            }
        };
        check("ralph.yml", "a: 1\nb:\n  c: d\n", &[("a", "1"), ("b.c", "d")]);
        check(
            "bmalph/config.json",
            "{\n\t\"platform\": \"codex\",\n\t\"a\": [1]\n}\n",
            &[("platform", "codex"), ("a.0", "1")],
        );
        check("ralph.toml", "a = 1\n[b]\nc = \"d\"\n", &[("a", "1"), ("b.c", "d")]);
        check(".ralphex/config", "; c\na = 1\n[x]\nb = c = d\n", &[("a", "1"), ("b", "c = d")]);
        for file in ["ralph.yml", "bmalph/config.json", "ralph.toml", ".ralphex/config"] {
            assert_eq!(fault(file, ""), None, "{file}");
            assert_eq!(fault(file, "# a\n\n"), None, "{file}");
        }
    }
}
