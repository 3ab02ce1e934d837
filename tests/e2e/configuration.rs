//! The configuration as users meet it: a corpus of files with loopkeeper's messages about each, and the generated
//! reference page and schema. `LOOPKEEPER_BLESS=1` rewrites the corpus' expectations for review.

use std::fs;
use std::path::{Path, PathBuf};

use loopkeeper_core::settings::{
    Layer, LayerKind, OverrideSource, ResolvedSettings, SettingOrigin, SettingOverride, json_schema,
    reference_page, resolve,
};

#[test]
fn every_sample_says_what_it_should() {
    let mut names: Vec<PathBuf> =
        fs::read_dir(samples()).unwrap().map(|it| it.unwrap().path()).filter(|it| it.is_dir()).collect();
    names.sort();
    assert!(names.len() > 20, "the corpus is gone");
    let wrong: Vec<String> = names.iter().filter_map(|it| disagreement(it)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reference_page_and_the_schema_are_those_of_the_table() {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("server");
    let files = [("CONFIGURATION.md", reference_page()), ("loopkeeper.schema.json", json_schema())];
    let stale: Vec<&str> = files
        .iter()
        .filter(|(name, text)| rewritten(&server.join(name), text))
        .map(|(name, _)| *name)
        .collect();
    assert!(stale.is_empty(), "{stale:?} did not fit the table of keys and are rewritten: commit them");
}

#[test]
fn arguments_win_and_are_named_when_they_are_wrong() {
    let layers = [Layer {
        kind: LayerKind::Workspace,
        file: "loopkeeper.toml".to_owned(),
        text: "limits.iterations = 5".to_owned(),
    }];
    let argument = |option: &str, key: &str, value: &str| SettingOverride {
        option: option.to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
        source: OverrideSource::Argument,
    };
    let good = resolve(&layers, &[argument("--max-iterations", "limits.iterations", "2")]);
    assert_eq!(good.settings().unwrap().limits.iterations, 2);
    let bad = resolve(
        &layers,
        &[
            argument("--max-cost", "limits.cost_usd", "much"),
            argument("--max-duration", "limits.duration", "0s"),
            argument("--agent", "agent", "nobody"),
        ],
    );
    let described: Vec<String> = bad.settings().unwrap_err().iter().map(ToString::to_string).collect();
    assert_eq!(
        described,
        [
            "--max-cost: `limits.cost_usd` takes an amount in US dollars such as 2.50, found \"much\". \
             Hint: correct the value.",
            "--max-duration: `limits.duration` takes a duration such as \"30m\" or \"1h30m\", found zero. \
             Hint: there is no \"unlimited\"; write the largest value you would accept.",
            "--agent: there is no agent `nobody`. \
             Hint: use one of `claude`, `codex`, `opencode`, `gemini`, `qwen`, `copilot`, `cursor`, `amp`, `demo`, `auto`, give the path of a program, or describe it as `[agents.NAME]`.",
        ]
    );
}

#[test]
fn a_program_may_replace_an_agent() {
    let check = |path: &str, text: &str, name: &str| {
        let layer = Layer { kind: LayerKind::Workspace, file: "loopkeeper.toml".into(), text: text.into() };
        let typed = SettingOverride {
            option: "--agent".into(),
            key: "agent".into(),
            value: path.into(),
            source: OverrideSource::Argument,
        };
        let resolved = resolve(&[layer], &[typed]);
        let settings = resolved.settings().unwrap();
        assert_eq!(settings.agent, name);
        assert_eq!(settings.agent_named(name).unwrap().command, [path]);
        let row = format!("agents.{name}.command");
        let row = resolved.effective().into_iter().find(|it| it.key == row).unwrap();
        assert_eq!(row.origin.to_string(), "--agent");
    };
    check("/home/me/agent.sh", "", "agent");
    check("/a folder/it's mine.sh", "", "mine");
    check("/opt/claude", "", "claude");
    check("/opt/codex", "", "codex");
    check("/opt/acp", "", "acp");
    check("/opt/auto", "", "mine");
    check("/opt/agent.sh", "[agents.agent]\ncommand = [\"other\"]\n", "agent");
}

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/config")
}

/// The difference between a sample folder's output and its `expected.txt`.
fn disagreement(folder: &Path) -> Option<String> {
    let kinds = [
        ("config.toml", LayerKind::User),
        (".ralphrc", LayerKind::Ralphrc),
        ("loopkeeper.toml", LayerKind::Workspace),
    ];
    let layers: Vec<Layer> = kinds
        .into_iter()
        .filter_map(|(file, kind)| {
            let text = fs::read_to_string(folder.join(file)).ok()?;
            Some(Layer { kind, file: file.to_owned(), text })
        })
        .collect();
    let described = transcript(&resolve(&layers, &[]));
    let expected_file = folder.join("expected.txt");
    if std::env::var_os("LOOPKEEPER_BLESS").is_some() {
        fs::write(&expected_file, &described).unwrap();
    }
    let expected = fs::read_to_string(&expected_file).unwrap_or_default();
    (described != expected).then(|| format!("{}:\nexpected\n{expected}\nsaid\n{described}", folder.display()))
}

fn transcript(resolved: &ResolvedSettings) -> String {
    let verdict = if resolved.settings().is_ok() { "accepted" } else { "refused" };
    let mut lines = vec![verdict.to_owned()];
    lines.extend(resolved.findings().iter().map(ToString::to_string));
    let written = resolved.effective().into_iter().filter(|it| it.origin != SettingOrigin::Default);
    lines.extend(written.map(|it| format!("{} = {} ({})", it.key, it.value, it.origin)));
    lines.join("\n") + "\n"
}

/// Writes the file if its content differs; returns whether it did.
fn rewritten(path: &Path, text: &str) -> bool {
    let same = fs::read_to_string(path).is_ok_and(|it| it == text);
    if !same {
        fs::write(path, text).unwrap();
    }
    !same
}
