//! What a key means, for hovers: on the key, on its value, on a table's header.

use std::ops::Range;

use super::cursor::{self, Cursor};
use crate::settings::keys::KEYS;
use crate::settings::table::{Found, Key, Since, look_up};
use crate::task::Place;
use crate::view::editor::{Block, Hover};

/// What there is to say about the byte at `offset` of `file`.
pub fn explain(file: &str, text: &str, offset: usize) -> Option<Hover> {
    let (path, range) = match cursor::at(text, offset) {
        Cursor::Header { name } => return table(file, text, name),
        Cursor::Key { section, name, .. } => {
            let own = text.get(name.clone()).unwrap_or_default().trim_matches(['"', '\'']).to_owned();
            (section.into_iter().chain([own]).collect::<Vec<_>>(), name)
        }
        Cursor::Value { key, value } => (key, value),
        Cursor::Nothing => return None,
    };
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let Found::Key(key) = look_up(&names) else { return None };
    Some(Hover { place: Place { file: file.to_owned(), range }, blocks: blocks(key, &path.join(".")) })
}

fn blocks(key: &Key, path: &str) -> Vec<Block> {
    let mut all = vec![Block::Title(path.to_owned()), Block::Text(key.doc.to_owned())];
    all.push(Block::Text(format!("Takes {}.", key.takes)));
    if !key.default.is_empty() {
        all.push(Block::Code(format!("{} = {}", key.name(), key.default)));
    }
    match key.since {
        Since::Built => {}
        Since::OnlyDefault => all.push(Block::Text("Other values are not yet supported.".to_owned())),
        Since::NotYet => all.push(Block::Text("Not yet supported: remove the line.".to_owned())),
    }
    all
}

fn table(file: &str, text: &str, name: Range<usize>) -> Option<Hover> {
    let written = text.get(name.clone())?.trim().to_owned();
    let section = if written.starts_with("agents.") { "agents.*" } else { &written };
    let keys: Vec<String> = KEYS
        .iter()
        .filter(|it| it.section() == section && it.since != Since::NotYet)
        .map(|it| {
            if it.default.is_empty() {
                it.name().to_owned()
            } else {
                format!("{} = {}", it.name(), it.default)
            }
        })
        .collect();
    let blocks = vec![Block::Title(format!("[{written}]")), Block::Code(keys.join("\n"))];
    (!keys.is_empty()).then(|| Hover { place: Place { file: file.to_owned(), range: name }, blocks })
}
