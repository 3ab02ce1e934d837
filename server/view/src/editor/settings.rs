//! Editor support for `loopkeeper.toml`: diagnostics, fixes, completion and hovers, all from one table of keys. The
//! text may be incomplete, so the cursor position is determined line by line (`cursor.rs`), without a full parse.

mod complete;
mod complete_other_tool;
mod cursor;
mod explain;
mod front_matter;
mod other_tools;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use self::complete::complete;
pub use self::complete_other_tool::complete_other_tool;
pub use self::explain::explain;
pub use self::front_matter::{complete_front_matter, explain_front_matter};
pub use self::other_tools::{check_other_tool, explain_other_tool, fix_other_tool};
use super::diagnostics::limit;
use super::task_predicates::overlap;
use super::{Diagnostic, DiagnosticCode, EditorAction, QUICKFIX, QuickFix, Severity, TextEdit, message};
use loopkeeper_core::settings::{Layer, LayerKind, SettingCode, SettingFinding, SettingOrigin, resolve};
use loopkeeper_text::{DocumentRange, sanitize, tr};

/// The analysis of one text, valid until the text changes.
#[derive(Debug)]
pub struct SettingsAnalysis {
    /// Problems in the text. All of them are errors, because each prevents the start of loops.
    pub diagnostics: Vec<Diagnostic>,
    pub template: Option<TemplateReference>,
}

/// The prompt template file named in the text.
#[derive(Debug)]
pub struct TemplateReference {
    pub path: String,
    place: DocumentRange,
}

impl TemplateReference {
    /// The diagnostic of an unusable template file.
    pub fn diagnostic(&self, fact: &str, hint: &str) -> Diagnostic {
        Diagnostic::new(&self.place, Severity::Error, DiagnosticCode::BadValue, message::fact(fact, hint))
    }
}

/// Analyses the text of a configuration file of this kind.
pub fn check(kind: LayerKind, text: &str) -> SettingsAnalysis {
    let resolved = resolve(&[layer(kind, text)], &[]);
    let blocking = resolved.findings().iter().filter(|it| it.is_blocking());
    let diagnostics = limit(blocking.filter_map(|it| Some(diagnostic(it, place(it)?))).collect());
    let template = resolved.template().and_then(|(path, origin)| match origin {
        SettingOrigin::File { place, .. } => {
            Some(TemplateReference { path: path.to_owned(), place: place.clone() })
        }
        SettingOrigin::Default | SettingOrigin::Option(_) => None,
    });
    SettingsAnalysis { diagnostics, template }
}

/// Fixes for problems at `range`.
pub fn quick_fixes(kind: LayerKind, text: &str, range: &Range<usize>) -> Vec<EditorAction> {
    let fix_here = |it: &SettingFinding| quick_fix(it, diagnostic(it, place(it)?).code, range);
    findings(kind, text).iter().filter_map(fix_here).collect()
}

/// The fix of a finding at `range`, which its diagnostic reports with this code.
fn quick_fix(finding: &SettingFinding, code: DiagnosticCode, range: &Range<usize>) -> Option<EditorAction> {
    let place = place(finding).filter(|it| overlap(&it.range, range))?;
    let text = finding.fix.clone()?;
    Some(EditorAction {
        kind: QUICKFIX,
        title: tr!("Write {text}", text = sanitize::line_within(&text, message::NAME_CHARS)),
        fix: QuickFix::Edits(vec![TextEdit { place: place.clone(), text }]),
        fixes: Some((place.clone(), code)),
        preferred: true,
    })
}

fn findings(kind: LayerKind, text: &str) -> Vec<SettingFinding> {
    let resolved = resolve(&[layer(kind, text)], &[]);
    resolved.findings().iter().filter(|it| it.is_blocking()).cloned().collect()
}

fn layer(kind: LayerKind, text: &str) -> Layer {
    Layer { kind, file: String::new(), text: text.to_owned() }
}

/// The message of its diagnostic, independent of the setting's location.
pub fn message_of(finding: &SettingFinding) -> String {
    message::fact(&finding.message, &finding.hint)
}

fn place(finding: &SettingFinding) -> Option<&DocumentRange> {
    match &finding.origin {
        SettingOrigin::File { place, .. } => Some(place),
        SettingOrigin::Default | SettingOrigin::Option(_) => None,
    }
}

fn diagnostic(finding: &SettingFinding, place: &DocumentRange) -> Diagnostic {
    let code = match finding.code {
        SettingCode::Syntax => DiagnosticCode::Syntax,
        SettingCode::UnknownKey => DiagnosticCode::UnknownKey,
        SettingCode::BadValue | SettingCode::Ignored | SettingCode::Bounded => DiagnosticCode::BadValue,
        SettingCode::NotYetSupported => DiagnosticCode::NotYetSupported,
    };
    Diagnostic::new(place, Severity::Error, code, message_of(finding))
}
