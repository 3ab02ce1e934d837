use proptest::prelude::{any, proptest};

use super::fingerprint::normalize_error;
use super::{ErrorScan, Fingerprint, MAX_ERRORS, OutputSource, fingerprint, merge_scans};

fn errors(source: OutputSource, output: &str) -> Vec<String> {
    let mut scan = ErrorScan::new(source);
    output.lines().for_each(|line| scan.push_line(line));
    scan.finish().into_iter().map(|it| it.text).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn a_line_that_only_contains_the_word_is_not_an_error() {
    for line in [
        r#"{"type":"tool_result","is_error": false,"content":"ok"}"#,
        r#""error": null,"#,
        r#"  "error": "none","#,
        r#""errors": 0"#,
        r#"{"errors":[]}"#,
        "'error': false",
        "is_error: false",
        "error: 0",
        "Error: none",
        "errors: 0",
        "Errors: 0, warnings: 2",
        "0 errors",
        "0 errors, 0 warnings",
        "no errors found",
        "No errors.",
        "Finished without errors",
        "Finished without any error",
        "zero failures",
        "12 passed, 0 failed",
        "test result: ok. 12 passed; 0 failed; 0 ignored",
        "# fail 0",
        "fn read() -> Result<String, Error> {",
        "    Err(Error::Parse)",
        "pub fn error(message: &str) -> Error {",
        "} catch (error) {",
        "  catch (Exception e) {",
        "except ValueError as error:",
        "    raise ValueError(\"x\")",
        "throw new Error('boom');",
        "console.error(\"Error: failed\");",
        "return Err(\"error: bad\".into());",
        "    error: Option<ProviderError>,",
        "  error: String;",
        "const error = new Error(\"x\")",
        "use std::error::Error;",
        "import { NotFoundError } from './errors'",
        "errors.rs",
        "src/agent/errors.rs:12: error handling moved",
        "src/errors.rs:12:    error: Option<ProviderError>,",
        "modified: src/error.ts",
        "M  server/errors.rs",
        "ErrorBoundary.tsx",
        "I fixed the error handling.",
        "The error message is now clearer.",
        "Now `error: mismatched types` is gone.",
        "`error[E0308]: mismatched types` was the cause.",
        "\"Error: connection refused\" is shown to the user.",
        "> Error: it failed",
        "- Error: the user sees this",
        "* error: shown in red",
        "1. Error: no such user",
        "// error: this must not happen",
        "# Error: a heading",
        "## Errors",
        "+    Error: added in the diff",
        "-error: removed in the diff",
        "| Error: | a table |",
        "Handled exceptions: see the manual.",
        "The server never panics.",
        "If permission denied, ask the user.",
        "a failed login is logged",
        "Added a test for the not found page",
        "warning: unused variable",
        "exit status 0",
        "<Error: />",
        "error => console.log(error)",
        "2 files changed, 3 insertions(+)",
    ] {
        for source in [OutputSource::Message, OutputSource::Program] {
            assert_eq!(errors(source, line), [""; 0], "{line}");
        }
    }
}

#[test]
fn errors_of_real_tools_are_found() {
    let lines = [
        "error: expected `;`, found `}`",
        "error[E0308]: mismatched types",
        "Error: Cannot find module './x'",
        "ERROR: relation \"users\" does not exist",
        "[ERROR] Failed to execute goal",
        "2026-11-20 14:05:26,431 ERROR worker crashed",
        "2026-11-20T14:05:26Z ERROR worker crashed",
        "[14:05:26] Error: it broke",
        "main.c:3:5: error: expected ';' before 'return'",
        "main.c:3:5: fatal error: x.h: No such file or directory",
        "src/x.ts(3,5): error TS2304: Cannot find name 'y'.",
        "src/x.ts:3:5 - error TS2304: Cannot find name 'y'.",
        "Foo.cs(1,2): error CS0103: The name 'y' does not exist",
        "  3:5  error  'x' is not defined  no-undef",
        "TypeError: Cannot read properties of undefined (reading 'id')",
        "Uncaught TypeError: x is not a function",
        "Uncaught (in promise) Error: nope",
        "TypeError [ERR_INVALID_ARG_TYPE]: The \"path\" argument must be a string",
        "requests.exceptions.HTTPError: 404 Client Error",
        "java.lang.NullPointerException: Cannot invoke",
        "Exception in thread \"main\" java.lang.IllegalStateException: x",
        "E   AssertionError: assert 1 == 2",
        "E       assert 1 == 2",
        "PHP Fatal error:  Uncaught Error: x",
        "panic: runtime error: index out of range [5] with length 3",
        "thread 'main' panicked at src/main.rs:2:5:",
        "thread 'main' panicked at 'boom', src/main.rs:2:5",
        "test parser::reads ... FAILED",
        "FAILED tests/test_x.py::test_y - AssertionError: assert 1 == 2",
        "--- FAIL: TestReads (0.00s)",
        "not ok 3 - reads",
        "fatal: not a git repository (or any of the parent directories): .git",
        "remote: fatal: early EOF",
        "npm ERR! Missing script: \"tset\"",
        "npm error code ENOENT",
        "bash: line 1: foo: command not found",
        "sh: 1: foo: not found",
        "zsh: command not found: foo",
        "bash: ./run.sh: Permission denied",
        "cat: x: No such file or directory",
        "Permission denied (publickey).",
        "Segmentation fault (core dumped)",
        "x.o: in function `main': undefined reference to `y'",
        "main.rb:1:in `f': undefined local variable (NameError)",
        "✖ Error: it broke",
        "\u{1b}[31m\u{1b}[1mError: \u{1b}[0mSession not found",
        "cargo: error: no such command",
    ];
    let missed: Vec<&str> =
        lines.into_iter().filter(|line| errors(OutputSource::Program, line).len() != 1).collect();
    assert_eq!(missed, [""; 0]);
}

/// Checks the errors that remain of several lines.
fn check(output: &str, expect: &[&str]) {
    assert_eq!(errors(OutputSource::Program, output), expect, "{output}");
}

#[test]
fn a_multi_line_error_counts_once() {
    check(
        "error[E0308]: mismatched types\n  --> src/lib.rs:3:5\n   |\n3  |     error()\n   |     ^^^^^^^ Error: expected\n   |\n   = note: expected error `x`\nhelp: error: try this\n   |\n3  |     x\n\nerror: could not compile `a` (lib) due to 1 previous error",
        &["error[E0308]: mismatched types"],
    );
    check(
        "Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in <module>\n    raise ValueError('Error: x')\nValueError: Error: x\nnext",
        &["ValueError: Error: x"],
    );
    check(
        "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a.py\", line 5\nRuntimeError: gone\n",
        &["RuntimeError: gone"],
    );
    check(
        "Exception in thread \"main\" java.lang.IllegalStateException: outer\n\tat a.B.c(B.java:3)\n\t... 12 more\nCaused by: java.io.IOException: inner\n\tat a.B.d(B.java:9)\ndone",
        &["java.io.IOException: inner"],
    );
    check(
        "TypeError: x is not a function\n    at f (/a/b.js:3:5)\n    at Error: g (/a/b.js:3:5)\n",
        &["TypeError: x is not a function"],
    );
    check(
        "thread 'tests::reads' (77) panicked at src/lib.rs:3:5:\nassertion `left == right` failed\n  left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1`\nstack backtrace:\n   0: Error: begin_panic\n             at /x.rs:1:2\n\n",
        &[
            "thread 'tests::reads' (77) panicked at src/lib.rs:3:5: assertion `left == right` failed left: 1 right: 2",
        ],
    );
    // Cut off before the end.
    check("Traceback (most recent call last):\n  File \"a.py\", line 3", &[]);
    check("error: first\nerror: second\n\nerror: first", &["error: second", "error: first"]);
    check("10%\rerror: in a progress bar\r20%", &["error: in a progress bar"]);
}

#[test]
fn a_follow_up_counts_only_without_other_errors() {
    check("test a ... FAILED\n\ntest result: FAILED. 3 passed; 1 failed;", &["test a ... FAILED"]);
    check("test result: FAILED. 3 passed; 1 failed;", &["test result: FAILED. 3 passed; 1 failed;"]);
    let scan = |line: &str| {
        let mut scan = ErrorScan::new(OutputSource::Program);
        scan.push_line(line);
        scan
    };
    let sum = || scan("make: *** [Makefile:3: test] Error 1");
    assert_eq!(merge_scans([sum(), scan("ok")])[0].text, "make: *** [Makefile:3: test] Error 1");
    assert_eq!(merge_scans([sum(), scan("error: x y")]).len(), 1);
    assert_eq!(merge_scans([sum(), scan("error: x y")])[0].text, "error: x y");
}

#[test]
fn fenced_text_counts_as_quoted() {
    let message = "It said:\n```\nerror: mismatched types\n```\nerror: still there";
    assert_eq!(errors(OutputSource::Message, message), ["error: still there"]);
    assert_eq!(errors(OutputSource::Program, message).len(), 2);
    let open = format!("```\n{}error: late", "x\n".repeat(600));
    assert_eq!(errors(OutputSource::Message, &open), ["error: late"]);
    let mut scan = ErrorScan::new(OutputSource::Message);
    scan.push_text("```\nerror: quoted");
    scan.push_text("error: of the next message");
    assert_eq!(scan.finish().len(), 1);
}

#[test]
fn the_last_distinct_errors_are_kept() {
    let lines: Vec<String> = (0_u8..26).map(|n| format!("error: bad {}", char::from(b'a' + n))).collect();
    let kept = errors(OutputSource::Program, &lines.join("\n"));
    assert_eq!(kept.len(), MAX_ERRORS);
    assert_eq!(kept.last().unwrap(), "error: bad z");
    let long = format!("error: {}", "x ".repeat(100_000));
    assert_eq!(errors(OutputSource::Program, &long)[0].chars().count(), 299);
}

#[test]
fn a_line_that_a_program_repeats_is_read_once() {
    let check = |output: &str, expect: &[&str]| {
        assert_eq!(errors(OutputSource::Program, output), expect, "{output}");
        // However often each of its lines is repeated.
        let repeated: Vec<String> = output.lines().map(|line| format!("{line}\n").repeat(1_000)).collect();
        assert_eq!(errors(OutputSource::Program, &repeated.concat()), expect, "{output}");
    };
    check("error: bad a", &["error: bad a"]);
    check("error: bad a\nerror: bad b\nerror: bad a", &["error: bad b", "error: bad a"]);
    check("Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: no", &["ValueError: no"]);
    let mut scan = ErrorScan::new(OutputSource::Program);
    scan.push_text("error: bad a");
    scan.push_text("error: bad a");
    assert_eq!(scan.finish().len(), 1);
}

#[test]
fn the_same_error_elsewhere_has_the_same_fingerprint() {
    for (a, b) in [
        ("error: bad at src/a.rs:3:5", "error: bad at server/core/src/b.rs:17"),
        ("/a/b.c:3:5: error: no `;`", "/x/y/c.c:30:1: error: no `;`"),
        ("main.c:3: error: no `;`", "util.c:4: error: no `;`"),
        ("Error: ENOENT, open '/tmp/.tmpAb3/x'", "Error: ENOENT, open '/var/folders/zz/y'"),
        ("Error: tmp12ab gone", "Error: tmp_x9 gone"),
        ("panic at 0xdeadbeef", "panic at 0x1"),
        ("Error: took 3.5s", "Error: took 120 ms"),
        ("Error: after 1h 2m 3s", "Error: after 4 s"),
        ("2026-11-20T14:05:26Z ERROR x", "2026-11-21 09:00:00,123 ERROR x"),
        ("ERROR at 14:05:26 x", "ERROR at 09:00:01.5 x"),
        ("Error on Nov 20 2026: x", "Error on Dec 1 2027: x"),
        ("Error: id 6c1f5f9e-0d4b-4c39-8f55-1f2a3b4c5d6e", "Error: id 00000000-0D4B-4c39-8f55-1f2a3b4c5d6e"),
        ("Error: loop 20261120-abcdef", "Error: loop 20261231-a2b3zz"),
        ("Error: commit 8f3c2a1 missing", "Error: commit 0123456789abcdef missing"),
        ("\u{1b}[31mError:\u{1b}[0m x", "Error: x"),
        ("Error: port 8080 in use", "Error: port 9090 in use"),
        ("Error: http://127.0.0.1:80/a failed", "Error: https://example.org/b failed"),
        (r"Error: C:\a\b.c missing", r"Error: D:\x.c missing"),
        ("✖ Error: x", "Error: x"),
        ("thread 'main' (12) panicked at src/a.rs:3:5: x", "thread 'main' (9) panicked at src/b.rs:1:1: x"),
        ("Error:   wide", "Error: wide"),
        ("at a (x.js:3:5) Error: y", "at a (/long/y.ts:30) Error: y"),
    ] {
        assert_eq!(fingerprint(a), fingerprint(b), "{} | {}", normalize_error(a), normalize_error(b));
    }
}

#[test]
fn another_error_has_another_fingerprint() {
    let all = [
        "error[E0308]: mismatched types",
        "error[E0277]: mismatched types",
        "error[E0308]: mismatched arms",
        "error TS2304: Cannot find name 'y'.",
        "error TS2304: Cannot find name 'z'.",
        "TypeError: x is not a function",
        "ReferenceError: x is not a function",
        "ValueError: bad",
        "KeyError: 'bad'",
        "test a::b ... FAILED",
        "test a::c ... FAILED",
        "sh: 1: foo: not found",
        "sh: 1: bar: not found",
        "error: defaced page",
        "error: effaced page",
        "cat: x: No such file or directory",
        "cat: x: Permission denied",
    ];
    for (at, a) in all.iter().enumerate() {
        for b in all.iter().skip(at + 1) {
            assert_ne!(fingerprint(a), fingerprint(b), "{a} | {b}: {}", normalize_error(a));
        }
    }
}

#[test]
fn fingerprints_in_journals_stay_the_same() {
    assert_eq!(fingerprint("error[E0308]: mismatched types").0, "bb6f4f4f922b");
    assert_eq!(
        normalize_error("  at /a/b.rs:3:5: error: 3 of 4 gone after 2 s (x/y/z)"),
        "at <path>: error: <n> of <n> gone after <n> (<path>)"
    );
}

proptest! {
    #[test]
    fn kept_errors_are_bounded_and_distinct(lines in proptest::collection::vec("(error|Traceback|thread 'x' panicked at|TypeError)?[: ]{0,2}.{0,40}", 0..60)) {
        let mut scan = ErrorScan::new(OutputSource::Message);
        for line in &lines {
            scan.push_line(line);
        }
        let seen = scan.finish();
        assert!(seen.len() <= MAX_ERRORS);
        for error in &seen {
            assert!(error.text.chars().count() <= 300 && !error.text.contains('\n'));
            assert!(seen.iter().filter(|it| it.fingerprint == error.fingerprint).count() == 1);
        }
    }

    #[test]
    fn a_location_does_not_change_the_fingerprint(dir in "[a-z]{1,8}(/[a-z]{1,8}){1,3}", line in 1_u32..9999, column in 1_u32..200, text in "[a-z ]{1,20}") {
        let here = format!("/{dir}/x.rs:{line}:{column}: error: {text}");
        assert_eq!(fingerprint(&here), fingerprint(&format!("/home/x.rs:1:1: error: {text}")), "{}", normalize_error(&here));
    }

    #[test]
    fn fingerprints_are_short_hex(text in any::<String>()) {
        let Fingerprint(hex) = fingerprint(&text);
        assert!(hex.len() == 12 && hex.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f')), "{hex}");
    }
}
