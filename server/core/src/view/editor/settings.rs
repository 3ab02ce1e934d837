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
use super::standing::overlap;
use super::{Action, Code, Cure, Diagnostic, QUICKFIX, Severity, TextEdit, said};
use crate::sanitize;
use crate::settings::{Layer, LayerKind, Origin, SettingCode, SettingFinding, resolve};
use crate::task::Place;

/// What is wrong with the text of `file`. Everything in it keeps loops from starting, so all of it is an error.
pub fn diagnostics(file: &str, text: &str) -> Vec<Diagnostic> {
    findings(file, text).iter().filter_map(|it| Some(diagnostic(it, place(it)?))).collect()
}

/// What `look` has against the template that the text names: a fact and its remedy.
pub fn template(
    file: &str,
    text: &str,
    look: impl FnOnce(&str) -> Option<(String, String)>,
) -> Option<Diagnostic> {
    let resolved = resolve(&[layer(file, text)], &[]);
    let (path, origin) = resolved.template()?;
    let Origin::File { place, .. } = origin else { return None };
    let (fact, hint) = look(path)?;
    Some(Diagnostic::new(place, Severity::Error, Code::BadValue, said::fact(&fact, &hint)))
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
