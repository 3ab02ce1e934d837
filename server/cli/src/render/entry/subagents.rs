//! Renders subagents and the requests for them.

use loopkeeper_core::journal::Record;
use loopkeeper_text::{sanitize, tr};

pub(super) fn describe_record(record: &Record) -> String {
    match record {
        Record::SubagentAsked { by, what, refused: Some(why), .. } => {
            tr!(
                "{asker} asked for a subagent ({what}): {why}",
                asker = asker_name(by.as_deref()),
                what = clean(what),
                why = clean(why)
            )
        }
        Record::SubagentAsked { by, what, .. } => {
            tr!(
                "{asker} asked for a subagent ({what}): it may start",
                asker = asker_name(by.as_deref()),
                what = clean(what)
            )
        }
        Record::SubagentStarted { by, call, id, what, .. } => {
            let call = call.as_ref().map_or(String::new(), |it| tr!(" with {tool}", tool = clean(it)));
            let id = if id.is_empty() { String::new() } else { format!(" {}", clean(id)) };
            tr!(
                "subagent{id} started by {asker}{call}: {what}",
                id,
                asker = asker_name(by.as_deref()),
                call,
                what = clean(what)
            )
        }
        Record::SubagentEnded { id, .. } => tr!("subagent {id} ended", id = clean(id)),
        _ => String::new(),
    }
}

fn asker_name(by: Option<&str>) -> String {
    by.map_or_else(|| tr!("the agent").to_owned(), |it| tr!("subagent {id}", id = clean(it)))
}

fn clean(text: &str) -> String {
    sanitize::line(text)
}
