//! The keys of front matter, with what they mean.

use loopkeeper_text::tr_later;

/// A key that front matter may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontMatterKey {
    pub name: &'static str,
    /// The form of the value.
    pub form: &'static str,
    /// Translated where it is shown.
    pub doc: &'static str,
    /// The setting that it overrides.
    pub setting: Option<&'static str>,
}

const fn key(name: &'static str, form: &'static str, doc: &'static str) -> FrontMatterKey {
    FrontMatterKey { name, form, doc, setting: None }
}

pub const FRONT_MATTER_KEYS: [FrontMatterKey; 9] = [
    FrontMatterKey {
        setting: Some("agent"),
        ..key("agent", " claude", tr_later!("The agent that works on this task."))
    },
    key(
        "commands",
        "\n  - name: tests\n    run: ",
        tr_later!(
            "Commands whose output is included in the prompt as `{{ commands.NAME }}`; they decide nothing."
        ),
    ),
    key(
        "completion_criteria",
        "\n  - ",
        tr_later!("Criteria as another tool writes them; those that the text has too count once."),
    ),
    FrontMatterKey {
        setting: Some("exit.promise"),
        ..key(
            "completion_promise",
            " DONE",
            tr_later!("The text between `<promise>` tags that the agent prints when the task is done."),
        )
    },
    key(
        "criteria",
        "\n  - ",
        tr_later!("Criteria of the task, as under *Done when*; one that begins with `$ ` is a command."),
    ),
    FrontMatterKey {
        setting: Some("limits.iterations"),
        ..key("max_iterations", " 20", tr_later!("The limit of iterations for this task."))
    },
    FrontMatterKey {
        setting: Some("criteria.may_change"),
        ..key(
            "may_change",
            " [\"tests/**\"]",
            tr_later!("Globs of tests and expected results that the task requires to change."),
        )
    },
    key("task", " ", tr_later!("The title of the task, if the text has none.")),
    key("test_command", " ", tr_later!("A command that must exit 0 for the task to be done.")),
];
