//! Renders subagents and the requests for them.

use loopkeeper_core::journal::Record;
use loopkeeper_text::sanitize;

pub(super) fn describe_record(record: &Record) -> String {
    match record {
        Record::SubagentAsked { by, what, refused: Some(why), .. } => {
            format!("{} asked for a subagent ({}): {}", whom(by.as_deref()), clean(what), clean(why))
        }
        Record::SubagentAsked { by, what, .. } => {
            format!("{} asked for a subagent ({}): it may start", whom(by.as_deref()), clean(what))
        }
        Record::SubagentStarted { by, call, id, what, .. } => {
            let call = call.as_ref().map_or(String::new(), |it| format!(" with {}", clean(it)));
            let id = if id.is_empty() { String::new() } else { format!(" {}", clean(id)) };
            format!("subagent{id} started by {}{call}: {}", whom(by.as_deref()), clean(what))
        }
        Record::SubagentEnded { id, .. } => format!("subagent {} ended", clean(id)),
        _ => String::new(),
    }
}

fn whom(by: Option<&str>) -> String {
    by.map_or_else(|| "the agent".to_owned(), |it| format!("subagent {}", clean(it)))
}

fn clean(text: &str) -> String {
    sanitize::line(text)
}
