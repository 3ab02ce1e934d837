//! Reads the `.ralphrc` of other tools. There it is shell code; here it is read as plain `KEY=value` lines, and nothing
//! in it is ever run. Lines that cannot be parsed or have no counterpart are reported; only a relevant key can block.

use std::ops::Range;

use super::accept::accept_value;
use super::assignment::{Assignment, ParsedLayer};
use super::finding::{SettingCode, SettingFinding, SettingOrigin};
use super::layer::{Layer, LayerKind};
use super::lookup::{KeyLookup, look_up};
use super::value::RawValue;
use loopkeeper_agent::kind::{AgentKind, KNOWN_KINDS};
use loopkeeper_text::clauses;
use loopkeeper_text::closest::{closest, is_within};
use loopkeeper_text::lines::LineIndex;
use loopkeeper_text::shell_default::{leading_default, only_default};
use loopkeeper_text::{tr, words};

/// Keys with a supported counterpart, and the format of their values.
pub(super) const MAPPED: &[(&str, &str, RalphrcForm)] = &[
    ("CLAUDE_TIMEOUT_MINUTES", "limits.iteration_time", RalphrcForm::Minutes),
    ("MAX_CALLS_PER_HOUR", "limits.calls_per_hour", RalphrcForm::Plain),
    ("SESSION_CONTINUITY", "session.continue", RalphrcForm::Plain),
    ("SESSION_EXPIRY_HOURS", "session.expires", RalphrcForm::Hours),
    ("CB_NO_PROGRESS_THRESHOLD", "breaker.no_progress", RalphrcForm::Plain),
    ("CB_SAME_ERROR_THRESHOLD", "breaker.same_error", RalphrcForm::Plain),
    ("CB_OUTPUT_DECLINE_THRESHOLD", "breaker.output_decline", RalphrcForm::Plain),
    ("CB_PERMISSION_DENIAL_THRESHOLD", "breaker.permission_denials", RalphrcForm::Plain),
    ("CB_COOLDOWN_MINUTES", "breaker.cooldown", RalphrcForm::Minutes),
    ("CLAUDE_CODE_CMD", "agents.claude.command", RalphrcForm::Program),
    ("CLAUDE_MODEL", "agents.claude.model", RalphrcForm::Plain),
    ("CLAUDE_EFFORT", "agents.claude.effort", RalphrcForm::Plain),
    ("ALLOWED_TOOLS", "agents.claude.args", RalphrcForm::Tools),
    ("PLATFORM_DRIVER", "agent", RalphrcForm::Driver),
];

/// Keys that belong to the task in the same folder: commands that are its criteria, sections of its plan.
pub(super) const TASK_KEYS: &[&str] =
    &["TEST_COMMAND", "QUALITY_GATES", "QUALITY_GATE_MODE", "QUALITY_GATE_TIMEOUT", "OPTIONAL_SECTIONS"];

/// The name of a layer whose lines come from environment variables.
const ENVIRONMENT: &str = "environment";

/// Keys without a supported counterpart. They do not block: the file belongs to another tool, which needs them.
const UNSUPPORTED_KEYS: &[&str] = &["MAX_TOKENS_PER_HOUR"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RalphrcForm {
    Plain,
    /// One element of a list.
    List,
    Seconds,
    Minutes,
    Hours,
    /// Rules of Claude Code with commas between them.
    Tools,
    /// Words of a command line; `claude` alone is the default of the built-in agent.
    Program,
    /// An agent by its name in the other tool.
    Driver,
}

/// The name in loopkeeper of an agent of another tool.
pub(super) fn agent_of_driver(name: &str) -> Option<&'static str> {
    let name = if name == "claude-code" { "claude" } else { name };
    KNOWN_KINDS.map(AgentKind::name).into_iter().find(|it| *it == name)
}

/// The layer of the relevant keys among these variables; `None` if there is none.
pub fn environment_layer(variables: impl Iterator<Item = (String, String)>) -> Option<Layer> {
    let is_read = |name: &str| name.starts_with("CB_") && MAPPED.iter().any(|it| it.0 == name);
    let mut lines: Vec<String> = variables
        .filter(|(name, value)| is_read(name) && !value.contains(['\'', '\n']))
        .map(|(name, value)| format!("{name}='{value}'\n"))
        .collect();
    lines.sort();
    let text = lines.concat();
    (!text.is_empty()).then(|| Layer { kind: LayerKind::Ralphrc, file: ENVIRONMENT.to_owned(), text })
}

pub(super) fn parse_ralphrc(layer: &Layer) -> ParsedLayer {
    let (file, text) = (layer.file.as_str(), layer.text.as_str());
    let mut out = ParsedLayer::default();
    let mut ignored = IgnoredLines::default();
    let index = LineIndex::of(text);
    for line in parse_lines(text) {
        let RalphrcLine { range, name, value } = line;
        let origin = || match file {
            ENVIRONMENT => SettingOrigin::Option(name.to_owned()),
            _ => SettingOrigin::in_text(file, (text, &index), range.clone()),
        };
        let mapped = MAPPED.iter().find(|(known, ..)| *known == name);
        match (mapped, value) {
            (_, _) if name.is_empty() => ignored.shell_code.push(range),
            (Some((_, _, RalphrcForm::Driver)), Some(value)) if agent_of_driver(&value).is_none() => {
                let misspelt = misspelt_driver((name, &value), (file, text, &index), range.clone());
                match misspelt.filter(|_| file != ENVIRONMENT) {
                    Some(finding) => out.findings.push(finding),
                    None if value.is_empty() => {}
                    None => ignored.unknown.push((name.to_owned(), range)),
                }
            }
            (Some(mapped), Some(value)) => match assignment(*mapped, &value, (layer.kind, origin())) {
                Ok(assignment) => out.assignments.extend(assignment),
                Err(finding) => out.findings.push(*finding),
            },
            (Some((name, path, _)), None) => out.findings.push(SettingFinding {
                code: SettingCode::BadValue,
                origin: origin(),
                message: tr!("`{name}` is given by shell code, which is never run", name),
                hint: tr!("write a plain value here, or `{path}` in loopkeeper.toml", path),
                fix: None,
            }),
            (None, _) if TASK_KEYS.contains(&name) => {}
            (None, _) if UNSUPPORTED_KEYS.contains(&name) => {
                ignored.unsupported.push((name.to_owned(), range));
            }
            (None, _) => match MAPPED.iter().map(|it| it.0).find(|it| is_within(2, name, it)) {
                Some(near) => out.findings.push(misspelling_finding(name, near, (file, text, &index), range)),
                None => ignored.unknown.push((name.to_owned(), range)),
            },
        }
    }
    out.findings.extend(ignored.findings(file, (text, &index)));
    out
}

/// A key that is probably meant to be another one. Information only: the file belongs to another tool.
pub(super) fn misspelling_finding(
    name: &str,
    near: &str,
    (file, text, index): (&str, &str, &LineIndex),
    line: Range<usize>,
) -> SettingFinding {
    let last = name.rsplit('.').next().unwrap_or(name);
    let written = text.get(line.clone()).unwrap_or_default();
    let start = line.start + written.find(last).unwrap_or_default();
    SettingFinding {
        code: SettingCode::Ignored,
        origin: SettingOrigin::in_text(file, (text, index), start..start + last.len()),
        message: tr!("`{name}` is not used by loopkeeper. Did you mean `{near}`?", name, near),
        hint: tr!("write `{name}`", name = near),
        fix: Some(near.rsplit('.').next().unwrap_or(near).to_owned()),
    }
}

/// An agent that is probably meant to be one with a similar name. Information only, like a misspelt key. `range`
/// contains the value.
pub(super) fn misspelt_driver(
    (name, value): (&str, &str),
    (file, text, index): (&str, &str, &LineIndex),
    range: Range<usize>,
) -> Option<SettingFinding> {
    /// Agents that other tools start and loopkeeper does not know.
    const UNSUPPORTED_AGENTS: [&str; 10] =
        ["kiro", "pi", "roo", "aider", "droid", "goose", "custom", "cline", "crush", "claude-code"];
    let near = closest(value, KNOWN_KINDS.map(AgentKind::name).into_iter().chain(UNSUPPORTED_AGENTS))?;
    if !value.is_ascii() || near.eq_ignore_ascii_case(value) || agent_of_driver(near).is_none() {
        return None;
    }
    let start = range.start + text.get(range)?.rfind(value)?;
    Some(SettingFinding {
        code: SettingCode::Ignored,
        origin: SettingOrigin::in_text(file, (text, index), start..start + value.len()),
        message: tr!("`{name}`: there is no agent `{value}`. Did you mean `{near}`?", name, value, near),
        hint: tr!("write `{name}`", name = near),
        fix: Some(near.to_owned()),
    })
}

/// The setting that corresponds to a key of another tool.
pub(super) fn assignment(
    (name, path, form): (&str, &str, RalphrcForm),
    value: &str,
    (layer, origin): (LayerKind, SettingOrigin),
) -> Result<Option<Assignment>, Box<SettingFinding>> {
    let parts: Vec<&str> = path.split('.').collect();
    let KeyLookup::Key(key) = look_up(&parts) else { return Ok(None) };
    let agent = key.path.contains('*').then_some("claude");
    let raw = match form {
        RalphrcForm::Program if value == "claude" => return Ok(None),
        RalphrcForm::Plain | RalphrcForm::Tools if value.is_empty() => return Ok(None),
        RalphrcForm::Tools => {
            let rules = value.split([',', '\n']).map(str::trim).filter(|it| !it.is_empty());
            let words = std::iter::once("--allowedTools").chain(rules);
            RawValue::List(words.map(|it| RawValue::Text(it.to_owned())).collect())
        }
        RalphrcForm::List => RawValue::List(vec![RawValue::Text(value.to_owned())]),
        RalphrcForm::Driver => RawValue::Text(agent_of_driver(value).unwrap_or(value).to_owned()),
        RalphrcForm::Seconds => RawValue::Text(format!("{value}s")),
        RalphrcForm::Minutes => RawValue::Text(format!("{value}m")),
        RalphrcForm::Hours => RawValue::Text(format!("{value}h")),
        RalphrcForm::Plain | RalphrcForm::Program => key.takes.raw_from_text(value),
    };
    match accept_value(key, agent, &raw) {
        Ok(value) => {
            let (agent, layer) = (agent.map(str::to_owned), Some(layer));
            Ok(Some(Assignment { key, agent, value, raw, layer, origin }))
        }
        Err(problem) => {
            let message = tr!("`{name}`: {reason}", name, reason = problem.message);
            let correct = || tr!("correct the value, or remove the line").to_owned();
            let hint = problem.hint.unwrap_or_else(correct);
            Err(Box::new(SettingFinding { code: problem.code, origin, message, hint, fix: None }))
        }
    }
}

/// Ignored keys, reported once for each reason.
#[derive(Default)]
pub(super) struct IgnoredLines {
    unsupported: Vec<(String, Range<usize>)>,
    pub(super) unknown: Vec<(String, Range<usize>)>,
    shell_code: Vec<Range<usize>>,
}

impl IgnoredLines {
    pub(super) fn findings(
        self,
        file: &str,
        text: (&str, &LineIndex),
    ) -> impl Iterator<Item = SettingFinding> {
        let note = |range: &Range<usize>, message: String, hint: &str| SettingFinding {
            code: SettingCode::Ignored,
            origin: SettingOrigin::in_text(file, text, range.clone()),
            message,
            hint: hint.to_owned(),
            fix: None,
        };
        let unsupported = self.unsupported.first().map(|(_, at)| {
            let message = tr!("not yet supported: {names}", names = names(&self.unsupported));
            note(at, message, tr!("the other tool still reads them"))
        });
        let unknown = self.unknown.first().map(|(_, at)| {
            let message = tr!("not used by loopkeeper: {names}", names = names(&self.unknown));
            note(at, message, tr!("write settings of loops into `loopkeeper.toml`"))
        });
        let shell_code = self.shell_code.first().map(|at| {
            let lines = words::counted(self.shell_code.len() as u64, "line");
            let message = tr!("shell code, which is never run: {lines} from here", lines);
            note(at, message, tr!("only plain `KEY=value` lines are read"))
        });
        [unsupported, unknown, shell_code].into_iter().flatten()
    }
}

fn names(keys: &[(String, Range<usize>)]) -> String {
    const MAX: usize = 12;
    let more = (keys.len() > MAX).then_some("…");
    clauses::list(keys.iter().map(|(name, _)| name.as_str()).take(MAX).chain(more))
}

/// One line that is neither blank nor a comment.
#[derive(Debug, PartialEq, Eq)]
struct RalphrcLine<'a> {
    range: Range<usize>,
    /// Empty: not of the form `KEY=…`.
    name: &'a str,
    /// `None`: what follows `=` is shell code.
    value: Option<String>,
}

fn parse_lines(text: &str) -> Vec<RalphrcLine<'_>> {
    let mut lines = Vec::new();
    // After a byte order mark.
    let mut at = text.len() - text.trim_start_matches('\u{feff}').len();
    while let Some(rest) = text.get(at..).filter(|it| !it.is_empty()) {
        let one = rest.split_inclusive('\n').next().unwrap_or(rest);
        let written = one.trim();
        let start = at + (one.len() - one.trim_start().len());
        let assigned = written.strip_prefix("export ").map_or(written, str::trim_start);
        let skipped = written.len() - assigned.len();
        let mut next = at + one.len();
        if !written.is_empty() && !written.starts_with('#') {
            let (name, value) = match name_of(assigned) {
                Some(name) => {
                    let from = start + skipped + name.len() + 1;
                    let (value, end) = value_at(text, from);
                    next = next.max(end);
                    (name, value)
                }
                None => ("", None),
            };
            lines.push(RalphrcLine { range: start..start + written.len(), name, value });
        }
        at = next;
    }
    lines
}

fn name_of(line: &str) -> Option<&str> {
    let (name, _) = line.split_once('=')?;
    let good = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let starts = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    (starts && name.chars().all(good)).then_some(name)
}

/// The value from byte `from` on, and where parsing continues: after the line in which a quoted value ends.
fn value_at(text: &str, from: usize) -> (Option<String>, usize) {
    let rest = text.get(from..).unwrap_or_default();
    let line_end =
        |at: usize| rest.get(at..).and_then(|it| it.find('\n')).map_or(rest.len(), |it| at + it + 1);
    let mut value = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, it)) = chars.next() {
        if let Some((default, length)) = rest.get(at..).and_then(leading_default) {
            value.push_str(default);
            while chars.clone().next().is_some_and(|(next, _)| next < at + length) {
                chars.next();
            }
            continue;
        }
        match it {
            '"' | '\'' => match parse_quoted(rest, at, it) {
                Some((inner, end)) => {
                    let inner = only_default(inner).filter(|_| it == '"').unwrap_or(inner);
                    value.push_str(inner);
                    let plain = it == '\'' || !inner.contains(['$', '`', '\\']);
                    if !plain {
                        return (None, from + line_end(end));
                    }
                    while chars.clone().next().is_some_and(|(next, _)| next < end) {
                        chars.next();
                    }
                }
                // An unclosed quote: the end of the value is unknown.
                None => return (None, from + line_end(at)),
            },
            ' ' | '\t' | '\r' | '\n' => {
                let end = line_end(at);
                let tail = rest.get(at..end).unwrap_or_default().trim();
                let plain = tail.is_empty() || tail.starts_with('#');
                return (plain.then_some(value), from + end);
            }
            '$' | '`' | '\\' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '{' | '}' | '*' | '?' | '['
            | ']' => {
                return (None, from + line_end(at));
            }
            '~' if value.is_empty() => return (None, from + line_end(at)),
            other => value.push(other),
        }
    }
    (Some(value), from + rest.len())
}

/// The text between the quote at `at` and the next one, and the byte after that.
fn parse_quoted(text: &str, at: usize, quote: char) -> Option<(&str, usize)> {
    let inner = text.get(at + 1..)?;
    let length = match quote {
        '\'' => inner.find(quote)?,
        _ => closing_double(inner)?,
    };
    Some((inner.get(..length)?, at + 1 + length + 1))
}

fn closing_double(inner: &str) -> Option<usize> {
    let mut escaped = false;
    for (index, it) in inner.char_indices() {
        match it {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(index),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::environment_layer;
    use crate::settings::{Layer, LayerKind, resolve};

    #[test]
    fn a_misspelt_key_names_the_one_that_is_meant() {
        let text = "PROJECT_NAME=x\nMAX_CALL_PER_HOUR=40\nCB_AUTO_RESET=true\n";
        let file = Layer { kind: LayerKind::Ralphrc, file: ".ralphrc".to_owned(), text: text.to_owned() };
        let resolved = resolve(&[file], &[]);
        let found: Vec<(String, Option<&str>)> =
            resolved.findings().iter().map(|it| (it.to_string(), it.fix.as_deref())).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].0.starts_with(".ralphrc:2: `MAX_CALL_PER_HOUR` is not used by loopkeeper. Did you mean `MAX_CALLS_PER_HOUR`?"), "{found:?}");
        assert_eq!(found[0].1, Some("MAX_CALLS_PER_HOUR"));
        assert!(found[1].0.contains("PROJECT_NAME, CB_AUTO_RESET"), "{found:?}");
    }

    #[test]
    fn defaults_of_variables_are_values() {
        let text = "PLATFORM_DRIVER=\"${PLATFORM_DRIVER:-codex}\" # which\nMAX_CALLS_PER_HOUR=${MAX_CALLS_PER_HOUR:-50}\nCB_NO_PROGRESS_THRESHOLD=${CB_NO_PROGRESS_THRESHOLD:-4} # loops\n";
        let file = |text: &str| Layer {
            kind: LayerKind::Ralphrc,
            file: ".ralphrc".to_owned(),
            text: text.to_owned(),
        };
        let resolved = resolve(&[file(text)], &[]);
        assert_eq!(resolved.findings(), []);
        let settings = resolved.settings().expect("sound");
        assert_eq!((settings.limits.calls_per_hour, settings.breaker.no_progress), (50, 4));
        assert_eq!(settings.agent, "codex");
        let shell = resolve(&[file("MAX_CALLS_PER_HOUR=${A:-$(id)}\n")], &[]);
        assert!(shell.settings().is_err());
        let other = resolve(&[file("PLATFORM_DRIVER=windsurf\n")], &[]);
        assert!(other.findings()[0].message.contains("not used by loopkeeper: PLATFORM_DRIVER"));
    }

    fn written(layers: &[Layer]) -> Vec<String> {
        let rows = resolve(layers, &[]).effective();
        let is_asked = |key: &str| key == "agents.claude.args" || key.starts_with("breaker.no_progress");
        let rows = rows.into_iter().filter(|it| is_asked(&it.key));
        rows.map(|it| format!("{} = {} ({})", it.key, it.value, it.origin)).collect()
    }

    #[test]
    fn tools_are_arguments_of_the_agent_and_variables_win_over_the_file() {
        let text = "ALLOWED_TOOLS=\"Write, Bash(npm *),\"\nCB_NO_PROGRESS_THRESHOLD=5\nOPTIONAL_SECTIONS=\"Later\"\n";
        let file = Layer { kind: LayerKind::Ralphrc, file: ".ralphrc".to_owned(), text: text.to_owned() };
        assert_eq!(resolve(std::slice::from_ref(&file), &[]).findings(), []);
        let variables = [("CB_NO_PROGRESS_THRESHOLD", "8"), ("CB_AUTO_RESET", "true"), ("CLAUDE_MODEL", "m")];
        let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables = environment_layer(variables).expect("one of them is read");
        assert_eq!(
            written(&[file, variables]),
            [
                "breaker.no_progress = 8 (CB_NO_PROGRESS_THRESHOLD)",
                "agents.claude.args = [\"--allowedTools\", \"Write\", \"Bash(npm *)\"] (.ralphrc:1)"
            ]
        );
        assert_eq!(environment_layer([("CB_X".to_owned(), "1".to_owned())].into_iter()), None);
    }
}
