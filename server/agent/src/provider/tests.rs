use proptest::prelude::{any, proptest};

use super::{LimitReset, LocalClock, classify, classify_failed_output, classify_lone_refusal, reset_in};
use crate::ProviderClass::{self, Billing, Login, Quota, Refused, Transient, Unknown};
use crate::transcripts::NOW;

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;

fn class(stderr: &str, stdout: &str) -> Option<ProviderClass> {
    classify_failed_output(stderr, stdout).map(|it| it.class)
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn final_errors_in_every_form_in_use() {
    let table = [
        ("5-hour limit reached ∙ resets 9pm", Quota),
        ("You've hit your limit · resets 9pm", Quota),
        ("You’ve hit your usage limit. Upgrade to Pro or try again at 3:01 PM.", Quota),
        ("You've hit your session limit · resets 10:30am (Europe/Berlin)", Quota),
        ("You've hit your weekly limit · resets Nov 25, 6:50pm (UTC)", Quota),
        ("You've hit your org's monthly usage limit", Quota),
        ("You've hit your individual spend limit", Quota),
        ("Your usage allocation has been disabled by your admin", Quota),
        ("You're out of extra usage · resets 9pm", Quota),
        ("Claude AI usage limit reached|1795200000", Quota),
        ("Claude usage limit reached. Your limit will reset at 3pm (UTC).", Quota),
        ("Weekly limit reached ∙ resets Mon at 9am", Quota),
        ("Error: quota exceeded", Quota),
        ("✖ Error: You exceeded your current quota, please check your plan and billing details.", Quota),
        ("openai.RateLimitError: Error code: 429 - {'error': {'type': 'insufficient_quota'}}", Quota),
        (
            r#"API Error: 429 {"error":{"type":"insufficient_quota","message":"You exceeded your current quota"}}"#,
            Quota,
        ),
        ("Error: 429 Too Many Requests, retry after 3600 seconds", Quota),
        ("429 Too Many Requests", Transient),
        ("exceeded retry limit, last status: 429 Too Many Requests", Transient),
        ("Error: Rate limit exceeded", Transient),
        ("Rate limit reached for gpt-5 in organization x. Please try again in 2s.", Transient),
        (
            r#"API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#,
            Transient,
        ),
        (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, Transient),
        ("API Error: 529 Overloaded", Transient),
        ("API Error: 503", Transient),
        ("API Error: Connection error.", Transient),
        ("stream error: stream disconnected before completion", Transient),
        ("Not logged in · Please run /login", Login),
        ("Invalid API key · Please run /login", Login),
        ("Invalid API key · Fix external API key", Login),
        ("Please run /login", Login),
        ("Error: 401 Unauthorized", Login),
        (
            r#"API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            Login,
        ),
        ("Credit balance is too low", Billing),
        ("OAuth token has expired. Please run /login", Login),
        ("Missing environment variable: `OPENAI_API_KEY`.", Login),
        ("Request failed with status code 401", Login),
        ("Error: Request failed with status code 502", Transient),
        ("You've hit your usage limit. It resets tomorrow at 08:00 UTC", Quota),
        ("litellm.RateLimitError: OpenAIException - You exceeded your current quota", Quota),
        ("Error: Rate limit reached. Please try again in 1h12m3.5s.", Quota),
        ("已达到 5 小时的使用上限。您的限额将在 2026-11-20 15:00:00 重置。", Quota),
        ("您的账户额度已用完", Quota),
        ("请求过于频繁，请稍后再试", Transient),
        ("Error: connect ECONNREFUSED 127.0.0.1:443", Transient),
        ("Error: getaddrinfo EAI_AGAIN api.example.org", Transient),
        ("Error: socket hang up", Transient),
        ("402 Payment Required", Billing),
        ("Error: Insufficient Balance", Billing),
        ("You need to log in: run `mine login`", Login),
        ("Access token has expired", Login),
        ("未登录，请先登录", Login),
    ];
    let mut wrong = Vec::new();
    for (line, expect) in table {
        let noisy = format!("Working on it.\nRan 3 tests.\n{line}\n\n");
        for got in [
            class(line, ""),
            class("", line),
            class("", &noisy),
            class(&noisy, "done"),
            class(&format!("\u{1b}[31m{line}\u{1b}[0m"), ""),
        ] {
            if got != Some(expect) {
                wrong.push((line, got));
            }
        }
    }
    assert_eq!(wrong, []);
}

/// Texts that contain phrases of a provider but are not its errors.
const NEGATIVES: [&str; 77] = [
    "",
    "FAIL src/rate.test.ts\n  ● returns 429 Too Many Requests\n",
    "✓ rate_limit_error is told\n✗ 503 Service Unavailable is told",
    "额度已用完时的提示已翻译",
    "socket hang up is handled",
    "Payment required page is done.",
    "Implemented the rate limiter.",
    "I added handling for 429 Too Many Requests.",
    "The client now retries after `429 Too Many Requests`.",
    "Tests for `rate_limit_error` pass.",
    "- usage limit reached: the dialog shows the time of the reset",
    "* You've hit your limit · resets 9pm",
    "> You've hit your limit · resets 9pm",
    "1. Rate limit exceeded: wait and try again",
    "# Rate limit exceeded",
    "## 5-hour limit reached",
    "// usage limit reached",
    "+ println!(\"usage limit reached\");",
    "-quota exceeded",
    "`quota exceeded` is what the server answers.",
    "\"You've hit your limit\" is matched now.",
    "'Invalid API key' is matched now.",
    "“Please run /login” is what users see.",
    "Usage limit reached screen added.",
    "Usage limit reached dialogs are translated.",
    "Quota exceeded errors are shown in red.",
    "Rate limit handling is done.",
    "Rate limits are documented.",
    "Rate limiting works.",
    "Rate limit middleware finished; 12 requests a minute.",
    "The usage limit is reached after five hours.",
    "When the quota is exceeded, the loop waits.",
    "Authentication works.",
    "Unauthorized requests are rejected.",
    "Forbidden words are filtered.",
    "Login required page is done.",
    "Overloaded operators compile.",
    "test limits::usage_limit_reached ... FAILED",
    "test rate_limit_exceeded ... ok",
    "FAILED tests/test_limits.py::test_quota - AssertionError: 429 Too Many Requests",
    "AssertionError: expected 429 Too Many Requests, got 200",
    "Error: expected status code 401, got 200",
    "Error: expect(received).toBe(expected): rate_limit_error",
    "assertion failed: message == \"usage limit reached\"",
    "thread 'limits::rate_limit_exceeded' panicked at src/limits.rs:3:5:",
    "error: test failed, to rerun pass `--lib`",
    "error[E0425]: cannot find value `rate_limit_error` in this scope",
    "error[E0599]: no variant `authentication_error`",
    "src/limits.rs:12: usage limit reached",
    "src/limits.ts:12:  throw new Error('429 Too Many Requests');",
    "return new Response('429 Too Many Requests');",
    "if (status === 429) return 'rate_limit_error';",
    "case 'overloaded_error': return retry();",
    "match error { \"insufficient_quota\" => Quota, _ => Unknown }",
    "const RATE_LIMIT = 'rate_limit_error'",
    "let text = \"You've hit your limit\";",
    "grep -n 'usage limit reached' README.md",
    "echo 'usage limit reached'",
    "if text.contains(\"quota exceeded\") {",
    "assert_eq!(classify(\"Not logged in\"), Login);",
    "def test_limit(): raise RateLimitError",
    "| 429 | rate_limit_error | wait |",
    "<p>Usage limit reached</p>",
    "Attempt 3 failed with status 429. Retrying with backoff...",
    "Reconnecting... 2/5 (exceeded retry limit, last status: 429 Too Many Requests)",
    "Error: 429 Too Many Requests, retrying in 2 s",
    "```\nusage limit reached\n```",
    "```text\nYou've hit your limit · resets 9pm\n```\n",
    "usage limit reached\nerror: could not compile `limits`",
    "Error: 429 Too Many Requests\nError: src/main.rs does not exist",
    "You've hit your limit\na\nb\nc\nd\ne\nf\ng\nh\ni",
    "The docs say: usage limit reached|1795200000",
    "It said that you've hit your usage limit.",
    "Added a mock server that answers 503 Service Unavailable.",
    "Server listening on port 4290",
    "Processed 429 files, 503 lines, 401 words",
    "All 401 tests pass.",
];

/// Contexts that only quote each of `SENTENCES`: text that is read, written, tested or reported.
const QUOTING_CONTEXTS: [&str; 14] = [
    "The log of the server says: {}",
    "> {}",
    "- {}: the dialog says when it is over",
    "`{}` is what the server answers.",
    "+    return Err(\"{}\".into());",
    "src/limits.rs:12:    // {}",
    "| {} | wait |",
    "I added a test for \"{}\".",
    "```\n{}\n```",
    "{\"type\":\"tool_result\",\"content\":\"{}\"}",
    "console.log('{}')",
    "Fixed: users saw \u{201c}{}\u{201d} twice.",
    "assert_eq!(shown(), \"{}\");",
    "<li>{}</li>",
];

const SENTENCES: [&str; 16] = [
    "You've hit your limit · resets 9pm",
    "5-hour limit reached ∙ resets 9pm",
    "Claude AI usage limit reached|1795200000",
    "Usage limit reached",
    "You exceeded your current quota",
    "quota exceeded",
    "429 Too Many Requests",
    "rate_limit_error",
    "Rate limit exceeded",
    "overloaded_error",
    "API Error: 529 Overloaded",
    "503 Service Unavailable",
    "Invalid API key · Please run /login",
    "401 Unauthorized",
    "Not logged in",
    "Credit balance is too low",
];

fn negatives() -> Vec<String> {
    let quoted = QUOTING_CONTEXTS.iter().flat_map(|it| SENTENCES.map(|sentence| it.replace("{}", sentence)));
    NEGATIVES.iter().map(ToString::to_string).chain(quoted).collect()
}

#[test]
fn text_about_limits_is_not_a_failure() {
    let negatives = negatives();
    assert!(negatives.len() >= 200);
    let mut wrong = Vec::new();
    for text in &negatives {
        let text = text.as_str();
        for got in [class(text, ""), class("", text), classify_lone_refusal(text).map(|it| it.class)] {
            // A lone fenced or quoted sentence is quoted; a sentence above other output is not final.
            if got.is_some() {
                wrong.push((text, got));
            }
        }
    }
    assert_eq!(wrong, []);
}

#[test]
fn a_success_that_consists_of_a_refusal_is_a_refusal() {
    for (answer, expect) in [
        ("limit reached", Some(Quota)),
        ("Limit reached.", Some(Quota)),
        ("5-hour limit reached ∙ resets 9pm\n     /upgrade to increase your usage limit.", Some(Quota)),
        ("Claude AI usage limit reached|1795200000\n", Some(Quota)),
        ("You've hit your limit · resets 9pm (UTC)", Some(Quota)),
        ("Not logged in · Please run /login", Some(Login)),
        ("Rate limit exceeded", Some(Transient)),
        ("Done.\nlimit reached", None),
        ("limit reached\nDone.", None),
        ("Limit reached: the queue now refuses more.", None),
        ("limit reached is logged", None),
        ("All done.", None),
    ] {
        assert_eq!(classify_lone_refusal(answer).map(|it| it.class), expect, "{answer}");
    }
}

fn resets(text: &str, offset: i32) -> Option<u64> {
    let offset_of = move |zone: Option<&str>, _: u64| match zone {
        Some("Europe/Berlin") => Some(3600),
        Some(_) => None,
        None => Some(offset),
    };
    reset_in(text)?.wall_time(&LocalClock { wall: NOW, offset: &offset_of })
}

#[test]
fn a_reset_after_the_change_to_another_offset_is_in_that_offset() {
    // One hour is added 36 hours from now.
    let offset_of = |_: Option<&str>, at: u64| Some(if at < NOW + 36 * HOUR { 0 } else { 3600 });
    let resets = |text: &str| reset_in(text)?.wall_time(&LocalClock { wall: NOW, offset: &offset_of });
    for (text, expect) in [
        ("resets 9pm", 7 * HOUR),
        ("resets Nov 21 at 2pm", 24 * HOUR),
        ("resets Nov 22 at 2pm", 47 * HOUR),
        ("resets on 2026/11/22 14:00", 47 * HOUR),
        ("resets Nov 22, 2pm (UTC)", 48 * HOUR),
    ] {
        assert_eq!(resets(text), Some(NOW + expect), "{text}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn resets_are_read_in_every_form_in_use() {
    for (text, expect) in [
        ("resets 9pm", Some(7 * HOUR)),
        ("resets 9 PM", Some(7 * HOUR)),
        ("resets at 3:00 PM (Europe/Berlin)", Some(0)),
        ("resets at 4:00 PM (Europe/Berlin)", Some(HOUR)),
        ("resets 10:30am", Some(20 * HOUR + 30 * MINUTE)),
        ("resets at 15:30", Some(90 * MINUTE)),
        ("resets 6:50pm (UTC)", Some(4 * HOUR + 50 * MINUTE)),
        ("resets 12am", Some(10 * HOUR)),
        ("resets 12pm", Some(22 * HOUR)),
        ("resets Nov 22, 6:50pm (UTC)", Some(52 * HOUR + 50 * MINUTE)),
        ("resets Nov 22 at 2pm", Some(48 * HOUR)),
        ("Your limit will reset at 3pm", Some(HOUR)),
        ("or try again at 3:01 PM.", Some(HOUR + MINUTE)),
        ("try again at Nov 21st, 2026 2:00 PM", Some(24 * HOUR)),
        ("try again in 5 minutes", Some(5 * MINUTE)),
        ("Please try again in 1.5s", Some(1500)),
        ("try again in 20ms", Some(20)),
        ("retry after 30s", Some(30_000)),
        ("Retry-After: 120", Some(120_000)),
        ("retry after 60 seconds", Some(60_000)),
        ("\"retry-after\": \"7\"", Some(7000)),
        ("resets in 2h 15m", Some(2 * HOUR + 15 * MINUTE)),
        ("in 1 day, 2 hours and 3 minutes", Some(26 * HOUR + 3 * MINUTE)),
        ("resets at 2026-11-20T15:00:00Z", Some(HOUR)),
        ("resets at 2026-11-20T16:00:00+01:00", Some(HOUR)),
        ("resets at 2026-11-20 15:00 UTC", Some(HOUR)),
        ("usage limit reached|1795186800", Some(HOUR)),
        ("reset: 1795186800000", Some(HOUR)),
        ("resetsAt 1795186800", Some(HOUR)),
        ("resets Mon at 9am", Some(67 * HOUR)),
        ("resets on Friday at 15:00", Some(HOUR)),
        ("resets Fri 1pm", Some((7 * 24 - 1) * HOUR)),
        ("resets tomorrow at 08:00", Some(18 * HOUR)),
        ("resets tomorrow 3pm", Some(25 * HOUR)),
        ("resets today at 5pm", Some(3 * HOUR)),
        ("try again in 1h12m3.5s.", Some(HOUR + 12 * MINUTE + 3500)),
        ("Your quota will reset after 18h20m5s", Some(18 * HOUR + 20 * MINUTE + 5000)),
        ("in 5m30s", Some(5 * MINUTE + 30_000)),
        ("in 5 mice", None),
        ("no time at all", None),
        ("resets soon", None),
        ("resets 25:61", None),
        ("resets 13pm", None),
        ("resets 9", None),
        ("resets at 2099-01-01T00:00:00Z", None),
        ("resets at 2020-01-01T00:00:00Z", None),
        ("usage limit reached|1663700000", None),
        ("try again in 400 days", None),
        ("try again in 99999999999999999999 hours", None),
        // The clock passed this time minutes ago: neither now nor tomorrow.
        ("resets 1:55pm", None),
        ("resets 1:59pm", Some(0)),
        ("resets 1:00pm", Some(23 * HOUR)),
    ] {
        let got = resets(text, 0).map(|at| at.saturating_sub(NOW));
        assert_eq!(got, expect, "{text}: {:?}", reset_in(text));
    }
    assert_eq!(resets("resets 9pm", -5 * 3600), Some(NOW + 12 * HOUR));
    assert_eq!(resets("resets 9pm (Mars/Olympus)", 3600), Some(NOW + 6 * HOUR));
    assert_eq!(LimitReset::At(u64::MAX).wall_time(&LocalClock::utc(NOW)), None);
    assert_eq!(LimitReset::In(u64::MAX).wall_time(&LocalClock::utc(NOW)), None);
    assert_eq!(LimitReset::In(5).wall_time(&LocalClock::utc(u64::MAX)), None);
}

#[test]
fn resets_are_read_from_fields() {
    let check = |fields: &str, expect: Option<LimitReset>| {
        let words = format!("API Error: 503 {{\"error\":{{\"message\":\"Overloaded\",{fields}}}}}");
        let failure = classify(&words, None);
        assert_eq!((failure.class, failure.reset), (ProviderClass::Transient, expect), "{fields}");
    };
    let at = Some(LimitReset::At(1_800_000_000_000));
    check("\"resets_at\":1800000000", at.clone());
    check("\"resetsAt\":1800000000000", at);
    check("\"retry_after\":2.5", Some(LimitReset::In(2_500)));
    check("\"retry_after_ms\":700", Some(LimitReset::In(700)));
    check("\"details\":[{\"reason\":\"x\"},{\"retryDelay\":\"34s\"}]", Some(LimitReset::In(34_000)));
    check("\"retry_after\":-1", None);
    check("\"retry_after\":\"soon\"", None);
}

#[test]
fn a_status_takes_precedence_over_text() {
    for (words, status, expect) in [
        ("usage limit reached", Some(500), Transient),
        ("usage limit reached", Some(429), Quota),
        ("slow down", Some(429), Transient),
        ("slow down, try again in 3 hours", Some(429), Quota),
        ("no", Some(400), Refused),
        ("no", Some(404), Refused),
        ("no", Some(401), Login),
        ("Your credit balance is too low", Some(400), Billing),
        ("no", Some(402), Billing),
        ("what", None, Unknown),
    ] {
        assert_eq!(classify(words, status).class, expect, "{words} {status:?}");
    }
}

proptest! {
    #[test]
    fn resets_are_near_and_messages_short(stderr in any::<String>(), stdout in "(Error: |You've hit your |resets |429 |\\{|`|\n|[a-z0-9: ]{0,6}){0,12}") {
        let here = LocalClock::utc(NOW);
        for failure in [classify_failed_output(&stderr, &stdout), classify_lone_refusal(&stdout), Some(classify(&stdout, None))].into_iter().flatten() {
            let error = failure.into_provider_error(&here);
            assert!(error.resets_at.is_none_or(|at| at + 2 * MINUTE >= NOW && at <= NOW + 32 * 24 * HOUR));
            assert!(error.message.chars().count() <= 300);
        }
    }

    #[test]
    fn lines_before_the_last_ones_never_count(filler in proptest::collection::vec("word [a-z]{1,9}", 8..20)) {
        let output = format!("You've hit your limit · resets 9pm\n{}", filler.join("\n"));
        assert_eq!(classify_failed_output("", &output), None);
    }
}
