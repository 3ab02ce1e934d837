//! Mutants of a shell script and of C, which is read by rules for text. Each pair has a control: tests that notice all.

use super::survivors;
use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::Verified;
use crate::support::scenario::Scenario;

const SCRIPT: &str = "#!/bin/sh\nfee() {\n    echo 0\n}\nfee \"$1\"\n";
const WORK: &str = "cat > fees.sh <<'END'\n#!/bin/sh\nfee() {\n    if [ \"$1\" -gt 100 ]; then\n        echo $(($1 - 5))\n        return\n    fi\n    echo $(($1 + 2))\n}\nfee \"$1\"\nEND";
const WEAK: &str = "@test \"small\" {\n    [ \"$(sh fees.sh 10)\" = 12 ]\n}\n";
const GOOD: &str =
    "@test \"all\" {\n    [ \"$(sh fees.sh 10) $(sh fees.sh 100) $(sh fees.sh 101)\" = '12 102 96' ]\n}\n";
/// Runs the tests of bats, with its output and the totals of TAP.
const RUNNER: &str = r##"#!/bin/sh
tests=$(awk '
    /^@test/ { n++; split($0, parts, "\""); print "name" n "=\"" parts[2] "\""; print "test" n "() {"; next }
    { print }
    END { print "count=" n }
' tests/*.bats)
eval "$tests"
failed=0
number=1
while [ "$number" -le "$count" ]; do
    eval "name=\$name$number"
    if (eval "test$number"); then echo "ok $number - $name"; else
        echo "not ok $number - $name"
        failed=$((failed + 1))
    fi
    number=$((number + 1))
done
echo "# tests $count"
echo "# pass $((count - failed))"
echo "# fail $failed"
[ "$failed" = 0 ]
"##;

#[track_caller]
fn shell(tests: &str, work: &str) -> EndedLoop {
    Scenario {
        files: &[("fees.sh", SCRIPT), ("tests/run.sh", RUNNER), ("tests/fees.bats", tests)],
        criteria: &["Tests pass: `$ sh tests/run.sh`"],
        acts: &[work],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play()
}

#[test]
fn a_weak_test_of_a_script_leaves_survivors() {
    let played = shell(WEAK, WORK);
    let run = played.record("mutants", 1);
    assert_eq!(
        survivors(run),
        ["3: if [ \"$1\" -gt 101 ]; then", "4: :", "4: echo $(($1 + 5))", "4: echo $(($1 - 6))"]
    );
    let world = &played.world;
    world.run(&["log"]).expect(0).out("fees.sh:4: no check notices that `echo $(($1 - 5))` is removed");
    world.run(&["receipt"]).expect(0).out("fees.sh:4: no check notices `echo $(($1 + 5))` in place of");
}

#[test]
fn a_good_test_of_a_script_leaves_no_survivors() {
    let played = shell(GOOD, WORK);
    let run = played.record("mutants", 1);
    assert!(survivors(run).is_empty() && run["tried"].as_u64().unwrap() >= 8, "{run}");
}

/// The runner names what fails, so that an added test that never does is known.
#[test]
fn an_added_test_of_a_script_that_notices_nothing_is_hollow() {
    let added = "@test \"runs\" {\n    sh fees.sh 10 >/dev/null\n}\n\n@test \"large\" {\n    [ \"$(sh fees.sh 101)\" = 96 ]\n}\n";
    let played = shell(WEAK, &format!("{WORK}\ncat > tests/more.bats <<'END'\n{added}END"));
    let hollow = &played.record("mutants", 1)["hollow"];
    assert_eq!(*hollow, serde_json::json!([{"path": "tests/more.bats", "line": 1, "name": "runs"}]));
    let world = &played.world;
    world.run(&["status"]).expect(0).out("no mutant makes 1 added test fail: tests/more.bats:1 runs");
}

/// A file that removes others is left alone, although its tests are weak.
#[test]
fn a_script_that_removes_files_has_no_mutants() {
    let played = shell(WEAK, &format!("{WORK}\necho 'trap \"rm -f /tmp/fees.$$\" EXIT' >> fees.sh"));
    assert_eq!(played.record("mutants", 1)["tried"], 0);
}

const C_WORK: &str = "cat > fees.c <<'END'\nint fee(int amount) {\n    if (amount > 100) {\n        return amount - 5; /* not amount + 5 */\n    }\n    return amount + 2;\n}\nEND";

#[track_caller]
fn c(assertion: &str) -> EndedLoop {
    let tests = format!("int fee(int amount);\nint main(void) {{ return {assertion} ? 0 : 1; }}\n");
    Scenario {
        files: &[
            ("fees.c", "int fee(int amount) { return 0; }\n"),
            ("tests/test_fees.c", &tests),
            (".gitignore", "fees-test\n"),
        ],
        criteria: &["Tests pass: `$ cc -o fees-test fees.c tests/test_fees.c && ./fees-test`"],
        acts: &[C_WORK],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play()
}

#[test]
fn a_weak_test_of_c_leaves_survivors() {
    const COMMENT: &str = "/* not amount + 5 */";
    assert_eq!(
        survivors(c("fee(10) == 12").record("mutants", 1)),
        [
            "2: if (amount > 101) {".to_owned(),
            format!("3: return amount + 5; {COMMENT}"),
            format!("3: return amount - 6; {COMMENT}")
        ]
    );
}

#[test]
fn a_good_test_of_c_leaves_no_survivors() {
    let played = c("fee(10) == 12 && fee(100) == 102 && fee(101) == 96");
    let run = played.record("mutants", 1);
    assert!(survivors(run).is_empty() && run["tried"].as_u64().unwrap() >= 6, "{run}");
}
