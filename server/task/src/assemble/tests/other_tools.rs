//! Properties of the files of other tools, for texts that resemble them: no panic, exact ranges, unique ids, linear time.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::proptest;
use proptest::sample::{Index, select};
use rustix::time::{ClockId, clock_gettime};

use super::any_text::holds;
use crate::import::task_document;
use crate::{TaskDocument, parse_task};

/// A document of each kind that is a task by itself, with a sound text.
const TASKS: [(&str, &str); 12] = [
    ("RALPH.md", include_str!("../../../../../tests/fixtures/workspaces/ralphify/ralphs/shop/RALPH.md")),
    (
        "RALPH_TASK.md",
        include_str!("../../../../../tests/fixtures/workspaces/ralph-wiggum-cursor/RALPH_TASK.md"),
    ),
    (
        "scripts/ralph/prompt.md",
        include_str!("../../../../../tests/fixtures/workspaces/snarktank/scripts/ralph/prompt.md"),
    ),
    ("PRD.md", include_str!("../../../../../tests/fixtures/workspaces/lkonga/PRD.md")),
    ("PROGRESS.md", include_str!("../../../../../tests/fixtures/workspaces/nixuuu-progress/PROGRESS.md")),
    (
        "docs/plans/a.md",
        include_str!("../../../../../tests/fixtures/workspaces/ralphex/docs/plans/2026-01-01-shop.md"),
    ),
    (
        ".agents/tasks/prd.json",
        include_str!("../../../../../tests/fixtures/workspaces/iannuttall/.agents/tasks/prd.json"),
    ),
    (
        ".ralph/queue.jsonc",
        include_str!("../../../../../tests/fixtures/workspaces/fitchmultz/.ralph/queue.jsonc"),
    ),
    (
        ".ralph/tasks.json",
        include_str!("../../../../../tests/fixtures/workspaces/ralphdex/.ralph/tasks.json"),
    ),
    ("tasks.json", include_str!("../../../../../tests/fixtures/workspaces/ralphy-json/tasks.json")),
    ("tasks.yaml", include_str!("../../../../../tests/fixtures/workspaces/ralphy-yaml/tasks.yaml")),
    (".ralph/tasks.yml", include_str!("../../../../../tests/fixtures/workspaces/nixuuu/.ralph/tasks.yml")),
];
/// Documents that contain a prompt.
const PROMPTS: [(&str, &str); 2] = [
    (
        "ralph.yml",
        include_str!("../../../../../tests/fixtures/workspaces/ralph-orchestrator-inline/ralph.yml"),
    ),
    (
        ".ralph/ralph-loop.state.json",
        include_str!(
            "../../../../../tests/fixtures/workspaces/open-ralph-wiggum/.ralph/ralph-loop.state.json"
        ),
    ),
];
/// Files beside a task.
const BESIDE: [(&str, &str); 11] = [
    ("ralph.yml", include_str!("../../../../../tests/fixtures/workspaces/ralph-orchestrator/ralph.yml")),
    (
        ".ralph/agent/tasks.jsonl",
        include_str!("../../../../../tests/fixtures/workspaces/ralph-orchestrator/.ralph/agent/tasks.jsonl"),
    ),
    (".ralphrc", include_str!("../../../../../tests/fixtures/workspaces/bmalph/.ralph/.ralphrc")),
    (
        ".ralphy/config.yaml",
        include_str!("../../../../../tests/fixtures/workspaces/ralphy/.ralphy/config.yaml"),
    ),
    (".ralph.toml", include_str!("../../../../../tests/fixtures/workspaces/nixuuu/.ralph.toml")),
    (
        ".ralph/config.jsonc",
        include_str!("../../../../../tests/fixtures/workspaces/fitchmultz/.ralph/config.jsonc"),
    ),
    (
        ".ralph/run-config.json",
        include_str!("../../../../../tests/fixtures/workspaces/lkonga/.ralph/run-config.json"),
    ),
    (
        ".ralph/verification.json",
        "{\"verifiers\": [\"tsc\", {\"type\": \"fileContains\", \"args\": {\"path\": \"é.ts\", \"content\": \"a\\\"b\"}}, {\"type\": \"custom\", \"args\": {\"command\": \"make\"}}]}",
    ),
    (
        ".ralphify/checks/a/CHECK.md",
        include_str!(
            "../../../../../tests/fixtures/workspaces/ralphify-checks/.ralphify/checks/sells/CHECK.md"
        ),
    ),
    (
        ".ralphify/contexts/a/CONTEXT.md",
        include_str!(
            "../../../../../tests/fixtures/workspaces/ralphify-checks/.ralphify/contexts/stock/CONTEXT.md"
        ),
    ),
    (
        ".ralphify/instructions/a/INSTRUCTION.md",
        include_str!(
            "../../../../../tests/fixtures/workspaces/ralphify-checks/.ralphify/instructions/style/INSTRUCTION.md"
        ),
    ),
];

const FRAGMENTS: &[&str] = &[
    "\n",
    "\r\n",
    "\t",
    "  ",
    "- ",
    ": ",
    ":",
    "#",
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    ",",
    "|\n",
    ">-\n",
    "&a ",
    "*a",
    "---\n",
    "...\n",
    "\\",
    "\\n",
    "\\u00e9",
    "null",
    "~",
    "true",
    "tasks:\n",
    "  - title: é\n",
    "subtasks:\n",
    "status: done\n",
    "verify_commands = [\"a\"]\n",
    "[task.orchestrate]\n",
    "TEST_COMMAND=\"x\"\n",
    "QUALITY_GATES='a;b'\n",
    "OPTIONAL_SECTIONS=\"a\"\n",
    "command: x\n",
    "timeout: 3\n",
    "enabled: false\n",
    "{{ contexts.a }}",
    "{{ instructions }}",
    "{{ commands.a }}",
    "{{",
    "}}",
    "<!--",
    "-->",
    "depends: T1",
    "**T1**",
    "[DECOMPOSED]",
    "[~] ",
    "[ ] ",
    "`$ x`",
    "## Done when\n",
    "<promise>a</promise>",
    "🚀",
    "é",
    "\u{feff}",
    "\0",
    "\u{2028}",
    "\"prompt\": \"a\\nb\"",
    "event_loop:\n  prompt: |\n    a\n",
    "gates:\n",
];

fn fragments() -> impl Strategy<Value = String> {
    vec(select(FRAGMENTS), 0..50).prop_map(|parts| parts.concat())
}

/// A sound text with pieces cut out, repeated and inserted.
fn changed(text: &'static str) -> impl Strategy<Value = String> {
    vec((any::<Index>(), any::<Index>(), select(FRAGMENTS), 0..4_u8), 1..6).prop_map(move |edits| {
        edits.into_iter().fold(text.to_owned(), |text, (from, to, fragment, kind)| {
            let edges: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let (a, b) = (*from.get(&edges), *to.get(&edges));
            let (start, end) = (a.min(b), a.max(b));
            match kind {
                0 => format!("{}{}", &text[..start], &text[end..]),
                1 => format!("{}{}{}", &text[..end], &text[start..end], &text[end..]),
                2 => format!("{}{fragment}{}", &text[..start], &text[start..]),
                _ => text[..start].to_owned(),
            }
        })
    })
}

fn document((path, text): (&str, &str)) -> TaskDocument {
    TaskDocument { path: path.to_owned(), text: text.to_owned() }
}

proptest! {
    #[test]
    fn any_task_of_another_tool_is_read(
        (path, text) in select([&TASKS[..], &PROMPTS[..]].concat()).prop_flat_map(|(path, text)| {
            prop_oneof![1 => any::<String>(), 2 => fragments(), 6 => changed(text)].prop_map(move |text| (path, text))
        })
    ) {
        let documents = [document((path, &text))];
        holds(&parse_task(&documents), &documents)?;
    }

    #[test]
    fn any_file_beside_a_task_is_read(
        (path, text) in select(&BESIDE[..]).prop_flat_map(|(path, text)| {
            prop_oneof![1 => any::<String>(), 2 => fragments(), 6 => changed(text)].prop_map(move |text| (path, text))
        }),
        prompt in fragments(),
    ) {
        let documents = [document(("RALPH.md", &prompt)), document((path, &text))];
        holds(&parse_task(&documents), &documents)?;
    }

    #[test]
    fn any_text_is_imported(text in prop_oneof![any::<String>(), fragments(), changed(LOG)]) {
        let task = task_document("a", &text, &[("Tests pass".to_owned(), "make test".to_owned())]);
        let documents = [document(("a.ralph.md", &task))];
        holds(&parse_task(&documents), &documents)?;
    }
}

const LOG: &str = "build\tTest\t2026-01-01T10:00:01.1234567Z ##[group]Run npm test\nbuild\tTest\t2026-01-01T10:00:01.1234567Z shell: bash\nbuild\tTest\t2026-01-01T10:00:02.1234567Z Error: é ~~~~ `x`\nbuild\tTest\t2026-01-01T10:00:02.1234567Z ##[error]Process completed with exit code 1.\n";

/// A part of each format that can be repeated, between a beginning and an end.
const REPEATED: [(&str, [&str; 3]); 19] = [
    ("tasks.yaml", ["tasks:\n", "  - title: é\n    completed: true\n", ""]),
    ("tasks.yaml", ["tasks: [", "{title: é}, ", "]"]),
    (
        ".ralph/tasks.yml",
        ["tasks:\n  - name: a\n    subtasks:\n", "      - {id: '1', name: b, deps: ['1']}\n", ""],
    ),
    ("tasks.json", ["{\"tasks\": [", "{\"title\": \"é\"},", "]}"]),
    (".ralph/queue.jsonc", ["{\"tasks\": [", "{\"id\": \"a\", \"status\": \"todo\"},", "]}"]),
    (".ralph/agent/tasks.jsonl", ["", "{\"id\": \"a\", \"title\": \"é\", \"blocked_by\": [\"a\"]}\n", ""]),
    ("PRD.md", ["", "- [ ] **T1** é depends: T1, T2\n", ""]),
    ("PROGRESS.md", ["", "- [~] T01 é\n", ""]),
    ("docs/plans/a.md", ["", "### Task 1\n\n- [ ] `[ ]` é\n\n", ""]),
    (".ralphrc", ["QUALITY_GATES=\"", "test -f é; ", "\"\n"]),
    (".ralphrc", ["", "TEST_COMMAND=\"a\"\n", ""]),
    (".ralph.toml", ["verify_commands = [", "\"é\", ", "]\n"]),
    (
        ".ralph/verification.json",
        ["{\"verifiers\": [", "{\"type\": \"custom\", \"args\": {\"command\": \"é\"}},", "]}"],
    ),
    ("ralph.yml", ["event_loop:\n  prompt: |\n    # A\n\n    Done when:\n", "    - é: `$ x`\n", ""]),
    ("ralph.yml", ["backpressure:\n  gates:\n", "    - name: é\n      command: x\n", ""]),
    (".ralph/ralph-loop.state.json", ["{\"prompt\": \"Done when:\\n", "- é: `$ x`\\n", "\"}"]),
    ("RALPH.md", ["# A\n", "{{ contexts.a }} {{ b", "\n"]),
    ("RALPH.md", ["# A\n", "{{ contexts }}\n", "\n"]),
    ("RALPH.md", ["", "## Definition of done\n\n", ""]),
];

/// Eight times the text takes about eight times as long; quadratic would be 64 times.
#[test]
fn the_time_grows_with_the_size() {
    const MAX_RATIO: u32 = 28;
    for (path, [begin, unit, end]) in REPEATED {
        let text = |bytes: usize| format!("{begin}{}{end}", unit.repeat(bytes / unit.len()));
        let (small, large) = (text(10_000), text(80_000));
        let is_linear = || shortest(path, &large) < shortest(path, &small) * MAX_RATIO;
        // Other processes may fill the caches of the processor during one attempt.
        assert!((0..5).any(|_| is_linear()), "{path}: {unit:?}");
    }
}

/// The shortest processor time of three attempts.
fn shortest(path: &str, text: &str) -> Duration {
    let part = document((".ralphify/contexts/a/CONTEXT.md", "---\ncommand: x\n---\na\n"));
    let documents = [document((path, text)), part];
    let run = |_| {
        let started = thread_time();
        let task = parse_task(&documents);
        let time = thread_time().saturating_sub(started);
        assert!(holds(&task, &documents).is_ok(), "{path}");
        time
    };
    (0..3).map(run).min().unwrap_or_default()
}

fn thread_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}
