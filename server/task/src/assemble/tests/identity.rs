//! Ids: which changes keep an id, and which create a new one.

use sha2::{Digest, Sha256};

use super::task;

fn ids(items: &[&str]) -> Vec<String> {
    let task = task("PROMPT.md", &format!("## Done when\n\n- {}\n", items.join("\n- ")));
    task.criteria.into_iter().map(|criterion| criterion.id.0).collect()
}

#[track_caller]
fn check_same(first: &str, second: &str) {
    assert_eq!(ids(&[first]), ids(&[second]), "{first} and {second}");
}

#[track_caller]
fn check_different(first: &str, second: &str) {
    assert_ne!(ids(&[first]), ids(&[second]), "{first} and {second}");
}

#[test]
fn rewording_keeps_the_id() {
    check_same("Tests pass: `$ cargo test`", "All the tests are green: `$ cargo test`");
    check_same("Tests pass: `$ cargo test`", "[x] Tests pass: `$   cargo  test ` (optional) (timeout 5m).");
    check_same("A: `$ x` `>= 80`", "B: `$ x` prints `>=80.0`");
    check_same("A: `has \"x\" src/**`", "B: `has  \"x\"  src/**`");
    check_same("Docs are good.", "[ ]  **Docs** are   good (optional)");
    check_same("Docs are good", "docs are good");
}

#[test]
fn another_check_makes_a_new_one() {
    check_different("A: `$ x`", "A: `$ y`");
    check_different("A: `$ x`", "A: `$ x` `exit 1`");
    check_different("A: `$ x` `/a/`", "A: `$ x` `/a/i`");
    check_different("A: `$ x` `/a/`", "A: `$ x` `!/a/`");
    check_different("A: `$ x` `== 1`", "A: `$ x` `>= 1`");
    check_different("A: `exists x`", "A: `missing x`");
    check_different("A: `exists x y`", "A: `exists \"x y\"`");
    check_different("A: `has \"x\" y`", "A: `has /x/ y`");
    check_different("A: `has \"x\" y`", "A: `lacks \"x\" y`");
    check_different("Docs are good", "Docs are better");
    check_different("`$ x`", "x");
}

/// Journals store these: a change of the canonical text would orphan every history.
#[test]
fn ids_are_hashes_of_a_stable_text() {
    let kept = [
        ("`$ cargo test`", "$\ncargo test"),
        ("`$ cov` `>= 80` `/ok/i` `!/no/` `exit 2`", "$\ncov\n>= 80\n/ok/i\n!/no/\nexit 2"),
        ("`exists a \"b c\"`", "exists\na\nb c"),
        ("`has \"x\" y`", "has\n\"x\"\ny"),
        ("`clean`", "clean"),
        ("Docs  are Good.", "prose\ndocs are good"),
    ];
    for (item, canonical) in kept {
        let digest = Sha256::digest(canonical.as_bytes());
        let hex = digest.iter().take(5).fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        assert_eq!(ids(&[item]), [hex], "{item}");
    }
    assert_eq!(ids(&["`$ cargo test`"]), ["71c683a4d6"]);
}

#[test]
fn repeats_are_numbered_in_document_order() {
    let found = ids(&["A: `$ x`", "b", "C: `$ x`", "D: `$ x`", "b"]);
    assert_eq!(found[2], format!("{}-2", found[0]));
    assert_eq!(found[3], format!("{}-3", found[0]));
    assert_eq!(found[4], format!("{}-2", found[1]));
}
