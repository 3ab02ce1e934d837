//! Validates `>= baseline`, `(rising)` and `(not falling)`: they need a command, whose number they compare.

use loopkeeper_text::tr;

use super::expectations::ParsedExpectation;
use super::{ItemAttributes, ItemFault, ItemParser};
use crate::FindingCode;
use crate::criterion::{Check, NumberRule};

impl ItemParser<'_> {
    /// The rules for the number of the check, those of code spans first.
    pub(super) fn number_rules(
        &mut self,
        check_at: Option<usize>,
        check: Option<&Check>,
        attributes: &ItemAttributes,
    ) -> Vec<NumberRule> {
        if !matches!(check, Some(Check::Command { .. })) {
            self.report_without_command(attributes);
            return Vec::new();
        }
        let later = self.spans.iter().skip(check_at.map_or(0, |at| at + 1));
        let mut rules: Vec<NumberRule> = Vec::new();
        let of_spans = later.filter_map(|seen| match seen.expectation {
            ParsedExpectation::Baseline(compare) => Some(NumberRule::Baseline { compare }),
            _ => None,
        });
        for rule in of_spans.chain(attributes.number_rules.iter().copied()) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        rules
    }

    fn report_without_command(&mut self, attributes: &ItemAttributes) {
        // The fault of the check is already reported.
        if self.faults.iter().any(|it| it.code == FindingCode::BadCheck) {
            return;
        }
        if let Some(rule) = attributes.number_rules.first() {
            let fact = tr!("`{rule}` needs a `$` command that prints a number", rule = rule.written());
            self.faults.push(ItemFault::new(FindingCode::BadValue, fact, &self.inline.range));
        }
    }
}
