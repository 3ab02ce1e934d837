//! The check grammar as tables: an item as written, and its parsed reading.

mod attributes;
mod near;
mod shown;

use super::ItemMode;
use shown::shown;

#[track_caller]
fn check(mode: ItemMode, table: &[(&str, &str)]) {
    let differing: Vec<String> = table
        .iter()
        .filter_map(|&(item, expect)| {
            let found = shown(item, mode);
            (found != expect).then(|| format!("({item:?}, {found:?}),\n    expected {expect:?}"))
        })
        .collect();
    assert!(
        differing.is_empty(),
        "{} of {} lines differ:\n{}",
        differing.len(),
        table.len(),
        differing.join("\n")
    );
}

#[test]
fn commands_are_checks() {
    check(
        ItemMode::Criterion,
        &[
            ("All tests pass: `$ cargo test`", "All tests pass | $ cargo test"),
            ("All tests pass: `$ cargo test`.", "All tests pass | $ cargo test"),
            ("`$ cargo test`", "cargo test | $ cargo test"),
            ("`$ cargo test` passes", "cargo test passes | $ cargo test"),
            ("`$ cargo test`: all tests pass", "all tests pass | $ cargo test"),
            ("`$ cargo test` - all tests pass", "all tests pass | $ cargo test"),
            ("Run `$ cargo test` and look at it", "Run and look at it | $ cargo test"),
            ("Tests pass (`$ cargo test`)", "Tests pass | $ cargo test"),
            ("Coverage holds (`$ cov`, `>= 80`) in CI", "Coverage holds in CI | $ cov [>= 80]"),
            ("`foo()` and bar() work (`$ make`)", "foo() and bar() work | $ make"),
            ("Tests pass: **`$ cargo test`** (optional)", "Tests pass | $ cargo test | optional"),
            ("`$ a` is followed by `exists` in prose: fine", "a is followed by exists in prose: fine | $ a"),
            ("**Tests** *pass*: `$ cargo test`", "Tests pass | $ cargo test"),
            ("__`$ cargo test`__", "cargo test | $ cargo test"),
            ("All tests pass: `$   cargo test   `", "All tests pass | $ cargo test"),
            ("All tests pass: ` $ cargo test `", "All tests pass | $ cargo test"),
            ("[`$ make`]", "make | $ make"),
            ("\"`$ make`\"", "make | $ make"),
            ("`foo()` returns 1: `$ cargo test foo`", "foo() returns 1 | $ cargo test foo"),
            (
                "Line endings: `$ printf 'a\\tb' | grep -c \"a\"`",
                "Line endings | $ printf 'a\\tb' | grep -c \"a\"",
            ),
            ("A pipe: `$ a | b && c; d > /dev/null 2>&1`", "A pipe | $ a | b && c; d > /dev/null 2>&1"),
            ("A variable: `$ test -n \"$HOME\"`", "A variable | $ test -n \"$HOME\""),
            ("A backtick: `` $ echo `date` ``", "A backtick | $ echo `date`"),
            ("Three backticks: ``` $ echo ``date`` ```", "Three backticks | $ echo ``date``"),
            ("[The guide](docs/a.md) builds: `$ mdbook build`", "The guide builds | $ mdbook build"),
            ("One & two &amp; three: `$ true`", "One & two & three | $ true"),
            ("中文测试通过：`$ cargo test`。", "中文测试通过 | $ cargo test"),
            ("测试通过（`$ cargo test`）", "测试通过 | $ cargo test"),
            ("🚀 Ships: `$ make`", "🚀 Ships | $ make"),
            ("Tests <!-- `$ rm -rf /` --> pass: `$ cargo test`", "Tests pass | $ cargo test"),
            ("Tests pass <!-- not `$ npm test` -->", "Tests pass"),
            ("Tests pass: <b>`$ cargo test`</b>", "Tests pass | $ cargo test"),
            ("Tests pass: ~~`$ cargo test`~~", "Tests pass | $ cargo test"),
            ("A very\n  long name: `$ cargo test`", "A very long name | $ cargo test"),
        ],
    );
}

#[test]
fn prose_is_not_a_check() {
    check(
        ItemMode::Criterion,
        &[
            ("The app starts", "The app starts"),
            ("The function `foo()` works", "The function foo() works"),
            ("See `src/main.rs`", "See src/main.rs"),
            ("`$HOME` is set", "$HOME is set"),
            ("$HOME is set", "$HOME is set"),
            ("Costs $ 5 or $5", "Costs $ 5 or $5"),
            ("It costs `$5`", "It costs $5"),
            ("The sign is `$`", "The sign is $"),
            ("`./run.sh` is there", "./run.sh is there"),
            (".env is ignored", ".env is ignored"),
            ("`--help` says so", "--help says so"),
            ("- dashed - ", "dashed"),
            ("... works", "works"),
            ("`PATH` and `$PATH` differ", "PATH and $PATH differ"),
            ("It prints `hello world`", "It prints hello world"),
            ("The type is `Vec<String>`", "The type is Vec<String>"),
            ("A tag `<promise>` and `<div>`", "A tag <promise> and <div>"),
            ("The flag `--release` is on", "The flag --release is on"),
            ("Use `snake_case` names", "Use snake_case names"),
            ("The key `\"name\"` is read", "The key \"name\" is read"),
            ("Route `/api/users` answers", "Route /api/users answers"),
            ("Endpoint answers to `GET /health`", "Endpoint answers to GET /health"),
            ("An escaped \\` backtick", "An escaped ` backtick"),
            ("An escaped \\$ sign and `code`", "An escaped $ sign and code"),
            ("Two `a` and `b` spans", "Two a and b spans"),
            ("A `>` or `<` or `=>` sign", "A > or < or => sign"),
            ("`exit` is called", "exit is called"),
            ("`exit code` is zero", "exit code is zero"),
            ("`==` compares", "== compares"),
            ("Node `node 18` or `python 3.12+` works", "Node node 18 or python 3.12+ works"),
            ("Migrated from `jest` to `vitest`", "Migrated from jest to vitest"),
            ("The `make` target is documented", "The make target is documented"),
            ("`cargo` is installed", "cargo is installed"),
            ("A method named `has`", "A method named has"),
            ("A table `exists` somewhere in prose", "A table exists somewhere in prose"),
            ("The `test` folder is gone", "The test folder is gone"),
        ],
    );
}

#[test]
fn words_of_the_grammar_are_checks() {
    check(
        ItemMode::Criterion,
        &[
            ("Readme: `exists README.md`", "Readme | exists [\"README.md\"]"),
            (
                "`exists README.md docs/*.md`",
                "exists README.md docs/*.md | exists [\"README.md\", \"docs/*.md\"]",
            ),
            ("`exists \"a file.txt\" b.txt`", "exists a file.txt b.txt | exists [\"a file.txt\", \"b.txt\"]"),
            ("`exists README.md`。", "exists README.md | exists [\"README.md\"]"),
            ("`missing dist/**`", "missing dist/** | missing [\"dist/**\"]"),
            (
                "Nothing is left: `missing **/*.orig` (optional)",
                "Nothing is left | missing [\"**/*.orig\"] | optional",
            ),
            ("`has \"a b\" src/**`", "has a b src/** | has \"a b\" [\"src/**\"]"),
            (
                "`has \"say \\\"hi\\\" \\\\ there\" src/**`",
                "has say \"hi\" \\ there src/** | has \"say \\\"hi\\\" \\\\ there\" [\"src/**\"]",
            ),
            ("`has \"a\\nb\" x`", "has a\\nb x | has \"a\\\\nb\" [\"x\"]"),
            (
                "`has /fn main\\(\\)/ src/main.rs`",
                "has fn main\\(\\) src/main.rs | has /fn main\\(\\)/ [\"src/main.rs\"]",
            ),
            (
                "`has /a\\/b/i src/** \"a file.txt\"`",
                "has a/b src/** a file.txt | has /a/b/i [\"src/**\", \"a file.txt\"]",
            ),
            ("`lacks /re/i \"a file.txt\"`", "lacks re a file.txt | lacks /re/i [\"a file.txt\"]"),
            ("`lacks \"TODO\" **/*.rs`", "lacks TODO **/*.rs | lacks \"TODO\" [\"**/*.rs\"]"),
            ("Tree: `clean`", "Tree | clean"),
            ("`clean`", "clean | clean"),
            ("The `exists x` form is documented", "The exists x form is documented"),
            ("`exists x` is true", "exists x is true"),
            ("`exists x` and `foo()`", "exists x and foo()"),
            ("`has x` is a method of it", "has x is a method of it"),
            ("Call `clean` before the build", "Call clean before the build"),
            ("The `judge` decides", "The judge decides"),
            ("The word `missing values` in prose", "The word missing values in prose"),
            ("`exists x`, `clean` and done", "exists x, clean and done"),
        ],
    );
}

#[test]
fn malformed_checks_are_faults() {
    check(
        ItemMode::Criterion,
        &[
            (
                "Two: `$ cargo test` and `$ cargo fmt --check`",
                "Two: $ cargo test and $ cargo fmt --check | ! bad-check [`$ cargo fmt --check`]",
            ),
            ("Two: `$ cargo test` `exists x`", "Two: $ cargo test exists x | ! bad-check [`exists x`]"),
            ("Two: `judge` or `$ x`", "Two: judge or $ x | ! bad-check [`$ x`]"),
            ("Two: `exists a` and `exists b`", "Two: exists a and exists b | ! bad-check [`exists b`]"),
            ("Two: `exists a`, `$ true`", "Two: exists a, $ true | ! bad-check [`$ true`]"),
            ("Two: `clean` 和 `exists a`", "Two: clean 和 exists a | ! bad-check [`exists a`]"),
            ("Empty: `$ `", "Empty: $ | ! bad-check [`$ `]"),
            ("Empty: `$  ` (optional)", "Empty: $ | optional | ! bad-check [`$  `]"),
            ("Tab: `$\tcargo test`", "Tab: $ cargo test | ! bad-check [`$\tcargo test`] => `$ cargo test`"),
            ("Odd ` backtick", "Odd ` backtick | ! bad-check [`]"),
            ("Odd: `$ cargo test", "Odd: `$ cargo test | ! bad-check [`]"),
            ("Odd: `$ cargo test` and ` more", "Odd: $ cargo test and ` more | ! bad-check [`]"),
            ("Odd: ``$ cargo test`", "Odd: ``$ cargo test` | ! bad-check [`]"),
            (
                "Torn: `$ cargo\n  test`",
                "Torn: $ cargo test | ! bad-check [`$ cargo\n  test`] => `$ cargo test`",
            ),
            ("Torn prose: `foo\n  bar`", "Torn prose: foo bar | ! bad-check [`foo\n  bar`]"),
            ("Bad: `has foo`", "Bad: has foo | ! bad-check [`has foo`]"),
            ("Bad: `has \"foo\" `", "Bad: has \"foo\" | ! bad-check [`has \"foo\" `]"),
            ("Bad: `has \"foo`", "Bad: has \"foo | ! bad-check [`has \"foo`]"),
            ("Bad: `has \"foo\"src/**`", "Bad: has \"foo\"src/** | ! bad-check [`has \"foo\"src/**`]"),
            ("Bad: `has \"\" src/**`", "Bad: has \"\" src/** | ! bad-check [`has \"\" src/**`]"),
            ("Bad: `has // src/**`", "Bad: has // src/** | ! bad-check [`has // src/**`]"),
            ("Bad: `has /(/ src/**`", "Bad: has /(/ src/** | ! bad-check [`has /(/ src/**`]"),
            (
                "Bad: `lacks /a{2,1}/ src/**`",
                "Bad: lacks /a{2,1}/ src/** | ! bad-check [`lacks /a{2,1}/ src/**`]",
            ),
            (
                "Bad: `lacks TODO src/**`",
                "Bad: lacks TODO src/** | ! bad-check [`lacks TODO src/**`] => `lacks \"TODO\" src/**`",
            ),
            ("Bad: `exists [a`", "Bad: exists [a | ! bad-check [`exists [a`]"),
            ("Bad: `exists /etc/passwd`", "Bad: exists /etc/passwd | ! bad-check [`exists /etc/passwd`]"),
            ("Bad: `exists ../x`", "Bad: exists ../x | ! bad-check [`exists ../x`]"),
            ("Bad: `exists a/../../x`", "Bad: exists a/../../x | ! bad-check [`exists a/../../x`]"),
            ("Bad: `missing ~/x`", "Bad: missing ~/x | ! bad-check [`missing ~/x`]"),
            ("Bad: `exists \"\"`", "Bad: exists \"\" | ! bad-check [`exists \"\"`]"),
            (
                "Bad: `missing a.txt, b.txt`",
                "Bad: missing a.txt, b.txt | ! bad-check [`missing a.txt, b.txt`] => `missing a.txt b.txt`",
            ),
            ("Bad: `lacks \"x\" a, b`", "Bad: lacks \"x\" a, b | ! bad-check [`lacks \"x\" a, b`]"),
            ("Bad: `missing 'a b'`", "Bad: missing 'a b' | ! bad-check [`missing 'a b'`]"),
            ("Bad: `missing $OUT/x`", "Bad: missing $OUT/x | ! bad-check [`missing $OUT/x`]"),
            ("Bad: `missing \ta`", "Bad: missing a | ! bad-check [`missing \ta`]"),
            ("Quoted: `missing \"$a\" \"b,\"`", "Quoted | missing [\"$a\", \"b,\"]"),
            ("Bad: `exists \"a\"b`", "Bad: exists \"a\"b | ! bad-check [`exists \"a\"b`]"),
            ("Bad: `clean all`", "Bad: clean all | ! bad-check [`clean all`] => `clean`"),
            ("Bad: `judge 3 of 2`", "Bad: judge 3 of 2 | ! bad-check [`judge 3 of 2`]"),
            ("Bad: `judge 0 of 2`", "Bad: judge 0 of 2 | ! bad-check [`judge 0 of 2`]"),
            ("Bad: `judge two of three`", "Bad: judge two of three | ! bad-check [`judge two of three`]"),
            ("Bad: `GET http://`", "Bad: GET http:// | ! bad-check [`GET http://`]"),
            ("Bad: `GET https:///x`", "Bad: GET https:///x | ! bad-check [`GET https:///x`]"),
            ("Bad: `GET http://a b`", "Bad: GET http://a b | ! bad-check [`GET http://a b`]"),
        ],
    );
}

#[test]
fn spans_after_a_command_are_expectations() {
    check(
        ItemMode::Criterion,
        &[
            ("Warnings: `$ lint` `== 0`", "Warnings | $ lint [== 0]"),
            ("Coverage: `$ cov` prints `>= 80`", "Coverage | $ cov [>= 80]"),
            ("Coverage: `$ cov`, `>= 80`, `<= 100`.", "Coverage | $ cov [>= 80] [<= 100]"),
            ("Size: `$ size` `<1,000,000`", "Size | $ size [< 1000000]"),
            ("Delta: `$ d` `!= -0.5`", "Delta | $ d [!= -0.5]"),
            ("Up: `$ d` `> +3`", "Up | $ d [> 3]"),
            ("Says ok: `$ app` `/^ok$/`", "Says ok | $ app [/^ok$/]"),
            ("Says OK: `$ app` `/ok/i`", "Says OK | $ app [/ok/i]"),
            ("Silent: `$ app` `!/panic|error/i`", "Silent | $ app [!/panic|error/i]"),
            ("Slash: `$ app` `/a\\/b/`", "Slash | $ app [/a/b/]"),
            ("Fails well: `$ app --bad` `exit 2`", "Fails well | $ app --bad [exit 2]"),
            ("Fails well: `$ app --bad` `exit 2` `/usage/`", "Fails well | $ app --bad [exit 2] [/usage/]"),
            ("Coverage `>= 80`: `$ cov`", "Coverage >= 80 | $ cov | ! bad-value [`>= 80`]"),
            ("Fails with `exit 2`: `$ app`", "Fails with exit 2 | $ app | ! bad-value [`exit 2`]"),
            ("Under `/tmp/` nothing is left: `$ app`", "Under /tmp/ nothing is left | $ app"),
            ("Serves: `$ app` on `/api/users`", "Serves | $ app"),
            ("Prints `<div>`: `$ app` `<b>` `=> x` `>` `->`", "Prints <div> | $ app"),
            ("Plain: `$ app` `foo()` `200`", "Plain | $ app"),
            ("Gives `exit code` 0: `$ app`", "Gives exit code 0 | $ app"),
            ("Bad: `$ cov` `>= 80%`", "Bad | ! bad-check [`>= 80%`] => `>= 80`"),
            ("Bad: `$ cov` `== many`", "Bad | ! bad-check [`== many`]"),
            ("Bad: `$ cov` `== `", "Bad | ! bad-check [`== `]"),
            ("Prose: `$ cov` `==`", "Prose | $ cov"),
            ("Bad: `$ cov` `>=1.2.3`", "Bad | ! bad-check [`>=1.2.3`]"),
            ("Bad: `$ cov` `< 5 ms`", "Bad | ! bad-check [`< 5 ms`] => `< 5`"),
            ("Bad: `$ cov` `== 1,00`", "Bad | ! bad-check [`== 1,00`]"),
            ("Bad: `$ cov` `== 1.0,000`", "Bad | ! bad-check [`== 1.0,000`]"),
            ("Bad: `$ app` `/(/`", "Bad | ! bad-check [`/(/`]"),
            ("Bad: `$ app` `!/(/`", "Bad | ! bad-check [`!/(/`]"),
            ("Bad: `$ app` `!/open`", "Bad | ! bad-check [`!/open`] => `!/open/`"),
            ("Bad: `$ app` `//`", "Bad | ! bad-check [`//`]"),
            ("Bad: `$ app` `/ok/g`", "Bad | ! bad-check [`/ok/g`] => `/ok/`"),
            ("Bad: `$ app` `exit 256`", "Bad | ! bad-check [`exit 256`]"),
            ("Bad: `$ app` `exit -1`", "Bad | ! bad-check [`exit -1`]"),
            ("Bad: `$ app` `exit 1 or 2`", "Bad | ! bad-check [`exit 1 or 2`]"),
            ("Bad: `$ app` `exit 1` `exit 2`", "Bad | ! bad-check [`exit 2`]"),
            ("Bad: `exists a` `== 0`", "Bad | ! bad-check [Bad: `exists a` `== 0`]"),
            ("No check: `>= 80`", "No check: >= 80"),
            ("Bad: `$ cov` `=> 5`", "Bad | ! bad-check [`=> 5`] => `>= 5`"),
            ("Bad: `$ cov` `= 5`", "Bad | ! bad-check [`= 5`] => `== 5`"),
            ("Bad: `$ cov` `≥ 1,000`", "Bad | ! bad-check [`≥ 1,000`] => `>= 1,000`"),
            ("Bad: `$ app` `/ok/I`", "Bad | ! bad-check [`/ok/I`]"),
            ("Bad: `$ app` `/ok/gm`", "Bad | ! bad-check [`/ok/gm`] => `/ok/`"),
            ("Bad: `$ app` `! /err/i`", "Bad | ! bad-check [`! /err/i`] => `!/err/i`"),
            ("Bad: `$ app` `Exit 1`", "Bad | ! bad-check [`Exit 1`] => `exit 1`"),
            ("Bad: `$ app` `exit code 1`", "Bad | ! bad-check [`exit code 1`] => `exit 1`"),
            ("Bad: `$ app` `exit: 1`", "Bad | ! bad-check [`exit: 1`] => `exit 1`"),
            ("Bad: `$ app` `exit != 0`", "Bad | ! bad-check [`exit != 0`]"),
            ("Bad: `$ app` `exit nonzero`", "Bad | ! bad-check [`exit nonzero`]"),
            ("Bad: `$ app` `exit ok`", "Bad | ! bad-check [`exit ok`]"),
            ("Prose: `$ app` `exit status` `= x` `≥` `! x`", "Prose | $ app"),
        ],
    );
}

#[test]
fn commands_without_the_mark_are_reported() {
    check(
        ItemMode::Criterion,
        &[
            (
                "All tests pass: `cargo test`",
                "All tests pass: cargo test | ! not-a-check [`cargo test`] => `$ cargo test`",
            ),
            (
                "All tests pass with `npm run test:unit`.",
                "All tests pass with npm run test:unit | ! not-a-check [`npm run test:unit`] => `$ npm run test:unit`",
            ),
            (
                "`RUST_LOG=debug cargo test --all` passes",
                "RUST_LOG=debug cargo test --all passes | ! not-a-check [`RUST_LOG=debug cargo test --all`] => `$ RUST_LOG=debug cargo test --all`",
            ),
            (
                "Use `./check.sh --all` first",
                "Use ./check.sh --all first | ! not-a-check [`./check.sh --all`] => `$ ./check.sh --all`",
            ),
            ("Use `./check.sh` first", "Use ./check.sh first"),
            ("Passes under `pytest`", "Passes under pytest | ! not-a-check [`pytest`] => `$ pytest`"),
            (
                "Passes under `pytest`, (optional)",
                "Passes under pytest | optional | ! not-a-check [`pytest`] => `$ pytest`",
            ),
            (
                "Lint: ``eslint \"a`b\"``",
                "Lint: eslint \"a`b\" | ! not-a-check [``eslint \"a`b\"``] => `` $ eslint \"a`b\" ``",
            ),
            (
                "Lint: `` npx eslint `ls` ``",
                "Lint: npx eslint `ls` | ! not-a-check [`` npx eslint `ls` ``] => `` $ npx eslint `ls` ``",
            ),
            ("It is `$cargo test`", "It is $cargo test | ! bad-check [`$cargo test`] => `$ cargo test`"),
            (
                "`cargo test` and `cargo fmt --check`",
                "cargo test and cargo fmt --check | ! not-a-check [`cargo test`] => `$ cargo test`",
            ),
            (
                "`cargo test` after `foo()`",
                "cargo test after foo() | ! not-a-check [`cargo test`] => `$ cargo test`",
            ),
            ("$ cargo test", "$ cargo test | ! not-a-check [$ cargo test] => `$ cargo test`"),
            (
                "$ cargo test passes",
                "$ cargo test passes | ! not-a-check [$ cargo test passes] => `$ cargo test passes`",
            ),
            ("Also `make` here", "Also make here"),
            ("`node.js` and `go` and `python 3`", "node.js and go and python 3"),
            ("Script `scripts/test.sh`", "Script scripts/test.sh"),
            (
                "The `git` history is `git log`",
                "The git history is git log | ! not-a-check [`git log`] => `$ git log`",
            ),
            (
                "Coverage `>= 80` by `cargo llvm-cov`",
                "Coverage >= 80 by cargo llvm-cov | ! not-a-check [`cargo llvm-cov`] => `$ cargo llvm-cov`",
            ),
        ],
    );
}

#[test]
fn requests_and_judges_are_checks() {
    check(
        ItemMode::Criterion,
        &[
            ("Health: `GET http://localhost:8080/health`", "Health | GET http://localhost:8080/health"),
            ("Health: `GET https://example.org/` `200`", "Health | GET https://example.org/ [status 200]"),
            (
                "Health: `GET http://localhost:8080/health` `200` `/ok/` (timeout 5s)",
                "Health | GET http://localhost:8080/health [status 200] [/ok/] | timeout 5000",
            ),
            ("`GET http://x` is what it asks", "GET http://x is what it asks"),
            ("Good prose: `judge`", "Good prose | judge"),
            ("Good prose: `judge 2 of 3`", "Good prose | judge 2 of 3"),
            ("`judge` (optional)", "judge | optional | ! bad-check [`judge` (optional)]"),
        ],
    );
}

#[test]
fn validation_items_need_no_mark() {
    check(
        ItemMode::Validation,
        &[
            ("`cargo test`", "cargo test | $ cargo test"),
            ("Tests: `cargo test`", "Tests | $ cargo test"),
            ("`./scripts/check`", "./scripts/check | $ ./scripts/check"),
            ("`anything at all` (timeout 5m)", "anything at all | $ anything at all | timeout 300000"),
            ("`cargo test` `exit 1`", "cargo test | $ cargo test [exit 1]"),
            ("`cov` `>= 80`", "cov | $ cov [>= 80]"),
            ("`$ cargo test`", "cargo test | $ cargo test"),
            ("`exists README.md`", "exists README.md | exists [\"README.md\"]"),
            (
                "Run `cargo test` in `core`",
                "Run cargo test in core | ! not-a-check [`cargo test`] => `$ cargo test`",
            ),
            (
                "`cargo test` and `cargo fmt --check`",
                "cargo test and cargo fmt --check | ! bad-check [`cargo fmt --check`]",
            ),
            (
                "cargo test --all",
                "cargo test --all | ! not-a-check [cargo test --all] => `$ cargo test --all`",
            ),
            ("$ cargo test", "$ cargo test | ! not-a-check [$ cargo test] => `$ cargo test`"),
            ("The app works", "The app works"),
            ("`cargo\n  test`", "cargo test | ! bad-check [`cargo\n  test`]"),
            ("`$ `", "$ | ! bad-check [`$ `]"),
        ],
    );
}

#[test]
fn boxes_of_a_plan_need_the_mark() {
    check(
        ItemMode::PlanBox,
        &[
            ("Write the parser", "Write the parser"),
            ("Write the `parser` and run `cargo test`", "Write the parser and run cargo test"),
            ("Tests pass: `$ cargo test`", "Tests pass | $ cargo test"),
            ("Tests pass: `$ cargo test", "Tests pass: `$ cargo test | ! bad-check [`]"),
            ("An odd ` backtick", "An odd ` backtick"),
            (
                "Tests pass: `$ cargo test`, and ` is odd",
                "Tests pass: $ cargo test, and ` is odd | ! bad-check [`]",
            ),
            ("A torn `code\n  span`", "A torn code span"),
            (
                "A torn `$ cargo\n  test`",
                "A torn $ cargo test | ! bad-check [`$ cargo\n  test`] => `$ cargo test`",
            ),
            ("Remove `$HOME`", "Remove $HOME"),
            ("Docs: `exists docs/a.md` (optional)", "Docs | exists [\"docs/a.md\"] | optional"),
            ("Two: `$ a` and `$ b`", "Two: $ a and $ b | ! bad-check [`$ b`]"),
        ],
    );
}
