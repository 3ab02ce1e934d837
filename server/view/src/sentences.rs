//! Sentences shared by several views.

use loopkeeper_agent::LoopMode;
use loopkeeper_core::decide::{LoopState, mutants};
use loopkeeper_core::journal::{CommandSender, RestrictedCommand, TakeoverReason};
use loopkeeper_core::settings::LoopEvent;
use loopkeeper_text::clauses::{and_more, list};
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;
use loopkeeper_text::words::{self, counted};

/// A fact as a complete sentence.
pub fn sentence(fact: &str) -> String {
    tr!("{sentence}.", sentence = words::capitalised(fact))
}

/// Complete sentences in a row.
pub fn paragraph<T: AsRef<str>>(sentences: impl IntoIterator<Item = T>) -> String {
    let mut sentences = sentences.into_iter();
    let first = sentences.next().map_or_else(String::new, |it| it.as_ref().to_owned());
    sentences.fold(first, |sentence, next| tr!("{sentence} {next}", sentence, next = next.as_ref()))
}

/// The first names of a list and the number of the others.
pub(crate) fn list_and_more(names: &[String], more: usize) -> String {
    and_more(list(names), more)
}

/// The first names of a list, with an ellipsis for the others.
fn list_shortened(names: &[String], is_cut: bool) -> String {
    let names = list(names);
    if is_cut { format!("{names} …") } else { names }
}

/// A permission request of the agent, from the text of its question.
pub fn permission_request(text: &str) -> String {
    tr!("the agent wants to {text}", text)
}

/// The remark about other work trees of the same repository below the root; `None` without any.
pub fn other_work_trees(paths: &[String]) -> Option<String> {
    const MAX: usize = 5;
    let shown: Vec<String> = paths.iter().take(MAX).map(|it| sanitize::line(it)).collect();
    let list = list_and_more(&shown, paths.len().saturating_sub(MAX));
    match paths.len() {
        0 => None,
        1 => Some(tr!("another work tree of this repository is not part of this one: {list}", list)),
        count => Some(tr!(
            "{count} other work trees of this repository are not part of this one: {list}",
            count,
            list
        )),
    }
}

/// Shown instead of a cost that is not reported.
pub fn no_cost(mode: LoopMode) -> &'static str {
    match mode {
        LoopMode::Loop | LoopMode::Hook => tr!("cost unknown: the agent reports none"),
        LoopMode::Attach => tr!("cost unknown: Claude does not report it in an interactive session"),
    }
}

/// A failed command of `[on]`.
pub fn hook_failed(event: LoopEvent, why: &str) -> String {
    tr!("the command of `on.{event}` {failure}", event = event.key(), failure = sanitize::line(why))
}

/// A refused command that did not come from the user: `the agent tried to accept its own change`.
pub fn command_refused(command: RestrictedCommand, by: CommandSender) -> String {
    let sender = match by {
        CommandSender::Agent => tr!("the agent"),
        CommandSender::Job => tr!("a command of this loop"),
        CommandSender::OtherLoop => tr!("a process of another loop"),
        CommandSender::Unknown => tr!("an unidentified process"),
    };
    let is_agent = by == CommandSender::Agent;
    let what = match (command, is_agent) {
        (RestrictedCommand::Accept, true) => tr!("accept its own change"),
        (RestrictedCommand::Accept, false) => tr!("accept the agent's change"),
        (RestrictedCommand::Skip, _) => tr!("skip an item of the plan"),
        (RestrictedCommand::Prioritize, _) => tr!("reorder the plan"),
        (RestrictedCommand::Trust, _) => tr!("trust commands"),
        (RestrictedCommand::Answer, _) => tr!("answer in your place"),
        (RestrictedCommand::Steer, true) => tr!("steer its own loop"),
        (RestrictedCommand::Steer, false) => tr!("steer this loop"),
        (RestrictedCommand::Reset, true) => tr!("reset its own loop"),
        (RestrictedCommand::Reset, false) => tr!("reset this loop"),
        (RestrictedCommand::Resume, true) => tr!("resume its own loop"),
        (RestrictedCommand::Resume, false) => tr!("resume this loop"),
        (RestrictedCommand::Stop, true) => tr!("stop its own loop"),
        (RestrictedCommand::Stop, false) => tr!("stop this loop"),
        (RestrictedCommand::Pause, true) => tr!("pause its own loop"),
        (RestrictedCommand::Pause, false) => tr!("pause this loop"),
        (RestrictedCommand::Saved, _) => tr!("report an edit of the task as yours"),
        (RestrictedCommand::Rollback, _) => tr!("roll back files"),
        (RestrictedCommand::Gc, _) => tr!("remove ended loops"),
        (RestrictedCommand::Feedback, _) => tr!("give the user's feedback"),
        (RestrictedCommand::Other, _) => tr!("send a request that only you may send"),
    };
    tr!("{sender} tried to {what}", sender, what)
}

/// The actions denied to an agent: `` `Bash: git push`, `Write: /etc/x` and 3 more ``; `None`: none. `what` lists each
/// action once, `count` counts all denials.
pub fn denied(what: &[String], count: u32) -> Option<String> {
    /// Short enough for one line.
    const MAX_SHOWN: usize = 3;
    if count == 0 {
        return None;
    }
    let named = what.iter().take(MAX_SHOWN).map(|it| format!("`{}`", sanitize::line(it))).collect::<Vec<_>>();
    Some(match (named.as_slice(), what.len().saturating_sub(MAX_SHOWN)) {
        ([], _) => counted(u64::from(count), "tool call"),
        (named, more) => list_and_more(named, more),
    })
}

/// The agent that takes over, and why: `codex takes over from claude until 14:12: its usage limit is reached`. `until`:
/// when the previous agent can be used again.
pub fn takeover(
    (from, to): (&str, &str),
    reason: TakeoverReason,
    until: Option<&str>,
    message: Option<&str>,
) -> String {
    let why = match reason {
        TakeoverReason::Back => return tr!("{to} works again and replaces {from}", to, from),
        TakeoverReason::Quota => tr!("its usage limit is reached"),
        TakeoverReason::Login => tr!("it is not logged in"),
        TakeoverReason::Billing => tr!("its account has no credit left"),
        TakeoverReason::Failing => tr!("it does not work"),
    };
    let fact = match until {
        Some(until) => tr!("{to} takes over from {from} until {until}: {why}", to, from, until, why),
        None => tr!("{to} takes over from {from}: {why}", to, from, why),
    };
    match message.map(sanitize::line) {
        Some(detail) => tr!("{fact} ({detail})", fact, detail),
        None => fact,
    }
}

/// `no check notices 2 of 14 mutants: calc.py:3, calc.py:9`
pub fn unnoticed_mutants(state: &LoopState) -> Option<String> {
    Some(sanitize::line(&mutants::current(state)?.describe_survivors()?))
}

/// `nothing refers to 2 added files: src/auth_old.py, src/auth2.py`
pub fn strays(state: &LoopState) -> Option<String> {
    const MAX_NAMED: usize = 3;
    let all = state.strays();
    let named: Vec<String> = all.iter().take(MAX_NAMED).map(|it| sanitize::line(it)).collect();
    let list = list_shortened(&named, all.len() > MAX_NAMED);
    let files = counted(all.len() as u64, "added file");
    (!all.is_empty()).then(|| tr!("nothing refers to {files}: {list}", files, list))
}

/// `no mutant makes 2 added tests fail: tests/test_calc.py:7 test_runs, …`
pub fn hollow_tests(state: &LoopState) -> Option<String> {
    const MAX_NAMED: usize = 3;
    let all = &mutants::current(state).filter(|it| !it.hollow.is_empty())?.hollow;
    let named = all.iter().take(MAX_NAMED);
    let named: Vec<_> =
        named.map(|it| sanitize::line(&format!("{}:{} {}", it.path, it.line, it.name))).collect();
    let list = list_shortened(&named, all.len() > MAX_NAMED);
    let tests = counted(all.len() as u64, "added test");
    Some(tr!("no mutant makes {tests} fail: {list}", tests, list))
}

#[cfg(test)]
mod tests {
    use super::denied;

    #[test]
    fn denied_paths_fit_one_line() {
        let check = |what: &[&str], count: u32, expect: Option<&str>| {
            let what: Vec<String> = what.iter().map(ToString::to_string).collect();
            assert_eq!(denied(&what, count).as_deref(), expect, "{what:?}");
        };
        check(&[], 0, None);
        check(&[], 1, Some("1 tool call"));
        check(&["Bash: git push"], 4, Some("`Bash: git push`"));
        check(&["a", "b", "c", "d", "e"], 9, Some("`a`, `b`, `c` and 2 more"));
    }
}
