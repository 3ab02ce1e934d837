//! Signs by which an agent says it is done.

/// Whether the agent's own last message gives the promise.
pub fn promise(final_text: &str, expected: &str) -> bool {
    final_text.contains(&format!("<promise>{expected}</promise>"))
}
