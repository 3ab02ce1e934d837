//! Reads the scalars of a YAML document with their paths and positions, for files of other tools of which only a few
//! keys are used.

use std::collections::HashSet;
use std::ops::Range;

use saphyr_parser::{Event, Marker, Parser, Span};

use crate::lines::LineIndex;
use crate::sanitize::shown;
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
        known: HashSet<String>,
    },
    Sequence {
        next: usize,
    },
}

/// The scalars of the first document, up to the first error. Aliases are left out.
pub fn scalars(text: &str) -> Vec<YamlScalar> {
    parse(text).scalars
}

/// A mapping that is an element of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlElement {
    /// As in [`YamlScalar::path`]: `tasks.0`.
    pub path: String,
    /// From its first key, or its brace, to the end of its last word or bracket.
    pub range: Range<usize>,
}

/// What a document contains up to its first error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct YamlDocument {
    pub scalars: Vec<YamlScalar>,
    pub elements: Vec<YamlElement>,
    /// The first error and its byte.
    pub fault: Option<(String, usize)>,
}

/// The scalars of the first document, and the error that ended it.
pub fn parse(text: &str) -> YamlDocument {
    let mut reader = YamlReader::new(text);
    for event in Parser::new_from_str(text) {
        let is_open = match event {
            Ok((event, span)) => reader.take(event, &span),
            Err(error) => reader.fail(error.info().to_owned(), error.marker()),
        };
        if !is_open {
            break;
        }
    }
    reader.document
}

struct YamlReader<'a> {
    positions: PositionIndex<'a>,
    levels: Vec<YamlLevel>,
    /// Where each level starts.
    starts: Vec<usize>,
    /// The end of the last scalar or bracket.
    end: usize,
    document: YamlDocument,
}

impl<'a> YamlReader<'a> {
    fn new(text: &'a str) -> Self {
        let positions = PositionIndex::new(text);
        Self { positions, levels: Vec::new(), starts: Vec::new(), end: 0, document: YamlDocument::default() }
    }

    /// Whether the document continues.
    fn take(&mut self, event: Event<'_>, span: &Span) -> bool {
        match event {
            Event::MappingStart(..) => {
                return self.open(YamlLevel::Mapping { key: None, known: HashSet::new() }, span);
            }
            Event::SequenceStart(..) => return self.open(YamlLevel::Sequence { next: 0 }, span),
            Event::MappingEnd | Event::SequenceEnd => self.close(span),
            Event::Alias(_) => finish_value(&mut self.levels),
            Event::Scalar(value, ..) => return self.scalar(value.into_owned(), span),
            Event::DocumentEnd => return false,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => {}
        }
        true
    }

    fn open(&mut self, level: YamlLevel, span: &Span) -> bool {
        if self.levels.len() == MAX_DEPTH {
            return self.fail(tr!("nested in more than {max} levels", max = MAX_DEPTH), &span.start);
        }
        self.levels.push(level);
        self.starts.push(self.positions.byte_at(&span.start));
        true
    }

    fn close(&mut self, span: &Span) {
        let (level, start) = (self.levels.pop(), self.starts.pop().unwrap_or_default());
        let is_in_brackets = self.positions.text.get(start..).is_some_and(|it| it.starts_with(['{', '[']));
        if is_in_brackets {
            // The end of its event may be behind a comment.
            self.end = self.positions.byte_at(&span.start) + 1;
        }
        let is_element = matches!(level, Some(YamlLevel::Mapping { .. }))
            && matches!(self.levels.last(), Some(YamlLevel::Sequence { .. }));
        if is_element && self.end > start {
            self.document.elements.push(YamlElement { path: path(&self.levels), range: start..self.end });
        }
        finish_value(&mut self.levels);
    }

    fn scalar(&mut self, value: String, span: &Span) -> bool {
        let range = self.positions.byte_at(&span.start)..self.positions.byte_at(&span.end);
        let written = self.positions.text.get(range.clone()).unwrap_or_default().trim_end();
        self.end = self.end.max(range.start + written.len());
        if let Some(YamlLevel::Mapping { key: key @ None, known }) = self.levels.last_mut() {
            // Several mappings may be merged into one.
            if value != "<<" && !known.insert(value.clone()) {
                return self.fail(tr!("`{key}` is written twice", key = shown(&value)), &span.start);
            }
            *key = Some(value);
            return true;
        }
        if self.document.scalars.len() == MAX_SCALARS {
            return self.fail(tr!("more than {max} values", max = MAX_SCALARS), &span.start);
        }
        self.document.scalars.push(YamlScalar { path: path(&self.levels), value, range });
        finish_value(&mut self.levels);
        true
    }

    fn fail(&mut self, fault: String, marker: &Marker) -> bool {
        self.document.fault = Some((fault, self.positions.byte_at(marker)));
        false
    }
}

/// The value of the last key or index is complete.
fn finish_value(levels: &mut [YamlLevel]) {
    match levels.last_mut() {
        Some(YamlLevel::Mapping { key, .. }) => *key = None,
        Some(YamlLevel::Sequence { next }) => *next += 1,
        None => {}
    }
}

fn path(levels: &[YamlLevel]) -> String {
    let names = levels.iter().map(|it| match it {
        YamlLevel::Mapping { key, .. } => key.clone().unwrap_or_default(),
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
    fn new(text: &'a str) -> Self {
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
    fn scalars_have_paths_and_ranges() {
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
    fn mappings_in_lists_have_ranges() {
        let check = |text: &str, expect: &[(&str, &str)]| {
            let elements = parse(text).elements;
            let shown: Vec<(&str, &str)> =
                elements.iter().map(|it| (it.path.as_str(), &text[it.range.clone()])).collect();
            assert_eq!(shown, expect);
        };
        check(
            "a:\n  - b: ä # x\n    c: |\n      d\n\n  - e:\n",
            &[("a.0", "b: ä # x\n    c: |\n      d"), ("a.1", "e")],
        );
        check(
            "- {a: [b, c] } # x\n- a: [b,\n   c ]\nd: e\n",
            &[("0", "{a: [b, c] }"), ("1", "a: [b,\n   c ]")],
        );
        check("a:\n- b:\n  - c: d\n", &[("a.0.b.0", "c: d"), ("a.0", "b:\n  - c: d")]);
    }

    #[test]
    fn an_error_has_a_position() {
        let text = "ä: b\nc: [d\n";
        let document = parse(text);
        let (fault, at) = document.fault.expect("an error");
        assert!(
            !fault.is_empty() && text.is_char_boundary(at) && document.scalars.len() == 2,
            "{fault} {at}"
        );
        let deep = parse(&"- ".repeat(100)).fault.expect("an error");
        assert_eq!(deep.0, "nested in more than 32 levels");
        let values = |count: usize| parse(&"- a\n".repeat(count));
        assert_eq!(values(10_000).fault, None);
        let more = values(10_001);
        assert_eq!(
            (more.scalars.len(), more.fault),
            (10_000, Some(("more than 10000 values".into(), 40_002)))
        );
        assert_eq!(parse("a: b\n").fault, None);
    }

    #[test]
    fn a_key_that_is_written_twice_is_an_error() {
        let check = |text: &str, expect: Option<(&str, usize)>| {
            let fault = parse(text).fault;
            assert_eq!(fault.as_ref().map(|it| (it.0.as_str(), it.1)), expect, "{text}");
        };
        check("a: 1\nb: 2\na: 3\n", Some(("`a` is written twice", 10)));
        check("x: {a: 1, 'a': 2}\n", Some(("`a` is written twice", 10)));
        check("- a: 1\n- a: 2\n", None);
        check("x:\n  a: 1\ny:\n  a: 2\n", None);
        check("p: &b {k: 1}\nq: &c {l: 1}\nx:\n  <<: *b\n  <<: *c\n", None);
    }

    proptest! {
        #[test]
        fn ranges_are_inside_the_text(text in "[a-c:\\-\\[\\]{}\"'#&*|> \nä😀]{0,60}") {
            let document = parse(&text);
            for it in document.scalars {
                assert!(text.get(it.range.clone()).is_some(), "{text:?} {it:?}");
            }
            for it in document.elements {
                assert!(text.get(it.range.clone()).is_some(), "{text:?} {it:?}");
            }
        }
    }
}
