//! The loop of Claude Code's own plugin, which its stop hook keeps open: parses its state file and converts it to a
//! task. The file is in the workspace and therefore untrusted: nothing in it is executed, and all of it is sanitised.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

/// Paths of the state file below the folder that Claude Code was started in; the second is that of older versions.
pub const FILES: [&str; 2] = [".claude/ralph-loop.local.md", ".claude/.ralph-loop.local.md"];
/// Accepted in place of a loop's id to stop it.
pub const NAME: &str = "ralph-loop";
/// The document that an import creates; numbered if a file of this name exists.
pub const DOCUMENT: &str = "ralph-loop.ralph.md";

/// Maximum length of a prompt; a file with a longer one is refused.
const MAX_BYTES: usize = 256 * 1024;
const SHOWN_CHARS: usize = 200;
const TITLE_CHARS: usize = 60;
const WORD_CHARS: usize = 200;

/// A loop of another tool, as described by its file. All text is sanitised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginLoop {
    pub iteration: u32,
    /// `None`: it continues until its promise, or indefinitely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// The beginning of its prompt, as one line.
    pub prompt: String,
}

/// Why a text is not a state of an active loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PluginLoopError {
    #[error("{}", tr!("it does not begin with front matter"))]
    NoFrontMatter,
    #[error("{}", tr!("its `{field}` is not a number", field = _0))]
    NoNumber(&'static str),
    #[error("{}", tr!("it says that the loop is not active"))]
    Inactive,
    #[error("{}", tr!("it has no prompt"))]
    NoPrompt,
    #[error("{}", tr!("its prompt is longer than 256 KiB"))]
    TooLong,
}

/// Reads the plugin's state file.
pub fn parse_state_file(text: &str) -> Result<PluginLoop, PluginLoopError> {
    let (fields, prompt) = split_front_matter(text)?;
    let number = |name: &'static str| fields.number(name);
    let limit = number("max_iterations")?;
    Ok(PluginLoop {
        iteration: number("iteration")?,
        max_iterations: (limit > 0).then_some(limit),
        promise: fields.display_value("completion_promise"),
        started_at: fields.display_value("started_at"),
        prompt: sanitize::line_within(prompt, SHOWN_CHARS),
    })
}

/// The equivalent task document for loopkeeper: prompt and promise as they are, the limit as a remark.
pub fn task_document(text: &str) -> Result<String, PluginLoopError> {
    let plugin_loop = parse_state_file(text)?;
    let (_, prompt) = split_front_matter(text)?;
    let prompt = sanitize::text(prompt.trim());
    let first = prompt.lines().next().unwrap_or_default();
    let heading = if first.starts_with("# ") {
        String::new()
    } else {
        format!(
            "# {}\n\n",
            sanitize::line_within(first.trim_start_matches(['#', ' ', '-']), TITLE_CHARS).trim()
        )
    };
    let mut document = format!("{heading}{prompt}\n");
    if let Some(promise) = &plugin_loop.promise {
        let asked = format!("<promise>{promise}</promise>");
        if !prompt.contains(&asked) {
            let _ = writeln!(document, "\nOutput {asked} once all of this is done, and not before.");
        }
    }
    let _ = writeln!(document, "\n<!-- {} -->", describe_origin(&plugin_loop));
    Ok(document)
}

/// The remark for the user who completes the document.
fn describe_origin(plugin_loop: &PluginLoop) -> String {
    let origin = match plugin_loop.max_iterations {
        Some(limit) => tr!(
            "Taken over from the loop of Claude Code's plugin, iteration {number} of {limit}.",
            number = plugin_loop.iteration,
            limit
        ),
        None => tr!(
            "Taken over from the loop of Claude Code's plugin, iteration {number} without a maximum.",
            number = plugin_loop.iteration
        ),
    };
    tr!(
        "{origin} List what must hold below a heading \"Done when\", each with a check, and loopkeeper itself finds out \
         when it is done.",
        origin
    )
}

impl PluginLoop {
    /// `iteration 3 of 20`.
    pub fn progress(&self) -> String {
        match self.max_iterations {
            Some(limit) => tr!("iteration {number} of {limit}", number = self.iteration, limit),
            None => tr!("iteration {number}, without a limit", number = self.iteration),
        }
    }

    /// The number of iterations that it had left; at least one.
    pub fn iterations_left(&self) -> Option<u32> {
        self.max_iterations.map(|it| it.saturating_sub(self.iteration).max(1))
    }
}

struct PluginFrontMatter<'a>(&'a str);

/// Front matter and prompt.
fn split_front_matter(text: &str) -> Result<(PluginFrontMatter<'_>, &str), PluginLoopError> {
    let text = text.trim_start_matches('\u{feff}');
    let inner = text.strip_prefix("---").and_then(|it| it.trim_start_matches(['\r', ' ']).strip_prefix('\n'));
    let inner = inner.ok_or(PluginLoopError::NoFrontMatter)?;
    let mut at = 0;
    let end = inner.split_inclusive('\n').find_map(|line| {
        let begin = at;
        at += line.len();
        (line.trim_end() == "---").then_some((begin, at))
    });
    let (begin, after) = end.ok_or(PluginLoopError::NoFrontMatter)?;
    let fields = PluginFrontMatter(inner.get(..begin).unwrap_or_default());
    if fields.value("active").is_some_and(|it| it != "true") {
        return Err(PluginLoopError::Inactive);
    }
    let prompt = inner.get(after..).unwrap_or_default();
    match prompt.len() {
        _ if prompt.trim().is_empty() => Err(PluginLoopError::NoPrompt),
        length if length > MAX_BYTES => Err(PluginLoopError::TooLong),
        _ => Ok((fields, prompt)),
    }
}

impl PluginFrontMatter<'_> {
    fn value(&self, name: &str) -> Option<&str> {
        let mut fields = self.0.lines().filter_map(|it| it.split_once(':'));
        fields.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
    }

    fn number(&self, name: &'static str) -> Result<u32, PluginLoopError> {
        let value = self.value(name).and_then(|it| it.parse::<u32>().ok());
        value.ok_or(PluginLoopError::NoNumber(name))
    }

    /// One line that can be shown; without quotes, and not `null`.
    fn display_value(&self, name: &str) -> Option<String> {
        let value = self.value(name)?;
        let value = value.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(value);
        let shown = sanitize::line_within(value, WORD_CHARS);
        (!shown.trim().is_empty() && value != "null").then_some(shown)
    }
}

#[cfg(test)]
mod tests;
