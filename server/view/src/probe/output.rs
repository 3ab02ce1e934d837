//! Detects the output format from the output alone.

use serde::Serialize;
use serde_json::Value;

use loopkeeper_agent::kind::Dialect;
use loopkeeper_text::tr;

/// The format of a run's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputFormat {
    Claude,
    Codex,
    Gemini,
    Opencode,
    /// Output of our ACP bridge.
    Acp,
    /// JSON objects, one per line, in an unknown dialect.
    UnknownJson,
    /// Resembles JSON but cannot be parsed.
    BrokenJson,
    Text,
    Nothing,
}

impl OutputFormat {
    pub fn words(self) -> &'static str {
        match self {
            Self::Claude => tr!("JSON lines as Claude Code prints them"),
            Self::Codex => tr!("JSON lines as Codex prints them"),
            Self::Gemini => tr!("JSON lines as Gemini CLI prints them"),
            Self::Opencode => tr!("JSON lines as OpenCode prints them"),
            Self::Acp => tr!("the Agent Client Protocol"),
            Self::UnknownJson => tr!("JSON lines of an unknown kind: they are read as text"),
            Self::BrokenJson => tr!("looks like JSON and cannot be read as such: it is read as text"),
            Self::Text => tr!("text"),
            Self::Nothing => tr!("nothing"),
        }
    }

    /// The dialect used to parse this format.
    pub fn dialect(self) -> Dialect {
        match self {
            Self::Claude => Dialect::Claude,
            Self::Codex => Dialect::Codex,
            Self::Gemini => Dialect::Gemini,
            Self::Opencode => Dialect::Opencode,
            Self::Acp => Dialect::Acp,
            Self::UnknownJson | Self::BrokenJson | Self::Text | Self::Nothing => Dialect::Text,
        }
    }
}

/// Detects the format of a run's complete output. Both the first and the last event of a dialect must be present, so
/// that a few JSON lines in other output do not match.
pub fn format_of(stdout: &str) -> OutputFormat {
    let lines: Vec<&str> = stdout.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    let objects: Vec<Value> =
        lines.iter().filter_map(|it| serde_json::from_str(it).ok()).filter(Value::is_object).collect();
    let looks = lines.iter().filter(|it| it.starts_with('{')).count();
    if lines.is_empty() {
        return OutputFormat::Nothing;
    }
    if let Some(format) = detect_dialect(&objects) {
        return format;
    }
    match (objects.len(), looks) {
        (0, 0) => OutputFormat::Text,
        (read, looks) if read < looks => OutputFormat::BrokenJson,
        (read, _) if 2 * read > lines.len() => OutputFormat::UnknownJson,
        _ => OutputFormat::Text,
    }
}

fn detect_dialect(objects: &[Value]) -> Option<OutputFormat> {
    let kind = |it: &Value| it.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let any = |wanted: &str, fields: &[&str]| {
        objects.iter().any(|it| kind(it) == wanted && fields.iter().all(|field| it.pointer(field).is_some()))
    };
    let formats = [
        (OutputFormat::Claude, any("system", &["/session_id", "/model"]) && any("result", &["/is_error"])),
        (
            OutputFormat::Codex,
            any("thread.started", &["/thread_id"])
                && (any("turn.completed", &[]) || any("turn.failed", &["/error"])),
        ),
        (OutputFormat::Gemini, any("init", &["/session_id"]) && any("result", &["/status"])),
        (
            OutputFormat::Opencode,
            any("step_start", &["/sessionID"]) && any("step_finish", &["/part/reason"])
                || any("error", &["/sessionID"]),
        ),
        (
            OutputFormat::Acp,
            any("session", &["/id"]) && any("turn", &["/stopReason"]) || any("failed", &["/authMethods"]),
        ),
    ];
    formats.into_iter().find(|(_, is_it)| *is_it).map(|(format, _)| format)
}
