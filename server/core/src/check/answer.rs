//! Evaluates the response of a server. Only a response with the expected status that meets all other expectations is
//! a pass; a missing, late or oversized response never is.

#[cfg(test)]
mod tests;

use super::excerpt::Excerpt;
use super::judge::{CheckVerdict, clean, judge_expectation, make_verdict};
use super::output::DecodedOutput;
use super::{CheckResult, Status, number, words};
use loopkeeper_task::criterion::{Check, Criterion, Expect};
use loopkeeper_text::redact::Redactor;
use loopkeeper_text::{sanitize, tr};

/// Maximum number of bytes of a body that are read.
pub const BODY_BYTES: usize = 8 * 1024 * 1024;
/// Maximum number of redirects that are followed.
pub const MAX_REDIRECTS: u32 = 5;

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HttpOutcome {
    Answered(HttpResponse),
    TimedOut,
    /// Why there is no answer, as text.
    None(String),
}

/// The last answer, after redirects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpResponse {
    pub status: u16,
    /// Names and values, raw.
    pub headers: Vec<(String, String)>,
    /// At most [`BODY_BYTES`].
    pub body: Vec<u8>,
    /// There was more of it.
    pub cut: bool,
}

/// Judges a criterion whose check is a request. Every text of the result is sanitised and redacted.
pub fn judge_reply(criterion: &Criterion, reply: &HttpOutcome, redactor: &Redactor) -> CheckResult {
    let verdict = reply_verdict(criterion, reply);
    let Excerpt { head, tail, left_out } = match reply {
        HttpOutcome::Answered(answer) => Excerpt::of_text(&answer.text(), 0, redactor),
        HttpOutcome::TimedOut | HttpOutcome::None(_) => Excerpt::default(),
    };
    CheckResult {
        head,
        tail,
        left_out,
        ..CheckResult::new(criterion.id.clone(), verdict.status, clean(&verdict.fact, redactor))
    }
}

impl HttpResponse {
    /// Status, headers and body as displayed. Cookies and tokens of the server are left out.
    pub fn text(&self) -> String {
        let header = |(name, value): &(String, String)| {
            let secret = ["set-cookie", "set-cookie2"].contains(&name.to_ascii_lowercase().as_str());
            format!("{name}: {}\n", if secret { "…" } else { value })
        };
        let headers: String = self.headers.iter().map(header).collect();
        let rest = if self.cut { format!("\n[{}]\n", tr!("the rest was not read")) } else { String::new() };
        format!("HTTP {}\n{headers}\n{}{rest}", self.status, String::from_utf8_lossy(&self.body))
    }
}

fn reply_verdict(criterion: &Criterion, reply: &HttpOutcome) -> CheckVerdict {
    let Some(Check::Get { expect, .. }) = &criterion.check else {
        return make_verdict(Status::CouldNotRun, tr!("not a request"));
    };
    match reply {
        HttpOutcome::Answered(answer) => judge_response(expect, answer),
        HttpOutcome::TimedOut => {
            make_verdict(Status::TimedOut, words::no_result(criterion.timeout_ms.unwrap_or_default()))
        }
        HttpOutcome::None(why) => make_verdict(Status::CouldNotRun, why.as_str()),
    }
}

fn judge_response(expect: &[Expect], answer: &HttpResponse) -> CheckVerdict {
    let status = answer.status;
    let wanted =
        expect.iter().find_map(|it| if let Expect::Status { code } = it { Some(*code) } else { None });
    match wanted {
        Some(code) if code != status => {
            return make_verdict(Status::Fail, words::needs(tr!("status {status}", status), code));
        }
        None if !(200..300).contains(&status) => {
            return make_verdict(Status::Fail, tr!("status {status}", status));
        }
        Some(_) | None => {}
    }
    let body_expectations: Vec<&Expect> =
        expect.iter().filter(|it| !matches!(it, Expect::Status { .. })).collect();
    if answer.cut && !body_expectations.is_empty() {
        let most = BODY_BYTES / (1024 * 1024);
        return make_verdict(Status::CouldNotRun, tr!("the answer is longer than {most} MiB", most));
    }
    let body = decode_body(&answer.body);
    let expects_number = body_expectations.iter().any(|it| matches!(it, Expect::Number { .. }));
    for it in body_expectations {
        match judge_expectation(it, &body) {
            CheckVerdict { status: Status::Pass, .. } => {}
            not_met => return not_met,
        }
    }
    match number::last_number(body.stdout_end()).filter(|_| expects_number) {
        Some(number) => make_verdict(Status::Pass, number.to_string()),
        None => make_verdict(Status::Pass, tr!("status {status}", status)),
    }
}

fn decode_body(bytes: &[u8]) -> DecodedOutput {
    let stdout = sanitize::strip_escapes(&String::from_utf8_lossy(bytes));
    DecodedOutput { stdout, ..DecodedOutput::default() }
}
