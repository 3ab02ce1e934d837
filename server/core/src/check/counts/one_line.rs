//! Runners whose summary is one line: RSpec, Minitest, PHPUnit, Perl's prove, Maven, JUnit 4, .NET, CTest, ExUnit, Deno,
//! Jasmine, busted, node-tap, tcltest, luaunit, shunit2.

use super::{TestCounts, sum};
use loopkeeper_text::pattern::ConstantPattern;

/// The summary line of one runner. Groups: `all` or `passed`; `failed`, `errors`, `skipped` and `incomplete` may be absent.
struct SummaryLine {
    /// A part of every such line: without it the pattern is not compiled.
    sign: &'static str,
    pattern: ConstantPattern,
}

const fn summary(sign: &'static str, pattern: &'static str) -> SummaryLine {
    SummaryLine { sign, pattern: ConstantPattern::new(pattern) }
}

static RSPEC: SummaryLine = summary(
    " example",
    r"^(?P<all>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending)?(?:, (?P<errors>\d+) errors? occurred outside of examples)?$",
);
static MINITEST: SummaryLine = summary(
    " assertions, ",
    r"^(?P<all>\d+) (?:runs|tests), \d+ assertions, (?P<failed>\d+) failures, (?P<errors>\d+) errors(?:, (?P<skipped>\d+) skips)?",
);
static PHPUNIT_OK: SummaryLine = summary(" assertion", r"^OK \((?P<all>\d+) tests?, \d+ assertions?\)$");
static PHPUNIT: SummaryLine = summary(
    ", Assertions: ",
    r"^Tests: (?P<all>\d+), Assertions: \d+(?:, Errors: (?P<errors>\d+))?(?:, Failures: (?P<failed>\d+))?(?:, (?:PHPUnit )?(?:Warnings|Deprecations): \d+)*(?:, Skipped: (?P<skipped>\d+))?(?:, Incomplete: (?P<incomplete>\d+))?(?:, Risky: \d+)?\.$",
);
/// The line of one class ends with its time and is not counted: the sum follows.
static MAVEN: SummaryLine = summary(
    "Tests run: ",
    r"^(?:\[\w+\] )?Tests run: (?P<all>\d+), Failures: (?P<failed>\d+), Errors: (?P<errors>\d+), Skipped: (?P<skipped>\d+)$",
);
static JUNIT_OK: SummaryLine = summary("OK (", r"^OK \((?P<all>\d+) tests?\)$");
static JUNIT: SummaryLine = summary("Tests run: ", r"^Tests run: (?P<all>\d+),  Failures: (?P<failed>\d+)$");
static DOTNET: SummaryLine = summary(
    "Failed: ",
    r"^(?:Passed|Failed|Skipped)! +- Failed: +(?P<failed>\d+), Passed: +(?P<passed>\d+), Skipped: +(?P<skipped>\d+), Total: ",
);
static CTEST: SummaryLine =
    summary(" tests passed, ", r"^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<all>\d+)$");
static EXUNIT: SummaryLine = summary(
    " failure",
    r"^(?:\d+ doctests?, )?(?:\d+ propert(?:y|ies), )?(?P<all>\d+) tests?, (?P<failed>\d+) failures?(?:, \d+ excluded)?(?:, \d+ invalid)?(?:, (?P<skipped>\d+) skipped)?$",
);
static DENO: SummaryLine = summary(
    " passed",
    r"^(?:ok|FAILED) \| (?P<passed>\d+) passed(?: \([^)]*\))? \| (?P<failed>\d+) failed(?: \([^)]*\))?(?: \| (?P<skipped>\d+) ignored)?",
);
static JASMINE: SummaryLine = summary(
    " spec",
    r"^(?P<all>\d+) specs?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending specs?)?$",
);

static BUSTED: SummaryLine = summary(
    " pending",
    r"^(?P<passed>\d+) success(?:es)? / (?P<failed>\d+) failures? / (?P<errors>\d+) errors? / (?P<skipped>\d+) pending : ",
);
static NODE_TAP: SummaryLine = summary(
    "# { total: ",
    r"^# \{ total: \d+(?:, pass: (?P<passed>\d+))?(?:, fail: (?P<failed>\d+))?(?:, todo: (?P<incomplete>\d+))?(?:, skip: (?P<skipped>\d+))? \}$",
);
static TCLTEST: SummaryLine = summary(
    "\tTotal\t",
    r"^\S+:\tTotal\t(?P<all>\d+)\tPassed\t\d+\tSkipped\t(?P<skipped>\d+)\tFailed\t(?P<failed>\d+)$",
);
static LUAUNIT: SummaryLine = summary(
    " seconds, ",
    r"^Ran (?P<all>\d+) tests? in [\d.]+ seconds, \d+ success(?:es)?(?:, (?P<failed>\d+) failures?)?(?:, (?P<errors>\d+) errors?)?(?:, (?P<skipped>\d+) skipped)?",
);

static ALL: [&SummaryLine; 16] = [
    &RSPEC,
    &MINITEST,
    &PHPUNIT_OK,
    &PHPUNIT,
    &MAVEN,
    &JUNIT_OK,
    &JUNIT,
    &DOTNET,
    &CTEST,
    &EXUNIT,
    &DENO,
    &JASMINE,
    &BUSTED,
    &NODE_TAP,
    &TCLTEST,
    &LUAUNIT,
];

pub(super) fn read(output: &str) -> Option<TestCounts> {
    let of_lines = ALL.iter().filter_map(|summary| {
        let lines = output.lines().map(str::trim).filter(|it| it.contains(summary.sign));
        lines.filter_map(|it| summary.read(it)).reduce(sum)
    });
    of_lines.chain(prove(output)).chain(shunit2(output)).chain(no_tests_executed(output)).reduce(sum)
}

impl SummaryLine {
    fn read(&self, line: &str) -> Option<TestCounts> {
        let groups = self.pattern.captures(line)?;
        let of = |name: &str| groups.name(name).map_or(Some(0), |it| it.as_str().parse::<u64>().ok());
        let failed = of("failed")?.saturating_add(of("errors")?);
        let skipped = of("skipped")?.saturating_add(of("incomplete")?);
        let rest = of("all")?.saturating_sub(failed).saturating_sub(skipped);
        Some(TestCounts { passed: rest.saturating_add(of("passed")?), failed, skipped })
    }
}

fn no_tests_executed(output: &str) -> Option<TestCounts> {
    output.lines().any(|it| it.trim() == "No tests executed!").then(TestCounts::default)
}

/// `Ran 3 tests.`, then `OK`, `OK (skipped=1)` or `FAILED (failures=2)`, which counts assertions.
fn shunit2(output: &str) -> Option<TestCounts> {
    let mut lines = output.lines().map(str::trim);
    let all = lines.find_map(|it| {
        let (count, rest) = it.strip_prefix("Ran ")?.split_once(' ')?;
        matches!(rest, "test." | "tests.").then(|| count.parse::<u64>().ok())?
    })?;
    let failures = lines.find_map(|it| it.strip_prefix("FAILED (failures=")?.split([')', ',']).next());
    let failed = failures.map_or(0, |it| it.parse().unwrap_or(1)).min(all);
    Some(TestCounts { passed: all.saturating_sub(failed), failed, skipped: 0 })
}

/// `Files=1, Tests=2,  0 wallclock secs (…)`, after a line `Failed 1/2 subtests` for each file that failed.
fn prove(output: &str) -> Option<TestCounts> {
    let all = |line: &str| -> Option<u64> {
        let (_, tests) = line.strip_prefix("Files=")?.split_once(", Tests=")?;
        tests.split_once(',').filter(|it| it.1.contains("wallclock"))?.0.parse().ok()
    };
    let all: u64 = output.lines().filter_map(all).reduce(u64::saturating_add)?;
    let failed = |line: &str| -> Option<u64> {
        let (failed, _) = line.trim().strip_prefix("Failed ")?.strip_suffix(" subtests")?.split_once('/')?;
        failed.parse().ok()
    };
    let failed = output.lines().filter_map(failed).fold(0, u64::saturating_add);
    Some(TestCounts { passed: all.saturating_sub(failed), failed, skipped: 0 })
}
