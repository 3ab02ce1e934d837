//! Asks the user a yes-or-no question, only if stdin and stderr are a terminal.

use std::io::{self, BufRead, IsTerminal, Write};

/// Whether a user can answer.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks on stderr, so that stdout contains only the requested output. Anything but a clear yes counts as no.
pub(crate) fn confirm(question: &str) -> io::Result<bool> {
    let mut stderr = anstream::stderr();
    write!(stderr, "{question} [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    let is_at_end = io::stdin().lock().read_line(&mut answer)? == 0;
    if is_at_end {
        // Without an answer, no Enter ended the line of the question.
        writeln!(stderr)?;
    }
    Ok(is_yes(&answer))
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::is_yes;

    #[test]
    fn only_an_explicit_yes_counts() {
        for answer in ["y\n", "Y", " yes \n", "YES"] {
            assert!(is_yes(answer), "{answer:?}");
        }
        for answer in ["", "\n", "n", "no", "yeah", "yy", "j", "1"] {
            assert!(!is_yes(answer), "{answer:?}");
        }
    }
}
