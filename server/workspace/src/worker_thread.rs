//! One thread that runs blocking work in order. The allocator keeps the peak of every thread that ever allocated: large
//! documents whose work alternates between tokio's blocking threads cost several times their memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use tokio::sync::oneshot;

type BlockingWork = Box<dyn FnOnce() + Send>;

/// Ends with the last of its clones.
#[derive(Clone)]
pub struct WorkerThread {
    /// `None`: the system is out of threads, and the caller runs the work.
    queue: Option<Sender<BlockingWork>>,
}

impl WorkerThread {
    pub fn start(name: &str) -> Self {
        let (sender, queue) = channel::<BlockingWork>();
        let run = move || queue.into_iter().for_each(|work| work());
        let started = thread::Builder::new().name(name.to_owned()).spawn(run);
        Self { queue: started.is_ok().then_some(sender) }
    }

    /// Runs `work` after everything that was queued earlier. `None`: it panicked, which is a bug.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (sender, result) = oneshot::channel();
        let work = move || {
            let _ = sender.send(catch_unwind(AssertUnwindSafe(work)).ok());
        };
        match &self.queue {
            Some(queue) => queue.send(Box::new(work)).ok()?,
            None => work(),
        }
        result.await.ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::WorkerThread;

    #[tokio::test]
    async fn work_runs_on_one_other_thread() {
        let worker = WorkerThread::start("test");
        let same = worker.clone();
        let (one, other) =
            tokio::join!(worker.run(|| thread::current().id()), same.run(|| thread::current().id()));
        assert!(one.is_some());
        assert_eq!(one, other);
        assert_ne!(one, Some(thread::current().id()));
    }

    #[tokio::test]
    async fn work_that_panics_does_not_end_the_thread() {
        let worker = WorkerThread::start("test");
        assert_eq!(worker.run(|| assert_eq!(1, 2)).await, None);
        assert_eq!(worker.run(|| 3).await, Some(3));
    }

    #[tokio::test]
    async fn without_a_thread_the_caller_runs_the_work() {
        let worker = WorkerThread { queue: None };
        assert_eq!(worker.run(|| thread::current().id()).await, Some(thread::current().id()));
        assert_eq!(worker.run(|| assert_eq!(1, 2)).await, None);
    }
}
