//! Requests and reads the report of a test runner, in a file of a clean room that neither the command nor the files of
//! the project name.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::{fs, io};

use loopkeeper_core::check::report::{self, ReportingRunner};
use loopkeeper_core::check::{CommandRun, TestCounts};
use loopkeeper_task::criterion::Criterion;

use super::RoundParams;
use crate::run_context::{EnvVars, env_value, extend_env};

/// What one command is asked for.
pub(super) struct RunnerReport {
    runner: ReportingRunner,
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReadReport {
    /// True also if the report cannot be read.
    pub(super) is_there: bool,
    pub(super) counts: Option<TestCounts>,
}

impl RunnerReport {
    pub(super) fn of_check(plan: &RoundParams<'_>, criterion: &Criterion) -> Option<Self> {
        let channels = plan.reports?;
        let runner = *channels.runners.get(&criterion.id)?;
        let file = channels.folder.join(format!("{}.xml", criterion.id.0));
        // The value of a variable is split at blanks or colons.
        let is_plain = file.to_str().is_some_and(|it| !it.contains([' ', ':', '\'', '"', '\\', '$']));
        let report = Self { runner, file };
        (is_plain && report.write_support_file().is_ok()).then_some(report)
    }

    fn write_support_file(&self) -> io::Result<()> {
        let Some((path, text)) = self.runner.support_file(&self.file.to_string_lossy()) else {
            return Ok(());
        };
        let path = PathBuf::from(path);
        let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        fs::create_dir_all(folder)?;
        fs::write(&path, text)
    }

    pub(super) fn environment(&self, env: &[(OsString, OsString)]) -> EnvVars {
        let file = self.file.to_string_lossy();
        let (name, _) = self.runner.variable(&file, "");
        let value = env_value(env, name).map(OsStr::to_string_lossy);
        let (name, value) = self.runner.variable(&file, &value.unwrap_or_default());
        let mut env = env.to_vec();
        extend_env(&mut env, vec![(name.into(), value.into())]);
        env
    }

    /// Lines about the report say nothing about the work.
    pub(super) fn remove_mentions(&self, run: &mut CommandRun) {
        let file = self.file.to_string_lossy();
        for stream in [&mut run.stdout, &mut run.stderr, &mut run.both] {
            let text = String::from_utf8_lossy(stream);
            if text.contains(file.as_ref()) {
                let kept: String =
                    text.split_inclusive('\n').filter(|it| !it.contains(file.as_ref())).collect();
                *stream = kept.into_bytes();
            }
        }
    }

    pub(super) fn read(&self) -> ReadReport {
        let Ok(metadata) = fs::symlink_metadata(&self.file) else { return ReadReport::default() };
        let is_readable = metadata.is_file() && metadata.len() <= report::MAX_BYTES;
        let text = is_readable.then(|| fs::read_to_string(&self.file).ok()).flatten();
        ReadReport { is_there: true, counts: text.and_then(|it| self.runner.read(&it)) }
    }
}
