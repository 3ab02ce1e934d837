//! The texts of this crate in Simplified Chinese contain no English prose.

use std::collections::BTreeMap;

use crate::dashboard::{Dashboard, DashboardCharset, DashboardKey, DashboardLine, DashboardSize};
use crate::editor::fixture::{PROMPT, World};
use crate::editor::{
    ProjectCommands, ProjectFacts, actions, describe_check, diagnostics, hover, in_check, lenses,
};
use crate::insight::{InsightBuilder, table};
use crate::probe::{Probe, ProbeNonces, ProbeQuestion, judge_calls};
use crate::report::{markdown, report};
use crate::transcript::TranscriptWriter;
use crate::{DeferredCommand, effect, headline, sentences, start_preview};
use loopkeeper_agent::LoopMode;
use loopkeeper_core::decide::sim::{Sim, Turn, criterion, spec};
use loopkeeper_core::journal::{CommandSender, RestrictedCommand, TakeoverReason};
use loopkeeper_task::parse_inline_task;
use loopkeeper_text::language::{Language, english_prose};
use loopkeeper_text::sanitize;

/// Products, and texts of the user.
const NAMES: &[&str] = &["Claude Code", "PgUp PgDn", "cargo test"];

/// Every text that `write` returns contains Chinese, and no English prose.
#[track_caller]
fn check(write: impl FnOnce() -> Vec<String>) {
    let texts = Language::SimplifiedChinese.during(write);
    assert!(!texts.is_empty());
    for text in texts {
        assert_eq!(english_prose(&text, NAMES), None, "{text}");
        assert!(text.chars().any(|it| matches!(it, '\u{4e00}'..='\u{9fff}')), "{text}");
    }
}

#[test]
fn lenses_and_actions() {
    let world = World::prompt();
    check(|| world.with_view(|it| lenses(it, "PROMPT.md")).into_iter().map(|it| it.title).collect());
    let titles = || {
        let range = 0..PROMPT.len();
        let all = world.with_view(|it| actions(it, ProjectCommands::default(), ("PROMPT.md", &range)));
        all.into_iter().map(|it| it.title).collect()
    };
    check(titles);
}

#[test]
fn checks_are_described() {
    let items = [
        "a: `$ cov` `>= 80` `exit 3` `!/warn/i`",
        "a: `exists a.md docs/*.md`",
        "a: `missing tmp/*`",
        "a: `has \"main\" src/*.rs`",
        "a: `lacks /TODO/ src/**`",
        "a: `GET http://localhost/` `404` `/gone/`",
        "a: `judge`",
        "a: `clean`",
    ];
    let describe = |item: &&str| {
        let task = parse_inline_task("", &[(*item).to_owned()]);
        describe_check(task.criteria[0].check.as_ref().expect("a check"))
    };
    check(|| items.iter().flat_map(describe).collect());
    let offset = PROMPT.find("cargo").expect("a command");
    let world = World::prompt();
    check(|| vec![world.with_view(|it| hover(it, ("PROMPT.md", offset))).expect("a hover").plain()]);
}

#[test]
fn completion_explains_checks() {
    let documentation = |text: &str| {
        let all = in_check(text, text.len(), ProjectFacts::default());
        all.into_iter().map(|it| it.documentation).collect::<Vec<_>>()
    };
    check(|| ["- a: `", "- a: `$ b` `", "- a: `$ b` ("].into_iter().flat_map(documentation).collect());
}

#[test]
fn commands_and_takeovers() {
    let sim = Sim::new(spec(vec![criterion("tests pass", "make test")]), "f", Vec::new());
    let orders = [
        DeferredCommand::Stop,
        DeferredCommand::StopNow,
        DeferredCommand::Pause,
        DeferredCommand::Steer,
        DeferredCommand::Check,
    ];
    check(|| orders.iter().map(|it| effect(&sim.state, *it, "循环")).collect());
    let sources =
        [CommandSender::Agent, CommandSender::Job, CommandSender::OtherLoop, CommandSender::Unknown];
    let refused = |command| sources.map(|it| sentences::command_refused(command, it));
    let guarded = [
        RestrictedCommand::Accept,
        RestrictedCommand::Skip,
        RestrictedCommand::Trust,
        RestrictedCommand::Steer,
        RestrictedCommand::Resume,
        RestrictedCommand::Other,
    ];
    check(|| guarded.into_iter().flat_map(refused).collect());
    let reasons = [TakeoverReason::Back, TakeoverReason::Quota, TakeoverReason::Login];
    let takeover = |reason| sentences::takeover(("claude", "codex"), reason, Some("14:12"), None);
    check(|| reasons.into_iter().map(takeover).collect());
    check(|| {
        vec![sentences::no_cost(LoopMode::Loop).to_owned(), sentences::no_cost(LoopMode::Attach).to_owned()]
    });
}

#[test]
fn a_start_is_previewed() {
    let limits = spec(Vec::new()).settings.limits;
    check(|| [true, false].map(|it| start_preview::upper_bound(&limits, it)).to_vec());
    let preview = Language::SimplifiedChinese.during(|| start_preview::upper_bound(&limits, true));
    assert_eq!(preview, "最多 25 次迭代、8 小时和 $25.00");
}

#[test]
fn the_dashboard_of_a_terminal() {
    let screen = |keys: &[char]| {
        let mut view = Dashboard::new(DashboardCharset::Unicode);
        for key in keys {
            let _ = view.press(DashboardKey::Char(*key));
        }
        let lines = view.render(DashboardSize { columns: 120, rows: 20 });
        lines.iter().map(DashboardLine::plain).collect::<Vec<_>>().join("\n")
    };
    check(|| vec![screen(&[]), screen(&['?'])]);
}

#[test]
fn figures_and_answers_about_agents() {
    check(|| vec![table(&InsightBuilder::default().finish(Some("2026-11-01".to_owned())))]);
    let questions = judge_calls(&BTreeMap::new(), &ProbeNonces::new(1));
    check(|| questions.iter().map(|it| it.question.words().to_owned()).collect());
    check(|| judge_calls(&BTreeMap::new(), &ProbeNonces::new(1)).into_iter().map(|it| it.fact).collect());
    check(|| Probe::ALL.iter().map(|it| it.title().to_owned()).collect());
    assert_eq!(Language::SimplifiedChinese.during(|| ProbeQuestion::Work.words()), "完成工作");
}

#[test]
fn a_loop_from_its_start_to_its_end() {
    let turns = || vec![Turn::new("fp"), Turn::idle("fp"), Turn::new("pp")];
    let worlds =
        || vec![World::prompt().played("fp", turns()), World::prompt().tripped(), World::prompt().cooling()];
    check(|| worlds().iter().flat_map(|it| it.with_view(diagnostics)).map(|it| it.message).collect());
    check(|| {
        worlds()
            .iter()
            .filter_map(|it| it.with_view(|view| hover(view, ("PROMPT.md", 2))))
            .map(|it| it.plain())
            .collect()
    });
    check(|| {
        worlds().iter().filter_map(|it| it.status.as_ref()).map(|it| headline(it).sentences()).collect()
    });
    let transcript = || {
        let sim = Sim::new(spec(World::prompt().task.criteria), "fp", turns()).run();
        let mut writer = TranscriptWriter::default();
        sim.entries.iter().filter_map(|it| writer.describe(it, None)).collect::<String>()
    };
    check(|| vec![sanitize::text(&transcript())]);
    let page = |it: &World| Some(markdown(&report(it.state.as_ref()?, it.status.as_ref()?)));
    check(|| worlds().iter().filter_map(page).collect());
}
