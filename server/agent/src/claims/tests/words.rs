//! Phrases that are indicators, phrases that mean *not yet*, and text that means neither.

use super::{claims, read};

/// Phrases that count, phrases too weak to count, and those that mean *not yet*.
fn check(text: &str, counts: &[&str], weak: &[&str], not_yet: &[&str]) {
    let claims = claims(text);
    let names = |wanted: bool| {
        let of = claims.indicators.iter().filter(move |it| it.counts() == wanted);
        of.map(|it| it.phrase.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(names(true), counts, "{text}\n{claims:#?}");
    assert_eq!(names(false), weak, "{text}\n{claims:#?}");
    let vetoes: Vec<&str> = claims.not_yet.iter().map(|it| it.phrase.as_str()).collect();
    assert_eq!(vetoes, not_yet, "{text}\n{claims:#?}");
}

fn counts(text: &str, phrase: &str) {
    check(text, &[phrase], &[], &[]);
}

fn nothing(text: &str) {
    check(text, &[], &[], &[]);
}

/// Nothing counts, for this reason, whatever else the message contains.
fn vetoes(text: &str, phrase: &str) {
    let claims = claims(text);
    assert_eq!(claims.indicators.iter().filter(|it| it.counts()).count(), 0, "{text}\n{claims:#?}");
    assert!(claims.not_yet.iter().any(|it| it.phrase == phrase), "{text}\n{claims:#?}");
}

#[test]
fn phrases_about_the_whole_count() {
    counts("Done.", "done");
    counts("Everything is done.", "project completed");
    counts("The task is complete.", "project completed");
    counts("Project completed successfully!", "project completed");
    counts("All tasks have been completed.", "project completed");
    counts("It is finished now.", "finished");
    counts("**Status:** Complete", "complete");
    counts("All features are implemented.", "all features implemented");
    counts("All 42 tests pass.", "all tests passing");
    counts("All unit tests are passing", "all tests passing");
    counts("The full test suite is green.", "all tests passing");
    counts("There are no errors.", "no errors");
    counts("It builds without errors.", "no errors");
    counts("Coverage target reached.", "coverage reached");
    counts("There is nothing left to do.", "nothing to do");
    counts("No changes were needed.", "nothing to do");
    counts("The feature was already implemented.", "already implemented");
    counts("The branch is ready for review.", "ready");
    counts("This is no longer incomplete; everything is done.", "project completed");
    counts("I did not touch the API and all tests pass.", "all tests passing");
    counts("Nothing was skipped: all tests pass.", "all tests passing");
    check(
        "All tests pass, no errors, project complete.",
        &["all tests passing", "no errors", "project completed"],
        &[],
        &[],
    );
    // Repeated, counted once.
    counts("All tests pass. I ran them again: all tests pass.", "all tests passing");
}

#[test]
fn negated_phrases_are_a_veto() {
    vetoes("The task is not done.", "not project completed");
    vetoes("This isn't complete.", "not complete");
    vetoes("This isn’t finished.", "not finished");
    vetoes("It was never finished.", "not finished");
    vetoes("Almost done.", "not done");
    vetoes("Nearly complete!", "not complete");
    vetoes("None of it is implemented.", "not implemented");
    vetoes("Not all tests pass.", "not all tests passing");
    vetoes("All tests are not passing.", "not all tests passing");
    vetoes("All tests pass except two.", "not all tests passing");
    vetoes("80% complete.", "not complete");
    vetoes("3/5 done.", "not done");
    vetoes("Completed 3 of 5.", "not complete");
    vetoes("Done: no", "not done");
    vetoes("The project is far from complete.", "not project completed");
    vetoes("The feature is incomplete.", "still open");
    vetoes("Two items are undone.", "still open");
    vetoes("There are still two tests failing.", "still open");
    vetoes("I could not complete the migration, and it isn't finished.", "not finished");
    vetoes("The docs are\nnot finished.", "not finished");
    vetoes("This has yet to be done.", "still open");
}

#[test]
fn phrases_of_unfinished_work_are_a_veto() {
    vetoes("Moving to next story.", "moving to next");
    vetoes("Moving on to the next task.", "moving to next");
    vetoes("Now working on the parser.", "now working on");
    vetoes("I'm currently working on US-003.", "now working on");
    vetoes("I will continue in the next iteration.", "still open");
    let veto = claims("Task complete. All tests pass. Moving to next task.");
    assert_eq!(veto.indicator_count(), 0);
    assert_eq!(veto.indicators.len(), 2);
    nothing("I am no longer working on it.");
    nothing("No unfinished items.");
}

#[test]
fn hypothetical_and_quoted_phrases_do_not_count() {
    nothing("");
    nothing("Once the tests pass, the task is complete.");
    nothing("When everything is done I will print the tag.");
    nothing("The task is done when all tests pass.");
    nothing("If all tests pass, we are finished.");
    nothing("This will be done later.");
    nothing("It should be complete by then.");
    nothing("Two things need to be done.");
    nothing("I want to complete the parser.");
    nothing("Is it done?");
    nothing("Are all tests passing?");
    nothing("I think it is complete.");
    nothing("Make sure all tests pass.");
    nothing("`done`");
    nothing("```\nall tests passing\ndone\n```");
    nothing("> All tasks are complete.");
    nothing("The criterion \"all tests pass\" is checked by a script.");
    nothing("The criterion “project complete” stays.");
    nothing("The prompt says 'all done' is the phrase.");
    nothing("- [ ] all tests pass");
    nothing("| parser | done |");
    nothing("The function is_complete returns a bool, see done.rs.");
    nothing("I made a complete list.");
    nothing("Ready to start on the parser.");
    nothing("The condone clause was abandoned.");
    nothing("Please output exactly: all tests pass");
}

#[test]
fn phrases_about_a_part_are_weak() {
    let weak = |text: &str, phrase: &str| check(text, &[], &[phrase], &[]);
    weak("I finished the parser.", "finished");
    weak("Implemented the login form.", "implemented");
    weak("Step 2 is done.", "done");
    weak("Phase one is complete.", "complete");
    weak("- [x] Login form done", "done");
    weak("- Parser: done", "done");
    weak("Done with the first module.", "done");
    weak("## Done", "done");
    weak("Completed:", "complete");
    weak("Task 3 is complete.", "project completed");
    weak("The first story is finished.", "finished");
    weak("README is up to date.", "up to date");
}

#[test]
fn chinese_phrases_count() {
    counts("任务已完成。", "project completed");
    counts("项目完成", "project completed");
    counts("全部完成！", "project completed");
    counts("所有任务均已完成。", "project completed");
    counts("所有功能已实现。", "all features implemented");
    counts("所有测试通过。", "all tests passing");
    counts("测试全部通过", "all tests passing");
    counts("没有错误。", "no errors");
    counts("覆盖率已达到。", "coverage reached");
    counts("准备就绪。", "ready");
    counts("已经实现。", "already implemented");
    counts("当前任务已完成。", "project completed");
    vetoes("任务没有完成。", "not project completed");
    vetoes("尚未完成。", "still open");
    vetoes("还没做完。", "still open");
    vetoes("任务未完成", "not project completed");
    vetoes("测试没有全部通过，所有测试不通过。", "not all tests passing");
    vetoes("接下来处理登录。", "moving to next");
    vetoes("正在处理登录。", "now working on");
    nothing("即将完成。");
    nothing("如果所有测试通过，任务就完成。");
    nothing("完成了吗？");
    nothing("「全部完成」是一个词。");
    check("第一步已完成。", &[], &["complete"], &[]);
}

#[test]
fn phrases_of_the_user_count() {
    let words = [
        ("Ship it".to_owned(), 90),
        ("收工".to_owned(), 70),
        ("done".to_owned(), 0),
        ("maybe so".to_owned(), 30),
    ];
    let read = |text: &str| read(text, "", &words);
    assert_eq!(read("ship it!").indicator_count(), 1);
    assert_eq!(read("Do not ship it.").indicator_count(), 0);
    assert_eq!(read("收工。").indicator_count(), 1);
    assert_eq!(read("Done.").indicators, []);
    let weak = read("Maybe so.");
    assert_eq!((weak.indicators.len(), weak.indicator_count()), (1, 0));
}
