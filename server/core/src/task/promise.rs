//! The line that tells the agent what to print when done: `Output <promise>DONE</promise>`.

use super::outline::Outline;
use super::source::Source;
use super::{FindingCode, grammar};

const OPEN: &str = "<promise>";
const CLOSE: &str = "</promise>";

/// Whether the text carries a whole promise, so that it is an instruction and no criterion.
pub(super) fn is_in(text: &str) -> bool {
    text.split_once(OPEN).is_some_and(|(_, rest)| rest.contains(CLOSE))
}

/// Whether there is anything to look for. Most texts have none, and most of those no `<`, which is found out fast.
pub(super) fn may_be_in(text: &str) -> bool {
    text.contains('<') && text.contains(OPEN)
}

/// Finds the promise and reports doubled tags. Raw lines, since what Markdown makes of a tag does not matter
/// to an agent.
pub(super) fn read(source: &Source<'_>, out: &mut Outline) {
    if !may_be_in(source.text()) {
        return;
    }
    let mut chosen: Option<(Rank, String)> = None;
    for (range, line) in source.lines() {
        let Some(found) = find(line) else { continue };
        let start = range.start + found.start;
        let place = start..start + found.len;
        if found.is_doubled {
            let fact = "a doubled tag is never printed as promised. Write it once".to_owned();
            let fix = Some(format!("{OPEN}{}{CLOSE}", found.text));
            out.find_with_fix(
                "promise",
                grammar::Fault { code: FindingCode::BadPromise, fact, range: place.clone(), fix },
            );
        }
        let rank = rank(line);
        match &chosen {
            Some((best, text)) if *best == rank && *text != found.text => {
                let name = format!("promise {}", found.text);
                let fact = format!("another than `{}` above. Keep one", grammar::shortened(text, 24));
                out.find(FindingCode::BadPromise, &name, &fact, place);
            }
            Some((best, _)) if *best >= rank => {}
            _ => chosen = Some((rank, found.text)),
        }
    }
    out.promise = chosen.map(|(_, text)| text);
}

/// How sure a line is to mean "when done": prompts also name a tag for being stuck, or mention one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    WhenStuck,
    Mention,
    Instruction,
}

fn rank(line: &str) -> Rank {
    const STUCK: &[&str] =
        &["block", "stuck", "abort", "cannot", "can't", "unable", "give up", "fail", "impossible"];
    const PRINT: &[&str] =
        &["output", "print", "say", "reply", "respond", "emit", "write", "answer", "输出", "打印"];
    let line = line.to_lowercase();
    if STUCK.iter().any(|word| line.contains(word)) {
        Rank::WhenStuck
    } else if PRINT.iter().any(|word| line.contains(word)) {
        Rank::Instruction
    } else {
        Rank::Mention
    }
}

struct Found {
    start: usize,
    len: usize,
    text: String,
    is_doubled: bool,
}

/// The first tag of the line, `<<promise>>X<</promise>>` and `<promise><promise>X…` included.
fn find(line: &str) -> Option<Found> {
    let open = line.find(OPEN)?;
    let before = line.get(..open)?;
    let start = before.trim_end_matches('<').len();
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
        // A lone ">" behind a sound tag is prose.
        if !is_doubled {
            break;
        }
        end += extra.len();
    }
    (!text.is_empty()).then_some(Found { start, len: end - start, text, is_doubled })
}
