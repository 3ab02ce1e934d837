//! What a loop says of itself when it starts.

use loopkeeper_core::agent::kind::{Can, Capabilities, Subagents};
use loopkeeper_core::journal::LoopSpec;
use loopkeeper_core::sanitize;
use loopkeeper_core::settings::Mode;
use loopkeeper_core::view::words;

pub(super) fn started(spec: &LoopSpec) -> String {
    let limits = &spec.settings.limits;
    let cost = cost(&spec.agent.kind().capabilities(), spec.settings.mode, limits.cost_micros);
    let preset =
        spec.preset.as_ref().map_or(String::new(), |it| format!("; {}", sanitize::line(&it.because)));
    let crew = spec.agents().map(|it| it.name.as_str());
    format!(
        "loop {} on {} with {}, at most {}, {}, {cost}{preset}",
        spec.loop_id,
        sanitize::line(&spec.task.0),
        crew.collect::<Vec<_>>().join(", then "),
        words::counted(u64::from(limits.iterations), "iteration"),
        words::duration(limits.duration_ms),
    )
}

/// The most that it may cost, where that can be held.
fn cost(can: &Capabilities, mode: Mode, most: u64) -> String {
    let can = can.with(mode);
    match (can.cost, can.subagents) {
        (Can::Yes, _) => words::cost(most),
        (Can::No | Can::Unknown, Subagents::Unseen) => {
            format!("{}, nor are its subagents", words::no_cost(mode))
        }
        (Can::No | Can::Unknown, _) => words::no_cost(mode).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Mode, cost};
    use loopkeeper_core::agent::kind::Kind;

    #[test]
    fn a_limit_that_cannot_be_held_is_not_promised() {
        let check = |kind: Kind, mode: Mode, expect: &str| {
            assert_eq!(cost(&kind.capabilities(), mode, 25_000_000), expect, "{kind:?} {mode:?}");
        };
        check(Kind::Claude, Mode::Loop, "$25.00");
        check(Kind::Claude, Mode::Hook, "$25.00");
        check(
            Kind::Claude,
            Mode::Attach,
            "cost unknown: Claude does not report it in an interactive session",
        );
        check(Kind::Codex, Mode::Hook, "its cost is not reported");
        check(Kind::Copilot, Mode::Loop, "its cost is not reported, nor are its subagents");
    }
}
