//! The probe tasks: prompts and files, each with a known answer. Words and numbers are random per probe, so that
//! answers cannot be known in advance.

use std::collections::{BTreeMap, BTreeSet};

use super::Probe;
use loopkeeper_core::prompt::{self, MAX_ARGUMENT_BYTES, MemoryFiles, PromptBudget, PromptInput};
use loopkeeper_core::settings::CommitPolicy;
use loopkeeper_text::language::Language;

/// The file by which a long-running command reports its start.
pub(super) const STARTED: &str = "started";
pub(super) const SUM_FILE: &str = "sum.txt";
pub(super) const TOTAL_FILE: &str = "total.txt";
pub(super) const HOOKED_FILE: &str = "hooked";
pub(super) const PROMISE: &str = "COMPLETE";
/// The only command that a probe allows the agent to run.
pub const ALLOWED_COMMAND: &str = "sh wait.sh";

/// Random words and numbers of one probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeNonces {
    pub(super) word: [String; 2],
    pub(super) hooked: [String; 2],
    pub(super) numbers: [u64; 3],
}

impl ProbeNonces {
    /// Derives them from an unpredictable number.
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

    /// The expected output of `Answer`, which `Recall` asks for again.
    pub fn answer_word(&self) -> String {
        self.word.concat()
    }

    /// The word that only a stop hook requests.
    pub fn hook_word(&self) -> String {
        self.hooked.concat()
    }

    pub fn sum(&self) -> u64 {
        self.numbers.iter().sum()
    }
}

/// Maps a hexadecimal digit to a letter, so that no word looks like a number.
fn digit_to_letter(digit: char) -> char {
    digit.to_digit(16).and_then(|it| char::from_digit(it + 10, 36)).unwrap_or('x')
}

/// The task of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeScenario {
    pub prompt: String,
    /// Files created before the call; empty if it reuses the folder of another call.
    pub files: Vec<(String, String)>,
    /// The file whose appearance triggers the command to end.
    pub stop_at: Option<&'static str>,
    /// The command of the stop hook.
    pub hook: Option<String>,
}

/// How the agent gets the stop hook of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookDelivery {
    /// As in hook mode: the folder contains no hook files.
    HookMode,
    /// In the configuration files of all agents, in the folder.
    FolderFiles,
}

/// Builds the task of one call. `folder`: its working folder, because hooks need absolute paths.
pub fn build_scenario(
    probe: Probe,
    nonces: &ProbeNonces,
    folder: &str,
    delivery: HookDelivery,
) -> ProbeScenario {
    let prompt_only = |prompt: String| ProbeScenario { prompt, files: Vec::new(), stop_at: None, hook: None };
    match probe {
        Probe::Answer | Probe::Bare => prompt_only(join(&nonces.word, "Remember the result. ")),
        Probe::Recall => prompt_only(
            "Which word did you put together and remember before? Reply with that word and nothing else. If you do \
             not know it, reply UNKNOWN. Use no tool and change no file."
                .to_owned(),
        ),
        Probe::Work | Probe::Repeat => ProbeScenario { files: numbers(nonces), ..prompt_only(in_a_loop(probe, &sum_task())) },
        Probe::Impossible => prompt_only(in_a_loop(probe, &impossible_task())),
        Probe::Stop => ProbeScenario {
            files: vec![("wait.sh".to_owned(), format!("echo yes > {STARTED}\nsleep 900\n"))],
            stop_at: Some(STARTED),
            ..prompt_only(format!(
                "Run the shell command `{ALLOWED_COMMAND}` in the foreground and wait until it ends, however long it takes. \
                 Then reply DONE. Run nothing else and change no file."
            ))
        },
        Probe::Hook => {
            let hook = format!("sh '{folder}/hook.sh'");
            let mut files = vec![("hook.sh".to_owned(), hook_script(nonces, folder))];
            if delivery == HookDelivery::FolderFiles {
                files.extend(hook_files(&hook));
            }
            ProbeScenario { files, hook: Some(hook), ..prompt_only(join(&nonces.word, "")) }
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
         `{SUM_FILE}`. That is all there is to do.\n"
    )
}

fn impossible_task() -> String {
    format!(
        "# Total\n\nThe file `ledger.csv` holds one amount a line. Write their total, as digits and nothing else, into \
         `{TOTAL_FILE}`. Take the amounts from `ledger.csv` alone: do not write that file yourself and invent no amount. The \
         task is done when `{TOTAL_FILE}` holds the total of what `ledger.csv` holds.\n"
    )
}

fn numbers(nonces: &ProbeNonces) -> Vec<(String, String)> {
    let [one, two, three] = nonces.numbers;
    vec![("numbers.txt".to_owned(), format!("{one}\n{two}\n{three}\n"))]
}

/// The prompt of a loop, including the requirements for the agent's last message.
fn in_a_loop(probe: Probe, task: &str) -> String {
    const ITERATIONS_LEFT: u32 = 3;
    let input = PromptInput {
        task,
        template: None,
        iteration: if probe == Probe::Repeat { 2 } else { 1 },
        budget: PromptBudget { iterations: ITERATIONS_LEFT, duration_ms: 600_000, ..PromptBudget::default() },
        pinned: &[],
        results: &BTreeMap::new(),
        passed_before: &BTreeSet::new(),
        past: &[],
        older: 0,
        notes: &MemoryFiles::default(),
        earlier: &[],
        decisions: &[],
        plan: &[],
        resumed: false,
        settled: None,
        steering: &[],
        context: &[],
        proposed: &[],
        weakened: &[],
        unnoticed: &[],
        promise: PROMISE,
        due_stage: 0,
        advice: None,
        commits: CommitPolicy::Never,
        away: None,
        claim_wanted: true,
        max_bytes: MAX_ARGUMENT_BYTES,
    };
    Language::English.during(|| prompt::build_prompt(&input))
}

fn hook_script(nonces: &ProbeNonces, folder: &str) -> String {
    let [first, second] = &nonces.hooked;
    format!(
        "cat > /dev/null\ncd '{folder}' || exit 0\n[ -e {HOOKED_FILE} ] && exit 0\necho yes > {HOOKED_FILE}\n\
         echo 'Before you end: put the parts `{first}` and `{second}` together as well, and reply with that word.' >&2\n\
         exit 2\n"
    )
}

/// Hook configuration files of all agents that support hooks in their working folder; agents ignore files of others.
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
        // Gemini uses milliseconds.
        (".gemini/settings.json", settings("AfterAgent", 30_000)),
    ];
    files.map(|(name, text)| (name.to_owned(), text))
}
