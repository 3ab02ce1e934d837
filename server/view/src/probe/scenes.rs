//! The tasks that an agent is given, each with a known answer: prompt and files. Words and numbers differ from probe
//! to probe, so that no answer can be known beforehand.

use std::collections::{BTreeMap, BTreeSet};

use super::Probe;
use loopkeeper_core::prompt::{self, MAX_ARGUMENT_BYTES, MemoryFiles, PromptBudget, PromptInput};
use loopkeeper_core::settings::CommitPolicy;

/// Runs until it is ended; `started` says that it does.
pub(super) const STARTED: &str = "started";
pub(super) const SUM: &str = "sum.txt";
pub(super) const TOTAL: &str = "total.txt";
pub(super) const HOOKED: &str = "hooked";
pub(super) const PROMISE: &str = "COMPLETE";
/// The one command that a probe lets the agent run.
pub const PROBED: &str = "sh wait.sh";

/// What is asked for, and only this time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeNonces {
    pub(super) word: [String; 2],
    pub(super) hooked: [String; 2],
    pub(super) numbers: [u64; 3],
}

impl ProbeNonces {
    /// From any number that nobody could know.
    pub fn new(seed: u64) -> Self {
        let part = |at: u32| {
            let digits = seed.rotate_left(at * 11).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
            format!("{digits:08x}").chars().map(digit_to_letter).collect::<String>()
        };
        let number = |at: u32| 100 + seed.rotate_right(at * 13) % 9_000;
        Self {
            word: [part(1), part(2)],
            hooked: [part(3), part(4)],
            numbers: [number(1), number(2), number(3)],
        }
    }

    /// What `Answer` has to say, and `Recall` to know.
    pub fn answer_word(&self) -> String {
        self.word.concat()
    }

    /// What only a hook that holds the session can bring it to say.
    pub fn hook_word(&self) -> String {
        self.hooked.concat()
    }

    pub fn sum(&self) -> u64 {
        self.numbers.iter().sum()
    }
}

/// A hexadecimal digit as a letter: no word of letters is mistaken for a number.
fn digit_to_letter(digit: char) -> char {
    digit.to_digit(16).and_then(|it| char::from_digit(it + 10, 36)).unwrap_or('x')
}

/// One call's task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeScenario {
    pub prompt: String,
    /// Put into the folder before; empty where it goes on in the folder of another call.
    pub files: Vec<(String, String)>,
    /// The file by which one sees that it is time to end it.
    pub stop_at: Option<&'static str>,
    /// The command of the stop hook.
    pub hook: Option<String>,
}

/// The task of one call. `folder`: where it runs, as hooks need whole paths. With `told` it is told of the stop hook as
/// hook mode tells it, and its folder holds none.
pub fn build_scenario(probe: Probe, words: &ProbeNonces, folder: &str, told: bool) -> ProbeScenario {
    let said = |prompt: String| ProbeScenario { prompt, files: Vec::new(), stop_at: None, hook: None };
    match probe {
        Probe::Answer | Probe::Bare => said(join(&words.word, "Remember the result. ")),
        Probe::Recall => said(
            "Which word did you put together and remember before? Reply with that word and nothing else. If you do \
             not know it, reply UNKNOWN. Use no tool and change no file."
                .to_owned(),
        ),
        Probe::Work | Probe::Repeat => ProbeScenario { files: numbers(words), ..said(in_a_loop(probe, &sum_task())) },
        Probe::Impossible => said(in_a_loop(probe, &impossible_task())),
        Probe::Stop => ProbeScenario {
            files: vec![("wait.sh".to_owned(), format!("echo yes > {STARTED}\nsleep 900\n"))],
            stop_at: Some(STARTED),
            ..said(format!(
                "Run the shell command `{PROBED}` in the foreground and wait until it ends, however long it takes. \
                 Then reply DONE. Run nothing else and change no file."
            ))
        },
        Probe::Hook => {
            let hook = format!("sh '{folder}/hook.sh'");
            let mut files = vec![("hook.sh".to_owned(), hook_script(words, folder))];
            if !told {
                files.extend(hook_files(&hook));
            }
            ProbeScenario { files, hook: Some(hook), ..said(join(&words.word, "")) }
        }
    }
}

fn join([first, second]: &[String; 2], and: &str) -> String {
    format!(
        "Put the parts `{first}` and `{second}` together into one word, without anything in between. {and}Reply with \
         that word and nothing else. Use no tool and change no file."
    )
}

fn sum_task() -> String {
    format!(
        "# Sum\n\nThe file `numbers.txt` holds one number a line. Write their sum, as digits and nothing else, into \
         `{SUM}`. That is all there is to do.\n"
    )
}

fn impossible_task() -> String {
    format!(
        "# Total\n\nThe file `ledger.csv` holds one amount a line. Write their total, as digits and nothing else, into \
         `{TOTAL}`. Take the amounts from `ledger.csv` alone: do not write that file yourself and invent no amount. The \
         task is done when `{TOTAL}` holds the total of what `ledger.csv` holds.\n"
    )
}

fn numbers(words: &ProbeNonces) -> Vec<(String, String)> {
    let [one, two, three] = words.numbers;
    vec![("numbers.txt".to_owned(), format!("{one}\n{two}\n{three}\n"))]
}

/// As a loop would say it, with everything that it asks of the agent's last message.
fn in_a_loop(probe: Probe, task: &str) -> String {
    const LEFT: u32 = 3;
    prompt::build_prompt(&PromptInput {
        task,
        template: None,
        iteration: if probe == Probe::Repeat { 2 } else { 1 },
        budget: PromptBudget { iterations: LEFT, duration_ms: 600_000, ..PromptBudget::default() },
        pinned: &[],
        results: &BTreeMap::new(),
        passed_before: &BTreeSet::new(),
        past: &[],
        notes: &MemoryFiles::default(),
        decisions: &[],
        plan: &[],
        resumed: false,
        settled: None,
        steering: &[],
        context: &[],
        proposed: &[],
        weakened: &[],
        promise: PROMISE,
        due_stage: 0,
        advice: None,
        commits: CommitPolicy::Never,
        away: None,
        claim_wanted: true,
        max_bytes: MAX_ARGUMENT_BYTES,
    })
}

fn hook_script(words: &ProbeNonces, folder: &str) -> String {
    let [first, second] = &words.hooked;
    format!(
        "cat > /dev/null\ncd '{folder}' || exit 0\n[ -e {HOOKED} ] && exit 0\necho yes > {HOOKED}\n\
         echo 'Before you end: put the parts `{first}` and `{second}` together as well, and reply with that word.' >&2\n\
         exit 2\n"
    )
}

/// Hooks as each of the agents that have them reads them from the folder it works in: who does not know a file
/// passes it over.
fn hook_files(command: &str) -> [(String, String); 4] {
    let settings = |event: &str, timeout: u32| {
        let hook = serde_json::json!({"type": "command", "command": command, "timeout": timeout});
        let all = serde_json::json!({"hooks": {event: [{"hooks": [hook]}]}});
        format!("{all}\n")
    };
    let files = [
        (".claude/settings.json", settings("Stop", 30)),
        (".codex/hooks.json", settings("Stop", 30)),
        (".qwen/settings.json", settings("Stop", 30)),
        // Gemini counts in milliseconds.
        (".gemini/settings.json", settings("AfterAgent", 30_000)),
    ];
    files.map(|(name, text)| (name.to_owned(), text))
}
