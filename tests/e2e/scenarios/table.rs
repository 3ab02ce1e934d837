//! The rows of the core's table run by the real binary: each act becomes shell, or Claude Code's output. No row waits
//! longer than two seconds.

#[path = "../../../server/core/src/decide/tests/scenarios/rows.rs"]
mod rows;

use std::thread::Builder;

use serde_json::json;

use crate::support::scenario::{Ends, Scenario};
use rows::{BESIDE_CHECKS, Do, End, FAULTS, PLANS, Provider, Row, WITHOUT_CHECKS, WORK};

#[test]
fn rows_of_work_end_as_in_the_core() {
    play(WORK);
}

#[test]
fn rows_of_claims_beside_checks_end_as_in_the_core() {
    play(BESIDE_CHECKS);
}

#[test]
fn rows_of_claims_without_a_check_end_as_in_the_core() {
    play(WITHOUT_CHECKS);
}

#[test]
fn rows_of_faults_end_as_in_the_core() {
    play(FAULTS);
}

#[test]
fn rows_of_plans_end_as_in_the_core() {
    play(PLANS);
}

/// Each row in a thread of its name, which identifies failures; two at once, because some wait most of the time.
fn play(rows: &'static [Row]) {
    let thread =
        |row: &'static Row| Builder::new().name(row.name.to_owned()).spawn(|| play_one(row)).unwrap();
    for rows in rows.chunks(2) {
        let threads: Vec<_> = rows.iter().map(thread).collect();
        for (row, thread) in rows.iter().zip(threads) {
            assert!(thread.join().is_ok(), "the row {:?}", row.name);
        }
    }
}

fn play_one(row: &Row) {
    let acts: Vec<String> = row.turns.iter().map(|it| shell(it)).collect();
    let acts: Vec<&str> = acts.iter().map(String::as_str).collect();
    let played = Scenario {
        files: row.files,
        criteria: row.criteria,
        settings: &row.lines(),
        of_agent: if speaks_claude(row) { "output = \"claude\"" } else { "" },
        acts: &acts,
        ends: ends(&row.ends),
        ..Scenario::default()
    }
    .play();
    if !row.by.is_empty() {
        assert_eq!(played.agents(), row.by);
    }
}

fn ends(end: &End) -> Ends<'static> {
    match (end.kind, end.verified) {
        ("completed", true) => Ends::Verified(end.after, end.says),
        ("completed", false) => Ends::Claimed(end.after, end.says),
        ("limit", _) => Ends::Limit(end.after, end.says),
        ("breaker", _) => Ends::Breaker(end.after, end.says),
        ("failed", _) => Ends::Failed(end.after, end.says),
        ("stopped", _) => Ends::Ended(end.after, end.says),
        other => panic!("no loop ends as {other:?}"),
    }
}

fn speaks_claude(row: &Row) -> bool {
    row.turns.iter().any(|act| act.iter().any(|it| matches!(it, Do::Meets(_))))
}

fn shell(act: &[Do]) -> String {
    let message = act.iter().find_map(|it| if let Do::Say(text) = it { Some(*text) } else { None });
    let meets = act.iter().find_map(|it| if let Do::Meets(provider) = it { Some(*provider) } else { None });
    let words = match meets {
        Some(provider) => claude(provider, message.unwrap_or("Working on it.")),
        None => message.map_or_else(String::new, |it| printed(it, "'END'")),
    };
    let (last, work): (Vec<Do>, Vec<Do>) =
        act.iter().partition(|it| matches!(it, Do::Crash(_) | Do::Hang | Do::Babble));
    let lines = |steps: &[Do]| steps.iter().map(|it| line(*it)).collect::<String>();
    lines(&work) + &words + &lines(&last)
}

fn line(step: Do) -> String {
    match step {
        Do::Make(path) => format!("echo $n >> {path}\n"),
        Do::Drop(path) => format!("rm -f {path}\n"),
        Do::Write(path, text) => format!("cat > {path} <<'EOT'\n{text}EOT\n"),
        Do::Tick => "sed -i '0,/\\[ \\]/s//[x]/' fix_plan.md\n".to_owned(),
        Do::Crash(why) => format!("echo '{why}' >&2; exit 1\n"),
        Do::Hang => "sleep 600\n".to_owned(),
        Do::Babble => "while :; do echo still at it; sleep 0.02; done\n".to_owned(),
        Do::Leave => "(setsid sleep 600 >/dev/null 2>&1 &)\n".to_owned(),
        Do::Say(_) | Do::Meets(_) => String::new(),
    }
}

/// `END` instead of `'END'`: the shell expands variables.
fn printed(text: &str, end: &str) -> String {
    format!("cat <<{end}\n{text}\nEND\n")
}

/// One start of an agent with Claude Code's output format.
fn claude(meets: Provider, message: &str) -> String {
    let init = json!({"type": "system", "subtype": "init", "session_id": "0", "model": "m", "tools": []});
    let fails = |status: u32, text: &str| {
        json!({"type": "result", "subtype": "success", "is_error": true, "terminal_reason": "api_error",
            "api_error_status": status, "result": text, "session_id": "0", "total_cost_usd": 0})
        .to_string()
    };
    let answers = |denials: serde_json::Value| {
        json!({"type": "result", "subtype": "success", "is_error": false, "terminal_reason": "completed",
            "result": message, "session_id": "0", "total_cost_usd": 0, "permission_denials": denials})
        .to_string()
    };
    let (lines, code) = match meets {
        Provider::LoginFailed => (fails(401, "Invalid API key"), 1),
        Provider::Overloaded => (fails(529, "Overloaded"), 1),
        Provider::Quota => {
            let info = r#"{"status":"rejected","resetsAt":$(($(date +%s) + 2)),"rateLimitType":"five_hour"}"#;
            let event = format!(r#"{{"type":"rate_limit_event","rate_limit_info":{info}}}"#);
            (format!("{event}\n{}", fails(429, "You have hit your limit")), 1)
        }
        Provider::Denies => {
            (answers(json!([{"tool_name": "Bash", "tool_input": {"command": "git push"}}])), 0)
        }
        Provider::Answers => (answers(json!([])), 0),
    };
    let end = if meets == Provider::Quota { "END" } else { "'END'" };
    printed(&format!("{init}\n{lines}"), end) + &format!("exit {code}\n")
}
