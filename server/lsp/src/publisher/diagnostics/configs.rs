//! Diagnostics of the configuration files. A file is parsed again only when its text changed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use loopkeeper_text::message::HintedError as _;
use loopkeeper_view::editor::settings::{self, SettingsAnalysis};

use super::{DiagnosticsByUri, DiagnosticsContext};
use crate::documents::positions::LinePositions;
use loopkeeper_system::template_file;
use loopkeeper_workspace::WorkspaceSnapshot;
use loopkeeper_workspace::config_kind;
use loopkeeper_workspace::snapshot::ConfigSnapshot;

#[derive(Default)]
pub(super) struct ConfigDiagnostics {
    read: BTreeMap<PathBuf, ReadConfig>,
}

struct ReadConfig {
    text: Arc<str>,
    lines: LinePositions,
    checked: SettingsAnalysis,
}

impl ConfigDiagnostics {
    pub(super) fn add_to(
        &mut self,
        made: &mut DiagnosticsByUri,
        snapshot: &WorkspaceSnapshot,
        context: &DiagnosticsContext,
    ) {
        let mut before = std::mem::take(&mut self.read);
        for config in &snapshot.configs {
            let known = before.remove(&config.path).filter(|it| Arc::ptr_eq(&it.text, &config.text));
            let read = known.unwrap_or_else(|| ReadConfig::of(config));
            read.add_to(made, config, context);
            self.read.insert(config.path.clone(), read);
        }
    }
}

impl ReadConfig {
    fn of(config: &ConfigSnapshot) -> Self {
        let text = &config.text;
        let checked = match config.other_tool {
            Some((kind, file)) => {
                let diagnostics = settings::check_other_tool(kind, file, text);
                SettingsAnalysis { diagnostics, template: None }
            }
            None => settings::check(config_kind(&config.path), text),
        };
        Self { text: Arc::clone(text), lines: LinePositions::of(text), checked }
    }

    fn add_to(&self, made: &mut DiagnosticsByUri, config: &ConfigSnapshot, context: &DiagnosticsContext) {
        let Some(uri) = context.uri(&config.path) else { return };
        made.mark_if_outdated(&uri, context, &config.path, &config.text);
        // The template may have changed although the text that names it did not.
        let template = self.checked.template.as_ref().and_then(|it| {
            let error = template_file::read(config.path.parent()?, &it.path).err()?;
            Some(it.diagnostic(&error.to_string(), &error.hint().unwrap_or_default()))
        });
        for remark in self.checked.diagnostics.iter().cloned().chain(template) {
            let range = self.lines.range(&config.text, &remark.place.range, context.encoding);
            made.add_diagnostic(Some(uri.clone()), context.diagnostic(range, remark, Vec::new()));
        }
    }
}
