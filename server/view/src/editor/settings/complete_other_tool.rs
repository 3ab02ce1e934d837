//! Completion in configurations of other tools: their keys with a counterpart here, and the values of these.

use std::ops::Range;

use super::complete::agents;
use super::explain;
use crate::editor::{Suggestion, SuggestionKind};
use loopkeeper_core::settings::lookup::{KeyLookup, look_up};
use loopkeeper_core::settings::table::{Key, ValueKind};
use loopkeeper_core::settings::{CounterpartKey, LayerKind, counterpart_keys};
use loopkeeper_text::lines::line_around;

/// The completion items at `offset`. `file`: its name in the root.
pub fn complete_other_tool(kind: LayerKind, (file, text): (&str, &str), offset: usize) -> Vec<Suggestion> {
    let sign = if is_yaml(file) {
        ": "
    } else if kind == LayerKind::Ralphrc {
        "="
    } else {
        " = "
    };
    let line = line_around(text, offset);
    let (Some(before), Some(written)) = (text.get(line.start..offset), text.get(line.clone())) else {
        return Vec::new();
    };
    if file.rsplit('.').next() == Some("json") {
        return in_json(&counterpart_keys(kind, file), (text, written), before, &line);
    }
    let above = section(file, text, &line, before.len() - before.trim_start().len());
    let known = counterpart_keys(kind, file);
    let separator = sign.trim();
    if let Some((name, _)) = before.split_once(separator) {
        let path = format!("{above}{}", name.trim());
        let value = line.start + name.len() + separator.len();
        let space =
            written.get(name.len() + separator.len()..).map_or(0, |it| it.len() - it.trim_start().len());
        let found = known.iter().find(|it| it.name == path);
        return found.map_or_else(Vec::new, |it| values(*it, &((value + space).min(offset)..line.end)));
    }
    if !before.trim_start().chars().all(|it| it.is_ascii_alphanumeric() || it == '_') {
        return Vec::new();
    }
    let start = line.start + before.len() - before.trim_start().len();
    let word = written.find(separator).map_or(line.end, |at| line.start + at);
    let replaces = start..text.get(start..word).map_or(word, |it| start + it.trim_end().len()).max(offset);
    let is_set = written.contains(separator);
    let mut all: Vec<Suggestion> = Vec::new();
    for key in &known {
        let Some(rest) = key.name.strip_prefix(above.as_str()) else { continue };
        let (label, is_table) = rest.split_once('.').map_or((rest, false), |(table, _)| (table, true));
        // A table of TOML has a header of its own.
        let is_usable = !is_table || is_yaml(file);
        if is_usable && all.iter().all(|it| it.label != label) && !is_given(text, &line, label, separator) {
            let end = match (is_set, is_table) {
                (true, _) => "",
                (false, true) => ":",
                (false, false) => sign,
            };
            all.push(Suggestion {
                label: label.to_owned(),
                kind: if is_table { SuggestionKind::Table } else { SuggestionKind::Key },
                detail: if is_table { String::new() } else { key.path.unwrap_or_default().to_owned() },
                documentation: setting(*key).map(explain::sentence).unwrap_or_default(),
                replaces: replaces.clone(),
                text: format!("{label}{end}"),
                filter: None,
            });
        }
    }
    all
}

/// A property of one line: `"name": "value",`. Names and values are replaced with their quotes.
fn in_json(
    known: &[CounterpartKey],
    (text, written): (&str, &str),
    before: &str,
    line: &Range<usize>,
) -> Vec<Suggestion> {
    let quoted = |it: Suggestion| Suggestion { text: format!("\"{}\"", it.text), ..it };
    let indent = before.len() - before.trim_start().len();
    if let Some((name, value)) = before.split_once(':') {
        let found = known.iter().find(|it| it.name == name.trim().trim_matches('"'));
        let from = line.start + before.len() - value.trim_start().len();
        let rest = written.get(from - line.start..).unwrap_or_default();
        let end = rest.trim_end().trim_end_matches(',').trim_end().len();
        return found
            .map_or_else(Vec::new, |it| values(*it, &(from..from + end)).into_iter().map(quoted).collect());
    }
    let typed = before.get(indent..).unwrap_or_default().trim_start_matches('"');
    if !typed.chars().all(|it| it.is_ascii_alphanumeric() || it == '_') {
        return Vec::new();
    }
    let is_set = written.contains(':');
    let end = written.find(':').unwrap_or(written.trim_end().len()).max(before.len());
    let absent = known.iter().filter(|it| is_set || !text.contains(&format!("\"{}\"", it.name)));
    let one = |key: &CounterpartKey| Suggestion {
        label: key.name.to_owned(),
        kind: SuggestionKind::Key,
        detail: key.path.unwrap_or_default().to_owned(),
        documentation: setting(*key).map(explain::sentence).unwrap_or_default(),
        replaces: line.start + indent..line.start + end,
        text: if is_set { format!("\"{}\"", key.name) } else { format!("\"{}\": ", key.name) },
        filter: Some(format!("\"{}\"", key.name)),
    };
    absent.map(one).collect()
}

fn is_yaml(file: &str) -> bool {
    file == "ralph.yml"
}

/// The names above a line, each followed by a dot: `event_loop.`.
fn section(file: &str, text: &str, line: &Range<usize>, indent: usize) -> String {
    let mut lines = text.get(..line.start).unwrap_or_default().lines().rev();
    let is_yaml = is_yaml(file);
    let header = if is_yaml {
        lines.find(|it| !it.trim().is_empty() && it.len() - it.trim_start().len() < indent)
    } else {
        lines.find(|it| it.trim_start().starts_with('['))
    };
    let name = match header {
        Some(it) if is_yaml => it.trim().strip_suffix(':'),
        Some(it) => it.trim().strip_prefix('[').and_then(|it| it.strip_suffix(']')),
        None => None,
    };
    name.map_or_else(String::new, |it| format!("{it}."))
}

/// Whether another line assigns this name.
fn is_given(text: &str, own: &Range<usize>, name: &str, separator: &str) -> bool {
    let mut at = 0;
    text.split_inclusive('\n').any(|line| {
        let start = at;
        at += line.len();
        let (key, _) = line.split_once(separator).unwrap_or_default();
        start != own.start && key.trim().trim_start_matches("export ") == name
    })
}

fn setting(key: CounterpartKey) -> Option<&'static Key> {
    let names: Vec<&str> = key.path?.split('.').collect();
    match look_up(&names) {
        KeyLookup::Key(key) => Some(key),
        _ => None,
    }
}

fn values(key: CounterpartKey, replaces: &Range<usize>) -> Vec<Suggestion> {
    let Some(setting) = setting(key) else { return Vec::new() };
    let texts: Vec<String> = match setting.takes {
        ValueKind::Flag => vec!["true".to_owned(), "false".to_owned()],
        ValueKind::Agent | ValueKind::Agents => agents("").into_iter().collect(),
        _ => Vec::new(),
    };
    let value = |text: String| Suggestion {
        label: text.clone(),
        kind: SuggestionKind::Value,
        detail: String::new(),
        documentation: explain::sentence(setting),
        replaces: replaces.clone(),
        text,
        filter: None,
    };
    texts.into_iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::any;
    use proptest::sample::Index;
    use proptest::{prop_assert, proptest};

    use super::complete_other_tool;
    use loopkeeper_core::settings::LayerKind;

    /// The labels at the `|`, and the text after the first is taken.
    fn taken(kind: LayerKind, file: &str, text: &str) -> (Vec<String>, String) {
        let offset = text.find('|').expect("a cursor");
        let mut text = text.replacen('|', "", 1);
        let all = complete_other_tool(kind, (file, &text), offset);
        if let Some(first) = all.first() {
            text.replace_range(first.replaces.clone(), &first.text);
        }
        (all.into_iter().map(|it| it.label).collect(), text)
    }

    #[test]
    fn keys_and_values_of_a_ralphrc_are_completed() {
        let (labels, text) = taken(LayerKind::Ralphrc, ".ralphrc", "MAX_CALLS_PER_HOUR=3\n|\n# end\n");
        assert!(!labels.contains(&"MAX_CALLS_PER_HOUR".to_owned()), "{labels:?}");
        assert!(labels.contains(&"QUALITY_GATES".to_owned()), "{labels:?}");
        assert_eq!(text, "MAX_CALLS_PER_HOUR=3\nCLAUDE_TIMEOUT_MINUTES=\n# end\n");
        let (labels, text) = taken(LayerKind::Ralphrc, ".ralphrc", "SESSION_CONTINUITY=|x");
        assert_eq!(
            (labels, text.as_str()),
            (vec!["true".to_owned(), "false".to_owned()], "SESSION_CONTINUITY=true")
        );
        assert_eq!(taken(LayerKind::Ralphrc, ".ralphrc", "# CB|").0, [""; 0]);
        assert_eq!(taken(LayerKind::Ralphrc, ".ralphrc", "PROJECT_NAME=|").0, [""; 0]);
    }

    #[test]
    fn tables_are_completed_where_their_keys_belong() {
        let other = LayerKind::OtherTool;
        let (labels, text) = taken(other, "ralph.yml", "|");
        assert_eq!(
            (labels.get(..2), text.as_str()),
            (Some(&["event_loop".to_owned(), "cli".to_owned()][..]), "event_loop:")
        );
        let (labels, text) = taken(
            other,
            "ralph.yml",
            "cli:\n  backend: codex\nevent_loop:\n  max_iterations: 3\n  max_c|: 5\n",
        );
        assert!(
            labels.contains(&"max_cost_usd".to_owned()) && !labels.contains(&"max_iterations".to_owned())
        );
        assert_eq!(text.lines().last(), Some("  max_runtime_seconds: 5"));
        let (labels, _) = taken(other, "ralph.yml", "cli:\n  backend: |\n");
        assert!(labels.contains(&"codex".to_owned()), "{labels:?}");
        let (labels, text) = taken(other, ".ralph-tui/config.toml", "max|\n");
        assert_eq!((labels.len(), text.as_str()), (2, "defaultAgent = \n"));
        let (labels, text) = taken(other, ".ralph-tui/config.toml", "[trackerOptions]\n|\n");
        assert_eq!((labels.len(), text.as_str()), (1, "[trackerOptions]\npath = \n"));
    }

    #[test]
    fn properties_of_json_are_completed_with_their_quotes() {
        let file = "bmalph/config.json";
        let (labels, text) = taken(LayerKind::OtherTool, file, "{\n  \"pl|\n}\n");
        assert_eq!((labels.len(), text.as_str()), (1, "{\n  \"platform\": \n}\n"));
        let (labels, text) =
            taken(LayerKind::OtherTool, file, "{\n  \"platform\": \"co|dex\",\n  \"name\": \"x\"\n}\n");
        assert!(labels.contains(&"codex".to_owned()), "{labels:?}");
        assert!(text.contains(&format!("\"platform\": \"{}\",\n", labels[0])), "{text}");
        let (labels, text) = taken(LayerKind::OtherTool, file, "{\n  \"platform\": |\n}\n");
        assert_eq!(text, format!("{{\n  \"platform\": \"{}\"\n}}\n", labels[0]));
        assert_eq!(taken(LayerKind::OtherTool, file, "{\"name\": \"|\"}").0, [""; 0]);
        assert_eq!(taken(LayerKind::OtherTool, file, "{\n  \"platform\": \"a\",\n  |\n}").0, [""; 0]);
    }

    #[test]
    fn keys_of_an_older_form_are_completed() {
        let (labels, text) = taken(LayerKind::OtherTool, "ralph.yml", "agent: claude\nmax_|\n");
        assert!(
            labels.contains(&"max_iterations".to_owned()) && !labels.contains(&"agent".to_owned()),
            "{labels:?}"
        );
        assert!(text.starts_with("agent: claude\n"), "{text}");
        let (labels, _) = taken(LayerKind::OtherTool, "ralph.yml", "agent: |\n");
        assert!(labels.contains(&"codex".to_owned()), "{labels:?}");
    }

    proptest! {
        #[test]
        fn what_is_replaced_is_on_one_line(text in "(---\n)?[a-dé:=. \\[\\]#\"\\-\r\n]{0,40}", at in any::<Index>()) {
            let at = text.floor_char_boundary(at.index(text.len() + 1));
            for (kind, file) in [
                (LayerKind::Ralphrc, ".ralphrc"),
                (LayerKind::OtherTool, "ralph.yml"),
                (LayerKind::OtherTool, ".ralph-tui/config.toml"),
                (LayerKind::OtherTool, "bmalph/config.json"),
            ] {
                for it in complete_other_tool(kind, (file, &text), at) {
                    let replaced = text.get(it.replaces.clone());
                    prop_assert!(replaced.is_some_and(|it| !it.contains('\n')), "{:?} of {text:?}", it.replaces);
                }
            }
        }
    }
}
