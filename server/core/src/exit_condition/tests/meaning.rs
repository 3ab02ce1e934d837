//! The values of expressions and their reasons.

use std::collections::BTreeMap;

use proptest::prelude::any;
use proptest::{prop_assert, prop_assert_eq, prop_assume, proptest};

use super::node;
use crate::exit_condition::{
    ClaimThresholds, CriterionFact, ExitFacts, Expression, depends_on_checks, evaluate, parse,
};

const MINUTE: u64 = 60_000;

fn facts() -> ExitFacts<'static> {
    ExitFacts {
        criteria: true,
        exit_signal: Some(false),
        indicators: 3,
        done_signals: 1,
        iterations: 12,
        duration_ms: 90 * MINUTE + 1_234,
        idle_ms: 30_000,
        tokens: Some(5_000),
        criterion: vec![
            CriterionFact { id: "0123456789", prose: "All tests pass", holds: true },
            CriterionFact { id: "0123456789-2", prose: "No warnings", holds: false },
            CriterionFact { id: "abcdef0123", prose: "Fast", holds: false },
        ],
        groups: BTreeMap::from([("parser", true), ("lexer", false)]),
        last_message: Some("Everything is done.\nPASS: 3"),
        tools: Some(vec!["Bash"]),
        files: BTreeMap::from([("dist/*.js", true), ("x", false)]),
        ..ExitFacts::default()
    }
}

#[test]
fn a_verdict_names_what_decided_it() {
    let facts = facts();
    let check = |text: &str, holds: bool, because: &str| {
        let verdict = evaluate(&parse(text).unwrap(), &facts);
        assert_eq!((verdict.holds, verdict.because.as_str()), (holds, because), "{text}");
    };
    check("criteria", true, "all required criteria hold");
    check("not criteria", false, "all required criteria hold");
    check("criteria and iterations>10", true, "all required criteria hold and iterations 12 > 10");
    check("criteria and plan and promise", false, "plan items are open and no promise given");
    check("promise or criteria or iterations>1", true, "all required criteria hold");
    check(
        "promise or plan or tokens>=5001",
        false,
        "no promise given, plan items are open and tokens 5000 < 5001",
    );
    check("not (promise or plan)", true, "no promise given and plan items are open");
    check("not (promise and criteria)", true, "no promise given");
    check("promise or promise and plan", false, "no promise given and plan items are open");
    check("exit_signal", false, "EXIT_SIGNAL false");
    check("indicators and not done_signals", true, "indicators 3 >= 2 and done signals 1 < 2");
    check("iterations==11", false, "iterations 12 != 11");
    check("iterations<12", false, "iterations 12 >= 12");
    check("iterations<=11", false, "iterations 12 > 11");
    check("duration>1h", true, "duration 1h30m1s > 1h");
    check("duration>1h30m1s", true, "duration 1h30m1s234ms > 1h30m1s");
    check("duration<=1h30m1s", false, "duration 1h30m1s234ms > 1h30m1s");
    check("idle>5m", false, "idle 30s <= 5m");
    check("cost>5", false, "the agent never reported its cost, so `cost>5` does not hold");
    check("cost<5", false, "the agent never reported its cost, so `cost<5` does not hold");
    check("criterion(0123456789)", true, "criterion \"All tests pass\" holds");
    check("criterion(0123456789-2)", false, "criterion \"No warnings\" does not hold");
    check("criterion(ab)", false, "criterion \"Fast\" does not hold");
    check("criterion(0123)", false, "`0123` names 2 criteria");
    check("criterion(ff)", false, "there is no criterion `ff`");
    check("criterion('all tests pass')", true, "criterion \"All tests pass\" holds");
    check("criterion('other')", false, "there is no criterion \"other\"");
    check("group(parser)", true, "group \"parser\" holds");
    check("group(lexer) or group(x)", false, "group \"lexer\" does not hold and there is no group \"x\"");
    check("text('is done.')", true, "the agent's last message has \"is done.\"");
    check("text('IS DONE')", false, "the agent's last message does not have \"IS DONE\"");
    check("text(/^pass: \\d+$/i)", true, "the agent's last message has /^pass: \\d+$/i");
    check("text('is.done')", false, "the agent's last message does not have \"is.done\"");
    check("tool(Bash) and not tool(Edit)", true, "tool \"Bash\" used and tool \"Edit\" not used");
    check("file(dist/*.js)", true, "a file matches \"dist/*.js\"");
    check("file(x)", false, "no file matches \"x\"");
    check("file(y)", false, "files that match \"y\" were not looked up");
}

#[test]
fn unknown_facts_satisfy_no_condition() {
    let facts = ExitFacts::default();
    let check = |text: &str, because: &str| {
        let verdict = evaluate(&parse(text).unwrap(), &facts);
        assert_eq!((verdict.holds, verdict.because.as_str()), (false, because), "{text}");
    };
    check("exit_signal", "no EXIT_SIGNAL");
    check("tokens>=0", "the agent never reported its tokens, so `tokens>=0` does not hold");
    check("text('done')", "the agent left no last message that could have \"done\"");
    check("tool(Bash)", "the agent does not report whether it used the tool \"Bash\"");
    let reported = ExitFacts { cost_micros: Some(1_250_000), ..ExitFacts::default() };
    let verdict = evaluate(&parse("cost>1").unwrap(), &reported);
    assert_eq!((verdict.holds, verdict.because.as_str()), (true, "cost 1.25 > 1"));
    let thresholds = ClaimThresholds { indicators: 4, done_signals: 3 };
    let strict = ExitFacts { indicators: 3, done_signals: 3, thresholds, ..ExitFacts::default() };
    let verdict = evaluate(&parse("indicators or done_signals").unwrap(), &strict);
    assert_eq!((verdict.holds, verdict.because.as_str()), (true, "done signals 3 >= 3"));
}

#[test]
fn only_conditions_on_checks_can_be_verified() {
    let check =
        |text: &str, expect: bool| assert_eq!(depends_on_checks(&parse(text).unwrap()), expect, "{text}");
    check("criteria", true);
    check("criteria and plan", true);
    check("criteria and (plan or promise)", true);
    check("criteria and plan or criteria and promise", true);
    check("not (not criteria or plan)", true);
    check("not not criteria", true);
    check("(criteria or iterations>10) and iterations<5", true);
    check("(criteria or cost>10) and cost<5", true);
    check("criteria or plan", false);
    check("plan", false);
    check("not criteria", false);
    check("criteria and plan or iterations>10", false);
    check("(criteria or cost>10) and not cost>20", false);
    check("criterion(01) and group(parser)", false);
}

proptest! {
    /// The truth table against evaluation itself.
    #[test]
    fn conditions_on_checks_never_hold_without_checks(
        node in node(), flags in any::<[bool; 3]>(), signal in any::<Option<bool>>(), counts in any::<[u8; 3]>(),
        amounts in any::<[u32; 3]>(), cost in any::<Option<u32>>(),
    ) {
        let expression = Expression(node);
        prop_assume!(parse(&expression.to_string()).is_ok());
        let [plan, promise, criteria] = flags;
        let [indicators, done_signals, iterations] = counts.map(u32::from);
        let [duration_ms, idle_ms, tokens] = amounts.map(u64::from);
        let facts = ExitFacts {
            plan, promise, criteria, exit_signal: signal, indicators, done_signals, iterations, duration_ms, idle_ms,
            cost_micros: cost.map(u64::from), tokens: Some(tokens), ..facts()
        };
        let without = evaluate(&expression, &ExitFacts { criteria: false, ..facts.clone() });
        prop_assert!(!(depends_on_checks(&expression) && without.holds), "{}", expression);
        let verdict = evaluate(&expression, &facts);
        prop_assert!(!verdict.because.is_empty());
        let negated = evaluate(&Expression(crate::exit_condition::ExpressionNode::Not(Box::new(expression.0))), &facts);
        prop_assert_eq!((negated.holds, negated.because), (!verdict.holds, verdict.because));
    }
}
