//! The error of a request to the keeper, as both sides of the control socket write and read it.

use loopkeeper_text::message::Message;
use serde::{Deserialize, Serialize};

/// `error` of a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlError {
    pub code: String,
    /// Both parts in one line: all that clients and keepers of earlier versions know.
    message: Message,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fact: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl ControlError {
    pub(crate) fn new(code: &str, message: &Message) -> Self {
        let (fact, hint) = message.clone().into_parts();
        Self { code: code.to_owned(), message: message.clone(), fact: Some(fact), hint }
    }

    pub fn into_message(self) -> Message {
        match self.fact {
            Some(fact) => Message::from_parts(fact, self.hint),
            None => self.message,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ControlError, Message};

    const LINE: &str = "the loop is running. Hint: pause it first";

    fn at_work() -> Message {
        Message::new("the loop is running").with_hint("pause it first")
    }

    #[test]
    fn an_error_names_both_parts_and_repeats_them_in_one_line() {
        let check = |message: Message, expect: Value| {
            let written = serde_json::to_value(ControlError::new("conflict", &message)).unwrap();
            assert_eq!(written, expect);
            let read: ControlError = serde_json::from_value(written).unwrap();
            assert_eq!(read.into_message(), message);
        };
        let (fact, hint) = ("the loop is running", "pause it first");
        check(at_work(), json!({"code": "conflict", "message": LINE, "fact": fact, "hint": hint}));
        check("it ended".into(), json!({"code": "conflict", "message": "it ended", "fact": "it ended"}));
    }

    #[test]
    fn the_line_of_an_earlier_keeper_is_read() {
        let read: ControlError =
            serde_json::from_value(json!({"code": "conflict", "message": LINE})).unwrap();
        assert_eq!(read.into_message(), at_work());
    }
}
