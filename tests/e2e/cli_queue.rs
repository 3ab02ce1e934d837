//! Several tasks in a row: `run A B C` and `run QUEUE.md`.

use crate::cli::Terminal;

/// Does what the first line of its prompt names, and keeps the prompt of the second task. `Refuse` does nothing.
const AGENT: &str = r#"agent = "mine"
agents.mine.command = ["sh", "agent.sh"]
limits.iterations = 2
breaker.no_progress = 9
breaker.fast_failures = 9
"#;
const SCRIPT: &str = r##"cat > told
case "$(head -n 1 told)" in
"# First"*) echo "$LOOPKEEPER_ITERATION" > first; echo "Decision: names are short" ;;
"# Second"*) cp told second ;;
"# Third"*) echo third > third ;;
"# Greedy"*) printf '# Second\n\n## Done when\n\n- it is there: `exists told`\n' > b.ralph.md; echo greedy > greedy ;;
"# Refuse"*) echo "$RANDOM" >> noise ;;
esac
"##;

fn task(title: &str, file: &str) -> String {
    format!("# {title}\n\n## Done when\n\n- it is there: `exists {file}`\n")
}

fn world() -> Terminal {
    let terminal = Terminal::new();
    terminal.file("loopkeeper.toml", AGENT).file("agent.sh", SCRIPT);
    terminal.file("a.ralph.md", &task("First", "first")).file("b.ralph.md", &task("Second", "second"));
    terminal.file("c.ralph.md", &task("Third", "third"));
    terminal
}

#[test]
fn each_task_ends_before_the_next_and_hands_over() {
    let terminal = world();
    let ran = terminal.run(&["run", "a.ralph.md", "b.ralph.md", "--trust"]);
    ran.expect(0)
        .out("Task 1 of 2: a.ralph.md")
        .out("Task 2 of 2: b.ralph.md")
        .out("2 of 2 tasks completed, in ");
    let prompt = terminal.read("second");
    for part in ["## Tasks before this one", "- First: ", "  - decided: names are short"] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    assert!(!terminal.read("second").contains("- Second: "), "not of itself");
    terminal.run(&["status", "--json"]).expect(0).out("a.ralph.md").out("b.ralph.md");
}

#[test]
fn a_failed_task_blocks_those_that_wait_for_it_and_no_others() {
    let terminal = world();
    terminal.file("a.ralph.md", &task("Refuse", "never"));
    terminal.file(
        "plans/QUEUE.md",
        "# Night\n\n- [A](../a.ralph.md)\n- [B](../b.ralph.md) (after A)\n- [C](../c.ralph.md)\n",
    );
    let ran = terminal.run(&["run", "plans/QUEUE.md", "--trust"]);
    ran.expect(4).out("1 of 3 tasks completed").out("✗ A: ").out("✓ C: ");
    ran.out("✗ B: not started: it waits for A, which is not completed");
    assert!(!terminal.root().join("second").exists());
}

#[test]
fn an_unrunnable_queue_is_refused_before_the_first_start() {
    let check = |queue: &str, words: &[&str]| {
        let terminal = world();
        terminal.file("QUEUE.md", queue);
        let ran = terminal.run(&["run", "QUEUE.md", "--trust"]);
        ran.expect(2);
        for word in words {
            ran.err(word);
        }
        assert!(!terminal.root().join("told").exists(), "{queue}");
    };
    check("- [A](a.ralph.md)\n- [B](b.ralph.md) (after X)\n", &["QUEUE.md:2: there is no task `X` here"]);
    check(
        "- [A](a.ralph.md) (after B)\n- [B](b.ralph.md) (after A)\n",
        &["QUEUE.md:1: tasks depend on each other: A, B"],
    );
    check("- [A](a.ralph.md)\n- [B](missing.md)\n", &["QUEUE.md:2: there is no file missing.md"]);
    let terminal = world();
    let pipe = std::process::Command::new("mkfifo").arg(terminal.root().join("QUEUE.md")).status();
    assert!(pipe.unwrap().success());
    terminal.run(&["run", "QUEUE.md"]).expect(2).err("QUEUE.md is not a regular file");
    check("# Nothing\n", &["QUEUE.md lists no task", "`- [Title](path/to/PROMPT.md)`"]);
    let terminal = world();
    terminal.run(&["run", "a.ralph.md", "b.ralph.md"]).expect(5).err("not trusted: nothing was started");
    terminal.run(&["run", "a.ralph.md", "b.ralph.md", "--detach"]).expect(2).err("--detach starts one task");
    assert!(!terminal.root().join("told").exists());
}

#[test]
fn faults_of_a_queue_are_linted_at_their_lines() {
    let terminal = world();
    terminal.file("QUEUE.md", "- [A](a.ralph.md)\n- [B](b.ralph.md) (after X)\n- [C](gone.md)\n");
    let ran = terminal.run(&["check", "QUEUE.md", "--lint"]);
    ran.expect(2).out("QUEUE.md:2:26: bad-value: there is no task `X` here");
    ran.out("QUEUE.md:3:4: bad-value: there is no file gone.md").out("QUEUE.md: tasks in this queue: 3");
    terminal
        .run(&["check", "QUEUE.md", "--lint", "--format", "github"])
        .expect(2)
        .out("::error file=QUEUE.md,line=2,");
    terminal.file("QUEUE.md", "- [A](a.ralph.md)\n");
    terminal.run(&["check", "QUEUE.md", "--lint", "--json"]).expect(0).out("\"remarks\":[]");
}

#[test]
fn all_tasks_share_one_budget() {
    let terminal = world();
    terminal.file("a.ralph.md", &task("Refuse", "never"));
    let ran = terminal.run(&["run", "a.ralph.md", "b.ralph.md", "--max-iterations", "2", "--trust"]);
    ran.expect(4)
        .out("✗ b.ralph.md: not started: the budget of the queue is used: its iteration limit is reached");
    // Control: tasks that need one iteration each.
    let ran = terminal.run(&["run", "c.ralph.md", "b.ralph.md", "--max-iterations", "2", "--trust"]);
    ran.expect(0).out("2 of 2 tasks completed");
}

#[test]
fn an_agent_does_not_change_what_decides_a_later_task() {
    let terminal = world();
    terminal.file("a.ralph.md", &task("Greedy", "greedy"));
    let ran = terminal.run(&["run", "a.ralph.md", "b.ralph.md", "--trust"]);
    ran.expect(5).out("✗ b.ralph.md: not started: its criteria changed since the queue started");
}

#[test]
fn a_dry_run_shows_every_task_in_order() {
    let terminal = world();
    terminal.file("night.queue.md", "- [B](b.ralph.md) (after A)\n- [A](a.ralph.md)\n");
    let ran = terminal.run(&["run", "night.queue.md", "--dry-run"]);
    ran.expect(0);
    let (first, second) = (ran.stdout.find("a.ralph.md").unwrap(), ran.stdout.find("b.ralph.md").unwrap());
    assert!(first < second, "{}", ran.stdout);
    assert!(!terminal.root().join("told").exists());
}
