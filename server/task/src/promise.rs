//! Finds the line that instructs the agent what to print when done: `Output <promise>DONE</promise>`.

use super::outline::TaskOutline;
use super::promise_tag::{self, PromiseTag};
use super::source::MarkdownSource;
use super::{FindingCode, grammar};
use loopkeeper_text::tr;
use loopkeeper_text::truncate::shortened;

/// Finds the promise and reports doubled tags. Works on raw lines, because Markdown's reading of a tag does not matter
/// to an agent.
pub(super) fn find_promise(source: &MarkdownSource<'_>, out: &mut TaskOutline) {
    if !promise_tag::may_contain_promise(source.text()) {
        return;
    }
    let mut chosen: Option<(PromiseRank, String)> = None;
    for (range, line) in source.lines() {
        for (found, clause) in tags_with_clauses(line) {
            let place = range.start + found.start..range.start + found.end;
            if found.is_doubled {
                let fact = tr!("no output matches a doubled tag");
                let fault = grammar::ItemFault::new(FindingCode::BadPromise, fact, &place)
                    .with_hint(tr!("Write it once"))
                    .with_fix(Some(promise_tag::with_text(&found.text)));
                out.add_fault(tr!("promise"), fault);
            }
            let rank = rank_line(clause);
            match &chosen {
                Some((best, text)) if *best == rank && *text != found.text => {
                    let name = tr!("promise {text}", text = found.text);
                    let fact = tr!("different from `{text}` above. Keep one", text = shortened(text, 24));
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
    const FAILURE_WORDS: &[&str] =
        &["block", "stuck", "abort", "cannot", "can't", "unable", "give up", "fail", "impossible"];
    const OUTPUT_VERBS: &[&str] =
        &["output", "print", "say", "reply", "respond", "emit", "write", "answer", "输出", "打印"];
    let line = line.to_lowercase();
    if FAILURE_WORDS.iter().any(|word| line.contains(word)) {
        PromiseRank::WhenStuck
    } else if OUTPUT_VERBS.iter().any(|word| line.contains(word)) {
        PromiseRank::Instruction
    } else {
        PromiseRank::Mention
    }
}

/// Maximum tags per line, because each is examined with all text before it.
const MAX_TAGS: usize = 16;

/// The tags of a line, each with its clause: up to the first comma or full stop after it.
fn tags_with_clauses(line: &str) -> Vec<(PromiseTag, &str)> {
    let mut tags: Vec<PromiseTag> = Vec::new();
    while tags.len() < MAX_TAGS
        && let Some(found) = promise_tag::find_tag(line, tags.last().map_or(0, |last| last.end))
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
    let non_empty = clauses.into_iter().filter(|(.., tag)| !tag.text.is_empty());
    non_empty.map(|(from, end, tag)| (tag, line.get(from..end).unwrap_or_default())).collect()
}
