//! The texts of settings in Simplified Chinese.

use crate::settings::keys::KEYS;
use crate::settings::{
    Layer, LayerKind, OverrideSource, SettingFinding, SettingOverride, reference_page, resolve,
};
use loopkeeper_text::language::{Language, translate};

#[track_caller]
fn check(kind: LayerKind, file: &str, text: &str, expect: &[&str]) {
    let layer = Layer { kind, file: file.to_owned(), text: text.to_owned() };
    let found = Language::SimplifiedChinese.during(|| {
        resolve(&[layer], &[]).findings().iter().map(SettingFinding::to_string).collect::<Vec<_>>()
    });
    assert_eq!(found, expect, "{text}");
}

#[test]
fn findings_are_translated() {
    let check = |text: &str, expect: &[&str]| check(LayerKind::Workspace, "loopkeeper.toml", text, expect);
    check(
        "limits.cost_usd = \"much\"",
        &["loopkeeper.toml:1: `limits.cost_usd` 应为：美元金额，例如 2.50；实际为：\"much\". Hint: \
           请更正该值，或删除该行以使用默认值 `25.0`。"],
    );
    check(
        "limit.iterations = 3",
        &["loopkeeper.toml:1: `limit` 不是已知的键. Hint: 你是不是想写 `limits`？"],
    );
    check(
        "agents.demo.model = \"x\"",
        &["loopkeeper.toml:1: 不能设置 `agents.demo`：演示代理按固定脚本运行. Hint: 请删除该行。"],
    );
    check(
        "git.commit = \"all\"",
        &[
            "loopkeeper.toml:1: `git.commit` 应为：\"agent\"、\"server\" 或 \"never\"；实际为：\"all\". Hint: \
           请更正该值，或删除该行以使用默认值 `\"agent\"`。",
        ],
    );
    check(
        "sandbox.network = [\"http://a\"]",
        &["loopkeeper.toml:1: `sandbox.network` 应为：true、false 或主机列表；实际为：\"http://a\"，这是 \
           URL：请只写主机. Hint: 请更正该值，或删除该行以使用默认值 `true`。"],
    );
    check(
        "serve = 3",
        &["loopkeeper.toml:1: `serve` 应为：含 `command`、`ready` 以及可选的 `timeout` 的表；\
           实际为：3. Hint: 请写 `[[serve]]`，两边各两个方括号。"],
    );
}

#[test]
fn notes_about_other_tools_are_translated() {
    check(
        LayerKind::Ralphrc,
        ".ralphrc",
        "A=1\nB=2\nMAX_CALLS_PER_HOUR=$(x)\n",
        &[
            ".ralphrc:3: `MAX_CALLS_PER_HOUR` 由 shell 代码给出，这种代码从不运行. Hint: 请在此写普通的值，或在 \
             loopkeeper.toml 中写 `limits.calls_per_hour`。",
            ".ralphrc:1: loopkeeper 不使用：A、B. Hint: 请将循环的设置写入 `loopkeeper.toml`。",
        ],
    );
}

#[test]
fn findings_about_arguments_are_translated() {
    let argument = SettingOverride {
        option: "--agent".to_owned(),
        key: "agent".to_owned(),
        value: "cluade".to_owned(),
        source: OverrideSource::Argument,
    };
    let found = Language::SimplifiedChinese.during(|| resolve(&[], &[argument]).findings()[0].to_string());
    assert_eq!(found, "--agent: 没有代理 `cluade`. Hint: 你是不是想写 `claude`？");
}

#[test]
fn the_documentation_of_keys_is_translated() {
    let english = reference_page();
    Language::SimplifiedChinese.during(|| {
        for key in KEYS {
            assert_ne!(translate(key.doc), key.doc, "{}", key.path);
        }
        assert_eq!(reference_page(), english, "the generated page is English");
    });
}
