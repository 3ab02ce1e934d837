//! The report as one self-contained HTML page: no script, no external resources, a strict content security
//! policy. It follows the colours of the system, and forced colours.

use loopkeeper_core::check::Status;
use loopkeeper_text::language::translate;
use loopkeeper_text::{tr, tr_later, words};
use maud::{Markup, PreEscaped, html};

use super::chart;
use super::{CriterionHistory, ErrorCount, IterationReport, LoopReport, minute};
use crate::page::page;
use crate::sentences;

const COST: &str = tr_later!("Cost");
const TOKENS: &str = tr_later!("Tokens");
const COMMITS: &str = tr_later!("Commits");

/// The page.
pub fn html(report: &LoopReport) -> String {
    page(
        &report.title,
        &html! {
            h1 { (report.title) }
            p.outcome { strong { (report.sentence) } }
            @if let Some(feedback) = &report.feedback { p { (tr!("Your feedback: {feedback}.", feedback)) } }
            p { (origin(report)) }
            (facts(report))
            (grid(report))
            (charts(report))
            (table(report))
            (lists(report))
        },
    )
}

/// The loop, its task, its agent and its start. The template has no markup; its values are escaped.
fn origin(report: &LoopReport) -> PreEscaped<String> {
    let id = html! { code { (report.loop_id) } }.into_string();
    let task = html! { code { (report.task) } }.into_string();
    let agent = html! { (report.agent) }.into_string();
    let time = html! { time datetime=(report.started_at) { (minute(&report.started_at)) } }.into_string();
    PreEscaped(tr!("Loop {id} on {task} with {agent}, started {time}.", id, task, agent, time))
}

fn facts(report: &LoopReport) -> Markup {
    let time = &report.time;
    html! {
        section aria-labelledby="budget" {
            h2 #budget { (tr!("Budget")) }
            dl {
                @for limit in &report.limits {
                    dt { (limit.name) }
                    dd { (chart::share(limit.percent)) " " (limit.text) }
                }
                dt { (tr!("Agent")) } dd { (words::duration(time.agent_ms)) }
                dt { (tr!("Checks")) } dd { (words::duration(time.checks_ms)) }
                @if time.paused_ms > 0 { dt { (tr!("Paused")) } dd { (words::duration(time.paused_ms)) } }
                @if let Some(plan) = &report.plan { dt { (tr!("Plan")) } dd { (tr!("{done} of {total} done", done = plan.done, total = plan.total)) } }
                @if let Some(reason) = &report.breaker.reason { dt { (tr!("Breaker")) } dd { (reason) } }
                @if report.breaker.trips > 0 { dt { (tr!("Breaker opened")) } dd { (words::counted(u64::from(report.breaker.trips), "time")) } }
            }
            @if let Some(forecast) = &report.forecast { p { (sentences::sentence(forecast)) } }
            @for warning in &report.warnings { p.warning { (sentences::sentence(warning)) } }
        }
    }
}

fn left_out(iterations: u64) -> String {
    match iterations {
        1 => tr!("The first iteration is not shown.").to_owned(),
        _ => {
            tr!("The first {iterations} are not shown.", iterations = words::counted(iterations, "iteration"))
        }
    }
}

fn grid(report: &LoopReport) -> Markup {
    html! {
        section {
            h2 #criteria { (tr!("Criteria over iterations")) }
            @if report.omitted > 0 { p { (left_out(report.omitted as u64)) } }
            div.scroll tabindex="0" role="region" aria-labelledby="criteria" {
                table.grid {
                    thead { tr {
                        th scope="col" { (tr!("Criterion")) }
                        @for it in &report.iterations { th scope="col" { (it.number) } }
                        th scope="col" { (tr!("Now")) }
                    } }
                    tbody {
                        @for it in &report.criteria { (row(it)) }
                        tr.band {
                            th scope="row" { (tr!("Iterations without progress (the breaker opens at {limit})", limit = report.breaker.no_progress)) }
                            @for it in &report.iterations {
                                td.w[it.no_progress > 0].o[it.no_progress >= report.breaker.no_progress] {
                                    @if it.no_progress > 0 { (it.no_progress) }
                                }
                            }
                            td {}
                        }
                    }
                }
            }
        }
    }
}

fn row(criterion: &CriterionHistory) -> Markup {
    html! {
        tr {
            th scope="row" { (label(criterion)) }
            @for cell in &criterion.cells {
                @match cell {
                    Some(Status::Pass) => td.p { "✓" },
                    Some(Status::Unstable | Status::Unverified) => td.u { "?" },
                    Some(_) => td.f { "✗" },
                    None => td {},
                }
            }
            td { (current_result(criterion)) }
        }
    }
}

fn label(criterion: &CriterionHistory) -> String {
    let name = &criterion.name;
    if criterion.required { name.clone() } else { tr!("{name} (optional)", name) }
}

fn current_result(criterion: &CriterionHistory) -> String {
    match (criterion.now, criterion.fact.is_empty()) {
        (Some(Status::Pass), _) => tr!("passes").to_owned(),
        (Some(_), false) => criterion.fact.clone(),
        (Some(_), true) => tr!("fails").to_owned(),
        (None, _) => tr!("not checked").to_owned(),
    }
}

fn charts(report: &LoopReport) -> Markup {
    let of = |value: &dyn Fn(&IterationReport) -> Option<u64>| -> Vec<Option<u64>> {
        report.iterations.iter().map(value).collect()
    };
    let all = [
        (tr!("Cost of each iteration"), of(&|it| it.cost_micros)),
        (tr!("Tokens of each iteration"), of(&|it| it.tokens)),
        (tr!("Changed lines of each iteration"), of(&|it| it.lines)),
        (tr!("Agent's time of each iteration"), of(&|it| Some(it.duration_ms))),
    ];
    html! {
        section aria-labelledby="charts" {
            h2 #charts { (tr!("Effort")) }
            div.charts {
                @for (label, values) in &all {
                    @if let Some(chart) = chart::bars(values, label) {
                        figure { figcaption { (label) } (chart) }
                    }
                }
            }
        }
    }
}

fn table(report: &LoopReport) -> Markup {
    let columns = columns(report);
    html! {
        section {
            h2 #iterations { (tr!("Iterations")) }
            div.scroll tabindex="0" role="region" aria-labelledby="iterations" {
                table {
                    thead { tr {
                        @for head in &columns { th scope="col" { (translate(head)) } }
                    } }
                    tbody { @for it in &report.iterations { (iteration(it, &columns)) } }
                }
            }
        }
    }
}

/// Without those that would be empty.
fn columns(report: &LoopReport) -> Vec<&'static str> {
    let any = |is_there: &dyn Fn(&IterationReport) -> bool| report.iterations.iter().any(is_there);
    let mut all = vec!["#", tr_later!("What it did"), tr_later!("Time")];
    all.extend(any(&|it| it.cost_micros.is_some()).then_some(COST));
    all.extend(any(&|it| it.tokens.is_some()).then_some(TOKENS));
    all.extend([tr_later!("Files"), tr_later!("Lines")]);
    all.extend(any(&|it| !it.commits.is_empty()).then_some(COMMITS));
    all
}

fn describe_iteration(it: &IterationReport) -> String {
    let sentence = &it.sentence;
    if it.rolled_back { tr!("{sentence} (rolled back)", sentence) } else { sentence.clone() }
}

fn iteration(it: &IterationReport, columns: &[&str]) -> Markup {
    html! {
        tr.back[it.rolled_back] {
            th scope="row" { (it.number) }
            td { (describe_iteration(it))
                @for milestone in &it.milestones { span.reached { " ◆ " (milestone) } } }
            td.n { (words::duration(it.duration_ms)) }
            @if columns.contains(&COST) { td.n { @if let Some(cost) = it.cost_micros { (words::cost(cost)) } } }
            @if columns.contains(&TOKENS) { td.n { @if let Some(tokens) = it.tokens { (words::amount(tokens)) } } }
            td.n { (it.files) }
            td.n { @if let Some(lines) = it.lines { (lines) } }
            @if columns.contains(&COMMITS) { td { (it.commits.join("; ")) } }
        }
    }
}

/// How often an error occurred, and its text. The template has no markup; its values are escaped.
fn error(it: &ErrorCount) -> PreEscaped<String> {
    let text = html! { code { (it.text) } }.into_string();
    PreEscaped(tr!("{times}: {text}", times = words::counted(it.count as u64, "time"), text))
}

fn lists(report: &LoopReport) -> Markup {
    html! {
        @if !report.test_gaps.is_empty() {
            section aria-labelledby="gaps" {
                h2 #gaps { (tr!("Missed by the checks")) }
                ul { @for it in &report.test_gaps { li { (it) } } }
            }
        }
        @if !report.errors.is_empty() {
            section aria-labelledby="errors" {
                h2 #errors { (tr!("Errors")) }
                ul { @for it in &report.errors { li { (error(it)) } } }
            }
        }
        @if !report.decisions.is_empty() {
            section aria-labelledby="decisions" {
                h2 #decisions { (tr!("Decisions of the agent")) }
                ul { @for it in &report.decisions { li { (it) } } }
            }
        }
    }
}
