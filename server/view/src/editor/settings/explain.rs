//! Hovers that explain a key: on the key, on its value, on a table's header.

use std::ops::Range;

use super::cursor::{self, SettingsCursor};
use crate::editor::{Hover, HoverBlock};
use loopkeeper_core::settings::keys::KEYS;
use loopkeeper_core::settings::lookup::{KeyLookup, look_up};
use loopkeeper_core::settings::table::{Key, KeySupport};
use loopkeeper_text::DocumentRange;
use loopkeeper_text::language::translate;
use loopkeeper_text::tr;

/// The hover for the byte at `offset` of `file`.
pub fn explain(file: &str, text: &str, offset: usize) -> Option<Hover> {
    let (path, range) = match cursor::cursor_at(text, offset) {
        SettingsCursor::Header { name } => return table(file, text, name),
        SettingsCursor::Key { section, name, .. } => {
            let own = text.get(name.clone()).unwrap_or_default().trim_matches(['"', '\'']).to_owned();
            (section.into_iter().chain([own]).collect::<Vec<_>>(), name)
        }
        SettingsCursor::Value { key, value } => (key, value),
        SettingsCursor::Nothing => return None,
    };
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let KeyLookup::Key(key) = look_up(&names) else { return None };
    Some(Hover {
        place: DocumentRange { file: file.to_owned(), range },
        blocks: blocks(key, &path.join(".")),
    })
}

pub(super) fn blocks(key: &Key, path: &str) -> Vec<HoverBlock> {
    let mut all = vec![HoverBlock::Title(path.to_owned()), HoverBlock::Text(translate(key.doc).to_owned())];
    all.push(HoverBlock::Text(tr!("Takes {value}.", value = key.takes)));
    if !key.default.is_empty() {
        all.push(HoverBlock::Code(format!("{} = {}", key.name(), key.default)));
    }
    match key.since {
        KeySupport::Built => {}
        KeySupport::NotYet => {
            all.push(HoverBlock::Text(tr!("Not yet supported: remove the line.").to_owned()));
        }
    }
    all
}

/// The meaning of a key, and its default.
pub(super) fn sentence(key: &Key) -> String {
    let doc = translate(key.doc);
    if key.default.is_empty() {
        doc.to_owned()
    } else {
        tr!("{doc} Default: {default}", doc, default = key.default)
    }
}

fn table(file: &str, text: &str, name: Range<usize>) -> Option<Hover> {
    let written = text.get(name.clone())?.trim().to_owned();
    let section = if written.starts_with("agents.") { "agents.*" } else { &written };
    let keys: Vec<String> = KEYS
        .iter()
        .filter(|it| it.section() == section && it.since != KeySupport::NotYet)
        .map(|it| {
            if it.default.is_empty() {
                it.name().to_owned()
            } else {
                format!("{} = {}", it.name(), it.default)
            }
        })
        .collect();
    let blocks = vec![HoverBlock::Title(format!("[{written}]")), HoverBlock::Code(keys.join("\n"))];
    (!keys.is_empty()).then(|| Hover { place: DocumentRange { file: file.to_owned(), range: name }, blocks })
}
