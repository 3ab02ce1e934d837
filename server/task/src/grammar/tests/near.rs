//! Near misses of checks and expectations, and prose that must not be mistaken for them.

use super::{ItemMode, check, shown};

/// Each is refused with a suggestion.
#[track_caller]
fn check_near_misses(mode: ItemMode, table: &[(&str, &str)]) {
    for (code, meant) in table {
        let found = shown(&format!("Works: `{code}`"), mode);
        let expect = format!("! bad-check [`{code}`] => `{meant}`");
        assert!(found.ends_with(&expect), "{code}: {found}");
    }
}

/// Each is inline code and nothing else.
#[track_caller]
fn check_inline_code(mode: ItemMode, table: &[&str]) {
    for code in table {
        for item in [format!("Works: `{code}`"), format!("Uses `{code}` everywhere"), format!("`{code}`")] {
            let found = shown(&item, mode);
            assert!(!found.contains("bad-check"), "{item}: {found}");
        }
    }
}

const NEAR_MISSES: &[(&str, &str)] = &[
    ("exist x", "exists x"),
    ("exist docs/a.md docs/b.md", "exists docs/a.md docs/b.md"),
    ("exits README.md", "exists README.md"),
    ("Exists README.md", "exists README.md"),
    ("exists: README.md", "exists README.md"),
    ("missin tmp", "missing tmp"),
    ("misssing tmp/*", "missing tmp/*"),
    ("Missing .env", "missing .env"),
    ("!exists tmp/a", "missing tmp/a"),
    ("not exists tmp/a", "missing tmp/a"),
    ("Has \"x\" src/**", "has \"x\" src/**"),
    ("Has TODO src/**", "has \"TODO\" src/**"),
    ("contains \"x\" src/**", "has \"x\" src/**"),
    ("lack /TODO/ src/**", "lacks /TODO/ src/**"),
    ("not has \"x\" src/**", "lacks \"x\" src/**"),
    ("$cargo test", "$ cargo test"),
    ("$./check.sh --all", "$ ./check.sh --all"),
    ("$make", "$ make"),
    ("$> npm test", "$ npm test"),
    ("$: npm test", "$ npm test"),
    ("＄ anything", "$ anything"),
    ("GET localhost:3000", "GET http://localhost:3000"),
    ("GET localhost/health", "GET http://localhost/health"),
    ("GET 127.0.0.1:8080/x", "GET http://127.0.0.1:8080/x"),
    ("GET example.org/health", "GET http://example.org/health"),
    ("GET HTTP://localhost", "GET http://localhost"),
    ("get http://localhost:3000", "GET http://localhost:3000"),
    ("Get localhost:3000", "GET http://localhost:3000"),
    ("GET: https://example.org/", "GET https://example.org/"),
    ("GET http:localhost:3000", "GET http://localhost:3000"),
    ("GET http//localhost:3000", "GET http://localhost:3000"),
    ("Judge 2 of 3", "judge 2 of 3"),
    ("judges 2 of 3", "judge 2 of 3"),
    ("judge 2 off 3", "judge 2 of 3"),
    ("judge 2/3", "judge 2 of 3"),
];

#[test]
fn near_misses_are_refused_with_the_intended_check() {
    check_near_misses(ItemMode::Criterion, NEAR_MISSES);
    check_near_misses(ItemMode::Validation, NEAR_MISSES);
}

#[test]
fn ordinary_code_in_prose_is_not_a_check() {
    check_inline_code(
        ItemMode::Criterion,
        &[
            "Option",
            "$HOME",
            "$HOME/.config",
            "$user->name",
            "$var = 1",
            "$",
            "exists_path()",
            "exists(\"a.txt\")",
            "exists: true",
            "Exists",
            "Missing",
            "Missing required argument",
            "Missing argument",
            "missing_docs",
            "exist",
            "exit 1",
            "exits 1",
            "Has",
            "has_many :users",
            "contains(x)",
            "contains x",
            "GET",
            "GET /health",
            "GET users/1",
            "GET index.html",
            "get /users",
            "get user",
            "get()",
            "http://",
            "http",
            "localhost:3000",
            "POST http://localhost",
            "Judge",
            "judges",
            "clear",
            "Clean",
            "> = 3",
            "=> 5",
            "x => x + 1",
            "200 OK",
            "status 200",
        ],
    );
    check_inline_code(
        ItemMode::PlanBox,
        &["exist x", "GET localhost:3000", "$cargo test", "get http://localhost", "Exists a.md"],
    );
}

#[test]
fn a_variable_is_nearly_a_command_where_it_is_the_whole_item() {
    check(
        ItemMode::Criterion,
        &[
            ("`$cmd`", "$cmd | ! bad-check [`$cmd`] => `$ cmd`"),
            ("`$cmd` (optional)", "$cmd | optional | ! bad-check [`$cmd`] => `$ cmd`"),
            ("`$CMD`", "$CMD"),
            ("`$cmd` is set", "$cmd is set"),
            ("Remove `$cmd`", "Remove $cmd"),
            ("`$cmd` `$args`", "$cmd $args"),
        ],
    );
}

#[test]
fn near_misses_of_expectations_are_refused() {
    for (code, meant) in [
        ("> = 3", ">= 3"),
        ("< = 3", "<= 3"),
        ("= = 3", "== 3"),
        ("! = 3", "!= 3"),
        ("=> 5", ">= 5"),
        ("= > 5", ">= 5"),
        ("=== 5", "== 5"),
        ("<> 0", "!= 0"),
        ("!== 0", "!= 0"),
        (">=80%", ">=80"),
        ("≥ 80%", ">= 80"),
        ("exits 1", "exit 1"),
        ("exit=1", "exit 1"),
        ("exit-code 1", "exit 1"),
    ] {
        let found = shown(&format!("Works: `$ a` `{code}`"), ItemMode::Criterion);
        let expect = format!("! bad-check [`{code}`] => `{meant}`");
        assert!(found.ends_with(&expect), "{code}: {found}");
    }
    check(
        ItemMode::Criterion,
        &[
            ("Up: `GET http://a.b/` `200 OK`", "Up | ! bad-check [`200 OK`] => `200`"),
            ("Up: `GET http://a.b/` `HTTP 404`", "Up | ! bad-check [`HTTP 404`] => `404`"),
            ("Up: `GET http://a.b/` `status: 200`", "Up | ! bad-check [`status: 200`] => `200`"),
            ("Prose: `$ a` `200 OK` `x => y` `exit(1)` `exits` `- = 3`", "Prose | $ a"),
        ],
    );
}

#[test]
fn the_message_asks_for_the_intended_check() {
    let messages = |criterion: &str| {
        let task = crate::parse_inline_task("Do it", &[criterion.to_owned()]);
        task.findings.iter().map(|it| it.message.clone()).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(messages("It is there: `exist x`"), "`exist x` is not a check. Did you mean `exists x`?");
    assert_eq!(
        messages("Up: `GET localhost:3000`"),
        "`GET localhost:3000` is not a check. Did you mean `GET http://localhost:3000`?"
    );
    assert_eq!(messages("Enough: `$ cov` `> = 3`"), "`> = 3`: not a comparison. Did you mean `>= 3`?");
}

#[test]
fn checks_that_are_typed_need_no_backticks() {
    let messages = |checks: &[&str]| {
        let mut task = crate::parse_inline_task("Do it", &["Tests: `$ cargo test`".to_owned()]);
        let checks: Vec<String> = checks.iter().map(|it| (*it).to_owned()).collect();
        crate::add_checks(&mut task, &checks);
        let names = task.criteria.iter().map(|it| it.name.clone());
        names
            .chain(task.findings.iter().map(|it| format!("! {}", it.message)))
            .collect::<Vec<_>>()
            .join(" | ")
    };
    assert_eq!(messages(&["npm test", "exists README.md"]), "Tests | npm test | exists README.md");
    assert_eq!(messages(&["cargo test"]), "Tests", "a check of the task is not added again");
    assert_eq!(messages(&["$ npm test"]), "Tests | npm test");
    assert_eq!(
        messages(&["exist x"]),
        "Tests | exist x | ! `exist x` is not a check. Did you mean `exists x`?"
    );
    assert_eq!(
        messages(&["$npm test"]),
        "Tests | $npm test | ! `$npm test` is not a check. Did you mean `$ npm test`?"
    );
    assert_eq!(messages(&[" "]), "Tests | ! command: empty, so nothing is checked. Write one.");
    let mut optional = crate::parse_inline_task("Do it", &["Tests: `$ cargo test` (optional)".to_owned()]);
    crate::add_checks(&mut optional, &["cargo test".to_owned()]);
    assert_eq!(optional.criteria.iter().map(|it| it.required).collect::<Vec<_>>(), [true]);
    let mut empty = crate::parse_inline_task("Do it", &[]);
    assert_eq!(empty.findings.len(), 1);
    crate::add_checks(&mut empty, &["make".to_owned()]);
    assert_eq!(
        (empty.findings.len(), empty.criteria.len()),
        (0, 1),
        "the finding about missing criteria is gone"
    );
}
