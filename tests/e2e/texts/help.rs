//! `--help` of the program and of every subcommand.

use expect_test::expect_file;

use super::Transcript;
use crate::cli::Terminal;

/// The subcommands that a help lists, without `help` itself.
fn subcommands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|it| *it != "Commands:").skip(1).take_while(|it| !it.is_empty());
    let names = listed.filter(|it| it.starts_with("  ") && !it.starts_with("   "));
    let names = names.filter_map(|it| it.split_whitespace().next()).filter(|it| *it != "help");
    names.map(str::to_owned).collect()
}

#[test]
fn help_of_every_command_is_as_recorded() {
    let terminal = Terminal::new();
    let mut file = Transcript::default();
    file.run(&terminal, &["--help"]);
    for command in subcommands(&terminal.run(&["--help"]).stdout) {
        file.run(&terminal, &[&command, "--help"]);
        for nested in subcommands(&terminal.run(&[&command, "--help"]).stdout) {
            file.run(&terminal, &[&command, &nested, "--help"]);
        }
    }
    expect_file!["help.txt"].assert_eq(&file.0);
}
