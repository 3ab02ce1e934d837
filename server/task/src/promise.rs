//! The line that tells the agent what to print when done: `Output <promise>DONE</promise>`.

use super::outline::TaskOutline;
use super::source::MarkdownSource;
use super::{FindingCode, grammar};
use loopkeeper_text::fold::shortened;

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";

/// Whether the text contains a complete promise, which makes it an instruction rather than a criterion.
pub(super) fn is_in(text: &str) -> bool {
    text.split_once(OPEN).is_some_and(|(_, rest)| rest.contains(CLOSE))
}

/// Whether the text may contain a promise. Most texts have none, and most of those no `<`, which is fast to check.
pub(super) fn may_be_in(text: &str) -> bool {
    text.contains('<') && text.contains(OPEN)
}

/// Finds the promise and reports doubled tags. Works on raw lines, because Markdown's reading of a tag does not matter
/// to an agent.
pub(super) fn find_promise(source: &MarkdownSource<'_>, out: &mut TaskOutline) {
    if !may_be_in(source.text()) {
        return;
    }
    let mut chosen: Option<(PromiseRank, String)> = None;
    for (range, line) in source.lines() {
        for (found, clause) in with_clauses(line) {
            let place = range.start + found.start..range.start + found.end;
            if found.is_doubled {
                let fact = "a doubled tag is never printed as promised";
                let fault = grammar::ItemFault::new(FindingCode::BadPromise, fact, &place)
                    .with_hint("Write it once")
                    .with_fix(Some(format!("{OPEN}{}{CLOSE}", found.text)));
                out.find_with_fix("promise", fault);
            }
            let rank = rank_line(clause);
            match &chosen {
                Some((best, text)) if *best == rank && *text != found.text => {
                    let name = format!("promise {}", found.text);
                    let fact = format!("another than `{}` above. Keep one", shortened(text, 24));
                    out.add_finding(FindingCode::BadPromise, &name, &fact, place);
                }
                Some((best, _)) if *best >= rank => {}
                _ => chosen = Some((rank, found.text)),
            }
        }
    }
    out.promise = chosen.map(|(_, text)| text);
}

/// How likely a line means "when done": prompts also name a tag for being stuck, or mention one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PromiseRank {
    WhenStuck,
    Mention,
    Instruction,
}

fn rank_line(line: &str) -> PromiseRank {
    const STUCK: &[&str] =
        &["block", "stuck", "abort", "cannot", "can't", "unable", "give up", "fail", "impossible"];
    const PRINT: &[&str] =
        &["output", "print", "say", "reply", "respond", "emit", "write", "answer", "输出", "打印"];
    let line = line.to_lowercase();
    if STUCK.iter().any(|word| line.contains(word)) {
        PromiseRank::WhenStuck
    } else if PRINT.iter().any(|word| line.contains(word)) {
        PromiseRank::Instruction
    } else {
        PromiseRank::Mention
    }
}

struct PromiseTag {
    start: usize,
    end: usize,
    text: String,
    is_doubled: bool,
}

/// Maximum tags per line, because each is examined with all text before it.
const MAX_TAGS: usize = 16;

/// The tags of a line, each with its clause: up to the first comma or full stop after it.
fn with_clauses(line: &str) -> Vec<(PromiseTag, &str)> {
    let mut tags: Vec<PromiseTag> = Vec::new();
    while tags.len() < MAX_TAGS
        && let Some(found) = find_tag(line, tags.last().map_or(0, |last| last.end))
    {
        tags.push(found);
    }
    let mut clauses = Vec::new();
    let mut from = 0;
    let starts: Vec<usize> = tags.iter().skip(1).map(|tag| tag.start).collect();
    for (index, tag) in tags.into_iter().enumerate() {
        let next = starts.get(index).copied();
        let gap = line.get(tag.end..next.unwrap_or(line.len())).unwrap_or_default();
        let stop = gap.find([',', ';', '.', '，', '；', '。']);
        let end = tag.end + next.map_or(gap.len(), |_| stop.unwrap_or(0));
        clauses.push((from, end, tag));
        if stop.is_some() {
            from = end;
        }
    }
    let said = clauses.into_iter().filter(|(.., tag)| !tag.text.is_empty());
    said.map(|(from, end, tag)| (tag, line.get(from..end).unwrap_or_default())).collect()
}

/// The first tag after `from`, including `<<promise>>X<</promise>>` and `<promise><promise>X…`.
fn find_tag(line: &str, from: usize) -> Option<PromiseTag> {
    let open = from + line.get(from..)?.find(OPEN)?;
    let before = line.get(from..open)?;
    let start = from + before.trim_end_matches('<').len();
    let mut inner_start = open + OPEN.len();
    let mut is_doubled = start < open;
    while let Some(rest) = line.get(inner_start..) {
        let again = [OPEN, ">"].into_iter().find(|extra| rest.starts_with(extra));
        let Some(extra) = again else { break };
        is_doubled = true;
        inner_start += extra.len();
    }
    let close = inner_start + line.get(inner_start..)?.find(CLOSE)?;
    let inner = line.get(inner_start..close)?;
    is_doubled |= inner.ends_with('<');
    let text = inner.trim_end_matches('<').split_whitespace().collect::<Vec<_>>().join(" ");
    let mut end = close + CLOSE.len();
    while let Some(extra) =
        [CLOSE, ">"].into_iter().find(|extra| line.get(end..).is_some_and(|rest| rest.starts_with(extra)))
    {
        // A lone ">" after a well-formed tag is prose.
        if !is_doubled {
            break;
        }
        end += extra.len();
    }
    Some(PromiseTag { start, end, text, is_doubled })
}
