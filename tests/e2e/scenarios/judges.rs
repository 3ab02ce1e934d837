//! `judge`: another agent is asked why a criterion does not hold, once everything else passes. Its calls and costs
//! count for the loop, and a response in any other form than the requested one is no verdict.

use std::fs;

use serde_json::Value;

use crate::support::scenario::Ends::{Claimed, Failed, Limit, Verified};
use crate::support::scenario::Scenario;
use crate::support::world::World;

const EXISTS: &str = "There: `exists manual.md`";
const CLEAR: &str = "The manual shows an example: `judge`";

/// The agent itself judges in another session: no more than its claim.
#[test]
fn a_judge_that_worked_on_the_task_verifies_nothing() {
    let key = r#"key=$(sed -n 's/.*{"judge": "\([0-9a-f]*\)".*/\1/p' ../asked)"#;
    let works = format!(
        r#"cat > ../asked; {key}; if [ "$key" ]; then printf '{{"judge": "%s", "holds": true, "reason": "fine"}}\n' "$key"; else echo an example > manual.md; fi"#
    );
    let of_agent = format!("command = [\"sh\", \"-c\", '''{works}''']");
    let played = Scenario {
        criteria: &[EXISTS, CLEAR],
        of_agent: &of_agent,
        acts: &["true"],
        ends: Claimed(1, "\"The manual shows an example\" was judged by the agent that worked"),
        ..Scenario::default()
    }
    .play();
    assert_eq!(played.last()["outcome"]["verified"], false);
}

/// The judge is a program of the tree, which the agent rewrites.
#[test]
fn a_judge_that_the_agent_rewrites_verifies_nothing() {
    let refuses = [
        "#!/bin/sh",
        r#"key=$(sed -n 's/.*{"judge": "\([0-9a-f]*\)".*/\1/p')"#,
        "holds=false",
        r#"printf '{"judge": "%s", "holds": %s, "reason": "no example", "places": []}\n' "$key" "$holds""#,
    ];
    let played = Scenario {
        files: &[("critic.sh", &refuses.join("\n"))],
        criteria: &[EXISTS, CLEAR],
        settings: "criteria.judge = \"critic\"\n[agents.critic]\ncommand = [\"sh\", \"./critic.sh\"]\n",
        acts: &["touch manual.md; sed -i s/holds=false/holds=true/ critic.sh", "true"],
        ends: Failed(2, "critic.sh was changed, and the judge runs it: not counted as done"),
        ..Scenario::default()
    }
    .play();
    played.prompt_has(2, "critic.sh was changed");
}

/// A judge that is a shell script, with the word to repeat in `$key` and `say` for the requested form.
fn judge(script: &str) -> String {
    let lead = [
        r#"cat > ../agent/asked; echo "$LOOPKEEPER_ROLE" >> ../agent/judged"#,
        r#"key=$(sed -n 's/.*{"judge": "\([0-9a-f]*\)".*/\1/p' ../agent/asked)"#,
        r#"say() { printf '{"judge": "%s", "holds": %s, "reason": "%s", "places": ["%s/manual.md:1"]}\n' "$key" "$1" "$2" "$PWD"; }"#,
    ]
    .join("; ");
    format!(
        "criteria.judge = \"critic\"\n[agents.critic]\ncommand = [\"sh\", \"-c\", '''{lead}; {script}''']\n"
    )
}

const FAIR: &str =
    "if grep -q example manual.md; then say true weak; else say false 'no example anywhere'; fi";

fn calls(world: &World) -> usize {
    fs::read_to_string(world.shared("judged")).unwrap_or_default().lines().count()
}

fn asked(world: &World) -> String {
    fs::read_to_string(world.shared("asked")).unwrap_or_default()
}

#[test]
fn a_judge_decides_once_everything_else_passes() {
    let played = Scenario {
        criteria: &[EXISTS, CLEAR],
        settings: &judge(FAIR),
        acts: &["echo first > draft.md", "echo words > manual.md", "echo an example >> manual.md"],
        ends: Verified(3, ""),
        ..Scenario::default()
    }
    .play();
    // Not at the start and not after the first iteration, because the manual did not exist.
    assert_eq!(calls(&played.world), 2);
    assert_eq!(fs::read_to_string(played.world.shared("judged")).unwrap(), "judge\njudge\n");
    let result = |iteration| played.record("checks-done", iteration)["round"]["results"][1].clone();
    assert_eq!(
        (&result(1)["status"], &result(1)["fact"]),
        (&"unverified".into(), &"not asked: other checks come first".into())
    );
    assert_eq!((&result(2)["status"], &result(2)["fact"]), (&"fail".into(), &"no example anywhere".into()));
    assert_eq!(result(2)["locations"][0]["file"], "manual.md");
    assert_eq!(result(3)["status"], "pass");
    assert_eq!(played.record("checks-done", 3)["round"]["judging"]["calls"], 1);
    played.prompt_has(3, "no example anywhere");
    let asked = asked(&played.world);
    for part in ["The manual shows an example", "+an example", "+words"] {
        assert!(asked.contains(part), "{part}\n{asked}");
    }
    // Three starts of the agent and two of the judge, in the loop's count and in the user's list.
    assert_eq!(played.last()["spent"]["calls"], 5);
    let list = fs::read_to_string(played.world.terminal.state().join("calls")).unwrap();
    assert_eq!(list.lines().count(), 5, "{list}");
}

#[test]
fn an_answer_in_another_form_is_not_a_verdict() {
    let check = |script: &str, status: &str, fact: &str, calls_made: usize| {
        let played = Scenario {
            criteria: &[EXISTS, CLEAR],
            settings: &(judge(script) + "\n[limits]\niterations = 1\n"),
            acts: &["echo words > manual.md"],
            ends: if status == "pass" { Verified(1, "") } else { Limit(1, "") },
            ..Scenario::default()
        }
        .play();
        let result = played.record("checks-done", 1)["round"]["results"][1].clone();
        assert_eq!(result["status"], status, "{script}: {result}");
        assert!(result["fact"].as_str().unwrap().contains(fact), "{script}: {result}");
        assert_eq!(calls(&played.world), calls_made, "{script}");
    };
    check("echo It holds.", "could-not-run", "cannot be read: it does not end in a JSON object", 2);
    check("cat ../agent/asked", "could-not-run", "cannot be read", 2);
    check("key=0; say true fine", "could-not-run", "not the word", 2);
    check("grep -q 'could not be read' ../agent/asked && say true ok || echo What?", "pass", "", 2);
    check("echo no >&2; exit 3", "could-not-run", "exit 3: no", 1);
    check(
        "say false 'changed it'; echo more >> manual.md",
        "unstable",
        "manual.md changed while the judge looked",
        1,
    );
}

#[test]
fn most_of_several_judges_decide() {
    let odd =
        "n=$(wc -l < ../agent/judged); if test $((n % 3)) = 2; then say false odd; else say true ''; fi";
    let played = Scenario {
        criteria: &["The manual shows an example: `judge 2 of 3`"],
        settings: &judge(odd),
        before: "echo words > manual.md",
        // At the start an opinion alone does not show that there is nothing to do.
        acts: &["true"],
        ends: Verified(1, ""),
        ..Scenario::default()
    }
    .play();
    let round = played.record("baseline", 0)["round"].clone();
    assert_eq!(round["results"][0]["fact"], "2 of 3 judges found no convincing reason against it");
    assert_eq!(round["judging"]["calls"], 3);
    assert!(asked(&played.world).contains("Nothing was changed since the start"));
}

#[test]
fn a_judge_has_its_own_time_and_may_be_asked_without_a_loop() {
    let scenario = Scenario {
        criteria: &["Slow: `judge` (timeout 300ms)", CLEAR],
        settings: &judge("grep -q Slow ../agent/asked && sleep 600; say true fine"),
        before: "echo words > manual.md",
        ..Scenario::default()
    };
    let world = scenario.world();
    let ran = world.run(&["check", "--json"]);
    ran.expect(5);
    assert_eq!(calls(&world), 0);
    world.run(&["run", "--dry-run"]).expect(0);
    world.run(&["run", "--json", "--trust", "--max-iterations", "1"]).expect(4);
    let ran = world.run(&["check", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let fact = |n: usize| report["results"][n]["fact"].as_str().unwrap().to_owned();
    assert_eq!(
        (report["results"][0]["status"].as_str(), fact(0).as_str()),
        (Some("timed-out"), "no result after 300 ms")
    );
    assert_eq!(report["results"][1]["status"], "pass", "{}", fact(1));
    world.assert_no_process_left();
}
