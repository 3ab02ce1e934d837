//! Exports everything of a loop as one archive that can be shared: without secrets and without the user's home folder.
//! Reads a loop in any state, running or damaged, without changing it.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use loopkeeper_agent::kind::Dialect;
use loopkeeper_text::redact::{ExportRedactor, RedactionCounts, Redactor, is_secret_name, take_values};
use loopkeeper_text::{tr, words};
use serde_json::{Value, json};

use super::failure::Failure;
use super::keeper_main::BUILD;
use super::loops::LoopView;
use loopkeeper_keeper::agent::SETTINGS;
use loopkeeper_keeper::{block_on, launch, run_context};
use loopkeeper_system::archive::ArchiveWriter;
use loopkeeper_system::env::{EnvAudience, scrubbed_env};
use loopkeeper_system::sandbox::Isolation;
use loopkeeper_system::state_dir::StateDir;
use loopkeeper_system::state_dir::workspace::{HOME, LoopDir};
use loopkeeper_system::{clock, program_versions};

/// No loop's folder contains more.
const MAX_FILES: usize = 20_000;

/// Result of an export.
#[derive(Debug)]
pub struct ExportSummary {
    pub files: usize,
    pub found: RedactionCounts,
}

/// Default file name of the archive.
pub fn name(id: &str) -> String {
    format!("ralph-{id}.tar.gz")
}

/// Packs the loop into a new file at `to`.
pub fn export(store: &StateDir, dir: &LoopDir, to: &Path) -> Result<ExportSummary, Failure> {
    let loop_view = LoopView::read(store, dir.clone()).ok().flatten();
    let at = clock::now().wall;
    let archive = ArchiveWriter::create(to, at / 1000).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::usage(tr!("{path} is already there", path = to.display()))
            .hint(tr!("Give the archive another name with `--to FILE`, or remove the old one.")),
        _ => Failure::ended(tr!("cannot write {path}: {error}", path = to.display(), error)),
    })?;
    let mut builder = ArchiveBuilder {
        archive,
        cleaner: cleaner(dir),
        folder: format!("ralph-{}", dir.id()),
        entries: Vec::new(),
    };
    // Read first, so that every file it refers to exists.
    let journal = std::fs::read(dir.journal()).map(whole_lines);
    builder.put_read("journal.jsonl", journal)?;
    for name in files_of(dir.path()) {
        builder.put_read(&name, std::fs::read(dir.path().join(&name)))?;
    }
    if let Some(loop_view) = &loop_view {
        builder.put_json("settings.json", &settings(loop_view))?;
    }
    builder.put_json("environment.json", &environment(store, dir, loop_view.as_ref(), at))?;
    builder.finish()
}

struct ArchiveBuilder {
    archive: ArchiveWriter,
    cleaner: ExportRedactor,
    folder: String,
    /// Each file with the redactions in it, or the reason why it is missing.
    entries: Vec<(String, Result<RedactionCounts, String>)>,
}

impl ArchiveBuilder {
    fn put_read(&mut self, name: &str, bytes: std::io::Result<Vec<u8>>) -> Result<(), Failure> {
        match bytes {
            Ok(bytes) => self.put(name, &bytes),
            Err(error) => {
                self.entries.push((name.to_owned(), Err(error.to_string())));
                Ok(())
            }
        }
    }

    fn put_json(&mut self, name: &str, value: &Value) -> Result<(), Failure> {
        self.put(name, format!("{value:#}\n").as_bytes())
    }

    fn put(&mut self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let (bytes, values) = without_values(name, bytes);
        let (bytes, mut found) = self.cleaner.clean(&bytes);
        found.secrets += values;
        self.archive.add_file(&format!("{}/{name}", self.folder), &bytes)?;
        self.entries.push((name.to_owned(), Ok(found)));
        Ok(())
    }

    fn finish(mut self) -> Result<ExportSummary, Failure> {
        let mut all = RedactionCounts::default();
        let packed = self.entries.iter().filter_map(|(_, it)| it.as_ref().ok());
        let files = packed.inspect(|it| all.add(**it)).count();
        let note = self.note(all);
        self.archive.add_file(&format!("{}/README.txt", self.folder), note.as_bytes())?;
        self.archive.finish()?;
        Ok(ExportSummary { files: files + 1, found: all })
    }

    fn note(&self, counts: RedactionCounts) -> String {
        let mut note = tr!(
            "A Ralph loop, exported by loopkeeper {version}.\n\n\
             journal.jsonl      what happened, one record a line\n\
             prompts/, output/  the prompt of each iteration, and what its agent printed\n\
             keeper.log         warnings of the loop's process; more if LOOPKEEPER_LOG was set\n\
             settings.json      what the loop was started with; of variables only the names\n\
             environment.json   versions\n\n\
             Redacted: {redacted}. A line of the journal that something was taken out of no longer fits its checksum.\n\
             Only what looks like a secret is recognised: look through it before you give it away.\n",
            version = env!("CARGO_PKG_VERSION"),
            redacted = describe_redactions(counts)
        );
        for (name, entry) in &self.entries {
            let _ = match entry {
                Ok(found) if *found == RedactionCounts::default() => Ok(()),
                Ok(found) => writeln!(note, "  {name}: {}", describe_redactions(*found)),
                Err(why) => writeln!(note, "  {}", tr!("{name}: could not be read: {why}", name, why)),
            };
        }
        note
    }
}

/// Formatted as `3 secrets and the home folder 25 times`.
pub fn describe_redactions(found: RedactionCounts) -> String {
    let secrets = words::counted(found.secrets as u64, "secret");
    tr!(
        "{secrets}, {mentions} of your home folder",
        secrets,
        mentions = words::counted(found.homes as u64, "mention")
    )
}

/// Redacts the values of variables with secret-sounding names, and of all variables that the settings set: only the
/// keeper's own file still contains these.
fn cleaner(dir: &LoopDir) -> ExportRedactor {
    let variables = run_context::text_variables(std::env::vars_os());
    let secret = variables.filter(|(name, _)| is_secret_name(name));
    let set = launch::secrets(dir);
    // As it is escaped in the journal.
    let quoted = |it: &String| json!(it).to_string();
    let escaped = set.iter().map(quoted).map(|it| it.get(1..it.len() - 1).unwrap_or_default().to_owned());
    let escaped: Vec<String> = escaped.collect();
    let home = std::env::var("HOME").unwrap_or_default();
    ExportRedactor::new(Redactor::new(secret.map(|(_, value)| value).chain(set).chain(escaped)), &home)
}

/// Settings without the values of variables, and the number of these. Settings without such values stay unchanged.
fn without_values<'a>(name: &str, bytes: &'a [u8]) -> (Cow<'a, [u8]>, usize) {
    let (parts, pretty): (Vec<&[u8]>, bool) = match Path::new(name).extension().and_then(OsStr::to_str) {
        Some("json") => (vec![bytes], true),
        Some("jsonl") => (bytes.split_inclusive(|it| *it == b'\n').collect(), false),
        _ => return (Cow::Borrowed(bytes), 0),
    };
    let (mut out, mut count) = (Vec::with_capacity(bytes.len()), 0);
    for part in parts {
        let mut value: Value = serde_json::from_slice(part).unwrap_or(Value::Null);
        let taken = take_values(&mut value).len();
        count += taken;
        match (taken, pretty) {
            (0, _) => out.extend_from_slice(part),
            (_, true) => out.extend(format!("{value:#}\n").into_bytes()),
            (_, false) => out.extend(format!("{value}\n").into_bytes()),
        }
    }
    (Cow::Owned(out), count)
}

/// Cuts a record that is just being written.
fn whole_lines(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
    bytes.truncate(end);
    bytes
}

/// Regular files below the loop's folder, without the journal and the files that only the keeper or the agent needs.
fn files_of(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(folder) = pending.pop().filter(|_| found.len() < MAX_FILES) {
        for entry in std::fs::read_dir(dir.join(&folder)).into_iter().flatten().flatten() {
            let path = folder.join(entry.file_name());
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                pending.extend(Some(path).filter(|it| it != Path::new(HOME)));
            } else if let Some(name) = path.to_str().filter(|_| kind.is_file()) {
                found.push(name.to_owned());
            }
        }
    }
    let is_private = |it: &str| {
        let is_of_keeper = it.starts_with("journal.") && !it.starts_with("journal.torn-");
        is_of_keeper || matches!(it, "lock" | launch::START) || it.ends_with(SETTINGS)
    };
    found.retain(|it| !is_private(it));
    found.sort();
    found
}

fn settings(loop_view: &LoopView) -> Value {
    let mut settings = json!(loop_view.state.spec.settings);
    let names: Vec<&String> = loop_view.state.spec.settings.env_set.iter().map(|(name, _)| name).collect();
    if let Some(set) = settings.get_mut("envSet") {
        *set = json!(names);
    }
    settings
}

fn environment(store: &StateDir, dir: &LoopDir, loop_view: Option<&LoopView>, at: u64) -> Value {
    let system = rustix::system::uname();
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|it| it.strip_prefix("PRETTY_NAME="));
    json!({
        "exportedAt": words::rfc3339(at),
        "loop": dir.id(),
        "startedBy": loop_view.map(|it| &it.state.spec.version),
        "exportedBy": env!("CARGO_PKG_VERSION"),
        "build": BUILD,
        "system": std::env::consts::OS,
        "distribution": name.map(|it| it.trim_matches('"')),
        "kernel": system.release().to_string_lossy(),
        "architecture": std::env::consts::ARCH,
        "git": version(store, "git"),
        "agent": loop_view.map(|it| agent(store, it)),
        "alive": loop_view.map(LoopView::is_alive),
        "damage": loop_view.and_then(|it| it.damage.as_ref().map(|it| it.fact().to_owned())),
    })
}

/// Runs only well-known programs: a workspace's own program is never started for this.
fn agent(store: &StateDir, loop_view: &LoopView) -> Value {
    let plan = &loop_view.state.spec.agent;
    let program = plan.argv.first().map(Path::new);
    let is_known = |it: &&Path| {
        let has_place = it.components().count() > 1;
        plan.dialect != Dialect::Text
            && !it.starts_with(loop_view.dir.root())
            && (!has_place || it.is_absolute())
    };
    let version = program.filter(is_known).and_then(|it| version(store, &it.to_string_lossy()));
    json!({"name": plan.name, "program": program, "dialect": plan.dialect, "version": version})
}

/// The first line of its output.
fn version(store: &StateDir, program: &str) -> Option<String> {
    let domain = Isolation::unlimited(&run_context::warden_program(store));
    let env = scrubbed_env(EnvAudience::Check, &[], &[], std::env::vars_os());
    let printed = block_on(program_versions::query_version(program, env, &domain)).ok()?.ok()?;
    printed.lines().map(str::trim).find(|it| !it.is_empty()).map(str::to_owned)
}
