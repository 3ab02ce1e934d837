//! Configurations: every place of a finding lies in its file.

use loopkeeper_core::settings::{Layer, LayerKind, SettingOrigin, resolve};
use loopkeeper_fuzz::Fuzzer;

const WORDS: &[&str] = &[
    "agent = \"mine\"\n",
    "[agents.mine]\n",
    "command = [\"x\"]\n",
    "[limits]\n",
    "iterations = 18446744073709551616\n",
    "cost_usd = 1e400\n",
    "duration = \"99999999999 h\"\n",
    "[sandbox]\n",
    "[[serve]]\n",
    "a.b.c.",
    "= ",
    "\"\"\"",
    "'''",
    "# ",
    "{ ",
    " }",
    "1979-05-27T07:32:00Z",
    "exit.when = \"criteria and (promise or iterations>=5)\"\n",
    "export MAX_LOOPS=3\n",
    "$(touch x)",
];

fn fuzzer() -> Fuzzer {
    Fuzzer::new("settings", WORDS, &["config"])
}

fn read_as(kind: LayerKind, file: &str, text: &str) {
    let layer = Layer { kind, file: file.to_owned(), text: text.to_owned() };
    let resolved = resolve(&[layer], &[]);
    for finding in resolved.findings() {
        if let SettingOrigin::File { place, .. } = &finding.origin {
            assert!(place.file != file || text.get(place.range.clone()).is_some(), "{finding:?}");
        }
    }
    std::hint::black_box((resolved.settings().is_ok(), resolved.effective()));
}

fn read(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    read_as(LayerKind::Workspace, "loopkeeper.toml", &text);
    read_as(LayerKind::User, "/home/me/config.toml", &text);
    read_as(LayerKind::Ralphrc, ".ralphrc", &text);
    read_as(LayerKind::OtherTool, "ralph.yml", &text);
}

#[test]
fn any_text_is_read() {
    fuzzer().run(read);
}

#[test]
fn the_time_is_linear() {
    fuzzer().run_growing(|input| {
        read_as(LayerKind::Workspace, "loopkeeper.toml", &String::from_utf8_lossy(input));
    });
}

#[test]
fn the_time_is_linear_for_files_of_other_tools() {
    fuzzer().run_growing(|input| {
        let text = String::from_utf8_lossy(input);
        read_as(LayerKind::Ralphrc, ".ralphrc", &text);
        read_as(LayerKind::OtherTool, "ralph.yml", &text);
    });
}
