//! Renders results and remarks at their places, in the formats of other tools: annotations of GitHub, SARIF, JUnit,
//! JSON.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use loopkeeper_task::TaskDocument;
use loopkeeper_text::lines::LineIndex;
use loopkeeper_text::{DocumentRange, sanitize};
use serde::Serialize;
use serde_json::json;

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CheckReportFormat {
    /// For people
    Text,
    /// One object
    Json,
    /// Workflow commands of GitHub Actions, which annotate lines
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML, for test reports
    Junit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AnnotationLevel {
    Error,
    Warning,
    Note,
    /// A criterion that holds.
    Pass,
}

/// One line of a report.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportItem {
    /// Relative to the root.
    pub(super) file: String,
    /// From 1.
    pub(super) line: usize,
    /// In characters, from 1.
    pub(super) column: usize,
    pub(super) level: AnnotationLevel,
    pub(super) code: String,
    pub(super) message: String,
    /// The name of the criterion.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) name: String,
}

/// The documents of a task, for positions in them.
pub(super) struct DocumentPositions<'a> {
    root: &'a Path,
    here: Option<PathBuf>,
    texts: HashMap<&'a str, (&'a str, LineIndex)>,
}

impl<'a> DocumentPositions<'a> {
    pub(super) fn new(root: &'a Path, documents: &'a [TaskDocument]) -> Self {
        let here = std::env::current_dir().ok().and_then(|it| it.canonicalize().ok());
        let texts =
            documents.iter().map(|it| (it.path.as_str(), (it.text.as_str(), LineIndex::of(&it.text))));
        Self { root, here, texts: texts.collect() }
    }

    /// Line and column of the first byte of a place, both from 1; the column in characters.
    pub(super) fn position(&self, place: &DocumentRange) -> (usize, usize) {
        let Some((text, lines)) = self.texts.get(place.file.as_str()) else { return (1, 1) };
        let line = lines.line(place.range.start);
        let start = lines.start(line).unwrap_or_default();
        let before = text.get(start..place.range.start).unwrap_or_default();
        (line + 1, before.trim_start_matches('\u{feff}').chars().count() + 1)
    }

    /// The path of a document as other tools find it: relative to the current folder, or to the root.
    pub(super) fn shown(&self, file: &str) -> String {
        let path = self.root.join(file);
        let below = self.here.as_ref().and_then(|it| path.strip_prefix(it).ok());
        below.map_or_else(|| file.to_owned(), |it| it.to_string_lossy().into_owned())
    }
}

/// `PROMPT.md:12:5: vague: …`
pub(super) fn text(items: &[ReportItem]) -> String {
    let line = |it: &ReportItem| {
        format!("{}:{}:{}: {}: {}\n", sanitize::line(&it.file), it.line, it.column, it.code, it.message)
    };
    items.iter().map(line).collect()
}

/// One annotation per line that is not a pass.
pub(super) fn github(items: &[ReportItem]) -> String {
    let command = |it: &ReportItem| {
        let word = match it.level {
            AnnotationLevel::Error => "error",
            AnnotationLevel::Warning => "warning",
            AnnotationLevel::Note => "notice",
            AnnotationLevel::Pass => return String::new(),
        };
        let (file, code) = (property(&it.file), property(&it.code));
        let message = it.message.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
        format!("::{word} file={file},line={},col={},title={code}::{message}\n", it.line, it.column)
    };
    items.iter().map(command).collect()
}

fn property(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A").replace(':', "%3A").replace(',', "%2C")
}

pub(super) fn sarif(items: &[ReportItem]) -> serde_json::Value {
    let mut rules: Vec<&str> = items.iter().map(|it| it.code.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let rules: Vec<_> = rules.into_iter().map(|id| json!({ "id": id })).collect();
    let result = |it: &ReportItem| {
        let (level, kind) = match it.level {
            AnnotationLevel::Error => ("error", "fail"),
            AnnotationLevel::Warning => ("warning", "fail"),
            AnnotationLevel::Note => ("note", "fail"),
            AnnotationLevel::Pass => ("none", "pass"),
        };
        json!({
            "ruleId": it.code,
            "level": level,
            "kind": kind,
            "message": { "text": it.message },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": uri(&it.file), "uriBaseId": "SRCROOT" },
                "region": { "startLine": it.line, "startColumn": it.column },
            }}],
        })
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "columnKind": "unicodeCodePoints",
            "tool": { "driver": {
                "name": "loopkeeper",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": items.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

/// A path relative to the root as a relative URI.
fn uri(file: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    file.bytes().fold(String::new(), |mut all, byte| {
        if plain(byte) {
            all.push(char::from(byte));
        } else {
            let _ = write!(all, "%{byte:02X}");
        }
        all
    })
}

/// One test case per line of the report, as the schema of Jenkins (`junit-10.xsd`) has it: places are in the texts, because
/// a test case has no attributes for them.
pub(super) fn junit(task: &str, items: &[ReportItem]) -> String {
    let failures = items
        .iter()
        .filter(|it| matches!(it.level, AnnotationLevel::Error | AnnotationLevel::Warning))
        .count();
    let skipped = items.iter().filter(|it| it.level == AnnotationLevel::Note).count();
    let suite = escaped(task);
    let file =
        items.first().map(|it| it.file.as_str()).filter(|file| items.iter().all(|it| it.file == *file));
    let file = file.map_or_else(String::new, |it| format!(" file=\"{}\"", escaped(it)));
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"{suite}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"{file}>\n",
        items.len()
    );
    for it in items {
        let name = escaped(if it.name.is_empty() { &it.code } else { &it.name });
        let (file, code, message) = (escaped(&it.file), escaped(&it.code), escaped(&it.message));
        let place = format!("{file}:{}:{}", it.line, it.column);
        let inside = match it.level {
            AnnotationLevel::Pass => String::new(),
            AnnotationLevel::Note => format!("<skipped message=\"{message}\"/>"),
            AnnotationLevel::Error | AnnotationLevel::Warning => {
                format!("<failure type=\"{code}\" message=\"{message}\">{place}: {message}</failure>")
            }
        };
        let _ = writeln!(xml, "<testcase classname=\"{suite}\" name=\"{name}\">{inside}</testcase>");
    }
    xml + "</testsuite>\n</testsuites>\n"
}

/// XML 1.0 allows no control characters but blanks, and two characters of the basic plane not at all.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let is_allowed = |it: &char| match *it {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        other => !other.is_control(),
    };
    text.chars().filter(is_allowed).collect()
}

#[cfg(test)]
mod tests {
    use super::{AnnotationLevel, DocumentPositions, ReportItem, github, junit, sarif, text};
    use loopkeeper_task::TaskDocument;
    use loopkeeper_text::DocumentRange;
    use std::path::Path;

    fn item(level: AnnotationLevel) -> ReportItem {
        ReportItem {
            file: "a, b/PROMPT.md".to_owned(),
            line: 3,
            column: 5,
            level,
            code: "vague".to_owned(),
            message: "100% <\"good\">\nmore".to_owned(),
            name: "It's & works".to_owned(),
        }
    }

    #[test]
    fn each_format_escapes_what_would_end_it() {
        let items =
            [item(AnnotationLevel::Warning), item(AnnotationLevel::Pass), item(AnnotationLevel::Note)];
        let lines = github(&items);
        assert_eq!(
            lines.lines().next().unwrap(),
            "::warning file=a%2C b/PROMPT.md,line=3,col=5,title=vague::100%25 <\"good\">%0Amore"
        );
        assert_eq!(lines.lines().count(), 2);
        let xml = junit("T<1>", &items);
        assert!(xml.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""), "{xml}");
        assert!(
            xml.contains("name=\"It's &amp; works\"") && xml.contains("&lt;&quot;good&quot;&gt;"),
            "{xml}"
        );
        assert!(xml.contains("errors=\"0\" skipped=\"1\" file=\"a, b/PROMPT.md\">"), "{xml}");
        let odd =
            ReportItem { message: "a\u{c}\u{b}\u{fffe}\u{1b}b".to_owned(), ..item(AnnotationLevel::Error) };
        assert!(junit("T", &[odd]).contains("message=\"ab\""));
        let other = ReportItem { file: "b.md".to_owned(), ..item(AnnotationLevel::Pass) };
        assert!(!junit("T", &[item(AnnotationLevel::Pass), other]).contains("file="));
        let log = sarif(&items);
        let results = log["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), 3);
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%2C%20b/PROMPT.md");
        assert_eq!(results[1]["kind"], "pass");
        assert!(text(&items).starts_with("a, b/PROMPT.md:3:5: vague: "));
    }

    #[test]
    fn columns_are_characters() {
        let documents = [TaskDocument { path: "a.md".to_owned(), text: "ab\nä😀x\n".to_owned() }];
        let places = DocumentPositions::new(Path::new("/w"), &documents);
        let at = |byte: usize| places.position(&DocumentRange { file: "a.md".to_owned(), range: byte..byte });
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(3), (2, 1));
        assert_eq!(at(9), (2, 3));
    }
}
