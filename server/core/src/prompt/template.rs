//! The user's prompt template: text with placeholders for the sections. Parsing it runs nothing; inserted text is not
//! searched for placeholders.

use loopkeeper_text::clauses;
use loopkeeper_text::closest::closest;
use loopkeeper_text::{sanitize, tr};

use super::PromptInput;
use super::sections::{self, SECTIONS};

/// A longer template would leave too little room for the parts of the prompt.
pub const MAX_TEMPLATE_BYTES: usize = 64 * 1024;
const TASK: &str = "task";
/// Without these the agent does not know what to do.
const MANDATORY: [&str; 2] = [TASK, "failing"];
/// Input of the user, and obstacles to completion: appended if the template leaves them out.
const ALWAYS_INCLUDED: [&str; 6] = ["weakened", "unnoticed", "branch", "asked", "steering", "rules"];

/// A template that can be filled in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptTemplate {
    lines: Vec<Vec<TemplatePart>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    /// One of [`placeholder_names`].
    Placeholder(&'static str),
}

/// Why a template cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateFault {
    /// From 1; the last line for what is missing.
    pub line: usize,
    pub message: String,
    /// The remedy, without a period; perhaps a question.
    pub hint: String,
}

/// Every placeholder.
fn placeholder_names() -> impl Iterator<Item = &'static str> {
    [TASK, "iteration", "budget"].into_iter().chain(SECTIONS.iter().map(|(name, _)| *name))
}

impl PromptTemplate {
    /// `{task}` is replaced by the task, `{{` and `}}` by braces.
    pub fn parse(text: &str) -> Result<Self, TemplateFault> {
        let fault = |line, (message, hint)| TemplateFault { line, message, hint };
        if text.len() > MAX_TEMPLATE_BYTES {
            let message = tr!("a template holds at most {max} KiB", max = MAX_TEMPLATE_BYTES / 1024);
            let hint = tr!("shorten it: long texts belong into the task").to_owned();
            return Err(fault(1, (message, hint)));
        }
        let mut lines: Vec<Vec<TemplatePart>> = Vec::new();
        let mut sections: Vec<&str> = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let parts = parse_parts(line).map_err(|it| fault(at + 1, it))?;
            for name in parts.iter().filter_map(TemplatePart::section) {
                if sections.contains(&name) {
                    let message = tr!("`{placeholder}` occurs a second time", placeholder = in_braces(name));
                    return Err(fault(at + 1, (message, tr!("leave it where it is read best").to_owned())));
                }
                sections.push(name);
            }
            lines.push(parts);
        }
        let template = Self { lines };
        match MANDATORY.into_iter().find(|it| !template.has_placeholder(it)) {
            Some(name) => {
                let placeholder = in_braces(name);
                let hint = tr!("write `{placeholder}` where it belongs: the agent works by it", placeholder);
                let message = tr!("there is no `{placeholder}`", placeholder);
                Err(fault(template.lines.len().max(1), (message, hint)))
            }
            None => Ok(template),
        }
    }

    fn has_placeholder(&self, name: &str) -> bool {
        self.lines.iter().flatten().any(|it| it.name() == Some(name))
    }

    /// A prompt with this text for the task. A line whose placeholders are all empty is left out.
    pub(super) fn fill(&self, input: &PromptInput<'_>, task: &str, output_bytes: usize) -> String {
        let value = |name: &str| match name {
            TASK => task.to_owned(),
            "iteration" => input.iteration.to_string(),
            "budget" => sections::render_budget(input),
            name => sections::render_section(name, input, output_bytes),
        };
        let mut out = String::new();
        let mut left_out = false;
        for parts in &self.lines {
            let line: String = parts.iter().map(|it| it.filled(&value)).collect();
            let is_blank = line.trim().is_empty();
            left_out = is_blank && (left_out || parts.iter().any(|it| it.name().is_some()));
            // One blank line is enough around lines that are left out.
            if !left_out || !(out.is_empty() || out.ends_with("\n\n") || !parts.is_empty()) {
                out.push_str(&line);
                out.push('\n');
            }
        }
        for name in ALWAYS_INCLUDED.into_iter().filter(|it| !self.has_placeholder(it)) {
            let text = value(name);
            if !text.trim().is_empty() {
                out = format!("{}\n\n{}\n", out.trim_end(), text.trim_end());
            }
        }
        out
    }
}

impl TemplatePart {
    fn name(&self) -> Option<&'static str> {
        match self {
            Self::Text(_) => None,
            Self::Placeholder(name) => Some(name),
        }
    }

    /// The section that it stands for, which may occur once; numbers may be repeated.
    fn section(&self) -> Option<&'static str> {
        self.name().filter(|it| *it != "iteration" && *it != "budget")
    }

    fn filled(&self, value: &impl Fn(&str) -> String) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Placeholder(name) => value(name).trim_end().to_owned(),
        }
    }
}

/// Message and remedy.
type PlaceholderError = (String, String);

fn parse_parts(line: &str) -> Result<Vec<TemplatePart>, PlaceholderError> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        if let Some(after) = from.strip_prefix("{{") {
            let inside = after.split_once("}}").map_or("", |(it, _)| it.trim());
            if placeholder_names().any(|it| it == inside) {
                return Err((
                    tr!(
                        "`{placeholder}` would appear in the prompt verbatim",
                        placeholder = in_braces(&in_braces(inside))
                    ),
                    tr!("did you mean `{near}`?", near = in_braces(inside)),
                ));
            }
            text.push('{');
            rest = after;
        } else if let Some(after) = from.strip_prefix("}}") {
            text.push('}');
            rest = after;
        } else if let Some((inside, after)) = from.strip_prefix('{').and_then(|it| it.split_once('}')) {
            parts.push(TemplatePart::Text(std::mem::take(&mut text)));
            parts.push(TemplatePart::Placeholder(parse_placeholder(inside)?));
            rest = after;
        } else {
            let (one, other) = if from.starts_with('{') { ("{", "}") } else { ("}", "{") };
            return Err((
                tr!("`{one}` has no `{other}`", one, other),
                tr!("write a literal brace twice: `{braces}`", braces = one.repeat(2)),
            ));
        }
    }
    text.push_str(rest);
    parts.push(TemplatePart::Text(text));
    parts.retain(|it| *it != TemplatePart::Text(String::new()));
    Ok(parts)
}

fn parse_placeholder(inside: &str) -> Result<&'static str, PlaceholderError> {
    if let Some(name) = placeholder_names().find(|it| *it == inside) {
        return Ok(name);
    }
    let shown = sanitize::line_within(&in_braces(inside), 42);
    let near = closest(inside.trim(), placeholder_names())
        .map(|it| tr!("did you mean `{near}`?", near = in_braces(it)));
    let hint = near.unwrap_or_else(|| {
        let names = clauses::list(placeholder_names().map(|it| format!("`{{{it}}}`")));
        tr!("use one of {names}; literal braces are written twice: `{braces}`", names, braces = "{{")
    });
    Err((tr!("`{placeholder}` is not part of a prompt", placeholder = shown), hint))
}

fn in_braces(name: &str) -> String {
    format!("{{{name}}}")
}

#[cfg(test)]
mod tests;
