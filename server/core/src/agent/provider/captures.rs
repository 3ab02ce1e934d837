//! Every captured transcript of the real programs that shows an error, against what its scenario says. Claude's
//! are beside its reader.

use super::{Here, Trouble, of_failed};
use crate::agent::ProviderClass::{self, Login, Quota, Refused, Transient};
use crate::agent::{codex, gemini, opencode};

/// 2026-11-20T14:00:00Z, when they were captured.
const NOW: u64 = 1_795_183_200_000;

macro_rules! captured {
    ($cli:literal, $name:literal, $end:literal) => {
        include_str!(concat!("../../../../../tests/fixtures/agents/", $cli, "/", $name, $end))
    };
}

fn check(name: &str, trouble: Option<Trouble>, expect: Option<(ProviderClass, Option<u64>)>) {
    let error = trouble.map(|it| it.at(&Here::utc(NOW)));
    let got = error.as_ref().map(|it| (it.class, it.resets_at.map(|at| (at - NOW) / 1000)));
    assert_eq!(got, expect, "{name}: {error:?}");
}

macro_rules! table {
    ($cli:literal, $trouble:path, $($name:literal => $expect:expr;)*) => {
        $({
            let out = captured!($cli, $name, ".jsonl");
            let trouble = $trouble(out);
            check(concat!($cli, " ", $name), trouble, $expect);
        })*
    };
}

#[test]
fn transcripts_end_as_their_scenarios_say() {
    table! { "codex", codex::trouble,
        "err_400" => Some((Refused, None));
        "err_401" => Some((Login, None));
        "err_429" => Some((Transient, None));
        "err_429_then_ok" => None;
        "err_429_usage_limit" => Some((Quota, Some(3660)));
        "err_500" => Some((Transient, None));
        "err_drop" => Some((Transient, None));
        "err_malformed" => Some((Transient, None));
        "err_no_key" => Some((Login, None));
        "kill_tool_SIGTERM" => None;
    }
    table! { "gemini", gemini::trouble,
        "err_401" => Some((Login, None));
        "err_429" => None;
        "err_429_then_ok" => None;
        "err_500_then_ok" => None;
        "hook_max_turns" => None;
        "kill_tool_SIGTERM" => None;
    }
    table! { "opencode", opencode::trouble,
        "err_400" => Some((Refused, None));
        "err_401" => Some((Login, None));
        "err_429_forever" => Some((Transient, Some(2)));
        "err_429_then_ok" => None;
        "err_html" => None;
        "err_malformed" => Some((Transient, None));
        "kill_tool_SIGTERM" => None;
    }
}

#[test]
fn what_stderr_says_at_the_end() {
    for (name, stderr, expect) in [
        ("gemini err_no_key", captured!("gemini", "err_no_key", ".stderr.txt"), Some((Login, None))),
        ("gemini err_429", captured!("gemini", "err_429", ".stderr.txt"), None),
        ("codex sess_4_unknown", captured!("codex", "sess_4_unknown", ".stderr.txt"), None),
        ("codex no_git_repo", captured!("codex", "no_git_repo", ".stderr.txt"), None),
        ("opencode sess_4_unknown", captured!("opencode", "sess_4_unknown", ".stderr.txt"), None),
        ("qwen", captured!("other", "qwen_trivial", ".stderr.txt"), None),
        ("claude err_malformed_sse", captured!("claude", "err_malformed_sse", ".stderr.txt"), None),
    ] {
        check(name, of_failed(stderr, ""), expect);
    }
}
