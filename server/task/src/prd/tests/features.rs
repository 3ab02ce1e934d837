//! Lists of features, as harnesses for long-running agents write them (`feature_list.json`).

use super::super::parse_prd;
use super::shown;

const FILE: &str = "feature_list.json";

#[test]
fn features_that_pass_or_not_are_stories() {
    let list = r#"[
  {"category": "functional", "description": "Sell things 🛒", "steps": ["Open the shop", "Buy"], "passes": false, "priority": "high"},
  {"category": "style", "description": "Décorate", "steps": [], "passes": true, "priority": "P3"},
  {"description": "Count", "passes": false, "priority": "someday"}
]"#;
    assert_eq!(shown(list).len(), 3, "{:?}", shown(list));
    let plan = parse_prd(FILE, list).plan;
    let items: Vec<_> = plan.iter().map(|it| (it.title.as_str(), it.done, it.priority)).collect();
    assert_eq!(
        items,
        [("Sell things 🛒", false, Some(1000)), ("Décorate", true, Some(3000)), ("Count", false, None)]
    );
    assert_eq!(plan[0].done_value, None);
}

#[test]
fn features_with_a_status_wait_for_others() {
    let text = r#"{"project": "shop", "rules": {"valid_status": ["pending", "in_progress", "complete"]}, "features": [
  {"id": 1, "name": "open", "title": "Open", "description": "x", "acceptance": ["It is open: `exists open`"], "status": "failed"},
  {"id": 2, "name": "Sell", "description": "y", "dependencies": [1], "notes": [], "status": "not-started"},
  {"id": "3", "name": "Grow", "status": "postponed"}
]}"#;
    let outline = parse_prd(FILE, text);
    let items: Vec<_> = outline
        .plan
        .iter()
        .map(|it| {
            (it.title.as_str(), it.done, it.blocking, it.depends_on.join(","), it.done_value.as_deref())
        })
        .collect();
    let word = Some("\"complete\"");
    assert_eq!(
        items,
        [
            ("Open", false, true, String::new(), word),
            ("Sell", false, true, "1".to_owned(), word),
            ("Grow", false, false, String::new(), word)
        ]
    );
    assert_eq!(outline.criteria.len(), 1);
    assert_eq!(outline.findings, []);
    assert_eq!(outline.title, "shop");
}

#[test]
fn columns_of_data_are_no_features() {
    let is_task = |text: &str| crate::is_task_text(crate::DocumentKind::FeatureList, text);
    for text in
        [r#"["age", "income"]"#, r#"{"features": ["age"]}"#, "[]", r#"[{"name": "age", "dtype": "int"}]"#]
    {
        assert!(!is_task(text), "{text}");
    }
    for text in
        [r#"[{"description": "a", "passes": true}]"#, "\u{feff}{\"features\": [{\"status\": \"todo\"}]}", "{"]
    {
        assert!(is_task(text), "{text}");
    }
}

#[test]
fn done_is_written_as_the_file_does() {
    let check = |statuses: &[&str], expect: Option<&str>| {
        let features: Vec<String> =
            statuses.iter().map(|it| format!("{{\"name\": \"a\", \"status\": \"{it}\"}}")).collect();
        let plan = parse_prd(FILE, &format!("{{\"features\": [{}]}}", features.join(", "))).plan;
        assert_eq!(plan[0].done_value.as_deref(), expect, "{statuses:?}");
    };
    check(&["pending", "done"], None);
    check(&["pending", "Passed"], Some("\"Passed\""));
    check(&["failing"], Some("\"passing\""));
    check(&["todo"], None);
}
