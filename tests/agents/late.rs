//! Agents whose process does not exit after their last message.

use serde_json::Value;

use crate::cli::Terminal;

const SETTINGS: &str = "agent = \"mine\"\n\
    [limits]\ngrace = \"1s\"\niteration_time = \"60s\"\n\
    [agents.mine]\ncommand = [\"sh\", \"agent.sh\"]\noutput = \"claude\"\n";

/// Has Claude Code's output format, does the work, and waits indefinitely.
const AGENT: &str = "cat > /dev/null\n\
    echo '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"m\"}'\n\
    echo one > a.txt\n\
    echo '{\"type\":\"result\",\"is_error\":false,\"terminal_reason\":\"completed\",\"result\":\"Written.\"}'\n\
    sleep 1000\n";

#[test]
fn a_process_that_stays_after_its_turn_is_ended() {
    let terminal = Terminal::new();
    terminal
        .file("PROMPT.md", "# A line\n\n## Done when\n\n- It is there: `has \"one\" a.txt`\n")
        .file("loopkeeper.toml", SETTINGS)
        .file("agent.sh", AGENT);
    let ran = terminal.run(&["run", "--trust", "--json"]);
    ran.expect(0);
    let records: Vec<Value> = ran.stdout.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    let run = &records.iter().find(|it| it["type"] == "agent-ended").expect("an end of the agent")["run"];
    assert_eq!((&run["ending"], &run["error"]), (&Value::from("exited"), &Value::Null), "{run}");
    assert_eq!(run["note"], "it was still running after its turn and was ended", "{run}");
    assert_eq!(run["finalText"], "Written.", "{run}");
}
