//! The command line of one iteration: fills the placeholders of the loop's argv.

/// The values of placeholders.
#[derive(Debug, Clone, Copy)]
pub struct PlaceholderValues<'a> {
    /// `{session}`
    pub session: &'a str,
    /// `{prompt}`
    pub prompt: &'a str,
    /// `{prompt_file}`
    pub prompt_file: &'a str,
}

/// Fills every argument in one pass, so that placeholders inside values are not filled.
pub fn fill_placeholders(argv: &[String], values: PlaceholderValues<'_>) -> Vec<String> {
    argv.iter().map(|argument| fill_argument(argument, values)).collect()
}

fn fill_argument(argument: &str, values: PlaceholderValues<'_>) -> String {
    let known =
        [("{session}", values.session), ("{prompt}", values.prompt), ("{prompt_file}", values.prompt_file)];
    let mut out = String::with_capacity(argument.len());
    let mut rest = argument;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let (name, value) = known.into_iter().find(|(name, _)| from.starts_with(name)).unwrap_or(("{", "{"));
        out.push_str(value);
        rest = from.get(name.len()..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{PlaceholderValues, fill_placeholders};

    #[test]
    fn placeholders_are_filled_once() {
        let values = PlaceholderValues { session: "S", prompt: "do {session}", prompt_file: "/p" };
        for (argument, expect) in [
            ("plain", "plain"),
            ("{session}", "S"),
            ("--id={session}/{session}", "--id=S/S"),
            ("{prompt}", "do {session}"),
            ("@{prompt_file}", "@/p"),
            ("{other} {", "{other} {"),
            ("{{session}}", "{S}"),
            (r#"{"a":"\u007bsession\u007d"}"#, r#"{"a":"\u007bsession\u007d"}"#),
            ("é{prompt_file}é", "é/pé"),
        ] {
            assert_eq!(fill_placeholders(&[argument.to_owned()], values), [expect], "{argument}");
        }
    }
}
