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
use super::{Action, Code, Cure, Diagnostic, QUICKFIX, Severity, TextEdit, said};
use crate::sanitize;
use crate::settings::{Layer, LayerKind, Origin, SettingCode, SettingFinding, resolve};
use crate::task::Place;

/// What one text says, for as long as it stays the same.
#[derive(Debug)]
pub struct Checked {
    /// What is wrong with it. Everything in it keeps loops from starting, so all of it is an error.
    pub diagnostics: Vec<Diagnostic>,
    pub template: Option<Template>,
}

/// The file with the prompt's template that the text names.
#[derive(Debug)]
pub struct Template {
    pub path: String,
    place: Place,
}

impl Template {
    /// For a file that cannot be used.
    pub fn diagnostic(&self, fact: &str, hint: &str) -> Diagnostic {
        Diagnostic::new(&self.place, Severity::Error, Code::BadValue, said::fact(fact, hint))
    }
}

/// Reads the text of `file`.
pub fn check(file: &str, text: &str) -> Checked {
    let resolved = resolve(&[layer(file, text)], &[]);
    let blocking = resolved.findings().iter().filter(|it| it.blocks());
    let diagnostics = limit(blocking.filter_map(|it| Some(diagnostic(it, place(it)?))).collect());
    let template = resolved.template().and_then(|(path, origin)| match origin {
        Origin::File { place, .. } => Some(Template { path: path.to_owned(), place: place.clone() }),
        Origin::Default | Origin::Option(_) => None,
    });
    Checked { diagnostics, template }
}

/// Cures of what is wrong at `range`.
pub fn cures(file: &str, text: &str, range: &Range<usize>) -> Vec<Action> {
    let here = |it: &SettingFinding| {
        let place = place(it).filter(|it| overlap(&it.range, range))?;
        let text = it.fix.clone()?;
        Some(Action {
            kind: QUICKFIX,
            title: format!("Write {}", sanitize::line_within(&text, said::NAME_CHARS)),
            cure: Cure::Edits(vec![TextEdit { place: place.clone(), text }]),
            fixes: Some((place.clone(), diagnostic(it, place).code)),
            preferred: true,
        })
    };
    findings(file, text).iter().filter_map(here).collect()
}

fn findings(file: &str, text: &str) -> Vec<SettingFinding> {
    let resolved = resolve(&[layer(file, text)], &[]);
    resolved.findings().iter().filter(|it| it.blocks()).cloned().collect()
}

fn layer(file: &str, text: &str) -> Layer {
    Layer { kind: LayerKind::Workspace, file: file.to_owned(), text: text.to_owned() }
}

fn place(finding: &SettingFinding) -> Option<&Place> {
    match &finding.origin {
        Origin::File { place, .. } => Some(place),
        Origin::Default | Origin::Option(_) => None,
    }
}

fn diagnostic(finding: &SettingFinding, place: &Place) -> Diagnostic {
    let code = match finding.code {
        SettingCode::Syntax => Code::Syntax,
        SettingCode::UnknownKey => Code::UnknownKey,
        SettingCode::BadValue | SettingCode::Ignored => Code::BadValue,
        SettingCode::NotYetSupported => Code::NotYetSupported,
    };
    Diagnostic::new(place, Severity::Error, code, said::fact(&finding.message, &finding.hint))
}
