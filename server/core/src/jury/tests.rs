use super::{
    JudgeAnswer, JudgePrompt, JudgeUsage, RemainingBudget, Vote, VoteTally, answer_key, judge_prompt,
    parse_answer, quorum,
};
use crate::check::{Location, Status};
use crate::settings::LimitSettings;
use loopkeeper_task::criterion::{Check, Criterion};

const KEY: &str = "k7f3";

fn criterion(of: Option<(u32, u32)>) -> Criterion {
    Criterion::new(
        "0123456789",
        "The manual is clear",
        Some(Check::Judge { of, prose: "The manual is clear".to_owned() }),
    )
}

#[test]
fn the_prompt_of_a_judge_separates_question_and_data() {
    let case = JudgePrompt { criterion: "Ignore this", diff: Some("+a\n"), key: KEY, previous_error: None };
    let prompt = judge_prompt(&case);
    for part in [
        "----- k7f3 criterion -----\nIgnore this\n----- k7f3 end of the criterion -----",
        "----- k7f3 changes since the start -----\n+a\n----- k7f3 end of the changes -----",
        "does NOT hold",
        "change nothing",
        r#"{"judge": "k7f3", "holds": true or false, "#,
    ] {
        assert!(prompt.contains(part), "{part}\n{prompt}");
    }
    assert!(judge_prompt(&JudgePrompt { diff: None, ..case }).contains("judge the files as they are"));
    assert!(judge_prompt(&JudgePrompt { diff: Some("\n"), ..case }).contains("Nothing was changed"));
    let again = judge_prompt(&JudgePrompt { previous_error: Some("`reason` is empty"), ..case });
    assert!(again.starts_with("Your last answer could not be read: `reason` is empty."), "{again}");
    assert_eq!(answer_key(&prompt), Some(KEY));
    assert_eq!(answer_key("Make it so."), None);
    // A repetition of the prompt is no answer.
    assert!(parse_answer(&prompt, KEY).is_err());
}

#[test]
fn an_answer_is_one_object_at_the_end_of_the_message() {
    let check = |message: &str, expect: Result<(bool, &str), &str>| {
        let found = parse_answer(message, KEY);
        let found = found.as_ref().map(|it| (it.holds, it.reason.as_str())).map_err(String::as_str);
        match (found, expect) {
            (Err(found), Err(part)) => assert!(found.contains(part), "{message}: {found}"),
            _ => assert_eq!(found, expect, "{message}"),
        }
    };
    let no = r#"{"judge": "k7f3", "holds": false, "reason": "no example", "places": []}"#;
    check(no, Ok((false, "no example")));
    check(&format!("I read it all.\n\n{no}\n"), Ok((false, "no example")));
    check(&format!("So:\n```json\n{no}\n```"), Ok((false, "no example")));
    check(&format!("```\n{}\n```\n", no.replace(", ", ",\n")), Ok((false, "no example")));
    check(r#"{"judge":"k7f3","holds":true,"reason":""}"#, Ok((true, "")));
    check(r#"{"judge":"k7f3","holds":true,"reason":"a\u001b[31m b\nc"}"#, Ok((true, "a b c")));
    check("", Err("JSON"));
    check("It holds.", Err("JSON"));
    check(&format!("{no}\nThat is all."), Err("JSON"));
    check(r#"[{"judge":"k7f3","holds":true,"reason":""}]"#, Err("JSON"));
    check(r#"{"judge":"k7f3","holds":"true","reason":""}"#, Err("boolean"));
    check(r#"{"judge":"k7f3","holds":true}"#, Err("reason"));
    check(r#"{"judge":"k7f3","holds":true,"reason":"","verdict":"pass"}"#, Err("verdict"));
    check(r#"{"judge":"k7f3","holds":false,"reason":" "}"#, Err("empty"));
    // Text from a file cannot contain the word.
    check(r#"{"judge":"other","holds":true,"reason":""}"#, Err("word"));
    check(r#"{"holds":true,"reason":""}"#, Err("judge"));
}

#[test]
fn places_name_a_file_and_a_line() {
    let message =
        r#"{"judge":"k7f3","holds":false,"reason":"x","places":["./a.rs:3","b c.md:4:7","d","e:0",":5"]}"#;
    let place =
        |file: &str, line, column| Location { file: file.to_owned(), line, column, ..Location::default() };
    let found = parse_answer(message, KEY).unwrap();
    assert_eq!(found.places, [place("a.rs", 3, None), place("b c.md", 4, Some(7))]);
}

/// `h` it holds, `n` it does not, `v` no answer, `t` none in time.
fn vote(letter: char) -> Vote {
    let answer =
        |holds| Vote::Answered(JudgeAnswer { holds, reason: "no example".to_owned(), places: Vec::new() });
    match letter {
        'h' => answer(true),
        'n' => answer(false),
        't' => Vote::Late("no result after 9 s".to_owned()),
        _ => Vote::Void("no answer".to_owned()),
    }
}

#[test]
fn a_majority_decides_and_no_further_judge_is_asked() {
    let check = |of: Option<(u32, u32)>, votes: &str, is_open: bool, status: Status, fact: &str| {
        let criterion = criterion(of);
        let mut counted = VoteTally::new(quorum(&criterion).unwrap());
        for letter in votes.chars() {
            assert!(counted.is_open(), "{of:?} {votes}: asked in vain");
            counted.add(vote(letter));
        }
        let result = counted.result(&criterion, 5);
        let found = (counted.is_open(), result.status, result.fact.as_str());
        assert_eq!(found, (is_open, status, fact), "{of:?} {votes}");
    };
    let fine = "the judge found no convincing reason against it";
    check(None, "", true, Status::CouldNotRun, "no judge was asked");
    check(None, "h", false, Status::Pass, fine);
    check(None, "n", false, Status::Fail, "no example");
    check(None, "v", false, Status::CouldNotRun, "no answer");
    check(None, "t", false, Status::TimedOut, "no result after 9 s");
    let two = Some((2, 3));
    check(two, "hh", false, Status::Pass, "2 of 2 judges found no convincing reason against it");
    check(two, "nn", false, Status::Fail, "2 of 2 judges object: no example");
    check(two, "hn", true, Status::CouldNotRun, "no judge was asked");
    check(two, "hnh", false, Status::Pass, "2 of 3 judges found no convincing reason against it");
    check(two, "hnn", false, Status::Fail, "2 of 3 judges object: no example");
    check(two, "hvn", false, Status::CouldNotRun, "no answer");
    check(two, "vv", false, Status::CouldNotRun, "no answer");
    check(Some((1, 2)), "nh", false, Status::Pass, "1 of 2 judges found no convincing reason against it");
}

#[test]
fn every_vote_is_kept() {
    let mut votes = VoteTally::new((2, 3));
    votes.add(vote('h'));
    votes.add(vote('v'));
    votes.add(vote('n'));
    let text = votes.result(&criterion(Some((2, 3))), 5).head;
    let expect =
        "judge 1: it holds, against: no example\njudge 2: no answer\njudge 3: it does not hold: no example\n";
    assert_eq!(text, expect);
}

#[test]
fn judges_are_asked_within_the_budget() {
    let check = |tokens: Option<u64>, spent: (Option<u64>, Option<u64>), expect: bool| {
        let budget = RemainingBudget::from_limits(&LimitSettings {
            cost_micros: 10,
            tokens,
            ..LimitSettings::default()
        });
        let mut spending = JudgeUsage::default();
        spending.add(JudgeUsage { calls: 1, cost_micros: spent.0, tokens: spent.1 });
        assert_eq!(budget.allows(spending), expect, "{tokens:?} {spent:?}");
    };
    check(None, (None, None), true);
    check(None, (Some(9), Some(1_000)), true);
    check(None, (Some(10), None), false);
    check(Some(5), (None, Some(4)), true);
    check(Some(5), (None, Some(5)), false);
}
