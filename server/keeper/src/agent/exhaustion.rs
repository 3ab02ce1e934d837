//! Recognises an agent that ended because of `sandbox.memory` or `sandbox.processes`: control groups count the
//! allocations that they refused; without them the kernel notifies only the process itself, and messages of runtimes
//! and shells are the only evidence.

use loopkeeper_agent::{AgentRun, ProviderClass};
use loopkeeper_core::settings::Settings;
use loopkeeper_system::sandbox::ReachedLimits;
use loopkeeper_text::pattern::ConstantPattern;
use loopkeeper_text::{tr, words};

static MEMORY: ConstantPattern = ConstantPattern::new(
    r"(?i)out of memory|cannot allocate memory|\bENOMEM\b|\bbad_alloc\b|\bMemoryError\b|memory allocation of \d+ bytes failed|(?:buffer|heap) allocation failed|memory exhausted",
);
static PROCESSES: ConstantPattern = ConstantPattern::new(
    r"(?i)(?:fork|spawn|clone|thread).*(?:resource temporarily unavailable|\bEAGAIN\b|os error 11\b)|can['’]t start new thread|cannot fork\b",
);

/// Names the limit in the run's note, in place of an error that would count as the provider's.
pub(super) fn name_limit(run: &mut AgentRun, stderr: &str, settings: &Settings, reached: ReachedLimits) {
    let may_be = run.error.as_ref().is_none_or(|it| {
        matches!(it.class, ProviderClass::Crash | ProviderClass::Unknown | ProviderClass::Transient)
    });
    if !may_be || (run.exit == Some(0) && run.signal.is_none()) {
        return;
    }
    let error = run.error.as_ref().map_or("", |it| it.message.as_str());
    let says =
        |what: &ConstantPattern| [stderr, error, &run.final_text].into_iter().any(|it| what.is_match(it));
    let note = match settings.sandbox_memory.filter(|_| reached.memory || says(&MEMORY)) {
        Some(memory) => {
            tr!("ran out of memory: `sandbox.memory` allows {limit}", limit = words::bytes(memory))
        }
        None if reached.processes || says(&PROCESSES) => {
            tr!(
                "ran out of processes: `sandbox.processes` allows {limit}",
                limit = settings.sandbox_processes
            )
        }
        None => return,
    };
    run.error = None;
    run.note = Some(note);
}

#[cfg(test)]
mod tests {
    use loopkeeper_agent::kind::Dialect;
    use loopkeeper_agent::provider::LocalClock;
    use loopkeeper_agent::reader::{AgentOutputReader, ProcessEnd};

    use super::*;

    fn note(exit: i32, stderr: &str, memory: Option<u64>) -> (Option<String>, bool) {
        note_of(exit, stderr, memory, ReachedLimits::default())
    }

    fn note_of(
        exit: i32,
        stderr: &str,
        memory: Option<u64>,
        reached: ReachedLimits,
    ) -> (Option<String>, bool) {
        let end = ProcessEnd { stderr: stderr.to_owned(), ..ProcessEnd::exited(Some(exit)) };
        let clock = LocalClock { wall: 0, offset: &|_, _| Some(0) };
        let mut run = AgentOutputReader::new(Dialect::Text).finish(end, &clock);
        let settings = Settings { sandbox_memory: memory, sandbox_processes: 7, ..Settings::default() };
        name_limit(&mut run, stderr, &settings, reached);
        (run.note, run.error.is_some())
    }

    #[test]
    fn messages_of_runtimes_name_an_active_limit() {
        let memory = "ran out of memory: `sandbox.memory` allows 1.0 GiB";
        let processes = "ran out of processes: `sandbox.processes` allows 7";
        for (stderr, limit, expect) in [
            ("RangeError: Array buffer allocation failed", Some(1 << 30), Some(memory)),
            ("terminate called after throwing an instance of 'std::bad_alloc'", Some(1 << 30), Some(memory)),
            ("MemoryError", Some(1 << 30), Some(memory)),
            ("memory allocation of 4096 bytes failed", Some(1 << 30), Some(memory)),
            ("MemoryError", None, None),
            ("bash: fork: retry: Resource temporarily unavailable", None, Some(processes)),
            ("Error: spawn node EAGAIN", None, Some(processes)),
            ("RuntimeError: can't start new thread", None, Some(processes)),
            ("read: Resource temporarily unavailable", None, None),
        ] {
            assert_eq!(note(1, stderr, limit).0.as_deref(), expect, "{stderr}");
            assert_eq!(note(1, stderr, limit).1, expect.is_none(), "{stderr}");
            assert_eq!(note(0, stderr, limit).0, None, "{stderr}");
        }
        assert!(note(1, "You've hit your usage limit. MemoryError", Some(1)).1);
    }

    /// A process that the kernel kills says nothing.
    #[test]
    fn counts_of_control_groups_name_the_limit() {
        let reached = |memory, processes| ReachedLimits { memory, processes };
        let check = |exit, limit, reached, expect: Option<&str>| {
            assert_eq!(note_of(exit, "Killed", limit, reached).0.as_deref(), expect, "{exit} {reached:?}");
        };
        let memory = "ran out of memory: `sandbox.memory` allows 1.0 GiB";
        let processes = "ran out of processes: `sandbox.processes` allows 7";
        check(137, Some(1 << 30), reached(true, false), Some(memory));
        check(137, Some(1 << 30), reached(true, true), Some(memory));
        check(1, None, reached(false, true), Some(processes));
        check(0, Some(1 << 30), reached(true, true), None);
        check(137, Some(1 << 30), reached(false, false), None);
    }
}
