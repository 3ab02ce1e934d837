//! The error of one of our programs for its parent process: a line of JSON on standard error. Programs started by a
//! user print text instead.

use std::process::Command;

use loopkeeper_text::message::Message;
use serde::{Deserialize, Serialize};

/// Environment variable that requests the JSON form.
const VARIABLE: &str = "LOOPKEEPER_ERRORS";
const JSON: &str = "json";

/// Why one of our programs failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "WireError", from = "WireError")]
pub struct ErrorLine(pub Message);

#[derive(Serialize, Deserialize)]
struct WireError {
    error: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl From<ErrorLine> for WireError {
    fn from(ErrorLine(message): ErrorLine) -> Self {
        let (error, hint) = message.into_parts();
        Self { error, hint }
    }
}

impl From<WireError> for ErrorLine {
    fn from(WireError { error, hint }: WireError) -> Self {
        Self(Message::from_parts(error, hint))
    }
}

impl ErrorLine {
    /// Requests the error in this form.
    pub fn request(command: &mut Command) {
        command.env(VARIABLE, JSON);
    }

    /// Whether the parent of this process reads such a line.
    pub fn is_requested() -> bool {
        std::env::var_os(VARIABLE).is_some_and(|it| it == JSON)
    }

    /// The line, including the newline.
    pub fn to_json(&self) -> String {
        // Strings only, so serialisation cannot fail.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// The last error line in a program's output.
    pub fn find_last(output: &str) -> Option<Self> {
        output.lines().rev().find_map(|line| serde_json::from_str(line).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::{ErrorLine, Message};

    #[test]
    fn the_last_error_is_found_among_other_lines() {
        let with_hint = ErrorLine(Message::new("a \"b\".\nc").with_hint("run `x`"));
        let plain = ErrorLine(Message::new("gone"));
        assert_eq!(plain.to_json(), "{\"error\":\"gone\"}\n");
        let output = format!("error: text\n{}12:00 warn x\n{}{{\n", plain.to_json(), with_hint.to_json());
        assert_eq!(ErrorLine::find_last(&output), Some(with_hint));
        assert_eq!(ErrorLine::find_last(&plain.to_json()), Some(plain));
        assert_eq!(ErrorLine::find_last("error: gone\n{\"fact\": 1}\n"), None);
    }
}
