//! Sends `textDocument/publishDiagnostics` for every document with diagnostics, open or not. Sends only changes, and
//! one empty list when no diagnostics are left.

mod cache;
mod configs;
mod list;
mod queues;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopkeeper_view::editor::{self, RelatedLocation, RelatedTarget, Severity, SourceHint, TaskView};
use loopkeeper_view::file_uri;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location, NumberOrString,
    Position, PublishDiagnosticsClientCapabilities, Range, Url,
};

use self::cache::DiagnosticsCache;
use self::configs::ConfigDiagnostics;
use self::list::DiagnosticList;
use crate::documents::Document;
use crate::documents::positions::{Encoding, LinePositions};
use crate::foreign;
use crate::session::ServerState;
use crate::view_input;
use loopkeeper_workspace::adaptive_blocking::AdaptiveBlocking;
use loopkeeper_workspace::snapshot::TaskSnapshot;
use loopkeeper_workspace::{WorkspaceIndex, WorkspaceSnapshot};

pub(super) struct DiagnosticPublisher {
    sent: BTreeMap<Url, Arc<DiagnosticList>>,
    cache: DiagnosticsCache,
    configs: ConfigDiagnostics,
    blocking: AdaptiveBlocking,
}

/// Everything needed to convert findings to diagnostics.
struct DiagnosticsContext {
    open: BTreeMap<PathBuf, Arc<Document>>,
    encoding: Encoding,
    client: PublishDiagnosticsClientCapabilities,
}

/// The diagnostics by document.
#[derive(Default)]
struct DiagnosticsByUri {
    lists: BTreeMap<Url, Arc<DiagnosticList>>,
    /// Documents whose text in the editor is newer than the snapshot; their diagnostics are kept until the next
    /// refresh.
    outdated: BTreeSet<Url>,
    /// The files that the diagnostics depend on, with or without diagnostics of their own.
    dependencies: BTreeSet<PathBuf>,
}

impl DiagnosticPublisher {
    pub(super) fn new(index: &WorkspaceIndex) -> Self {
        let (cache, configs) = (DiagnosticsCache::default(), ConfigDiagnostics::default());
        let blocking = AdaptiveBlocking::new(index.worker().clone());
        Self { sent: BTreeMap::new(), cache, configs, blocking }
    }

    pub(super) async fn publish(&mut self, shared: &Arc<ServerState>, snapshot: &Arc<WorkspaceSnapshot>) {
        let context = DiagnosticsContext::of(shared);
        let current = Arc::clone(snapshot);
        // Blocking: reads the source lines of failures.
        let mut cache = std::mem::take(&mut self.cache);
        let mut configs = std::mem::take(&mut self.configs);
        let size = input_size(&current, &context);
        let made = self.blocking.run(size, move || {
            let mut made = cache.collect_diagnostics(&current, &context);
            configs.add_to(&mut made, &current, &context);
            queues::add_queues(&mut made, &context);
            for found in &current.foreign {
                made.add_diagnostic(context.uri(&found.path), foreign::diagnostic());
            }
            (made, cache, configs, context)
        });
        let Some((DiagnosticsByUri { lists: mut now, outdated, .. }, cache, configs, context)) = made.await
        else {
            return;
        };
        self.cache = cache;
        self.configs = configs;
        for gone in self.sent.keys().filter(|it| !now.contains_key(*it)).cloned().collect::<Vec<_>>() {
            now.insert(gone, Arc::default());
        }
        for (uri, list) in now.into_iter().filter(|(uri, _)| !outdated.contains(uri)) {
            let before = self.sent.get(&uri);
            if before.map_or(list.is_empty(), |it| it.is_same_list(&list)) {
                continue;
            }
            let version = context.version(&uri);
            shared.client.publish_diagnostics(uri.clone(), list.all().to_vec(), version).await;
            if list.is_empty() {
                self.sent.remove(&uri);
            } else {
                self.sent.insert(uri, list);
            }
        }
    }
}

impl DiagnosticsByUri {
    fn of_task(snapshot: &WorkspaceSnapshot, task: &TaskSnapshot, context: &DiagnosticsContext) -> Self {
        let mut made = Self::default();
        view_input::with_task_view(snapshot, task, None, |view| {
            made.add_task(task, view, context);
            for failure in editor::source_failures(view) {
                if let Some((path, diagnostic)) = sources::diagnostic(task, context, &failure) {
                    made.add_diagnostic(context.uri(&path), diagnostic);
                    made.dependencies.insert(path);
                }
            }
            for hint in editor::source_hints(view) {
                let Some(path) = sources::path(task, &hint.file) else { continue };
                if let Some(range) = sources::hint_range(context, &path, &hint) {
                    made.add_diagnostic(context.uri(&path), DiagnosticsContext::hint(range, &hint));
                }
                made.dependencies.insert(path);
            }
        });
        made
    }

    fn merge_part(&mut self, part: &Self) {
        for (uri, list) in &part.lists {
            if let Some(mine) = self.lists.get_mut(uri) {
                let mine = Arc::make_mut(mine);
                list.all().iter().for_each(|it| mine.add(it.clone()));
            } else {
                self.lists.insert(uri.clone(), Arc::clone(list));
            }
        }
        self.outdated.extend(part.outdated.iter().cloned());
    }

    fn add_task(&mut self, task: &TaskSnapshot, view: &TaskView<'_>, context: &DiagnosticsContext) {
        let mut remarks = editor::diagnostics(view).into_iter().peekable();
        for document in view.documents {
            let path = task.root.join(&document.path);
            let Some(uri) = context.uri(&path) else { continue };
            self.mark_if_outdated(&uri, context, &path, &document.text);
            self.dependencies.insert(path);
            // Diagnostics are sorted by document.
            let lines = LinePositions::of(&document.text);
            while let Some(remark) = remarks.next_if(|it| it.place.file == document.path) {
                let range = lines.range(&document.text, &remark.place.range, context.encoding);
                // Computed only for clients that show it.
                let shows = context.client.related_information == Some(true);
                let evidence = remark.related.iter().filter(|_| shows);
                let related = evidence.filter_map(|it| related_information(task, context, it)).collect();
                self.add_diagnostic(Some(uri.clone()), context.diagnostic(range, remark, related));
            }
        }
    }

    /// Adds a diagnostic; a document that several tasks share gets it only once.
    fn add_diagnostic(&mut self, uri: Option<Url>, diagnostic: Diagnostic) {
        let Some(uri) = uri else { return };
        Arc::make_mut(self.lists.entry(uri).or_default()).add(diagnostic);
    }

    fn mark_if_outdated(&mut self, uri: &Url, context: &DiagnosticsContext, path: &Path, text: &str) {
        if context.open.get(path).is_some_and(|it| *it.text != *text) {
            self.outdated.insert(uri.clone());
        }
    }
}

/// Bytes of the documents that the diagnostics are computed from.
fn input_size(snapshot: &WorkspaceSnapshot, context: &DiagnosticsContext) -> usize {
    let open = context.open.values().map(|it| it.text.len());
    let of_tasks = snapshot.tasks.iter().flat_map(|it| it.documents.iter()).map(|it| it.text.len());
    open.chain(of_tasks).sum()
}

impl DiagnosticsContext {
    fn of(shared: &ServerState) -> Self {
        let session = shared.session();
        let open = shared.documents.all().into_iter().filter_map(|it| Some((it.path.clone()?, it))).collect();
        let text = session.client.text_document.as_ref();
        let client = text.and_then(|it| it.publish_diagnostics.clone()).unwrap_or_default();
        Self { open, encoding: session.encoding, client }
    }

    /// The URI as the client spells it, if the document is open.
    fn uri(&self, path: &Path) -> Option<Url> {
        match self.open.get(path) {
            Some(document) => Some(document.uri.clone()),
            None => Url::parse(&file_uri(&path.to_string_lossy())).ok(),
        }
    }

    fn version(&self, uri: &Url) -> Option<i32> {
        let document = self.open.values().find(|it| it.uri == *uri)?;
        (self.client.version_support == Some(true)).then_some(document.version)
    }

    fn diagnostic(
        &self,
        range: Range,
        remark: editor::Diagnostic,
        related: Vec<DiagnosticRelatedInformation>,
    ) -> Diagnostic {
        let related = Some(related).filter(|it| !it.is_empty());
        Diagnostic {
            range,
            severity: Some(severity(remark.severity)),
            code: Some(NumberOrString::String(remark.code.word().to_owned())),
            source: Some(editor::Diagnostic::SOURCE.to_owned()),
            message: remark.message,
            related_information: related,
            tags: self.tags(remark.stale),
            ..Diagnostic::default()
        }
    }

    fn hint(range: Range, hint: &SourceHint) -> Diagnostic {
        Diagnostic {
            range,
            severity: Some(severity(Severity::Hint)),
            code: Some(NumberOrString::String(hint.code.word().to_owned())),
            source: Some(editor::Diagnostic::SOURCE.to_owned()),
            message: hint.message.clone(),
            ..Diagnostic::default()
        }
    }

    /// Marks stale results as unnecessary, which clients that support tags show faded.
    fn tags(&self, stale: bool) -> Option<Vec<DiagnosticTag>> {
        let known = self.client.tag_support.as_ref();
        let fades = known.is_some_and(|it| it.value_set.contains(&DiagnosticTag::UNNECESSARY));
        (stale && fades).then(|| vec![DiagnosticTag::UNNECESSARY])
    }
}

fn related_information(
    task: &TaskSnapshot,
    context: &DiagnosticsContext,
    related: &RelatedLocation,
) -> Option<DiagnosticRelatedInformation> {
    let location = match &related.target {
        RelatedTarget::Output { uri, naming } => {
            let uri = Url::parse(uri).ok()?;
            let path = uri.to_file_path().ok()?;
            let at = Position::new(sources::line_naming(&path, naming.as_ref()), 0);
            Location { uri, range: Range::new(at, at) }
        }
        RelatedTarget::Source { file, line, column } => {
            let path = sources::path(task, file)?;
            let at = Position::new(line.saturating_sub(1), column.map_or(0, |it| it.saturating_sub(1)));
            Location { uri: context.uri(&path)?, range: Range::new(at, at) }
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
