//! Writes loopkeeper's part of the prompt, the state of the loop, section by section.

use std::fmt::Write as _;

use crate::check::{CheckResult, Status};
use crate::journal::{PinnedCriterion, QuestionKind, Role};
use crate::settings::CommitPolicy;
use loopkeeper_text::{truncate, words};

use super::grammar::format_criterion;
use super::markdown::{code_span, last_lines, short_line, single_line};
use super::{PromptInput, notes, output, past, plan};

/// Maximum number of entries of a list; more of them do not help.
const MAX_LISTED: usize = 100;
/// Maximum size of the user's notes, of which the last lines are kept.
const STEERING_BYTES: usize = 16 * 1024;
const QUESTION_BYTES: usize = 4 * 1024;

type SectionWriter = fn(&mut String, &PromptInput<'_>, usize);

/// All sections with the names of their placeholders, in their order below the task. The last argument of a writer
/// limits the output of each failing check, in bytes.
pub(super) const SECTIONS: &[(&str, SectionWriter)] = &[
    ("opening", |out, input, _| write_opening(out, input)),
    ("weakened", |out, input, _| write_weakened(out, input)),
    ("branch", |out, input, _| write_branch_mismatch(out, input)),
    ("failing", write_failing),
    ("unnoticed", |out, input, _| write_unnoticed(out, input)),
    ("later", |out, input, _| write_later_stages(out, input)),
    ("holding", |out, input, _| write_holding(out, input)),
    ("unchecked", |out, input, _| write_unchecked(out, input)),
    ("earlier", |out, input, _| past::write_earlier_tasks(out, input)),
    ("last", |out, input, _| past::write_last_iteration(out, input)),
    ("tried", |out, input, _| past::write_earlier_iterations(out, input)),
    ("decided", |out, input, _| past::write_decisions(out, input)),
    ("notes", |out, input, _| notes::write_section(out, input)),
    ("plan", |out, input, _| plan::write_section(out, input.plan)),
    ("asked", |out, input, _| write_answers(out, input)),
    ("steering", |out, input, _| write_steering(out, input)),
    ("context", |out, input, _| write_list(out, "Context: read these first", input.context)),
    ("proposed", |out, input, _| write_proposals(out, input)),
    ("rules", |out, input, _| write_exit_rules(out, input)),
];

/// Everything below the task's text.
pub(super) fn render_all(input: &PromptInput<'_>, output_bytes: usize) -> String {
    let mut out = "---\n\n".to_owned();
    for (_, write) in SECTIONS {
        write(&mut out, input, output_bytes);
    }
    out
}

/// The section of this name.
pub(super) fn render_section(name: &str, input: &PromptInput<'_>, output_bytes: usize) -> String {
    let mut out = String::new();
    for (_, write) in SECTIONS.iter().filter(|(it, _)| *it == name) {
        write(&mut out, input, output_bytes);
    }
    out
}

/// The agent itself has to switch back: a forced switch would carry uncommitted changes along, or fail because of them.
fn write_branch_mismatch(out: &mut String, input: &PromptInput<'_>) {
    let Some((home, now)) = input.away else { return };
    let home = code_span(&single_line(home));
    let _ = write!(
        out,
        "## Not on its branch\n\nHEAD is on {now}; the work of this loop belongs on the branch {home}. Go back to it \
         before anything else, without losing what is not committed, and bring along what was committed \
         elsewhere.\n\n"
    );
}

fn write_opening(out: &mut String, input: &PromptInput<'_>) {
    let total = input.iteration.saturating_add(input.budget.iterations);
    let context = if input.resumed {
        "You continue the session of the previous iteration. The next iteration may know only what you leave in the \
         files."
    } else {
        "You start with a fresh context and know only what the files say. The next iteration will know only what you \
         leave in them."
    };
    let _ = write!(
        out,
        "# loopkeeper: iteration {} of at most {total}\n\n\
         Everything above is the task; this part comes from loopkeeper, which supervises the loop. {context} Do the most \
         important missing step, finish it, then end your turn: loopkeeper runs the checks itself on the files as \
         you leave them. What you say about them is no proof.\n\n",
        input.iteration
    );
    let _ = writeln!(out, "{}\n", render_budget(input));
}

/// The remainder of every limit.
pub(super) fn render_budget(input: &PromptInput<'_>) -> String {
    let mut remaining = vec![words::counted(u64::from(input.budget.iterations), "iteration")];
    remaining.push(words::duration(input.budget.duration_ms));
    remaining.extend(input.budget.cost_micros.map(words::cost));
    remaining.extend(input.budget.tokens.map(|it| format!("{} tokens", words::amount(it))));
    let scarce = if input.budget.is_scarce {
        " The budget is almost used: finish what matters most, and write down what remains."
    } else {
        ""
    };
    format!("Remaining after this iteration: {}.{scarce}", remaining.join(", "))
}

fn write_weakened(out: &mut String, input: &PromptInput<'_>) {
    if input.weakened.is_empty() {
        return;
    }
    out.push_str(
        "## Restore what was weakened\n\nAn earlier iteration made these easier to pass. As long as they are so, \
         nothing counts as done. Put them back as they were, then make them pass by doing the work:\n\n",
    );
    write_entries(out, input.weakened);
}

fn write_unnoticed(out: &mut String, input: &PromptInput<'_>) {
    if input.unnoticed.is_empty() {
        return;
    }
    out.push_str(
        "## Test what no check notices\n\nThe checks also passed with each of these faults in lines that this loop \
         changed. The loop is not done until a check fails with each of them. Add or tighten tests; remove code only \
         where nothing needs it. Lines may have moved since:\n\n",
    );
    write_entries(out, input.unnoticed);
}

fn write_failing(out: &mut String, input: &PromptInput<'_>, output_bytes: usize) {
    let failing: Vec<(&PinnedCriterion, &CheckResult)> =
        input.failing_results().filter(|(it, _)| is_due(input, it)).collect();
    let due = |it: &&PinnedCriterion| it.criterion.check.is_some() && is_due(input, it);
    let checked = input.pinned.iter().filter(due).count();
    if failing.is_empty() {
        if checked > 0 && checked == with_status(input, Status::Pass).count() {
            out.push_str("Every check passes on the files as they are now.\n\n");
        }
        return;
    }
    let _ = writeln!(out, "## What fails: {} of {checked} checks\n", failing.len());
    // Regressions come before criteria that never passed.
    let (broken, missing): (Vec<_>, Vec<_>) =
        failing.into_iter().partition(|(pinned, _)| has_regressed(input, pinned));
    for (pinned, result) in broken.iter().chain(&missing).take(MAX_LISTED) {
        write_failure(out, input, (pinned, result), output_bytes);
    }
    write_omitted_count(out, broken.len() + missing.len());
}

/// A regression is due whatever its stage.
fn is_due(input: &PromptInput<'_>, pinned: &PinnedCriterion) -> bool {
    pinned.criterion.stage_or_first() <= input.due_stage || has_regressed(input, pinned)
}

/// Criteria of later stages: known, and not to be worked on now.
fn write_later_stages(out: &mut String, input: &PromptInput<'_>) {
    let waiting = input.failing_results().filter(|(it, _)| !is_due(input, it));
    let names: Vec<String> =
        waiting.map(|(it, _)| format!("{} (stage {})", name(it), it.criterion.stage_or_first())).collect();
    write_list(out, "What comes later: leave it until everything above holds", &names);
}

fn has_regressed(input: &PromptInput<'_>, pinned: &PinnedCriterion) -> bool {
    pinned.role == Role::Guard || input.passed_before.contains(&pinned.criterion.id)
}

fn write_failure(
    out: &mut String,
    input: &PromptInput<'_>,
    failure: (&PinnedCriterion, &CheckResult),
    output_bytes: usize,
) {
    let (pinned, result) = failure;
    let _ = writeln!(out, "### {}\n", name(pinned));
    if has_regressed(input, pinned) {
        out.push_str("Regressed: this held before. Make it hold again before anything else.\n");
    }
    if !pinned.criterion.required {
        out.push_str("Optional.\n");
    }
    if let Some(check) = &pinned.criterion.check {
        let _ = writeln!(out, "Check: {}", format_criterion(&pinned.criterion, check));
    }
    let _ = writeln!(out, "Found: {}", single_line(&result.fact));
    output::write_output(out, result, output_bytes);
    out.push('\n');
}

fn write_holding(out: &mut String, input: &PromptInput<'_>) {
    let names: Vec<String> = with_status(input, Status::Pass).map(name).collect();
    write_list(out, "What holds: keep it so", &names);
}

fn write_unchecked(out: &mut String, input: &PromptInput<'_>) {
    let names: Vec<String> =
        input.pinned.iter().filter(|it| it.criterion.check.is_none()).map(name).collect();
    write_list(out, "What no check can see: yours to judge", &names);
}

fn with_status<'a>(input: &PromptInput<'a>, status: Status) -> impl Iterator<Item = &'a PinnedCriterion> {
    let results = input.results;
    input
        .pinned
        .iter()
        .filter(move |it| results.get(&it.criterion.id).is_some_and(|result| result.status == status))
}

/// The question of the last iteration with its answer, or without one.
fn write_answers(out: &mut String, input: &PromptInput<'_>) {
    let Some(asked) = input.settled else { return };
    let question = truncate::first_bytes(&single_line(asked.question), QUESTION_BYTES).to_owned();
    match asked.kind {
        QuestionKind::Denied => out.push_str("## What the iteration before this one was denied\n\n"),
        QuestionKind::Agent | QuestionKind::UsageLimit | QuestionKind::Permission => {
            out.push_str("## What the iteration before this one asked\n\n");
        }
    }
    let _ = writeln!(out, "> {question}\n");
    match (asked.answer, asked.kind) {
        (Some(answer), _) => {
            let _ = writeln!(out, "The user answers:\n\n{}\n", last_lines(answer.trim(), STEERING_BYTES));
        }
        (None, QuestionKind::Denied) => out.push_str(
            "Nobody answered: find a way without it, and note what you assumed where the next one will read it.\n\n",
        ),
        (None, QuestionKind::Agent | QuestionKind::UsageLimit | QuestionKind::Permission) => out.push_str(
            "Nobody answered: decide yourself, and note what you assumed where the next one will read it.\n\n",
        ),
    }
}

fn write_steering(out: &mut String, input: &PromptInput<'_>) {
    if input.steering.is_empty() {
        return;
    }
    out.push_str("## The user says, while you work\n\n");
    let notes = input.steering.join("\n\n");
    let _ = writeln!(out, "{}\n", last_lines(notes.trim(), STEERING_BYTES));
}

fn write_proposals(out: &mut String, input: &PromptInput<'_>) {
    if input.proposed.is_empty() {
        return;
    }
    out.push_str(
        "## Edits to criteria that were not taken up\n\nThe criteria of this loop are fixed. These edits wait for \
         the user and change nothing now:\n\n",
    );
    let texts: Vec<String> = input.proposed.iter().map(ToString::to_string).collect();
    write_entries(out, &texts);
}

fn write_exit_rules(out: &mut String, input: &PromptInput<'_>) {
    out.push_str("## Rules\n\n");
    out.push_str(
        "- Do not weaken, skip or delete tests or criteria to make a check pass.\n\
         - Nothing you start stays alive after your turn: no servers, no background jobs.\n\
         - Nobody answers while you work. Decide, and note what you assumed where the next one will read it.\n",
    );
    match input.commits {
        CommitPolicy::Agent => {}
        CommitPolicy::Never => out.push_str("- Do not commit: that is left to the user.\n"),
        CommitPolicy::Server => {
            out.push_str("- Do not commit: loopkeeper commits what you changed once your turn is over.\n");
        }
    }
    if claim_needed(input) {
        write_reporting(out, input);
    } else {
        out.push_str("- The loop ends automatically once all checks pass.\n");
    }
}

/// Asks for the claims that only the agent can make, in the forms that loopkeeper parses.
fn write_reporting(out: &mut String, input: &PromptInput<'_>) {
    let _ = writeln!(
        out,
        "- No check can tell when all of this is done, so say where you stand: near the end of your last message, \
         print this block with one value each.\n\n\
         ---RALPH_STATUS---\n\
         STATUS: IN_PROGRESS | COMPLETE | BLOCKED\n\
         WORK_TYPE: IMPLEMENTATION | TESTING | DOCUMENTATION | REFACTORING\n\
         TESTS_STATUS: PASSING | FAILING | NOT_RUN\n\
         EXIT_SIGNAL: false | true\n\
         RECOMMENDATION: <one line>\n\
         ---END_RALPH_STATUS---\n\n\
         `EXIT_SIGNAL: true` means that nothing at all is left to do. When that is so, and only then, end your last \
         message with this line alone:\n\n<promise>{}</promise>",
        single_line(input.promise)
    );
}

fn claim_needed(input: &PromptInput<'_>) -> bool {
    let mut required = input.pinned.iter().filter(|it| it.criterion.required).peekable();
    input.claim_wanted || required.peek().is_none() || required.any(|it| it.criterion.check.is_none())
}

fn write_list(out: &mut String, title: &str, texts: &[String]) {
    if texts.is_empty() {
        return;
    }
    let _ = writeln!(out, "## {title}\n");
    write_entries(out, texts);
}

fn write_entries(out: &mut String, texts: &[String]) {
    for text in texts.iter().take(MAX_LISTED) {
        let _ = writeln!(out, "- {}", short_line(text));
    }
    write_omitted_count(out, texts.len());
    out.push('\n');
}

fn write_omitted_count(out: &mut String, total: usize) {
    if total > MAX_LISTED {
        let _ = writeln!(out, "- and {} more", total - MAX_LISTED);
    }
}

fn name(pinned: &PinnedCriterion) -> String {
    short_line(&pinned.criterion.name)
}
