use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use loopkeeper_text::message::HintedError as _;
use loopkeeper_text::redact::Redactor;
use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Registry;
use tracing_subscriber::fmt as format;
use tracing_subscriber::layer::SubscriberExt as _;

use super::log_file::LogFile;
use super::{LogSink as _, RedactedSink, filter};

#[test]
fn filters_have_levels_and_modules() {
    let check = |value: &str, module: &str, level: LevelFilter| {
        let targets = filter::parse(value).unwrap().unwrap();
        for it in [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG, Level::TRACE] {
            assert_eq!(targets.would_enable(module, &it), it <= level, "{value}, {module}, {it}");
        }
    };
    check("debug", "loopkeeper_lsp", LevelFilter::DEBUG);
    check("DEBUG", "loopkeeper_lsp", LevelFilter::DEBUG);
    check("off", "loopkeeper_lsp", LevelFilter::OFF);
    check("loopkeeper_keeper=trace,info", "loopkeeper_keeper::checks", LevelFilter::TRACE);
    check("loopkeeper_keeper=trace, info", "loopkeeper_lsp", LevelFilter::INFO);
    check("loopkeeper=warn", "tower_lsp::service", LevelFilter::OFF);
    check("loopkeeper", "loopkeeper_lsp", LevelFilter::TRACE);
    assert!(filter::parse("").unwrap().is_none());
    assert!(filter::parse(" , ").unwrap().is_none());
}

#[test]
fn a_bad_filter_names_the_variable_and_what_is_wrong() {
    let check = |value: &str, problem: &str| {
        let error = filter::parse(value).unwrap_err();
        assert_eq!(error.to_string(), format!("`LOOPKEEPER_LOG` is \"{value}\": {problem}"));
        assert!(error.hint().unwrap().contains("`info,loopkeeper_keeper=trace`"));
    };
    check("debgu", "`debgu` is neither a level nor a module of loopkeeper");
    check("info,loopkeper=trace", "`loopkeper` is neither a level nor a module of loopkeeper");
    let levels = "error parsing level filter: expected one of \"off\", \"error\", \"warn\", \"info\", \"debug\", \
        \"trace\", or a number 0-5";
    check("loopkeeper=loud", levels);
    check(
        "loopkeeper=info=debug",
        "invalid filter directive: too many '=' in filter directive, expected 0 or 1",
    );
}

#[test]
fn the_file_is_made_with_the_first_line_and_stays_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let (path, older) = (folder.path().join("keeper.log"), folder.path().join("keeper.log.1"));
    let log = LogFile::with_limit(path.clone(), 25);
    assert!(!path.exists());
    for number in 1..=7 {
        log.write_line(Level::INFO, &format!("line {number:03}"));
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "line 007\n");
    assert_eq!(fs::read_to_string(&older).unwrap(), "line 005\nline 006\n");
    for file in [&path, &older] {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    drop(log);
    let log = LogFile::with_limit(path.clone(), 25);
    log.write_line(Level::INFO, &"x".repeat(40));
    assert_eq!(fs::read_to_string(&older).unwrap(), "line 007\n", "what an earlier process wrote counts");
    assert_eq!(fs::metadata(&path).unwrap().len(), 41, "one longer line is still written");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn lines_are_redacted_and_sanitised() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keeper.log");
    let sink = RedactedSink {
        redactor: Redactor::new(["hunter2-hunter2".to_owned()]),
        sink: LogFile::with_limit(path.clone(), 1000),
    };
    let layer = format::layer().with_ansi(false).without_time().with_writer(sink);
    tracing::subscriber::with_default(Registry::default().with(layer), || {
        let _iteration = tracing::warn_span!("iteration", number = 3).entered();
        tracing::warn!(file = "a\u{1b}[31mb\nc", "said hunter2-hunter2");
    });
    let text = fs::read_to_string(path).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("iteration{number=3}") && text.contains("said [redacted]"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
}
