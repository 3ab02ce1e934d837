//! The configuration of TypeScript: options of the build are work; the list of checked sources and the strictness are
//! judges.

use jsonc_parser::{ParseOptions, parse_to_serde_value};
use serde_json::{Map, Value};

use super::restore_member;

/// Compiler options that decide what is reported.
const CHECKS: [&str; 24] = [
    "strict",
    "alwaysStrict",
    "noImplicitAny",
    "noImplicitThis",
    "strictNullChecks",
    "strictFunctionTypes",
    "strictBindCallApply",
    "strictPropertyInitialization",
    "strictBuiltinIteratorReturn",
    "useUnknownInCatchVariables",
    "noUnusedLocals",
    "noUnusedParameters",
    "exactOptionalPropertyTypes",
    "noImplicitReturns",
    "noImplicitOverride",
    "noFallthroughCasesInSwitch",
    "noUncheckedIndexedAccess",
    "noPropertyAccessFromIndexSignature",
    "allowUnusedLabels",
    "allowUnreachableCode",
    "checkJs",
    "noCheck",
    "skipLibCheck",
    "suppressExcessPropertyErrors",
];

/// The final text with the options of the start that decide what is reported, and all sources of the start.
pub(super) fn with_checks_of_start(start: &str, end: &str) -> Option<String> {
    let (start, mut end) = (parse(start)?, parse(end)?);
    let before = end.clone();
    let options = |of: &Map<String, Value>| of.get("compilerOptions").and_then(Value::as_object).cloned();
    let (old, mut new) = (options(&start).unwrap_or_default(), options(&end).unwrap_or_default());
    for key in CHECKS {
        restore_member(&mut new, &old, key);
    }
    if new.is_empty() && options(&end).is_some_and(|it| !it.is_empty()) {
        end.remove("compilerOptions");
    } else if !new.is_empty() {
        end.insert("compilerOptions".to_owned(), Value::Object(new));
    }
    let is_of_package = |it: &Value| it.as_str().is_some_and(|it| !it.starts_with(['.', '/']));
    if !end.get("extends").is_some_and(is_of_package) {
        restore_member(&mut end, &start, "extends");
    }
    restore_member(&mut end, &start, "exclude");
    include_sources_of(&mut end, &start);
    (end != before).then(|| serde_json::to_string_pretty(&Value::Object(end)).ok()).flatten()
}

/// Without a list, all sources below the folder are included.
fn include_sources_of(end: &mut Map<String, Value>, start: &Map<String, Value>) {
    fn list(config: &Map<String, Value>) -> Option<&Vec<Value>> {
        config.get("include").and_then(Value::as_array)
    }
    let Some(old) = list(start) else {
        if !start.contains_key("files") {
            end.remove("include");
        }
        return;
    };
    let Some(new) = list(end) else { return };
    let missing: Vec<Value> = old.iter().filter(|it| !new.contains(it)).cloned().collect();
    let all = new.iter().cloned().chain(missing).collect();
    end.insert("include".to_owned(), Value::Array(all));
}

/// JSON with comments and trailing commas.
fn parse(text: &str) -> Option<Map<String, Value>> {
    parse_to_serde_value(text, &ParseOptions::default()).ok()
}

#[cfg(test)]
mod tests {
    use super::with_checks_of_start;
    use serde_json::{Value, json};

    #[test]
    fn strictness_and_checked_sources_come_from_the_start() {
        let check = |start: Value, end: Value, expect: Option<Value>| {
            let found = with_checks_of_start(&start.to_string(), &end.to_string());
            let found = found.map(|it| serde_json::from_str::<Value>(&it).unwrap());
            assert_eq!(found, expect, "{start} {end}");
        };
        let strict = json!({ "compilerOptions": { "strict": true }, "include": ["src"] });
        check(strict.clone(), strict.clone(), None);
        check(
            strict.clone(),
            json!({ "compilerOptions": { "strict": false }, "include": ["src"] }),
            Some(strict.clone()),
        );
        check(strict.clone(), json!({ "include": ["src"] }), Some(strict.clone()));
        check(
            strict.clone(),
            json!({ "compilerOptions": { "strict": true, "jsx": "react" }, "include": ["lib"], "exclude": ["src/a.ts"] }),
            Some(json!({ "compilerOptions": { "strict": true, "jsx": "react" }, "include": ["lib", "src"] })),
        );
        check(
            strict.clone(),
            json!({ "extends": "./loose.json", "compilerOptions": { "strict": true }, "include": ["src"] }),
            Some(strict.clone()),
        );
        let of_package = json!({ "extends": "@tsconfig/node20", "compilerOptions": { "strict": true }, "include": ["src"] });
        check(strict, of_package, None);
        check(json!({}), json!({ "include": ["good"] }), Some(json!({})));
        let base = json!({ "extends": "./base.json" });
        let loose = json!({ "extends": "./base.json", "compilerOptions": { "noImplicitAny": false } });
        check(base.clone(), loose, Some(base));
    }

    #[test]
    fn a_new_configuration_has_no_judging_part() {
        assert_eq!(with_checks_of_start("", "{ \"compilerOptions\": {} }"), None);
        assert_eq!(with_checks_of_start("{}", "no json"), None);
    }

    #[test]
    fn comments_and_trailing_commas_are_read() {
        let start = "{ // as it was\n  \"compilerOptions\": { \"strict\": true, },\n}";
        let found = with_checks_of_start(start, "{ /* loose */ }").unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&found).unwrap(),
            json!({ "compilerOptions": { "strict": true } })
        );
    }
}
