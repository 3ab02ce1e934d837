//! Agents that crash, hang, leave processes behind, or print unusable output.

use crate::support::ended_loop::EndedLoop;
use crate::support::scenario::Ends::{Breaker, Claimed, Failed, Limit, Verified};
use crate::support::scenario::{Ends, Scenario};

const DONE: &[&str] = &["It is there: `exists done`"];

#[test]
fn a_crash_is_retried_and_noted_in_the_next_prompt() {
    let played = Scenario {
        criteria: DONE,
        acts: &["echo 'out of memory' >&2; exit 1", "touch done"],
        ends: Verified(2, "after 2 iterations"),
        ..Scenario::default()
    }
    .play();
    played.iteration_sentence(1, "agent failed (exit 1: out of memory), nothing changed, checks not needed");
    played.prompt_has(2, "It was cut short: what it left may be half done.");
    assert_eq!(played.all("waiting").len(), 1);
}

#[test]
fn three_crashes_in_a_row_fail_the_loop() {
    let played = Scenario {
        criteria: DONE,
        acts: &["echo 'no such model' >&2; exit 1"],
        ends: Failed(3, "the agent `mine` failed 3 times in a row: exit 1: no such model"),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.all("waiting").len(), 2, "nothing is waited for after the last");
}

#[test]
fn an_end_by_a_signal_is_a_failure() {
    Scenario {
        criteria: DONE,
        acts: &["kill -SEGV $$", "touch done"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play()
    .iteration_sentence(1, "agent failed (ended by signal 11), nothing changed, checks not needed");
}

#[test]
fn progress_counts_whatever_the_exit_code() {
    // Work counts whatever the exit code.
    Scenario {
        criteria: &["Enough: `$ wc -l < log` `>= 5`"],
        before: "touch log",
        acts: &["echo $n >> log; exit 1"],
        ends: Verified(5, "after 5 iterations"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn an_exit_with_127_could_not_be_started() {
    Scenario {
        criteria: DONE,
        acts: &["exec no-such-program"],
        ends: Failed(3, "the agent `mine` failed 3 times in a row: could not be started (exit 127)"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn an_agent_whose_program_disappears_fails_the_loop() {
    let played = Scenario {
        criteria: DONE,
        before: "printf '#!/bin/sh\\necho $$ >> log\\nrm -- \"$0\"\\n' > agent; chmod +x agent",
        of_agent: "command = [\"./agent\"]",
        ends: Failed(2, "was not found, or is not executable. Hint: install it or set `agents.mine.command`"),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.record("agent-ended", 2)["run"]["ending"], "not-started");
    assert_eq!(played.all("waiting").len(), 0, "a program that is not there does not come back by itself");
}

#[test]
fn an_agent_over_its_time_is_ended_and_its_work_counts() {
    let played = Scenario {
        criteria: DONE,
        settings: "limits.iteration_time = \"4s\"",
        acts: &["touch half; sleep 600", "touch done"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.record("agent-ended", 1)["run"]["ending"], "timed-out");
    let sentence = played.record("iteration-ended", 1)["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("out of time after "), "{sentence}");
    assert!(sentence.ends_with(" s, 1 file changed, 0 of 1 pass"), "{sentence}");
}

#[test]
fn an_agent_that_always_hangs_fails_the_loop() {
    Scenario {
        criteria: DONE,
        settings: "limits.iteration_time = \"2s\"",
        acts: &["trap '' TERM; while :; do sleep 600; done"],
        ends: Failed(3, "the agent `mine` failed 3 times in a row: "),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn an_agent_without_activity_is_ended_as_idle() {
    let played = Scenario {
        criteria: DONE,
        settings: "limits.idle_time = \"3s\"",
        acts: &["sleep 600", "touch done"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.record("agent-ended", 1)["run"]["ending"], "idle");
}

#[test]
fn output_is_activity() {
    let busy = "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.5; done; touch done";
    Scenario {
        criteria: DONE,
        settings: "limits.idle_time = \"2500ms\"",
        acts: &[busy],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn changed_files_are_activity() {
    let quiet = "for i in 1 2 3 4 5 6 7 8; do echo $i >> log; sleep 0.5; done; touch done";
    Scenario {
        criteria: DONE,
        settings: "limits.idle_time = \"2500ms\"",
        acts: &[quiet],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn processor_time_is_activity() {
    let busy = "timeout 4 sh -c 'while :; do :; done'; touch done";
    Scenario {
        criteria: DONE,
        settings: "limits.idle_time = \"2500ms\"",
        acts: &[busy],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn a_daemon_of_the_agent_is_ended_before_the_checks() {
    let played = Scenario {
        // The check itself opens the gate: a process that is still alive then edits.
        criteria: &["Quiet: `$ test -f done && touch ../agent/gate && sleep 0.5 && test ! -f late`"],
        acts: &["(setsid sh -c 'until [ -f ../agent/gate ]; do sleep 0.02; done; while :; do echo $$ >> late; sleep 0.05; done' >/dev/null 2>&1 &); touch done"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    let survivors = played.record("agent-ended", 1)["run"]["survivors"].as_array().unwrap();
    assert!(survivors.iter().any(|it| it.as_str().unwrap().contains("sh")), "{survivors:?}");
    assert!(!played.world.has("late"));
}

#[test]
fn fifty_megabytes_of_output_are_bounded() {
    let played = Scenario {
        criteria: DONE,
        acts: &["head -c 25000000 /dev/zero | tr '\\0' x; yes 'a line of words' | head -c 25000000; touch done; echo; echo bye"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    let run = &played.record("agent-ended", 1)["run"];
    assert!(run["dropped"].as_u64().unwrap() > 10_000_000, "{run}");
    assert!(run["finalText"].as_str().unwrap().ends_with("\nbye"));
    let outputs = played.world.loops()[0].join("output");
    let kept: u64 = std::fs::read_dir(outputs).unwrap().map(|it| it.unwrap().metadata().unwrap().len()).sum();
    assert!(kept < 17 * 1024 * 1024, "{kept} bytes kept");
    assert!(played.ran.stdout.len() < 100_000);
}

#[test]
fn invalid_utf_8_and_escapes_are_sanitised() {
    let played = Scenario {
        criteria: DONE,
        acts: &["touch done; printf '\\377\\376 \\033]0;title\\007\\033[31mred\\033[0m \\342\\200\\256evil\\000\\rend\\n'"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    let text = played.last()["finalText"].as_str().unwrap();
    assert!(text.contains("red") && text.contains("end"), "{text:?}");
    let harmless = |it: char| it == '\n' || !(it.is_control() || ('\u{202a}'..='\u{202e}').contains(&it));
    assert!(text.chars().all(harmless), "{text:?}");
    assert!(!played.ran.stdout.contains("\\u001b"));
}

#[test]
fn a_secret_that_it_prints_is_in_no_record() {
    let secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let scenario = Scenario {
        criteria: DONE,
        acts: &["touch done; echo \"key: $ANTHROPIC_API_KEY\"; env | cut -d= -f1 | sort > $folder/names"],
        ends: Verified(1, ""),
        ..Scenario::default()
    };
    let world = scenario.world();
    let mut command = world.terminal.command(&["run", "--json", "--trust"]);
    command.env("ANTHROPIC_API_KEY", secret).env("GIT_INDEX_FILE", "/nowhere").env("VSCODE_PID", "1");
    let ran = crate::cli::Ran::of(&command.output().unwrap());
    let played = EndedLoop::new(world, ran);
    played.assert_end(&scenario.ends.expected());
    assert!(played.last()["finalText"].as_str().unwrap().starts_with("key: "));
    assert!(!played.ran.stdout.contains(secret));
    let names = std::fs::read_to_string(played.world.shared("names")).unwrap();
    let has = |name: &str| names.lines().any(|it| it == name);
    assert!(has("ANTHROPIC_API_KEY") && has("PATH") && has("LOOPKEEPER_LOOP"), "{names}");
    assert!(!has("GIT_INDEX_FILE") && !has("VSCODE_PID") && !has("LOOPKEEPER_STATE_DIR"), "{names}");
}

/// Works and judges; records its arguments, and the content of the settings file that they name.
const CLAUDE_SEES: &str = r#"key=$(sed -n 's/.*{"judge": "\([0-9a-f]*\)".*/\1/p')
for it in "$@"; do
  case $it in
    *.settings.json) echo "mode $(stat -c %a "$it")"; cat "$it"; echo ;;
    *) echo "word $it" ;;
  esac
done >> ../agent/seen
[ "$LOOPKEEPER_ROLE" = judge ] || touch done
echo '{"type":"system","subtype":"init","session_id":"0","model":"m","tools":[]}'
printf '{"type":"result","subtype":"success","is_error":false,"duration_ms":5,"num_turns":1,"result":"{\\"judge\\": \\"%s\\", \\"holds\\": true, \\"reason\\": \\"fine\\", \\"places\\": []}","session_id":"0","total_cost_usd":0,"usage":{"input_tokens":1,"output_tokens":1}}\n' "$key"
"#;

#[test]
fn settings_of_claude_are_on_no_command_line() {
    let settings = "agent = [\"claude\"]\n[agents.claude]\ncommand = [\"/bin/sh\", \"fake.sh\"]\nargs = [\"--settings\", \"mine.json\"]\n";
    let secret = r#"{"env":{"KEY":"orange-elephant"}}"#;
    let played = Scenario {
        files: &[("fake.sh", CLAUDE_SEES), ("mine.json", secret)],
        criteria: &["Done: `exists done`", "It is good: `judge`"],
        settings,
        ends: Claimed(1, "judged by the agent that worked"),
        ..Scenario::default()
    }
    .play();
    let seen = std::fs::read_to_string(played.world.shared("seen")).unwrap();
    let words: Vec<&str> = seen.lines().filter_map(|it| it.strip_prefix("word ")).collect();
    assert!(words.contains(&"--verbose") && !words.iter().any(|it| it.contains("orange")), "{seen}");
    // The agent and its judge.
    assert_eq!(seen.lines().filter(|it| *it == "mode 600").count(), 2, "{seen}");
    assert_eq!(seen.lines().filter(|it| it.contains(r#""KEY":"orange-elephant""#)).count(), 2, "{seen}");
    // The display before the start is complete.
    played.world.run(&["run", "--dry-run"]).expect(0).out("orange-elephant");
}

/// One start of an agent with Claude Code's output format.
fn claude(result: &str) -> String {
    let init = r#"{"type":"system","subtype":"init","session_id":"0","model":"m","tools":[]}"#;
    format!("cat <<'END'\n{init}\n{result}\nEND\n")
}

fn result(cost: &str, text: &str) -> String {
    format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"duration_ms":5,"num_turns":1,"result":"{text}","session_id":"0","total_cost_usd":{cost},"usage":{{"input_tokens":10,"output_tokens":5}}}}"#
    )
}

#[track_caller]
fn speaks_claude(settings: &str, acts: &[&str], ends: Ends<'_>) -> EndedLoop {
    Scenario { criteria: DONE, settings, of_agent: "output = \"claude\"", acts, ends, ..Scenario::default() }
        .play()
}

#[test]
fn costs_add_up_to_the_limit() {
    let act = format!("echo $n >> log; {}", claude(&result("0.6", "Working on it.")));
    let played = speaks_claude(
        "limits.cost_usd = 1.0",
        &[&act],
        Ends::Limit(2, "limit reached: $1.20 of $1.00 spent, after 2 iterations"),
    );
    assert_eq!(played.last()["spent"]["costMicros"], 1_200_000);
    assert_eq!(played.last()["finalText"], "Working on it.");
    played.prompt_has(2, "$0.40");
}

#[test]
fn a_refused_login_ends_it_at_once() {
    let failed = r#"{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":401,"duration_ms":5,"num_turns":1,"result":"Invalid API key","session_id":"0","total_cost_usd":0,"usage":{}}"#;
    let act = claude(failed) + "exit 1";
    let played = speaks_claude("", &[&act], Failed(1, "the agent `mine` is not logged in: Invalid API key"));
    assert_eq!(played.last()["outcome"]["cause"], "agent");
    assert_eq!(played.all("waiting").len(), 0);
}

#[test]
fn a_login_error_on_stderr_fails_the_loop() {
    Scenario {
        criteria: DONE,
        acts: &["echo 'Invalid API key · Please run /login' >&2; exit 1"],
        ends: Failed(1, "the agent `mine` is not logged in: Invalid API key"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn a_crash_after_text_about_limits_waits_for_no_reset() {
    let quotes = "echo 'The log said: usage limit reached, resets 5pm. 429 Too Many Requests.'";
    let played = Scenario {
        criteria: DONE,
        acts: &[&format!("{quotes}; echo 'segmentation fault' >&2; exit 139"), "touch done"],
        ends: Verified(2, ""),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.all("waiting")[0]["reason"], "backoff");
}

#[test]
fn a_missing_result_is_a_crash() {
    let begins = "echo '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"x\"}'";
    for act in ["true", begins] {
        speaks_claude("limits.iterations = 1", &[act], Limit(1, "")).iteration_sentence(
            1,
            "agent failed (crashed: it printed no result), nothing changed, checks not needed",
        );
    }
}

#[test]
fn a_successful_agent_without_changes_is_not_a_crash() {
    let act = claude(&result("0", "Nothing to do."));
    speaks_claude("", &[&act], Breaker(2, "2 iterations under 10 s without a file change"));
}

#[test]
fn a_refused_request_counts_whatever_the_exit_code() {
    let login = r#"litellm.AuthenticationError: AnthropicException - {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#;
    let advice = "The API provider is not able to authenticate you. Check your API key.";
    Scenario {
        criteria: DONE,
        acts: &[&format!("echo 'Aider v0.86.1'; echo '{login}'; echo '{advice}'")],
        ends: Failed(1, "the agent `mine` is not logged in: invalid x-api-key"),
        ..Scenario::default()
    }
    .play();
    Scenario {
        criteria: DONE,
        acts: &["echo 'Your workspace is out of credits. Add credits to continue.' >&2; exit 1"],
        ends: Failed(1, "the account of the agent `mine` has no credit left"),
        ..Scenario::default()
    }
    .play();
}

#[test]
fn a_limit_of_a_month_is_longer_than_the_loop() {
    let until = "$(date -d '+20 days' '+%b %-d, %Y %-I:%M %p')";
    let played = Scenario {
        criteria: DONE,
        acts: &[&format!("echo \"You've hit your usage limit, try again at {until}.\" >&2; exit 1")],
        ends: Limit(1, "the provider's usage limit lasts longer than the 8 h of this loop"),
        ..Scenario::default()
    }
    .play();
    let error = &played.record("agent-ended", 1)["run"]["error"];
    assert!(error["resetsAt"].is_u64() && error["class"] == "quota", "{error}");
}

#[test]
fn events_in_one_array_after_a_progress_line_are_read() {
    let events =
        format!("[{},{}]", r#"{"type":"system","subtype":"init","session_id":"s"}"#, result("0.5", "Done."));
    let act = format!("touch done; printf '\\033[2K| working\\r%s\\n' '{events}'");
    let played = speaks_claude("", &[&act], Verified(1, ""));
    let run = &played.record("agent-ended", 1)["run"];
    assert_eq!(
        (run["costMicros"].as_u64(), run["finalText"].as_str()),
        (Some(500_000), Some("Done.")),
        "{run}"
    );
}
