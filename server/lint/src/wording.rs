//! Finds words that no check can decide: measures without a number, and matters of taste. Only criteria without a check
//! are examined, because a check defines what its words mean.

mod frames;
mod judgement;
mod words;

use loopkeeper_text::tr;

use crate::{BetterLine, Lint, LintCode, LintContext, gate};

pub(crate) fn lint(context: &LintContext<'_>, index: usize) -> Option<Lint> {
    let criterion = context.criterion(index).filter(|it| it.check.is_none())?;
    let (code, word) = find_unmeasured_words(&criterion.name)?;
    let (fact, remedy) = match code {
        LintCode::Subjective => {
            (tr!("\"{word}\" is a matter of taste", word), tr!("Use `judge`, or describe the visible result"))
        }
        _ => (tr!("\"{word}\" cannot be measured", word), tr!("Name the input and the expected result")),
    };
    Some(Lint {
        code,
        criterion: index,
        place: context.place_of(criterion, word),
        fact,
        remedy,
        better: if code == LintCode::Subjective { BetterLine::Judge } else { BetterLine::Test },
    })
}

/// The first vague or subjective words of a sentence, as they are written there.
pub(crate) fn find_unmeasured_words(prose: &str) -> Option<(LintCode, &str)> {
    let subjective = words::find_subjective(prose).map(|it| (LintCode::Subjective, it));
    let found = subjective.or_else(|| words::find_vague(prose).map(|it| (LintCode::Vague, it)))?;
    // Most sentences have no such words and return above.
    let is_open_ended = ["possible", "尽可能", "尽量"].iter().any(|it| found.1.contains(it));
    let is_gate = || !is_open_ended && gate::gate_of_prose(prose).is_some_and(|it| it != gate::Gate::Build);
    let is_decided = words::is_measured(prose) || is_gate();
    (!is_decided).then_some(found)
}

/// Whether a sentence asks for more of something without a number: "make it faster", 更快.
pub fn has_unmeasured_goal(sentence: &str) -> bool {
    find_unmeasured_words(sentence).is_some() || words::compares(sentence) && !words::is_measured(sentence)
}

#[cfg(test)]
mod tests {
    use super::{find_unmeasured_words, has_unmeasured_goal};
    use crate::LintCode;

    #[test]
    fn words_without_a_measure_are_found() {
        let rows = [
            ("The API works well", Some("works well")),
            ("Errors are handled properly", Some("properly")),
            ("Handles edge cases", Some("Handles edge cases")),
            ("Code is clean", Some("Code is clean")),
            ("Follows best practices", Some("best practices")),
            ("Login works", Some("works")),
            ("Everything still works after the upgrade", Some("Everything still works")),
            ("The summary covers the main points", Some("covers the main points")),
            ("The page loads fast", Some("loads fast")),
            ("Add appropriate logging", Some("appropriate")),
            ("错误处理合理", Some("合理")),
            ("页面正常工作", Some("正常工作")),
            ("No regressions in existing functionality", Some("No regressions in existing functionality")),
            ("Everything is verified", Some("Everything is verified")),
            ("Dashboard is responsive", Some("is responsive")),
            ("The service scales to meet projected demand", Some("scales to meet projected demand")),
            (
                "Follows existing patterns from Header and Footer",
                Some("Follows existing patterns from Header and Footer"),
            ),
            ("No regressions in p95 latency above 5 %", None),
            ("The worker scales to zero when the queue is empty", None),
            ("The page loads in under 2 seconds", None),
            ("Shows \"no such user\" for unknown names", None),
            ("Returns 404 for unknown users", None),
            ("Clear button empties the form", None),
            ("Builds without errors", None),
            ("Typecheck passes", None),
            ("The cache is cleared on logout", None),
            ("Fast-forward merges are rejected", None),
            ("The hint reads \"the layout is calm\"", None),
            ("Smooth scrolling is off", None),
        ];
        for (prose, expect) in rows {
            assert_eq!(find_unmeasured_words(prose).map(|it| it.1), expect, "{prose}");
        }
    }

    #[test]
    fn goals_without_a_number_are_unmeasured() {
        let rows = [
            ("make the shop faster and cleaner", true),
            ("The build should be more reliable", true),
            ("Improve error handling", true),
            ("让商店更快，代码更干净", true),
            ("优化首页", true),
            ("Make the shop load in under 2 seconds, which is faster than now", false),
            ("Add a --json flag", false),
            ("Sort the list", false),
            ("为导出功能增加 CSV 格式", false),
            ("更新依赖", false),
            ("Speed the build up", true),
            ("Clean up", true),
        ];
        for (sentence, expect) in rows {
            assert_eq!(has_unmeasured_goal(sentence), expect, "{sentence}");
        }
    }

    #[test]
    fn matters_of_taste_are_subjective() {
        for prose in
            ["The UI is intuitive", "Looks good on mobile", "An elegant solution", "界面美观", "代码优雅"]
        {
            assert_eq!(find_unmeasured_words(prose).map(|it| it.0), Some(LintCode::Subjective), "{prose}");
        }
    }
}
