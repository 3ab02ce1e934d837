//! Errors, reasons and documentation of expressions in Chinese.

use crate::exit_condition::words::CONDITIONS;
use crate::exit_condition::{ExitFacts, evaluate, parse};
use loopkeeper_text::language::{Language, translate};

#[test]
fn errors_are_chinese() {
    let check = |text: &str, message: &str, hint: &str| {
        let error = Language::SimplifiedChinese.during(|| parse(text).unwrap_err());
        assert_eq!((error.message.as_str(), error.hint.as_str()), (message, hint), "{text}");
    };
    check("", "空的表达式没有意义", "请写一个表达式，例如 `criteria and plan`，或删除此行");
    check("crieria", "`crieria` 不是条件", "是否想写 `criteria`？");
    check("iterations", "`iterations` 需要一个比较", "请写成 `iterations>10`");
    check("criteria and (plan", "此 `(` 没有闭合", "请用 `)` 闭合");
    check("criteria && plan", "`&&` 在此处没有意义", "请写 `and`");
    check("plan and not plan", "这永远不会成立，因此只有限额才能结束循环", "请删除互相矛盾的条件");
    check("duration>10", "`duration` 需要在 `10` 之后写单位", "分钟请写 `10m`");
}

#[test]
fn reasons_are_chinese() {
    let check = |text: &str, facts: &ExitFacts<'_>, expect: &str| {
        let because = Language::SimplifiedChinese.during(|| evaluate(&parse(text).unwrap(), facts).because);
        assert_eq!(because, expect, "{text}");
    };
    let facts = ExitFacts { promise: true, iterations: 12, ..ExitFacts::default() };
    check("promise and iterations>10", &facts, "已给出承诺，迭代次数 12 > 10");
    check(
        "criteria or cost>2.50",
        &facts,
        "并非所有必需标准都成立，代理从未报告费用，因此 `cost>2.50` 不成立",
    );
    check("exit_signal or group(a)", &facts, "没有 EXIT_SIGNAL，没有分组 \"a\"");
}

#[test]
fn every_condition_is_documented_in_chinese() {
    for it in CONDITIONS {
        let chinese = Language::SimplifiedChinese.during(|| translate(it.doc));
        assert!(chinese != it.doc && !chinese.ends_with('。'), "{chinese}");
    }
}
