//! The content of one document before ids are assigned: the common result of all readers.

use std::collections::HashSet;
use std::ops::Range;

use super::grammar::{self, FaultSubject, ItemFault, ItemMode};
use super::item::InlineContent;
use super::{ContextPath, Finding, FindingCode, PlanItem, WrittenSetting};
use crate::criterion::{Criterion, CriterionId};
use loopkeeper_text::fold::folded;
use loopkeeper_text::truncate::shortened;
use loopkeeper_text::{DocumentRange, tr};

/// The setting that a section `May change` writes.
pub(super) const MAY_CHANGE: &str = "criteria.may_change";

#[derive(Debug, Default)]
pub(super) struct TaskOutline {
    pub(super) title: String,
    pub(super) promise: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) context: Vec<ContextPath>,
    pub(super) settings: Vec<WrittenSetting>,
    pub(super) criteria: Vec<CriterionDraft>,
    pub(super) plan: Vec<PlanItem>,
    pub(super) findings: Vec<Finding>,
    file: String,
}

/// A criterion whose id is not yet numbered.
#[derive(Debug)]
pub(super) struct CriterionDraft {
    pub(super) criterion: Criterion,
    /// Index of its item in the outline's plan.
    pub(super) plan: Option<usize>,
}

/// Properties of a criterion that come from its position.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CriterionOrigin {
    pub(super) ticked: Option<bool>,
    pub(super) plan: Option<usize>,
    pub(super) optional: bool,
}

impl TaskOutline {
    pub(super) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), ..Self::default() }
    }

    /// Relative to the root.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    pub(super) fn place(&self, range: Range<usize>) -> DocumentRange {
        DocumentRange { file: self.file.clone(), range }
    }

    /// `name: fact`, short enough for one line of an editor.
    pub(super) fn add_finding(&mut self, code: FindingCode, name: &str, fact: &str, range: Range<usize>) {
        let place = self.place(range);
        self.findings.push(Finding { code, message: message(name, fact), place, fix: None });
    }

    /// Reports keys of another tool without a counterpart, each with its range, once for all of them.
    pub(super) fn add_unsupported_keys(&mut self, keys: &[(String, Range<usize>)]) {
        let Some((_, first)) = keys.first() else { return };
        let mut seen = HashSet::new();
        let names = keys.iter().map(|(name, _)| name.as_str()).filter(|it| seen.insert(*it));
        let names: Vec<&str> = names.collect();
        self.add_finding(
            FindingCode::UnsupportedKeys,
            tr!("not used by loopkeeper"),
            &names.join(tr!(", ")),
            first.clone(),
        );
    }

    /// Adds judges that the task allows to change, globs separated by spaces.
    pub(super) fn allow_changes(&mut self, globs: &[String], range: Range<usize>) {
        if globs.is_empty() {
            return;
        }
        let value = globs.join(" ");
        if let Some(setting) = self.settings.iter_mut().find(|it| it.key == MAY_CHANGE) {
            setting.value.extend([" ", &value]);
        } else {
            let place = self.place(range);
            self.settings.push(WrittenSetting { key: MAY_CHANGE, value, place });
        }
    }

    pub(super) fn add_fault(&mut self, name: &str, fault: ItemFault) {
        let message = fault_message(name, &fault);
        let place = self.place(fault.range);
        self.findings.push(Finding { code: fault.code, message, place, fix: fault.fix });
    }

    /// Reads one item as a criterion and adds its faults.
    pub(super) fn add_criterion(
        &mut self,
        inline: &InlineContent<'_>,
        mode: ItemMode,
        origin: CriterionOrigin,
    ) {
        let item = grammar::parse_item(inline, mode);
        self.add_item(item, inline.range.clone(), origin);
    }

    pub(super) fn add_item(
        &mut self,
        item: grammar::ParsedItem,
        range: Range<usize>,
        origin: CriterionOrigin,
    ) {
        let grammar::ParsedItem { id, name, check, number_rules, attributes, faults } = item;
        for fault in faults {
            self.add_fault(&name, fault);
        }
        let criterion = Criterion {
            id: CriterionId(id),
            name: shortened(&name, NAME_CHARS).into_owned(),
            check,
            number_rules,
            required: !attributes.optional && !origin.optional,
            timeout_ms: attributes.timeout_ms,
            group: attributes.group,
            stage: attributes.stage,
            ticked: origin.ticked,
            plan_item: None,
            place: self.place(range),
        };
        self.criteria.push(CriterionDraft { criterion, plan: origin.plan });
    }
}

/// Maximum length of a displayed name: an item may be a line of a megabyte.
pub(super) const NAME_CHARS: usize = 200;
const MESSAGE_CHARS: usize = 100;
const FACT_CHARS: usize = MESSAGE_CHARS - 12;
/// Backticks around a code span, the colon after it and the final period.
const SPAN_FRAME: usize = 9;

/// The hint is omitted if there is no room for it.
fn fault_message(name: &str, fault: &ItemFault) -> String {
    let with_hint = fault.hint.as_ref().map(|it| tr!("{fact}. {hint}", fact = fault.fact, hint = it));
    let shown_fact = with_hint.filter(|it| it.chars().count() <= FACT_CHARS);
    let shown_fact = shown_fact.as_deref().unwrap_or(&fault.fact);
    match &fault.subject {
        FaultSubject::Item => message(name, shown_fact),
        FaultSubject::Span(code) => {
            let room = MESSAGE_CHARS.saturating_sub(shown_fact.chars().count() + SPAN_FRAME);
            message(&grammar::code_span(&shortened(code, room.max(SPAN_FRAME))), shown_fact)
        }
        FaultSubject::Sentence => with_end(&shortened(shown_fact, MESSAGE_CHARS - 1)),
    }
}

fn with_end(sentence: &str) -> String {
    if sentence.ends_with(['.', '?', '…', '。', '？']) {
        sentence.to_owned()
    } else {
        tr!("{sentence}.", sentence)
    }
}

fn message(name: &str, fact: &str) -> String {
    let fact = folded(fact);
    let fact = shortened(&fact, FACT_CHARS);
    let room = MESSAGE_CHARS - 3 - fact.chars().count();
    let name = folded(name);
    tr!("{name}: {sentence}", name = shortened(&name, room), sentence = with_end(&fact))
}
