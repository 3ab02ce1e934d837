//! Diagnostics of gaps in the checks, at the lines of sources and tests: mutants that no check notices, and added
//! tests that notice no mutant.

use crate::editor::diagnostic::DiagnosticCode;
use crate::editor::{TaskView, message};
use loopkeeper_core::decide::mutants;
use loopkeeper_core::journal::{HollowTest, SurvivingMutant};
use loopkeeper_text::sanitize;
use loopkeeper_text::tr;

/// A hint at a line of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceHint {
    /// Relative to the root.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// The line must still begin or continue with this text; otherwise the hint is outdated.
    pub expects: String,
    pub code: DiagnosticCode,
    pub message: String,
}

/// The hints of the last loop, for the tree that it left.
pub fn source_hints(view: &TaskView<'_>) -> Vec<SourceHint> {
    let Some(run) = view.state.and_then(mutants::current) else { return Vec::new() };
    run.survivors.iter().map(survivor_hint).chain(run.hollow.iter().map(hollow_test_hint)).collect()
}

fn survivor_hint(survivor: &SurvivingMutant) -> SourceHint {
    let fact = if survivor.is_removal() {
        tr!("no check notices that it is removed").to_owned()
    } else {
        tr!("no check notices `{text}` instead", text = survivor.after)
    };
    SourceHint {
        file: sanitize::line(&survivor.path),
        line: survivor.line,
        expects: survivor.before.clone(),
        code: DiagnosticCode::Unnoticed,
        message: message::message(tr!("unnoticed"), &fact, tr!("Add a test for it")),
    }
}

fn hollow_test_hint(test: &HollowTest) -> SourceHint {
    SourceHint {
        file: sanitize::line(&test.path),
        line: test.line,
        expects: test.name.clone(),
        code: DiagnosticCode::HollowTest,
        message: message::message(
            &test.name,
            tr!("no fault in the changed lines makes it fail"),
            tr!("Make it stricter"),
        ),
    }
}
