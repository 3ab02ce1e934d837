use proptest::prelude::any;
use proptest::{prop_assert, proptest};

use super::{check as read, complete, explain, quick_fixes};
use crate::editor::{Diagnostic, QuickFix};
use loopkeeper_core::settings::LayerKind;

const FILE: &str = "loopkeeper.toml";
const KIND: LayerKind = LayerKind::Workspace;

fn diagnostics(kind: LayerKind, text: &str) -> Vec<Diagnostic> {
    read(kind, text).diagnostics
}

#[test]
fn only_the_users_own_file_sets_a_maximum() {
    let codes = |kind| -> Vec<&str> {
        diagnostics(kind, "max.iterations = 3\n").iter().map(|it| it.code.word()).collect()
    };
    assert_eq!(codes(LayerKind::User), [""; 0]);
    assert_eq!(codes(LayerKind::Workspace), ["bad-value"]);
}

#[test]
fn settings_errors_are_at_their_range() {
    let check = |text: &str, expect: &[&str]| {
        let all = diagnostics(KIND, text);
        let messages: Vec<String> = all
            .iter()
            .map(|it| format!("{} {}: {}", it.code.word(), &text[it.place.range.clone()], it.message))
            .collect();
        assert_eq!(messages, expect, "{text}");
    };
    check("", &[]);
    check("[limits]\niterations = 3\n", &[]);
    check(
        "[limits]\niteratons = 3\n",
        &["unknown-key iteratons: `limits.iteratons` is not a known key. Did you mean `limits.iterations`?"],
    );
    check(
        "[questions]\npatience = \"5m\"\n",
        &["unknown-key patience: `questions.patience` is now called `questions.timeout`. Write `timeout`."],
    );
    check(
        "[limits]\niterations = 0\n",
        &["bad-value 0: `limits.iterations` takes a whole number from 1, found 0"],
    );
    check(
        "[sandbox]\nkind = \"of\"\n",
        &["bad-value \"of\": `sandbox.kind` takes \"auto\", \"required\" or \"off\", found \"of\""],
    );
    check(
        "[exit]\nwhen = \"plan and critera\"\n",
        &["bad-value critera: `critera` is not a condition. Did you mean `criteria`?"],
    );
    check(
        "exit.when = '''\nplan and (criteria'''\n",
        &["bad-value '''\nplan and (criteria''': this `(` is never closed. Close it with `)`."],
    );
    check(
        "exit.when = \"text(\\\"done)\"\n",
        &["bad-value \"text(\\\"done)\": this `\"` is never closed. Close it with `\"`."],
    );
    check("exit.when = 'text(\"done\")'", &[]);
    check(
        "exit.when = ''",
        &[
            "bad-value '': an empty expression defines no condition. Write one such as `criteria and plan`, or remove the line.",
        ],
    );
    check(
        "exit.when = 3",
        &[
            "bad-value 3: `exit.when` takes conditions joined by `and`, `or` and `not`, such as \"criteria and plan\", found 3",
        ],
    );
    let broken = diagnostics(KIND, "[limits\n");
    assert_eq!(broken[0].code.word(), "syntax");
}

#[test]
fn obvious_slips_have_a_quick_fix() {
    let check = |text: &str, needle: &str, expect: &str| {
        let at = text.find(needle).expect("in the text");
        let all = quick_fixes(KIND, text, &(at..at));
        let Some(QuickFix::Edits(edits)) = all.first().map(|it| it.fix.clone()) else { panic!("{all:?}") };
        let mut cured = text.to_owned();
        cured.replace_range(edits[0].place.range.clone(), &edits[0].text);
        assert_eq!(cured, expect);
    };
    check("[limits]\niteratons = 3\n", "iter", "[limits]\niterations = 3\n");
    check("[limit]\niterations = 3\n", "limit", "[limits]\niterations = 3\n");
    check("agnet = \"auto\"\n", "agnet", "agent = \"auto\"\n");
    check("[sandbox]\nkind = \"of\"\n", "\"of", "[sandbox]\nkind = \"off\"\n");
    check("[exit]\nwhen = \"plan AND promise\"\n", "AND", "[exit]\nwhen = \"plan and promise\"\n");
    assert_eq!(quick_fixes(KIND, "[limits]\niteratons = 3\n", &(0..0)), []);
    // A key of another table is reported but not moved.
    assert_eq!(quick_fixes(KIND, "iterations = 3\n", &(0..0)), []);
}

/// The labels offered at `|`.
fn offered(marked: &str) -> Vec<String> {
    let offset = marked.find('|').expect("a cursor");
    let text = marked.replacen('|', "", 1);
    complete(KIND, &text, offset).into_iter().map(|it| it.label).collect()
}

#[test]
fn keys_tables_and_values_are_offered_where_they_fit() {
    let check = |marked: &str, expect: &[&str]| assert_eq!(offered(marked), expect, "{marked}");
    check("[session]\n|", &["continue", "expires"]);
    check("[git]\ncommit = |", &["\"agent\"", "\"server\"", "\"never\""]);
    check("[keep]\ndays = 3\n|", &["loops", "disk"]);
    check("[keep]\nda|ys = 3\n", &["loops", "days", "disk"]);
    check("[sandbox]\nkind = |", &["\"auto\"", "\"required\"", "\"off\""]);
    check("[sandbox]\nkind = \"o|\"", &["\"auto\"", "\"required\"", "\"off\""]);
    check("[limits]\nduration = |", &["\"8h\""]);
    assert_eq!(
        offered("agent = |\n[agents.mine]\ncommand = [\"x\"]\n"),
        ["amp", "auto", "claude", "codex", "copilot", "cursor", "demo", "gemini", "mine", "opencode", "qwen"]
            .map(|it| format!("\"{it}\"")),
    );
    check("[agents.mine]\n|", &["command", "args", "env", "prompt", "output"]);
    check("[agents.claude]\n|", &["command", "args", "permissions", "model", "effort", "env"]);
    check("[agents.gemini]\n|", &["command", "args", "permissions", "model", "env", "output"]);
    // Agents with the protocol support permissions and models; they need no setting for the prompt.
    let protocol = ["command", "args", "permissions", "model", "effort", "env"];
    check("[agents.mine]\noutput = \"acp\" # the protocol\n|", &protocol);
    check("[agents.mine]\n|\noutput = 'acp'\n", &protocol);
    check("[agents]\nmine.output = \"acp\"\n[agents.mine]\n|", &protocol);
    check(
        "[agents.other]\noutput = \"acp\"\n[agents.mine]\n|",
        &["command", "args", "env", "prompt", "output"],
    );
    check("keep.|", &["loops", "days", "disk"]);
    check("[spawns]\n|", &["budget", "per_agent", "depth", "children"]);
    check("[exit]\nwhen = |", &[]);
    check("[tasks]\nfiles = [\n  |\n]\n", &[]);
    check("# about li|", &[]);
    let top = offered("|");
    assert!(top.starts_with(&["agent".to_owned(), "mode".to_owned()]), "{top:?}");
    assert!(top.contains(&"[limits]".to_owned()) && top.contains(&"[spawns]".to_owned()), "{top:?}");
    assert!(offered("[li|]").contains(&"[limits]".to_owned()));
    for agent in ["[agents.claude]", "[agents.mine]"] {
        assert!(top.contains(&agent.to_owned()), "{top:?}");
    }
}

/// A workspace's `[max]` is an error, so that offering it there would offer a mistake.
#[test]
fn bounds_are_offered_only_in_the_users_own_file() {
    let labels = |kind, text: &str| -> Vec<String> {
        complete(kind, text, text.len()).into_iter().map(|it| it.label).collect()
    };
    let has = |kind, text, label: &str| labels(kind, text).iter().any(|it| it == label);
    for (text, label) in [("", "[max]"), ("[m", "[max]"), ("[max]\n", "iterations"), ("max.", "iterations")] {
        assert!(has(LayerKind::User, text, label), "{text}");
        assert!(!has(LayerKind::Workspace, text, label), "{text}");
    }
    assert!(has(LayerKind::Workspace, "[limits]\n", "iterations"));
}

#[test]
fn accepted_settings_can_be_read() {
    let check = |marked: &str, label: &str, expect: &str| {
        let offset = marked.find('|').expect("a cursor");
        let mut text = marked.replacen('|', "", 1);
        let all = complete(KIND, &text, offset);
        let it = all.iter().find(|it| it.label == label).expect("offered");
        text.replace_range(it.replaces.clone(), &it.text);
        assert_eq!(text, expect);
        assert_eq!(diagnostics(KIND, &text), [], "{text}");
    };
    check("[limits]\nit|", "iterations", "[limits]\niterations = 25");
    check("[limits]\nit| = 3", "iterations", "[limits]\niterations = 3");
    check("[sandbox]\nkind = \"re|\"\n", "\"required\"", "[sandbox]\nkind = \"required\"\n");
    check("[sandbox]\nkind = re|\n", "\"required\"", "[sandbox]\nkind = \"required\"\n");
    check("lim|", "[limits]", "[limits]");
    check("[exit]\nwhen = \"crit|\"", "criteria", "[exit]\nwhen = \"criteria\"");
    check("[exit]\nwhen = \"plan and |\"", "iterations>10", "[exit]\nwhen = \"plan and iterations>10\"");
    check("exit.when = 'not te|'", "text(\"…\")", "exit.when = 'not text(\"…\")'");
    check("exit.when = \"(plan or fi|)\"", "file(\"GLOB\")", "exit.when = \"(plan or file('GLOB'))\"");
    check("[li|]\n", "[limits]", "[limits]\n");
}

#[test]
fn a_key_is_explained() {
    let check = |marked: &str, expect: &str| {
        let offset = marked.find('|').expect("a cursor");
        let text = marked.replacen('|', "", 1);
        assert_eq!(explain(FILE, &text, offset).map(|it| it.plain()).unwrap_or_default(), expect);
    };
    let grace = "limits.grace\n\nThe time between asking a process to end and killing it.\n\nTakes a duration such as \
                 \"30m\" or \"1h30m\".\n\ngrace = \"10s\"";
    check("[limits]\ngr|ace = \"5s\"\n", grace);
    check("[limits]\ngrace = \"5|s\"\n", grace);
    check("limits.gr|ace = \"5s\"\n", grace);
    check("[ke|ep]\n", "[keep]\n\nloops = 20\ndays = 60\ndisk = \"5GiB\"");
    check("[limits]\nunknown| = 3\n", "");
    check("# limits|\n", "");
}

proptest! {
    #[test]
    fn any_text_can_be_completed(text in "[\\[\\]a-z.= \"'#\n{}é0-9]{0,60}", offset in any::<usize>()) {
        let offset = offset % (text.len() + 2);
        for it in complete(KIND, &text, offset) {
            prop_assert!(text.get(it.replaces.clone()).is_some(), "{:?}", it);
        }
        if let Some(it) = explain(FILE, &text, offset) {
            prop_assert!(text.get(it.place.range).is_some());
        }
        for it in diagnostics(KIND, &text) {
            prop_assert!(text.get(it.place.range.clone()).is_some(), "{:?}", it);
            prop_assert!(it.message.chars().count() <= 100, "{:?}", it);
        }
    }
}
