//! Messages that the page for troubleshooting quotes are messages of the program.

use std::fs;
use std::path::Path;

use super::spans::Page;
use super::{pages, root};

/// Every source of the program and every recorded text, with spaces made equal.
fn texts(folder: &Path, found: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            texts(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs" || it == "txt") {
            let text = fs::read_to_string(&path).expect("a text").replace("\\\n", " ");
            found.push_str(&text.split_whitespace().collect::<Vec<_>>().join(" "));
            found.push('\n');
        }
    }
}

fn all_texts() -> String {
    let mut found = String::new();
    texts(&root().join("server"), &mut found);
    texts(&root().join("tests/e2e/texts"), &mut found);
    found
}

/// Quoted messages in the first cells of tables: spans with a space that are no commands.
fn messages(page: &Page) -> Vec<&str> {
    let first_spans = page.first_cells();
    first_spans.into_iter().filter(|it| it.contains(' ')).collect()
}

/// Messages of which some part is not a text of the program. `…` stands for what differs.
fn unknown<'a>(page: &'a Page, texts: &str) -> Vec<&'a str> {
    let is_known = |message: &str| message.split('…').all(|it| texts.contains(it.trim()));
    messages(page).into_iter().filter(|it| !is_known(it)).collect()
}

#[test]
fn every_message_for_troubleshooting_is_one_of_the_program() {
    let texts = all_texts();
    let names = ["server/guide/TROUBLESHOOTING.md", "server/guide/RECOVERY.md", "server/guide/FIRST-LOOP.md"];
    let pages = pages();
    let pages: Vec<&Page> = pages.iter().filter(|it| names.contains(&it.name.as_str())).collect();
    assert_eq!(pages.len(), names.len());
    let found: usize = pages.iter().map(|it| messages(it).len()).sum();
    assert!(found > 20, "only {found} messages were found");
    for page in pages {
        assert_eq!(unknown(page, &texts), [""; 0], "{}", page.name);
    }
}

#[test]
fn a_message_that_the_program_does_not_have_is_found() {
    let table =
        "| message | do |\n|---|---|\n| `there is no task in …` | `x y` |\n| `there is no wok in …` | |\n";
    let page = Page::new("page.md".to_owned(), table);
    assert_eq!(unknown(&page, &all_texts()), ["there is no wok in …"]);
}
