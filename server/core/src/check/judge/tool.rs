//! Detects in a failed run that its tool is missing, and how many errors a compiler counted.

use loopkeeper_text::pattern::ConstantPattern;
use loopkeeper_text::tr;

/// Shells phrase it in many ways; the name is next to `not found`.
static NOT_FOUND: ConstantPattern = ConstantPattern::new(
    r"(?m)^(?:[^\n]*?: )?(?:command not found: (?P<zsh>\S+)|(?P<sh>[^:\s]+): (?:command )?not found|[‘'\x22](?P<env>[^’'\x22\n]+)[’'\x22]: No such file or directory|(?P<path>\S+): No such file or directory)\s*$",
);
static PERMISSION_DENIED: ConstantPattern =
    ConstantPattern::new(r"(?m)^(?:[^\n]*?: )?(?P<path>[^:\s]+): Permission denied\s*$");
static CARGO: ConstantPattern = ConstantPattern::new(
    r"(?m)^error: (?:no such (?:sub)?command: `(?P<sub>[^`\n]+)`|'(?P<tool>cargo-[^'\n]+)' is not installed)",
);
static MODULE: ConstantPattern =
    ConstantPattern::new(r"(?m)^\S*python[0-9.]*: No module named '?(?P<name>[\w.]+)'?\s*$");
static TSC: ConstantPattern = ConstantPattern::new(r"(?m)^\S.*(?:\): | - )error TS[0-9]+: ");
static RUSTC: ConstantPattern = ConstantPattern::new(
    r"(?m)^error: (?:could not compile .* due to|aborting due to) (?:(?P<count>[0-9]+) )?previous error",
);

/// `"cargo-clippy" not found`, if the run failed because its program is missing.
pub(super) fn missing_program(code: i32, stderr: &str) -> Option<String> {
    let not_found = |name: &str| tr!("\"{name}\" not found", name);
    match code {
        126 => {
            let path =
                PERMISSION_DENIED.captures(stderr).and_then(|it| Some(it.name("path")?.as_str().to_owned()));
            Some(path.map_or_else(
                || tr!("not executable, exit 126").to_owned(),
                |it| tr!("\"{name}\" not executable", name = it),
            ))
        }
        127 => {
            let named = NOT_FOUND.captures_iter(stderr).last();
            let name =
                named.and_then(|it| it.iter().skip(1).flatten().next().map(|it| not_found(it.as_str())));
            Some(name.unwrap_or_else(|| tr!("command not found, exit 127").to_owned()))
        }
        0 => None,
        _ => {
            let cargo = || {
                let found = CARGO.captures(Some(stderr).filter(|it| it.contains("error: "))?)?;
                let sub = found.name("sub").map(|it| format!("cargo-{}", it.as_str()));
                sub.or_else(|| Some(found.name("tool")?.as_str().to_owned()))
            };
            let module = || {
                let stderr_text = Some(stderr).filter(|it| it.contains("No module named"))?;
                Some(MODULE.captures(stderr_text)?.name("name")?.as_str().to_owned())
            };
            cargo().or_else(module).map(|it| not_found(&it))
        }
    }
}

/// Counts the errors that tsc or rustc report. They are no test counts: nothing ran.
pub(super) fn count_errors(output: &str) -> Option<u64> {
    // Most outputs contain neither, and a pattern is compiled at its first use.
    if !output.contains("error TS") && !output.contains("previous error") {
        return None;
    }
    let tsc = TSC.find_iter(output).count() as u64;
    let counted = |it: regex::Captures<'_>| it.name("count").map_or(1, |it| it.as_str().parse().unwrap_or(1));
    let rustc = RUSTC.captures_iter(output).map(counted).fold(0_u64, u64::saturating_add);
    Some(tsc.saturating_add(rustc)).filter(|it| *it > 0)
}
