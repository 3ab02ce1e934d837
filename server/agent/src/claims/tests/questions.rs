//! Which messages ask the user for something.

use super::claims;

fn asks(text: &str, expect: &str) {
    assert_eq!(claims(text).question.as_deref(), Some(expect), "{text}");
}

fn asks_nothing(text: &str) {
    assert_eq!(claims(text).question, None, "{text}");
}

#[test]
fn questions_to_the_user_are_found() {
    asks("I found two ways. Should I use SQLite or Postgres?", "Should I use SQLite or Postgres?");
    asks("Which approach do you prefer?\n\n1. A\n2. B\n", "Which approach do you prefer?");
    asks("Please confirm that the table may be dropped.", "Please confirm that the table may be dropped.");
    asks("I am waiting for your input.", "I am waiting for your input.");
    asks("What is the API key for staging?", "What is the API key for staging?");
    asks("May I delete `old.rs`?", "May I delete `old.rs`?");
    asks("Do you want me to continue with the migration?", "Do you want me to continue with the migration?");
    asks("请确认是否删除旧表。", "请确认是否删除旧表。");
    asks("要不要我升级依赖？", "要不要我升级依赖？");
    asks("您希望使用哪种方案？", "您希望使用哪种方案？");
    asks(
        "Should I keep the old API? Or would you rather drop it?",
        "Should I keep the old API? Or would you rather drop it?",
    );
}

#[test]
fn answered_and_rhetorical_questions_do_not_count() {
    asks_nothing("");
    asks_nothing("Everything is done. Let me know if you need anything else.");
    asks_nothing("All tests pass. Is there anything else?");
    asks_nothing("All tasks are complete. Would you like me to add more tests?");
    asks_nothing("Why did it fail? Because the lock was held. It works now.");
    asks_nothing("Should I use SQLite? I decided to use Postgres.");
    asks_nothing("```\nShould I go on?\n```");
    asks_nothing("> Should I go on?");
    asks_nothing("The dialog shows \"Should I go on?\" now.");
    asks_nothing("`Which one?`");
    asks_nothing("The prompt now ends in a question mark.");
    asks_nothing(
        "Should I ask? A. B one. C two. D three. E four. F five. I wrote it. It runs. It holds. It is fast. Fine.",
    );
    asks_nothing("如有问题请随时告诉我。");
    asks_nothing("Feel free to ask. Do you have any questions?");
}

#[test]
fn long_questions_are_cut() {
    let text = format!("Should I use {}?", "very ".repeat(300));
    let question = claims(&text).question.unwrap();
    assert!(question.chars().count() <= 500, "{question}");
}
