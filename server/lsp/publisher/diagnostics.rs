//! `textDocument/publishDiagnostics`: for every document that has something to say, open or not; only what changed;
//! an empty list once where there is nothing more.

mod sources;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_core::view::editor::{self, Known, Related, Severity, Target};
use loopkeeper_core::view::file_uri;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location, NumberOrString,
    Position, PublishDiagnosticsClientCapabilities, Range, Url,
};

use crate::lookout::Picture;
use crate::lookout::picture::TaskSeen;
use crate::lsp::documents::Document;
use crate::lsp::documents::positions::{Encoding, Lines};
use crate::lsp::known;
use crate::lsp::shared::{Shared, real};

#[derive(Default)]
pub(super) struct Diagnostics {
    sent: BTreeMap<Url, Vec<Diagnostic>>,
}

/// Everything that turning remarks into messages needs.
struct Desk {
    open: BTreeMap<PathBuf, Arc<Document>>,
    encoding: Encoding,
    can: PublishDiagnosticsClientCapabilities,
}

impl Diagnostics {
    pub(super) async fn publish(&mut self, shared: &Arc<Shared>, picture: &Arc<Picture>) {
        let desk = Desk::of(shared);
        let looked = Arc::clone(picture);
        // Reads the lines that failures are at.
        let made = tokio::task::spawn_blocking(move || {
            let all = all(&looked, &desk);
            (all, desk)
        });
        let Ok((mut now, desk)) = made.await else { return };
        for gone in self.sent.keys().filter(|it| !now.contains_key(*it)).cloned().collect::<Vec<_>>() {
            now.insert(gone, Vec::new());
        }
        for (uri, diagnostics) in now {
            let before = self.sent.get(&uri);
            if before == Some(&diagnostics) || before.is_none() && diagnostics.is_empty() {
                continue;
            }
            let version = desk.version(&uri);
            shared.client.publish_diagnostics(uri.clone(), diagnostics.clone(), version).await;
            if diagnostics.is_empty() {
                self.sent.remove(&uri);
            } else {
                self.sent.insert(uri, diagnostics);
            }
        }
    }
}

fn all(picture: &Picture, desk: &Desk) -> BTreeMap<Url, Vec<Diagnostic>> {
    let mut all: BTreeMap<Url, Vec<Diagnostic>> = BTreeMap::new();
    let mut add = |uri: Option<Url>, diagnostic: Diagnostic| {
        let Some(uri) = uri else { return };
        let list = all.entry(uri).or_default();
        if !list.contains(&diagnostic) {
            list.push(diagnostic);
        }
    };
    for task in &picture.tasks {
        known::with(picture, task, |known| {
            for remark in editor::diagnostics(known) {
                let path = task.root.join(&remark.place.file);
                add(desk.uri(&path), desk.diagnostic(task, known, remark));
            }
            for failure in editor::source_failures(known) {
                if let Some((path, diagnostic)) = sources::diagnostic(task, desk, &failure) {
                    add(desk.uri(&path), diagnostic);
                }
            }
        });
    }
    all
}

impl Desk {
    fn of(shared: &Shared) -> Self {
        let session = shared.session();
        let path = |it: &Arc<Document>| Some(real(&it.uri.to_file_path().ok()?));
        let open = shared.documents.all().into_iter().filter_map(|it| Some((path(&it)?, it))).collect();
        let text = session.client.text_document.as_ref();
        let can = text.and_then(|it| it.publish_diagnostics.clone()).unwrap_or_default();
        Self { open, encoding: session.encoding, can }
    }

    /// As the client spells it, where it has it open.
    fn uri(&self, path: &Path) -> Option<Url> {
        match self.open.get(path) {
            Some(document) => Some(document.uri.clone()),
            None => Url::parse(&file_uri(&path.to_string_lossy())).ok(),
        }
    }

    fn version(&self, uri: &Url) -> Option<i32> {
        self.open.values().find(|it| it.uri == *uri).map(|it| it.version)
    }

    fn diagnostic(&self, task: &TaskSeen, known: &Known<'_>, remark: editor::Diagnostic) -> Diagnostic {
        let text = known.documents.iter().find(|it| it.path == remark.place.file).map_or("", |it| &it.text);
        let related = remark.related.iter().filter_map(|it| related(task, self, it)).collect::<Vec<_>>();
        let tags = remark.stale && self.can.tag_support.is_some();
        Diagnostic {
            range: Lines::of(text).range(text, &remark.place.range, self.encoding),
            severity: Some(severity(remark.severity)),
            code: Some(NumberOrString::String(remark.code.word().to_owned())),
            source: Some(editor::Diagnostic::SOURCE.to_owned()),
            message: remark.message,
            related_information: Some(related)
                .filter(|it| !it.is_empty() && self.can.related_information == Some(true)),
            tags: tags.then(|| vec![DiagnosticTag::UNNECESSARY]),
            ..Diagnostic::default()
        }
    }
}

fn related(task: &TaskSeen, desk: &Desk, related: &Related) -> Option<DiagnosticRelatedInformation> {
    let location = match &related.target {
        Target::Output { uri } => Location { uri: Url::parse(uri).ok()?, range: Range::default() },
        Target::Source { file, line, column } => {
            let path = sources::path(task, file)?;
            let at = Position::new(line.saturating_sub(1), column.map_or(0, |it| it.saturating_sub(1)));
            Location { uri: desk.uri(&path)?, range: Range::new(at, at) }
        }
    };
    Some(DiagnosticRelatedInformation { location, message: related.message.clone() })
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Information => DiagnosticSeverity::INFORMATION,
        Severity::Hint => DiagnosticSeverity::HINT,
    }
}
