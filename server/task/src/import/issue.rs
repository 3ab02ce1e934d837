//! Converts the text of an issue to a task: the fields that `gh issue view` prints first become a title, and the
//! behaviour that the author expects becomes criteria.

/// Criteria from one section.
const MAX_EXPECTED: usize = 5;
/// Criteria from the lists of a document.
const MAX_REQUIRED: usize = 15;

/// The text with a heading in the place of the printed fields.
pub(super) fn with_title(text: &str) -> String {
    let Some((fields, body)) = text.split_once("\n--\n") else { return text.to_owned() };
    let title = fields.lines().find_map(|it| it.strip_prefix("title:"));
    let is_field =
        |it: &str| it.split_once(':').is_some_and(|(name, _)| name.chars().all(char::is_alphanumeric));
    match title.map(str::trim).filter(|it| !it.is_empty() && fields.lines().all(is_field)) {
        Some(title) => format!("# {title}\n\n{}", body.trim_start()),
        None => text.to_owned(),
    }
}

/// Whether the text reports a fault, and what should happen instead: the lines below such a heading.
pub(super) fn expectations(text: &str) -> (bool, Vec<String>) {
    const EXPECTED: [&str; 5] = ["expected", "what should happen", "what i expect", "预期", "期望"];
    const FAULT: [&str; 7] =
        ["steps to reproduce", "reproduction", "actual", "current behavio", "what happened", "复现", "实际"];
    let (mut is_fault, mut is_expected) = (false, false);
    let mut found = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        let heading = trimmed.trim_start_matches('#').trim().trim_matches(['*', ':', '：']).to_lowercase();
        let is_heading = trimmed.starts_with('#') || trimmed.starts_with("**");
        if is_heading {
            is_expected = EXPECTED.iter().any(|it| heading.starts_with(it));
            is_fault |= FAULT.iter().any(|it| heading.starts_with(it));
        } else if is_expected && !trimmed.is_empty() && found.len() < MAX_EXPECTED {
            let item = trimmed.trim_start_matches(['-', '*', ' ']).trim_start_matches("[ ]").trim();
            if item.starts_with("```") {
                is_expected = false;
            } else if !item.is_empty() && !item.starts_with("<!--") {
                found.push(item.to_owned());
            }
        }
    }
    (is_fault || !found.is_empty(), found)
}

/// The items of lists below headings such as `Requirements` and `Describe the solution you'd like`.
pub(super) fn requirements(text: &str) -> Vec<String> {
    const REQUIRED: [&str; 14] = [
        "requirements",
        "functional requirements",
        "non-functional requirements",
        "features",
        "what to build",
        "describe the solution",
        "proposed solution",
        "suggested solution",
        "desired behavio",
        "功能需求",
        "非功能需求",
        "功能要求",
        "需求列表",
        "期望的解决方案",
    ];
    let mut level = None;
    let mut found = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let depth = line.bytes().take_while(|it| *it == b'#').count();
        if depth > 0 && !in_code {
            let heading = line.trim_start_matches('#').trim_start_matches(|it: char| !it.is_alphabetic());
            let heading = heading.to_lowercase();
            let is_required = REQUIRED.iter().any(|it| heading.starts_with(it));
            // A part of such a section belongs to it.
            level = level.filter(|it| depth > *it).or(is_required.then_some(depth));
        } else if level.is_some() && !in_code && found.len() < MAX_REQUIRED {
            found.extend(list_item(line).map(str::to_owned));
        }
    }
    found
}

/// The scenarios of a description in the form of Gherkin, each with its steps: `No stock: Given …, When …, Then …`.
pub(super) fn scenarios(text: &str) -> Vec<String> {
    const NAMES: [&str; 5] = ["Scenario:", "Scenario Outline:", "Example:", "场景:", "场景："];
    const STEPS: [&str; 12] =
        ["Given ", "When ", "Then ", "And ", "But ", "假如", "假设", "当", "那么", "并且", "而且", "但是"];
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        let line = line.trim().trim_start_matches(['#', '-', '*', ' ']);
        if let Some(name) = NAMES.iter().find_map(|it| line.strip_prefix(it)) {
            found.push((name.trim_matches(['*', ' ']).to_owned(), Vec::new()));
        } else if let Some((_, steps)) = found.last_mut()
            && STEPS.iter().any(|it| line.starts_with(it))
        {
            steps.push(line.trim_end_matches([',', '.', '，', '。']));
        }
    }
    let with_steps = found.into_iter().filter(|it| !it.1.is_empty()).take(MAX_REQUIRED);
    with_steps.map(|(name, steps)| format!("{name}: {}", steps.join(", "))).collect()
}

/// The text of an item that is not indented: `- text`, `2. text`.
fn list_item(line: &str) -> Option<&str> {
    let numbered = line.trim_start_matches(|it: char| it.is_ascii_digit());
    let rest = if numbered.len() < line.len() {
        numbered.strip_prefix(['.', ')', '、'])
    } else {
        line.strip_prefix(['-', '*', '+'])
    };
    let text = rest?.trim_start().trim_start_matches("[ ]").trim();
    (!text.is_empty() && rest?.starts_with([' ', '\t']) && !text.starts_with("[x]")).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::{expectations, requirements, scenarios, with_title};

    #[test]
    fn lists_of_requirements_become_criteria() {
        let check = |text: &str, expect: &[&str]| assert_eq!(requirements(text), expect, "{text}");
        check(
            "# Export\n\n## 4. Functional requirements\n\n- FR-1: Export as CSV\n  - a detail\n\n### Limits\n\n1. At most 10,000 rows\n\n## Out of scope\n\n- Excel\n",
            &["FR-1: Export as CSV", "At most 10,000 rows"],
        );
        check("## 功能需求\n\n1. 购物车保留 30 天\n\n## 背景\n\n- 无\n", &["购物车保留 30 天"]);
        check("### Describe the solution you'd like\n\n* A button\n\n```\n- code\n```\n", &["A button"]);
        check("# Export\n\n- a\n", &[]);
    }

    #[test]
    fn scenarios_become_criteria() {
        let text = "As an owner\n\nScenario: low stock\n  Given 2 items\n  When I open the page\n  Then it is red.\n\n## Scenario: none\n\nNothing yet.\n场景：缺货\n  假如没有库存\n  那么隐藏商品\n";
        assert_eq!(
            scenarios(text),
            [
                "low stock: Given 2 items, When I open the page, Then it is red",
                "缺货: 假如没有库存, 那么隐藏商品"
            ]
        );
    }

    #[test]
    fn printed_fields_become_a_title() {
        let text = "title:\tCart loses items\nstate:\tOPEN\nlabels:\tbug, cart\n--\nIt does.\n";
        assert_eq!(with_title(text), "# Cart loses items\n\nIt does.\n");
        for other in ["# A\n\ntext\n--\nmore\n", "a sentence: b\n--\nx\n"] {
            assert_eq!(with_title(other), other);
        }
    }

    #[test]
    fn expected_behaviour_becomes_a_criterion() {
        let check = |text: &str, expect: (bool, &[&str])| {
            let (is_fault, found) = expectations(text);
            assert_eq!((is_fault, found.iter().map(String::as_str).collect::<Vec<_>>().as_slice()), expect);
        };
        check(
            "### Steps to reproduce\n\n1. Add two\n\n### Expected behavior\n\nBoth items stay.\n- The sum is right\n\n### Actual behavior\n\nOne.\n",
            (true, &["Both items stay.", "The sum is right"]),
        );
        check("**预期结果**\n\n购物车保留两件商品\n", (true, &["购物车保留两件商品"]));
        check("# Add dark mode\n\nPlease.\n", (false, &[]));
    }
}
