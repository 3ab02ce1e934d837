//! Findings in the language of the user.

use loopkeeper_text::language::Language;

use super::task;

fn messages(path: &str, text: &str) -> Vec<String> {
    Language::SimplifiedChinese
        .during(|| task(path, text).findings.into_iter().map(|it| it.message).collect())
}

#[test]
fn findings_are_written_in_the_language_of_the_user() {
    let check = |text: &str, expect: &[&str]| {
        let found = messages("PROMPT.md", &format!("# 任务\n\n完成标准：\n\n{text}\n"));
        assert_eq!(found, expect, "{text}");
        assert!(found.iter().all(|it| it.chars().count() <= 100), "{found:?}");
    };
    check("- A: `exist a.txt`", &["`exist a.txt` 不是检查。是否指 `exists a.txt`？"]);
    check("- A: `$ a` 和 `$ b`", &["一项中有两个检查：`$ a` 和 `$ b`。请写成两项。"]);
    check(
        "- A: `has x *.md`",
        &["`has x *.md`：`has` 需要 \"text\" 或 /regex/，然后是 glob。是否指 `has \"x\" *.md`？"],
    );
    check("- A: `exists a, b`", &["`exists a, b`：名称后面有逗号。请用空格分隔名称。"]);
    check("- A: `$ make` (stage 0)", &["A：`stage 0` 不存在：阶段从 1 开始计数。"]);
    check("", &["完成标准：没有列表项，因此不会检查任何内容。请为每个标准写一项。"]);
}

#[test]
fn story_files_are_judged_in_the_language_of_the_user() {
    let check = |text: &str, expect: &[&str]| assert_eq!(messages("prd.json", text), expect, "{text}");
    check(r#"{"userStories": [{"id": 7, "title": "Pay"}]}"#, &["id：应为：引号中的文本；现在是：7。"]);
    check(
        r#"{"userStories": [{"title": "Pay", "passes": 1}]}"#,
        &["passes：应为：true 或 false；现在是：1。"],
    );
    check(r#"{"stories": []}"#, &["故事文件：不会读取 `stories`。请改名为 `userStories`。"]);
    check(r#"{"userStories": []}"#, &["故事文件：`userStories` 为空，因此没有事可做。请添加一项。"]);
}
