use super::{combined, fingerprint, store_fingerprints};
use crate::check::{CheckResult, Status, TestCounts};
use loopkeeper_task::criterion::CriterionId;

fn failed(fact: &str, output: &str) -> CheckResult {
    CheckResult {
        head: output.to_owned(),
        ..CheckResult::new(CriterionId("a".to_owned()), Status::Fail, fact)
    }
}

#[track_caller]
fn same(one: &str, other: &str) {
    let of = |output| fingerprint(&failed("exit 1", output));
    assert_eq!(of(one), of(other), "{one}\n---\n{other}");
}

#[track_caller]
fn differ(one: &str, other: &str) {
    let of = |output| fingerprint(&failed("exit 1", output));
    assert_ne!(of(one), of(other), "{one}\n---\n{other}");
}

const PYTEST: &str = "\
============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.1.1, pluggy-1.4.0
Using --randomly-seed=2183912
rootdir: /home/me/shop
collected 3 items

tests/test_cart.py .F.                                                   [100%]

=================================== FAILURES ===================================
__________________________________ test_total __________________________________

tmp_path = PosixPath('/tmp/pytest-of-me/pytest-12/test_total0')

    def test_total(tmp_path):
        cart = Cart(tmp_path)
>       assert cart.total() == 4
E       AssertionError: assert 3 == 4
E        +  where 3 = <bound method Cart.total of <shop.Cart object at 0x7f3c1c2d5e50>>()

tests/test_cart.py:14: AssertionError
=============================== warnings summary ===============================
shop/cart.py:3: DeprecationWarning: old
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total - AssertionError: assert 3 == 4
==================== 1 failed, 2 passed, 1 warning in 0.12s ====================
";

const CARGO: &str = "\
   Compiling shop v0.1.0 (/home/me/shop)
warning: unused variable: `x`
 --> src/lib.rs:3:9
  |
3 |     let x = 1;
  |         ^ help: if this is intentional, prefix it with an underscore: `_x`

warning: `shop` (lib) generated 1 warning
    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.41s
     Running unittests src/lib.rs (target/debug/deps/shop-3f2a9c1b7d5e4a10)

running 2 tests
test tests::adds ... ok
test tests::totals ... FAILED

failures:

---- tests::totals stdout ----

thread 'tests::totals' (91823) panicked at src/lib.rs:14:9:
assertion `left == right` failed: the total
  left: 3
 right: 4
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

failures:
    tests::totals

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

const JEST: &str = "\
FAIL src/cart.test.js
  Cart
    ✓ adds (2 ms)
    ✕ totals (11 ms)

  ● Cart › totals

    expect(received).toBe(expected) // Object.is equality

    Expected: 4
    Received: 3

      12 |   it('totals', () => {
    > 13 |     expect(cart.total()).toBe(4);
         |                          ^
      14 |   });

      at Object.toBe (src/cart.test.js:13:26)

Tests:       1 failed, 1 passed, 2 total
Time:        0.412 s
Ran all test suites.
";

#[test]
fn varying_details_do_not_make_another_failure() {
    same(PYTEST, &PYTEST.replace("0.12s", "1 min 7s").replace("2183912", "77"));
    same(PYTEST, &PYTEST.replace("0x7f3c1c2d5e50", "0x7fffab120010").replace("pytest-12/", "pytest-13/"));
    same(PYTEST, &PYTEST.replace("test_cart.py:14:", "test_cart.py:19:").replace(".F.", "F.."));
    // An edit that changes nothing but the source that is quoted, and a warning more.
    same(
        PYTEST,
        &PYTEST
            .replace("cart = Cart(tmp_path)", "cart = Cart(path=tmp_path)")
            .replace("1 warning", "3 warnings"),
    );
    same(
        CARGO,
        &CARGO
            .replace("91823", "120")
            .replace("3f2a9c1b7d5e4a10", "aa2a9c1b7d5e4a11")
            .replace(":14:9", ":21:13"),
    );
    same(
        CARGO,
        &CARGO
            .replace("0.41s", "2m 03s")
            .replace("0.00s", "0.31s")
            .replace("generated 1 warning", "generated 2 warnings"),
    );
    same(
        CARGO,
        &CARGO.replace("let x = 1;", "let x = 2;").replace("unused variable: `x`", "unused variable: `y`"),
    );
    same(
        JEST,
        &JEST.replace("11 ms", "1.2 s").replace("0.412 s", "3 s").replace("13", "17").replace("12 |", "16 |"),
    );
    same("error at 0xdeadbeef in pid 4711\n", "error at 0xcafe in pid 12\n");
    same("2026-11-20T14:00:00.123Z ERROR no route\n", "2026-11-21T09:13:42.001Z ERROR no route\n");
    same("no such file: /var/folders/zz/x1/T/tmp.Ab3/a\n", "no such file: /var/folders/qq/y7/T/tmp.9Zk/b\n");
    same("connect ECONNREFUSED 127.0.0.1:40123\n", "connect ECONNREFUSED 127.0.0.1:51277\n");
    same("src/a.ts(3,5): error TS2322: no\n", "src/a.ts(13,7): error TS2322: no\n");
    same("Randomized with seed 12345\nexpected 3 got 4\n", "Randomized with seed 999\nexpected 3 got 4\n");
    same("not ok 3 - totals\n  duration_ms: 12.25\n", "not ok 1 - totals\n  duration_ms: 3.5\n");
    same("waiting for the server\nwaiting for the server\nrefused\n", "waiting for the server\nrefused\n");
}

#[test]
fn the_order_of_tests_does_not_matter() {
    same("FAILED a - x\nFAILED b - y\n", "FAILED b - y\nFAILED a - x\n");
    same(
        "--- FAIL: TestA (0.00s)\n    a_test.go:5: got 3, want 4\n--- FAIL: TestB (0.01s)\n",
        "--- FAIL: TestB (0.20s)\n--- FAIL: TestA (0.00s)\n    a_test.go:8: got 3, want 4\n",
    );
}

#[test]
fn another_failure_is_distinguished() {
    differ(PYTEST, &PYTEST.replace("3 == 4", "2 == 4"));
    differ(PYTEST, &PYTEST.replace("1 failed, 2 passed", "1 failed, 3 passed"));
    differ(CARGO, &CARGO.replace("left: 3", "left: 2"));
    differ(CARGO, &CARGO.replace("the total", "the sum"));
    differ(JEST, &JEST.replace("Received: 3", "Received: undefined"));
    differ("=== 12 failed in 3.2s ===\n", "=== 11 failed in 3.2s ===\n");
    differ("error[E0308]: mismatched types\n", "error[E0425]: cannot find value\n");
    differ("src/a.py:3:1: E501 long\nsrc/a.py:9:1: E501 long\n", "src/a.py:9:1: E501 long\n");
    differ("  3:5  error  'x' is unused\n  9:5  error  'x' is unused\n", "  3:5  error  'x' is unused\n");
    differ("✖ 12 problems (0 errors, 12 warnings)\n", "✖ 11 problems (0 errors, 11 warnings)\n");
    differ("remaining: 14\n", "remaining: 13\n");
    differ(
        "--- FAIL: TestA (0.00s)\n    a_test.go:5: got 3, want 4\n",
        "--- FAIL: TestA (0.00s)\n    a_test.go:5: got 2, want 4\n",
    );
    differ("FAILED tests/a.py::test_a - boom\n", "FAILED tests/a.py::test_b - boom\n");
    differ("1203456 bytes, at most 1000000\n", "1203455 bytes, at most 1000000\n");
}

#[test]
fn fact_counts_and_status_are_part_of_the_fingerprint() {
    let of = |fact, status, tests| fingerprint(&CheckResult { status, tests, ..failed(fact, "") });
    let plain = of("exit 1", Status::Fail, None);
    assert_eq!(plain, of("exit 1", Status::Fail, None));
    assert_ne!(plain, of("exit 2", Status::Fail, None));
    assert_ne!(plain, of("exit 1", Status::TimedOut, None));
    assert_ne!(of("76.4, needs >= 80", Status::Fail, None), of("76.9, needs >= 80", Status::Fail, None));
    let counts = |failed| Some(TestCounts { passed: 3, failed, skipped: 0 });
    assert_ne!(of("exit 1", Status::Fail, counts(2)), of("exit 1", Status::Fail, counts(1)));
    assert_eq!(
        of("no result after 600 s", Status::TimedOut, None),
        of("no result after 599 s", Status::TimedOut, None)
    );
}

#[test]
fn several_failures_are_a_set() {
    let one =
        |id: &str, fact: &str| CheckResult { criterion: CriterionId(id.to_owned()), ..failed(fact, "") };
    let (a, b) = (one("a", "exit 1"), one("b", "exit 2"));
    assert_eq!(combined([&a, &b].into_iter()), combined([&b, &a].into_iter()));
    assert_ne!(combined([&a, &b].into_iter()), combined([&a].into_iter()));
    assert_ne!(combined([&one("a", "exit 2")].into_iter()), combined([&one("b", "exit 2")].into_iter()));
    assert_eq!(combined([].into_iter()), None);
}

#[test]
fn a_stored_fingerprint_is_not_computed_again() {
    let passed = CheckResult { status: Status::Pass, ..failed("", "") };
    let mut results = [failed("exit 1", "error: no"), passed];
    let computed = fingerprint(&results[0]);
    store_fingerprints(&mut results);
    assert_eq!(results[0].fingerprint.as_ref(), Some(&computed));
    assert_eq!(results[1].fingerprint, None);
    results[0].head = "another output".to_owned();
    assert_eq!(fingerprint(&results[0]), computed);
}
