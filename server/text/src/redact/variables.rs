//! Extracts values of environment variables from settings in JSON: `[env] set` and an agent's own `env`. They are
//! recognised by position, so that a secret that resembles an ordinary word is redacted too.

use serde_json::Value;

/// Empties all maps and lists of variables; returns the distinct values removed.
pub fn take_values(json: &mut Value) -> Vec<String> {
    let mut taken = Vec::new();
    walk(json, &mut taken);
    taken.sort();
    taken.dedup();
    taken
}

fn walk(json: &mut Value, taken: &mut Vec<String>) {
    match json {
        Value::Object(fields) => {
            for (name, value) in fields {
                if matches!(name.as_str(), "envSet" | "env") {
                    value.as_array_mut().into_iter().flatten().for_each(|it| take(it, taken));
                }
                walk(value, taken);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|it| walk(it, taken)),
        _ => {}
    }
}

/// Takes the value of one `[name, value]`.
fn take(pair: &mut Value, taken: &mut Vec<String>) {
    let Some([Value::String(_), Value::String(value)]) = pair.as_array_mut().map(Vec::as_mut_slice) else {
        return;
    };
    if !value.is_empty() {
        taken.push(std::mem::replace(value, "[redacted]".to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::take_values;

    #[test]
    fn values_are_taken_by_their_place_whatever_they_are() {
        let mut spec = json!({
            "settings": {"envSet": [["A", "1"], ["B", ""], ["C", "long-enough"]], "envPass": ["HOME"]},
            "agent": {"env": [["D", "1"], ["E", "x\"y"]], "argv": ["env", "1"]},
            "env": "text",
            "envSet": ["A"],
        });
        assert_eq!(take_values(&mut spec), ["1", "long-enough", "x\"y"]);
        let expect = json!({
            "settings": {
                "envSet": [["A", "[redacted]"], ["B", ""], ["C", "[redacted]"]],
                "envPass": ["HOME"],
            },
            "agent": {"env": [["D", "[redacted]"], ["E", "[redacted]"]], "argv": ["env", "1"]},
            "env": "text",
            "envSet": ["A"],
        });
        assert_eq!(spec, expect);
    }
}
