//! Tests sentences of real programs and providers, from their sources and from reports of users: what they mean, and
//! text that only resembles them.

use super::{
    LimitReset, LocalClock, classify, classify_failed_output, classify_successful_output, retry_headers,
};
use crate::ProviderClass::{self, Billing, Login, Quota, Refused, Transient};
use crate::transcripts::NOW;

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Final errors of agents with structured output.
const ERRORS: [(&str, ProviderClass); 48] = [
    (
        "API Error: Token is expired. To refresh this SSO session run 'aws sso login' with the corresponding profile.",
        Login,
    ),
    ("Failed to authenticate. Error: invalid_grant", Login),
    ("[API Error: exception TypeError: fetch failed sending request]", Transient),
    ("Your workspace is out of credits. Add credits to continue.", Billing),
    (
        "You hit your spend cap set by the owner of your workspace. Ask an owner to increase your spend cap to continue.",
        Billing,
    ),
    ("You hit your spend cap set in your workspace. Increase your spend cap to continue.", Billing),
    ("To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.", Billing),
    ("Your org is out of usage · add funds to continue", Billing),
    ("You're out of usage credits. /model to switch models.", Billing),
    ("Your organization is out of usage credits. Contact your admin to add more.", Billing),
    (
        "[API Error: 400 Access denied, please make sure your account is in good standing. (Arrearage)]",
        Billing,
    ),
    (r#"API Error: 429 {"error":{"code":"1113","message":"您的账户已欠费，请充值后重试。"}}"#, Billing),
    ("Insufficient credits. Add credits at https://ampcode.com/settings", Billing),
    ("Error: Request failed: Credits exhausted: Please add credits to your account", Billing),
    (
        "[API Error: You have exhausted your capacity on this model. Your quota will reset after 18h20m5s.]",
        Quota,
    ),
    ("[API Error: You have exhausted your daily quota on this model.]", Quota),
    ("[API Error: 429 Allocated quota exceeded, please increase your quota limit.]", Quota),
    ("[API Error: 429 hour allocated quota exceeded.]", Quota),
    ("Qwen OAuth quota exceeded: Your free daily quota has been reached.", Quota),
    ("Free usage exceeded, subscribe to Go", Quota),
    ("5 hour usage limit reached. It will reset in 2 hours 10 minutes.", Quota),
    ("Amp Free daily limit reached. Resets in 5 hours.", Quota),
    ("You've reached your Fable limit · resets Nov 22, 6pm (UTC)", Quota),
    (
        r#"LLM provider error: Error code: 429 - {'error': {'message': "You've reached your usage limit for this billing cycle.", 'type': 'rate_limit_reached_error'}}"#,
        Quota,
    ),
    ("Você atingiu o limite de uso. Tente novamente às 15:00.", Quota),
    ("Nutzungslimit erreicht. Versuchen Sie es um 15:00 Uhr erneut.", Quota),
    ("Limite d'utilisation atteinte. Réessayez à 15 h 00.", Quota),
    ("Has alcanzado tu límite de uso. Inténtalo de nuevo a las 15:00.", Quota),
    ("使用量の上限に達しました。15:00 に再試行してください。", Quota),
    ("사용 한도에 도달했습니다. 15:00에 다시 시도하세요.", Quota),
    (
        "Your access token could not be refreshed because your refresh token was already used. Please log out and sign in again.",
        Login,
    ),
    ("No auth type is selected. Please configure an auth type (e.g. via settings or `--auth-type`).", Login),
    (
        "Please set an Auth method in your /home/me/.gemini/settings.json or specify one of the following environment variables before running: GEMINI_API_KEY",
        Login,
    ),
    (
        "[API Error: Permission denied: Consumer 'api_key:x' has been suspended. (Status: PERMISSION_DENIED)]",
        Login,
    ),
    ("Error: Invalid or missing API key. Run 'amp login' or set AMP_API_KEY.", Login),
    ("⚠ Warning: The provided API key is invalid.", Login),
    ("Selected model is at capacity. Please try a different model.", Transient),
    ("Codex is currently experiencing high load. Please try again later.", Transient),
    ("API Error: Server is temporarily limiting requests (not your usage limit) · Rate limited", Transient),
    ("[API Error: No capacity available for model gemini-3-pro-preview on the server]", Transient),
    ("Provider is overloaded", Transient),
    ("Error: Unable to connect. Is the computer able to access the url?", Transient),
    ("ConnectError: [unavailable] read ECONNRESET", Transient),
    ("Sorry, you have been rate-limited. Please wait a moment before trying again.", Transient),
    (
        "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
        Refused,
    ),
    (
        "[API Error: The input token count (1189021) exceeds the maximum number of tokens allowed (1048576).]",
        Refused,
    ),
    ("Context window limit exceeded", Refused),
    ("Model not found: anthropic/claude-9. Did you mean: claude-opus-5?", Refused),
];

#[test]
fn final_errors_of_each_agent_are_classified() {
    let wrong: Vec<_> = ERRORS
        .iter()
        .map(|(words, expect)| (words, classify(words, None).class, expect))
        .filter(|(_, got, expect)| got != *expect)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What tools, tests and the agent itself print as the last line of a run that failed for another reason.
const OTHER_FAILURES: [&str; 21] = [
    "The page \"your workspace is out of credits\" is done.",
    "Your workspace is out of credits banner is translated.",
    "Credits exhausted emails are sent.",
    "The provider is overloaded less often now.",
    "The database is experiencing high load.",
    "Model not found errors are shown in red.",
    "Selected model is at capacity tests pass.",
    "Unable to connect to the database at 127.0.0.1.",
    "Invalid prompt: expected a number.",
    "Access denied by policy settings page is done.",
    "Nutzungslimit erreicht wird jetzt angezeigt: siehe README.md",
    "O limite de uso foi documentado.",
    "La limite d'utilisation est documentée.",
    "使用量の上限を表示しました。",
    "사용 한도 화면을 추가했습니다.",
    "[internal]: 3 modules compiled",
    "Ran into this error: the tests do not compile.",
    "litellm.RateLimitError is caught now.",
    "cause: { code: 429 }",
    "TerminalQuotaError is mapped to a quota.",
    "Streaming setup timeouts are retried.",
];

#[test]
fn text_that_resembles_them_is_no_failure_of_the_provider() {
    for text in OTHER_FAILURES {
        for got in [
            classify_failed_output(text, ""),
            classify_failed_output("", text),
            classify_successful_output(text),
        ] {
            assert_eq!(got, None, "{text}");
        }
    }
}

#[test]
fn a_report_of_a_refused_request_counts_whatever_the_exit_code() {
    let check = |output: &str, expect: Option<ProviderClass>| {
        assert_eq!(classify_successful_output(output).map(|it| it.class), expect, "{output}");
    };
    let aider = "Aider v0.86.1\nModel: gpt-5 with diff edit format\nGit repo: .git with 3 files\nRepo-map: using 4096 tokens\n\n";
    let advice = "The API provider has rate limited you. Try again later or check your quotas.\nhttps://aider.chat/docs/troubleshooting\n";
    let limit = "litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current quota, please check your plan and billing details.\n";
    check(&format!("{aider}{limit}{advice}"), Some(Quota));
    check(&format!("{aider}{limit}"), Some(Quota));
    check(&format!("{limit}{advice}I added a test for this.\n"), None);
    let login = r#"litellm.AuthenticationError: AnthropicException - {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#;
    check(login, Some(Login));
    let goose = |error: &str| {
        format!(
            "Working.\nRan into this error: {error}.\n\nPlease retry if you think this is a transient or recoverable error.\n"
        )
    };
    check(&goose("Authentication error: Authentication failed. Status: 401 Unauthorized"), Some(Login));
    check(&goose("Rate limit exceeded: Request rejected (429)"), Some(Transient));
    check(&goose("Execution error: the tool panicked"), None);
}

#[test]
fn the_error_above_its_printed_fields_is_the_final_one() {
    let stderr = "Error when talking to Gemini API Full report available at: /tmp/gemini-client-error-x.json TerminalQuotaError: You have exhausted your capacity on this model. Your quota will reset after 2h5m.\n    at classifyGoogleError (file:///x.js:1:2) {\n  cause: {\n    code: 429,\n    message: 'You have exhausted your capacity on this model.',\n    details: [ [Object], [Object] ]\n  },\n  retryDelayMs: 7500000\n}\n";
    let failure = classify_failed_output(stderr, "").expect("a failure");
    assert_eq!((failure.class, failure.reset), (Quota, Some(LimitReset::In(125 * MINUTE))));
}

fn reset_of(words: &str, offset: i32) -> Option<u64> {
    let offset_of = move |zone: Option<&str>, _: u64| if zone.is_none() { Some(offset) } else { None };
    classify(words, None).into_provider_error(&LocalClock { wall: NOW, offset: &offset_of }).resets_at
}

#[test]
fn resets_by_date_by_month_and_in_other_languages() {
    let monthly = "You've hit your usage limit. Upgrade to Plus to continue using Codex, or try again at Dec 18th, 2026 9:12 AM.";
    for (words, expect) in [
        ("Opus weekly limit reached ∙ resets Nov 24", Some(3 * DAY + 10 * HOUR)),
        ("Limit reached. Resets Dec 1, 2026.", Some(10 * DAY + 10 * HOUR)),
        (
            "You've hit your usage limit for Opus. Your usage limits will reset when your monthly cycle ends on 12/4/2026.",
            Some(13 * DAY + 10 * HOUR),
        ),
        (monthly, Some(27 * DAY + 19 * HOUR + 12 * MINUTE)),
        ("You've hit your usage limit. Try again at Feb 18th, 2027 9:12 AM.", None),
        ("Limit reached. Resets Nov 31.", None),
        ("Limit reached. Resets 13/40/2026.", None),
        ("Você atingiu o limite de uso. Tente novamente às 15:00.", Some(HOUR)),
        ("Nutzungslimit erreicht. Versuchen Sie es um 15:30 Uhr erneut.", Some(90 * MINUTE)),
        ("Limite d'utilisation atteinte. Réessayez à 15 h 00.", Some(HOUR)),
        ("Has alcanzado tu límite de uso. Inténtalo de nuevo a las 15:00.", Some(HOUR)),
        ("使用量の上限に達しました。15:00 に再試行してください。", Some(HOUR)),
        ("사용 한도에 도달했습니다. 15:00에 다시 시도하세요.", Some(HOUR)),
        ("已达到使用上限，请 15:00 后重试", Some(HOUR)),
        ("使用上限。25:00 后重试", None),
    ] {
        assert_eq!(reset_of(words, 0).map(|at| at - NOW), expect, "{words}");
    }
    // A date and time without a zone is local.
    assert_eq!(reset_of("您的限额将在 2026-11-21 01:00:00 重置。", 8 * 3600), Some(NOW + 3 * HOUR));
}

/// The places of the test; the machine itself has the time of London in winter.
fn winter_offset(zone: Option<&str>, _: u64) -> Option<i32> {
    let hours = match zone? {
        "America/Los_Angeles" => -8,
        "America/New_York" => -5,
        "Europe/Berlin" => 1,
        "Asia/Tokyo" => 9,
        _ => return None,
    };
    Some(hours * 3600)
}

#[test]
fn resets_in_the_time_of_another_zone() {
    for (words, expect) in [
        ("resets at 10:00 PM PST", 16 * HOUR),
        ("resets 11pm PT", 17 * HOUR),
        ("resets at 8:00 AM EST", 23 * HOUR),
        ("resets 4 PM CET", HOUR),
        ("resets 3:00 AM JST", 4 * HOUR),
        ("resets at midnight UTC", 10 * HOUR),
        ("resets at midnight Pacific time", 18 * HOUR),
        ("resets at noon", 22 * HOUR),
        ("resets 23:00 (UTC+8)", HOUR),
        ("resets at 23:30 GMT+9", 30 * MINUTE),
        ("try again at Nov 21, 2026, 1:00 AM GMT+9", 2 * HOUR),
        ("resets 5am (America/New_York)", 20 * HOUR),
        ("resets 5am (Mars/Olympus)", 15 * HOUR),
        ("resets next Monday at 9am", 2 * DAY + 19 * HOUR),
        ("resets on 2026/11/21 01:00", 11 * HOUR),
        ("try again at 21.11.2026 01:00", 11 * HOUR),
        ("try again in an hour", HOUR),
        ("Resets at 1795186800", HOUR),
        ("It refreshes at 4pm.", 2 * HOUR),
        ("Usage will renew on 2026-12-01", 10 * DAY + 10 * HOUR),
        ("Please wait 45 minutes before retrying.", 45 * MINUTE),
    ] {
        let failure =
            classify_failed_output(&format!("You've hit your usage limit. {words}"), "").expect(words);
        let here = LocalClock { wall: NOW, offset: &winter_offset };
        let error = failure.into_provider_error(&here);
        assert_eq!((error.class, error.resets_at), (Quota, Some(NOW + expect)), "{words}");
    }
}

#[test]
fn resets_are_read_from_headers() {
    let check = |after: &str, ms: &str, expect| assert_eq!(retry_headers(after, ms), expect, "{after} {ms}");
    check("3600", "", Some(LimitReset::In(HOUR)));
    check("1.5", "", Some(LimitReset::In(1500)));
    check("9", "700", Some(LimitReset::In(700)));
    check("Fri, 20 Nov 2026 15:00:00 GMT", "", Some(LimitReset::At(NOW + HOUR)));
    for unread in ["", "soon", "-5", "NaN", "inf"] {
        check(unread, unread, None);
    }
}
