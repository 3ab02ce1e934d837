//! The page about a loop.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::cli::Terminal;

const AGENT: &str = "agent = \"mine\"\nagents.mine.command = [\"sh\", \"-c\", \"cat > told; [ -e one ] && touch two; touch one\"]\n";
const TASK: &str = "# Log in & out\n\n## Done when\n\n- first: `exists one`\n- a < b: `exists two`\n";

#[test]
fn a_loop_is_reported_as_html_json_and_markdown() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", TASK).file("loopkeeper.toml", AGENT);
    terminal.run(&["report"]).expect(2).err("no loop");
    terminal.run(&["run", "--trust"]).expect(0);

    let written = terminal.run(&["report"]);
    written.expect(0);
    let path = written.stdout.trim();
    let page = fs::read_to_string(path).unwrap();
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    for part in ["Log in &amp; out", "a &lt; b", "Criteria over iterations", "2 of 25", "✗", "✓"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<img") && !page.contains("<script"), "{page}");

    let json: Value = serde_json::from_str(&terminal.run(&["report", "--format", "json"]).stdout).unwrap();
    assert_eq!(json["iterations"].as_array().unwrap().len(), 2);
    assert_eq!(json["outcome"]["verified"], true);
    assert_eq!(json["criteria"][1]["cells"], serde_json::json!(["fail", "pass"]));

    let markdown = terminal.run(&["report", "latest", "--format", "markdown"]);
    markdown.expect(0).out("| first | ✓✓ | ✓ |").out("| a &lt; b | ✗✓ | ✓ |");
    terminal.run(&["report", "--to", "page.html"]).expect(0).out("Wrote page.html.");
    assert_eq!(terminal.read("page.html"), page);
    terminal.run(&["report", "--to", "gone/page.html"]).expect(1).err("cannot write gone/page.html");
}
