//! Texts about `loopkeeper.toml` and about check spans: diagnostics, hovers, completion.

use expect_test::expect_file;
use loopkeeper_core::settings::LayerKind;

use super::{Transcript, diagnostic};
use crate::editor::settings::{check, complete, explain};
use crate::editor::{ProjectFacts, Suggestion, in_check};

const FILE: &str = "loopkeeper.toml";

const INVALID_SETTINGS: &[&str] = &[
    "[limits\n",
    "iterations = 3\n",
    "agnet = \"auto\"\n",
    "[limits]\niteratons = 3\n",
    "[limits]\niterations = 0\n",
    "[limits]\niterations = \"many\"\n",
    "[limits]\nduration = \"soon\"\n",
    "[limits]\ncost_usd = -1\n",
    "[questions]\npatience = \"5m\"\n",
    "[sandbox]\nkind = \"of\"\n",
    "[exit]\nwhen = \"plan and critera\"\n",
    "[exit]\nwhen = \"plan and (criteria\"\n",
    "[exit]\nwhen = \"\"\n",
    "max.iterations = 3\n",
    "agent = \"nobody\"\n",
    "[agents.mine]\noutput = \"text\"\n",
];

#[test]
fn mistakes_in_settings() {
    let mut file = Transcript::default();
    for text in INVALID_SETTINGS {
        let found = check(LayerKind::Workspace, text).diagnostics;
        let found = found.iter().map(|it| diagnostic(it, text).trim_start_matches(':').to_owned());
        file.section(&text.trim_end().replace('\n', " / "), found.collect::<String>());
    }
    expect_file!["../../../../../tests/e2e/texts/settings-mistakes.txt"].assert_eq(&file.0);
}

/// `label: detail`, and below it the documentation.
fn listed(all: &[Suggestion]) -> String {
    let one = |it: &Suggestion| {
        let detail = if it.detail.is_empty() { String::new() } else { format!(": {}", it.detail) };
        let meaning =
            if it.documentation.is_empty() { String::new() } else { format!("    {}\n", it.documentation) };
        format!("{}{detail}\n{meaning}", it.label)
    };
    all.iter().map(one).collect()
}

#[test]
fn completion_and_hovers_of_settings() {
    let mut file = Transcript::default();
    let tables = complete(LayerKind::User, "", 0);
    file.section("at the top of the file", listed(&tables));
    for table in tables.iter().filter_map(|it| it.label.strip_prefix('[')?.strip_suffix(']')) {
        let text = format!("[{table}]\n");
        file.section(&text, listed(&complete(LayerKind::User, &text, text.len())));
    }
    let text = "[exit]\nwhen = \"\"\n";
    file.section(
        "a value of exit.when",
        listed(&complete(LayerKind::User, text, text.find("\"\"").expect("a value") + 1)),
    );
    for text in ["[limits]\ngrace = \"5s\"\n", "[keep]\n", "[agents.claude]\n", "agent = \"auto\"\n"] {
        let offset = if text.contains("grace") { text.find("grace").expect("the key") } else { 1 };
        let hover = explain(FILE, text, offset).map(|it| it.plain()).unwrap_or_default();
        file.section(&format!("hover over {}", text.trim_end().replace('\n', " / ")), hover);
    }
    expect_file!["../../../../../tests/e2e/texts/settings-explained.txt"].assert_eq(&file.0);
}

#[test]
fn completion_of_checks() {
    let mut file = Transcript::default();
    for text in ["- tests: `", "- cov: `$ cov` `"] {
        file.section(text, listed(&in_check(text, text.len(), ProjectFacts::default())));
    }
    expect_file!["../../../../../tests/e2e/texts/completion-checks.txt"].assert_eq(&file.0);
}
