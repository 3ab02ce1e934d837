//! The cost of verified tasks over all journals of a user.

use std::fs;

use serde_json::{Value, json};

use crate::cli::{Ran, Terminal};

const TASK: &str = "# Write <b>it</b>\n\n## Done when\n\n- it is there: `exists done`\n";
/// Works in its second iteration; each costs a quarter of a dollar.
const SCRIPT: &str = r#"cat > /dev/null
if [ -e notes ]; then touch done; else touch notes; fi
echo '{"type":"system","subtype":"init","session_id":"0","model":"m-1","tools":[]}'
echo '{"type":"result","subtype":"success","is_error":false,"duration_ms":5,"num_turns":1,"result":"ok","session_id":"0","total_cost_usd":0.25,"usage":{"input_tokens":10,"output_tokens":5}}'
"#;
const AGENT: &str =
    "agent = \"mine\"\n[agents.mine]\ncommand = [\"sh\", \"agent.sh\"]\noutput = \"claude\"\n";

fn json_of(ran: &Ran) -> Value {
    serde_json::from_str(&ran.expect(0).stdout).expect("one JSON object")
}

/// A loop that ended at its limit, and one that verified the task.
fn two_loops() -> Terminal {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", TASK).file("agent.sh", SCRIPT).file("loopkeeper.toml", AGENT);
    terminal.run(&["run", "--trust", "--max-iterations", "1"]).expect(4);
    terminal.run(&["run"]).expect(0);
    terminal
}

#[test]
fn a_failed_loop_is_part_of_the_cost_of_the_verified_task() {
    let terminal = two_loops();
    terminal
        .run(&["insight"])
        .expect(0)
        .out("$0.50 for each verified task: $0.50 in all, 1 task verified.\n")
        .out("2 loops, 1 verified; cost known for 2 of 2 loops.\n")
        .out("\nm-1 ")
        .out("\nturned ");

    let figures = json_of(&terminal.run(&["insight", "--json"]));
    for (key, value) in [("loops", 2), ("verifiedTasks", 1), ("costKnownLoops", 2), ("costMicros", 500_000)] {
        assert_eq!(figures["total"][key], value, "{key}: {figures}");
    }
    assert_eq!(figures["total"]["costPerVerifiedMicros"], 500_000);
    assert_eq!(
        (&figures["agents"][0]["name"], &figures["models"][0]["name"]),
        (&json!("mine"), &json!("m-1"))
    );
    let counts = ["turned", "kept", "nothing", "waited"].map(|it| figures["iterations"][it]["count"].clone());
    assert_eq!(counts, [json!(1), json!(1), json!(0), json!(0)]);
    assert_eq!(figures["leftOut"], json!([]));
}

#[test]
fn loops_are_selected_by_day_and_by_folder() {
    let terminal = two_loops();
    let loops = |args: &[&str]| {
        json_of(&terminal.run(&[&["insight", "--json"], args].concat()))["total"]["loops"].clone()
    };
    assert_eq!(loops(&["--since", "2020-01-01"]), 2);
    assert_eq!(loops(&["--since", "2999-01-01"]), 0);
    assert_eq!(loops(&["."]), 2);
    assert_eq!(loops(&[terminal.folder().to_str().unwrap()]), 2, "folders above count as well");
    terminal.run(&["insight", "--since", "soon"]).expect(2).err("a day such as 2026-11-20");
    terminal.run(&["insight", "gone"]).expect(2).err("there is no loop in ").err("Hint: ");
    terminal.run(&["insight", "--json", "--html", "page.html"]).expect(2);
}

#[test]
fn the_figures_have_a_page_without_scripts() {
    let terminal = two_loops();
    terminal.run(&["insight", "--html", "page.html"]).expect(0).out("Wrote page.html.");
    let page = terminal.read("page.html");
    for part in ["$0.50 for each verified task", "default-src 'none'", "What iterations bought"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
    terminal.run(&["insight", "--html", "gone/page.html"]).expect(1).err("cannot write gone/page.html");
}

#[test]
fn a_damaged_journal_is_named_and_in_no_figure() {
    let terminal = two_loops();
    let damaged_loop = terminal.loops().remove(0);
    let journal = damaged_loop.join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let damaged = text.replacen("\"iteration\"", "\"iterotion\"", 1);
    fs::write(&journal, &damaged).unwrap();
    let figures = json_of(&terminal.run(&["insight", "--json"]));
    assert_eq!((&figures["total"]["loops"], &figures["leftOutCount"]), (&json!(1), &json!(1)));
    let id = damaged_loop.file_name().unwrap().to_str().unwrap();
    assert_eq!(figures["leftOut"][0]["loopId"], id);
    terminal
        .run(&["insight"])
        .expect(0)
        .out("1 loop cannot be read and is left out")
        .out(id)
        .out("is damaged in line");
    assert_eq!(fs::read_to_string(&journal).unwrap(), damaged, "nothing is repaired");
}

#[test]
fn demos_are_verified_tasks_of_unknown_cost() {
    let terminal = Terminal::new();
    let folders = ["first", "second"].map(|it| terminal.root().join(it).to_string_lossy().into_owned());
    for folder in &folders {
        terminal.run(&["demo", "--keep", folder]).expect(0);
        let ran = terminal.command(&["run"]).current_dir(folder).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    }
    let figures = json_of(&terminal.run(&["insight", "--json", &folders[0], &folders[1]]));
    assert_eq!(figures["total"]["verifiedTasks"], 2, "{figures}");
    assert_eq!(figures["total"]["costKnownLoops"], 0, "{figures}");
    assert_eq!(figures["total"].get("costPerVerifiedMicros"), None, "{figures}");
    assert_eq!(figures["projects"].as_array().map(Vec::len), Some(2), "{figures}");
    let turned = figures["iterations"]["turned"]["count"].as_u64().unwrap();
    assert!(turned >= 2 && turned < figures["iterations"]["count"].as_u64().unwrap(), "{figures}");
    let one = json_of(&terminal.run(&["insight", "--json", &folders[1]]));
    assert_eq!(one["total"]["verifiedTasks"], 1, "{one}");
    terminal
        .run(&["insight"])
        .expect(0)
        .out("The cost for each verified task is unknown, because no agent reported one: 2 tasks verified.");
}
