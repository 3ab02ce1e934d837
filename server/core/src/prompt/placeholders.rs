//! Fills in other tools' placeholders in the task's text from the state of the loop. A placeholder without a value is
//! removed, so that no agent reads the braces.

use std::borrow::Cow;
use std::fmt::Write as _;

use loopkeeper_task::criterion::Criterion;
use loopkeeper_task::placeholders::{
    CHECKS, CONTEXTS, ITERATION, MAX_ITERATIONS, PLAN_PATH, Placeholder, STORY_BLOCK, STORY_ID, STORY_TITLE,
    command_name, find_placeholders, is_context,
};

use super::grammar::format_criterion;
use super::markdown::{fenced_block, single_line};
use super::{PromptInput, plan};

/// Maximum output of one command.
const OUTPUT_BYTES: usize = 8 * 1024;

pub(super) fn fill_placeholders<'a>(input: &PromptInput<'a>) -> Cow<'a, str> {
    let placeholders = find_placeholders(input.task);
    if placeholders.is_empty() {
        return Cow::Borrowed(input.task);
    }
    let mut out = String::new();
    let mut from = 0;
    for placeholder in placeholders {
        out.push_str(input.task.get(from..placeholder.range.start).unwrap_or_default());
        let value = placeholder_value(&placeholder, input).unwrap_or_default();
        if value.starts_with("```") && !(out.is_empty() || out.ends_with('\n')) {
            // A fence begins a line.
            out.push_str("\n\n");
        }
        out.push_str(&value);
        from = placeholder.range.end;
    }
    out.push_str(input.task.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

fn placeholder_value(placeholder: &Placeholder<'_>, input: &PromptInput<'_>) -> Option<String> {
    let name = placeholder.name;
    if let Some(command) = command_name(name) {
        return command_output(command, placeholder, input);
    }
    if ITERATION.contains(&name) {
        return Some(input.iteration.to_string());
    }
    if name == MAX_ITERATIONS {
        return Some(input.iteration.saturating_add(input.budget.iterations).to_string());
    }
    if CHECKS.contains(&name) {
        let line = |it: &Criterion| Some(format!("- {}", format_criterion(it, it.check.as_ref()?)));
        let lines = input.pinned.iter().filter_map(|it| line(&it.criterion));
        return Some(lines.collect::<Vec<_>>().join("\n"));
    }
    let next = *plan::open_items(input.plan).first()?;
    if STORY_ID.contains(&name) {
        Some(single_line(&next.id))
    } else if STORY_TITLE.contains(&name) {
        Some(single_line(&next.title))
    } else if PLAN_PATH.contains(&name) {
        Some(next.place.file.clone())
    } else if STORY_BLOCK.contains(&name) {
        let mut block = format!("{}: {}", single_line(&next.id), single_line(&next.title));
        let own = input.pinned.iter().filter(|it| it.criterion.plan_item.as_ref() == Some(&next.id));
        for pinned in own {
            let _ = write!(block, "\n- {}", single_line(&pinned.criterion.name));
        }
        Some(block)
    } else {
        None
    }
}

/// The last output of a command in the front matter, or in a context.
fn command_output(command: &str, placeholder: &Placeholder<'_>, input: &PromptInput<'_>) -> Option<String> {
    let is_of_context = placeholder.name.starts_with(CONTEXTS);
    let mut criteria = input.pinned.iter().map(|it| &it.criterion);
    let criterion = criteria.find(|it| it.name == command && is_context(&it.place.file) == is_of_context)?;
    let result = input.results.get(&criterion.id)?;
    let output = result.output_within(OUTPUT_BYTES);
    let shown = output.trim_end();
    Some(match (shown.is_empty(), placeholder.in_fence) {
        (true, _) => single_line(&result.fact),
        (false, true) => shown.to_owned(),
        (false, false) => fenced_block(shown).trim_end().to_owned(),
    })
}
