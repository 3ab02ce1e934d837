//! Detects tasks for which a loop is the wrong tool: nothing to verify, no end, or less work than a loop costs.

use std::sync::LazyLock;

use loopkeeper_task::Task;
use loopkeeper_text::tr;
use regex::Regex;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsuitability {
    /// No criterion and no plan.
    NothingVerifiable,
    /// Explores instead of building.
    Exploratory,
    /// Has no end.
    Unbounded,
    /// One line to change.
    Trivial,
}

impl Unsuitability {
    /// One stable word.
    pub fn word(self) -> &'static str {
        match self {
            Self::NothingVerifiable => "nothing-verifiable",
            Self::Exploratory => "exploratory",
            Self::Unbounded => "unbounded",
            Self::Trivial => "trivial",
        }
    }

    /// The fact and the remedy, as two sentences without periods.
    pub fn sentences(self) -> (&'static str, &'static str) {
        match self {
            Self::NothingVerifiable => (
                tr!("nothing in it can be verified"),
                tr!("Add a criterion with a check under \"Done when\""),
            ),
            Self::Exploratory => (
                tr!("exploring has no result that a check can decide"),
                tr!("Ask for a document and check its sections"),
            ),
            Self::Unbounded => (tr!("the work has no end"), tr!("State a goal with a number")),
            Self::Trivial => (tr!("a one-line change needs no loop"), tr!("Ask the agent once")),
        }
    }
}

static EXPLORATORY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(please\s+)?(explore|spike|investigate|brainstorm|research|look into|figure out|think about|find out|understand|play (around )?with|experiment with|see (if|whether|what)|evaluate (options|whether|different)|come up with)\b|^\W*(why|how|what|which|where|should|could)\b.*\?\s*$|^\W*(为什么|为何|如何|怎么|怎样|是否).*[?？]\s*$|^\W*(调研|探索|研究一下|看看|想想|思考|了解一下|头脑风暴|尝试一下)").ok()
});
static UNBOUNDED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(improve|refactor|optimi[sz]e|clean up|fix|polish|enhance|modernize|rewrite|test|document) (everything|all (the )?(code|things|bugs|issues)|the (whole|entire|full) (code ?base|project|repo(sitory)?|app|system)|the code ?base)\b|\bkeep (improving|going|optimi[sz]ing|refactoring|adding|working)\b|\bas (much|many|good|fast|well) as (possible|you can)\b|\buntil (it is |it's )?(perfect|no (more )?(bugs|improvements)|you are (happy|satisfied)|there is nothing)\b|\bmake (it|the \w+|everything) (better|perfect|great|awesome|nicer|faster|cleaner|simpler)\b|\bkeep (\S+ ){1,4}(current|up[- ]to[- ]date|updated|fresh)\b|\bcontinuously\b|\bforever\b|\bendless(ly)?\b|持续(优化|改进)|不断(优化|改进)|全面(优化|重构)|保持.{1,12}最新|尽可能多|重构整个|优化整个|修复所有").ok()
});
static TRIVIAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(please\s+)?(fix (a |the |this )?(typo|spelling|missing (semicolon|comma|import))|bump (the )?(version|dependency)|rename \S+ to \S+$|rename (a |the )?(heading|title|label|button|variable|constant|file)$|change (the )?(default )?(color|colour|title|heading|text|label|port|version|timeout) (of \S+ )?(from \S+ )?to \S+$|remove (an? |the )?(unused import|trailing whitespace|console\.log)|add (a |the )?(missing )?(comma|semicolon|newline|period)|update (the )?(copyright )?year)|^\W*(修正|修复|改正)(一个)?(错别字|拼写)|^\W*(升级|更新)版本号|^\W*(把|将).{0,12}(端口|颜色|标题|文案|文字|标签|版本号?|超时(时间)?|默认值|年份|名称)(从\s*\S+\s*)?(改成|改为|换成|更新为)\s*\S+$").ok()
});

/// Why a loop on this task would be a waste; `None` for most tasks.
pub fn unsuitable(task: &Task) -> Option<Unsuitability> {
    let matches =
        |pattern: &LazyLock<Option<Regex>>, text: &str| pattern.as_ref().is_some_and(|it| it.is_match(text));
    let opening = opening_text(task);
    let checked = task.criteria.iter().filter(|it| it.check.is_some()).count();
    if checked == 0 && matches(&EXPLORATORY, &opening) {
        return Some(Unsuitability::Exploratory);
    }
    if checked == 0 && matches(&UNBOUNDED, &opening) {
        return Some(Unsuitability::Unbounded);
    }
    if task.plan.is_empty() && task.criteria.len() <= 1 && matches(&TRIVIAL, &opening) {
        return Some(Unsuitability::Trivial);
    }
    let is_empty = task.criteria.is_empty() && task.plan.is_empty() && task.promise.is_none();
    is_empty.then_some(Unsuitability::NothingVerifiable)
}

/// The title, or the first line of text where there is no title.
fn opening_text(task: &Task) -> String {
    const MAX_CHARS: usize = 300;
    let first =
        task.prompt.lines().map(str::trim).find(|it| !it.is_empty() && !it.starts_with(['#', '-', '<', '>']));
    let text = if task.title.is_empty() { first.unwrap_or_default() } else { &task.title };
    text.chars().take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::{Unsuitability, unsuitable};
    use loopkeeper_task::parse_inline_task;

    #[test]
    fn a_loop_is_the_wrong_tool_for_some_tasks() {
        let rows = [
            ("# Explore caching options\n\nDone when:\n\n- We know more\n", Some(Unsuitability::Exploratory)),
            ("# 调研缓存方案\n\n完成标准：\n\n- 有结论\n", Some(Unsuitability::Exploratory)),
            (
                "# Improve the whole codebase\n\nDone when:\n\n- It is better\n",
                Some(Unsuitability::Unbounded),
            ),
            ("# Fix typo in the readme\n", Some(Unsuitability::Trivial)),
            ("# Write a parser\n", Some(Unsuitability::NothingVerifiable)),
            ("# Why is the build slow?\n\nFind out.\n", Some(Unsuitability::Exploratory)),
            ("# 为什么构建这么慢？\n", Some(Unsuitability::Exploratory)),
            ("# Keep our dependencies up to date\n", Some(Unsuitability::Unbounded)),
            ("# Change the default port from 8080 to 9090\n", Some(Unsuitability::Trivial)),
            ("# 把默认端口从 8080 改成 9090\n", Some(Unsuitability::Trivial)),
            ("# 把后端从 Express 改成 Fastify\n\n完成标准：\n\n- `$ npm test`\n", None),
            ("# Rename the heading\n", Some(Unsuitability::Trivial)),
            ("# Keep the cart current when prices change\n\nDone when:\n\n- `$ npm test`\n", None),
            ("# Write a parser\n\nDone when:\n\n- Dates parse\n", None),
            ("# Research caching\n\nDone when:\n\n- The report exists: `exists docs/caching.md`\n", None),
            ("# Fix all lint errors\n\nDone when:\n\n- `$ npm run lint`\n", None),
        ];
        for (prompt, expect) in rows {
            assert_eq!(unsuitable(&parse_inline_task(prompt, &[])), expect, "{prompt}");
        }
    }
}
