//! Loops in Chinese: the same decisions with Chinese sentences, and the same English prompts.

use super::outcomes::{summary, two};
use crate::check::{CriteriaTally, Status};
use crate::decide::early_warning::early_warnings;
use crate::decide::sim::{Sim, Turn, criterion, spec};
use crate::decide::{UserCommand, forecast};
use crate::journal::{LoopSpec, Record};
use loopkeeper_agent::ProviderClass;
use loopkeeper_text::language::Language;

const DONE: &str = "<promise>COMPLETE</promise>";

fn one() -> LoopSpec {
    spec(vec![criterion("tests pass", "make test")])
}

/// Plays a loop in both languages; the Chinese sentence of its end or pause.
fn play(spec: &LoopSpec, start: &'static str, turns: &[Turn]) -> String {
    let played = || Sim::new(spec.clone(), start, turns.to_vec()).run();
    let (english, chinese) = (played(), Language::SimplifiedChinese.during(played));
    assert_eq!(summary(&chinese), summary(&english));
    assert_eq!(chinese.prompts.first(), english.prompts.first());
    chinese.sentence()
}

#[test]
fn completions_are_chinese() {
    let check = |spec: &LoopSpec, start: &'static str, turns: &[Turn], expect: &str| {
        assert_eq!(play(spec, start, turns), expect);
    };
    let two = spec(two());
    check(&two, "ff", &[Turn::new("pp")], "已完成，已验证：1 次迭代后，全部 2 个必需标准通过");
    check(&one(), "f", &[Turn::new("p")], "已完成，已验证：1 次迭代后，唯一的必需标准通过");
    let held = play(&two, "pp", &[]);
    assert!(
        held.starts_with("已完成，已验证：已经成立，全部 2 个必需标准在第一次迭代之前就已通过"),
        "{held}"
    );
    let mut when = two.clone();
    when.settings.exit.when = Some("iterations>=2 and not criteria".to_owned());
    check(
        &when,
        "ff",
        &[Turn::new("pf"), Turn::new("pf")],
        "由 exit.when 结束，未完成：2 次迭代后，迭代次数 2 >= 2，并非所有必需标准都成立，1/2 项必需检查失败",
    );
}

#[test]
fn limits_and_pauses_are_chinese() {
    let check = |spec: &LoopSpec, turns: &[Turn], expect: &str| assert_eq!(play(spec, "f", turns), expect);
    let mut short = one();
    short.settings.limits.iterations = 2;
    check(&short, &[Turn::new("f"), Turn::new("f")], "达到限额：2 次迭代；唯一的必需标准未通过");
    let mut stuck = one();
    stuck.settings.breaker.max_trips = 1;
    check(&stuck, &[Turn::idle("f"), Turn::idle("f"), Turn::idle("f")], "断路器断开：3 次迭代没有文件更改");
    let crash = || Turn::fails(ProviderClass::Crash, "f");
    check(&one(), &[crash(), crash(), crash()], "代理 `mine` 连续失败 3 次：no luck");
    check(
        &one(),
        &[Turn::fails(ProviderClass::Billing, "f")],
        "代理 `mine` 的账户余额不足：no luck. Hint: 请为账户充值或选择另一个代理，然后运行 `loopkeeper resume`",
    );
    let missing = play(&one(), "m", &[]);
    assert!(missing.starts_with("“tests pass”无法运行："), "{missing}");
}

#[test]
fn summaries_and_warnings_are_chinese() {
    let mut made = spec(two());
    made.settings.limits.duration_ms = 100 * 3_600_000;
    made.settings.limits.iterations = 5;
    let act = |results, changed: &[&'static str]| Turn {
        cost: 100_000,
        changed: changed.to_vec(),
        ..Turn::new(results)
    };
    let turns = vec![act("pf", &["a"]).says(DONE), act("ff", &["a", "b"]), act("pf", &["a"]), act("pf", &[])];
    let tally = |results: [Status; 2]| CriteriaTally::of(results.map(|it| (true, Some(it)))).of_round();
    Language::SimplifiedChinese.during(|| {
        let mut sim = Sim::new(made, "ff", turns);
        sim.play_iterations(4);
        let (some, none) = (tally([Status::Pass, Status::Fail]), tally([Status::Fail, Status::Fail]));
        let sentences: Vec<_> = sim.state.history.iter().map(|it| it.sentence.clone()).collect();
        let expect = [
            format!("1 个文件有更改，{some}，而代理声称已完成"),
            format!("2 个文件有更改，{none}，1 个变为失败"),
            format!("1 个文件有更改，{some}"),
            format!("没有更改，{some}；预算即将用完：已使用 4/5 次迭代"),
        ];
        assert_eq!(sentences, expect);
        let milestones: Vec<_> = sim.state.history.iter().flat_map(|it| it.milestones.clone()).collect();
        assert_eq!(milestones, ["现在通过：tests pass"; 2]);
        let warned: Vec<_> = early_warnings(&sim.state).into_iter().map(|it| it.sentence).collect();
        assert_eq!(warned, ["已使用 4/5 次迭代"]);
        let forecast = forecast::forecast(&sim.state);
        assert_eq!(forecast.as_deref(), Some("每次迭代约 $0.10：按此速度，全部 5 次迭代约花费 $0.50"));
    });
}

#[test]
fn a_denial_is_asked_about_once_in_whatever_language() {
    let denied = || Turn::new("f").denied(&["Bash: git push"]);
    let mut sim = Sim::new(one(), "f", vec![denied(), denied(), denied(), denied(), Turn::new("p")]);
    let asked = |sim: &Sim| {
        let texts = sim.entries.iter().filter_map(|it| match &it.record {
            Record::Asked { text, .. } => Some(text.clone()),
            _ => None,
        });
        texts.collect::<Vec<_>>()
    };
    Language::SimplifiedChinese.during(|| {
        while asked(&sim).is_empty() {
            assert!(sim.step(), "{}", sim.sentence());
        }
    });
    sim.command(UserCommand::Answer("no".to_owned()));
    sim.play();
    let expect = "代理被拒绝使用 `Bash: git push`。请在 `[agents.mine]` 的 `permissions` 中允许，或将该命令写为任务的检查";
    assert_eq!(asked(&sim), [expect]);
}
