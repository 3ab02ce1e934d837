//! The loop's Git branch: its name, from the settings or `prd.json`, and whether Git accepts it.

use crate::tr;

const MAX_SLUG_BYTES: usize = 80;
const MAX_BYTES: usize = 200;
const TASK: &str = "{task}";

/// The branch name for a loop on `task`. `given` is the `branchName` of its `prd.json` and takes precedence over
/// `template`, where `{task}` is a placeholder for the task. An explicitly empty `template` overrides both. `None`: the
/// loop stays on the branch that is checked out.
pub fn named(template: Option<&str>, given: Option<&str>, task: &str) -> Option<String> {
    let template = template.map(str::trim);
    if template.is_some_and(str::is_empty) {
        return None;
    }
    let given = given.map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned);
    given.or_else(|| template.map(|it| it.replace(TASK, &slug(task))))
}

/// Why Git rejects this name, by the rules of `git check-ref-format --branch`.
pub fn fault(name: &str) -> Option<&'static str> {
    let wrong = |it: char| it.is_control() || it.is_whitespace() || "~^:?*[\\".contains(it);
    if name.len() > MAX_BYTES {
        return Some(tr!("it is too long"));
    }
    if name.chars().any(wrong) {
        return Some(tr!("it contains a space or one of ~ ^ : ? * [ \\"));
    }
    if name.contains("..") || name.contains("@{") || name == "@" || name == "HEAD" {
        return Some(tr!("`..`, `@{`, `@` and `HEAD` mean something else to git"));
    }
    if name.starts_with('-') || name.ends_with('.') {
        return Some(tr!("it begins with `-` or ends in `.`"));
    }
    let is_lock = |it: &str| it.rsplit_once('.').is_some_and(|(_, end)| end == "lock");
    let bad = |it: &str| it.is_empty() || it.starts_with('.') || is_lock(it);
    name.split('/').any(bad).then(|| tr!("one of its parts is empty, begins with `.` or ends in `.lock`"))
}

/// Like [`fault`] for a template from the settings, where `{task}` is a placeholder; an empty template is valid.
pub fn template_fault(template: &str) -> Option<&'static str> {
    let template = template.trim().replace(TASK, "task");
    if template.is_empty() {
        None
    } else if template.contains(['{', '}']) {
        Some(tr!("only `{task}` is replaced"))
    } else {
        fault(&template)
    }
}

/// A task's id as a component of a branch name: its path without the extension, reduced to letters and digits.
fn slug(task: &str) -> String {
    let path = task.strip_suffix(".md").unwrap_or(task);
    let path = path.strip_suffix(".ralph").unwrap_or(path).to_lowercase();
    let mut slug = String::new();
    for char in path.chars() {
        if char.is_alphanumeric() {
            slug.push(char);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= MAX_SLUG_BYTES {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "task".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{fault, named, template_fault};

    #[test]
    fn a_branch_is_named_by_the_plan_else_by_the_settings() {
        let check = |template: &str, given: Option<&str>, task: &str, expect: Option<&str>| {
            let name = named(Some(template), given, task);
            assert_eq!(name.as_deref(), expect, "{template} {given:?} {task}");
            assert!(given.is_some() || name.is_none_or(|it| fault(&it).is_none()), "{template} {task}");
        };
        check("ralph/{task}", None, "PROMPT.md", Some("ralph/prompt"));
        check("ralph/{task}", None, ".ralph/PROMPT.md", Some("ralph/ralph-prompt"));
        check("ralph/{task}", None, "docs/add login.ralph.md", Some("ralph/docs-add-login"));
        check("ralph/{task}", None, "prompt:0123456789", Some("ralph/prompt-0123456789"));
        check("ralph/{task}", None, "../..~^:?*[\\ .lock.md", Some("ralph/lock"));
        check("ralph/{task}", None, "…", Some("ralph/task"));
        check("ralph/{task}", None, "任务.md", Some("ralph/任务"));
        check("{task}-{task}", None, "a.md", Some("a-a"));
        check("work", None, "a.md", Some("work"));
        check("ralph/{task}", Some("ralph/shop"), "a.md", Some("ralph/shop"));
        check("ralph/{task}", Some(" "), "a.md", Some("ralph/a"));
        for (given, expect) in [(None, None), (Some(" "), None), (Some("ralph/shop"), Some("ralph/shop"))] {
            assert_eq!(named(None, given, "a.md").as_deref(), expect, "{given:?}");
            assert_eq!(named(Some(" "), given, "a.md"), None, "an empty template overrides {given:?}");
        }
    }

    #[test]
    fn a_name_in_the_settings_is_judged_with_the_task_filled_in() {
        for good in ["", " ", "work", "ralph/{task}", "{task}/{task}", " ralph/{task} "] {
            assert_eq!(template_fault(good), None, "{good}");
        }
        for bad in
            ["a b", "ralph/", "{story}", "ralph/{task}}", "{task}.lock", "HEAD", "-{task}", "ralph/{TASK}"]
        {
            assert!(template_fault(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn invalid_branch_names_are_refused() {
        let bad = [
            "a b", "a\tb", "a..b", "a@{b", "@", "HEAD", "-a", "a.", "a/", "/a", "a//b", ".a", "a/.b",
            "a.lock", "a.lock/b", "a~", "a^b", "a:b", "a?", "a*", "a[", "a\\b", "a\u{7}", "",
        ];
        for name in bad {
            assert!(fault(name).is_some(), "{name}");
        }
        assert!(fault(&"a".repeat(201)).is_some());
        for name in ["main", "ralph/a-b_c.d", "a@b", "功能/登录", "feature/#12"] {
            assert_eq!(fault(name), None, "{name}");
        }
    }
}
