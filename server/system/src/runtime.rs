//! Creates the asynchronous runtime of keeper, server and terminal.

use std::fs::File;
use std::io;
use std::thread;
use std::time::Duration;

use loopkeeper_text::tr;
use tokio::runtime::{Builder, Runtime};

/// How long an idle thread for blocking work stays.
const KEEP_ALIVE: Duration = Duration::from_secs(60 * 60);

/// Stack of a thread for blocking work, independent of `RUST_MIN_STACK`.
const STACK_BYTES: usize = 2 << 20;

/// Descriptors that the runtime and its signals open at most, with a reserve for a later version of tokio.
const DESCRIPTORS: usize = 12;

/// A runtime on the current thread.
///
/// Fails if no thread can be started (a limit of processes), because tokio would panic at the first blocking work. With
/// one such thread at work or idle it queues the work instead, so the first is started here and stays.
/// Also fails if descriptors are few, because tokio would panic while it opens the channel of its signals.
pub fn new_runtime() -> io::Result<Runtime> {
    let free = (0..DESCRIPTORS).map(|_| File::open("/dev/null")).collect::<io::Result<Vec<_>>>()?;
    drop(free);
    let builder = &mut Builder::new_current_thread();
    let runtime =
        builder.enable_all().thread_keep_alive(KEEP_ALIVE).thread_stack_size(STACK_BYTES).build()?;
    let probe = thread::Builder::new().spawn(|| {});
    let probe =
        probe.map_err(|error| io::Error::new(error.kind(), tr!("cannot start a thread: {error}", error)))?;
    let _ = probe.join();
    drop(runtime.spawn_blocking(|| {}));
    Ok(runtime)
}
