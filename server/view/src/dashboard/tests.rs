use loopkeeper_core::liveness::KeeperLiveness;
use std::fmt::Write as _;

use expect_test::expect_file;

use super::{
    Dashboard, DashboardAction, DashboardCharset, DashboardCommand, DashboardKey, DashboardLoop,
    DashboardSize,
};
use crate::{DisplayPhase, DisplayState, QuestionStatus, StatusFacts, WaitReason, WaitStatus};
use loopkeeper_core::decide::LoopState;
use loopkeeper_core::decide::sim::{Sim, Turn, spec};
use loopkeeper_core::journal::{BreakerState, QuestionKind};
use loopkeeper_task as task;
use loopkeeper_task::TaskDocument;

const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\u{202e}evil\r\n\tend";

fn played(turns: Vec<Turn>) -> LoopState {
    let text = "# Pay\n\nDone when:\n\n- tests: `$ a`\n- lint: `$ b`\n";
    let documents = [TaskDocument { path: "PROMPT.md".into(), text: text.into() }];
    Sim::new(spec(task::parse_task(&documents).criteria), "fp", turns).run().state
}

/// A loop with a display state that does not depend on the simulator.
fn shown(id: &str, title: &str, state: DisplayState) -> DashboardLoop {
    let ended = played(vec![Turn::new("fp"), Turn::new("pp")]);
    let facts =
        StatusFacts { keeper: KeeperLiveness::RUNNING, now: ended.time.last_at, ..StatusFacts::default() };
    let mut shown = DashboardLoop::new(&ended, &facts, None);
    shown.status.id = id.to_owned();
    shown.status.task.title = title.to_owned();
    shown.status.state = state;
    if state != DisplayState::Done {
        shown.status.outcome = None;
        shown.headline = "Working: iteration 2/25, all 2 required pass".to_owned();
    }
    shown
}

fn three_loops() -> Dashboard {
    let mut view = Dashboard::new(DashboardCharset::Unicode);
    view.set_loop(shown("1-ended", "Parse dates", DisplayState::Done));
    view.set_loop(shown("2-works", "Pay by card", DisplayState::Working));
    let mut asks = shown("3-asks", "Write the documentation", DisplayState::NeedsYou);
    asks.status.question = Some(QuestionStatus {
        id: "q1".to_owned(),
        kind: QuestionKind::Agent,
        text: "Which database?".to_owned(),
        expires_at: None,
    });
    view.set_loop(asks);
    view
}

fn text(view: &mut Dashboard, columns: usize, rows: usize) -> String {
    let lines = view.render(DashboardSize { columns, rows });
    lines.iter().map(|it| it.plain().trim_end().to_owned() + "\n").collect()
}

fn type_keys(view: &mut Dashboard, keys: &str) -> Option<DashboardAction> {
    keys.chars()
        .map(|it| match it {
            '\n' => view.press(DashboardKey::Enter),
            '\u{1b}' => view.press(DashboardKey::Escape),
            it => view.press(DashboardKey::Char(it)),
        })
        .last()
        .flatten()
}

#[test]
fn a_state_and_a_title_are_two_words() {
    let mut view = Dashboard::new(DashboardCharset::Unicode);
    let mut cooling = shown("1-cools", "Pay by card", DisplayState::Working);
    cooling.status.phase = DisplayPhase::Waiting;
    cooling.status.breaker.state = BreakerState::Open;
    cooling.status.wait = Some(WaitStatus { reason: WaitReason::Breaker, resumes_at: String::new() });
    view.set_loop(cooling);
    view.set_loop(shown("2-asks", "Parse dates", DisplayState::NeedsYou));
    view.set_loop(shown("3-asks", "Write", DisplayState::NeedsYou));
    let screen = text(&mut view, 90, 14);
    assert!(screen.contains("Breaker open Pay by card"), "{screen}");
    assert!(screen.contains("3 loops: 1 working, 2 need you"), "{screen}");
}

#[test]
fn screens_are_as_recorded() {
    let mut record = String::new();
    let mut add = |title: &str, view: &mut Dashboard, columns, rows| {
        let _ = writeln!(record, "== {title}, {columns} x {rows}\n\n{}", text(view, columns, rows));
    };
    let mut view = three_loops();
    view.set_activity("3-asks", "Edit src/pay.rs");
    add("loops", &mut view, 110, 14);
    add("loops", &mut view, 40, 8);
    type_keys(&mut view, "a");
    add("answer", &mut view, 80, 12);
    type_keys(&mut view, "SQLite");
    add("typed", &mut view, 80, 4);
    type_keys(&mut view, "\u{1b}s");
    add("stop", &mut view, 80, 4);
    type_keys(&mut view, "n\n");
    view.add_output("3-asks", "running 12 tests\nok");
    add("details", &mut view, 80, 24);
    type_keys(&mut view, "o");
    add("output", &mut view, 60, 5);
    type_keys(&mut view, "\u{1b}d");
    view.set_patch("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n");
    add("changes", &mut view, 60, 9);
    type_keys(&mut view, "?");
    add("keys", &mut view, 60, 16);
    add("no loops", &mut Dashboard::new(DashboardCharset::Unicode), 80, 5);
    let mut plain = three_loops();
    plain.charset = DashboardCharset::Ascii;
    add("ascii", &mut plain, 110, 6);
    expect_file!["../../../../tests/e2e/texts/watch-screens.txt"].assert_eq(&record);
}

#[test]
fn keys_send_commands_to_the_selected_loop() {
    let send = |id: &str, command| Some(DashboardAction::Send { id: id.to_owned(), command });
    let check = |keys: &str, expect: Option<DashboardAction>| {
        assert_eq!(type_keys(&mut three_loops(), keys), expect, "{keys:?}");
    };
    // The order is: 3-asks, 2-works, 1-ended.
    check("p", send("3-asks", DashboardCommand::Resume));
    check("jp", send("2-works", DashboardCommand::Pause));
    check("Gp", None);
    check("Gs", None);
    check("s", None);
    check("sy", send("3-asks", DashboardCommand::Stop));
    check("s!", send("3-asks", DashboardCommand::StopNow));
    check("sn", None);
    check("sjy", None);
    check("a\n", None);
    check("aSQLite\n", send("3-asks", DashboardCommand::Answer("SQLite".to_owned())));
    check("aq", None);
    check("jax\n", Some(DashboardAction::LoadOutput { id: "2-works".to_owned() }));
    check("q", Some(DashboardAction::Quit));
    check("?q", Some(DashboardAction::Quit));
    check("jd", Some(DashboardAction::LoadDiff { id: "2-works".to_owned() }));
    check("jjjjkk\n", Some(DashboardAction::LoadOutput { id: "3-asks".to_owned() }));
}

#[test]
fn pasted_text_is_an_answer_and_never_keys() {
    let mut view = three_loops();
    assert_eq!(view.press(DashboardKey::Paste("sy".to_owned())), None);
    assert_eq!(type_keys(&mut view, "y"), None);
    type_keys(&mut view, "a");
    view.press(DashboardKey::Paste("use\nSQLite".to_owned()));
    let command = DashboardCommand::Answer("use SQLite".to_owned());
    assert_eq!(type_keys(&mut view, "\n"), Some(DashboardAction::Send { id: "3-asks".to_owned(), command }));
}

#[test]
fn every_size_is_filled_exactly_and_hostile_text_is_inert() {
    let mut ended = played(vec![Turn::new("fp"), Turn::new("pp")]);
    ended.spec.title = format!("Title {HOSTILE} 进度");
    ended.criteria.pinned[0].criterion.name = HOSTILE.to_owned();
    let mut view = Dashboard::new(DashboardCharset::Unicode);
    view.set_loop(DashboardLoop::new(&ended, &StatusFacts::default(), Some(HOSTILE.to_owned())));
    let id = view.selected().unwrap().to_owned();
    view.set_activity(&id, HOSTILE);
    view.add_output(&id, HOSTILE);
    view.set_note(HOSTILE);
    for keys in ["", "\n", "o", "\u{1b}d", "?"] {
        type_keys(&mut view, keys);
        view.set_patch(HOSTILE);
        view.set_note(HOSTILE);
        for (columns, rows) in [(0, 0), (1, 1), (7, 3), (20, 5), (80, 24), (300, 100)] {
            let lines = view.render(DashboardSize { columns, rows });
            assert_eq!(lines.len(), rows, "{keys:?}");
            for line in lines {
                let text = line.plain();
                assert!(loopkeeper_text::words::width(&text) <= columns, "{columns}: {text:?}");
                assert!(!text.contains(|it: char| it.is_control() || it == '\u{202e}'), "{text:?}");
            }
        }
    }
}

#[test]
fn an_output_is_bounded_and_read_from_its_end() {
    let mut view = three_loops();
    let lines: Vec<String> = (1..=3000).map(|it| format!("line {it}")).collect();
    view.add_output("3-asks", &lines.join("\n"));
    type_keys(&mut view, "o");
    assert!(text(&mut view, 40, 4).contains("line 3000"));
    type_keys(&mut view, "k");
    assert!(!text(&mut view, 40, 4).contains("line 3000") && text(&mut view, 40, 4).contains("line 2999"));
    type_keys(&mut view, "g");
    assert!(text(&mut view, 40, 4).contains("line 1001"));
}

#[test]
fn a_screen_scrolls_back_at_once_from_its_end() {
    let mut view = three_loops();
    let lines: Vec<String> = (1..=30).map(|it| format!("line {it}.")).collect();
    view.add_output("3-asks", &lines.join("\n"));
    type_keys(&mut view, "o");
    assert!(text(&mut view, 40, 6).contains("line 30."));
    type_keys(&mut view, "g");
    assert!(text(&mut view, 40, 6).contains("line 1."));
    type_keys(&mut view, "j");
    assert!(!text(&mut view, 40, 6).contains("line 1."));
    type_keys(&mut view, "\u{1b}d");
    view.set_patch(&lines.join("\n"));
    assert!(text(&mut view, 40, 6).contains("line 1."));
    type_keys(&mut view, "G");
    assert!(text(&mut view, 40, 6).contains("line 30."));
    type_keys(&mut view, "k");
    assert!(!text(&mut view, 40, 6).contains("line 30."));
}

#[test]
fn wrapped_details_scroll_to_their_last_line() {
    let mut view = three_loops();
    let mut asks = shown("3-asks", "Write", DisplayState::NeedsYou);
    asks.status.warnings = vec!["a very long warning ".repeat(40)];
    view.set_loop(asks);
    view.add_output("3-asks", "the last line");
    type_keys(&mut view, "\n");
    assert!(!text(&mut view, 30, 8).contains("the last line"));
    type_keys(&mut view, "G");
    assert!(text(&mut view, 30, 8).contains("the last line"));
}

#[test]
fn a_removed_loop_leaves_the_selection_on_another() {
    let mut view = three_loops();
    type_keys(&mut view, "\n");
    view.retain(|id| id != "3-asks");
    assert_eq!(view.selected(), Some("2-works"));
    assert!(text(&mut view, 80, 6).contains("2 loops"));
}

#[test]
fn chinese_is_broken_between_any_two_characters() {
    use super::line::wrap;
    assert_eq!(wrap("代理在本次迭代中没有输出", 10), ["代理在本次", "迭代中没有", "输出"]);
    assert_eq!(wrap("循环 20261124 已结束", 13), ["循环 20261124", "已结束"]);
    assert_eq!(wrap("an unbreakableword", 6), ["an", "unbreakableword"]);
    assert_eq!(wrap("中文", 1), ["中", "文"]);
}
