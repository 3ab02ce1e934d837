//! Builds the input of the prompt before an iteration, and the summary shown after it.

use std::collections::BTreeSet;

use crate::check::{CheckResult, CriteriaTally, Status};
use crate::journal::{ChangeStats, Claim, LimitName, Round};
use crate::loop_state::{AnsweredQuestion, Iteration, LoopState, TaskDocuments};
use crate::prompt::{
    IterationSummary, MAX_ARGUMENT_BYTES, MAX_BYTES, MAX_DECISIONS, MAX_LINES, PromptBudget, PromptInput,
    SettledQuestion, build_prompt, task_of_stories,
};
use crate::settings::CommitPolicy;
use loopkeeper_agent::{AgentEnding, PromptBy};
use loopkeeper_task::criterion::CriterionId;
use loopkeeper_task::is_story_file;
use loopkeeper_text::clauses::{append_clauses, join_with_commas, list};
use loopkeeper_text::language::Language;
use loopkeeper_text::moment::Moment;
use loopkeeper_text::tr;
use loopkeeper_text::words;

use super::{drift, exit, mutants, weakening};

/// Start of an iteration: time and session.
#[derive(Debug, Clone, Copy)]
pub(super) struct PromptContext {
    pub(super) now: Moment,
    /// The session of the previous iteration is resumed.
    pub(super) resumed: bool,
}

/// The next iteration's prompt, in English: its rules were tried in this language. Texts from the journal keep theirs.
pub(super) fn prompt(state: &LoopState, documents: &TaskDocuments, at: PromptContext) -> String {
    Language::English.during(|| english_prompt(state, documents, at))
}

fn english_prompt(state: &LoopState, documents: &TaskDocuments, at: PromptContext) -> String {
    let past: Vec<IterationSummary<'_>> = state.history.newest(MAX_LINES).iter().map(summarize).collect();
    let advice =
        exit::only_tests(state).map(|it| format!("But note: {it}. Change something that a check asks for."));
    let broke = state.last_iteration().and_then(|it| it.broke.as_ref());
    let advice = match broke {
        Some(broke) => {
            Some(format!("They were rolled back because {broke}. Find a way that keeps what holds."))
        }
        None => advice.or_else(|| drift::advice(state)),
    };
    let away = state.git.branch.head_elsewhere().map(ToString::to_string);
    let story_task = is_story_file(&state.spec.task.0)
        .then(|| task_of_stories(&state.spec.task.0, &state.spec.title, &documents.prompt));
    build_prompt(&PromptInput {
        task: story_task.as_ref().unwrap_or(&documents.prompt),
        template: documents.template.as_ref(),
        iteration: state.iteration + 1,
        budget: budget(state, at.now),
        resumed: at.resumed,
        pinned: &state.criteria.pinned,
        results: &state.criteria.results,
        passed_before: &passed_before(state),
        past: &past,
        older: state.history.len() - past.len(),
        earlier: &state.spec.earlier,
        decisions: &decisions(state),
        notes: &documents.notes,
        plan: &documents.plan,
        steering: &state.steering,
        settled: state.questions.settled.as_ref().map(answered_question),
        context: &documents.context,
        proposed: &state.criteria.proposed,
        weakened: &weakening::current_weakenings(state).map(|it| it.what.clone()).collect::<Vec<_>>(),
        unnoticed: &mutants::required_survivors(state),
        promise: &state.spec.promise,
        due_stage: exit::stages::current_stage(&state.criteria.pinned, |id| state.status_of(id)),
        advice: advice.as_deref(),
        commits: state.spec.settings.git.commit,
        away: state.git.branch.home.as_deref().zip(away.as_deref()),
        claim_wanted: state.spec.anyway && state.criteria.held_at_start,
        max_bytes: match state.spec.agent.prompt {
            PromptBy::Argument => MAX_ARGUMENT_BYTES,
            PromptBy::Stdin | PromptBy::File => MAX_BYTES,
        },
    })
}

/// The remaining budget after the coming iteration is charged.
fn budget(state: &LoopState, now: Moment) -> PromptBudget {
    let limits = &state.spec.settings.limits;
    PromptBudget {
        iterations: limits.iterations.saturating_sub(state.iteration + 1),
        duration_ms: limits.duration_ms.saturating_sub(state.elapsed_ms(now)),
        cost_micros: state.spent.cost_micros.map(|it| limits.cost_micros.saturating_sub(it)),
        tokens: state.spent.tokens.zip(limits.tokens).map(|(used, limit)| limit.saturating_sub(used)),
        is_scarce: !super::limits::limits_nearly_reached(state).is_empty(),
    }
}

fn passed_before(state: &LoopState) -> BTreeSet<CriterionId> {
    let ids = state.criteria.pinned.iter().map(|it| &it.criterion.id);
    ids.filter(|id| state.held_before(id)).cloned().collect()
}

fn answered_question(question: &AnsweredQuestion) -> SettledQuestion<'_> {
    SettledQuestion { kind: question.kind, question: &question.question, answer: question.answer.as_deref() }
}

fn summarize(row: &Iteration) -> IterationSummary<'_> {
    let cut_short = row.is_provider_failure();
    IterationSummary {
        number: row.number,
        sentence: &row.sentence,
        changes: &row.changes,
        commits: &row.commits,
        // A claim about work that was rolled back would mislead.
        claim: row.claim.filter(|_| !row.rolled_back),
        // The last text of a failed agent is an error message of its provider.
        handoff: if cut_short || row.rolled_back { "" } else { &row.final_text },
        cut_short,
        rolled_back: row.rolled_back,
    }
}

/// Decisions that iterations marked as lasting, each once, at its latest position. Rolled back ones are dropped.
pub fn decisions(state: &LoopState) -> Vec<&str> {
    let mut newest: Vec<&str> = Vec::new();
    for decision in state.history.decisions() {
        if newest.len() == MAX_DECISIONS {
            break;
        }
        if !newest.contains(&decision) {
            newest.push(decision);
        }
    }
    newest.reverse();
    newest
}

/// The claim in the agent's last message.
pub(super) struct ClaimSummary {
    pub(super) claim: Option<Claim>,
    /// Why the claim contradicts itself.
    pub(super) contradiction: Option<String>,
    pub(super) test_only: bool,
}

/// One sentence on the iteration that just ended.
pub(super) fn iteration_sentence(
    state: &LoopState,
    changes: &ChangeStats,
    round: Option<&Round>,
    claim_summary: &ClaimSummary,
) -> String {
    let mut facts = iteration_facts(state, changes, round, claim_summary.claim);
    if claim_summary.test_only {
        facts.push(tr!("nothing but tests ran").to_owned());
    }
    let last = state.last_iteration();
    let paths = last.into_iter().flat_map(|it| sandbox_denies(&it.closed_paths, &it.read_only_paths));
    let hosts =
        last.filter(|it| !it.closed_hosts.is_empty()).map(|it| sandbox_denies_hosts(&it.closed_hosts));
    let clauses = claim_summary.contradiction.clone().into_iter().chain(paths).chain(hosts);
    append_clauses(join_with_commas(&facts), clauses)
}

/// Facts without a full stop: about hidden paths and about read-only ones, as far as there are any.
pub fn sandbox_denies(hidden: &[String], read_only: &[String]) -> Vec<String> {
    let hidden = (!hidden.is_empty())
        .then(|| tr!("the sandbox denies {paths}: `sandbox.allow` lifts it", paths = list(hidden)));
    let read_only = (!read_only.is_empty()).then(|| {
        tr!("the sandbox makes {paths} read-only: `sandbox.write` lifts it", paths = list(read_only))
    });
    hidden.into_iter().chain(read_only).collect()
}

/// The same for hosts.
pub fn sandbox_denies_hosts(hosts: &[String]) -> String {
    tr!("the sandbox denies {hosts}: `sandbox.network` lifts it", hosts = list(hosts))
}

/// The facts of an iteration in order: `interrupted`, `2 files changed`, `3 of 4 pass`.
fn iteration_facts(
    state: &LoopState,
    changes: &ChangeStats,
    round: Option<&Round>,
    claim: Option<Claim>,
) -> Vec<String> {
    let work = match (changes.count, changes.committed) {
        (0, false) => tr!("nothing changed").to_owned(),
        (0, true) => tr!("committed").to_owned(),
        (1, _) => tr!("1 file changed").to_owned(),
        (n, _) => tr!("{n} files changed", n),
    };
    let row = state.last_iteration();
    let end = if row.is_some_and(|it| it.interrupted) {
        Some(tr!("interrupted").to_owned())
    } else if let Some(error) = row.and_then(|it| it.error.as_ref()) {
        Some(tr!("agent failed ({message})", message = error.message))
    } else {
        row.and_then(cut_short)
    };
    let mut facts: Vec<String> = end.into_iter().chain([work]).collect();
    match round {
        Some(round) => facts.extend(round_facts(state, round, claim)),
        None => facts.push(tr!("checks not needed").to_owned()),
    }
    facts
}

/// The facts of a round: the number of criteria that pass, and of those that broke.
fn round_facts(state: &LoopState, round: &Round, claim: Option<Claim>) -> Vec<String> {
    let checked: Vec<&CheckResult> =
        round.results.iter().filter(|it| it.status != Status::Unverified).collect();
    if checked.is_empty() {
        return Vec::new();
    }
    let failing = checked.iter().filter(|it| it.status != Status::Pass).count();
    let held = |it: &CheckResult| {
        state.criteria.results.get(&it.criterion).is_some_and(|it| it.status == Status::Pass)
    };
    let broke = checked.iter().filter(|it| it.status != Status::Pass && held(it)).count();
    let broke = (broke > 0).then(|| tr!("{count} broke", count = broke));
    let denied =
        (claim.is_some() && failing > 0).then(|| tr!("although the agent says it is done").to_owned());
    let optional: BTreeSet<&CriterionId> =
        state.criteria.pinned.iter().filter(|it| !it.criterion.required).map(|it| &it.criterion.id).collect();
    let tally =
        CriteriaTally::of(checked.iter().map(|it| (!optional.contains(&it.criterion), Some(it.status))));
    [tally.of_round()].into_iter().chain(broke).chain(denied).collect()
}

/// Reported once per limit, by the iteration that approached it.
pub(super) fn limits_near_note(limits: &[(LimitName, String)]) -> Option<String> {
    let limits: Vec<&str> = limits.iter().map(|(_, words)| words.as_str()).collect();
    let note = || tr!("budget almost used: {limits}", limits = join_with_commas(&limits));
    (!limits.is_empty()).then(note)
}

/// A commit that the user did not want is kept and only reported.
pub(super) fn commit_unasked(state: &LoopState, changes: &ChangeStats, commits: &[String]) -> Option<String> {
    let is_unwanted = state.spec.settings.git.commit == CommitPolicy::Never;
    let is_made = changes.committed || !commits.is_empty();
    (is_unwanted && is_made).then(|| tr!("it made a commit although `git.commit` is `never`").to_owned())
}

/// Why the agent was terminated, if it was.
fn cut_short(row: &Iteration) -> Option<String> {
    let duration = words::duration(row.duration_ms);
    Some(match row.ending? {
        AgentEnding::TimedOut => tr!("out of time after {duration}", duration),
        AgentEnding::Idle => tr!("no activity after {duration}", duration),
        AgentEnding::Capped => tr!("too many steps").to_owned(),
        AgentEnding::Stopped => tr!("stopped").to_owned(),
        AgentEnding::Exited | AgentEnding::Held | AgentEnding::NotStarted => return None,
    })
}
