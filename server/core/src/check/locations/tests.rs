//! Locations in real outputs, and text that only resembles one.

use std::path::Path;

use proptest::prelude::*;

use super::read as read_below;
use crate::check::MAX_LOCATIONS;
use crate::check::counts::{fixture, fixtures};

/// Below a root that no output mentions.
fn read(output: &str) -> Vec<crate::check::Location> {
    read_below(output, Path::new("/tree"))
}

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
        "tests/test_t.py:14 AssertionError: x must be two, assert 1 == 2",
        "tests/test_t.py:4 AssertionError: x must be two, assert 1 == 2",
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
}

#[test]
fn places_of_go_and_of_javascript() {
    let check = |name: &str, expect: &[&str]| assert_eq!(found(&fixture(name)), expect, "{name}");
    check("go_fail", &["add_test.go:9 add(2, 2) = 4, want 5"]);
    check("go_unbuilt", &["add/add.go:4:9 undefined: c"]);
    check(
        "mocha_fail",
        &["m/a.spec.js:2:73 AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 1 !== 2, \
           + expected - actual, -1, +2"],
    );
    check(
        "vitest_fail",
        &[
            "v/a.vit.js:3:34 AssertionError: expected 1 to be 2 // Object.is equality, - Expected, + Received, - 2, + 1",
        ],
    );
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

/// The locations of failures, with the message of each.
fn check_failures(name: &str, expect: &[&str]) {
    let places: Vec<_> = read(&fixture(name)).into_iter().filter(|it| !it.warning).collect();
    let locations = places.iter().filter(|it| !it.message.is_empty());
    let locations: Vec<_> = locations.map(crate::check::Location::line_of_text).collect();
    assert_eq!(locations, expect, "{name}");
}

#[test]
fn failures_come_with_what_was_expected() {
    check_failures(
        "cargo_warnings",
        &[
            "src/lib.rs:79:9: assertion `left == right` failed: sums must add up, left: 0, right: 4",
            "src/lib.rs:84:9: assertion `left == right` failed, left: \"#7\", right: \"№7\"",
            "src/lib.rs:88:9: mean is wrong: 4",
        ],
    );
    check_failures(
        "jest_console_fail",
        &[
            "j/sum.test.js:3:36: expect(received).toBe(expected) // Object.is equality, Expected: 4, Received: 0",
            "j/sum.test.js:4:77: expect(received).toEqual(expected) // deep equality, - Expected - 1, + Received + 1, \
             - 3,, + 2,",
            "j/sum.js:2:32: TypeError: Cannot read properties of null (reading 'x')",
            "j/sum.test.js:5:20: TypeError: Cannot read properties of null (reading 'x')",
            "j/sum.test.js:6:42: expect(received).toThrow(expected), Expected substring: \"nope\", Received function did \
             not throw",
            "m/a.spec.js:1:74: assert.equal(received, expected), Expected value to be equal to: 4, Received: 0",
            "m/a.spec.js:1:113: TypeError: Cannot read properties of null (reading 'x')",
        ],
    );
    check_failures(
        "node_tap_details",
        &[
            "/home/me/js/n/a.test.mjs:2:29: Expected values to be strictly equal: 0 !== 4",
            "/home/me/js/n/a.test.mjs:3:29: Expected values to be strictly deep-equal: + actual - expected, + 2, - 3",
            "/home/me/js/n/a.test.mjs:4:38: boom",
            "/home/me/js/n/a.test.mjs:4:66: boom",
            "/home/me/js/n/a.test.mjs:5:32: sums must add up",
        ],
    );
}

#[test]
fn failures_of_linters_compilers_and_python() {
    check_failures(
        "eslint_fail",
        &[
            "/home/me/js/e/x.js:2:5: 'b' is not defined (no-undef)",
            "/home/me/js/e/x.js:2:7: Expected '===' and instead saw '==' (eqeqeq)",
            "/home/me/js/e/x.js:3:3: 'foo' is not defined (no-undef)",
            "/home/me/js/e/y.js:1:11: Parsing error: Unexpected token ;",
        ],
    );
    check_failures("make_fail", &["a.c:5:3: error: unknown type name ‘retrun’"]);
    check_failures(
        "pytest_details",
        &[
            "test_calc.py:17: RuntimeError: no database",
            "test_calc.py:3: assert 0 == 4",
            "test_calc.py:5: AssertionError: lists differ, assert [1, 2, 3] == [1, 2, 4]",
            "test_calc.py:7: ValueError: bad header: zz",
            "calc.py:6: ValueError: bad header: zz",
            "calc.py:8: ValueError: bad header: zz",
            "test_calc.py:9: Failed: DID NOT RAISE KeyError",
            "test_calc.py:14: assert 1 == 3",
        ],
    );
}

#[test]
fn failures_of_javascript_say_both_values() {
    let check = |name: &str, expect: &[&str]| {
        let locations: Vec<_> =
            read(&fixture(name)).iter().map(crate::check::Location::line_of_text).collect();
        assert!(
            expect.iter().all(|it| locations.iter().any(|locations| locations == it)),
            "{name}: {locations:#?}"
        );
    };
    check(
        "node_spec_details",
        &[
            "/home/me/js/n/a.test.mjs:2:29: AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 0 !== 4",
            "/home/me/js/n/a.test.mjs:4:66: Error: boom",
        ],
    );
    check(
        "vitest_details",
        &[
            "v/a.test.ts:3:31: AssertionError: expected +0 to be 4 // Object.is equality, - Expected, + Received, - 4, + 0",
            "v/a.ts:1:46: TypeError: Cannot read properties of null (reading 'x')",
        ],
    );
}

#[test]
fn places_below_the_root_are_relative_to_it() {
    let check = |name: &str, root: &str, expect: &[&str]| {
        let places = read_below(&fixture(name), Path::new(root));
        let errors = places.iter().filter(|it| !it.warning && !it.message.is_empty());
        let files: Vec<_> = errors.map(|it| format!("{}:{}", it.file, it.line)).collect();
        assert_eq!(files, expect, "{name} below {root}");
    };
    check("unittest_fail", "/home/me/py", &["tests/utest.py:5", "tests/utest.py:4"]);
    check("unittest_fail", "/home/me/p", &["/home/me/py/tests/utest.py:5", "/home/me/py/tests/utest.py:4"]);
    check("python_crash", "/home/me/py", &["crash.py:3", "crash.py:2"]);
    check("node_crash", "/home/me", &["node/crash.js:2", "node/crash.js:4"]);
    let js = "/home/me/js/n";
    check(
        "node_tap_details",
        js,
        &["a.test.mjs:2", "a.test.mjs:3", "a.test.mjs:4", "a.test.mjs:4", "a.test.mjs:5"],
    );
    check("eslint_fail", "/home/me/js", &["e/x.js:2", "e/x.js:2", "e/x.js:3", "e/y.js:1"]);
    for name in ["node_spec_fail", "node_spec_details", "node_tap_fail", "node_spec_color"] {
        let places = read_below(&fixture(name), Path::new("/home/me"));
        assert!(
            !places.is_empty() && places.iter().all(|it| !it.file.starts_with('/')),
            "{name}: {places:#?}"
        );
    }
}

/// What both runners print in a folder with a blank in its name.
#[test]
fn a_root_with_a_blank_in_its_name() {
    let check = |output: &str, expect: &[&str]| {
        let places = read_below(output, Path::new("/home/me/my project"));
        let lines: Vec<_> = places.iter().map(crate::check::Location::line_of_text).collect();
        assert_eq!(lines, expect, "{output}");
    };
    check(
        "not ok 1 - adds\n  ---\n  location: '/home/me/my project/a.test.mjs:3:1'\n  error: 'boom'\n  stack: |-\n    \
         TestContext.<anonymous> (file:///home/me/my%20project/a.test.mjs:4:29)\n  ...\n",
        &["a.test.mjs:3:1", "a.test.mjs:4:29: boom"],
    );
    check(
        "Traceback (most recent call last):\n  File \"/home/me/my project/tests/test_calc.py\", line 6, in \
         test_boom\n    raise ValueError(\"boom\")\nValueError: boom\n",
        &["tests/test_calc.py:6: ValueError: boom"],
    );
    check("/home/me/my project/a.zz:3: no", &["a.zz:3: no"]);
}

#[test]
fn warnings_and_notes_are_marked() {
    let check = |output: &str, warning: bool| {
        let places = read(output);
        assert_eq!(places.iter().map(|it| it.warning).collect::<Vec<_>>(), [warning], "{output}");
    };
    check("warning: unused variable: `x`\n --> src/a.rs:3:5", true);
    check("error: cannot find x\n --> src/a.rs:3:5", false);
    check("note: function defined here\n --> src/a.rs:3:5", true);
    check("F401 [*] `os` imported but unused\n --> a.py:1:8", false);
    check("src/a.c:3:5: warning: unused", true);
    check("src/a.c:3:5: note: declared here", true);
    check("/home/me/calc.py:3: DeprecationWarning: add is old", true);
    check("a.py:3: error: Incompatible types", false);
    check("a.py:3: note: Revealed type", true);
    check("a.ts(1,7): warning TS6133: unused", true);
    check("A.cs(1,7): error CS1002: ; expected", false);
    check("src/a.py:3: warnings are wrong", false);
    check("  console.warn\n    old\n\n      at Object.warn (j/sum.test.js:4:29)", true);
    check("make: *** [Makefile:5: test] Error 1", true);
    check("Makefile:12: *** missing separator.  Stop.", false);
}

#[test]
fn long_lines_do_not_hide_locations_or_values() {
    let (left, right) = ("l".repeat(5000), "r".repeat(5000));
    let panic =
        format!("thread 'a' panicked at src/a.rs:3:5:\nassertion failed\n  left: {left}\n right: {right}\n");
    let places = read(&panic);
    assert!(places[0].message.starts_with("assertion failed, left: lll"), "{places:?}");
    assert!(places[0].message.contains("…, right: rrr"), "{places:?}");
    let pytest = format!("E   AssertionError: assert {left} == 3\n\ntests/a.py:3: AssertionError\n");
    assert!(read(&pytest)[0].message.starts_with("AssertionError: assert lll"), "{:?}", read(&pytest));
    let places = read(&format!("src/a.c:3:5: error: {left}\n{left} src/b.c:3: no\n"));
    assert_eq!(places.iter().map(|it| it.file.as_str()).collect::<Vec<_>>(), ["src/a.c"]);
}

/// Output of the test itself follows a panic as it pleases.
#[test]
fn a_panic_is_followed_by_at_most_two_values() {
    let output = format!("panicked at src/a.rs:3:5:\nno\n  left: 1\n right: 2\n{}", "left: 3\n".repeat(300));
    assert_eq!(found(&output), ["src/a.rs:3:5 no, left: 1, right: 2"]);
}

#[test]
fn an_error_replaces_a_warning_about_the_same_line() {
    let check = |output: &str, expect: &[(&str, bool)]| {
        let places: Vec<_> = read(output).iter().map(|it| (it.line_of_text(), it.warning)).collect();
        let expect: Vec<_> = expect.iter().map(|(text, warning)| ((*text).to_owned(), *warning)).collect();
        assert_eq!(places, expect, "{output}");
    };
    check(
        "/p/calc.py:3: DeprecationWarning: add is old\nTraceback (most recent call last):\n  File \"/p/calc.py\", line 3, \
         in add\nValueError: boom\n",
        &[("/p/calc.py:3: ValueError: boom", false)],
    );
    check("a.py:3: note: here\na.py:3: error: bad\n", &[("a.py:3: error: bad", false)]);
    check("a.c:3:5: warning: old\na.c:3: error: bad\n", &[("a.c:3: error: bad", false)]);
    check("a.py:3: error: bad\na.py:3: note: here\n", &[("a.py:3: error: bad", false)]);
    // A location without a message is not an error.
    check("a.c:3:5: warning: old\nsee a.c:3:5\n", &[("a.c:3:5: warning: old", true)]);
}

#[test]
fn traces_of_other_languages() {
    let check = |output: &str, expect: &[&str]| assert_eq!(found(output), expect, "{output}");
    check(
        "panic: boom\n\ngoroutine 1 [running]:\nmain.f(...)\n\t/home/me/main.go:12 +0x1d",
        &["/home/me/main.go:12 panic: boom"],
    );
    check(
        "org.opentest4j.AssertionFailedError: expected: <4> but was: <0>\n\tat com.x.FooTest.adds(FooTest.java:12)",
        &["FooTest.java:12 org.opentest4j.AssertionFailedError: expected: <4> but was: <0>"],
    );
}

#[test]
fn locations_are_found_in_single_lines() {
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
    check("    at file:///home/me/50%+1.mjs:3:5", &["/home/me/50%+1.mjs:3:5"]);
    check("Makefile:12: *** missing separator.  Stop.", &["Makefile:12 *** missing separator. Stop."]);
    check("thread 'main' panicked at 'no way', src/main.rs:3:5", &["src/main.rs:3:5 no way"]);
    check("src/a.rs:3:5\nsrc/a.rs:3:5\nsrc/a.rs:3", &["src/a.rs:3:5"]);
    check("src/a.rs:3: first\nsrc/a.rs:3:5: second", &["src/a.rs:3:5 first"]);
    check("src/a.rs:3:0", &["src/a.rs:3"]);
    check("src/übung.rs:3:5: ü", &["src/übung.rs:3:5 ü"]);
}

#[test]
fn text_that_resembles_a_location_is_ignored() {
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
    fn cut_fixtures_are_read(
        (_, output) in prop::sample::select(fixtures()), from in 0usize..900, to in 0usize..900,
    ) {
        let text: String = output.chars().skip(from).take(to).collect();
        prop_assert!(read(&text).iter().all(|it| it.line >= 1));
    }
}
