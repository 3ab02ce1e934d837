//! Precision and recall of the grade on a corpus of tasks with labels given by hand. `cargo test -p loopkeeper-lint
//! grade_corpus -- --nocapture` prints them.

use std::collections::BTreeMap;

use loopkeeper_task::{TaskDocument, parse_task};

use super::{GradeLevel, grade, lints, unsuitable};

const CORPUS: &str = include_str!("../../../tests/fixtures/grades/tasks.txt");

/// What the label of a task is compared with.
fn found(text: &str) -> String {
    let documents = vec![TaskDocument { path: "PROMPT.md".to_owned(), text: text.to_owned() }];
    let task = parse_task(&documents);
    if let Some(reason) = unsuitable(&task) {
        return format!("not-suited {}", reason.word());
    }
    match grade(&task, &documents, &lints(&task, &documents)).level {
        GradeLevel::Vague => "vague",
        GradeLevel::Incomplete => "incomplete",
        GradeLevel::Comprehensive => "comprehensive",
    }
    .to_owned()
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are its result")]
fn grades_are_those_of_a_reader() {
    // Right, found and wrong, labelled and not found.
    let mut tallies: BTreeMap<&str, (u32, u32, u32)> = BTreeMap::new();
    let tasks: Vec<(&str, &str)> =
        CORPUS.split("\n@@ ").skip(1).filter_map(|it| it.split_once('\n')).collect();
    assert_eq!(tasks.len(), 60);
    for (label, text) in tasks {
        let found = found(text);
        let kind = |it: &str| {
            ["vague", "incomplete", "comprehensive", "not-suited"]
                .into_iter()
                .find(|kind| it.starts_with(kind))
        };
        let (Some(labelled), Some(seen)) = (kind(label), kind(&found)) else { panic!("{label} {found}") };
        if found == label {
            tallies.entry(labelled).or_default().0 += 1;
        } else {
            println!("labelled {label}, found {found}: {}", text.lines().next().unwrap_or_default());
            tallies.entry(seen).or_default().1 += 1;
            tallies.entry(labelled).or_default().2 += 1;
        }
    }
    for (label, (right, wrong, missed)) in tallies {
        let share = |other: u32| f64::from(right) / f64::from(right + other).max(1.0);
        let (precision, recall) = (share(wrong), share(missed));
        println!("{label}: precision {precision:.2}, recall {recall:.2}");
        assert!(precision >= 0.9 && recall >= 0.85, "{label}: {precision:.2} {recall:.2}");
    }
}
