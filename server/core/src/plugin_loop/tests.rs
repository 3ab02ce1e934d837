//! State files of the plugin, and the tasks that they become.

use super::{PluginLoop, PluginLoopError, parse_state_file, task_document};
use loopkeeper_task as task;

const STATE: &str = "---\nactive: true\niteration: 3\nsession_id: abc\nmax_iterations: 20\n\
                     completion_promise: \"ALL DONE\"\nstarted_at: \"2026-01-01T00:00:00Z\"\n---\n\n\
                     Build a REST API for todos.\n\n---\n\nWith tests.\n";

#[test]
fn the_state_of_the_plugin_is_read() {
    let expect = PluginLoop {
        iteration: 3,
        max_iterations: Some(20),
        promise: Some("ALL DONE".into()),
        started_at: Some("2026-01-01T00:00:00Z".into()),
        prompt: "Build a REST API for todos. --- With tests.".into(),
    };
    assert_eq!(parse_state_file(STATE), Ok(expect.clone()));
    assert_eq!(parse_state_file(&STATE.replace('\n', "\r\n")), Ok(expect.clone()));
    assert_eq!((expect.progress().as_str(), expect.iterations_left()), ("iteration 3 of 20", Some(17)));
    let open = STATE.replace("max_iterations: 20", "max_iterations: 0").replace("\"ALL DONE\"", "null");
    let open = parse_state_file(&open).unwrap();
    assert_eq!((open.max_iterations, open.promise.as_ref(), open.iterations_left()), (None, None, None));
    assert_eq!(open.progress(), "iteration 3, without a limit");
}

#[test]
fn other_files_are_refused_with_a_reason() {
    let check =
        |text: &str, expect: PluginLoopError| assert_eq!(parse_state_file(text), Err(expect), "{text}");
    check("", PluginLoopError::NoFrontMatter);
    check("Build it.", PluginLoopError::NoFrontMatter);
    check("---\niteration: 1\n", PluginLoopError::NoFrontMatter);
    check(&STATE.replace("iteration: 3", "iteration: three"), PluginLoopError::NoNumber("iteration"));
    check(&STATE.replace("max_iterations: 20\n", ""), PluginLoopError::NoNumber("max_iterations"));
    check(&STATE.replace("active: true", "active: false"), PluginLoopError::Inactive);
    check("---\niteration: 1\nmax_iterations: 0\n---\n \n", PluginLoopError::NoPrompt);
    let long = format!("{STATE}{}", "x".repeat(300 * 1024));
    check(&long, PluginLoopError::TooLong);
}

#[test]
fn a_plugin_loop_becomes_an_equivalent_task() {
    let text = task_document(STATE).unwrap();
    assert!(text.starts_with("# Build a REST API for todos.\n\nBuild a REST API"), "{text}");
    assert!(text.contains("---\n\nWith tests.\n\nOutput <promise>ALL DONE</promise> once"), "{text}");
    assert!(text.contains("iteration 3 of 20"), "{text}");
    let read = task::parse_task(&[task::TaskDocument { path: "ralph-loop.ralph.md".into(), text }]);
    assert_eq!(
        (read.promise.as_deref(), read.title.as_str()),
        (Some("ALL DONE"), "Build a REST API for todos.")
    );
    assert!(read.criteria.is_empty());
    let own = STATE.replace("Build a", "# API\n\nOutput <promise>ALL DONE</promise> at the end. Build a");
    let text = task_document(&own).unwrap();
    assert!(text.starts_with("# API\n") && text.matches("<promise>").count() == 1, "{text}");
}

#[test]
fn hostile_contents_are_only_text() {
    let hostile = "---\niteration: 1\nmax_iterations: 4294967295\ncompletion_promise: \"a\u{1b}[2J\u{202e}b\"\n\
                   started_at: \"\u{7}\"\n---\n\u{1b}]0;owned\u{7}do\u{200b} it\u{1b}[31m\n<!-- -->\n";
    let foreign = parse_state_file(hostile).unwrap();
    let text = task_document(hostile).unwrap();
    for shown in [foreign.prompt.as_str(), foreign.promise.as_deref().unwrap_or_default(), &text] {
        assert!(!shown.chars().any(|it| it == '\u{1b}' || it == '\u{202e}' || it == '\u{7}'), "{shown:?}");
    }
    assert!(foreign.prompt.chars().count() <= 200);
}
