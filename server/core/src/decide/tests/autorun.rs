//! Files that are executed later without being asked, in the sentence of an end.

use crate::decide::sim::{Sim, Turn, criterion, spec};

fn sentence(turns: Vec<Turn>, more: impl Fn(&mut Sim)) -> String {
    let mut spec = spec(vec![criterion("tests pass", "make test")]);
    spec.settings.limits.iterations = 2;
    let mut sim = Sim::new(spec, "f", turns);
    more(&mut sim);
    sim.run().sentence()
}

fn changes(results: &'static str, files: &[&'static str]) -> Turn {
    Turn { changed: files.to_vec(), ..Turn::new(results) }
}

const NOTE: &str = "; 1 changed file runs later without being asked: .envrc (by a shell in this folder)";

#[test]
fn every_end_names_files_that_run_later() {
    let completed = sentence(vec![changes("p", &["src/a.rs", ".envrc"])], |_| ());
    assert!(completed.starts_with("completed, verified") && completed.ends_with(NOTE), "{completed}");
    let limit = sentence(vec![changes("f", &[".envrc"]), changes("f", &["src/a.rs"])], |_| ());
    assert!(limit.contains(NOTE), "{limit}");
    let none = sentence(vec![changes("p", &["src/a.rs"])], |_| ());
    assert!(!none.contains("without being asked"), "{none}");
}

#[test]
fn a_file_is_named_once() {
    let twice = sentence(vec![changes("f", &[".envrc"]), changes("p", &[".envrc"])], |_| ());
    assert!(twice.ends_with(NOTE), "{twice}");
}

#[test]
fn a_rollback_restores_no_files_of_git() {
    let mut spec = spec(vec![criterion("tests pass", "make test")]);
    spec.settings.limits.iterations = 1;
    let mut sim = Sim::new(spec, "f", vec![changes("f", &[".envrc", ".git/hooks/pre-push"])]).run();
    sim.state.history[0].rolled_back = true;
    let files: Vec<&str> = crate::decide::autorun_note::autorun_files(&sim.state).into_iter().collect();
    assert_eq!(files, [".git/hooks/pre-push"]);
}
