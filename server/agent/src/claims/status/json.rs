//! A status block as a JSON object: the keys at the top, or one level down under `RALPH_STATUS`.

use serde_json::{Deserializer, Map, Value};

use super::StatusScan;
use super::fields::{StatusBlock, StatusDraft, canonical_key};
use crate::claims::prose_mask::MessageLine;

/// An object that begins a line and has its last line to itself.
pub(super) fn scan_bare_object(text: &str, rest: &[MessageLine<'_>]) -> Option<StatusScan> {
    let first = rest.first()?;
    let open = first.text.find('{')?;
    let label = first.text.get(..open)?;
    if !label.trim().is_empty() && canonical_key(label) != "ralphstatus" {
        return None;
    }
    let from = first.range.start + open;
    let mut values = Deserializer::from_str(text.get(from..)?).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let end = from + values.byte_offset();
    let length = rest.iter().take_while(|it| it.range.start < end).count();
    let last = rest.get(length.checked_sub(1)?)?;
    let stands_alone = text.get(end..last.range.end)?.trim().is_empty();
    let block =
        if label.trim().is_empty() { block_of_value(&value) } else { block_of_fields(value.as_object()?) };
    (stands_alone && block.is_some()).then_some(StatusScan::Lines { block, length })
}

/// A text that is one object.
pub(super) fn parse_object(text: &str) -> Option<StatusBlock> {
    block_of_value(&serde_json::from_str(text).ok()?)
}

fn block_of_value(value: &Value) -> Option<StatusBlock> {
    let object = value.as_object()?;
    let nested =
        object.iter().find(|(key, _)| canonical_key(key) == "ralphstatus").and_then(|it| it.1.as_object());
    if let Some(nested) = nested {
        return block_of_fields(nested);
    }
    // Many objects have a status; one with an exit signal, or with several of our fields, is a status block.
    let known = object.keys().filter(|key| StatusDraft::is_known_field(key)).count();
    let has_signal = object.keys().any(|key| canonical_key(key) == "exitsignal");
    (has_signal || known >= 2).then(|| block_of_fields(object)).flatten()
}

fn block_of_fields(object: &Map<String, Value>) -> Option<StatusBlock> {
    let mut draft = StatusDraft::default();
    for (key, value) in object {
        match value {
            Value::Null => {}
            Value::String(text) => {
                draft.add_field(key, text);
            }
            Value::Array(items) if StatusDraft::is_count_field(key) => {
                draft.add_field(key, &items.len().to_string());
            }
            other => {
                draft.add_field(key, &other.to_string());
            }
        }
    }
    draft.finish()
}
