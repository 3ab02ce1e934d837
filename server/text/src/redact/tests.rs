//! Redaction tests: planted canaries in every chunking, and clean text that must stay unchanged.

use proptest::prelude::*;

use super::shapes::{SHAPE_LOOKAHEAD, SHAPES};
use super::{Redactor, is_secret_name};

const KNOWN: [&str; 3] = ["hunter2-hunter2", "p4ss:w0rd/ü+x", "[redact-me]"];

fn redactor() -> Redactor {
    Redactor::new(KNOWN.map(str::to_owned))
}

/// Assembled here so that no file of the project appears to contain a secret.
fn canaries() -> Vec<String> {
    let run = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5hJ7k";
    let jwt = format!("{}.{}.{}", "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", &run[..20]);
    let pem = |kind: &str| {
        format!("-----BEGIN {kind}PRIVATE KEY-----\n{run}\n{run}==\n-----END {kind}PRIVATE KEY-----")
    };
    let mut all = vec![format!("AKIA{}", "ABCDEFGH23456789"), format!("aws_secret_access_key = {run}"), jwt];
    all.extend(
        ["ghp_", "github_pat_", "sk-ant-api03-", "sk-proj-", "xoxb-1234-", "AIza", "npm_", "glpat-"]
            .map(|it| format!("{it}{run}")),
    );
    all.extend(["", "RSA ", "OPENSSH "].map(pem));
    all
}

#[test]
fn secrets_are_replaced() {
    let check = |input: &str, expect: &str| assert_eq!(redactor().redact(input), expect, "{input:?}");
    check("", "");
    check("nothing to see", "nothing to see");
    check("pw=hunter2-hunter2;", "pw=[redacted];");
    check("p4ss:w0rd/ü+x", "[redacted]");
    check("hunter2-hunter2hunter2-hunter2 x", "[redacted] x");
    check("[redact-me] [redacted]", "[redacted] [redacted]");
    for canary in canaries() {
        check(&canary, "[redacted]");
        check(&format!("key: {canary}\nnext line"), "key: [redacted]\nnext line");
        check(&format!("\"{canary}\""), "\"[redacted]\"");
    }
}

#[test]
fn a_known_value_is_covered_whole_where_a_shape_overlaps_it() {
    let token = format!("sk-{}hunter2-hunter2", "a1".repeat(12));
    assert_eq!(redactor().redact(&format!("{token} x")), "[redacted] x");
    let known = Redactor::new(["tail!of!it".to_owned()]);
    assert_eq!(known.redact(&format!("sk-{}tail!of!it x", "a1".repeat(12))), "[redacted] x");
}

#[test]
fn ordinary_text_stays() {
    for clean in [
        "task-runner-configuration-file-for-everything",
        "sk-short",
        "the AKIA prefix, ghp_ and xoxb- alone",
        "if text.contains(\"-----BEGIN CERTIFICATE-----\")",
        "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        "8c1b2f0d9a7e6c5b4a3f2e1d0c9b8a7f6e5d4c3b",
        "[redacted] and [red",
    ] {
        assert_eq!(redactor().redact(clean), clean);
    }
}

#[test]
fn a_key_that_is_cut_off_does_not_swallow_what_follows() {
    let input = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+IBAAK\nRunning 5 tests\ntest a ... ok\n";
    assert_eq!(redactor().redact(input), "[redacted] 5 tests\ntest a ... ok\n");
}

#[test]
fn secret_names_mark_variables_unless_they_name_a_path() {
    for name in ["GITHUB_TOKEN", "ANTHROPIC_API_KEY", "db_password", "CLIENT_SECRET"] {
        assert!(is_secret_name(name), "{name}");
    }
    for name in ["PATH", "SSH_KEY_FILE", "KEYRING_DIR"] {
        assert!(!is_secret_name(name), "{name}");
    }
    let vars = [("API_KEY", "value-of-key"), ("PASSWORD", "short"), ("HOME", "/home/somebody")];
    let redactor = Redactor::from_env(vars.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(redactor.redact("value-of-key short /home/somebody"), "[redacted] short /home/somebody");
}

#[test]
fn shapes_fit_the_lookahead_and_exclude_brackets() {
    for shape in SHAPES {
        assert!(shape.size() <= SHAPE_LOOKAHEAD);
        assert!(!shape.allows(b'[') && !shape.allows(b']'));
    }
}

#[test]
fn every_split_of_a_canary_gives_the_same_result() {
    let redactor = redactor();
    for canary in canaries().into_iter().chain(KNOWN.map(str::to_owned)) {
        let text = format!("before {canary} after\n");
        let whole = redactor.redact(&text);
        assert!(!whole.contains(&canary));
        for at in 0..=text.len() {
            let mut stream = redactor.stream();
            let mut out = stream.push(&text.as_bytes()[..at]);
            out.extend(stream.push(&text.as_bytes()[at..]));
            out.extend(stream.finish());
            assert_eq!(String::from_utf8(out).unwrap(), whole, "split at {at}");
        }
    }
}

fn dense() -> impl Strategy<Value = String> {
    let mut parts: Vec<String> = canaries();
    parts.extend(KNOWN.map(str::to_owned));
    parts.extend(
        [
            "[redacted]",
            "[redact",
            "ed]",
            "-me]",
            "-----BEGIN ",
            "-----END ",
            "PRIVATE KEY-----",
            "sk-",
            "AKIA",
            "eyJ",
            "\n",
            " ",
            "hunter2",
            "x",
            "é",
        ]
        .map(str::to_owned),
    );
    let piece = prop_oneof![
        prop::sample::select(parts.clone()),
        (prop::sample::select(parts), 0usize..60).prop_map(|(it, n)| it.chars().take(n).collect()),
        "[A-Za-z0-9_.-]{0,24}",
        any::<char>().prop_map(|it| it.to_string()),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|it| it.concat())
}

proptest! {
    #[test]
    fn redaction_is_idempotent(text in dense()) {
        let once = redactor().redact(&text);
        prop_assert_eq!(redactor().redact(&once), once);
    }

    #[test]
    fn any_chunking_gives_the_same_result(text in dense(), sizes in prop::collection::vec(1usize..40, 1..12)) {
        let redactor = redactor();
        let mut stream = redactor.stream();
        let mut out = Vec::new();
        let mut rest = text.as_bytes();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, after) = rest.split_at((*size).min(rest.len()));
            out.extend(stream.push(chunk));
            rest = after;
        }
        out.extend(stream.finish());
        prop_assert_eq!(String::from_utf8(out).unwrap(), redactor.redact(&text));
    }

    #[test]
    fn no_known_value_survives(text in dense()) {
        let clean = redactor().redact(&text);
        for known in &KNOWN[..2] {
            prop_assert!(!clean.contains(known));
        }
    }

    #[test]
    fn invalid_utf_8_passes_unchanged(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let redactor = redactor();
        let mut stream = redactor.stream();
        let mut out = stream.push(&bytes);
        out.extend(stream.finish());
        prop_assert_eq!(out, bytes);
    }
}

#[test]
fn a_whole_line_is_not_held() {
    let check = |known: &[&str], pieces: &[&str], expect: &[&str]| {
        let mut stream = Redactor::new(known.iter().map(|it| (*it).to_owned())).stream();
        let out: Vec<String> =
            pieces.iter().map(|it| String::from_utf8(stream.push(it.as_bytes())).expect("text")).collect();
        assert_eq!(out, expect, "{pieces:?}");
    };
    check(&["turn 1 secret"], &["turn 1 begins\n"], &["turn 1 begins\n"]);
    check(&["turn 1 secret"], &["turn 1 ", "secret\n"], &["", "[redacted]\n"]);
    check(&[], &["ghp_\n", "AKIA\n"], &["ghp_\n", "AKIA\n"]);
    // A value of several lines may continue on the next one, and so may a key.
    check(&["first line\nsecond line"], &["first line\n", "second line\n"], &["", ""]);
    check(&[], &["-----BEGIN RSA PRIVATE KEY-----\n"], &[""]);
}
