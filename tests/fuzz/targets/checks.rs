//! The output of checks and the reports of test runners.

use std::path::Path;

use loopkeeper_core::check::report::ReportingRunner;
use loopkeeper_core::check::{counts, excerpt, locations};
use loopkeeper_fuzz::Fuzzer;

const WORDS: &[&str] = &[
    "test result: ok. 1 passed; 0 failed\n",
    "=== 3 failed, 2 passed in 0.1s ===\n",
    "Tests:  1 failed, 18446744073709551616 passed\n",
    "ok 1 - a\n",
    "not ok 2\n",
    "    at f (/a/b.js:1:2)\n",
    "  --> src/a.rs:4294967296:0\n",
    "File \"a.py\", line 3\n",
    "\x1b[31m",
    "\x1b]8;;",
    "<testsuite tests=\"1\">",
    "<testcase name=\"a\"><failure/></testcase>",
    "<![CDATA[",
    "]]>",
    "&#x110000;",
    "--- FAIL: ",
    "panicked at src/a.rs:1:1:\n",
];

fn fuzzer() -> Fuzzer {
    Fuzzer::new("checks", WORDS, &["runner_output", "runner_report"])
}

fn read(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    std::hint::black_box((counts::read(&text), locations::read(&text, Path::new("/work"))));
    std::hint::black_box(excerpt::readable(&text));
    std::hint::black_box(ReportingRunner::Pytest.read(&text));
}

#[test]
fn any_output_is_read() {
    fuzzer().run(read);
}

#[test]
fn the_time_is_linear() {
    fuzzer().run_growing(read);
}
