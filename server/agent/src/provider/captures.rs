//! Classifies captured final stderr output of the real programs. Their stdout is tested next to its readers.

use super::{LocalClock, ProviderFailure, classify_failed_output};
use crate::ProviderClass::{self, Login, Transient};
use crate::kind::Dialect::{Claude, Text};
use crate::transcripts::{NOW, captured, read};

fn check(name: &str, failure: Option<ProviderFailure>, expect: Option<(ProviderClass, Option<u64>)>) {
    let error = failure.map(|it| it.into_provider_error(&LocalClock::utc(NOW)));
    let got = error.as_ref().map(|it| (it.class, it.resets_at.map(|at| (at - NOW) / 1000)));
    assert_eq!(got, expect, "{name}: {error:?}");
}

#[test]
fn the_last_lines_of_stderr_are_classified() {
    for (name, stderr, expect) in [
        ("gemini err_no_key", captured!("gemini", "err_no_key", ".stderr.txt"), Some((Login, None))),
        ("gemini err_429", captured!("gemini", "err_429", ".stderr.txt"), None),
        ("codex sess_4_unknown", captured!("codex", "sess_4_unknown", ".stderr.txt"), None),
        ("codex no_git_repo", captured!("codex", "no_git_repo", ".stderr.txt"), None),
        ("opencode sess_4_unknown", captured!("opencode", "sess_4_unknown", ".stderr.txt"), None),
        ("qwen", captured!("other", "qwen_trivial", ".stderr.txt"), None),
        ("claude err_malformed_sse", captured!("claude", "err_malformed_sse", ".stderr.txt"), None),
    ] {
        check(name, classify_failed_output(stderr, ""), expect);
    }
}

/// Copilot CLI and Amp were run without an account, so nothing later than the login is covered.
#[test]
fn a_missing_account_names_the_login() {
    for (name, dialect, stdout, stderr, class, words) in [
        (
            "copilot err_no_login",
            Text,
            "",
            captured!("copilot", "err_no_login", ".stderr.txt"),
            Login,
            "No authentication information found",
        ),
        (
            "copilot err_classic_token",
            Text,
            "",
            captured!("copilot", "err_classic_token", ".stderr.txt"),
            Login,
            "are not supported by Copilot",
        ),
        (
            "copilot err_no_network",
            Text,
            "",
            captured!("copilot", "err_no_network", ".stderr.txt"),
            Transient,
            "network fetch failed",
        ),
        (
            "amp err_no_login",
            Claude,
            captured!("amp", "err_no_login", ".stdout.txt"),
            captured!("amp", "err_no_login", ".stderr.txt"),
            Login,
            "Login failed",
        ),
        (
            "amp err_no_network",
            Claude,
            "",
            captured!("amp", "err_no_network", ".stderr.txt"),
            Transient,
            "Couldn't connect to the Amp server",
        ),
    ] {
        let error = read(dialect, stdout, stderr, 1).error.expect(name);
        assert!(error.class == class && error.message.contains(words), "{name}: {error:?}");
    }
}
