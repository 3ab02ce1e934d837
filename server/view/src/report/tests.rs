use super::{ErrorCount, LoopReport, html, markdown, report};
use crate::{StatusFacts, status};
use loopkeeper_core::check::Status;
use loopkeeper_core::decide::sim::{Sim, Turn, spec};
use loopkeeper_core::decide::{LoopState, Phase};
use loopkeeper_core::journal::{StopFeedback, StopVerdict};
use loopkeeper_core::liveness::KeeperLiveness;
use loopkeeper_task as task;
use loopkeeper_task::TaskDocument;
use loopkeeper_task::criterion::Criterion;

const HOSTILE: &str = "<script>alert(1)</script>\u{1b}[31m\u{202e}|`";

fn two_criteria() -> Vec<Criterion> {
    let text = "# Pay\n\nDone when:\n\n- tests: `$ a`\n- lint: `$ b`\n";
    let documents = [TaskDocument { path: "PROMPT.md".into(), text: text.into() }];
    task::parse_task(&documents).criteria
}

fn ended() -> LoopState {
    let mut state = Sim::new(spec(two_criteria()), "fp", vec![Turn::new("fp"), Turn::new("pp")]).run().state;
    state.spec.title = format!("Title {HOSTILE}");
    state.criteria.pinned[0].criterion.name = HOSTILE.to_owned();
    for iteration in state.history.recent_mut() {
        iteration.sentence = format!("did {HOSTILE}");
        iteration.cost_micros = Some(20_000);
    }
    state
}

#[test]
fn criteria_iterations_and_shares_are_those_of_the_loop() {
    let state = ended();
    let report = report(&state, &status(&state, &StatusFacts::default()));
    assert_eq!(report.iterations.len(), 2);
    assert_eq!(report.criteria.len(), 2);
    let cells: Vec<bool> = report.criteria[0].cells.iter().map(|it| *it == Some(Status::Pass)).collect();
    assert_eq!(cells, [false, true]);
    assert!(report.limits.iter().any(|it| it.name == "Iterations" && it.text.starts_with("2 of ")));
    assert!(serde_json::to_string(&report).is_ok());
}

#[test]
fn a_page_says_what_a_loop_is_doing_and_when_it_started() {
    let mut sim = Sim::new(spec(two_criteria()), "fp", vec![Turn::new("fp"), Turn::new("pp")]);
    while !matches!(sim.state.phase, Phase::Iterating(_)) {
        assert!(sim.step());
    }
    let alive = StatusFacts { keeper: KeeperLiveness::RUNNING, ..StatusFacts::default() };
    let report = report(&sim.state, &status(&sim.state, &alive));
    assert!(report.sentence.starts_with("Working: iteration 1/"), "{}", report.sentence);
    let report = LoopReport { started_at: "2026-11-20T14:03:22.123Z".to_owned(), ..report };
    assert!(html(&report).contains(r#"datetime="2026-11-20T14:03:22.123Z">2026-11-20 14:03 UTC<"#));
    assert!(markdown(&report).contains("started 2026-11-20 14:03 UTC."));
}

#[test]
fn hostile_text_is_inert_in_every_form() {
    let state = ended();
    let report = report(&state, &status(&state, &StatusFacts::default()));
    let page = html(&report);
    assert!(page.contains("default-src 'none'"), "{page}");
    for (form, text) in [("html", &page), ("markdown", &markdown(&report))] {
        assert!(!text.contains("<script"), "{form}: {text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{form}: {text}");
    }
    // Nothing is fetched.
    for word in ["http://", "https://", "url(", "<link", "<img", "@import"] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(
        markdown(&report).lines().filter(|it| it.starts_with("| ")).all(|it| it.matches(" |").count() >= 3)
    );
}

#[test]
fn nothing_in_the_markdown_of_a_report_mentions_or_links() {
    const TEXT: &str =
        "@octocat fixes #12 and GH-7, see https://a.example www.a.example &#64;b <img> ![i](j)";
    let state = ended();
    let status = status(&state, &StatusFacts::default());
    let mut report = report(&state, &status);
    let texts = || vec![TEXT.to_owned()];
    (report.title, report.sentence, report.agent) = (TEXT.to_owned(), TEXT.to_owned(), TEXT.to_owned());
    (report.warnings, report.decisions, report.test_gaps) = (texts(), texts(), texts());
    report.feedback = Some(TEXT.to_owned());
    report.errors = vec![ErrorCount { text: TEXT.to_owned(), count: 1 }];
    for it in &mut report.criteria {
        (it.name, it.fact) = (TEXT.to_owned(), TEXT.to_owned());
    }
    for it in &mut report.iterations {
        it.sentence = TEXT.to_owned();
    }
    let page = markdown(&report);
    assert_eq!(page.matches("octocat").count(), 8 + 2 * report.criteria.len() + report.iterations.len());
    for active in ["@o", "#1", "GH-7", "://", "www.", "&#64", "<img", "![i]("] {
        assert!(!page.contains(active), "{active}: {page}");
    }
}

#[test]
fn a_thousand_iterations_stay_below_a_megabyte() {
    let mut state = ended();
    let last = state.history[1].clone();
    for number in 3..=1000 {
        state.history.push(loopkeeper_core::decide::Iteration { number, ..last.clone() });
    }
    let report = report(&state, &status(&state, &StatusFacts::default()));
    assert_eq!((report.iterations.len(), report.omitted), (1000, 0));
    let page = html(&report);
    assert!(page.len() < 1_000_000, "{}", page.len());
    state.criteria.pinned = std::iter::repeat_n(state.criteria.pinned[0].clone(), 100).collect();
    let report = super::report(&state, &status(&state, &StatusFacts::default()));
    assert_eq!((report.iterations.len(), report.omitted), (200, 800));
    assert!(html(&report).len() < 1_000_000);
}

#[test]
fn feedback_of_the_user_is_part_of_the_report() {
    let mut state = ended();
    let pages = |state: &LoopState| {
        let report = report(state, &status(state, &StatusFacts::default()));
        [html(&report), markdown(&report)]
    };
    assert!(pages(&state).iter().all(|it| !it.contains("stopped too early")));
    let text = Some(format!("no documentation {HOSTILE}"));
    state.feedback = Some(StopFeedback { verdict: StopVerdict::TooEarly, text });
    for page in pages(&state) {
        assert!(page.contains("stopped too early: no documentation"), "{page}");
        assert!(!page.contains("<script>"), "{page}");
    }
}
