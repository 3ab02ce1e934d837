//! Precision and recall of the lints on a corpus of criteria with labels given by hand. `cargo test -p loopkeeper-lint
//! corpus -- --nocapture` prints them.

use std::collections::BTreeMap;

use loopkeeper_task::{TaskDocument, parse_task};

use super::{LintCode, lints};

const CORPUS: &str = include_str!("../../../tests/fixtures/lint/criteria.tsv");

fn remark(criterion: &str) -> Option<&'static str> {
    let text = format!("# T\n\n## Done when\n\n- {criterion}\n");
    let documents = vec![TaskDocument { path: "PROMPT.md".to_owned(), text }];
    let task = parse_task(&documents);
    assert_eq!(task.criteria.len(), 1, "{criterion}");
    lints(&task, &documents).first().map(|it| it.code.word())
}

#[derive(Default)]
struct Tally {
    right: u32,
    wrong: u32,
    missed: u32,
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are its result")]
fn remarks_are_precise_and_complete() {
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let (mut good, mut alarms) = (0, Vec::new());
    for line in CORPUS.lines().filter(|it| !it.starts_with('#')) {
        let (label, criterion) = line.split_once('\t').expect(line);
        let found = remark(criterion).unwrap_or("ok");
        if label == "ok" {
            good += 1;
            if found != "ok" {
                alarms.push(format!("{found}: {criterion}"));
            }
        }
        if found == label {
            tallies.entry(label).or_default().right += 1;
            continue;
        }
        println!("labelled {label}, found {found}: {criterion}");
        tallies.entry(label).or_default().missed += 1;
        tallies.entry(found).or_default().wrong += 1;
    }
    println!("{} false alarms on {good} good criteria", alarms.len());
    for code in LintCode::ALL {
        let Some(tally) = tallies.get(code.word()) else { continue };
        let share = |other: u32| f64::from(tally.right) / f64::from(tally.right + other).max(1.0);
        let (precision, recall) = (share(tally.wrong), share(tally.missed));
        println!("{}: precision {precision:.2}, recall {recall:.2}", code.word());
        assert!(precision >= 0.9 && recall >= 0.7, "{}: {precision:.2} {recall:.2}", code.word());
    }
    assert!(good >= 200 && alarms.len() <= 4, "{alarms:#?}");
}
