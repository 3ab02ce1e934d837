//! Accepted and rejected expressions, with the position of each error, and their values.

mod languages;
mod meaning;

use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::{collection, option, prop_assert, prop_assert_eq, proptest, sample};

use super::{
    Atom, ClaimCounter, ComparisonOperator, CriterionName, Expression, ExpressionNode, Quantity, parse,
    parser,
};
use loopkeeper_task::criterion::{PatternKind, TextPattern};

#[test]
fn accepted_conditions_have_one_display_form() {
    let check = |text: &str, expect: &str| {
        let read = parse(text).unwrap_or_else(|it| panic!("{text}: {it:?}"));
        assert_eq!(read.to_string(), expect, "{text}");
        assert_eq!(parse(expect).as_ref(), Ok(&read), "{text}");
    };
    check("criteria", "criteria");
    check("  criteria\n\tand plan ", "criteria and plan");
    check("not criteria and plan or promise", "not criteria and plan or promise");
    check("not ((criteria) and (plan or promise))", "not (criteria and (plan or promise))");
    check("criteria and (plan and promise)", "criteria and plan and promise");
    check("(criteria or plan) or promise", "criteria or plan or promise");
    check("not not exit_signal", "not not exit_signal");
    check("not(criteria)", "not criteria");
    check("indicators or done_signals", "indicators or done_signals");
    check("indicators >= 3 and done_signals==1", "indicators>=3 and done_signals==1");
    check("iterations > 10 or iterations<=2", "iterations>10 or iterations<=2");
    check("tokens>5_000_000", "tokens>5000000");
    check("duration>1h 30m and idle<90s", "duration>1h30m and idle<1m30s");
    check("duration>90m or idle>1500ms", "duration>1h30m or idle>1s500ms");
    check("idle>0s", "idle>0s");
    check("cost>5 or cost<0.5", "cost>5 or cost<0.50");
    check("cost>$2.50 and cost<1e2", "cost>2.50 and cost<100");
    check("cost>0.000001", "cost>0.000001");
    check("criterion(0123abcdef) or criterion( 01 )", "criterion(0123abcdef) or criterion(01)");
    check("criterion(0123abcdef-2)", "criterion(0123abcdef-2)");
    check("criterion('All tests pass')", "criterion(\"All tests pass\")");
    check("group(parser) or group(\"two words\")", "group(\"parser\") or group(\"two words\")");
    check("text('all \"done\"')", "text(\"all \\\"done\\\"\")");
    check("text(/all (is )?done/i)", "text(/all (is )?done/i)");
    check("text(\"/done|finished/i\")", "text(/done|finished/i)");
    check("text(\"/usr/bin/\")", "text(\"/usr/bin/\")");
    check("text(/a\\/b\\\\/)", "text(/a\\/b\\\\/)");
    check("tool(Bash) and file(dist/*.js)", "tool(\"Bash\") and file(\"dist/*.js\")");
    check("file('src/**/*.{rs,toml}')", "file(\"src/**/*.{rs,toml}\")");
    check("text('全部完成') or text(\"c:\\\\x\\n\")", "text(\"全部完成\") or text(\"c:\\\\x\\\\n\")");
}

/// The text with the refused words between `»` and `«`, then the message.
fn refused(text: &str) -> (String, String) {
    let error = parse(text).expect_err(text);
    let mut marked = text.to_owned();
    marked.insert(error.range.end, '«');
    marked.insert(error.range.start, '»');
    (marked, format!("{}; {}", error.message, error.hint))
}

fn check_refused(marked: &str, expect: &str) {
    let text = marked.replace(['»', '«'], "");
    assert_eq!(refused(&text), (marked.to_owned(), expect.to_owned()), "{text}");
}

#[test]
fn an_unknown_word_is_refused_at_its_range() {
    let check = check_refused;
    check("plan and »criterions«", "`criterions` is not a condition; did you mean `criterion(ID)`?");
    check("»critera« and plan", "`critera` is not a condition; did you mean `criteria`?");
    check("»exit-signal«", "`exit-signal` is not a condition; did you mean `exit_signal`?");
    check("criteria »adn« plan", "`adn` is not a condition; did you mean `and`?");
    check("criteria »AND« plan", "`AND` is written in lower case; write `and`");
    check("»Criteria«", "`Criteria` is written in lower case; write `criteria`");
    check("criteria »&&« plan", "`&&` has no meaning here; write `and`");
    check("»!«criteria", "`!` has no meaning here; write `not`");
    check("iterations»=«3", "`=` has no meaning here; write `==`");
    check("iterations »=>« 3", "`=>` has no meaning here; write `>=`");
    check("criteria »plan«", "an operator is missing before `plan`; write `and` or `or` between conditions");
    check(
        "criteria »and«",
        "`and` has no condition after it; write a condition after it, or remove the `and`",
    );
    check("not »or« plan", "`or` is where a condition should be; write a condition before and after it");
    check("»and« plan", "`and` is where a condition should be; write a condition before and after it");
    check(
        "»10«>iterations",
        "`10` is not a condition; use one of criteria, plan, promise, exit_signal, indicators, \
        done_signals, iterations, duration, cost, tokens, idle, criterion, group, text, tool, file",
    );
    check("»\"done\"«", "`\"done\"` alone is not a condition; did you mean `text(\"done\")`?");
    check("plan or »/done/i«", "`/done/i` alone is not a condition; did you mean `text(/done/i)`?");
    check("»>=« 3", "`>=` compares nothing; write the compared value before it, as in `iterations>10`");
    check(
        "»1« < 3",
        "`1` is not a condition; use one of criteria, plan, promise, \
        exit_signal, indicators, done_signals, iterations, duration, cost, tokens, idle, criterion, group, text, \
        tool, file",
    );
    check(
        "»«",
        "an empty expression defines no condition; write one such as `criteria and plan`, or remove the line",
    );
    check(
        "»  «",
        "an empty expression defines no condition; write one such as `criteria and plan`, or remove the line",
    );
}

#[test]
fn comparisons_are_checked_by_their_kind() {
    let check = check_refused;
    check(
        "criteria»>«2",
        "`criteria` holds or does not; it is not a number to compare; write `criteria` or `not criteria`",
    );
    check(
        "criterion»>«2",
        "`criterion` holds or does not; it is not a number to compare; write `criterion(ID)` or `not criterion(ID)`",
    );
    check(
        "exit_signal »==« true",
        "`exit_signal` holds or does not; it is not a number to compare; write `exit_signal` or `not exit_signal`",
    );
    check("»iterations« and plan", "`iterations` needs a comparison; write it as `iterations>10`");
    check("duration>»10«", "`duration` needs a unit after `10`; write `10m` for minutes");
    check(
        "duration>»10x«",
        "`duration` is compared with a duration, found `10x`: its unit is unknown; write it as `duration>10m`",
    );
    check(
        "cost>»2m«",
        "`cost` is compared with an amount in US dollars, found `2m`: it is not a number; write it as `cost>2.50`",
    );
    check(
        "iterations>»1.5«",
        "`iterations` is compared with a whole number, found `1.5`: it is not a number; write it as `iterations>10`",
    );
    check(
        "iterations>»-5«",
        "`iterations` is compared with a whole number, found `-5`: it is negative; write it as `iterations>10`",
    );
    check(
        "tokens>»99999999999999999999«",
        "`tokens` is compared with a whole number, found `99999999999999999999`: it is too large; write it as `tokens>100_000`",
    );
    check("iterations»>«", "`iterations` is compared with nothing; write it as `iterations>10`");
    check("iterations »>« and plan", "`iterations` is compared with nothing; write it as `iterations>10`");
    check("iterations>3 »<« 5", "`<` compares nothing; write one comparison at a time");
}

#[test]
fn brackets_and_quotes_are_closed() {
    let check = check_refused;
    check("plan and »(«criteria or (promise)", "this `(` is never closed; close it with `)`");
    check("plan and »(«", "this `(` is never closed; close it with `)`");
    check("criterion»(«01", "this `(` is never closed; close it with `)`");
    check("criterion»(«", "this `(` is never closed; close it with `)`");
    check("text(»\"«done)", "this `\"` is never closed; close it with `\"`");
    check("text(»'«done\")", "this `'` is never closed; close it with `'`");
    check("text(»/«done)", "this `/` is never closed; close the pattern with `/`");
    check("plan»)«", "this `)` closes nothing; remove it, or open it with `(`");
    check("»)« plan", "this `)` closes nothing; remove it, or open it with `(`");
    check(
        "plan or »()«",
        "there is nothing between these brackets; write a condition in them, or remove them",
    );
    check("(plan »and«)", "`and` has no condition after it; write a condition after it, or remove the `and`");
    check("»text« and plan", "`text` needs brackets; write it as `text(\"…\")`");
    check("criterion»()«", "`criterion` has nothing between its brackets; write it as `criterion(ID)`");
    check("tool(»\" \"«)", "`tool` has nothing between its brackets; write it as `tool(\"…\")`");
    check("criteria»(«all)", "`criteria` takes nothing in brackets; write it as `criteria`");
    check(
        "criterion(»lint«)",
        "`lint` is not the id of a criterion; write its 10 digits from 0 to f, or its text in quotes: `criterion(\"lint\")`",
    );
    check("text(»all done«)", "`text` takes one text between its brackets; put quotes around the whole text");
    check("group»(«plan", "this `(` is never closed; close it with `)`");
    check(
        "file(»\"../x\"«)",
        "`../x` names no file: a path that leaves the root; write a glob of files below the root",
    );
    check("text(»/(/«)", "this is not a pattern: unclosed group; correct the pattern");
    check("text(»//«)", "an empty pattern matches every text; correct the pattern");
    check("tool(»/x/«)", "`tool` takes no pattern; write it as `tool(\"…\")`");
}

#[test]
fn meaningless_conditions_are_refused() {
    let check = |text: &str, expect: &str| {
        let (marked, shown) = refused(text);
        let whole = text.trim();
        assert_eq!(
            (marked, shown.split(';').next()),
            (text.replace(whole, &format!("»{whole}«")), Some(expect))
        );
    };
    let never = "this can never hold, so that only a limit would end the loop";
    let always = "this always holds, so that the loop would end after its first iteration";
    check(" criteria and not criteria ", never);
    check("iterations>10 and iterations<5", never);
    check("cost==1 and cost>1", never);
    check("plan and not (plan or promise)", never);
    check("criteria or not criteria", always);
    check("iterations>=0", always);
    check("idle>5m or idle<=5m", always);
    // An agent may report no cost.
    assert!(parse("cost>5 or cost<=5").is_ok());
    assert!(parse("indicators>=1 and not indicators").is_ok());
    let conditions =
        |of: std::ops::Range<u32>| of.map(|it| format!("group(g{it})")).collect::<Vec<_>>().join(" or ");
    assert!(parse(&conditions(0..16)).is_ok());
    check(&conditions(0..17), "the expression has 17 conditions, more than 16");
}

#[test]
fn long_and_deeply_nested_conditions_are_refused() {
    let nested = |depth: usize| format!("{}plan{}", "(".repeat(depth), ")".repeat(depth));
    assert!(parse(&nested(32)).is_ok());
    assert_eq!(parse(&nested(33)).unwrap_err().message, "the expression is nested deeper than 32 levels");
    assert_eq!(parse(&nested(400)).unwrap_err().message, "the expression is nested deeper than 32 levels");
    assert_eq!(
        parse(&"not ".repeat(200)).unwrap_err().message,
        "the expression is nested deeper than 32 levels"
    );
    assert_eq!(parse(&"(".repeat(100_000)).unwrap_err().message, "the expression is longer than 1000 bytes");
}

#[test]
fn a_one_word_correction_is_offered() {
    let check = |text: &str, expect: Option<&str>| {
        assert_eq!(parse(text).unwrap_err().fix.as_deref(), expect, "{text}");
    };
    check("critera", Some("criteria"));
    check("criteria OR plan", Some("or"));
    check("criteria & plan", None);
    check("nonsense", None);
}

#[test]
fn a_condition_is_stored_as_its_text() {
    let read = parse("promise and( criteria)").unwrap();
    let stored = serde_json::to_string(&read).unwrap();
    assert_eq!(stored, "\"promise and criteria\"");
    assert_eq!(serde_json::from_str::<Expression>(&stored).unwrap(), read);
    assert!(serde_json::from_str::<Expression>("\"promises\"").is_err());
    assert_eq!(parse("file(a) or not file('b*') or file(\"a\")").unwrap().globs(), ["a", "b*"]);
}

fn atom() -> impl Strategy<Value = Atom> {
    let quantity = sample::select(vec![
        Quantity::Indicators,
        Quantity::DoneSignals,
        Quantity::Iterations,
        Quantity::Duration,
        Quantity::Cost,
        Quantity::Tokens,
        Quantity::Idle,
    ]);
    let comparison = sample::select(vec![
        ComparisonOperator::Above,
        ComparisonOperator::AtLeast,
        ComparisonOperator::Below,
        ComparisonOperator::AtMost,
        ComparisonOperator::Equal,
    ]);
    let kind = sample::select(vec![PatternKind::Regex, PatternKind::RegexIgnoreCase]);
    let pattern =
        ("([a-z/]|\\\\\\\\|\\\\\\.){1,6}", kind).prop_map(|(source, kind)| TextPattern { source, kind });
    let literal = "[a-z\\\\\"' é,()]{0,6}x";
    prop_oneof![
        sample::select(vec![
            Atom::Criteria,
            Atom::Plan,
            Atom::Promise,
            Atom::ExitSignal,
            Atom::Enough(ClaimCounter::Indicators),
            Atom::Enough(ClaimCounter::DoneSignals),
        ]),
        (quantity, comparison, 0..200_000_000_u64).prop_map(|(of, it, value)| Atom::Compare(of, it, value)),
        "[0-9a-f]{1,10}".prop_map(|id| Atom::Criterion(CriterionName::Id(id))),
        literal.prop_map(|text| Atom::Criterion(CriterionName::Prose(text))),
        literal.prop_map(Atom::Group),
        literal.prop_map(|source| Atom::Text(TextPattern { source, kind: PatternKind::Literal })),
        pattern.prop_map(Atom::Text),
        literal.prop_map(Atom::Tool),
        "[a-z*/]{0,4}x".prop_filter("leaves the root", |it| !it.starts_with('/')).prop_map(Atom::File),
    ]
}

fn node() -> impl Strategy<Value = ExpressionNode> {
    atom().prop_map(ExpressionNode::Atom).prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|it| ExpressionNode::Not(Box::new(it))),
            collection::vec(inner.clone(), 2..4).prop_map(ExpressionNode::and),
            collection::vec(inner, 2..4).prop_map(ExpressionNode::or),
        ]
    })
}

proptest! {
    #[test]
    fn displayed_conditions_parse_again(node in node()) {
        let expression = Expression(node);
        let text = expression.to_string();
        match parser::parse_expression(&text) {
            Ok(read) => prop_assert_eq!(read, expression, "{}", text),
            Err(error) => prop_assert!(text.len() > 1000, "{}: {:?}", text, error),
        }
    }

    #[test]
    fn parsing_is_total(text in any::<String>()) {
        within(&text, parse(&text).err())?;
    }

    #[test]
    fn parsing_is_total_on_plausible_input(
        words in collection::vec(
            (sample::select(WORDS), option::of(sample::select(vec![" ", "\n", "é"]))),
            0..12,
        ),
    ) {
        let text: String = words.into_iter().flat_map(|(word, gap)| [word, gap.unwrap_or_default()]).collect();
        within(&text, parse(&text).err())?;
    }
}

const WORDS: &[&str] = &[
    "and",
    "or",
    "not",
    "(",
    ")",
    "criteria",
    "plan",
    "iterations",
    "duration",
    "cost",
    "criterion",
    "text",
    "file",
    ">",
    ">=",
    "==",
    "!",
    "10",
    "10m",
    "2.5",
    "\"",
    "'",
    "/",
    "\\",
    "i",
    "abc",
    "x,",
    "全",
];

fn within(text: &str, error: Option<super::WhenError>) -> Result<(), proptest::test_runner::TestCaseError> {
    if let Some(error) = error {
        prop_assert!(text.get(error.range.clone()).is_some(), "{}: {:?}", text, error);
        prop_assert!(!error.message.is_empty() && !error.hint.is_empty());
        prop_assert!(!error.message.chars().any(char::is_control), "{:?}", error);
    }
    Ok(())
}
