//! Scripts that judge by their text, and scripts that are work.

use super::{compares_work, expected_rows};

#[track_caller]
fn check(path: &str, text: &str, expect: bool) {
    let exists = |it: &str| ["sums", "app.py", "bin/sums"].contains(&it);
    assert_eq!(compares_work(path, text, &exists), expect, "{path}: {text}");
}

#[test]
fn scripts_that_compare_the_output_of_the_work() {
    check("prove.sh", "out=$(./sums 1 2)\n[ \"$out\" = 3 ] || exit 1\n", true);
    check("prove.sh", "set -eu\ntest \"$(python3 app.py 1 2)\" = 3\n", true);
    check("prove", "#!/bin/sh\nif [ \"$(./bin/sums 1)\" -ne 3 ]; then exit 1; fi\n", true);
    check("prove.sh", "./sums 1 2 > out.txt\ndiff -u expected.txt out.txt\n", true);
    check("prove.sh", "got=\"$(timeout 5 sh -c ls && ./sums)\"\n[[ $got == 3 ]] || exit 1\n", true);
}

#[test]
fn shell_scripts_that_are_work() {
    check("sums.sh", "[ $# -gt 0 ] || { echo usage; exit 2; }\necho $(($1 + $2))\n", false);
    check("run.sh", "[ \"$(id -u)\" = 0 ] && exit 1\n./sums 1 2\n", false);
    check("run.sh", "out=$(./sums 1 2)\necho \"$out\"\n", false);
    check("run.sh", "sh tests/check.sh; code=$?\nexit $code\n", false);
    check("merge.sh", "diff -u \"$1\" \"$2\" > patch\n", false);
    check("run.sh", "out=$(./other 1 2)\n[ \"$out\" = 3 ] || exit 1\n", false);
}

#[test]
fn scripts_of_assertions() {
    check("tools/x.py", "import sys\nfrom calc import add\n\nassert add(1, 2) == 3\nprint('ok')\n", true);
    check("x.mjs", "import assert from 'node:assert';\nassert.equal(add(1, 2), 3);\n", true);
    check("app.py", "import sys\nassert sys.version_info >= (3, 8)\nLIMIT = 3\nmain()\n", false);
    check("app.py", "def add(a, b):\n    assert isinstance(a, int)\n    return a + b\n", false);
    check(
        "app.js",
        "const assert = require('assert');\nconst limit = 3;\nrun(limit);\nassert(ready());\n",
        false,
    );
    check("app.rb", "assert add(1, 2) == 3\n", false);
}

#[test]
fn rows_of_expected_results() {
    let check = |text: &str, expect: &[&str]| assert_eq!(expected_rows(text), expect, "{text}");
    let read = "while read -r a b want; do\n  got=$(./sums \"$a\" \"$b\")\n";
    check(&format!("{read}  [ \"$got\" = \"$want\" ] || exit 1\ndone < cases.txt\n"), &["cases.txt"]);
    check(
        &format!("{read}  if test $got -ne ${{want}}; then exit 1; fi\ndone <\"data/cases\"\n"),
        &["data/cases"],
    );
    // The rows are only input.
    check(&format!("{read}  [ \"$got\" = 3 ] || exit 1\ndone < cases.txt\n"), &[]);
    check("while read -r line; do\n  echo \"$line\"\ndone < report.txt\n[ \"$line\" = a ]\n", &[]);
}
