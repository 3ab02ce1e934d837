//! Extracts from the output of a command what is missing: the fixed sentences of shells, interpreters, package
//! managers and compilers, one row each. A row that names nothing is no evidence.

use super::MissingKind;

/// More of them add no information.
const MAX_CANDIDATES: usize = 20;
/// No sentence of a tool is longer.
const MAX_LINE: usize = 2_000;

/// What an output names as missing, before the tree is considered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingCandidate {
    pub(super) symptom: MissingSymptom,
    pub(super) name: String,
}

/// The program that reported it, which decides what the name can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MissingSymptom {
    /// A shell, `env` or `make`: a program, or a script by its path.
    Program,
    /// A script of the project, or a separate environment, misses a program: it may be one that is to be written.
    Inner,
    /// It exists but is not executable.
    Denied,
    PythonModule,
    PytestOption,
    NodeModule,
    /// What runs programs of packages did not find one.
    NodeProgram,
    NodeModules,
    RubyFile,
    /// Only the machine can lack it.
    Machine(MissingKind),
    /// Only the project can lack it.
    Project(MissingKind),
}

/// The output to search.
pub(super) struct FailedCommand<'a> {
    pub(super) command: &'a str,
    /// `None` if it is not known, as for a server.
    pub(super) code: Option<i32>,
    pub(super) output: &'a str,
}

/// A sentence: the name is between `before` and `after`, or extends to the end of the line where `after` is empty.
struct MessagePattern {
    before: &'static str,
    after: &'static str,
    symptom: MissingSymptom,
}

const fn row(before: &'static str, after: &'static str, symptom: MissingSymptom) -> MessagePattern {
    MessagePattern { before, after, symptom }
}

const ROWS: &[MessagePattern] = &[
    row("ModuleNotFoundError: No module named '", "'", MissingSymptom::PythonModule),
    row("ImportError: No module named ", "", MissingSymptom::PythonModule),
    row("error: unrecognized arguments: ", "", MissingSymptom::PytestOption),
    row("error: Failed to spawn: `", "`", MissingSymptom::Inner),
    row("Command not found: ", "", MissingSymptom::Inner),
    row("Command '", "' is not found in your PATH", MissingSymptom::Inner),
    row("Error: the command ", " could not be found within PATH", MissingSymptom::Inner),
    row("exec: \"", "\": executable file not found in $PATH", MissingSymptom::Inner),
    row("error: No interpreter found for ", " in ", MissingSymptom::Machine(MissingKind::Interpreter)),
    row("pyenv: version `", "' is not installed", MissingSymptom::Machine(MissingKind::Interpreter)),
    row("No version is set for command ", "", MissingSymptom::Machine(MissingKind::Program)),
    row("Cannot find module '", "'", MissingSymptom::NodeModule),
    row("Cannot find module \"", "\"", MissingSymptom::NodeModule),
    row("Cannot find package '", "'", MissingSymptom::NodeModule),
    row("Can't resolve '", "'", MissingSymptom::NodeModule),
    row("Could not resolve \"", "\"", MissingSymptom::NodeModule),
    row("Failed to resolve import \"", "\"", MissingSymptom::NodeModule),
    row("npx canceled due to missing packages and no YES option: [\"", "\"", MissingSymptom::NodeProgram),
    row("npm error could not determine executable to run", "", MissingSymptom::NodeProgram),
    row("npm ERR! could not determine executable to run", "", MissingSymptom::NodeProgram),
    row("Command \"", "\" not found", MissingSymptom::NodeProgram),
    row("Couldn't find a script named \"", "\"", MissingSymptom::NodeProgram),
    row("package.json exists, but node_modules missing", "", MissingSymptom::NodeModules),
    row("Missing script: \"", "\"", MissingSymptom::Project(MissingKind::Target)),
    row("missing script: ", "", MissingSymptom::Project(MissingKind::Target)),
    row("Script not found \"", "\"", MissingSymptom::Project(MissingKind::Target)),
    row("No rule to make target '", "'", MissingSymptom::Project(MissingKind::Target)),
    row("No rule to make target `", "'", MissingSymptom::Project(MissingKind::Target)),
    row("Justfile does not contain recipe `", "`", MissingSymptom::Project(MissingKind::Target)),
    row("error: no test target named `", "`", MissingSymptom::Project(MissingKind::Target)),
    row("error: no bin target named `", "`", MissingSymptom::Project(MissingKind::Target)),
    row("error: no example target named `", "`", MissingSymptom::Project(MissingKind::Target)),
    row("can't open file '", "'", MissingSymptom::Project(MissingKind::File)),
    row("bundler: command not found: ", "", MissingSymptom::Machine(MissingKind::Gem)),
    row("Could not find gem '", "'", MissingSymptom::Machine(MissingKind::Gem)),
    row("Could not find ", " in any of the sources", MissingSymptom::Machine(MissingKind::Gem)),
    row("cannot load such file -- ", "", MissingSymptom::RubyFile),
    row("error: linker `", "` not found", MissingSymptom::Program),
    row("error: toolchain '", "' is not installed", MissingSymptom::Machine(MissingKind::Toolchain)),
    row("note: the `", "` target may not be installed", MissingSymptom::Machine(MissingKind::Toolchain)),
    row("go.mod requires ", " (running", MissingSymptom::Machine(MissingKind::Toolchain)),
    row("The system library `", "` required by crate", MissingSymptom::Machine(MissingKind::Library)),
    row(
        "error: Microsoft Visual C++ 14.0 or greater is required",
        "",
        MissingSymptom::Machine(MissingKind::Toolchain),
    ),
    row("is `", "` not installed?", MissingSymptom::Machine(MissingKind::Program)),
];

/// Sentences that name nothing, with what they mean.
const FIXED_SENTENCES: &[(&str, MissingKind, &str)] = &[
    ("Cannot connect to the Docker daemon", MissingKind::Service, "Docker"),
    ("Is the docker daemon running?", MissingKind::Service, "Docker"),
    ("no 'java' command could be found in your PATH", MissingKind::Program, "java"),
    ("JAVA_HOME environment variable is not defined correctly", MissingKind::Program, "java"),
    ("Unable to locate a Java Runtime", MissingKind::Program, "java"),
    ("No compiler is provided in this environment", MissingKind::Program, "javac"),
    ("No .NET SDKs were found", MissingKind::Program, "dotnet"),
    ("A compatible .NET SDK was not found", MissingKind::Program, "dotnet"),
    ("no acceptable C compiler found in $PATH", MissingKind::Program, "cc"),
    ("No CMAKE_C_COMPILER could be found", MissingKind::Program, "cc"),
    ("No CMAKE_CXX_COMPILER could be found", MissingKind::Program, "c++"),
    ("Could not find `protoc`", MissingKind::Program, "protoc"),
    ("Unable to find libclang", MissingKind::Library, "libclang"),
    ("npx playwright install", MissingKind::Program, "Playwright browsers"),
];

/// How shells and their like end a sentence about a program.
const NOT_FOUND: &[&str] =
    &[": command not found", ": not found", ": cannot execute: required file not found"];
const NO_FILE: &str = ": No such file or directory";
const DENIED: &str = ": Permission denied";
/// Programs that print "No such file or directory" for a program rather than for one of its arguments.
const STARTERS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "ash", "env", "make", "gmake", "nice", "timeout", "nohup", "xargs",
    "sudo", "time", "stdbuf", "setsid",
];

/// Everything that the output names, in its order.
pub(super) fn find_candidates(failed: &FailedCommand<'_>) -> Vec<MissingCandidate> {
    let is_evident = is_evident(failed);
    let mut found: Vec<MissingCandidate> = Vec::new();
    for line in failed.output.lines().filter(|it| it.len() <= MAX_LINE) {
        let line = line.trim_end();
        let candidate = from_shell(line)
            .filter(|it| is_evident || names(failed.command, &it.name))
            .or_else(|| from_sentence(line, failed))
            .or_else(|| from_python(line));
        if let Some(candidate) = candidate.filter(|it| !found.contains(it) && found.len() < MAX_CANDIDATES) {
            found.push(candidate);
        }
    }
    found
}

/// A program was not found or could not be executed: by the exit code, or by the message of a runner.
fn is_evident(failed: &FailedCommand<'_>) -> bool {
    const NOT_FOUND_CODES: &[&str] =
        &["Error 127", "code 127", "status 127", "code: 127", "Error 126", "code 126", "ELIFECYCLE"];
    matches!(failed.code, None | Some(126 | 127))
        || NOT_FOUND_CODES.iter().any(|it| failed.output.contains(it))
}

/// The command itself names it, wherever in a pipeline.
fn names(command: &str, name: &str) -> bool {
    let is_between = |it: char| it.is_whitespace() || "|&;()<>`\"'$".contains(it);
    command.split(is_between).any(|it| it == name)
}

fn from_sentence(line: &str, failed: &FailedCommand<'_>) -> Option<MissingCandidate> {
    let fixed = FIXED_SENTENCES.iter().find(|(sentence, ..)| line.contains(sentence));
    if let Some((_, kind, name)) = fixed {
        return Some(MissingCandidate { symptom: MissingSymptom::Machine(*kind), name: (*name).to_owned() });
    }
    ROWS.iter()
        .find_map(|it| {
            let (_, rest) = line.split_once(it.before)?;
            let name = match it.after {
                "" => rest,
                after => rest.split_once(after)?.0,
            };
            let name = name.trim().trim_matches(['\'', '"', '`']).trim_end_matches('.').to_owned();
            let name = match it.symptom {
                MissingSymptom::NodeProgram if name.is_empty() => after_npx(failed.command)?.to_owned(),
                MissingSymptom::NodeProgram => without_version(&name).to_owned(),
                MissingSymptom::NodeModules => super::tables::NODE_MODULES.to_owned(),
                _ => name,
            };
            (!name.is_empty()).then_some(MissingCandidate { symptom: it.symptom, name })
        })
        .or_else(|| from_cargo(line))
}

/// ``no such command: `nextest` `` and similar sentences name a subcommand, not its program.
fn from_cargo(line: &str) -> Option<MissingCandidate> {
    let message = line.strip_prefix("error: ")?;
    let sub = ["no such command: `", "no such subcommand: `"].iter().find_map(|it| message.strip_prefix(it));
    let name = match sub {
        Some(rest) => format!("cargo-{}", rest.split('`').next()?),
        None => message.strip_prefix('\'')?.split_once("' is not installed")?.0.to_owned(),
    };
    Some(MissingCandidate { symptom: MissingSymptom::Machine(MissingKind::Program), name })
}

/// `/usr/bin/python3: No module named pytest`
fn from_python(line: &str) -> Option<MissingCandidate> {
    let (program, module) = line.split_once(": No module named ")?;
    let program = program.rsplit('/').next()?;
    let is_python = ["python", "pypy"].iter().any(|it| program.starts_with(it));
    let module = module.trim_matches(['\'', '"']);
    let is_one = !module.is_empty() && module.chars().all(|it| it.is_alphanumeric() || "_.".contains(it));
    (is_python && is_one)
        .then(|| MissingCandidate { symptom: MissingSymptom::PythonModule, name: module.to_owned() })
}

/// The word after `npx` and its options.
fn after_npx(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace().skip_while(|it| *it != "npx").skip(1);
    words.find(|it| !it.starts_with('-'))
}

/// `jest@29.7.0` of `jest`, `@scope/tool@1` of `@scope/tool`.
fn without_version(name: &str) -> &str {
    match name.char_indices().skip(1).find(|(_, it)| *it == '@') {
        Some((at, _)) => name.get(..at).unwrap_or(name),
        None => name,
    }
}

fn from_shell(line: &str) -> Option<MissingCandidate> {
    if let Some((before, _)) = line.split_once(": bad interpreter: ") {
        let name = before.rsplit(": ").next().unwrap_or(before);
        let own = name.ends_with("^M") || name.ends_with('\r');
        let symptom = if own {
            MissingSymptom::Project(MissingKind::File)
        } else {
            MissingSymptom::Machine(MissingKind::Interpreter)
        };
        return Some(MissingCandidate { symptom, name: name.trim_end_matches("^M").to_owned() });
    }
    if let Some((_, name)) = line.split_once("command not found: ").filter(|(it, _)| is_prefix(it)) {
        return program(name, MissingSymptom::Program);
    }
    if let Some(name) = line.strip_prefix("fish: Unknown command: ") {
        return program(name, MissingSymptom::Program);
    }
    if let Some(before) = NOT_FOUND.iter().find_map(|it| line.strip_suffix(it)) {
        return program(last_part(before), symptom(before));
    }
    if let Some(before) = line.strip_suffix(NO_FILE).filter(|it| starts_programs(it)) {
        return program(last_part(before), symptom(before));
    }
    let before = line.strip_suffix(DENIED).filter(|it| starts_programs(it))?;
    program(last_part(before), MissingSymptom::Denied)
}

/// `zsh:1: `
fn is_prefix(text: &str) -> bool {
    // Bundler speaks of a gem.
    text.is_empty() || (text.trim_end().ends_with(':') && !text.starts_with("bundler:"))
}

/// `bash: line 1: foo` of `foo`; `env: can't execute 'foo'` of `foo`.
fn last_part(before: &str) -> &str {
    let part = before.rsplit(": ").next().unwrap_or(before);
    let quoted = |open: char, close: char| Some(part.strip_suffix(close)?.rsplit_once(open)?.1);
    quoted('‘', '’').or_else(|| quoted('\'', '\'')).or_else(|| quoted('"', '"')).unwrap_or(part)
}

fn starts_programs(before: &str) -> bool {
    is_starter(before) || before.contains(": line ")
}

fn is_starter(before: &str) -> bool {
    let head = before.split(':').next().unwrap_or_default();
    let head = head.rsplit('/').next().unwrap_or_default();
    STARTERS.contains(&head.split('[').next().unwrap_or_default())
}

/// `./test.sh: 3: foo` is printed by a script, `sh: 1: foo` by the shell of the check.
fn symptom(before: &str) -> MissingSymptom {
    if before.contains(": ") && !is_starter(before) { MissingSymptom::Inner } else { MissingSymptom::Program }
}

/// A name that a program can have; `env -S` names its arguments too.
fn program(name: &str, symptom: MissingSymptom) -> Option<MissingCandidate> {
    let name = name.trim_matches(['\'', '"', '`']);
    let name = if name.contains('/') { name } else { name.split(' ').next().unwrap_or_default() };
    let fits = |it: char| it.is_alphanumeric() || "._-+/@~".contains(it);
    let is_one = name.chars().any(char::is_alphabetic) && name.chars().all(fits);
    is_one.then(|| MissingCandidate { symptom, name: name.to_owned() })
}
