//! The output of every agent, and the last message that is searched for claims.

use loopkeeper_agent::PermissionMode;
use loopkeeper_agent::acp::client::{AcpAction, AcpClient, PromptParams};
use loopkeeper_agent::acp::policy::PermissionPolicy;
use loopkeeper_agent::acp::start::BridgeOptions;
use loopkeeper_agent::claims;
use loopkeeper_agent::kind::Dialect;
use loopkeeper_agent::provider::LocalClock;
use loopkeeper_agent::reader::{AgentOutputReader, ProcessEnd};
use loopkeeper_fuzz::{Fuzzer, peak_memory_kib};

const DIALECTS: [Dialect; 6] =
    [Dialect::Text, Dialect::Claude, Dialect::Codex, Dialect::Gemini, Dialect::Opencode, Dialect::Acp];
/// Of the last message of a run.
const FINAL_TEXT_BYTES: usize = 16 * 1024;
const WORDS: &[&str] = &[
    "{\"type\":\"result\",",
    "\"is_error\":true,",
    "\"usage\":{\"input_tokens\":18446744073709551615}",
    "\"total_cost_usd\":-1e308",
    "{\"type\":\"tool_use\",\"name\":\"Bash\",\"input\":{",
    "\"content\":[",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{",
    "{\"type\":\"text\",\"text\":\"",
    "error: ",
    "429 ",
    "resets at 25:99",
    "resets in 99999999999999 h",
    "<promise>COMPLETE</promise>",
    "EXIT_SIGNAL: true",
    "RALPH_STATUS:",
    "- [x] ",
    "?\n",
];

fn fuzzer() -> Fuzzer {
    Fuzzer::new("agents", WORDS, &["agents", "runner_output"])
}

fn read(dialect: Dialect, input: &[u8]) {
    let mut reader = AgentOutputReader::new(dialect);
    for (index, line) in input.split(|it| *it == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line);
        if index % 7 == 6 {
            reader.stderr_line(&line);
        } else {
            reader.read_line(&line);
        }
    }
    reader.kill_reason(3);
    let run = reader.finish(ProcessEnd::exited(Some(0)), &LocalClock::utc(0));
    assert!(run.final_text.len() <= FINAL_TEXT_BYTES);
    assert!(run.tools.len() <= 50 && run.commands.len() <= 50 && run.errors.len() <= 20);
}

#[test]
fn any_output_is_read() {
    fuzzer().run(|input| DIALECTS.into_iter().for_each(|it| read(it, input)));
}

#[test]
fn any_last_message_is_read() {
    fuzzer().run(|input| {
        std::hint::black_box(claims::read(&String::from_utf8_lossy(input), "COMPLETE", &[]));
    });
}

#[test]
fn any_message_of_the_agent_client_protocol_is_read() {
    fuzzer().run(run_conversation);
}

fn run_conversation(input: &[u8]) {
    let policy = PermissionPolicy {
        permissions: PermissionMode::Edits,
        commands: Vec::new(),
        runner: None,
        commits: false,
    };
    let options = BridgeOptions { policy, model: None, effort: None };
    let (folder, prompt) = ("/work".to_owned(), "Do it.".to_owned());
    let (mut client, _) =
        AcpClient::begin(PromptParams { options, folder, prompt, session: None, held: false });
    for line in input.split(|it| *it == b'\n') {
        for action in client.handle_line(&String::from_utf8_lossy(line), &|it| it.starts_with("/work")) {
            assert!(!matches!(action, AcpAction::Write { path, .. } if !path.starts_with("/work")));
        }
    }
}

#[test]
fn the_time_is_linear() {
    fuzzer().run_growing(|input| DIALECTS.into_iter().for_each(|it| read(it, input)));
}

#[test]
fn the_time_is_linear_for_claims() {
    fuzzer().run_growing(|input| {
        std::hint::black_box(claims::read(&String::from_utf8_lossy(input), "COMPLETE", &[]));
    });
}

/// The memory after some hundred lines is that after any number of them.
#[test]
fn the_memory_of_a_reader_does_not_grow_with_its_input() {
    let text = "x".repeat(900);
    let claude = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"TEXT"}]}}"#;
    let codex = r#"{"type":"item.completed","item":{"id":"ID","type":"command_execution","command":"TEXT"}}"#;
    let acp = r#"{"sessionUpdate":"tool_call","toolCallId":"ID","kind":"edit","title":"TEXT"}"#;
    for (dialect, line) in [
        (Dialect::Text, "error ID: no such file TEXT"),
        (Dialect::Claude, claude),
        (Dialect::Codex, codex),
        (Dialect::Acp, acp),
    ] {
        let mut reader = AgentOutputReader::new(dialect);
        let mut feed = |numbers: std::ops::Range<u32>| {
            for number in numbers {
                reader.read_line(&line.replace("TEXT", &text).replace("ID", &number.to_string()));
            }
            peak_memory_kib()
        };
        let before = feed(0..1_000);
        let grown = feed(1_000..12_000) - before;
        assert!(grown < 3 * 1024, "{dialect:?}: {grown} KiB");
    }
}
