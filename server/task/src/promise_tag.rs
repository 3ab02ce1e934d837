//! Finds the tags of a promise, `<promise>DONE</promise>`, in one line or text.

const OPENING_TAG: &str = "<promise>";
const CLOSING_TAG: &str = "</promise>";

/// Whether the text contains a complete promise, which makes it an instruction rather than a criterion.
pub(super) fn contains_promise(text: &str) -> bool {
    text.split_once(OPENING_TAG).is_some_and(|(_, rest)| rest.contains(CLOSING_TAG))
}

/// Whether the text may contain a promise. Most texts have none, and most of those no `<`, which is fast to check.
pub(super) fn may_contain_promise(text: &str) -> bool {
    text.contains('<') && text.contains(OPENING_TAG)
}

/// One promise in a line: the range of its tags, and what they enclose.
pub(super) struct PromiseTag {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) text: String,
    pub(super) is_doubled: bool,
}

pub(super) fn with_text(text: &str) -> String {
    format!("{OPENING_TAG}{text}{CLOSING_TAG}")
}

/// The first tag after `from`, including `<<promise>>X<</promise>>` and `<promise><promise>X…`.
pub(super) fn find_tag(line: &str, from: usize) -> Option<PromiseTag> {
    let open = from + line.get(from..)?.find(OPENING_TAG)?;
    let before = line.get(from..open)?;
    let start = from + before.trim_end_matches('<').len();
    let mut inner_start = open + OPENING_TAG.len();
    let mut is_doubled = start < open;
    while let Some(rest) = line.get(inner_start..) {
        let again = [OPENING_TAG, ">"].into_iter().find(|extra| rest.starts_with(extra));
        let Some(extra) = again else { break };
        is_doubled = true;
        inner_start += extra.len();
    }
    let close = inner_start + line.get(inner_start..)?.find(CLOSING_TAG)?;
    let inner = line.get(inner_start..close)?;
    is_doubled |= inner.ends_with('<');
    let text = inner.trim_end_matches('<').split_whitespace().collect::<Vec<_>>().join(" ");
    let mut end = close + CLOSING_TAG.len();
    while let Some(extra) = [CLOSING_TAG, ">"]
        .into_iter()
        .find(|extra| line.get(end..).is_some_and(|rest| rest.starts_with(extra)))
    {
        // A lone ">" after a well-formed tag is prose.
        if !is_doubled {
            break;
        }
        end += extra.len();
    }
    Some(PromiseTag { start, end, text, is_doubled })
}
