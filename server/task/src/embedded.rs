//! Finds the prompt in a configuration or state file of another tool: its text, and the range of that text in the file.

mod loop_state;

use std::ops::Range;

use loopkeeper_text::yaml;

use super::kind::{DocumentKind, kind_of};
use super::markdown;
use super::outline::TaskOutline;
use super::prd;

pub(super) use loop_state::parse_loop_state;

/// The key of `ralph.yml` that contains a prompt.
const ORCHESTRATOR_PROMPT: &str = "event_loop.prompt";

#[derive(Debug)]
pub(super) struct EmbeddedPrompt {
    pub(super) text: String,
    /// Offsets of each line in `text` and in the file. Empty if the file writes the text in another form, such as with
    /// escapes: then each of its positions is the whole value.
    lines: Vec<(usize, usize)>,
    value: Range<usize>,
}

/// Whether the text makes a document of this kind a task ([`DocumentKind::needs_text`]).
pub fn is_task_text(kind: DocumentKind, text: &str) -> bool {
    match kind {
        // `CLAUDE.md` can also be the memory of a project with stories.
        DocumentKind::StoryPrompt => {
            text.contains("prd.json") && text.contains("<promise>") || is_playbook(text)
        }
        DocumentKind::TaskQueue => prd::may_have_stories(text),
        DocumentKind::FeatureList => prd::may_have_features(text),
        DocumentKind::TaskPrompt => {
            let outline = markdown::parse_markdown("", text, markdown::DocumentRole::Prompt);
            !outline.criteria.is_empty() || outline.promise.is_some()
        }
        DocumentKind::BoxPlan
        | DocumentKind::TodoPlan
        | DocumentKind::SpecKitTasks
        | DocumentKind::KiroTasks
        | DocumentKind::RequirementsPart => !markdown::parse_plan("", text, None).plan.is_empty(),
        // A damaged file never counts as one without a prompt.
        DocumentKind::LoopState if loop_state::is_damaged(text) => true,
        _ => find_prompt(kind, text).is_some(),
    }
}

/// A prompt of numbered steps that begin with studying the specifications, and that names its plan.
fn is_playbook(text: &str) -> bool {
    let names_plan = ["fix_plan.md", "IMPLEMENTATION_PLAN.md"].iter().any(|it| text.contains(it));
    names_plan && text.trim_start_matches('\u{feff}').trim_start().starts_with("0a.")
}

/// The value of the prompt's key, unless it is blank.
fn find_prompt(kind: DocumentKind, text: &str) -> Option<(String, Range<usize>)> {
    let found = match kind {
        DocumentKind::OrchestratorConfig => {
            let prompt = yaml::scalars(text).into_iter().find(|it| it.path == ORCHESTRATOR_PROMPT)?;
            Some((prompt.value, prompt.range))
        }
        DocumentKind::LoopState => loop_state::prompt(text),
        _ => None,
    };
    found.filter(|(prompt, _)| !matches!(prompt.trim(), "" | "~" | "null"))
}

impl EmbeddedPrompt {
    /// The prompt in the text of the file at `path`.
    pub(super) fn of(path: &str, document: &str) -> Option<Self> {
        let kind = kind_of(path).filter(|it| it.is_embedded())?;
        let (text, value) = find_prompt(kind, document)?;
        let written = document.get(value.clone()).unwrap_or_default();
        let lines = line_offsets(&text, written, value.start).unwrap_or_default();
        Some(Self { text, lines, value })
    }

    /// Changes the positions in the prompt to those in the file.
    pub(super) fn relocate(&self, outline: &mut TaskOutline) {
        for finding in &mut outline.findings {
            // A replacement of several lines would lack their indentation.
            finding.fix = finding.fix.take().filter(|it| !self.lines.is_empty() && !it.contains('\n'));
        }
        let criteria = outline.criteria.iter_mut().map(|it| &mut it.criterion.place);
        let places = criteria
            .chain(outline.plan.iter_mut().map(|it| &mut it.place))
            .chain(outline.context.iter_mut().map(|it| &mut it.place))
            .chain(outline.settings.iter_mut().map(|it| &mut it.place))
            .chain(outline.findings.iter_mut().map(|it| &mut it.place));
        places.for_each(|it| it.range = self.range_in_file(&it.range));
    }

    fn range_in_file(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.offset_in_file(range.start);
        // The end of a line is in that line, not at the start of the next one.
        let end = range.end.checked_sub(1).filter(|it| *it >= range.start);
        let end = end.map_or(start, |it| self.offset_in_file(it).map(|it| it + 1));
        match (start, end) {
            (Some(start), Some(end)) => start..end.min(self.value.end).max(start),
            _ => self.value.clone(),
        }
    }

    fn offset_in_file(&self, at: usize) -> Option<usize> {
        let line = self.lines.partition_point(|(start, _)| *start <= at).checked_sub(1)?;
        let (start, in_file) = self.lines.get(line)?;
        Some((in_file + at - start).min(self.value.end))
    }
}

/// Finds each line of `text` in `written`, which is at `offset` in the file. `None`: they differ in more than
/// indentation and quotes.
fn line_offsets(text: &str, written: &str, offset: usize) -> Option<Vec<(usize, usize)>> {
    let is_quotes = |it: &str| it.trim().trim_matches(['"', '\'']).is_empty();
    let mut rest = written;
    if written.starts_with(['|', '>']) {
        rest = rest.split_once('\n')?.1;
    }
    let mut offsets = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let whole = rest.split_inclusive('\n').next()?;
        let content = line.trim_end_matches(['\n', '\r']);
        let indent = whole.find(content)?;
        let (before, behind) = (whole.get(..indent)?, whole.get(indent + content.len()..)?);
        if !is_quotes(before) || !is_quotes(behind) {
            return None;
        }
        offsets.push((at, offset + written.len() - rest.len() + indent));
        at += line.len();
        rest = rest.get(whole.len()..)?;
    }
    Some(offsets)
}

#[cfg(test)]
mod tests {
    use crate::criterion::Check;
    use crate::{TaskDocument, parse_task};

    fn document(path: &str, text: &str) -> TaskDocument {
        TaskDocument { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn the_prompt_of_a_configuration_is_the_task() {
        let text = "event_loop:\n  prompt: |\n    # Shöp\n\n    Make it sell.\n\n    ## Done when\n\n    - it sells: `exists sold`\n    - `exist x`\n  max_iterations: 4\nbackpressure:\n  gates:\n    - name: test\n      command: cargo test --all\n      on_fail: Fix it.\n";
        let task = parse_task(&[document("ralph.yml", text)]);
        assert_eq!(task.title, "Shöp");
        assert!(task.prompt.starts_with("# Shöp\n\nMake it sell.\n"), "{}", task.prompt);
        let places: Vec<&str> = task.criteria.iter().map(|it| &text[it.place.range.clone()]).collect();
        assert_eq!(places, ["it sells: `exists sold`", "`exist x`", "cargo test --all"]);
        let finding = &task.findings[0];
        assert_eq!(
            (&text[finding.place.range.clone()], finding.fix.as_deref()),
            ("`exist x`", Some("`exists x`"))
        );
        let command = Check::Command { command: "cargo test --all".to_owned(), expect: Vec::new() };
        assert_eq!((task.criteria[2].name.as_str(), &task.criteria[2].check), ("test", &Some(command)));
    }

    #[test]
    fn a_prompt_in_another_form_is_at_its_value() {
        let check = |text: &str, prompt: &str, place: &str| {
            let task = parse_task(&[document("ralph.yml", text)]);
            assert_eq!(task.prompt, prompt, "{text}");
            let finding = task.findings.first().expect("no criteria");
            assert_eq!(&text[finding.place.range.clone()], place, "{text}");
        };
        check("event_loop: {prompt: \"Make it.\"}\n", "Make it.", "Make it.");
        check("event_loop:\n  prompt: \"Make\\tit.\"\n", "Make\tit.", "\"Make\\tit.\"");
        check("event_loop:\r\n  prompt: |\r\n    Make it.\r\n    Now.\r\n", "Make it.\nNow.\n", "Make it.");
    }

    #[test]
    fn the_prompt_of_a_loop_is_the_task_and_its_boxes_are_the_plan() {
        let state = "{\"active\": true, \"iteration\": 3, \"maxIterations\": 7, \"completionPromise\": \"SHIPPED\", \"prompt\": \"Sell.\", \"agent\": \"codex\", \"model\": \"m\", \"rotation\": [\"a\"], \"abortPromise\": null}";
        let plan = "# Ralph Tasks\n\n- [ ] Sell\n  - [/] Count\n- [x] Open\n";
        let task = parse_task(&[
            document(".ralph/ralph-loop.state.json", state),
            document(".ralph/ralph-tasks.md", plan),
        ]);
        assert_eq!((task.prompt.as_str(), task.promise.as_deref()), ("Sell.", Some("SHIPPED")));
        let settings: Vec<_> = task.settings.iter().map(|it| (it.key, it.value.as_str())).collect();
        assert_eq!(settings, [("limits.iterations", "7"), ("agent", "codex")]);
        let content: Vec<&str> = task.findings.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(
            content,
            [
                "loop of the other tool: active at iteration 3. End it before you start one here.",
                "not used by loopkeeper: model, rotation."
            ]
        );
        let boxes: Vec<_> = task.plan.iter().map(|it| (it.title.as_str(), it.done)).collect();
        assert_eq!(boxes, [("Sell", false), ("Count", false), ("Open", true)]);
        assert_eq!(&plan[task.plan[1].place.range.clone()], "Count");
    }

    #[test]
    fn gates_beside_a_task_are_its_checks() {
        let config = "backpressure:\n  gates:\n    - name: fmt\n      command: cargo fmt --check\n    - command: cargo test\n";
        let task = parse_task(&[document("PROMPT.md", "# Shop\n"), document("ralph.yml", config)]);
        let names: Vec<&str> = task.criteria.iter().map(|it| it.name.as_str()).collect();
        assert_eq!((task.title.as_str(), names), ("Shop", vec!["fmt", "cargo test"]));
    }
}
