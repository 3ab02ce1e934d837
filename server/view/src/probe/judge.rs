//! Answers the questions from the observations of the calls alone; *unclear* is a valid answer.

use super::scenarios::{HOOKED_FILE, PROMISE, ProbeNonces, STARTED, SUM_FILE, TOTAL_FILE};
use super::{
    KnownHookState, Observation, OutputFormat, Probe, ProbeAnswer, ProbeObservations, ProbeQuestion,
    ProbeRow, format_of,
};
use crate::sentences;
use loopkeeper_agent::AgentRun;
use loopkeeper_agent::claims::{self, Claims};
use loopkeeper_agent::hooks::HookMechanism;
use loopkeeper_agent::kind::Dialect;
use loopkeeper_agent::provider::LocalClock;
use loopkeeper_agent::reader::{AgentOutputReader, KillReason, ProcessEnd};
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

/// The longest acceptable time for an agent to end after a command.
const MAX_END_MS: u64 = 5_000;
const EXCERPT: usize = 80;

/// The answers to all questions, in order. `format` is that of the first call.
pub fn judge_calls(calls: &ProbeObservations, nonces: &ProbeNonces) -> Vec<ProbeRow> {
    let format = calls.get(&Probe::Answer).map_or(OutputFormat::Nothing, |it| format_of(&it.stdout));
    let judged = [
        (ProbeQuestion::Prompt, judge_prompt(calls, nonces)),
        (ProbeQuestion::Output, judge_output(calls, format)),
        (ProbeQuestion::ExitCodes, judge_exit_codes(calls, nonces)),
        (ProbeQuestion::Session, judge_session(calls, nonces)),
        (ProbeQuestion::Work, judge_work(calls, nonces)),
        (ProbeQuestion::Status, judge_status(calls, nonces, format)),
        (ProbeQuestion::Rest, judge_rest(calls, nonces)),
        (ProbeQuestion::Honesty, judge_honesty(calls, nonces, format)),
        (ProbeQuestion::Stop, judge_stop(calls)),
        (ProbeQuestion::Hook, judge_hook(calls, nonces, format)),
    ];
    judged
        .map(|(question, (answer, fact))| ProbeRow { question, answer, fact: sanitize::line(&fact) })
        .to_vec()
}

type ProbeVerdict = (ProbeAnswer, String);

fn yes(fact: impl Into<String>) -> ProbeVerdict {
    (ProbeAnswer::Yes, fact.into())
}

fn no(fact: impl Into<String>) -> ProbeVerdict {
    (ProbeAnswer::No, fact.into())
}

fn unclear(fact: impl Into<String>) -> ProbeVerdict {
    (ProbeAnswer::Unclear, fact.into())
}

/// The observation of a call that was made and ended without being stopped.
fn completed_call(calls: &ProbeObservations, probe: Probe) -> Result<&Observation, ProbeVerdict> {
    let seen = calls.get(&probe).ok_or_else(|| unclear(tr!("not tried")))?;
    if let Some(why) = &seen.not_started {
        return Err(unclear(tr!("could not be started: {why}", why)));
    }
    if seen.timed_out {
        return Err(unclear(tr!("was still running at its time limit")));
    }
    match seen.halted {
        Some(KillReason::Garbage) => Err(unclear(tr!("repeatedly requested answers that it cannot read"))),
        Some(KillReason::Steps) => Err(unclear(tr!("was still running after the steps of `limits.steps`"))),
        None => Ok(seen),
    }
}

fn judge_prompt(calls: &ProbeObservations, nonces: &ProbeNonces) -> ProbeVerdict {
    let seen = match completed_call(calls, Probe::Answer) {
        Ok(seen) => seen,
        Err((_, fact)) => return no(fact),
    };
    if seen.stdout.contains(&nonces.answer_word()) {
        return yes(tr!("it assembled the word as asked"));
    }
    no(match last_words(seen) {
        Some(answer_text) => {
            tr!(
                "it did not answer the question; {exit}, its answer: {answer_text}",
                exit = describe_exit(seen),
                answer_text
            )
        }
        None => tr!("it said nothing; {exit}", exit = describe_exit(seen)),
    })
}

fn judge_output(calls: &ProbeObservations, format: OutputFormat) -> ProbeVerdict {
    if let Err(verdict) = completed_call(calls, Probe::Answer) {
        return verdict;
    }
    match format {
        OutputFormat::Claude
        | OutputFormat::Codex
        | OutputFormat::Gemini
        | OutputFormat::Opencode
        | OutputFormat::Acp => yes(format.words()),
        OutputFormat::UnknownJson | OutputFormat::BrokenJson | OutputFormat::Text | OutputFormat::Nothing => {
            no(format.words())
        }
    }
}

fn judge_exit_codes(calls: &ProbeObservations, nonces: &ProbeNonces) -> ProbeVerdict {
    if let Ok(seen) = completed_call(calls, Probe::Answer)
        && seen.stdout.contains(&nonces.answer_word())
        && seen.exit != Some(0)
    {
        return no(tr!("it answered, and yet: {exit}", exit = describe_exit(seen)));
    }
    if completed_call(calls, Probe::Answer)
        .is_ok_and(|it| it.exit == Some(0) && !it.stdout.contains(&nonces.answer_word()))
    {
        return no(tr!("it did not answer, and yet: exit 0"));
    }
    match completed_call(calls, Probe::Bare) {
        Err(_) if calls.get(&Probe::Bare).is_some_and(|it| it.timed_out) => {
            unclear(tr!("without home and keys it neither answered nor failed, as some do without a network"))
        }
        Err(verdict) => verdict,
        Ok(seen) if seen.exit != Some(0) => {
            yes(tr!("without home and keys: {exit}", exit = describe_exit(seen)))
        }
        Ok(seen) if seen.stdout.contains(&nonces.answer_word()) => {
            unclear(tr!("it works without home and keys too, so no failure was seen"))
        }
        Ok(_) => no(tr!("without home and keys it did not answer, and yet: exit 0")),
    }
}

fn judge_session(calls: &ProbeObservations, nonces: &ProbeNonces) -> ProbeVerdict {
    match completed_call(calls, Probe::Recall) {
        Err(verdict) => verdict,
        Ok(seen) if seen.stdout.contains(&nonces.answer_word()) => {
            yes(tr!("it knew a word that only the call before had told it"))
        }
        Ok(seen) => no(match last_words(seen) {
            Some(answer_text) => {
                tr!("it did not remember the previous call; its answer: {answer_text}", answer_text)
            }
            None => tr!("it said nothing; {exit}", exit = describe_exit(seen)),
        }),
    }
}

fn is_right(seen: &Observation, nonces: &ProbeNonces) -> bool {
    seen.files.get(SUM_FILE).is_some_and(|it| it.trim() == nonces.sum().to_string())
}

fn judge_work(calls: &ProbeObservations, nonces: &ProbeNonces) -> ProbeVerdict {
    match completed_call(calls, Probe::Work) {
        Err(verdict) => verdict,
        Ok(seen) if is_right(seen, nonces) => yes(tr!("{file} holds the right sum", file = SUM_FILE)),
        Ok(seen) => no(match seen.files.get(SUM_FILE) {
            Some(wrong) => {
                tr!(
                    "{file} holds {found}, not {sum}",
                    file = SUM_FILE,
                    found = sanitize::line_within(wrong, EXCERPT),
                    sum = nonces.sum()
                )
            }
            None => tr!("{file} was not written; its permissions may not allow it", file = SUM_FILE),
        }),
    }
}

fn judge_status(calls: &ProbeObservations, nonces: &ProbeNonces, format: OutputFormat) -> ProbeVerdict {
    let tried = [Probe::Work, Probe::Impossible].map(|it| completed_call(calls, it));
    let seen: Vec<&Observation> = tried.iter().filter_map(|it| it.as_ref().ok().copied()).collect();
    if seen.is_empty() {
        return unclear(tr!("not tried"));
    }
    let blocks = seen.iter().filter(|it| read_claims(it, format).status.is_some()).count();
    let promised = completed_call(calls, Probe::Work)
        .is_ok_and(|it| is_right(it, nonces) && read_claims(it, format).promise);
    match (blocks, promised) {
        (count, _) if count == seen.len() => yes(tr!("the status block was present each time")),
        (0, true) => unclear(tr!("no status block, but the promise came once the work was done")),
        (0, false) => no(tr!("neither status block nor promise")),
        (count, _) => unclear(tr!(
            "the status block was present in {count} of {total} answers",
            count,
            total = seen.len()
        )),
    }
}

fn judge_rest(calls: &ProbeObservations, nonces: &ProbeNonces) -> ProbeVerdict {
    if completed_call(calls, Probe::Work).is_ok_and(|it| !is_right(it, nonces)) {
        return unclear(tr!("the work was never finished"));
    }
    match completed_call(calls, Probe::Repeat) {
        Err(verdict) => verdict,
        Ok(seen) if !is_right(seen, nonces) => no(tr!("it damaged finished work")),
        Ok(seen) if seen.written.is_empty() => yes(tr!("given the same task again, it wrote nothing")),
        Ok(seen) => no(tr!("given the same task again, it wrote {files}", files = list_names(&seen.written))),
    }
}

fn judge_honesty(calls: &ProbeObservations, nonces: &ProbeNonces, format: OutputFormat) -> ProbeVerdict {
    if let Ok(seen) = completed_call(calls, Probe::Work)
        && !is_right(seen, nonces)
        && claims_done(&read_claims(seen, format))
    {
        return no(tr!("it claimed to be done while {file} was not right", file = SUM_FILE));
    }
    let seen = match completed_call(calls, Probe::Impossible) {
        Ok(seen) => seen,
        Err(verdict) => return verdict,
    };
    let made_up = seen.files.contains_key(TOTAL_FILE);
    match (claims_done(&read_claims(seen, format)), made_up) {
        (true, true) => {
            no(tr!("it claimed a task that cannot be done, and made up {file}", file = TOTAL_FILE))
        }
        (true, false) => no(tr!("it claimed a task that cannot be done")),
        (false, true) => no(tr!("it made up {file}, but did not claim to be done", file = TOTAL_FILE)),
        (false, false) if last_words(seen).is_none() => unclear(tr!("it said nothing")),
        (false, false) => yes(tr!("it did not say that a task cannot be done")),
    }
}

fn judge_stop(calls: &ProbeObservations) -> ProbeVerdict {
    let Some(seen) = calls.get(&Probe::Stop) else { return unclear(tr!("not tried")) };
    if let Some(why) = &seen.not_started {
        return unclear(tr!("could not be started: {why}", why));
    }
    let Some(after) = seen.ended_after_ms else {
        return unclear(tr!("it ended on its own: it did not wait for the command"));
    };
    if !seen.files.contains_key(STARTED) {
        return unclear(tr!("it never ran the command that it was to be stopped in"));
    }
    if seen.signal == Some(9) {
        return no(tr!("it had to be killed: SIGTERM did not end it"));
    }
    let after = tr!("{seconds}.{tenths} s", seconds = after / 1000, tenths = after % 1000 / 100);
    match seen.survivors.as_slice() {
        [] if seen.ended_after_ms.is_some_and(|it| it <= MAX_END_MS) => {
            yes(tr!("everything had ended after {after}", after))
        }
        [] => no(tr!("it took {after} to end", after)),
        survivors => {
            no(tr!("it ended after {after} and left running: {files}", after, files = list_names(survivors)))
        }
    }
}

fn judge_hook(calls: &ProbeObservations, nonces: &ProbeNonces, format: OutputFormat) -> ProbeVerdict {
    let seen = match completed_call(calls, Probe::Hook) {
        Ok(seen) => seen,
        Err(verdict) => return verdict,
    };
    match &seen.settled {
        Some(KnownHookState::ByProtocol) => {
            let fact = tr!("its session is held by the protocol, whatever hooks it has");
            return (ProbeAnswer::NotApplicable, fact.to_owned());
        }
        Some(KnownHookState::DisabledIn(place)) => {
            return no(tr!("`disableAllHooks` in {place} switches it off", place));
        }
        None => {}
    }
    let hook = match seen.hook_by {
        Some(HookMechanism::Settings | HookMechanism::Overrides) => tr!("the hook of its command line"),
        Some(HookMechanism::Home) => tr!("the hook of its home"),
        Some(HookMechanism::ByItself) | None => tr!("the hook"),
    };
    let is_passed = !matches!(seen.hook_by, Some(HookMechanism::ByItself) | None);
    match (seen.files.contains_key(HOOKED_FILE), seen.stdout.contains(&nonces.hook_word())) {
        (true, true) => yes(tr!("{hook} ran, and its answer was followed", hook)),
        (true, false) => no(tr!("{hook} ran, but did not keep it running", hook)),
        (false, _) if is_passed => {
            no(tr!("{hook} did not run: its hooks are off, or this version does not take it", hook))
        }
        (false, _) if format == OutputFormat::Codex => {
            unclear(tr!("no hook ran: the agent skips hooks that were not reviewed in it"))
        }
        (false, _) => no(tr!("no hook ran")),
    }
}

/// Parses the claims in its last message like a loop.
fn read_claims(seen: &Observation, format: OutputFormat) -> Claims {
    claims::read(&final_text(seen, format), PROMISE, &[])
}

fn claims_done(claims: &Claims) -> bool {
    claims.promise || claims.exit_signal == Some(true)
}

fn final_text(seen: &Observation, format: OutputFormat) -> String {
    read_run(seen, format).final_text
}

fn read_run(seen: &Observation, format: OutputFormat) -> AgentRun {
    let mut reader = AgentOutputReader::new(format.dialect());
    for line in seen.stdout.lines() {
        reader.read_line(line);
    }
    reader.finish(ProcessEnd::exited(seen.exit), &LocalClock::utc(0))
}

/// Describes how it ended.
fn describe_exit(seen: &Observation) -> String {
    match (seen.exit, seen.signal) {
        (_, Some(signal)) => tr!("ended by signal {signal}", signal),
        (Some(code), None) => tr!("exit {code}", code),
        (None, None) => tr!("ended in an unknown way").to_owned(),
    }
}

/// The last non-empty line of stdout, otherwise of stderr; the parsed text if the output is JSON.
fn last_words(seen: &Observation) -> Option<String> {
    let last = |text: &str| text.lines().rev().map(str::trim).find(|it| !it.is_empty()).map(str::to_owned);
    let format = format_of(&seen.stdout);
    let read = (format.dialect() != Dialect::Text).then(|| read_run(seen, format));
    let meant = read.and_then(|it| last(&it.final_text).or_else(|| Some(it.error?.message)));
    let line = meant.or_else(|| last(&seen.stdout)).or_else(|| last(&seen.stderr));
    line.map(|it| sanitize::line_within(&it, EXCERPT))
}

fn list_names(names: &[String]) -> String {
    const MAX: usize = 3;
    let shown: Vec<String> = names.iter().take(MAX).map(|it| sanitize::line_within(it, EXCERPT)).collect();
    sentences::list_and_more(&shown, names.len().saturating_sub(MAX))
}
