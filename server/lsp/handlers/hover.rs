//! `textDocument/hover`: a criterion's check and last result, a loop's grid, a key of the configuration,
//! another tool's loop.

use loopkeeper_core::view::editor;
use lsp_types::{Hover, HoverParams};

use crate::adapters::clock;
use crate::lsp::convert;
use crate::lsp::foreign;
use crate::lsp::shared::Shared;
use crate::lsp::sight::{Shown, Sight};

pub(crate) async fn handle(shared: &Shared, params: HoverParams) -> Option<Hover> {
    let at = params.text_document_position_params;
    let shown = Shown::of(shared, &at.text_document.uri)?;
    let offset = shown.byte(at.position);
    let client = &shared.session().client;
    if shown.is_config() {
        let hover = editor::settings::explain("", shown.text(), offset)?;
        return Some(convert::hover(&shown, client, &hover));
    }
    if let Some(hover) = foreign::hover(&*shared.lookout().looked().await, &shown) {
        return Some(convert::hover(&shown, client, &hover));
    }
    let sight = Sight::of(shared, shown).await?;
    let hover = sight.look(|known| editor::hover(known, (&sight.file, offset), clock::now()))?;
    Some(convert::hover(&sight.shown, client, &hover))
}
