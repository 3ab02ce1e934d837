//! Renders the reason of a wait, and its end.

use loopkeeper_core::journal::{QuestionKind, Record, WaitReason};
use loopkeeper_text::{sanitize, tr};
use loopkeeper_view::sentences;

use super::EntryFormatter;

impl EntryFormatter {
    /// `the agent asks: Which database? (until 14:12)`
    pub(super) fn describe_question(
        &self,
        (kind, text): (QuestionKind, &str),
        until: Option<u64>,
        now: u64,
    ) -> String {
        let until =
            until.map(|it| tr!(" (until {time})", time = self.zone.short(it, now))).unwrap_or_default();
        match kind {
            // Complete and last, so that no part of it is hidden.
            QuestionKind::Permission => {
                tr!(
                    "asked{until}: {question}",
                    until,
                    question = sentences::permission_request(&sanitize::visible(text))
                )
            }
            QuestionKind::Agent => {
                tr!("the agent asks: {question}{until}", question = sanitize::line(text), until)
            }
            QuestionKind::Denied | QuestionKind::UsageLimit => sanitize::line(text) + &until,
        }
    }

    pub(super) fn describe_wait(&self, record: &Record, now: u64) -> String {
        let Record::Waiting { reason, until, met_by } = record else { return String::new() };
        let until = self.time(until.wall, now);
        match reason {
            WaitReason::Quota => {
                let met_by = met_by.as_ref().map(|it| tr!(", reached by loop {id}", id = sanitize::line(it)));
                let met_by = met_by.unwrap_or_default();
                tr!("usage limit of the provider{met_by}, waiting until {until}", met_by, until)
            }
            WaitReason::Backoff => tr!("the agent failed, trying again at {until}", until),
            WaitReason::Calls => tr!("the hourly call limit is reached, waiting until {until}", until),
            WaitReason::Between => tr!("waiting before the next iteration until {until}", until),
            WaitReason::Breaker => tr!("breaker open, trying again at {until}", until),
            WaitReason::Other => tr!("waiting until {until}", until),
        }
    }

    pub(super) fn time(&self, until: u64, now: u64) -> String {
        // For a wait of seconds, minutes are too coarse.
        let soon = until.saturating_sub(now) < 60_000;
        if soon { self.zone.clock(until) } else { self.zone.short(until, now) }
    }
}
