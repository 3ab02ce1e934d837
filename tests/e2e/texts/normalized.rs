//! Replaces what differs from run to run and from machine to machine by fixed words.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::cli::Terminal;

/// Patterns and their words, applied in this order.
static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let rows = [
        (r"\b\d{8}-[a-z2-7]{6}\b", "LOOP"),
        (r"\b\d{4}-\d{2}-\d{2}T[0-9:.]+Z", "TIMESTAMP"),
        (r"\b\d{4}-\d{2}-\d{2}\b", "DATE"),
        (r"(?m)^\d{2}:\d{2}:\d{2}\b", "CLOCK"),
        (r"\bsince \d{2}:\d{2}\b", "since CLOCK"),
        (r"\b(\d+ min )?\d+(\.\d+)? m?s of\b", "DURATION of"),
        (r"\b\d+ h( \d+ min)? left\b", "DURATION left"),
        (r"\b\d\d:\d\d UTC\b", "CLOCK UTC"),
        // A duration that rounds to zero is not printed.
        (r" · (\d+ min )?\d+(\.\d+)? m?s\b", ""),
        (r"\b(\d+ min )?\d+(\.\d+)? m?s\b", "DURATION"),
        (r"\b[0-9a-f]{64}\b", "SHA256"),
        (r"\b[0-9a-f]{40}\b", "HASH"),
        (r"\b[0-9a-f]{10}\b", "ID"),
        // The process of an agent that ends at once may not be known.
        (r"\bagent started, process \d+", "agent started"),
        (r"\bprocess \d+", "process PID"),
        (r"(/usr)?/bin/sh\b", "/bin/sh"),
    ];
    rows.into_iter().map(|(pattern, word)| (Regex::new(pattern).expect("a pattern"), word)).collect()
});

pub(super) fn normalized(text: &str, terminal: &Terminal) -> String {
    let folder = terminal.folder().canonicalize().expect("a folder");
    let mut text = text.to_owned();
    for folder in [terminal.folder(), &folder] {
        for (name, word) in [("work", "ROOT"), ("home", "HOME"), ("state", "STATE"), ("agent", "AGENT")] {
            text = text.replace(&path(&folder.join(name)), word);
        }
        text = text.replace(&path(folder), "FOLDER");
    }
    text = text.replace(env!("CARGO_MANIFEST_DIR"), "REPOSITORY");
    text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    PATTERNS.iter().fold(text, |text, (pattern, word)| pattern.replace_all(&text, *word).into_owned())
}

fn path(path: &Path) -> String {
    path.to_str().expect("a path in UTF-8").to_owned()
}

#[test]
fn varying_values_are_replaced_by_words() {
    let terminal = Terminal::new();
    let check = |text: &str, expect: &str| assert_eq!(normalized(text, &terminal), expect);
    check("loop 20261125-h5m4ea ended", "loop LOOP ended");
    check("2026-11-25\n19:42:04   #1", "DATE\nCLOCK   #1");
    check("started 2026-11-25T19:42:04.586Z, since 19:42", "started TIMESTAMP, since CLOCK");
    check("started 2026-11-25 19:42 UTC.", "started DATE CLOCK UTC.");
    check("done after 33 ms, 2 min 3 s of 8 h", "done after DURATION, DURATION of 8 h");
    check("✓ pass  long enough · 7 ms", "✓ pass  long enough");
    check("snapshot: 348adb6840, process 25091", "snapshot: ID, process PID");
    check("2 of 5 iterations · 554 ms of 8 h", "2 of 5 iterations · DURATION of 8 h");
    check("8 h, 7 h 59 min left", "8 h, DURATION left");
    check("PROMPT.md:10:11: bad-check", "PROMPT.md:10:11: bad-check");
    check(&"fad95e7a6e".repeat(4), "HASH");
    check("    /usr/bin/sh a.sh; /bin/sh", "    /bin/sh a.sh; /bin/sh");
    let root = terminal.root();
    check(&format!("in {}: {}/a", root.display(), terminal.state().display()), "in ROOT: STATE/a");
    check("1 of 3 pass, limit 25, abcdef0123x", "1 of 3 pass, limit 25, abcdef0123x");
}
