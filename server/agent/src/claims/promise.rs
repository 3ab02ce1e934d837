//! Detects the promise tag in the agent's own last message. Mentions of the tag (quoted instructions, code, prose) are
//! not a claim.

use std::ops::Range;

use loopkeeper_text::pattern::ConstantPattern;

use super::prose_mask::{self, MessageLineKind};

const OPENING_TAG: &str = "<promise>";
const CLOSING_TAG: &str = "</promise>";

/// Whether the last isolated tag of the message contains exactly `expected`, ignoring whitespace.
///
/// A tag is isolated if it is alone on its line, or at the end of the message after a complete sentence.
pub fn promise(final_text: &str, expected: &str) -> bool {
    let expected = normalised(expected);
    if expected.is_empty() {
        return false;
    }
    let spoken = prose_mask::mask_lines(&prose_mask::lines(final_text), |_, line| {
        line.kind == MessageLineKind::Spoken
    });
    tags(&spoken).filter(|tag| is_separate(&spoken, tag)).last().is_some_and(|tag| {
        let inside =
            spoken.get(tag.start + OPENING_TAG.len()..tag.end - CLOSING_TAG.len()).unwrap_or_default();
        normalised(inside) == expected
    })
}

fn normalised(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Byte ranges of whole tags, from each `<promise>` to the next `</promise>`.
fn tags(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    text.match_indices(OPENING_TAG).filter_map(|(start, _)| {
        let end = start + text.get(start..)?.find(CLOSING_TAG)? + CLOSING_TAG.len();
        Some(start..end)
    })
}

fn is_separate(text: &str, tag: &Range<usize>) -> bool {
    let before = text.get(..tag.start).unwrap_or_default();
    let after = text.get(tag.end..).unwrap_or_default();
    let line_before = before.rsplit('\n').next().unwrap_or_default().trim_matches(decoration);
    let line_after = after.split('\n').next().unwrap_or_default().trim_matches(decoration);
    let alone = line_before.is_empty() && line_after.is_empty() && !is_instructed(before);
    let last = after.trim_matches(decoration).is_empty() && ends_a_sentence(line_before);
    alone || last
}

/// "When all pass, end with this line:" and the tag below it are an instruction, mostly that of the prompt.
fn is_instructed(before: &str) -> bool {
    static INSTRUCTION: ConstantPattern = ConstantPattern::new(
        r"(?i)\b(?:when|once|if|after|until|unless|end your|print|output|emit|respond|reply|write|say|include|end with)\b|输出|打印|当|时",
    );
    static FIRST_PERSON: ConstantPattern = ConstantPattern::new(r"(?i)\b(?:I|I'm|I've|we|now|hereby)\b|我");
    let above = before.lines().rev().map(|it| it.trim_matches(decoration)).find(|it| !it.is_empty());
    above
        .is_some_and(|it| it.ends_with([':', '：']) && INSTRUCTION.is_match(it) && !FIRST_PERSON.is_match(it))
}

/// Blanks and Markdown emphasis around a tag.
fn decoration(c: char) -> bool {
    c.is_whitespace() || matches!(c, '*' | '_')
}

/// "Done. `<tag>`" and "Done ✅ `<tag>`" are claims; "I will print `<tag>`" and "then print: `<tag>`" only mention it.
fn ends_a_sentence(text: &str) -> bool {
    text.chars().last().is_some_and(|c| {
        matches!(c, '.' | '!' | '…' | '。' | '！')
            || (!c.is_ascii() && !c.is_alphanumeric() && !is_bracket_or_comma(c))
    })
}

fn is_bracket_or_comma(c: char) -> bool {
    matches!(
        c,
        '“' | '”'
            | '‘'
            | '’'
            | '„'
            | '«'
            | '»'
            | '「'
            | '」'
            | '『'
            | '』'
            | '（'
            | '）'
            | '，'
            | '、'
            | '：'
            | '；'
            | '？'
            | '–'
            | '—'
            | '→'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::promise;

    fn check(text: &str, expect: bool) {
        assert_eq!(promise(text, "COMPLETE"), expect, "{text:?}");
    }

    #[test]
    fn a_tag_in_the_agents_own_words_is_a_claim() {
        check("<promise>COMPLETE</promise>", true);
        check("Everything passes.\n\n<promise>COMPLETE</promise>\n", true);
        check("All done. <promise>COMPLETE</promise>", true);
        check("All done! <promise>COMPLETE</promise>  \n\n", true);
        check("全部完成。<promise>COMPLETE</promise>", true);
        check("Done ✅ <promise>COMPLETE</promise>", true);
        check("**<promise>COMPLETE</promise>**", true);
        check("<promise>\n  COMPLETE\n</promise>", true);
        check("  <promise> COMPLETE </promise>", true);
        check("I said `<promise>` would come.\n<promise>COMPLETE</promise>", true);
        check("<promise>COMPLETE</promise>\nThe tests are in `tests/`.", true);
    }

    #[test]
    fn discussion_is_not_a_claim() {
        check("", false);
        check("COMPLETE", false);
        check("I will output <promise>COMPLETE</promise> when done.", false);
        check("I will output <promise>COMPLETE</promise>", false);
        check("When all pass, print: <promise>COMPLETE</promise>", false);
        check("Not yet, so no <promise>COMPLETE</promise>.", false);
        check("`<promise>COMPLETE</promise>`", false);
        check("``<promise>COMPLETE</promise>``", false);
        check("The tag is ` <promise>COMPLETE</promise>", false);
        check("```\n<promise>COMPLETE</promise>\n```", false);
        check("~~~\n<promise>COMPLETE</promise>\n~~~\nnot done", false);
        check("```\n<promise>COMPLETE</promise>", false);
        check("````\n```\n<promise>COMPLETE</promise>\n````", false);
        check("> <promise>COMPLETE</promise>", false);
        check("    <promise>COMPLETE</promise>", false);
        check("\"<promise>COMPLETE</promise>\"", false);
        check("(<promise>COMPLETE</promise>)", false);
        check("“<promise>COMPLETE</promise>", false);
        check("- <promise>COMPLETE</promise>", false);
        check(
            "When that is so, end your last message with this line alone:\n\n<promise>COMPLETE</promise>\n",
            false,
        );
        check("Once all pass, output:\n<promise>COMPLETE</promise>", false);
        check("全部完成时输出：\n<promise>COMPLETE</promise>", false);
        check(
            "When done, print:\n\n<promise>COMPLETE</promise>\n\nAll done.\n\n<promise>COMPLETE</promise>",
            true,
        );
        check("All criteria hold, so I now print:\n<promise>COMPLETE</promise>", true);
        check("Result:\n<promise>COMPLETE</promise>", true);
    }

    #[test]
    fn only_the_exact_promise_counts() {
        check("<promise>DONE</promise>", false);
        check("<promise>complete</promise>", false);
        check("<promise>NOT COMPLETE</promise>", false);
        check("<Promise>COMPLETE</Promise>", false);
        check("<promise>COMPLETE", false);
        check("<<promise>>COMPLETE<</promise>>", false);
        check("<<promise>COMPLETE</promise>>", false);
        check("<promise><promise>COMPLETE</promise></promise>", false);
        check("<promise>COMPLETE</promise><promise>COMPLETE</promise>", false);
        // The last isolated one decides.
        check("<promise>COMPLETE</promise>\n<promise>NOT YET</promise>", false);
        check("<promise>NOT YET</promise>\n<promise>COMPLETE</promise>", true);
        assert!(promise("<promise>all  tests\npass</promise>", "all tests pass"));
        assert!(!promise("<promise></promise>", ""));
    }

    proptest! {
        #[test]
        fn total_on_any_text(text in any::<String>(), expected in any::<String>()) {
            promise(&text, &expected);
        }

        #[test]
        fn nothing_inside_a_fence_claims(inside in "[a-z`\n]{0,40}") {
            // A fence longer than anything inside cannot be closed from within.
            let fence = "`".repeat(60);
            let text = format!("{fence}\n{inside}\n<promise>COMPLETE</promise>\n{fence}\n");
            assert!(!promise(&text, "COMPLETE"));
        }
    }
}
