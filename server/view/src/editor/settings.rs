//! `loopkeeper.toml` in an editor: remarks, cures, completion and hovers, all from the one table of keys. Texts
//! may be half written: what is under the cursor is found line by line (`cursor.rs`), not by parsing the whole.

mod complete;
mod cursor;
mod explain;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use self::complete::complete;
pub use self::explain::explain;
use super::diagnostics::limit;
use super::standing::overlap;
use super::{Diagnostic, DiagnosticCode, EditorAction, QUICKFIX, QuickFix, Severity, TextEdit, message};
use loopkeeper_core::settings::{Layer, LayerKind, SettingCode, SettingFinding, SettingOrigin, resolve};
use loopkeeper_text::DocumentRange;
use loopkeeper_text::sanitize;

/// What one text says, for as long as it stays the same.
#[derive(Debug)]
pub struct SettingsAnalysis {
    /// What is wrong with it. Everything in it keeps loops from starting, so all of it is an error.
    pub diagnostics: Vec<Diagnostic>,
    pub template: Option<TemplateReference>,
}

/// The file with the prompt's template that the text names.
#[derive(Debug)]
pub struct TemplateReference {
    pub path: String,
    place: DocumentRange,
}

impl TemplateReference {
    /// For a file that cannot be used.
    pub fn diagnostic(&self, fact: &str, hint: &str) -> Diagnostic {
        Diagnostic::new(&self.place, Severity::Error, DiagnosticCode::BadValue, message::fact(fact, hint))
    }
}

/// Reads the text of `file`.
pub fn check(file: &str, text: &str) -> SettingsAnalysis {
    let resolved = resolve(&[layer(file, text)], &[]);
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

/// Cures of what is wrong at `range`.
pub fn cures(file: &str, text: &str, range: &Range<usize>) -> Vec<EditorAction> {
    let here = |it: &SettingFinding| {
        let place = place(it).filter(|it| overlap(&it.range, range))?;
        let text = it.fix.clone()?;
        Some(EditorAction {
            kind: QUICKFIX,
            title: format!("Write {}", sanitize::line_within(&text, message::NAME_CHARS)),
            cure: QuickFix::Edits(vec![TextEdit { place: place.clone(), text }]),
            fixes: Some((place.clone(), diagnostic(it, place).code)),
            preferred: true,
        })
    };
    findings(file, text).iter().filter_map(here).collect()
}

fn findings(file: &str, text: &str) -> Vec<SettingFinding> {
    let resolved = resolve(&[layer(file, text)], &[]);
    resolved.findings().iter().filter(|it| it.is_blocking()).cloned().collect()
}

fn layer(file: &str, text: &str) -> Layer {
    Layer { kind: LayerKind::Workspace, file: file.to_owned(), text: text.to_owned() }
}

/// The text of its diagnostic, wherever the setting is written.
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
        SettingCode::BadValue | SettingCode::Ignored => DiagnosticCode::BadValue,
        SettingCode::NotYetSupported => DiagnosticCode::NotYetSupported,
    };
    Diagnostic::new(place, Severity::Error, code, message_of(finding))
}
