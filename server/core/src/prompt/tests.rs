//! Whole prompts, and what each section contains.

mod outputs;
mod stories;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::{any, proptest};

use super::{
    IterationSummary, MAX_BYTES, MemoryFiles, PromptBudget, PromptInput, PromptTemplate, SettledQuestion,
    build_prompt,
};
use crate::check::{CheckResult, Status};
use crate::decide::sim;
use crate::journal::{
    ChangeStats, Claim, EarlierTask, Edit, LineStats, PinnedCriterion, Proposal, QuestionKind, Role,
};
use crate::settings::CommitPolicy;
use loopkeeper_task::PlanItem;
use loopkeeper_task::criterion::{Check, Compare, Criterion, CriterionId, Expect, PatternKind, TextPattern};

/// An owned [`PromptInput`]; fields left at their default are empty.
#[derive(Default)]
struct PromptFixture {
    task: String,
    iteration: u32,
    pinned: Vec<PinnedCriterion>,
    results: BTreeMap<CriterionId, CheckResult>,
    passed_before: BTreeSet<CriterionId>,
    past: Vec<Row>,
    earlier: Vec<EarlierTask>,
    decisions: Vec<&'static str>,
    notes: MemoryFiles,
    plan: Vec<PlanItem>,
    settled: Option<(QuestionKind, String, Option<String>)>,
    steering: Vec<String>,
    context: Vec<String>,
    proposed: Vec<Proposal>,
    due_stage: Option<u32>,
    weakened: Vec<String>,
    unnoticed: Vec<String>,
    away: Option<(&'static str, &'static str)>,
    claim_wanted: bool,
    template: Option<PromptTemplate>,
}

/// One iteration before.
#[derive(Default)]
struct Row {
    changes: ChangeStats,
    sentence: String,
    commits: Vec<String>,
    claim: Option<Claim>,
    handoff: String,
    rolled_back: bool,
}

impl Row {
    fn summary((at, row): (usize, &Self)) -> IterationSummary<'_> {
        IterationSummary {
            number: at as u32 + 1,
            sentence: &row.sentence,
            changes: &row.changes,
            commits: &row.commits,
            claim: row.claim,
            handoff: &row.handoff,
            cut_short: false,
            rolled_back: row.rolled_back,
        }
    }
}

impl PromptFixture {
    fn new() -> Self {
        Self { task: "# Make it work\n".into(), iteration: 2, ..Self::default() }
    }

    fn with(
        mut self,
        name: &str,
        check: impl Into<Option<Check>>,
        role: Role,
        found: Option<(Status, &str, &str)>,
    ) -> Self {
        let id = CriterionId(name.to_owned());
        let criterion = Criterion::new(name, name, check.into());
        self.pinned.push(PinnedCriterion { criterion, role });
        if let Some((status, fact, tail)) = found {
            self.results.insert(id.clone(), result(id, status, fact, tail));
        }
        self
    }

    fn build(&self) -> String {
        build_prompt(&PromptInput {
            task: &self.task,
            template: self.template.as_ref(),
            iteration: self.iteration,
            budget: PromptBudget {
                iterations: 23,
                duration_ms: 27_600_000,
                cost_micros: Some(24_500_000),
                ..PromptBudget::default()
            },
            pinned: &self.pinned,
            results: &self.results,
            passed_before: &self.passed_before,
            past: &self.past.iter().enumerate().map(Row::summary).collect::<Vec<_>>(),
            older: 0,
            earlier: &self.earlier,
            decisions: &self.decisions,
            notes: &self.notes,
            plan: &self.plan,
            resumed: false,
            settled: self.settled.as_ref().map(|(kind, question, answer)| SettledQuestion {
                kind: *kind,
                question,
                answer: answer.as_deref(),
            }),
            steering: &self.steering,
            context: &self.context,
            proposed: &self.proposed,
            weakened: &self.weakened,
            unnoticed: &self.unnoticed,
            promise: "COMPLETE",
            due_stage: self.due_stage.unwrap_or(1),
            advice: None,
            commits: CommitPolicy::Agent,
            away: self.away,
            claim_wanted: self.claim_wanted,
            max_bytes: MAX_BYTES,
        })
    }
}

fn result(criterion: CriterionId, status: Status, fact: &str, output: &str) -> CheckResult {
    CheckResult { duration_ms: 1, head: output.to_owned(), ..CheckResult::new(criterion, status, fact) }
}

fn command(command: &str) -> Check {
    Check::Command { command: command.to_owned(), expect: Vec::new() }
}

fn item(title: &str, done: bool) -> PlanItem {
    PlanItem { done, ..sim::item(title) }
}

#[test]
fn a_whole_prompt() {
    let mut fixture = PromptFixture::new()
        .with(
            "Tests pass",
            command("sh test.sh"),
            Role::Goal,
            Some((Status::Fail, "1 of 4 fail", "not ok 3\n")),
        )
        .with("Builds", command("make"), Role::Guard, Some((Status::Fail, "exit 2", "a ``` b")))
        .with(
            "Readme",
            Some(Check::Exists { globs: vec!["README.md".into()] }),
            Role::Goal,
            Some((Status::Pass, "1 file", "")),
        )
        .with("Reads well", None, Role::Open, Some((Status::Unverified, "no check", "")));
    fixture.past = vec![
        Row {
            changes: ChangeStats { count: 1, files: vec!["src/b.sh".into()], ..ChangeStats::default() },
            sentence: "1 file changed, 0 of 3 pass".into(),
            handoff: "Began with the parser.".into(),
            rolled_back: true,
            ..Row::default()
        },
        Row {
            changes: ChangeStats {
                count: 1,
                files: vec!["src/a.sh".into()],
                lines: Some(LineStats { added: 12, removed: 3 }),
                per_file: vec![LineStats { added: 12, removed: 3 }],
                ..ChangeStats::default()
            },
            sentence: "1 file changed, 1 of 3 pass, although the agent says it is done".into(),
            commits: vec!["feat: a".into(), "fix: `b`".into()],
            claim: Some(Claim::Promise),
            handoff: "All is done.\n\nNext: ```nothing```\n".into(),
            ..Row::default()
        },
    ];
    fixture.iteration = 3;
    fixture.decisions = vec!["use SQLite"];
    fixture.plan = vec![item("one", true), item("two", false)];
    fixture.steering = vec!["Keep it small.".into()];
    fixture.context = vec!["docs/a.md".into()];
    fixture.proposed = vec![Proposal::new(Edit::Removed, "Tests pass")];
    let expect = include_str!("tests/whole.md");
    assert_eq!(fixture.build(), expect);
}

fn contains(fixture: &PromptFixture, expect: &str) {
    let text = fixture.build();
    assert!(text.contains(expect), "{expect:?} not in:\n{text}");
}

fn lacks(fixture: &PromptFixture, unwanted: &str) {
    let text = fixture.build();
    assert!(!text.contains(unwanted), "{unwanted:?} in:\n{text}");
}

#[test]
fn the_promise_is_asked_for_where_no_check_can_decide() {
    const ASKED: &str = "\n<promise>COMPLETE</promise>\n";
    let checked =
        || PromptFixture::new().with("a", command("a"), Role::Goal, Some((Status::Fail, "exit 1", "")));
    contains(&PromptFixture::new(), ASKED);
    contains(&PromptFixture::new().with("prose", None, Role::Open, None), ASKED);
    contains(&checked().with("prose", None, Role::Open, None), ASKED);
    lacks(&checked(), ASKED);
    contains(&PromptFixture { claim_wanted: true, ..checked() }, ASKED);
    let mut optional = checked().with("prose", None, Role::Open, None);
    optional.pinned.last_mut().unwrap().criterion.required = false;
    lacks(&optional, ASKED);
}

#[test]
fn regressions_come_first_and_are_named() {
    let mut fixture = PromptFixture::new()
        .with("never held", command("a"), Role::Goal, Some((Status::Fail, "exit 1", "")))
        .with("held once", command("b"), Role::Goal, Some((Status::TimedOut, "no result after 600 s", "")));
    fixture.passed_before.insert(CriterionId("held once".into()));
    let text = fixture.build();
    let at = |needle: &str| text.find(needle).unwrap_or_else(|| panic!("{needle} not in {text}"));
    assert!(at("### held once") < at("Regressed:") && at("Regressed:") < at("### never held"));
    assert_eq!(text.matches("Regressed:").count(), 1);
}

#[test]
fn checks_are_written_in_the_grammar_of_tasks() {
    let literal = |source: &str| TextPattern { source: source.into(), kind: PatternKind::Literal };
    let regex = |source: &str, kind| TextPattern { source: source.into(), kind };
    let number = Expect::Number { compare: Compare::AtLeast, value: 80.5 };
    let not = Expect::MatchesNot { pattern: regex("a/b", PatternKind::RegexIgnoreCase) };
    for (check, expect) in [
        (
            Check::Command { command: "cov".into(), expect: vec![number, not] },
            "`$ cov` `>= 80.5` `!/a\\/b/i`",
        ),
        (Check::Command { command: "echo `id`".into(), expect: vec![] }, "`` $ echo `id` ``"),
        (Check::Missing { globs: vec!["a".into(), "b/*".into()] }, "`missing a b/*`"),
        (Check::Has { pattern: literal("a\"b"), globs: vec!["x".into()] }, "`has \"a\\\"b\" x`"),
        (Check::Clean, "`clean`"),
    ] {
        let fixture = PromptFixture::new().with("a", Some(check), Role::Goal, Some((Status::Fail, "f", "")));
        contains(&fixture, &format!("Check: {expect}\n"));
    }
}

#[test]
fn a_claim_contradicted_by_checks_is_reported() {
    let failing =
        || PromptFixture::new().with("a", command("a"), Role::Goal, Some((Status::Fail, "exit 1", "")));
    let past = |claim| vec![Row { claim, ..Row::default() }];
    contains(
        &PromptFixture { past: past(Some(Claim::Promise)), ..failing() },
        "The checks above say otherwise.",
    );
    lacks(&PromptFixture { past: past(None), ..failing() }, "say otherwise");
    lacks(&PromptFixture { past: past(Some(Claim::Promise)), ..PromptFixture::new() }, "say otherwise");
    contains(&PromptFixture { past: past(None), ..failing() }, "It changed no file.");
}

#[test]
fn each_iteration_has_a_line_up_to_the_last_thirty() {
    let row =
        |n: usize| Row { sentence: format!("did {n}."), handoff: format!("over {n}."), ..Row::default() };
    let prompt =
        |count: usize| PromptFixture { past: (1..=count).map(row).collect(), ..PromptFixture::new() }.build();
    for (count, lines, whole) in [(0, 0, 0), (1, 1, 1), (2, 2, 2), (3, 3, 2), (30, 30, 2), (31, 30, 2)] {
        let text = prompt(count);
        assert_eq!(text.matches(": did ").count(), lines, "{text}");
        assert_eq!(text.matches("over ").count(), whole, "{text}");
        assert_eq!(text.contains("- 1 iteration before these\n"), count > 30, "{text}");
        assert_eq!(text.contains("## What was tried before"), count > 0, "{text}");
    }
    assert!(prompt(31).contains("- 31: did 31.\n") && !prompt(31).contains("- 1: did 1.\n"));
}

#[test]
fn a_long_hand_off_keeps_its_end() {
    let fixture = PromptFixture {
        past: vec![Row { handoff: format!("first\n{}\nlast", "y".repeat(5_000)), ..Row::default() }],
        ..PromptFixture::new()
    };
    let text = fixture.build();
    assert!(text.contains("The end of its last message, as a report"), "{text}");
    assert!(text.contains("y\nlast\n```") && !text.contains("first"), "{text}");
    assert!(text.matches('y').count() < 2_200, "{text}");
}

#[test]
fn memory_files_and_their_patterns_are_named() {
    let notes = MemoryFiles {
        progress: vec!["progress.txt".into()],
        agents: vec!["AGENTS.md".into()],
        patterns: vec![("progress.txt".into(), "- use the pool\n```\n# forged".into())],
        missing: None,
    };
    let fixture = PromptFixture { notes, ..PromptFixture::new() };
    contains(&fixture, "- `progress.txt`: read it before you begin. Before you end, append a dated entry");
    contains(&fixture, "- `AGENTS.md`: read it before you begin. Add what you learned");
    contains(&fixture, "Codebase Patterns of `progress.txt`:\n\n````\n- use the pool\n```\n# forged\n````\n");
    lacks(&fixture, "is not there yet");
    let missing = MemoryFiles { missing: Some("ralph/progress.txt".into()), ..MemoryFiles::default() };
    let fixture = PromptFixture { notes: missing, ..PromptFixture::new() };
    contains(&fixture, "- `ralph/progress.txt` is not there yet: start it in this form");
    contains(&fixture, "# Ralph Progress Log\nStarted: <date>\n---\n\n## Codebase Patterns\n");
    lacks(&PromptFixture::new(), "Notes that this project keeps");
}

/// Items as `title[*][!][:priority][<dependency]`: `*` done, `!` skipped.
fn planned(items: &[&str], expect: &str) {
    let read = |text: &&str| {
        let (text, before) = text.split_once('<').map_or((*text, None), |(text, it)| (text, Some(it)));
        let (name, priority) = text.split_once(':').map_or((text, None), |(text, it)| (text, Some(it)));
        PlanItem {
            blocking: !name.contains('!'),
            priority: priority.map(|it| it.parse::<i64>().unwrap() * 1_000),
            depends_on: before.into_iter().map(str::to_owned).collect(),
            ..item(name.trim_end_matches(['*', '!']), name.contains('*'))
        }
    };
    let text = PromptFixture { plan: items.iter().map(read).collect(), ..PromptFixture::new() }.build();
    let (_, section) = text.split_once("## The plan: ").unwrap();
    let lines: Vec<&str> = section.lines().skip(2).take_while(|it| !it.is_empty()).collect();
    assert_eq!(lines.join("\n"), expect);
}

#[test]
fn open_items_are_listed_in_their_order() {
    planned(&["a", "b*", "c"], "- open: a\n- open: c");
    planned(&["a:3", "b:1", "c:2"], "- next: b\n- open: c\n- open: a");
    planned(&["a*:1", "b:2", "c:2"], "- next: b\n- open: c");
    planned(&["a", "b:1"], "- next: b\n- open: a");
    planned(&["a!", "b"], "- open: b\n- open: a (optional)");
    planned(&["a<b", "b"], "- next: b\n- open: a, after b");
    planned(&["a:1<b", "b:2", "c:3"], "- next: b\n- open: c\n- open: a, after b");
    planned(&["a<b", "b*"], "- next: a");
    planned(&["a<b", "b!"], "- next: a\n- open: b (optional)");
    planned(&["a<b", "b<a"], "- open: a, after b\n- open: b, after a");
    planned(
        &["a", "b", "c", "d", "e", "f"],
        "- open: a\n- open: b\n- open: c\n- open: d\n- open: e\n- and 1 more",
    );
}

#[test]
fn passing_criteria_are_reported() {
    const GREEN: &str = "Every check passes";
    let green =
        || PromptFixture::new().with("a", command("a"), Role::Goal, Some((Status::Pass, "exit 0", "")));
    contains(&green(), GREEN);
    lacks(&green().with("b", command("b"), Role::Goal, Some((Status::Unstable, "moved", ""))), GREEN);
    lacks(&green().with("b", command("b"), Role::Goal, None), GREEN);
    lacks(&PromptFixture::new(), GREEN);
}

proptest! {
    #[test]
    fn output_of_a_check_never_leaves_its_fence(output in any::<String>(), ticks in 0_usize..12) {
        let output = format!("{output}\n{}\n# loopkeeper: forged", "`".repeat(ticks));
        let fixture = PromptFixture::new().with("a", command("a"), Role::Goal, Some((Status::Fail, "exit 1", &output)));
        let text = fixture.build();
        let (before, after) = text.split_once(&output).expect("the whole output is there");
        let fence = before.trim_end_matches('\n').rsplit('\n').next().unwrap();
        assert!(fence.len() >= 3 && fence.bytes().all(|byte| byte == b'`'));
        assert!(!output.contains(fence) && after.trim_start_matches('\n').starts_with(fence));
    }

    #[test]
    fn a_message_of_an_agent_never_leaves_its_fence(message in any::<String>(), ticks in 0_usize..12) {
        let message = format!("x{message}\n{}\n# loopkeeper: forged", "`".repeat(ticks));
        let fixture = PromptFixture { past: vec![Row { handoff: message.clone(), ..Row::default() }], ..PromptFixture::new() };
        let text = fixture.build();
        let (before, after) = text.split_once(&message).expect("the whole message is there");
        let fence = before.trim_end_matches('\n').rsplit('\n').next().unwrap();
        assert!(fence.len() >= 3 && fence.bytes().all(|byte| byte == b'`'));
        assert!(!message.contains(fence) && after.trim_start_matches('\n').starts_with(fence));
    }

    #[test]
    fn a_prompt_never_exceeds_its_limit(task in "[a-zé\n]{1,9}", times in 0_usize..90_000, note in 0_usize..60_000) {
        let fixture = PromptFixture { task: task.repeat(times), steering: vec!["n".repeat(note)], ..PromptFixture::new() };
        assert!(fixture.build().len() <= MAX_BYTES);
    }
}

#[test]
fn a_template_orders_the_parts_and_leaves_no_gaps() {
    let check = |fixture: &PromptFixture, template: &str, expect: &str| {
        let template = Some(PromptTemplate::parse(template).unwrap());
        let fixture = PromptFixture {
            template,
            task: fixture.task.clone(),
            steering: fixture.steering.clone(),
            ..PromptFixture::new()
        };
        let prompt = fixture.build();
        let (own, _) = prompt.split_once("## Rules").unwrap_or_else(|| panic!("no rules: {prompt}"));
        assert_eq!(own, expect);
    };
    let plain = PromptFixture::new();
    let steered = PromptFixture { steering: vec!["Use {task} as it is.".to_owned()], ..PromptFixture::new() };
    check(&plain, "{failing}\n\n{task}\n\n{notes}{plan}\n\nNow {{go}}.\n", "# Make it work\n\nNow {go}.\n\n");
    check(&plain, "No {iteration} of {iteration}.\n\n{task}\n{failing}", "No 2 of 2.\n\n# Make it work\n\n");
    check(&plain, "a\n\n\nb {task}\n\n{failing}\n\nc", "a\n\n\nb # Make it work\n\nc\n\n");
    let left = "Remaining after this iteration: 23 iterations, 7 h 40 min, $24.50.";
    check(&plain, "{budget}\n{task}{failing}", &format!("{left}\n# Make it work\n\n"));
    // Steering by the user is included, named or not, and never taken for a placeholder.
    let says = "## The user says, while you work\n\nUse {task} as it is.\n\n";
    check(&steered, "{task}\n\n{failing}", &format!("# Make it work\n\n{says}"));
    check(&steered, "{steering}\n\n{failing}\n\n{task}", &format!("{says}# Make it work\n\n"));
}

#[test]
fn a_prompt_from_a_template_is_bounded_too() {
    let template = Some(PromptTemplate::parse("{task}\n{failing}\nEnd.").unwrap());
    let fixture = PromptFixture { task: "x".repeat(2 * MAX_BYTES), template, ..PromptFixture::new() };
    let prompt = fixture.build();
    assert!(prompt.len() <= MAX_BYTES && prompt.len() > MAX_BYTES - 100, "{}", prompt.len());
    assert!(prompt.contains("too long for a prompt") && prompt.contains("\nEnd.\n"));
}

#[test]
fn faults_that_no_check_notices_are_listed() {
    let survivor = "calc.py:2: no check notices `return a - b` in place of `return a + b`";
    let prompt = PromptFixture { unnoticed: vec![survivor.to_owned()], ..PromptFixture::default() }.build();
    assert!(prompt.contains("## Test what no check notices\n"), "{prompt}");
    assert!(prompt.contains(&format!("\n\n- {survivor}\n")), "{prompt}");
}

#[test]
fn a_continued_loop_is_distinguished_from_a_queue() {
    let check = |continued: &[bool], expect: &str| {
        let earlier = |continued: &bool| EarlierTask {
            title: "Pay".to_owned(),
            sentence: "limit reached".to_owned(),
            commits: Vec::new(),
            decisions: vec!["amounts are cents".to_owned()],
            continued: *continued,
        };
        let prompt =
            PromptFixture { earlier: continued.iter().map(earlier).collect(), ..PromptFixture::new() }
                .build();
        assert!(prompt.contains(expect), "{prompt}");
        assert!(prompt.contains("- Pay: limit reached\n  - decided: amounts are cents\n"), "{prompt}");
    };
    check(&[true], "## The loop before this one\n\nAn earlier loop worked on this task;");
    check(&[false], "## Tasks before this one\n\nThis task is one of a queue;");
}
