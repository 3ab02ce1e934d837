//! How many criteria pass, as text: the single source for terminal, journal and editors. Required and
//! optional criteria are counted apart, so that an optional one never makes a verified task look unfinished.

use super::Status;
use loopkeeper_text::clauses::join_with_commas;
use loopkeeper_text::tr;

/// Counts of criteria by status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CriteriaTally {
    required: CriteriaCounts,
    optional: CriteriaCounts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct CriteriaCounts {
    passed: usize,
    failed: usize,
    /// Never run.
    unchecked: usize,
    /// Without a check: only a claim can support them.
    unverified: usize,
}

/// Whether criteria have to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CriteriaKind {
    Required,
    Optional,
}

impl CriteriaTally {
    /// `criteria`: for each criterion whether it is required, and its latest status; `None`: it was never run.
    pub fn of(criteria: impl IntoIterator<Item = (bool, Option<Status>)>) -> Self {
        let mut tally = Self::default();
        for (required, status) in criteria {
            let counts = if required { &mut tally.required } else { &mut tally.optional };
            *match status {
                Some(Status::Pass) => &mut counts.passed,
                Some(Status::Unverified) => &mut counts.unverified,
                Some(
                    Status::Fail
                    | Status::TimedOut
                    | Status::CouldNotRun
                    | Status::NoTestsRan
                    | Status::Unstable,
                ) => &mut counts.failed,
                None => &mut counts.unchecked,
            } += 1;
        }
        tally
    }

    /// Whether every required criterion passed.
    pub fn holds(&self) -> bool {
        self.required.passed == self.required.total()
    }

    /// Whether any check has run.
    pub fn is_judged(&self) -> bool {
        self.required.judged_count() + self.optional.judged_count() > 0
    }

    /// `3 of 5 criteria pass`; with optional ones `all 5 required pass, 1 optional not checked`; before the first
    /// check `6 criteria, not checked yet`.
    pub fn sentence(&self) -> String {
        let total = self.required.total() + self.optional.total();
        let unverified = self.required.unverified + self.optional.unverified;
        match (total, self.is_judged(), self.optional.total()) {
            (0, ..) => tr!("no criteria").to_owned(),
            (1, false, _) if unverified == 1 => tr!("1 criterion, without a check").to_owned(),
            (_, false, _) if unverified == total => tr!("{total} criteria, none with a check", total),
            (1, false, _) => tr!("1 criterion, not checked yet").to_owned(),
            (_, false, _) => tr!("{total} criteria, not checked yet", total),
            (1, true, 0) if self.required.passed == 1 => tr!("its one criterion passes").to_owned(),
            (1, true, 0) => tr!("its one criterion does not pass").to_owned(),
            (_, true, 0) => {
                let (passed, all) = (self.required.passed, self.required.total());
                self.required.with_unjudged(tr!("{passed} of {total} criteria pass", passed, total = all))
            }
            _ if self.required.total() == 0 => self.optional.describe(CriteriaKind::Optional),
            _ => join_with_commas([
                self.required.describe(CriteriaKind::Required),
                self.optional.describe(CriteriaKind::Optional),
            ]),
        }
    }

    /// `3/5 pass` for a status bar. Counts only the required criteria if there are any, so that a verified task never
    /// shows `5/6`. `not checked` before the first check; empty without anything to check.
    pub fn brief(&self) -> String {
        let counts = if self.required.total() > 0 { self.required } else { self.optional };
        match (self.is_judged(), self.required.unchecked + self.optional.unchecked) {
            (true, _) => tr!("{passed}/{total} pass", passed = counts.passed, total = counts.total()),
            (false, 0) => String::new(),
            (false, _) => tr!("not checked").to_owned(),
        }
    }

    /// `3 of 5 pass` of one round of checks, whose results are shown next to it; with optional ones as
    /// [`Self::sentence`].
    pub fn of_round(&self) -> String {
        match self.optional.total() {
            0 => {
                tr!("{passed} of {total} pass", passed = self.required.passed, total = self.required.total())
            }
            _ => self.sentence(),
        }
    }
}

impl CriteriaCounts {
    fn total(self) -> usize {
        self.judged_count() + self.unchecked + self.unverified
    }

    fn judged_count(self) -> usize {
        self.passed + self.failed
    }

    /// `all 5 required pass`, `3 of 5 required pass, 1 not checked`, `1 optional not checked`.
    fn describe(self, kind: CriteriaKind) -> String {
        use CriteriaKind::{Optional, Required};
        let (passed, total) = (self.passed, self.total());
        let passing = match (kind, passed, total) {
            (Required, 1, 1) => tr!("1 required passes").to_owned(),
            (Optional, 1, 1) => tr!("1 optional passes").to_owned(),
            (Required, ..) if passed == total => tr!("all {total} required pass", total),
            (Optional, ..) if passed == total => tr!("all {total} optional pass", total),
            (Required, 0, 1) if self.failed == 1 => tr!("1 required fails").to_owned(),
            (Optional, 0, 1) if self.failed == 1 => tr!("1 optional fails").to_owned(),
            (Required, ..) if self.unchecked == total => return tr!("{total} required not checked", total),
            (Optional, ..) if self.unchecked == total => return tr!("{total} optional not checked", total),
            (Required, ..) if self.unverified == total => {
                return tr!("{total} required without a check", total);
            }
            (Optional, ..) if self.unverified == total => {
                return tr!("{total} optional without a check", total);
            }
            (Required, ..) => tr!("{passed} of {total} required pass", passed, total),
            (Optional, ..) => tr!("{passed} of {total} optional pass", passed, total),
        };
        self.with_unjudged(passing)
    }

    /// Adds how many criteria no check has judged.
    fn with_unjudged(self, passing: String) -> String {
        let mut parts = vec![passing];
        if self.unchecked > 0 {
            parts.push(tr!("{count} not checked", count = self.unchecked));
        }
        if self.unverified > 0 {
            parts.push(tr!("{count} without a check", count = self.unverified));
        }
        join_with_commas(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::CriteriaTally;
    use crate::check::Status;
    use loopkeeper_text::language::Language;

    /// Letters of required criteria, then of optional ones: `p`assed, `f`ailed, `-` never run, `u`nverified.
    fn tally(required: &str, optional: &str) -> CriteriaTally {
        let status = |letter: char| match letter {
            'p' => Some(Status::Pass),
            'u' => Some(Status::Unverified),
            '-' => None,
            _ => Some(Status::Fail),
        };
        let required = required.chars().map(|it| (true, status(it)));
        CriteriaTally::of(required.chain(optional.chars().map(|it| (false, status(it)))))
    }

    #[test]
    fn sentences_name_the_criteria_that_they_count() {
        let check = |required: &str, optional: &str, expect: &str| {
            assert_eq!(tally(required, optional).sentence(), expect, "{required} {optional}");
        };
        check("", "", "no criteria");
        check("-", "", "1 criterion, not checked yet");
        check("------", "", "6 criteria, not checked yet");
        check("--u", "-", "4 criteria, not checked yet");
        check("u", "", "1 criterion, without a check");
        check("uu", "", "2 criteria, none with a check");
        check("p", "", "its one criterion passes");
        check("f", "", "its one criterion does not pass");
        check("ppppp", "", "5 of 5 criteria pass");
        check("ppff", "", "2 of 4 criteria pass");
        check("pf-u", "", "1 of 4 criteria pass, 1 not checked, 1 without a check");
        check("ppppp", "-", "all 5 required pass, 1 optional not checked");
        check("ppppp", "f", "all 5 required pass, 1 optional fails");
        check("ppppp", "pf", "all 5 required pass, 1 of 2 optional pass");
        check("pf", "pp", "1 of 2 required pass, all 2 optional pass");
        check("p", "p", "1 required passes, 1 optional passes");
        check("f", "p", "1 required fails, 1 optional passes");
        check("--", "p", "2 required not checked, 1 optional passes");
        check("", "pf", "1 of 2 optional pass");
        check("pu", "u", "1 of 2 required pass, 1 without a check, 1 optional without a check");
    }

    #[test]
    fn a_status_bar_counts_the_required_ones() {
        let check = |required: &str, optional: &str, expect: &str| {
            assert_eq!(tally(required, optional).brief(), expect, "{required} {optional}");
        };
        check("", "", "");
        check("u", "u", "");
        check("---", "", "not checked");
        check("-u", "-", "not checked");
        check("ppf", "", "2/3 pass");
        check("ppppp", "-", "5/5 pass");
        check("ppppp", "f", "5/5 pass");
        check("pf-u", "p", "1/4 pass");
        check("", "pf", "1/2 pass");
    }

    #[test]
    fn only_the_required_ones_decide() {
        assert!(tally("pp", "f-u").holds() && tally("", "").holds());
        assert!(!tally("pf", "p").holds() && !tally("p-", "").holds() && !tally("pu", "").holds());
    }

    #[test]
    fn a_round_counts_optional_criteria_separately() {
        assert_eq!(tally("pf", "").of_round(), "1 of 2 pass");
        assert_eq!(tally("pp", "f").of_round(), "all 2 required pass, 1 optional fails");
    }

    #[test]
    fn a_tally_is_in_the_language_of_the_process() {
        let check = |required: &str, optional: &str, expect: &str| {
            let sentence = Language::SimplifiedChinese.during(|| tally(required, optional).sentence());
            assert_eq!(sentence, expect, "{required} {optional}");
        };
        check("", "", "没有标准");
        check("------", "", "6 个标准，尚未检查");
        check("p", "", "唯一的标准通过");
        check("pf-u", "", "1/4 个标准通过，1 个未检查，1 个没有检查");
        check("ppppp", "-", "全部 5 个必需标准通过，1 个可选标准未检查");
        assert_eq!(Language::SimplifiedChinese.during(|| tally("ppf", "").brief()), "2/3 通过");
    }
}
