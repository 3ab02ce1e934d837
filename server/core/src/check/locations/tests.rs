//! Places that real outputs name, and text that only looks like one.

use proptest::prelude::*;

use super::read;
use crate::check::MAX_LOCATIONS;
use crate::check::counts::{fixture, fixtures};

/// `file:line:column message` of each place.
fn found(output: &str) -> Vec<String> {
    let shown = |it: crate::check::Location| {
        let column = it.column.map(|it| format!(":{it}")).unwrap_or_default();
        format!("{}:{}{column} {}", it.file, it.line, it.message).trim_end().to_owned()
    };
    read(output).into_iter().map(shown).collect()
}

#[test]
fn places_of_real_runs() {
    let check = |name: &str, expect: &[&str]| assert_eq!(found(&fixture(name)), expect, "{name}");
    let sums = "assertion `left == right` failed: sums must add up, left: 4, right: 5";
    let breaks = format!("tests/more.rs:5:5 {sums}");
    check("cargo_pass", &[]);
    check("cargo_fail", &[&breaks, "tests/more.rs:4:12"]);
    check("cargo_fail_color", &[&breaks, "tests/more.rs:4:12"]);
    check("nextest_fail", &[&breaks, "tests/more.rs:4:12"]);
    check("rustc_error", &["tests/more.rs:2:27 error[E0308]: mismatched types"]);
    let pytest = [
        "tests/test_t.py:11 assert 3 == 4",
        "tests/test_t.py:14 AssertionError: x must be two",
        "tests/test_t.py:4 AssertionError: x must be two",
    ];
    check("pytest_fail", &pytest);
    check("pytest_fail_q", &pytest);
    check("pytest_fail_short_color", &pytest);
    check("pytest_error", &["tests/test_imp.py:1 ModuleNotFoundError: No module named 'nope'"]);
    check(
        "unittest_fail",
        &[
            "/home/me/py/tests/utest.py:5 ValueError: boom",
            "/home/me/py/tests/utest.py:4 AssertionError: 1 != 2",
        ],
    );
    check(
        "python_crash",
        &["/home/me/py/crash.py:3 ValueError: bad value", "/home/me/py/crash.py:2 ValueError: bad value"],
    );
    check(
        "tsc_plain",
        &[
            "t/a.ts:1:7 error TS2322: Type 'string' is not assignable to type 'number'.",
            "t/a.ts:3:5 error TS2322: Type 'number' is not assignable to type 'string'.",
        ],
    );
    check(
        "tsc_pretty",
        &[
            "t/a.ts:1:7 error TS2322: Type 'string' is not assignable to type 'number'.",
            "t/a.ts:3:5 error TS2322: Type 'number' is not assignable to type 'string'.",
        ],
    );
    check(
        "node_crash",
        &[
            "/home/me/node/crash.js:2:8 TypeError: Cannot read properties of null (reading 'x')",
            "/home/me/node/crash.js:4:1 TypeError: Cannot read properties of null (reading 'x')",
        ],
    );
    check("go_fail", &["add_test.go:9 add(2, 2) = 4, want 5"]);
    check("go_unbuilt", &["add/add.go:4:9 undefined: c"]);
    check(
        "mocha_fail",
        &["m/a.spec.js:2:73 AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:"],
    );
    check("vitest_fail", &["v/a.vit.js:3:34"]);
}

#[test]
fn places_of_the_node_runner() {
    for name in ["node_tap_fail", "node_spec_fail", "node_spec_color"] {
        let places = found(&fixture(name));
        for expect in ["/home/me/node/a.test.mjs:4:29", "/home/me/node/a.test.mjs:6:83"] {
            assert!(places.iter().any(|it| it.starts_with(expect)), "{name}: {places:#?}");
        }
        assert!(places.iter().all(|it| !it.contains("node:")), "{name}: {places:#?}");
    }
    let spec = found(&fixture("node_spec_fail"));
    assert!(spec.contains(&"/home/me/node/a.test.mjs:6:83 Error: boom".to_owned()), "{spec:#?}");
}

#[test]
fn single_lines() {
    let check = |line: &str, expect: &[&str]| assert_eq!(found(line), expect, "{line:?}");
    check("src/a.c:3:5: error: expected ';'", &["src/a.c:3:5 error: expected ';'"]);
    check(
        "src/a.c:3: warning: unused\nsrc/b.c:9: error: bad",
        &["src/b.c:9 error: bad", "src/a.c:3 warning: unused"],
    );
    check("./src/a.rs:3", &["src/a.rs:3"]);
    check("see (src/a.rs:3:5) and b.py:7", &["src/a.rs:3:5 and b.py:7", "b.py:7"]);
    check("C:\\home\\a.rs:3:5: oops", &["C:\\home\\a.rs:3:5 oops"]);
    check("    at f (C:\\home\\a.js:3:5)", &["C:\\home\\a.js:3:5"]);
    check("    at file:///C:/home/a%20b.mjs:3:5", &["C:/home/a b.mjs:3:5"]);
    check("    at async run (file:///home/me/a.mjs:3:4)", &["/home/me/a.mjs:3:4"]);
    check(
        "Makefile:12: *** missing separator.  Stop.",
        &["Makefile:12 *** missing separator.  Stop.".replace("  ", " ").as_str()],
    );
    check("thread 'main' panicked at 'no way', src/main.rs:3:5", &["src/main.rs:3:5 no way"]);
    check("src/a.rs:3:5\nsrc/a.rs:3:5\nsrc/a.rs:3", &["src/a.rs:3:5"]);
    check("src/a.rs:3: first\nsrc/a.rs:3:5: second", &["src/a.rs:3:5 first"]);
    check("src/a.rs:3:0", &["src/a.rs:3"]);
    check("src/übung.rs:3:5: ü", &["src/übung.rs:3:5 ü"]);
}

#[test]
fn what_only_looks_like_a_place() {
    for line in [
        "12:30:45 started",
        "[2026-11-20T12:30:45.123Z] ok",
        "http://h:80/",
        "http://h.rs:80/x",
        "https://example.com:8443/a.js",
        "GET http://localhost:3000/app.js:3:5",
        "listening on localhost:8080",
        "listening on example.com:443",
        "127.0.0.1:9000",
        "[::1]:80 fe80::1:2",
        "version 1.2.3:4",
        "git@github.com:22/a",
        "a.rs:0",
        "a.rs:99999999999",
        "a.rs:12px",
        "ratio 3:4",
        "started (12:30:45)",
        "at 12:30:45",
        "std::vec::Vec:3",
        "C:3",
        "node:internal/main/run_main_module:28:49",
        "    at /rustc/59807616/library/std/src/panicking.rs:689:5",
        "    at Object.<anonymous> (/x/node_modules/jest/build/a.js:3:5)",
        "  File \"<stdin>\", line 1, in <module>",
        "",
        ":3",
        "::",
    ] {
        assert_eq!(found(line), [""; 0], "{line:?}");
    }
}

#[test]
fn the_list_is_capped_and_errors_come_first() {
    let warning = |n: u32| format!("warning: unused\n --> src/w.rs:{n}:1\n");
    let warnings = (1..200).map(warning).collect::<Vec<_>>().concat();
    let places = read(&format!("{warnings}error: bad\n --> src/e.rs:1:1\n"));
    assert_eq!(places.len(), MAX_LOCATIONS);
    assert_eq!(places[0].file, "src/e.rs");
}

proptest! {
    #[test]
    fn any_output_is_read(output in "(\\PC|\n|\t|[a-z.:/()0-9\" -]){0,200}") {
        let places = read(&output);
        prop_assert!(places.len() <= MAX_LOCATIONS);
        for place in places {
            prop_assert!(place.line >= 1 && place.column.is_none_or(|it| it >= 1) && !place.file.is_empty());
            prop_assert!(place.message.chars().count() <= 200);
        }
    }

    #[test]
    fn cut_fixtures_are_read(at in 0usize..46, from in 0usize..900, to in 0usize..900) {
        let all = fixtures();
        let text: String = all[at].1.chars().skip(from).take(to).collect();
        prop_assert!(read(&text).iter().all(|it| it.line >= 1));
    }
}
