//! A receipt is parsed from its page and from its JSON, and rejected if it was edited.

use loopkeeper_core::check::Status;
use loopkeeper_core::journal::{HollowTest, OutcomeKind, Record, SurvivingMutant};
use loopkeeper_text::language::Language;

use super::{
    FileHash, JournalDigest, Receipt, ReceiptCriterion, ReceiptEnvironment, ReceiptMutants, ReceiptOutcome,
    ReceiptVerdict, RoundCount, markdown, parse,
};

#[test]
fn records_and_their_types_agree_on_what_a_receipt_needs() {
    let check = |name: &str, members: &str, expect: bool| {
        let record: Record = serde_json::from_str(&format!("{{\"{name}\":{members}}}")).unwrap();
        assert_eq!(
            (Receipt::depends_on(&record), Receipt::depends_on_type(name)),
            (expect, expect),
            "{name}"
        );
    };
    check("snapshot-taken", r#"{"iteration":1,"when":"after","tree":"a"}"#, true);
    check("final-verdict", r#"{"iteration":1,"tree":"a"}"#, true);
    check("weakening-accepted", r#"{"paths":[],"tree":"a"}"#, true);
    check("steered", r#"{"text":"a"}"#, false);
    check("resumed", "{}", false);
}

fn receipt() -> Receipt {
    let bare = Receipt {
        format: 1,
        loopkeeper: "0.1.0".to_owned(),
        loop_id: "20261124-abcdef".to_owned(),
        task: "PROMPT.md".to_owned(),
        title: "Sums | more".to_owned(),
        outcome: ReceiptOutcome {
            kind: OutcomeKind::Completed,
            verified: true,
            sentence: "completed, verified: the one required criterion passes after 1 iteration".to_owned(),
            iterations: 1,
        },
        commit: Some("ab".repeat(20)),
        branch: None,
        tree: "cd".repeat(20),
        criteria: vec![ReceiptCriterion {
            id: "0123456789".to_owned(),
            name: "Tests ```json\npass".to_owned(),
            check: Some("ef".repeat(32)),
            required: true,
            status: Status::Pass,
            fact: "3 pass".to_owned(),
        }],
        verdict: ReceiptVerdict {
            final_round: Some(RoundCount { passed: 1, total: 1 }),
            pinned: None,
            changed_judges: Vec::new(),
            basis: String::new(),
            copied: None,
            seeds: vec!["PYTHONHASHSEED=7".to_owned()],
            not_covered: vec!["\"Docs\" has no check".to_owned()],
            mutants: Some(mutants()),
        },
        judges: vec![FileHash { path: "tests/test_a.py".to_owned(), sha256: Some("aa".repeat(32)) }],
        changed: vec![FileHash { path: "old.py".to_owned(), sha256: None }],
        strays: vec!["old_parser.py".to_owned()],
        duplicates: vec![
            "two test runners: the loop added vitest.config.ts next to jest.config.js".to_owned(),
        ],
        may_change: Vec::new(),
        accepted: Vec::new(),
        acceptances: Vec::new(),
        environment: ReceiptEnvironment {
            agent: "claude".to_owned(),
            sandbox: "auto".to_owned(),
            passed: Vec::new(),
            programs: Vec::new(),
            set: Vec::new(),
        },
        journal: JournalDigest { records: 12, sha256: "bb".repeat(32) },
        digest: String::new(),
    };
    Receipt { digest: bare.compute_digest(), ..bare }
}

fn mutants() -> ReceiptMutants {
    ReceiptMutants {
        tried: 2,
        noticed: 1,
        survivors: vec![SurvivingMutant {
            path: "calc.py".to_owned(),
            line: 2,
            before: "return a + b".to_owned(),
            after: "return a - b".to_owned(),
        }],
        hollow: vec![HollowTest {
            path: "tests/test_a.py".to_owned(),
            line: 4,
            name: "test_runs".to_owned(),
        }],
        not_run: None,
    }
}

#[test]
fn a_receipt_comes_back_from_its_page_and_its_json() {
    let receipt = receipt();
    assert_eq!(parse(&markdown(&receipt)), Ok(receipt.clone()));
    assert_eq!(parse(&serde_json::to_string(&receipt).unwrap()), Ok(receipt));
}

#[test]
fn the_page_names_what_the_proof_is() {
    let page = markdown(&receipt());
    for part in [
        "# Receipt: Sums \\| more\n\nCompleted, verified: ",
        "| As the agent left it | 1 of 1 pass |",
        "| With the judges of the start | no judge changed |",
        "| Mutants of changed lines | 1 of 2 noticed |",
        "## Noticed by no check\n\n- calc.py:2: no check notices `return a - b` in place of `return a + b`",
        "passes: 3 pass",
        "## Added files without a reference\n\n- old_parser.py",
        "## Second configurations\n\n- two test runners: the loop added",
        "## Not covered\n\n- \"Docs\" has no check",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
}

#[test]
fn nothing_above_the_json_of_a_page_mentions_or_links() {
    let text = "@octocat fixes #12, see https://a.example <img>";
    let mut receipt = receipt();
    receipt.title = text.to_owned();
    receipt.outcome.sentence = text.to_owned();
    receipt.criteria[0].name = text.to_owned();
    receipt.verdict.not_covered = vec![text.to_owned()];
    let page = markdown(&receipt);
    let (shown, _) = page.split_once("```json").unwrap();
    assert_eq!(shown.matches("octocat").count(), 4, "{shown}");
    for active in ["@o", "#1", "://", "<img"] {
        assert!(!shown.contains(active), "{active}: {shown}");
    }
}

#[test]
fn a_receipt_of_an_older_version_says_nothing_of_mutants() {
    let verdict = ReceiptVerdict { mutants: None, ..receipt().verdict };
    let old = Receipt { verdict, strays: Vec::new(), duplicates: Vec::new(), ..receipt() };
    let old = Receipt { digest: old.compute_digest(), ..old };
    assert!(!markdown(&old).to_lowercase().contains("mutants"));
    let json = serde_json::to_string(&old).unwrap();
    assert!(!json.contains("strays") && !json.contains("duplicates"), "{json}");
    assert_eq!(parse(&markdown(&old)), Ok(old));
}

#[test]
fn the_page_of_a_loop_that_was_not_verified_says_so() {
    let page = |verified| {
        let outcome = ReceiptOutcome { verified, ..receipt().outcome };
        markdown(&Receipt { outcome, ..receipt() })
    };
    assert!(page(false).contains("**Not verified.**") && !page(true).contains("Not verified"));
}

#[test]
fn an_edited_receipt_is_refused() {
    let page = markdown(&receipt());
    let edited = page.replace("\"verified\": true", "\"verified\": false");
    assert_eq!(parse(&edited), Err("was edited: its digest does not fit its content".to_owned()));
    let edits =
        [("1 of 1 pass", "2 of 2 pass"), ("## Not covered", "## Covered"), ("passes: 3 pass", "fails")];
    for (from, to) in edits {
        let edited = page.replacen(from, to, 1);
        assert_ne!(edited, page, "{from}");
        assert!(parse(&edited).is_err_and(|it| it.contains("its page does not fit its JSON")), "{from}");
    }
    assert!(parse(&page.replace('\n', "\r\n")).is_ok(), "line ends are not content");
    assert!(parse("# Notes\n").is_err_and(|it| it.starts_with("is not a receipt")));
    let newer = page.replace("\"format\": 1", "\"format\": 2");
    assert_eq!(parse(&newer), Err("was written by a newer loopkeeper".to_owned()));
}

#[test]
fn a_page_in_another_language_comes_back() {
    let receipt = receipt();
    let page = Language::SimplifiedChinese.during(|| markdown(&receipt));
    assert!(page.starts_with("# 凭证：Sums \\| more\n"), "{page}");
    assert!(page.contains("| 代理 | "), "{page}");
    assert_eq!(parse(&page), Ok(receipt.clone()));
    assert_eq!(Language::SimplifiedChinese.during(|| parse(&markdown(&receipt))), Ok(receipt.clone()));
    assert!(parse(&page.replace("# 凭证：Sums", "# 凭证：Products")).is_err());
}
