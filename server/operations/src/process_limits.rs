//! Refuses to run within limits at which the process would end without an error message: the system does so where the
//! stack overflows, and an allocation that fails aborts the program.

use loopkeeper_system::resource_limits;
use loopkeeper_text::language::translate;
use loopkeeper_text::tr;

use crate::failure::Failure;

/// Fails if this process's limit of the stack or of its address space is too low.
pub fn require() -> Result<(), Failure> {
    if let Some(limit) = resource_limits::low_stack_limit() {
        let (limit, needed) = (limit >> 10, resource_limits::STACK_BYTES >> 10);
        let fact =
            tr!("the stack is limited to {limit} KiB, and a command needs {needed} KiB", limit, needed);
        return Err(Failure::ended(fact).hint(tr!("Raise the limit of the stack: `ulimit -s`.")));
    }
    if let Some(limit) = resource_limits::low_address_space_limit() {
        let (limit, needed) = (limit >> 20, resource_limits::ADDRESS_SPACE_BYTES >> 20);
        let fact =
            tr!("memory is limited to {limit} MiB, and a command needs up to {needed} MiB", limit, needed);
        return Err(Failure::ended(fact).hint(translate(resource_limits::RAISE_MEMORY)));
    }
    Ok(())
}
