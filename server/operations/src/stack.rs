//! Refuses to run on a stack that a command may overflow: the system would end the process without an error message.

use loopkeeper_system::exhausted;
use loopkeeper_text::tr;

use crate::failure::Failure;

/// Fails if this process's limit of the stack is too low.
pub fn require() -> Result<(), Failure> {
    let Some(limit) = exhausted::low_stack_limit() else { return Ok(()) };
    let (limit, needed) = (limit >> 10, exhausted::STACK_BYTES >> 10);
    let fact = tr!("the stack is limited to {limit} KiB, and a command needs {needed} KiB", limit, needed);
    Err(Failure::ended(fact).hint(tr!("Raise the limit of the stack: `ulimit -s`.")))
}
