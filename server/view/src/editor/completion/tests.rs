use proptest::prelude::any;
use proptest::{prop_assert, proptest};

use super::in_check;

/// Checks the labels offered at `|`, and the text after accepting the first one.
fn check(marked: &str, labels: &[&str], taken: &str) {
    let offset = marked.find('|').expect("a cursor");
    let text = marked.replacen('|', "", 1);
    let all = in_check(&text, offset);
    assert_eq!(all.iter().map(|it| it.label.as_str()).collect::<Vec<_>>(), labels, "{marked}");
    if let Some(first) = all.first() {
        let mut after = text.clone();
        after.replace_range(first.replaces.clone(), &first.text);
        assert_eq!(after, taken);
    }
}

const EVERY_CHECK: &[&str] =
    &["$ command", "exists glob…", "missing glob…", "has \"text\" glob…", "lacks \"text\" glob…", "clean"];

#[test]
fn checks_are_offered_inside_backticks_of_an_item() {
    check("- tests: `|`", EVERY_CHECK, "- tests: `$ `");
    check("- tests: `ex|`", &["exists glob…"], "- tests: `exists `");
    check("1. tests: `c|", &["clean"], "1. tests: `clean");
    check("  \"a: `m|\"", &["missing glob…"], "  \"a: `missing \"");
    check("- tests: `$ car|`", &[], "");
    check("- tests |", &[], "");
    check("- `a` and |", &[], "");
    check("prose `|`", &[], "");
    check("- é: `a` `h|`", &["has \"text\" glob…"], "- é: `a` `has `");
}

#[test]
fn expectations_are_offered_behind_a_command() {
    check("- cov: `$ cov` `>|`", &[">= number", "> number"], "- cov: `$ cov` `>= `");
    check("- cov: `$ cov` `exit| `", &["exit code"], "- cov: `$ cov` `exit  `");
    check("- cov: `$ cov` `!|`", &["!= number", "!/regex/"], "- cov: `$ cov` `!= `");
}

proptest! {
    #[test]
    fn any_text_is_bearable(text in "[-` $\n\"é>=a-z!/]{0,40}", offset in any::<usize>()) {
        let offset = offset % (text.len() + 2);
        for it in in_check(&text, offset) {
            prop_assert!(text.get(it.replaces.clone()).is_some() && it.replaces.end == offset);
        }
    }
}
