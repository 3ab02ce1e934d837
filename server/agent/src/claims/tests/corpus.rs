//! Precision and recall of claims of completion on sentences with labels given by hand.
//! `cargo test -p loopkeeper-agent corpus -- --nocapture` prints them.

use crate::claims::read;

/// Sentences for which the rules were written, and others that were written afterwards.
const FILES: [(&str, &str); 2] = [
    ("claims", include_str!("../../../../../tests/fixtures/claims/claims.tsv")),
    ("unseen", include_str!("../../../../../tests/fixtures/claims/unseen.tsv")),
];

#[test]
#[expect(clippy::print_stdout, reason = "the figures are its result")]
fn claims_of_completion_are_recognized() {
    for (name, rows) in FILES {
        let (precision, recall) = figures(rows);
        println!("{name}: precision {precision:.2}, recall {recall:.2}");
        assert!(precision >= 0.9 && recall >= 0.7, "{name}: {precision:.2} {recall:.2}");
    }
}

#[expect(clippy::print_stdout, reason = "the figures are its result")]
fn figures(rows: &str) -> (f64, f64) {
    let (mut right, mut wrong, mut missed) = (0_u32, 0_u32, 0_u32);
    for line in rows.lines().filter(|it| !it.starts_with('#')) {
        let (label, message) = line.split_once('\t').expect(line);
        let found = read(message, "", &[]).indicator_count() > 0;
        match (label == "claim", found) {
            (true, true) => right += 1,
            (true, false) => missed += 1,
            (false, true) => wrong += 1,
            (false, false) => continue,
        }
        if (label == "claim") != found {
            println!("labelled {label}: {message}");
        }
    }
    let share = |other: u32| f64::from(right) / f64::from(right + other).max(1.0);
    (share(wrong), share(missed))
}
