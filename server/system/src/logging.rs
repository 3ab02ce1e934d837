//! Selects spans and events of `tracing` and writes them. Every line is redacted and sanitised here, because
//! its text may come from agents, checks and file names.

mod filter;
mod log_file;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use loopkeeper_text::redact::Redactor;
use loopkeeper_text::sanitize;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::filter::{Targets, filter_fn};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{self as format, FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

pub use self::filter::{LogFilterError, filter_from_env};
use self::log_file::LogFile;

/// A keeper's log in its loop's folder.
pub const KEEPER_LOG: &str = "keeper.log";

/// Longer lines are cut.
const LINE_CHARS: usize = 2000;

/// Receives formatted lines. Must not log.
pub trait LogSink {
    fn write_line(&self, level: Level, line: &str);
}

/// Passes each event to a sink as one redacted and sanitised line.
pub struct RedactedSink<S> {
    pub redactor: Redactor,
    pub sink: S,
}

/// The writer of one event.
pub struct EventWriter<'a, S> {
    target: &'a RedactedSink<S>,
    level: Level,
}

impl<'a, S: LogSink + 'a> MakeWriter<'a> for RedactedSink<S> {
    type Writer = EventWriter<'a, S>;

    fn make_writer(&'a self) -> Self::Writer {
        EventWriter { target: self, level: Level::INFO }
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> Self::Writer {
        EventWriter { target: self, level: *metadata.level() }
    }
}

/// The formatter writes an event in one call.
impl<S: LogSink> Write for EventWriter<'_, S> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = sanitize::line_within(&self.target.redactor.redact(&text), LINE_CHARS);
        self.target.sink.write_line(self.level, &line);
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes to standard error.
pub(crate) struct StderrSink;

impl LogSink for StderrSink {
    fn write_line(&self, _: Level, line: &str) {
        // There is no other place to report a failure.
        let _ = writeln!(io::stderr(), "{line}");
    }
}

/// Formats the message without time, level and spans: a terminal shows it among other messages.
struct MessageOnly;

impl<S, N> FormatEvent<S, N> for MessageOnly
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

/// The output for a keeper's warnings in addition to its log file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarningEcho {
    None,
    Terminal,
}

/// Logs this thread's spans and events to a keeper's log file until the guard is dropped: warnings, unless
/// `LOOPKEEPER_LOG` says otherwise. A keeper has one thread, so that its log needs no global state.
pub fn log_to_file(
    path: PathBuf,
    redactor: Redactor,
    echo: WarningEcho,
) -> Result<DefaultGuard, LogFilterError> {
    let filter = filter_from_env()?.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN));
    let terminal = (echo == WarningEcho::Terminal).then(|| terminal_layer(redactor.clone()));
    let sink = RedactedSink { redactor, sink: LogFile::new(path) };
    let file = format::layer().with_ansi(false).with_writer(sink).with_filter(filter);
    Ok(tracing::subscriber::set_default(Registry::default().with(file).with(terminal)))
}

/// Shows this thread's warnings on standard error until the guard is dropped; if `LOOPKEEPER_LOG` is set, the spans and
/// events that it selects.
pub fn log_to_stderr(redactor: Redactor) -> Result<DefaultGuard, LogFilterError> {
    let Some(filter) = filter_from_env()? else {
        return Ok(tracing::subscriber::set_default(Registry::default().with(terminal_layer(redactor))));
    };
    Ok(tracing::subscriber::set_default(Registry::default().with(stderr_layer(redactor).with_filter(filter))))
}

/// Shows every field of an event on standard error.
pub fn stderr_layer<S>(redactor: Redactor) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    format::layer().with_ansi(false).with_writer(RedactedSink { redactor, sink: StderrSink })
}

/// Shows warnings only: errors end the command, which reports them itself.
fn terminal_layer<S>(redactor: Redactor) -> impl Layer<S>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let is_warning = |it: &Metadata<'_>| it.is_event() && *it.level() == Level::WARN;
    let sink = RedactedSink { redactor, sink: StderrSink };
    let layer = format::layer().with_ansi(false).event_format(MessageOnly).with_writer(sink);
    layer.with_filter(filter_fn(is_warning).with_max_level_hint(LevelFilter::WARN))
}
