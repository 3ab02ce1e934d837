//! `textDocument/codeLens`: what a loop does, over its task's first line; results, over their criteria.

use loopkeeper_core::view::editor::lenses;
use lsp_types::{CodeLens, CodeLensParams};

use crate::lsp::convert;
use crate::lsp::shared::Shared;
use crate::lsp::sight::{Shown, Sight};

pub(crate) async fn handle(shared: &Shared, params: CodeLensParams) -> Option<Vec<CodeLens>> {
    let shown = Shown::of(shared, &params.text_document.uri)?;
    let sight = Sight::of(shared, shown).await?;
    let all = sight.look(|known| lenses(known, &sight.file));
    Some(all.into_iter().map(|it| convert::lens(&sight.shown, it)).collect())
}
