//! Examples of documentation that a check runs, and what became of them.

use super::super::doc_tests::are_run_by;
use super::check;

const SUM: &str = "/// Adds.\n///\n/// ```\n/// assert_eq!(calc::add(1, 2), 3);\n/// ```\npub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n";

#[track_caller]
fn becomes(command: &str, after: &str, expect: &str) {
    let what = format!("src/lib.rs {expect} in the examples of its documentation");
    let expect: &[&str] = if expect.is_empty() { &[] } else { &[&what] };
    check(command, &[("src/lib.rs", SUM)], &[("src/lib.rs", after)], expect);
}

#[test]
fn examples_that_no_longer_run() {
    for info in ["text", "ignore", "no_run", "compile_fail", "sh"] {
        becomes("cargo test", &SUM.replacen("```", &format!("```{info}"), 1), "skips 1 test");
    }
    becomes("cargo test", "/// Adds.\npub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n", "lost 1 test");
    becomes("cargo test", &SUM.replace(", 3)", ", -1)"), "expects different values in 1 assertion");
    let printed = SUM.replace("assert_eq!(calc::add(1, 2), 3)", "println!(\"{}\", calc::add(1, 2))");
    becomes("cargo test -q --workspace", &printed, "lost 1 assertion");
    becomes("make -C . test; cargo +stable test --doc --lib", &printed, "lost 1 assertion");
}

#[test]
fn examples_that_still_run() {
    let fixed = SUM.replace("a - b", "a + b");
    becomes("cargo test", &fixed, "");
    becomes("cargo test", &SUM.replacen("```", "```rust", 1), "");
    becomes("cargo test", &SUM.replacen("```", "```edition2021", 1), "");
    becomes("cargo test", &SUM.replace("/// assert", "/// # use calc::add;\n/// assert"), "");
    becomes("cargo test", &format!("//! Sums.\n//!\n//! ```text\n//! 1 + 2\n//! ```\n{fixed}"), "");
    // No check runs them.
    for command in ["cargo build", "cargo test --lib", "cargo nextest run", "pytest"] {
        becomes(command, &SUM.replacen("```", "```text", 1), "");
    }
    // Moved with the function.
    let tree: &[(&str, &str)] = &[("src/lib.rs", SUM)];
    check("cargo test", tree, &[("src/lib.rs", "pub mod add;\n"), ("src/add.rs", &fixed)], &[]);
    check("cargo test", &[("a.rs", SUM)], &[("a.rs", "-"), ("b/a.rs", SUM)], &[]);
}

#[test]
fn calls_of_cargo_that_run_examples() {
    let check = |line: &str, expect: bool| {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(are_run_by(&words), expect, "{line}");
    };
    check("test", true);
    check("+nightly t -q", true);
    check("test --all-features -- --lib", true);
    check("test --doc", true);
    check("test --test sums", false);
    check("build --workspace test", false);
}
