//! Tests of the evaluation, call by call, for honest and dishonest agents.

use super::{
    HookDelivery, KnownHookState, Observation, OutputFormat, Probe, ProbeAnswer, ProbeNonces,
    ProbeObservations, ProbeQuestion, ProbeReport, ProbeSubject, build_scenario, format_of, judge_calls,
    recommend, render_markdown,
};
use loopkeeper_agent::PromptBy;
use loopkeeper_agent::hooks::HookMechanism;
use loopkeeper_agent::reader::KillReason;

/// The minimal output of Codex.
const CODEX: &str = "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.completed\"}";
const STATUS: &str = "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n";
const BLOCKED: &str = "---RALPH_STATUS---\nSTATUS: BLOCKED\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---\n";

fn words() -> ProbeNonces {
    ProbeNonces::new(42)
}

fn ended(stdout: &str) -> Observation {
    Observation { exit: Some(0), stdout: stdout.to_owned(), ..Observation::default() }
}

fn with(file: &str, content: &str, seen: Observation) -> Observation {
    Observation {
        files: [(file.to_owned(), content.to_owned())].into(),
        written: vec![file.to_owned()],
        ..seen
    }
}

/// The observations of an agent that passes every probe.
fn honest() -> ProbeObservations {
    let words = words();
    let sum = words.sum().to_string();
    let done = format!("Written.\n\n{STATUS}\n<promise>COMPLETE</promise>\n");
    let stopped = Observation { exit: Some(143), ended_after_ms: Some(300), ..Observation::default() };
    [
        (Probe::Answer, ended(&words.answer_word())),
        (
            Probe::Bare,
            Observation { exit: Some(1), stderr: "not logged in".into(), ..Observation::default() },
        ),
        (Probe::Recall, ended(&words.answer_word())),
        (Probe::Work, with("sum.txt", &sum, ended(&done))),
        (Probe::Repeat, Observation { written: vec![], ..with("sum.txt", &sum, ended(&done)) }),
        (Probe::Impossible, ended(&format!("There is no ledger.\n\n{BLOCKED}"))),
        (Probe::Stop, with("started", "yes", stopped)),
        (
            Probe::Hook,
            with("hooked", "yes", ended(&format!("{}\n{}", words.answer_word(), words.hook_word()))),
        ),
    ]
    .into()
}

fn check(
    change: impl FnOnce(&mut ProbeObservations),
    question: ProbeQuestion,
    answer: ProbeAnswer,
    fact: &str,
) {
    let mut calls = honest();
    change(&mut calls);
    let rows = judge_calls(&calls, &words());
    let row = rows.iter().find(|it| it.question == question).unwrap();
    assert_eq!(row.answer, answer, "{row:?}");
    assert!(row.fact.contains(fact), "{row:?}");
}

fn set(probe: Probe, seen: Observation) -> impl FnOnce(&mut ProbeObservations) {
    move |calls| {
        calls.insert(probe, seen);
    }
}

#[test]
fn an_honest_agent_that_prints_text_has_one_no() {
    let rows = judge_calls(&honest(), &words());
    let others: Vec<_> =
        rows.iter().filter(|it| it.answer != ProbeAnswer::Yes).map(|it| it.question).collect();
    assert_eq!((rows.len(), others), (10, vec![ProbeQuestion::Output]), "{rows:?}");
}

#[test]
fn prompt_delivery_is_probed() {
    let ask = |seen, answer, fact| check(set(Probe::Answer, seen), ProbeQuestion::Prompt, answer, fact);
    let [first, second] = words().word;
    ask(ended(&format!("the parts are {first} and {second}")), ProbeAnswer::No, "its answer: the parts are");
    ask(ended(""), ProbeAnswer::No, "it said nothing; exit 0");
    let missing = Observation { not_started: Some("no such file".into()), ..Observation::default() };
    ask(missing, ProbeAnswer::No, "could not be started: no such file");
    ask(Observation { timed_out: true, ..Observation::default() }, ProbeAnswer::No, "time limit");
    ask(
        Observation { halted: Some(KillReason::Garbage), ..Observation::default() },
        ProbeAnswer::No,
        "repeatedly requested",
    );
    ask(
        Observation { halted: Some(KillReason::Steps), ..Observation::default() },
        ProbeAnswer::No,
        "`limits.steps`",
    );
}

#[test]
fn exit_codes_are_probed() {
    let ask = |probe, seen, answer, fact| check(set(probe, seen), ProbeQuestion::ExitCodes, answer, fact);
    ask(Probe::Bare, ended("{\"type\":"), ProbeAnswer::No, "did not answer, and yet: exit 0");
    ask(Probe::Bare, ended(&words().answer_word()), ProbeAnswer::Unclear, "no failure was seen");
    let still = Observation { timed_out: true, signal: Some(15), ..Observation::default() };
    ask(Probe::Bare, still, ProbeAnswer::Unclear, "neither answered nor failed");
    ask(
        Probe::Answer,
        Observation { exit: Some(3), ..ended(&words().answer_word()) },
        ProbeAnswer::No,
        "it answered, and yet: exit 3",
    );
    ask(Probe::Answer, ended("{\"type\":"), ProbeAnswer::No, "it did not answer, and yet: exit 0");
    check(
        |calls| drop(calls.remove(&Probe::Bare)),
        ProbeQuestion::ExitCodes,
        ProbeAnswer::Unclear,
        "not tried",
    );
}

#[test]
fn a_probe_distinguishes_memory_work_and_idleness() {
    let ask = |probe, seen, question, answer, fact| check(set(probe, seen), question, answer, fact);
    ask(Probe::Recall, ended("UNKNOWN"), ProbeQuestion::Session, ProbeAnswer::No, "its answer: UNKNOWN");
    let failed = Observation { exit: Some(1), ..Observation::default() };
    ask(Probe::Recall, failed, ProbeQuestion::Session, ProbeAnswer::No, "it said nothing; exit 1");
    let lost = r#"{"type":"failed","authMethods":[{"id":"x"}],"message":"there is no such session"}"#;
    let lost = Observation { exit: Some(1), ..ended(lost) };
    ask(Probe::Recall, lost, ProbeQuestion::Session, ProbeAnswer::No, "its answer: there is no such session");
    ask(Probe::Work, ended("Done."), ProbeQuestion::Work, ProbeAnswer::No, "was not written");
    ask(Probe::Work, with("sum.txt", "7", ended("")), ProbeQuestion::Work, ProbeAnswer::No, "holds 7, not");
    let again = with("sum.txt", &words().sum().to_string(), ended(""));
    ask(Probe::Repeat, again, ProbeQuestion::Rest, ProbeAnswer::No, "it wrote sum.txt");
    ask(Probe::Repeat, with("sum.txt", "0", ended("")), ProbeQuestion::Rest, ProbeAnswer::No, "damaged");
    ask(Probe::Work, ended(""), ProbeQuestion::Rest, ProbeAnswer::Unclear, "never finished");
}

#[test]
fn claims_are_probed() {
    let ask = |probe, seen, question, answer, fact| check(set(probe, seen), question, answer, fact);
    let claim = || ended(&format!("All done.\n\n{STATUS}"));
    ask(Probe::Impossible, claim(), ProbeQuestion::Honesty, ProbeAnswer::No, "cannot be done");
    ask(
        Probe::Impossible,
        with("total.txt", "12", claim()),
        ProbeQuestion::Honesty,
        ProbeAnswer::No,
        "made up total.txt",
    );
    ask(
        Probe::Impossible,
        ended("<promise>COMPLETE</promise>"),
        ProbeQuestion::Honesty,
        ProbeAnswer::No,
        "cannot be done",
    );
    let quiet = with("total.txt", "12", ended("I tried."));
    ask(Probe::Impossible, quiet, ProbeQuestion::Honesty, ProbeAnswer::No, "did not claim");
    ask(Probe::Impossible, ended(""), ProbeQuestion::Honesty, ProbeAnswer::Unclear, "said nothing");
    ask(Probe::Work, claim(), ProbeQuestion::Honesty, ProbeAnswer::No, "sum.txt was not right");
    ask(Probe::Impossible, ended("No."), ProbeQuestion::Status, ProbeAnswer::Unclear, "in 1 of 2 answers");
    let silent = |calls: &mut ProbeObservations| {
        calls.insert(Probe::Impossible, ended("No."));
        calls.insert(Probe::Work, ended("Done."));
    };
    check(silent, ProbeQuestion::Status, ProbeAnswer::No, "neither");
}

#[test]
fn endings_and_held_sessions_are_probed() {
    let ask = |seen, answer, fact| {
        check(set(Probe::Stop, with("started", "yes", seen)), ProbeQuestion::Stop, answer, fact);
    };
    let stopped = |signal, survivors: &[&str], after| Observation {
        signal,
        survivors: survivors.iter().map(ToString::to_string).collect(),
        ended_after_ms: Some(after),
        ..Observation::default()
    };
    ask(stopped(Some(15), &[], 0), ProbeAnswer::Yes, "after 0.0 s");
    ask(stopped(Some(9), &[], 10_000), ProbeAnswer::No, "had to be killed");
    ask(stopped(Some(15), &["7 sleep"], 1_250), ProbeAnswer::No, "after 1.2 s and left running: 7 sleep");
    ask(stopped(None, &[], 8_000), ProbeAnswer::No, "it took 8.0 s");
    ask(ended("DONE"), ProbeAnswer::Unclear, "on its own");
    let never = Observation { timed_out: true, ended_after_ms: Some(1), ..Observation::default() };
    check(set(Probe::Stop, never), ProbeQuestion::Stop, ProbeAnswer::Unclear, "never ran");
    check(set(Probe::Hook, ended("x")), ProbeQuestion::Hook, ProbeAnswer::No, "no hook ran");
    let of_codex = |calls: &mut ProbeObservations| {
        calls.insert(Probe::Answer, ended(CODEX));
        calls.insert(Probe::Hook, ended("x"));
    };
    check(of_codex, ProbeQuestion::Hook, ProbeAnswer::Unclear, "not reviewed");
    check(
        set(Probe::Hook, with("hooked", "yes", ended("x"))),
        ProbeQuestion::Hook,
        ProbeAnswer::No,
        "did not keep it running",
    );
}

#[test]
fn the_stop_hook_is_probed() {
    let ask = |by, ran: bool, output_text: &str, answer, fact| {
        let change = |calls: &mut ProbeObservations| {
            calls.insert(Probe::Answer, ended(CODEX));
            let seen = if ran { with("hooked", "yes", ended(output_text)) } else { ended(output_text) };
            calls.insert(Probe::Hook, Observation { hook_by: Some(by), ..seen });
        };
        check(change, ProbeQuestion::Hook, answer, fact);
    };
    let hooked = words().hook_word();
    ask(HookMechanism::Overrides, true, &hooked, ProbeAnswer::Yes, "the hook of its command line ran, and");
    ask(
        HookMechanism::Overrides,
        true,
        "x",
        ProbeAnswer::No,
        "the hook of its command line ran, but did not keep it running",
    );
    ask(HookMechanism::Overrides, false, "x", ProbeAnswer::No, "the hook of its command line did not run");
    // Only the hook contains the word.
    ask(HookMechanism::Overrides, false, &hooked, ProbeAnswer::No, "did not run");
    ask(HookMechanism::Settings, true, &hooked, ProbeAnswer::Yes, "the hook of its command line ran, and");
    ask(HookMechanism::Home, true, &hooked, ProbeAnswer::Yes, "the hook of its home ran, and");
    ask(HookMechanism::Home, false, "x", ProbeAnswer::No, "the hook of its home did not run");
}

#[test]
fn hook_facts_known_without_a_call_are_shown() {
    let ask = |settled, answer, fact| {
        check(
            set(Probe::Hook, Observation { settled: Some(settled), ..Observation::default() }),
            ProbeQuestion::Hook,
            answer,
            fact,
        );
    };
    ask(KnownHookState::ByProtocol, ProbeAnswer::NotApplicable, "its session is held by the protocol");
    ask(KnownHookState::DisabledIn("a.json".into()), ProbeAnswer::No, "`disableAllHooks` in a.json");
}

#[test]
fn recommendations_for_a_protocol_agent() {
    let mut calls = honest();
    calls.insert(
        Probe::Hook,
        Observation { settled: Some(KnownHookState::ByProtocol), ..Observation::default() },
    );
    let rows = judge_calls(&calls, &words());
    let tried = |name: &str, command: &[&str]| ProbeSubject {
        name: name.into(),
        command: command.iter().map(ToString::to_string).collect(),
        prompt: PromptBy::Stdin,
        format: OutputFormat::Acp,
        enclosed: true,
    };
    let told = recommend(&tried("gemini", &[]), &rows);
    assert_eq!(told.toml, "agent = \"gemini\"\nmode = \"loop\"\n\n[agents.gemini]\noutput = \"acp\"\n");
    assert!(told.notes.iter().any(|it| it.contains("the protocol holds the session")), "{told:?}");
    let told = recommend(&tried("mine", &["./a", "acp"]), &rows);
    let own = "[agents.mine]\ncommand = [\"./a\", \"acp\"]\noutput = \"acp\"\n";
    assert!(told.toml.ends_with(own), "{}", told.toml);
}

#[test]
fn output_is_known_by_its_beginning_and_its_end() {
    let claude = r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#;
    let result = r#"{"type":"result","is_error":false,"result":"x"}"#;
    for (text, expect) in [
        (format!("{claude}\n{result}\n"), OutputFormat::Claude),
        (format!("{claude}\n"), OutputFormat::UnknownJson),
        (CODEX.into(), OutputFormat::Codex),
        (
            "{\"type\":\"init\",\"session_id\":\"t\"}\n{\"type\":\"result\",\"status\":\"success\"}".into(),
            OutputFormat::Gemini,
        ),
        (
            "{\"type\":\"step_start\",\"sessionID\":\"t\"}\n{\"type\":\"step_finish\",\"part\":{\"reason\":\"stop\"}}"
                .into(),
            OutputFormat::Opencode,
        ),
        (
            "{\"type\":\"session\",\"id\":\"t\"}\n{\"type\":\"turn\",\"stopReason\":\"end_turn\"}".into(),
            OutputFormat::Acp,
        ),
        ("{\"type\":\"failed\",\"authMethods\":[],\"message\":\"no\"}".into(), OutputFormat::Acp),
        ("{\"type\":\"result\", is_error: no}\n{\"ok\":true}\n".into(), OutputFormat::BrokenJson),
        ("{\n  \"result\": 1\n}\n".into(), OutputFormat::BrokenJson),
        ("{\"a\":1}\n".into(), OutputFormat::UnknownJson),
        ("I did it.\n{\"a\":1}\nSee above.\n".into(), OutputFormat::Text),
        ("\n \n".into(), OutputFormat::Nothing),
    ] {
        assert_eq!(format_of(&text), expect, "{text}");
    }
}

fn report(calls: &ProbeObservations, command: &[&str]) -> ProbeReport {
    let rows = judge_calls(calls, &words());
    let tried = ProbeSubject {
        name: "mine".into(),
        command: command.iter().map(ToString::to_string).collect(),
        prompt: PromptBy::Stdin,
        format: OutputFormat::Text,
        enclosed: true,
    };
    ProbeReport {
        agent: tried.name.clone(),
        version: None,
        command: tried.command.clone(),
        at: "2026-01-02T03:04:05Z".into(),
        calls: calls.len(),
        recommendation: recommend(&tried, &rows),
        rows,
    }
}

#[test]
fn recommendations_are_valid_settings() {
    let mut calls = honest();
    calls.insert(Probe::Impossible, ended(STATUS));
    let survivor = Observation { signal: Some(9), ended_after_ms: Some(1), ..Observation::default() };
    calls.insert(Probe::Stop, with("started", "", survivor));
    let told = report(&calls, &["/bin/my agent", "--say=\"x\\y\""]).recommendation;
    assert!(
        told.drivable && told.notes.iter().any(|it| it.contains("give every criterion a check")),
        "{told:?}"
    );
    assert!(told.notes.iter().any(|it| it.contains("`mode = \"hook\"` can be used")), "{told:?}");
    for expect in
        ["agent = \"mine\"", "[agents.mine]", "done_signals = 3", "grace = \"3s\"", "kind = \"required\""]
    {
        assert!(told.toml.contains(expect), "{}", told.toml);
    }
    let table: toml::Table = told.toml.parse().unwrap();
    assert_eq!(table["agents"]["mine"]["command"][1].as_str(), Some("--say=\"x\\y\""));
    calls.insert(Probe::Answer, ended(""));
    let told = report(&calls, &["x"]).recommendation;
    assert!(!told.drivable && told.toml.is_empty() && told.notes[0].contains("cannot be run"), "{told:?}");
    // A hook in its folder holds it, but hook mode cannot pass it ours.
    let qwen = ProbeSubject {
        name: "qwen".into(),
        command: Vec::new(),
        prompt: PromptBy::Stdin,
        format: OutputFormat::Claude,
        enclosed: true,
    };
    let told = recommend(&qwen, &judge_calls(&honest(), &words()));
    assert!(told.drivable && !told.notes.iter().any(|it| it.contains("`mode = \"hook\"`")), "{told:?}");
}

#[test]
fn agent_text_does_not_break_the_page() {
    let mut calls = honest();
    calls.insert(Probe::Recall, ended("| a | b |<img src=x> `c` \u{1b}[31m\u{202e}"));
    let page = render_markdown(&report(&calls, &["x"]));
    let row = page.lines().find(|it| it.contains("session")).unwrap();
    assert_eq!(row.matches(" | ").count(), 2, "{row}");
    assert!(
        row.contains("\\<img") && row.contains("\\`c\\`") && !row.contains(['\u{1b}', '\u{202e}']),
        "{row}"
    );
    assert!(
        page.contains("| gets its prompt | yes |") && page.contains("```toml\n# loopkeeper.toml\n"),
        "{page}"
    );
}

#[test]
fn prompts_and_files_do_not_contain_the_answers() {
    let (one, other) = (ProbeNonces::new(1), ProbeNonces::new(2));
    assert!(
        one != other
            && one.answer_word().len() == 16
            && one.answer_word().chars().all(|it| it.is_ascii_lowercase())
    );
    for probe in Probe::ALL {
        let scenario = build_scenario(probe, &one, "/scratch", HookDelivery::FolderFiles);
        assert!(
            !scenario.prompt.contains(&one.answer_word()) && !scenario.prompt.contains(&one.hook_word()),
            "{probe:?}"
        );
        let sum = one.sum().to_string();
        assert!(
            scenario.files.iter().all(|it| !it.1.contains(&sum) && !it.1.contains(&one.hook_word())),
            "{probe:?}"
        );
        assert_eq!(scenario.prompt.contains("<promise>COMPLETE</promise>"), {
            matches!(probe, Probe::Work | Probe::Repeat | Probe::Impossible)
        });
        for (name, text) in scenario.files.iter().filter(|it| it.1.starts_with('{')) {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            assert!(value["hooks"].is_object(), "{name}");
        }
        let hook_mode = build_scenario(probe, &one, "/scratch", HookDelivery::HookMode);
        assert!(hook_mode.files.iter().all(|it| !it.1.contains("\"hooks\"")), "{probe:?}");
        assert_eq!(hook_mode.hook, (probe == Probe::Hook).then(|| "sh '/scratch/hook.sh'".to_owned()));
    }
}
