//! Reads the scalars of a YAML document with their paths and positions, for files of other tools of which only a few
//! keys are used.

use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser};

use crate::lines::LineIndex;
use crate::tr;

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
enum YamlLevel {
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
    parse(text).scalars
}

/// What a document contains, and what its end could not be read for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct YamlDocument {
    pub scalars: Vec<YamlScalar>,
    /// The first error and its byte.
    pub fault: Option<(String, usize)>,
}

/// The scalars of the first document, and the error that ended it.
pub fn parse(text: &str) -> YamlDocument {
    let mut places = PositionIndex::of(text);
    let mut levels: Vec<YamlLevel> = Vec::new();
    let mut all = Vec::new();
    let mut fault = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = match event {
            Ok(found) => found,
            Err(error) => {
                fault = Some((error.info().to_owned(), places.byte_at(error.marker())));
                break;
            }
        };
        match event {
            Event::MappingStart(..) if levels.len() < MAX_DEPTH => {
                levels.push(YamlLevel::Mapping { key: None });
            }
            Event::SequenceStart(..) if levels.len() < MAX_DEPTH => {
                levels.push(YamlLevel::Sequence { next: 0 });
            }
            Event::MappingEnd | Event::SequenceEnd => {
                levels.pop();
                finish_value(&mut levels);
            }
            Event::Alias(_) => finish_value(&mut levels),
            Event::Scalar(value, ..) => {
                if let Some(YamlLevel::Mapping { key: key @ None }) = levels.last_mut() {
                    *key = Some(value.into_owned());
                    continue;
                }
                let range = places.byte_at(&span.start)..places.byte_at(&span.end);
                all.push(YamlScalar { path: path(&levels), value: value.into_owned(), range });
                finish_value(&mut levels);
            }
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                fault = Some((
                    tr!("nested in more than {max} levels", max = MAX_DEPTH),
                    places.byte_at(&span.start),
                ));
                break;
            }
            Event::DocumentEnd => break,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => {}
        }
        if all.len() == MAX_SCALARS {
            fault = Some((tr!("more than {max} values", max = MAX_SCALARS), places.byte_at(&span.end)));
            break;
        }
    }
    YamlDocument { scalars: all, fault }
}

/// The value of the last key or index is complete.
fn finish_value(levels: &mut [YamlLevel]) {
    match levels.last_mut() {
        Some(YamlLevel::Mapping { key }) => *key = None,
        Some(YamlLevel::Sequence { next }) => *next += 1,
        None => {}
    }
}

fn path(levels: &[YamlLevel]) -> String {
    let names = levels.iter().map(|it| match it {
        YamlLevel::Mapping { key } => key.clone().unwrap_or_default(),
        YamlLevel::Sequence { next } => next.to_string(),
    });
    names.collect::<Vec<_>>().join(".")
}

/// Converts markers, which count lines from 1 and characters from 0, to bytes.
struct PositionIndex<'a> {
    text: &'a str,
    lines: LineIndex,
    /// The last one: line, column and byte. The next one is mostly after it in the same line.
    last: (usize, usize, usize),
}

impl<'a> PositionIndex<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, lines: LineIndex::of(text), last: (0, 0, 0) }
    }

    fn byte_at(&mut self, marker: &Marker) -> usize {
        let (line, column, byte) = self.last;
        let (column, start) = if marker.line() == line && marker.col() >= column {
            (column, byte)
        } else {
            (0, self.lines.start(marker.line().saturating_sub(1)).unwrap_or(self.text.len()))
        };
        let rest = self.text.get(start..).unwrap_or_default();
        let found =
            rest.char_indices().nth(marker.col() - column).map_or(self.text.len(), |(at, _)| start + at);
        self.last = (marker.line(), marker.col(), found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, scalars};
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

    #[test]
    fn an_error_has_a_place() {
        let text = "ä: b\nc: [d\n";
        let document = parse(text);
        let (fault, at) = document.fault.expect("an error");
        assert!(
            !fault.is_empty() && text.is_char_boundary(at) && document.scalars.len() == 2,
            "{fault} {at}"
        );
        let deep = parse(&"- ".repeat(100)).fault.expect("an error");
        assert_eq!(deep.0, "nested in more than 32 levels");
        assert_eq!(parse("a: b\n").fault, None);
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
