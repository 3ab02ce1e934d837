//! When an order to a loop takes effect: reported immediately, because a busy loop may show the effect much later.

use loopkeeper_core::decide::{LoopState, Phase, StopMode};

/// An order that may take effect later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LateOrder {
    Stop,
    StopNow,
    Pause,
    Steer,
    Check,
}

/// One sentence about `name` (`The loop`, `Loop 20261120-abcdef`); `state` is the state before the order.
pub fn effect(state: &LoopState, order: LateOrder, name: &str) -> String {
    let this = state.iteration;
    let next = this + 1;
    let at_work = matches!(state.phase, Phase::Iterating(_) | Phase::Closing | Phase::Checking);
    let starting = matches!(state.phase, Phase::Starting | Phase::Baseline);
    let boundary = |verb: &str| {
        if at_work {
            format!("{name} {verb} after this iteration ({this}).")
        } else if starting {
            format!("{name} {verb} before its first iteration.")
        } else {
            format!("{name} {verb} now.")
        }
    };
    match order {
        LateOrder::StopNow => format!("{name} stops now."),
        LateOrder::Stop if state.stop == Some(StopMode::Now) => format!("{name} stops now."),
        LateOrder::Stop => boundary("stops"),
        LateOrder::Pause if state.is_paused_between_iterations() => format!("{name} is paused already."),
        LateOrder::Pause => boundary("pauses"),
        LateOrder::Steer => {
            let then = if state.is_paused_between_iterations() { ", once it is resumed" } else { "" };
            format!("{name} puts the steering text into its next prompt (iteration {next}){then}.")
        }
        LateOrder::Check if state.is_paused_between_iterations() => format!("{name} runs the checks now."),
        LateOrder::Check => match state.phase {
            Phase::Iterating(_) | Phase::Closing => {
                format!("{name} runs the checks after the agent's present call (iteration {this}).")
            }
            Phase::Starting | Phase::Baseline | Phase::Checking => {
                format!("{name} is running the checks already.")
            }
            Phase::Boundary { .. } | Phase::Preparing { .. } | Phase::Ended(_) => {
                format!("{name} runs the checks after its next iteration ({next}).")
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{LateOrder, effect};
    use loopkeeper_core::decide::sim::{Act, Sim, criterion, spec};
    use loopkeeper_core::decide::{Phase, UserCommand};

    fn sentence(sim: &Sim, order: LateOrder) -> String {
        effect(&sim.state, order, "The loop")
    }

    fn sim() -> Sim {
        Sim::new(spec(vec![criterion("tests pass", "make test")]), "f", vec![Act::new("f"), Act::new("p")])
    }

    #[test]
    fn orders_say_when_they_take_effect() {
        let mut sim = sim();
        assert_eq!(sentence(&sim, LateOrder::Pause), "The loop pauses before its first iteration.");
        assert_eq!(sentence(&sim, LateOrder::Check), "The loop is running the checks already.");
        while !matches!(sim.state.phase, Phase::Iterating(_)) {
            assert!(sim.turn());
        }
        let check = |sim: &Sim, order: LateOrder, expect: &str| assert_eq!(sentence(sim, order), expect);
        check(&sim, LateOrder::Pause, "The loop pauses after this iteration (1).");
        check(&sim, LateOrder::Stop, "The loop stops after this iteration (1).");
        check(&sim, LateOrder::StopNow, "The loop stops now.");
        check(
            &sim,
            LateOrder::Check,
            "The loop runs the checks after the agent's present call (iteration 1).",
        );
        let steered = "The loop puts the steering text into its next prompt (iteration 2)";
        check(&sim, LateOrder::Steer, &format!("{steered}."));
        sim.order(UserCommand::Pause);
        sim.play();
        check(&sim, LateOrder::Pause, "The loop is paused already.");
        check(&sim, LateOrder::Check, "The loop runs the checks now.");
        check(&sim, LateOrder::Steer, &format!("{steered}, once it is resumed."));
        check(&sim, LateOrder::Stop, "The loop stops now.");
    }
}
