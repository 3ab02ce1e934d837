//! Mutated request lines: none causes a panic, and the part that is stored can be shown.

use loopkeeper_core::decide::UserCommand;
use loopkeeper_fuzz::Fuzzer;

use super::{HookQuestion, RequestLine, parse_command};

const WORDS: &[&str] = &[
    "{\"id\":\"1\",\"do\":\"",
    "\"now\":true,",
    "\"iteration\":4294967296,",
    "\"paths\":[",
    "\"what\":\"anyway\",",
    "\"do\":\"accept\",\"what\":\"",
    "\"do\":\"hook\",",
    "\"hook\":\"permission\",",
    "\"token\":\"",
    "[[[[",
    "}",
];

fn read(line: &[u8]) {
    if let Ok(request) = serde_json::from_slice::<RequestLine>(line)
        && let Ok(UserCommand::AcceptWeakening { by: Some(by) }) = parse_command(&request)
    {
        assert!(by.chars().count() <= 100 && !by.contains(char::is_control), "{by:?}");
    }
    let _ = serde_json::from_slice::<HookQuestion>(line);
}

#[test]
fn any_line_is_read() {
    Fuzzer::new("requests", WORDS, &["versions/0.1.0-20261126.control.jsonl"]).run(|input| {
        input.split(|it| *it == b'\n').for_each(read);
    });
}

#[test]
fn the_time_is_linear() {
    Fuzzer::new("requests", WORDS, &[]).run_growing(read);
}
