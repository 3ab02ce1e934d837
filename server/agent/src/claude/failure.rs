//! Classifies a failed turn of Claude Code by its fields. Its text decides only if the fields report that requests were
//! refused, but not until when.

use crate::ProviderClass;
use crate::provider::{self, LimitReset, ProviderFailure};

/// Error codes for which the user has to log in or request access.
const LOGIN_CODES: [&str; 5] = [
    "authentication_failed",
    "account_on_hold",
    "cloud_credential_error",
    "oauth_org_not_allowed",
    "verification_required",
];

/// A usage limit that rejected a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct UsageLimitRejection {
    /// Milliseconds of wall time.
    pub(super) resets_at: Option<u64>,
}

/// The relevant fields of a `result` with `is_error`, and the state before it.
pub(super) struct ClaudeFailure<'a> {
    pub(super) terminal_reason: &'a str,
    /// The model refused the request.
    pub(super) is_refusal: bool,
    pub(super) status: Option<u16>,
    /// The error code of the assistant line, empty if there was none.
    pub(super) code: &'a str,
    pub(super) limit: Option<UsageLimitRejection>,
    pub(super) message: &'a str,
}

impl ClaudeFailure<'_> {
    /// The provider's error, or a note if the work merely ended early.
    pub(super) fn classify(&self) -> (Option<ProviderFailure>, Option<String>) {
        let class = match self.terminal_reason {
            "max_turns" | "budget_exhausted" | "hook_stopped" | "stop_hook_prevented" => {
                return (None, Some(self.shown_message()));
            }
            "prompt_too_long" | "blocking_limit" | "rapid_refill_breaker" | "image_error" | "refusal" => {
                ProviderClass::Refused
            }
            "api_error" | "" if self.is_refusal => ProviderClass::Refused,
            // Only an external signal causes this. Our own stops are recognised by their ending.
            "aborted_tools" | "aborted_streaming" => ProviderClass::Crash,
            "model_error" => ProviderClass::Transient,
            // The answer stalled and was abandoned: the turn ended normally but counts as an error.
            "completed" if self.status.is_none() => ProviderClass::Transient,
            "api_error" | "completed" => self.class_of_api_error(),
            // Older versions name no reason.
            "" if self.status.is_some() || !self.code.is_empty() => self.class_of_api_error(),
            "" if self.limit.is_some() => ProviderClass::Quota,
            // Amp and Qwen Code name none either; reasons of other versions are not known.
            _ => provider::classify(self.message, self.status).class,
        };
        let (class, reset) = match (class, self.limit) {
            (ProviderClass::Quota, limit) => {
                let announced = limit.and_then(|it| it.resets_at).map(LimitReset::At);
                (class, announced.or_else(|| provider::classify(self.message, self.status).reset))
            }
            // Too many requests without a limit event: older versions report it only as text.
            (ProviderClass::Transient, None) if self.status == Some(429) || self.code == "rate_limit" => {
                let classified = provider::classify(self.message, self.status);
                let is_account = matches!(classified.class, ProviderClass::Quota | ProviderClass::Billing);
                (if is_account { classified.class } else { class }, classified.reset)
            }
            (ProviderClass::Transient, Some(limit)) => (class, limit.resets_at.map(LimitReset::At)),
            _ => (class, None),
        };
        (Some(ProviderFailure { class, message: self.shown_message(), status: self.status, reset }), None)
    }

    fn class_of_api_error(&self) -> ProviderClass {
        match (self.code, self.status) {
            ("billing_error", _) | (_, Some(402)) => ProviderClass::Billing,
            (code, _) if LOGIN_CODES.contains(&code) => ProviderClass::Login,
            (_, Some(401 | 403)) => ProviderClass::Login,
            ("rate_limit", _) | (_, Some(429)) => {
                if self.limit.is_some() {
                    ProviderClass::Quota
                } else {
                    ProviderClass::Transient
                }
            }
            ("invalid_request" | "model_not_found", _) => ProviderClass::Refused,
            (_, Some(408 | 409 | 425)) => ProviderClass::Transient,
            (_, Some(400..=499)) => ProviderClass::Refused,
            // Without a code and an answer, its client for another cloud may lack credentials.
            ("", None) => match provider::classify(self.message, None).class {
                class @ (ProviderClass::Login | ProviderClass::Billing) => class,
                _ => ProviderClass::Transient,
            },
            // 5xx, overload, a connection failure or an invalid answer.
            (_, _) => ProviderClass::Transient,
        }
    }

    fn shown_message(&self) -> String {
        if self.message.is_empty() {
            return self.terminal_reason.replace('_', " ");
        }
        loopkeeper_text::sanitize::line(self.message)
    }
}
