//! The report as one HTML page that needs nothing else: no script, nothing from outside, a strict content security
//! policy. It follows the colours of the system, and forced colours.

use loopkeeper_core::check::Status;
use loopkeeper_text::words;
use maud::{Markup, html};

use super::chart;
use super::{CriterionHistory, IterationReport, LoopReport};
use crate::page::page;

const COST: &str = "Cost";
const TOKENS: &str = "Tokens";
const COMMITS: &str = "Commits";

/// The page.
pub fn html(report: &LoopReport) -> String {
    page(
        &report.title,
        &html! {
            h1 { (report.title) }
            p.outcome { strong { (report.sentence) } }
            @if let Some(feedback) = &report.feedback { p { "Your feedback: " (feedback) "." } }
            p { "Loop " code { (report.loop_id) } " on " code { (report.task) } " with " (report.agent)
                ", started " time datetime=(report.started_at) { (report.started_at) } "." }
            (facts(report))
            (grid(report))
            (charts(report))
            (table(report))
            (lists(report))
        },
    )
}

fn facts(report: &LoopReport) -> Markup {
    let time = &report.time;
    html! {
        section aria-labelledby="budget" {
            h2 #budget { "Budget" }
            dl {
                @for limit in &report.limits {
                    dt { (limit.name) }
                    dd { (chart::share(limit.percent)) " " (limit.text) }
                }
                dt { "Agent" } dd { (words::duration(time.agent_ms)) }
                dt { "Checks" } dd { (words::duration(time.checks_ms)) }
                @if time.paused_ms > 0 { dt { "Paused" } dd { (words::duration(time.paused_ms)) } }
                @if let Some(plan) = &report.plan { dt { "Plan" } dd { (plan.done) " of " (plan.total) " done" } }
                @if let Some(reason) = &report.breaker.reason { dt { "Breaker" } dd { (reason) } }
                @if report.breaker.trips > 0 { dt { "Breaker opened" } dd { (words::counted(u64::from(report.breaker.trips), "time")) } }
            }
            @if let Some(forecast) = &report.forecast { p { (words::capitalised(forecast)) "." } }
            @for warning in &report.warnings { p.warning { (words::capitalised(warning)) "." } }
        }
    }
}

fn grid(report: &LoopReport) -> Markup {
    html! {
        section aria-labelledby="criteria" {
            h2 #criteria { "Criteria over iterations" }
            @if report.omitted > 0 { p { "The first " (words::counted(report.omitted as u64, "iteration")) " are not shown." } }
            div.scroll tabindex="0" role="region" aria-labelledby="criteria" {
                table.grid {
                    thead { tr {
                        th scope="col" { "Criterion" }
                        @for it in &report.iterations { th scope="col" { (it.number) } }
                        th scope="col" { "Now" }
                    } }
                    tbody {
                        @for it in &report.criteria { (row(it)) }
                        tr.band {
                            th scope="row" { "Iterations without progress (the breaker opens at " (report.breaker.no_progress) ")" }
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
            th scope="row" { (criterion.name) @if !criterion.required { " (optional)" } }
            @for cell in &criterion.cells {
                @match cell {
                    Some(Status::Pass) => td.p { "✓" },
                    Some(Status::Unstable | Status::Unverified) => td.u { "?" },
                    Some(_) => td.f { "✗" },
                    None => td {},
                }
            }
            td { (now(criterion)) }
        }
    }
}

fn now(criterion: &CriterionHistory) -> String {
    match (criterion.now, criterion.fact.is_empty()) {
        (Some(Status::Pass), _) => "passes".to_owned(),
        (Some(_), false) => criterion.fact.clone(),
        (Some(_), true) => "fails".to_owned(),
        (None, _) => "not checked".to_owned(),
    }
}

fn charts(report: &LoopReport) -> Markup {
    let of = |value: &dyn Fn(&IterationReport) -> Option<u64>| -> Vec<Option<u64>> {
        report.iterations.iter().map(value).collect()
    };
    let all = [
        ("Cost of each iteration", of(&|it| it.cost_micros)),
        ("Tokens of each iteration", of(&|it| it.tokens)),
        ("Changed lines of each iteration", of(&|it| it.lines)),
        ("Agent's time of each iteration", of(&|it| Some(it.duration_ms))),
    ];
    html! {
        section aria-labelledby="charts" {
            h2 #charts { "Effort" }
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
        section aria-labelledby="iterations" {
            h2 #iterations { "Iterations" }
            div.scroll tabindex="0" role="region" aria-labelledby="iterations" {
                table {
                    thead { tr {
                        @for head in &columns { th scope="col" { (head) } }
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
    let mut all = vec!["#", "What it did", "Time"];
    all.extend(any(&|it| it.cost_micros.is_some()).then_some(COST));
    all.extend(any(&|it| it.tokens.is_some()).then_some(TOKENS));
    all.extend(["Files", "Lines"]);
    all.extend(any(&|it| !it.commits.is_empty()).then_some(COMMITS));
    all
}

fn iteration(it: &IterationReport, columns: &[&str]) -> Markup {
    html! {
        tr.back[it.taken_back] {
            th scope="row" { (it.number) }
            td { (it.sentence)
                @if it.taken_back { " (rolled back)" }
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

fn lists(report: &LoopReport) -> Markup {
    html! {
        @if !report.test_gaps.is_empty() {
            section aria-labelledby="gaps" {
                h2 #gaps { "Missed by the checks" }
                ul { @for it in &report.test_gaps { li { (it) } } }
            }
        }
        @if !report.errors.is_empty() {
            section aria-labelledby="errors" {
                h2 #errors { "Errors" }
                ul { @for it in &report.errors { li { (words::counted(it.count as u64, "time")) ": " code { (it.text) } } } }
            }
        }
        @if !report.decisions.is_empty() {
            section aria-labelledby="decisions" {
                h2 #decisions { "Decisions of the agent" }
                ul { @for it in &report.decisions { li { (it) } } }
            }
        }
    }
}
