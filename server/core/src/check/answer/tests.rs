use super::{HttpOutcome, HttpResponse, judge_reply};
use crate::check::Status;
use loopkeeper_task::criterion::{Check, Compare, Criterion, Expect, PatternKind, TextPattern};
use loopkeeper_text::redact::Redactor;

fn pattern(source: &str) -> TextPattern {
    TextPattern { source: source.to_owned(), kind: PatternKind::Regex }
}

fn criterion(expect: &[Expect]) -> Criterion {
    let check = Check::Get { url: "http://localhost/".to_owned(), expect: expect.to_vec() };
    Criterion { check: Some(check), timeout_ms: Some(2000), ..crate::journal::samples::criterion() }
}

fn answer(status: u16, body: &str) -> HttpOutcome {
    HttpOutcome::Answered(HttpResponse { status, body: body.as_bytes().to_vec(), ..HttpResponse::default() })
}

#[test]
fn only_what_is_expected_passes() {
    let check = |expect: &[Expect], reply: HttpOutcome, status: Status, fact: &str| {
        let result = judge_reply(&criterion(expect), &reply, &Redactor::from_env([]));
        assert_eq!((result.status, result.fact.as_str()), (status, fact), "{expect:?} {reply:?}");
    };
    let code = |code| Expect::Status { code };
    let matches = |source| Expect::Matches { pattern: pattern(source) };
    let lacks = |source| Expect::MatchesNot { pattern: pattern(source) };
    let at_least = |value| Expect::Number { compare: Compare::AtLeast, value };
    check(&[], answer(200, ""), Status::Pass, "status 200");
    check(&[], answer(204, ""), Status::Pass, "status 204");
    check(&[], answer(299, ""), Status::Pass, "status 299");
    check(&[], answer(301, ""), Status::Fail, "status 301");
    check(&[], answer(404, "gone"), Status::Fail, "status 404");
    check(&[], answer(500, ""), Status::Fail, "status 500");
    check(&[code(404)], answer(404, ""), Status::Pass, "status 404");
    check(&[code(200)], answer(204, ""), Status::Fail, "status 204, needs 200");
    check(&[matches("^ok$")], answer(200, "well\nok\n"), Status::Pass, "status 200");
    check(&[matches("^ok$")], answer(200, "not ok"), Status::Fail, "/^ok$/ not found");
    check(&[matches("ok")], answer(500, "ok"), Status::Fail, "status 500");
    check(&[code(500), matches("ok")], answer(500, "ok"), Status::Pass, "status 500");
    check(&[lacks("error")], answer(200, "an error"), Status::Fail, "/error/ found");
    check(&[lacks("error")], answer(200, "fine"), Status::Pass, "status 200");
    check(&[at_least(3.0)], answer(200, "{\"users\": 4}"), Status::Pass, "4");
    check(&[at_least(3.0)], answer(200, "{\"users\": 2}"), Status::Fail, "2, needs >= 3");
    check(&[at_least(3.0)], answer(200, "none"), Status::Fail, "no number");
    check(&[], HttpOutcome::TimedOut, Status::TimedOut, "no result after 2 s");
    check(&[], HttpOutcome::None("nobody answers".to_owned()), Status::CouldNotRun, "nobody answers");
    // What was not read was not searched.
    let long = |status| {
        HttpOutcome::Answered(HttpResponse {
            status,
            body: b"ok".to_vec(),
            cut: true,
            ..HttpResponse::default()
        })
    };
    check(&[], long(200), Status::Pass, "status 200");
    check(&[lacks("x")], long(200), Status::CouldNotRun, "the answer is longer than 8 MiB");
    check(&[matches("ok")], long(200), Status::CouldNotRun, "the answer is longer than 8 MiB");
    check(&[matches("ok")], long(503), Status::Fail, "status 503");
}

#[test]
fn stored_answers_are_readable_and_redacted() {
    let redactor = Redactor::from_env([("MY_TOKEN".to_owned(), "hunter2-hunter2-hunter2".to_owned())]);
    let headers = [
        ("content-type", "text/plain"),
        ("Set-Cookie", "session=abc"),
        ("x-token", "hunter2-hunter2-hunter2"),
    ];
    let reply = HttpOutcome::Answered(HttpResponse {
        status: 418,
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        body: b"\x1b[31mred hunter2-hunter2-hunter2\x00".to_vec(),
        cut: false,
    });
    let kept = judge_reply(&criterion(&[]), &reply, &redactor).head;
    assert!(kept.starts_with("HTTP 418\ncontent-type: text/plain\nSet-Cookie: …\nx-token: "), "{kept}");
    assert!(kept.contains("red ") && !kept.contains("hunter2") && !kept.contains('\x1b'), "{kept}");
}
