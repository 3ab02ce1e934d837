//! Work that begins once the response to the running request is sent. eglot shows a question that arrives earlier in a
//! nested prompt, which the response then ends without an answer.

use std::cell::RefCell;
use std::pin::Pin;

type FollowUp = Pin<Box<dyn Future<Output = ()> + Send>>;

tokio::task_local! {
    static FOLLOW_UPS: RefCell<Vec<FollowUp>>;
}

/// Spawns the work after the response to the request that is being handled; at once outside of a request.
pub(crate) fn spawn_after_response(work: impl Future<Output = ()> + Send + 'static) {
    let mut work: Option<FollowUp> = Some(Box::pin(work));
    let _ = FOLLOW_UPS.try_with(|it| it.borrow_mut().extend(work.take()));
    if let Some(work) = work {
        tokio::spawn(work);
    }
}

/// Handles a request; returns its response and the work to spawn after it is sent.
pub(super) async fn with_follow_ups<R>(handled: impl Future<Output = R>) -> (R, Vec<FollowUp>) {
    let collected = async {
        let response = handled.await;
        (response, FOLLOW_UPS.with(RefCell::take))
    };
    FOLLOW_UPS.scope(RefCell::default(), collected).await
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use tokio::task::yield_now;

    use super::{spawn_after_response, with_follow_ups};

    #[tokio::test]
    async fn follow_ups_wait_for_the_response() {
        let ran = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&ran);
        let handled = async {
            spawn_after_response(async move { flag.store(true, Ordering::SeqCst) });
            yield_now().await;
            "response"
        };
        let (response, follow_ups) = with_follow_ups(handled).await;
        assert_eq!((response, ran.load(Ordering::SeqCst)), ("response", false));
        for it in follow_ups {
            it.await;
        }
        assert!(ran.load(Ordering::SeqCst));
    }

    #[tokio::test]
    async fn outside_of_a_request_they_run_at_once() {
        let (done, told) = tokio::sync::oneshot::channel();
        spawn_after_response(async move { done.send(()).expect("a receiver") });
        told.await.expect("the work ran");
    }
}
