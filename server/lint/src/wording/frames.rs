//! Finds what no check can decide by its frame: a change of degree without a value, an amount without a number, a limit
//! that is only *too much*. The frame distinguishes "uploads don't take too long" from "the upload is rejected if it is
//! too long", which a list of words alone cannot.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// In order: an amount that something has to bear; a limit that is only "too much"; "enough" of something; a comparative
/// before an infinitive; a passive of degree at the end; cases that are covered.
const ENGLISH: &str = r"
    (scales?\s(up\s)?to|handles?|supports?|serves?|withstands?|copes?\swith|deals?\swith)\s(\w+\s)?(many|lots|large|larger|heavy|high|huge|big|massive|plenty|numerous|various|thousands|millions)
    | (don't|doesn't|isn't|aren't|won't|not|never)\s(\w+\s){0,2}too\s\w+
    | (gives?|provides?|offers?|has|have|contains?|includes?|leaves?)\s(\w+\s)?enough\s\w+
    | (easier|simpler|faster|quicker|cheaper|safer|nicer|more\s\w+)\sto\s\w+
    | (is|are|been|gets?|be)\s(hardened|strengthened|tightened|tuned|beefed\sup|cleaned\sup|tidied\sup|moderni[sz]ed|sped\sup|simplified)\s*$
    | (edge|corner)[-\s]cases?\s(in|of|for|around)\s[-\w\s]+\s(are|is)\s(handled|covered|considered|addressed|tested)\s*$
    | (satisfactory|satisfactorily|bearable|tolerably)
";

/// In order: "not too …"; what can be accepted; a comparative at the end; some of a quality; an amount that something
/// has to bear; a process that is graceful.
const CHINESE: &str = r"
    (不能|不可|不要|不应该?|不会|不宜|避免|别)(太|过于|过分|过)\p{Han}
    | (可以|能够|能|尚可|勉强)接受(\P{Han}|$) | 可接受(的?\p{Han}{0,4})?$
    | (更加?|更为|较为|足够|非常|十分|很)[\p{Han}--[新换改正替名动]]\p{Han}{0,3}$ | (比较|相对|较)[快慢好高低短少稳强易准轻]\p{Han}?$
    | (具备|具有|有|保持|提供)(一定|良好|较好|较高|较强|足够|充分|相应|必要|适当)的?\p{Han} | 一定的\p{Han}{1,3}[性度力]
    | (支撑|支持|承受|承载|应对|处理|适应|扛住)\p{Han}{0,2}(大量|海量|大规模|高并发|大流量|各种|各类|多种多样|更多)
    | (考虑|覆盖|涵盖|顾及)\p{Han}{0,2}(各种|各类|种种|多种|大部分|主要)
    | 优雅地?(恢复|退出|降级|处理|关闭|停|失败|重启|报错|回退)
";

/// Verbs that change a degree, at the beginning of a criterion or of its last clause.
const DEGREE_CHANGE: &str = r"(?:^|[，,；;、]|并|要|需|应)\s*(提升|提高|改善|加强|增强|加快|完善|优化|降低|减少|缩短|改进|强化|丰富)了?\p{Han}";
/// Words for the value that the change ends at.
const VALUES: [&str; 8] = ["到", "至", "为", "从", "由", "`", "“", "成"];

/// Nouns for things that have names: with an article, the adjective before them is a part of the name.
const NAMED_THINGS: &str = "
    path paths target flag option branch button endpoint script command column field label key section tab mode config
    shutdown estimator chart feed record records tag variable constant function rule table list queue lane channel job
";
static NAMED_THING: LazyLock<Vec<&'static str>> = LazyLock::new(|| NAMED_THINGS.split_whitespace().collect());

static FRAMES: LazyLock<Option<Regex>> =
    LazyLock::new(|| crate::pattern(&format!(r"\b(?:{ENGLISH})(?:\b|$)|(?:{CHINESE})")));
static DEGREE_CHANGES: LazyLock<Option<Regex>> = LazyLock::new(|| crate::pattern(DEGREE_CHANGE));

/// The range of the first frame that `is_meant` accepts.
pub(super) fn find_frame(prose: &str, is_meant: impl Fn(Range<usize>) -> bool) -> Option<Range<usize>> {
    let counts = |it: &Range<usize>| !is_relative(prose, it) && is_meant(it.clone());
    let framed = FRAMES.as_ref()?.find_iter(prose).map(|it| it.range()).find(counts);
    framed.or_else(|| degree_change(prose).filter(|it| is_meant(it.clone())))
}

/// "The job that handles large exports": the clause says which one is meant.
fn is_relative(prose: &str, found: &Range<usize>) -> bool {
    let before = prose.get(..found.start).unwrap_or_default().trim_end();
    before.rsplit(' ').next().is_some_and(|it| ["that", "which", "who"].contains(&it))
}

/// "提升测试覆盖率", which names no value.
fn degree_change(prose: &str) -> Option<Range<usize>> {
    let found = DEGREE_CHANGES.as_ref()?.captures(prose)?.get(1)?;
    let rest = prose.get(found.end()..).unwrap_or_default();
    let has_value = VALUES.iter().any(|it| rest.contains(it));
    (!has_value).then(|| found.range())
}

/// Whether a process is called graceful, which is no matter of taste.
pub(super) fn is_process(prose: &str) -> bool {
    FRAMES.as_ref().is_some_and(|it| it.find_iter(prose).any(|it| it.as_str().starts_with("优雅")))
}

/// "The fast path", "the clean target": the adjective is a part of the name of one thing.
pub(super) fn is_definite_name(prose: &str, found: &Range<usize>) -> bool {
    let before = prose.get(..found.start).unwrap_or_default().trim_end();
    let has_article = before.rsplit(' ').next().is_some_and(|it| it.eq_ignore_ascii_case("the"));
    let rest = prose.get(found.end..).unwrap_or_default();
    let next = rest.trim_start().split([' ', ',', ';', '.']).next().unwrap_or_default().to_lowercase();
    has_article && NAMED_THING.contains(&next.as_str())
}

#[cfg(test)]
mod tests {
    use super::find_frame;

    #[test]
    fn a_degree_without_a_value_counts_in_its_frame() {
        let rows = [
            ("Saving doesn't take too much time", Some("doesn't take too much")),
            ("The pool scales to many connections", Some("scales to many")),
            ("The report gives enough background", Some("gives enough background")),
            ("Plugins are easier to write", Some("easier to write")),
            ("The login form is hardened", Some("is hardened")),
            ("Edge cases of the tokenizer are tested", Some("Edge cases of the tokenizer are tested")),
            ("包体积不要太大", Some("不要太大")),
            ("等待时间可以接受", Some("可以接受")),
            ("查询比较快", Some("比较快")),
            ("模块具备一定的扩展能力", Some("具备一定的扩")),
            ("网关能承受大流量", Some("承受大流量")),
            ("提高解析速度", Some("提高")),
            ("网络断开后优雅地降级", Some("优雅地降级")),
            ("The upload is rejected if it is too long", None),
            ("If there is enough space, the file is kept", None),
            ("The worker that handles large files is renamed", None),
            ("The flag `--simplified` is listed", None),
            ("把超时提高到 30 秒", None),
            ("提高日志级别为 debug", None),
            ("名称太长时截断", None),
            ("更新时间写入表头", None),
            ("更新依赖", None),
            ("比较版本", None),
        ];
        for (prose, expect) in rows {
            let found = find_frame(prose, |_| true).and_then(|it| prose.get(it));
            assert_eq!(found, expect, "{prose}");
        }
    }
}
