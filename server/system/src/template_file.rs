//! Reads the prompt template: a file of the root that no link leads out of, or a file that the user's own configuration
//! names. The template is never run.

use std::path::Path;

use loopkeeper_core::prompt::{MAX_TEMPLATE_BYTES, PromptTemplate};
use loopkeeper_text::message::HintedError;
use loopkeeper_text::tr;
use thiserror::Error;

use super::config_text::{self, ConfigFileError};
use super::task_files::{self, TaskFileError};

/// Why a template cannot be used.
#[derive(Debug, Error)]
pub enum TemplateError {
    #[error("{}", tr!("there is no file {path}", path))]
    Absent { path: String },
    #[error(transparent)]
    Within(#[from] TaskFileError),
    #[error(transparent)]
    Elsewhere(#[from] ConfigFileError),
    #[error("{path}:{line}: {message}")]
    Wrong { path: String, line: usize, message: String, hint: String },
}

impl HintedError for TemplateError {
    fn hint(&self) -> Option<String> {
        let hint: &str = match self {
            Self::Absent { .. } => tr!("write the template, or remove the key"),
            Self::Within(TaskFileError::OutsideRoot { .. }) => tr!("copy the file into the root"),
            Self::Within(_) | Self::Elsewhere(_) => tr!("put a text file there, or remove the key"),
            Self::Wrong { hint, .. } => hint,
        };
        Some(hint.to_owned())
    }
}

/// The text of a valid template.
pub fn read(root: &Path, path: &str) -> Result<String, TemplateError> {
    let file = root.join(path);
    let absent = || TemplateError::Absent { path: path.to_owned() };
    let text = if Path::new(path).is_absolute() {
        config_text::read_text(&file)?.ok_or_else(absent)?
    } else if file.exists() {
        task_files::read_beginning(root, &file, MAX_TEMPLATE_BYTES as u64 + 1)?
    } else {
        return Err(absent());
    };
    match PromptTemplate::parse(&text) {
        Ok(_) => Ok(text),
        Err(it) => Err(TemplateError::Wrong {
            path: path.to_owned(),
            line: it.line,
            message: it.message,
            hint: it.hint,
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use loopkeeper_text::message::HintedError as _;

    use super::read;

    #[test]
    fn only_a_valid_template_inside_the_root_is_read() {
        let outside = tempfile::tempdir().unwrap();
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let text = "{task}\n{failing}\n";
        fs::write(outside.path().join("theirs.md"), text).unwrap();
        fs::write(root.join("good.md"), text).unwrap();
        fs::write(root.join("bad.md"), "{task}\n{fail}\n").unwrap();
        fs::create_dir(root.join("folder")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("theirs.md"), root.join("link.md")).unwrap();
        let read_message = |path: &str| read(&root, path).map_err(|it| it.to_message().to_string());
        let theirs = outside.path().join("theirs.md");
        assert_eq!(
            (read_message("good.md"), read_message(theirs.to_str().unwrap())),
            (Ok(text.to_owned()), Ok(text.to_owned()))
        );
        let refused = |path: &str, expect: &str| {
            let error = read_message(path).unwrap_err();
            assert!(error.contains(expect), "{path}: {error}");
        };
        refused("none.md", "there is no file none.md. Hint: write the template");
        refused("link.md", "is a link that leaves the root. Hint: copy the file");
        refused("folder", "is not a regular file. Hint: put a text file there");
        refused("bad.md", "bad.md:2: `{fail}` is not part of a prompt. Hint: did you mean `{failing}`?");
        refused(outside.path().join("none").to_str().unwrap(), "there is no file ");
    }
}
