//! The scalars of a YAML document with their paths and positions. For files of other tools, of which a few keys count.

use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser};

use crate::lines::LineIndex;

/// Deeper documents are cut off there.
const MAX_DEPTH: usize = 32;
const MAX_SCALARS: usize = 10_000;

/// One scalar value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlScalar {
    /// Keys and indices with dots between them: `commands.test`, `gates.0.run`.
    pub path: String,
    pub value: String,
    /// Its bytes in the document, quotes included.
    pub range: Range<usize>,
}

/// One level of nesting.
enum Level {
    /// The next scalar is a key; the last key.
    Mapping {
        key: Option<String>,
    },
    Sequence {
        next: usize,
    },
}

/// The scalars of the first document, up to the first error. Aliases are left out.
pub fn scalars(text: &str) -> Vec<YamlScalar> {
    let lines = LineIndex::of(text);
    let mut levels: Vec<Level> = Vec::new();
    let mut all = Vec::new();
    for event in Parser::new_from_str(text) {
        let Ok((event, span)) = event else { break };
        match event {
            Event::MappingStart(..) if levels.len() < MAX_DEPTH => levels.push(Level::Mapping { key: None }),
            Event::SequenceStart(..) if levels.len() < MAX_DEPTH => levels.push(Level::Sequence { next: 0 }),
            Event::MappingEnd | Event::SequenceEnd => {
                levels.pop();
                finish_value(&mut levels);
            }
            Event::Alias(_) => finish_value(&mut levels),
            Event::Scalar(value, ..) => {
                if let Some(Level::Mapping { key: key @ None }) = levels.last_mut() {
                    *key = Some(value.into_owned());
                    continue;
                }
                let range = byte_at(text, &lines, span.start)..byte_at(text, &lines, span.end);
                all.push(YamlScalar { path: path(&levels), value: value.into_owned(), range });
                finish_value(&mut levels);
            }
            Event::MappingStart(..) | Event::SequenceStart(..) | Event::DocumentEnd => break,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => {}
        }
        if all.len() == MAX_SCALARS {
            break;
        }
    }
    all
}

/// The value of the last key or index is complete.
fn finish_value(levels: &mut [Level]) {
    match levels.last_mut() {
        Some(Level::Mapping { key }) => *key = None,
        Some(Level::Sequence { next }) => *next += 1,
        None => {}
    }
}

fn path(levels: &[Level]) -> String {
    let names = levels.iter().map(|it| match it {
        Level::Mapping { key } => key.clone().unwrap_or_default(),
        Level::Sequence { next } => next.to_string(),
    });
    names.collect::<Vec<_>>().join(".")
}

/// Markers count lines from 1 and characters from 0.
fn byte_at(text: &str, lines: &LineIndex, marker: Marker) -> usize {
    let start = lines.start(marker.line().saturating_sub(1)).unwrap_or(text.len());
    let rest = text.get(start..).unwrap_or_default();
    rest.char_indices().nth(marker.col()).map_or(text.len(), |(at, _)| start + at)
}

#[cfg(test)]
mod tests {
    use super::scalars;
    use proptest::prelude::proptest;

    #[test]
    fn scalars_have_paths_and_places() {
        let text = "# ä\ncommands:\n  test: \"npm test\"\n  ü: x # y\nlist:\n  - run: a\n  - [b, c]\nlast: |\n  one\n  two\n";
        let all = scalars(text);
        let shown: Vec<(&str, &str)> = all.iter().map(|it| (it.path.as_str(), it.value.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("commands.test", "npm test"),
                ("commands.ü", "x"),
                ("list.0.run", "a"),
                ("list.1.0", "b"),
                ("list.1.1", "c"),
                ("last", "one\ntwo\n")
            ]
        );
        assert_eq!(&text[all[0].range.clone()], "\"npm test\"");
        assert_eq!(&text[all[1].range.clone()], "x");
        assert_eq!(scalars("a: b\nc: [d\n").first().map(|it| it.value.as_str()), Some("b"));
    }

    proptest! {
        #[test]
        fn ranges_are_inside_the_text(text in "[a-c:\\-\\[\\]{}\"'#&*|> \nä😀]{0,60}") {
            for it in scalars(&text) {
                assert!(text.get(it.range.clone()).is_some(), "{text:?} {it:?}");
            }
        }
    }
}
