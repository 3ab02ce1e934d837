//! Who may know whom among the parts of the server, as ARCHITECTURE.md says it.

use std::fs;
use std::path::{Path, PathBuf};

/// From the lowest: each knows those before it alone.
const LAYERS: &[&str] = &["adapters", "hook", "acp", "keeper", "front", "lookout", "lsp", "cli"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

/// The parts above its own that a text of `layer` names.
fn reaches_up(layer: &str, text: &str) -> Vec<&'static str> {
    let own = LAYERS.iter().position(|it| *it == layer).unwrap();
    LAYERS[own + 1..].iter().filter(|above| names(text, above)).copied().collect()
}

fn names(text: &str, part: &str) -> bool {
    let is_it = |it: &str| it.split(|end: char| !end.is_alphanumeric() && end != '_').next() == Some(part);
    text.split("crate::").skip(1).any(|rest| match rest.strip_prefix('{') {
        Some(group) => group.split('}').next().unwrap_or_default().split(',').any(|it| is_it(it.trim())),
        None => is_it(rest),
    })
}

#[test]
fn no_part_of_the_server_knows_one_above_it() {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("server");
    for layer in LAYERS {
        let mut files = vec![server.join(layer).with_extension("rs")];
        sources(&server.join(layer), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            assert_eq!(reaches_up(layer, &text), [""; 0], "{}", file.display());
        }
    }
}

#[test]
fn a_part_that_knows_one_above_it_is_found() {
    for (layer, text, expect) in [
        ("adapters", "use crate::keeper::stage;", vec!["keeper"]),
        ("hook", "let a = crate::acp::WORD; crate::lsp::serve()", vec!["acp", "lsp"]),
        ("adapters", "use crate::{cli::run,\n    hook};", vec!["hook", "cli"]),
        ("keeper", "use crate::{adapters, acp};\nuse crate::hook;", vec![]),
        ("acp", "use crate::clipped;", vec![]),
    ] {
        assert_eq!(reaches_up(layer, text), expect, "{text}");
    }
}
