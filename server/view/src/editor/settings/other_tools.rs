//! Editor support for configurations of other tools: which of their keys are used here, and as which setting.

use std::ops::Range;

use loopkeeper_core::settings::lookup::{KeyLookup, look_up};
use loopkeeper_core::settings::{Layer, LayerKind, SettingCode, SettingOrigin, resolve};
use loopkeeper_text::DocumentRange;
use loopkeeper_text::lines::line_around;

use super::{diagnostic, explain, message_of, place, quick_fix};
use crate::editor::diagnostics::limit;
use crate::editor::{
    Diagnostic, DiagnosticCode, EditorAction, Hover, HoverBlock, QuickFix, Severity, TextEdit,
};

/// Errors, and one diagnostic that names the keys without a counterpart. `file`: the name in its root.
pub fn check_other_tool(kind: LayerKind, file: &str, text: &str) -> Vec<Diagnostic> {
    let resolved = resolve(&[layer(kind, file, text)], &[]);
    let findings = resolved.findings().iter().filter_map(|it| {
        let place = place(it)?;
        Some(match it.code {
            SettingCode::Ignored => {
                Diagnostic::new(place, Severity::Information, DiagnosticCode::UnsupportedKeys, message_of(it))
            }
            _ => diagnostic(it, place),
        })
    });
    limit(findings.collect())
}

/// Fixes for misspelt keys at `range`.
pub fn fix_other_tool(
    kind: LayerKind,
    (file, text): (&str, &str),
    range: &Range<usize>,
) -> Vec<EditorAction> {
    let resolved = resolve(&[layer(kind, file, text)], &[]);
    let fixes = resolved.findings().iter().filter_map(|it| {
        let fix = quick_fix(it, DiagnosticCode::UnsupportedKeys, range)?;
        let place = place(it)?;
        // Relative to the document: its name in the root is no part of it.
        let place = DocumentRange { file: String::new(), range: place.range.clone() };
        let QuickFix::Edits(edits) = fix.fix else { return None };
        let edits = edits.into_iter().map(|it| TextEdit { place: place.clone(), ..it }).collect();
        Some(EditorAction {
            fix: QuickFix::Edits(edits),
            fixes: Some((place, DiagnosticCode::UnsupportedKeys)),
            ..fix
        })
    });
    fixes.collect()
}

/// The setting that the line around `offset` writes.
pub fn explain_other_tool(kind: LayerKind, (file, text): (&str, &str), offset: usize) -> Option<Hover> {
    let line = line_around(text, offset);
    let resolved = resolve(&[layer(kind, file, text)], &[]);
    resolved.effective().into_iter().find_map(|setting| {
        let SettingOrigin::File { place, .. } = setting.origin else { return None };
        if !(line.start..=line.end).contains(&place.range.start) {
            return None;
        }
        let names: Vec<&str> = setting.key.split('.').collect();
        let KeyLookup::Key(key) = look_up(&names) else { return None };
        let mut blocks = explain::blocks(key, &setting.key);
        blocks.truncate(2);
        blocks.push(HoverBlock::Code(format!("{} = {}", setting.key, setting.value)));
        Some(Hover { place, blocks })
    })
}

fn layer(kind: LayerKind, file: &str, text: &str) -> Layer {
    Layer { kind, file: file.to_owned(), text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use loopkeeper_core::settings::LayerKind;

    use super::{check_other_tool, explain_other_tool};
    use crate::editor::HoverBlock;

    #[test]
    fn keys_without_a_counterpart_are_named_and_others_explained() {
        let text = "PROJECT_NAME=x\nMAX_CALLS_PER_HOUR=40\nENABLE_BACKUP=true\nCB_COOLDOWN_MINUTES=many\n";
        let all = check_other_tool(LayerKind::Ralphrc, ".ralphrc", text);
        let messages: Vec<String> =
            all.iter().map(|it| format!("{} {}", it.code.word(), it.message)).collect();
        let aside = "left-aside not used by loopkeeper: PROJECT_NAME, ENABLE_BACKUP";
        assert!(messages.iter().any(|it| it.starts_with(aside)), "{messages:?}");
        assert!(messages.iter().any(|it| it.starts_with("bad-value `CB_COOLDOWN_MINUTES`")), "{messages:?}");
        assert!(all.iter().all(|it| text.get(it.place.range.clone()).is_some()));
        let hover = explain_other_tool(LayerKind::Ralphrc, (".ralphrc", text), 20).expect("a setting");
        assert_eq!(hover.blocks.last(), Some(&HoverBlock::Code("limits.calls_per_hour = 40".to_owned())));
        assert_eq!(&text[hover.place.range], "MAX_CALLS_PER_HOUR=40");
        assert!(explain_other_tool(LayerKind::Ralphrc, (".ralphrc", text), 3).is_none());
    }
}
