//! Skips a task of a list in YAML: a line `skipped: true` below its title, with the same indentation.

use std::ops::Range;

use loopkeeper_text::lines::line_around;
use loopkeeper_text::message::Message;
use loopkeeper_text::tr;
use loopkeeper_text::yaml::{self, YamlScalar};

use super::{PlanEditError, PlanEditTarget, TextSplices, conflict_error};

pub(super) fn skip(target: &PlanEditTarget<'_>) -> Result<TextSplices, PlanEditError> {
    let text = target.document.text.as_str();
    let scalars = yaml::scalars(text);
    let unclear = || {
        let fact = tr!("\"{title}\" cannot be skipped as it is written", title = target.item.title);
        conflict_error(Message::new(fact).with_hint(tr!("write `skipped: true`")))
    };
    let place = &target.item.place.range;
    let holds = |it: &&YamlScalar| it.range.start <= place.start && place.end <= it.range.end;
    let title = scalars.iter().find(holds).ok_or_else(unclear)?;
    let task = title.path.rsplit_once('.').map_or("", |it| it.0);
    let field = format!("{task}.skipped");
    match scalars.iter().find(|it| it.path == field) {
        None => insert(text, &title.range).ok_or_else(unclear),
        Some(flag) if flag.value == "true" => Ok(remove(text, &title.range, &flag.range)),
        Some(flag) if flag.value == "false" => Ok(vec![(flag.range.clone(), "true".to_owned())]),
        Some(_) => Err(unclear()),
    }
}

/// `None`: the title is not alone in its line.
fn insert(text: &str, title: &Range<usize>) -> Option<TextSplices> {
    let line = whole_line(text, title)?;
    let before = text.get(line.start..title.start)?;
    let key = before.trim_start_matches([' ', '-']);
    let is_key =
        key.trim_end().strip_suffix(':').is_some_and(|it| it.bytes().all(|it| it.is_ascii_alphanumeric()));
    let after = text.get(title.end..line.end)?.trim();
    let is_alone = is_key && (after.is_empty() || after.starts_with('#'));
    let column = before.len() - key.len();
    let end = if text.get(line.end..).is_some_and(|it| it.starts_with("\r\n")) { "\r\n" } else { "\n" };
    is_alone.then(|| vec![(line.end..line.end, format!("{end}{}skipped: true", " ".repeat(column)))])
}

/// The line is removed if inserting it again would restore the text, and else only the value is changed.
fn remove(text: &str, title: &Range<usize>, flag: &Range<usize>) -> TextSplices {
    let whole = || {
        let line = whole_line(text, title)?;
        let (at, added) = insert(text, title)?.pop()?;
        let is_next = text.get(line.end..)?.strip_prefix(&added)?;
        let is_whole = is_next.is_empty() || is_next.starts_with(['\n', '\r']);
        is_whole.then(|| vec![(at.start..at.start + added.len(), String::new())])
    };
    whole().unwrap_or_else(|| vec![(flag.clone(), "false".to_owned())])
}

/// The line of a range without its end. `None`: it is in several.
fn whole_line(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let is_in_one = !text.get(range.clone())?.contains('\n');
    is_in_one.then(|| line_around(text, range.start))
}
