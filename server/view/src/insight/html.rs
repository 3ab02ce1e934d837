//! The figures as a self-contained page.

use loopkeeper_text::language::translate;
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;
use maud::{Markup, PreEscaped, html};

use super::table::{
    ITERATION_COLUMNS, LOOP_COLUMNS, denominators, headline, iteration_rows, loop_cells, name_of,
};
use super::{Insight, LoopFigures, SkippedLoop};
use crate::page::page;

/// The page.
pub fn html(insight: &Insight) -> String {
    page(
        tr!("Cost of verified tasks"),
        &html! {
            h1 { (tr!("Cost of verified tasks")) }
            p.outcome { strong { (headline(insight)) } }
            p { (denominators(insight)) }
            (groups("agents", tr!("By agent"), &insight.agents))
            (groups("models", tr!("By model"), &insight.models))
            (groups("projects", tr!("By project"), &insight.projects))
            (iterations(insight))
            @if let Some(sentence) = insight.feedback.sentence() { p { (sentence) } }
            (left_out(insight))
        },
    )
}

fn groups(id: &str, title: &str, groups: &[LoopFigures]) -> Markup {
    let rows: Vec<_> = groups.iter().map(|it| (name_of(it), loop_cells(it).to_vec())).collect();
    html! {
        @if !groups.is_empty() { (section(id, title, &LOOP_COLUMNS.map(translate), &rows)) }
    }
}

fn iterations(insight: &Insight) -> Markup {
    let rows: Vec<_> =
        iteration_rows(insight).into_iter().map(|(name, cells)| (name.to_owned(), cells.to_vec())).collect();
    html! {
        @if insight.iterations.count > 0 {
            (section("iterations", tr!("What iterations bought"), &ITERATION_COLUMNS.map(translate), &rows))
            p { (tr!("Turned: a criterion passed for the first time. Kept: changes that stayed. Nothing: no change, or one that was undone. Waited: the provider rejected the agent.")) }
        }
    }
}

fn section(id: &str, title: &str, columns: &[&str], rows: &[(String, Vec<String>)]) -> Markup {
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (title) }
            div.scroll tabindex="0" role="region" aria-labelledby=(id) {
                table {
                    thead { tr { th scope="col" { "" } @for it in columns { th scope="col" { (it) } } } }
                    tbody {
                        @for (name, cells) in rows {
                            tr { th scope="row" { (name) } @for it in cells { td.n { (it) } } }
                        }
                    }
                }
            }
        }
    }
}

/// The template has no markup; its values are escaped.
fn left_out_loop(it: &SkippedLoop) -> PreEscaped<String> {
    let id = html! { code { (it.loop_id) } }.into_string();
    let why = html! { (sanitize::line(&it.why)) }.into_string();
    PreEscaped(tr!("{id}: {why}", id, why))
}

fn left_out(insight: &Insight) -> Markup {
    html! {
        @if !insight.left_out.is_empty() {
            section aria-labelledby="left-out" {
                h2 #left-out { (tr!("Left out")) }
                ul { @for it in &insight.left_out { li { (left_out_loop(it)) } } }
            }
        }
    }
}
