//! Precision and recall of the grade on a corpus of tasks with labels given by hand. `cargo test -p loopkeeper-lint
//! grade_corpus -- --nocapture` prints them.

use std::collections::BTreeMap;

use loopkeeper_task::{TaskDocument, parse_task};

use super::{GradeLevel, grade, lints, unsuitable};

const CORPUS: &str = include_str!("../../../tests/fixtures/grades/tasks.txt");

/// The grade of a task, in the form of a label.
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

const LABELS: [&str; 4] = ["vague", "incomplete", "comprehensive", "not-suited"];
/// Share of tasks whose grade is their label.
const MIN_ACCURACY: f64 = 0.9;

/// Labels and texts.
fn corpus() -> Vec<(&'static str, &'static str)> {
    CORPUS.split("\n@@ ").skip(1).filter_map(|it| it.split_once('\n')).collect()
}

/// The label without the reason.
fn kind(label: &str) -> &'static str {
    let Some(kind) = LABELS.into_iter().find(|it| label.starts_with(it)) else { panic!("label {label}") };
    kind
}

/// The share of equal pairs of a label and a grade.
fn accuracy(pairs: &[(&str, String)]) -> f64 {
    let right = pairs.iter().filter(|(label, found)| label == found).count();
    right as f64 / pairs.len() as f64
}

/// Rows are labels, columns grades.
fn confusion(pairs: &[(&str, String)]) -> String {
    let count = |label: &str, found: &str| {
        pairs.iter().filter(|it| kind(it.0) == label && kind(&it.1) == found).count()
    };
    let line = |label: &str, cells: &[String]| {
        let padded: Vec<String> = cells.iter().map(|it| format!("{it:>15}")).collect();
        format!("{label:>15}{}\n", padded.concat())
    };
    let row = |label: &&str| {
        line(label, &LABELS.iter().map(|found| count(label, found).to_string()).collect::<Vec<_>>())
    };
    line("", &LABELS.map(str::to_owned)) + &LABELS.iter().map(row).collect::<Vec<_>>().concat()
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are its result")]
fn grades_are_those_of_a_reader() {
    let tasks = corpus();
    assert_eq!(tasks.len(), 154);
    let pairs: Vec<(&str, String)> = tasks.iter().map(|(label, text)| (*label, found(text))).collect();
    // Right, found and wrong, labelled and not found.
    let mut tallies: BTreeMap<&str, (u32, u32, u32)> = BTreeMap::new();
    for ((label, found), (_, text)) in pairs.iter().zip(&tasks) {
        if found == label {
            tallies.entry(kind(label)).or_default().0 += 1;
        } else {
            println!("labelled {label}, found {found}: {}", text.lines().next().unwrap_or_default());
            tallies.entry(kind(found)).or_default().1 += 1;
            tallies.entry(kind(label)).or_default().2 += 1;
        }
    }
    println!("{}", confusion(&pairs));
    let accuracy = accuracy(&pairs);
    println!("accuracy {accuracy:.2}");
    assert!(accuracy >= MIN_ACCURACY, "{accuracy:.2}");
    for (label, (right, wrong, missed)) in tallies {
        let share = |other: u32| f64::from(right) / f64::from(right + other).max(1.0);
        let (precision, recall) = (share(wrong), share(missed));
        println!("{label}: precision {precision:.2}, recall {recall:.2}");
        assert!(precision >= 0.9 && recall >= 0.85, "{label}: {precision:.2} {recall:.2}");
    }
}

/// The control: labels that belong to other tasks.
#[test]
fn grades_of_shuffled_labels_are_inaccurate() {
    let tasks = corpus();
    let grades: Vec<String> = tasks.iter().map(|(_, text)| found(text)).collect();
    for by in [17, 23, 31, 41] {
        let labels = tasks.iter().cycle().skip(by).map(|it| it.0);
        let pairs: Vec<(&str, String)> = labels.zip(grades.clone()).collect();
        let accuracy = accuracy(&pairs);
        assert!(accuracy < MIN_ACCURACY, "moved by {by}: {accuracy:.2}");
    }
}
