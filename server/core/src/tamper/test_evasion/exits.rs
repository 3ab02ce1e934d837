//! Counts calls in functions that end the program as a success: a test program that does not count its tests passes if
//! it reaches one. A program with its own command line ends that way too, so its files are left out.

use super::TestLanguage;
use loopkeeper_text::pattern::ConstantPattern;

/// The number of calls that end the program as a success.
pub(super) fn count_exits(language: TestLanguage, text: &str) -> usize {
    static PYTHON: ConstantPattern = ConstantPattern::new(
        r"(?m)^[^\S\n]*(?:async )?def [^\n]*:[^\S\n]*\n(?:(?:[^\S\n]+[^\n]*)?\n)*?[^\S\n]+(?:sys\.exit\(\s*0?\s*\)|os\._exit\(\s*0\s*\)|raise SystemExit(?:\(\s*0?\s*\))?\s*$)",
    );
    static PYTHON_PROGRAM: ConstantPattern =
        ConstantPattern::new(r"__main__|\bdef main\b|argparse|sys\.argv|\bclick\b|\btyper\b|os\.fork\b|^#!");
    static C: ConstantPattern =
        ConstantPattern::new(r"\b(?:_exit|_Exit|quick_exit|exit)\s*\(\s*(?:0|EXIT_SUCCESS)\s*\)");
    static C_PROGRAM: ConstantPattern =
        ConstantPattern::new(r"\bmain\s*\(|(?i:usage|version|help)|\bfork\s*\(");
    static SCRIPT: ConstantPattern =
        ConstantPattern::new(r"(?m)(?:^[^\S\n]+|[{>]\s*)process\.(?:exit|reallyExit)\(\s*0?\s*\)");
    static SCRIPT_PROGRAM: ConstantPattern = ConstantPattern::new(
        r"process\.argv|require\.main|\b(?:yargs|commander|parseArgs)\b|process\.on\(\s*.SIG|^#!",
    );
    static EXPORTS: ConstantPattern = ConstantPattern::new(r"\bexports\b|(?m)^export\b");
    let (exits, program) = match language {
        TestLanguage::Python => (&PYTHON, &PYTHON_PROGRAM),
        TestLanguage::C => (&C, &C_PROGRAM),
        TestLanguage::Script => (&SCRIPT, &SCRIPT_PROGRAM),
        _ => return 0,
    };
    let count = exits.find_iter(text).count();
    let is_module = || language != TestLanguage::Script || EXPORTS.is_match(text);
    if count > 0 && is_module() && !program.is_match(text) { count } else { 0 }
}
