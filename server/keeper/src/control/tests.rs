//! Tests of repeated requests.

use loopkeeper_core::decide::UserCommand;
use serde_json::json;
use tokio::sync::mpsc;

use super::{ControlReply, ControlRequest, ControlState, RequestLine, ask_once};

/// Answers each request with its number.
async fn answer_all(mut requests: mpsc::Receiver<ControlRequest>) {
    let mut seq = 0;
    while let Some(ControlRequest { command, answer }) = requests.recv().await {
        assert_eq!(command, UserCommand::Pause);
        seq += 1;
        answer.send(ControlReply::Done { seq }).unwrap();
    }
}

#[test]
fn a_request_that_is_repeated_before_its_answer_takes_effect_once() {
    let (sender, requests) = mpsc::channel(4);
    let control = ControlState::new("a-loop", sender);
    let line =
        |id: &str| -> RequestLine { serde_json::from_value(json!({"id": id, "do": "pause"})).unwrap() };
    let (line, other) = (line("1"), line("2"));
    let replies = crate::block_on(async {
        tokio::select! {
            biased;
            replies = async {
                let repeated = tokio::join!(ask_once(&control, &line), ask_once(&control, &line));
                (repeated, ask_once(&control, &other).await, ask_once(&control, &line).await)
            } => replies,
            () = answer_all(requests) => panic!("the channel is open"),
        }
    });
    let done = |seq: u64| ControlReply::Done { seq };
    assert_eq!(replies.unwrap(), ((done(1), done(1)), done(2), done(1)));
}
