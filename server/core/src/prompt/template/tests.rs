use super::{PromptTemplate, placeholder_names};
use loopkeeper_text::language::Language;

fn refused(text: &str, line: usize, message: &str, hint: &str) {
    let fault = PromptTemplate::parse(text).unwrap_err();
    assert_eq!((fault.line, fault.message.as_str()), (line, message), "{text:?}");
    assert!(fault.hint.contains(hint), "{text:?}: {}", fault.hint);
}

#[test]
fn unknown_placeholders_are_refused_with_line_and_remedy() {
    refused("", 1, "there is no `{task}`", "write `{task}` where");
    refused("a\n{task}\n", 2, "there is no `{failing}`", "write `{failing}` where");
    refused("{task}\n\n{falling}", 3, "`{falling}` is not part of a prompt", "did you mean `{failing}`?");
    refused("{ task }{failing}", 1, "`{ task }` is not part of a prompt", "did you mean `{task}`?");
    refused("{\"a\": 1}", 1, "`{\"a\": 1}` is not part of a prompt", "written twice: `{{`");
    refused("{}", 1, "`{}` is not part of a prompt", "use one of `{task}`, `{iteration}`");
    let fact = "`{{task}}` would appear in the prompt verbatim";
    refused("{{task}} {failing}", 1, fact, "did you mean `{task}`?");
    refused("{{ task }} {failing}", 1, fact, "did you mean `{task}`?");
    refused("{task}\n{failing\n}", 2, "`{` has no `}`", "twice: `{{`");
    refused("{task} } {failing}", 1, "`}` has no `{`", "twice: `}}`");
    refused("{task}\n{failing}\n{task}", 3, "`{task}` occurs a second time", "read best");
    refused("{failing} {task} {task}", 1, "`{task}` occurs a second time", "read best");
    refused(&"x".repeat(65 * 1024), 1, "a template holds at most 64 KiB", "shorten it");
}

#[test]
fn faults_are_in_the_language_of_the_process() {
    Language::SimplifiedChinese.during(|| {
        refused("{task}\n\n{falling}", 3, "`{falling}` 不是提示词的组成部分", "你是不是想写 `{failing}`？");
        refused("{task}\n{failing\n}", 2, "`{` 没有对应的 `}`", "请将字面的花括号写两次：`{{`");
        refused("{task}\n{failing}\n{task}", 3, "`{task}` 出现了第二次", "请只保留最合适的一处");
    });
}

#[test]
fn each_part_is_allowed_once_and_numbers_repeatedly() {
    let all: String = placeholder_names().flat_map(|it| ["{", it, "}\n"]).collect();
    assert!(PromptTemplate::parse(&format!("{all}{{iteration}} {{{{x}}}} {{budget}}\r\n")).is_ok());
}
