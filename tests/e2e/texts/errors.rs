//! Errors of wrong input: commands, arguments, tasks, settings.

use expect_test::expect_file;

use super::Transcript;
use crate::cli::Terminal;

const TASK: &str = "# Mend it\n\n## Done when\n\n- Tests pass: `$ true`\n";

#[test]
fn errors_of_commands_are_as_recorded() {
    let terminal = Terminal::new();
    terminal.file("PROMPT.md", TASK);
    let mut file = Transcript::default();
    let rows: &[&[&str]] = &[
        &["runn"],
        &["dance"],
        &["run", "--max-iteration", "3"],
        &["run", "PROMPT.md", "--prompt", "x"],
        &["run", "--criterion", "x"],
        &["run", "--prompt", "  "],
        &["run", "--prompt", "x", "--check", " "],
        &["run", "--agent", "nobody"],
        &["run", "--agent", "./agent.sh"],
        &["run", "--max-iterations", "0"],
        &["run", "--max-iterations", "many"],
        &["run", "--max-duration", "soon"],
        &["run", "--max-cost", "much"],
        &["stop", "--force"],
        &["rollback", "latest", "0", "--yes"],
        &["rollback", "latest", "start"],
        &["diff", "latest", "0"],
        &["log", "--prompt", "first"],
        &["steer"],
        &["reset", "agent"],
        &["check", "--format", "pdf"],
        &["completions", "tcsh"],
        &["hook", "keep"],
        &["import", "x"],
        &["import", "notes.md"],
        &["verify", "gone.md"],
        &["verify", "PROMPT.md"],
        &["skip", "PROMPT.md", "x"],
        &["prioritize", "PROMPT.md", "x", "1"],
        &["init"],
    ];
    for args in rows {
        file.run(&terminal, args);
    }
    expect_file!["errors-commands.txt"].assert_eq(&file.0);
}

#[test]
fn errors_without_a_loop_are_as_recorded() {
    let terminal = Terminal::new();
    let mut file = Transcript::default();
    for args in [
        &["status"][..],
        &["status", "20260101-aaaaaa"],
        &["log"],
        &["watch", "latest"],
        &["stop"],
        &["pause"],
        &["resume"],
        &["reset", "breaker"],
        &["steer", "latest", "x"],
        &["answer", "latest", "x"],
        &["accept"],
        &["rollback", "latest", "0"],
        &["diff", "latest"],
        &["receipt"],
        &["report"],
        &["export"],
        &["gc"],
    ] {
        file.run(&terminal, args);
    }
    expect_file!["errors-no-loop.txt"].assert_eq(&file.0);
}

/// Runs a command among these files.
fn among(file: &mut Transcript, files: &[(&str, &str)], args: &[&str]) {
    let terminal = Terminal::new();
    for (path, text) in files {
        terminal.file(path, text);
    }
    file.run(&terminal, args);
}

#[test]
fn errors_of_tasks_are_as_recorded() {
    let mut file = Transcript::default();
    among(&mut file, &[], &["run"]);
    among(&mut file, &[], &["check"]);
    among(&mut file, &[], &["trust"]);
    among(&mut file, &[("PROMPT.md", TASK)], &["run", "OTHER.md"]);
    among(&mut file, &[("a/PROMPT.md", TASK), ("b/RALPH.md", TASK)], &["run"]);
    among(&mut file, &[("PROMPT.md", "")], &["run", "--trust"]);
    let template = "# Say in one line what should be done\n\n## Done when\n\n- Tests pass: `$ true`\n";
    among(&mut file, &[("PROMPT.md", template)], &["run", "--trust"]);
    among(&mut file, &[("PROMPT.md", "# Mend it\n")], &["check"]);
    among(&mut file, &[("prd.json", "{\n\"userStories\": [ {")], &["run", "--trust"]);
    let near = "# Mend it\n\n## Done when\n\n- a: `exist x.txt`\n- b: `$make all`\n- c: `has x`\n- d: `$ a` and `$ b`\n\
                - e: `$ cov` `> = 3`\n- f: an odd ` backtick\n- g: `GET localhost`\n";
    among(&mut file, &[("PROMPT.md", near)], &["run", "--trust"]);
    among(&mut file, &[("PROMPT.md", near)], &["check", "--lint"]);
    among(&mut file, &[("PROMPT.md", TASK), ("loopkeeper.toml", "agent = \"gone\"\n")], &["run"]);
    among(&mut file, &[("QUEUE.md", "- [A](a.md) (after X)\n- buy milk\n")], &["run", "QUEUE.md"]);
    expect_file!["errors-tasks.txt"].assert_eq(&file.0);
}

#[test]
fn errors_of_settings_are_as_recorded() {
    let mut file = Transcript::default();
    for text in [
        "[limits\n",
        "agnet = \"mine\"\n",
        "iterations = 3\nlimits = 3\n",
        "[limits]\niterations = 0\nduration = \"soon\"\ncost_usd = -1\n",
        "[limits]\niterations = 3\niterations = 4\n",
        "[sandbox]\nkind = \"of\"\nnetwork = \"no\"\n",
        "[exit]\nwhen = \"plan and critera\"\n",
        "[questions]\npatience = \"5m\"\n",
        "[agents.mine]\ncommand = \"./agent.sh\"\n",
        "[agents.mine]\noutput = \"yaml\"\n",
        "max.iterations = 90\n",
        "[[serve]]\ncommand = [\"x\"]\n",
        "prompt.template = \"gone.md\"\n",
    ] {
        file.heading(&format!("loopkeeper.toml: {}", text.trim_end().replace('\n', " / ")));
        among(&mut file, &[("PROMPT.md", TASK), ("loopkeeper.toml", text)], &["run", "--trust"]);
    }
    expect_file!["errors-settings.txt"].assert_eq(&file.0);
}
