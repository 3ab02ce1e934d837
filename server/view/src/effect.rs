//! When a command to a loop takes effect: reported immediately, because a busy loop may show the effect much later.

use loopkeeper_core::decide::{LoopState, Phase, StopMode};
use loopkeeper_text::tr;

/// A command that may take effect later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeferredCommand {
    Stop,
    StopNow,
    Pause,
    Steer,
    Check,
}

/// One sentence about `name` (`The loop`, `Loop 20261120-abcdef`); `state` is the state before the command.
pub fn effect(state: &LoopState, command: DeferredCommand, name: &str) -> String {
    let this = state.iteration;
    let next = this.saturating_add(1);
    let at_work = matches!(state.phase, Phase::Iterating(_) | Phase::Closing | Phase::Checking);
    let starting = matches!(state.phase, Phase::Starting | Phase::Baseline);
    match command {
        DeferredCommand::StopNow => tr!("{name} stops now.", name),
        DeferredCommand::Stop if state.stop == Some(StopMode::Now) => tr!("{name} stops now.", name),
        DeferredCommand::Stop if at_work => {
            tr!("{name} stops after this iteration ({number}).", name, number = this)
        }
        DeferredCommand::Stop if starting => tr!("{name} stops before its first iteration.", name),
        DeferredCommand::Stop => tr!("{name} stops now.", name),
        DeferredCommand::Pause if state.is_paused_between_iterations() => {
            tr!("{name} is paused already.", name)
        }
        DeferredCommand::Pause if at_work => {
            tr!("{name} pauses after this iteration ({number}).", name, number = this)
        }
        DeferredCommand::Pause if starting => tr!("{name} pauses before its first iteration.", name),
        DeferredCommand::Pause => tr!("{name} pauses now.", name),
        DeferredCommand::Steer if state.is_paused_between_iterations() => {
            tr!("{name} passes the text on in iteration {number}, once it is resumed.", name, number = next)
        }
        DeferredCommand::Steer => {
            tr!("{name} passes the text on in iteration {number}.", name, number = next)
        }
        DeferredCommand::Check if state.is_paused_between_iterations() => {
            tr!("{name} runs the checks now.", name)
        }
        DeferredCommand::Check => match state.phase {
            Phase::Iterating(_) | Phase::Closing => {
                tr!(
                    "{name} runs the checks after the agent's present call (iteration {number}).",
                    name,
                    number = this
                )
            }
            Phase::Starting | Phase::Baseline | Phase::Checking => {
                tr!("{name} is running the checks already.", name)
            }
            Phase::Boundary { .. } | Phase::Preparing { .. } | Phase::Ended(_) => {
                tr!("{name} runs the checks after its next iteration ({number}).", name, number = next)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{DeferredCommand, effect};
    use loopkeeper_core::decide::sim::{Sim, Turn, criterion, spec};
    use loopkeeper_core::decide::{Phase, UserCommand};

    fn sentence(sim: &Sim, command: DeferredCommand) -> String {
        effect(&sim.state, command, "The loop")
    }

    fn sim() -> Sim {
        Sim::new(spec(vec![criterion("tests pass", "make test")]), "f", vec![Turn::new("f"), Turn::new("p")])
    }

    #[test]
    fn commands_say_when_they_take_effect() {
        let mut sim = sim();
        assert_eq!(sentence(&sim, DeferredCommand::Pause), "The loop pauses before its first iteration.");
        assert_eq!(sentence(&sim, DeferredCommand::Check), "The loop is running the checks already.");
        while !matches!(sim.state.phase, Phase::Iterating(_)) {
            assert!(sim.step());
        }
        let check =
            |sim: &Sim, command: DeferredCommand, expect: &str| assert_eq!(sentence(sim, command), expect);
        check(&sim, DeferredCommand::Pause, "The loop pauses after this iteration (1).");
        check(&sim, DeferredCommand::Stop, "The loop stops after this iteration (1).");
        check(&sim, DeferredCommand::StopNow, "The loop stops now.");
        check(
            &sim,
            DeferredCommand::Check,
            "The loop runs the checks after the agent's present call (iteration 1).",
        );
        let steered = "The loop passes the text on in iteration 2";
        check(&sim, DeferredCommand::Steer, &format!("{steered}."));
        sim.command(UserCommand::Pause);
        sim.play();
        check(&sim, DeferredCommand::Pause, "The loop is paused already.");
        check(&sim, DeferredCommand::Check, "The loop runs the checks now.");
        check(&sim, DeferredCommand::Steer, &format!("{steered}, once it is resumed."));
        check(&sim, DeferredCommand::Stop, "The loop stops now.");
    }
}
