//! Table of the English and Chinese phrases that state completion or its opposite, each with its confidence in
//! percent. Whether a phrase counts in its context is decided elsewhere.

use super::prose::is_cjk;

/// From this confidence on an indicator counts.
pub(crate) const COUNTS_FROM: u8 = 50;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompletionMeaning {
    Done,
    NotYet,
}

/// `_` matches up to three words, `a|b` one of them.
pub(super) struct CompletionPhrase {
    pub(super) name: &'static str,
    pub(super) percent: u8,
    pub(super) says: CompletionMeaning,
    pub(super) patterns: &'static [&'static str],
}

const fn done(name: &'static str, percent: u8, patterns: &'static [&'static str]) -> CompletionPhrase {
    CompletionPhrase { name, percent, says: CompletionMeaning::Done, patterns }
}

const fn not_yet(name: &'static str, percent: u8, patterns: &'static [&'static str]) -> CompletionPhrase {
    CompletionPhrase { name, percent, says: CompletionMeaning::NotYet, patterns }
}

/// The name of statements about the whole.
pub(super) const WHOLE_DONE: &str = "whole settled";

#[rustfmt::skip]
pub(super) const PHRASES: &[CompletionPhrase] = &[
    done("project completed", 80, &[
        "project|task|work|everything|implementation|goal|mission|job _ complete|completed|done|finished",
        "all|both|every _ task|tasks|item|items|story|stories|requirement|requirements|criteria|criterion|goals|steps|work|boxes|milestones _ complete|completed|done|finished|met|satisfied|fulfilled|holds|hold|implemented|checked",
        "completed|finished all|the|every _ project|tasks|items|stories|work",
        "all done", "fully complete|completed|done|finished",
        "项 目 _ 完 成", "任 务 _ 完 成", "工 作 _ 完 成", "全 部 完 成", "所 有 _ 完 成", "均 已 完 成", "都 已 完 成",
    ]),
    done("all features implemented", 80, &[
        "all|every _ feature|features|functionality|endpoints|modules|commands _ implemented|complete|completed|done|finished|built|working",
        "implemented all|every _ feature|features|functionality",
        "everything _ implemented",
        "所 有 功 能 _ 实 现", "功 能 全 部 实 现", "功 能 均 已 实 现", "全 部 实 现", "所 有 功 能 _ 完 成",
    ]),
    done("all tests passing", 70, &[
        "all _ tests|specs|checks|suites _ pass|passes|passed|passing|green|succeed|succeeded",
        "every _ test|check _ passes|passed|green", "tests all pass|passed|passing|green",
        "full|whole|entire test suite _ pass|passes|passed|passing|green",
        "所 有 _ 测 试 _ 通 过", "全 部 测 试 _ 通 过", "测 试 全 部 通 过", "测 试 均 _ 通 过", "测 试 都 _ 通 过", "测 试 已 全 部 通 过",
    ]),
    done("coverage reached", 60, &[
        "coverage _ reached|met|achieved|exceeded", "reached|met|achieved _ coverage",
        "覆 盖 率 _ 达 到", "覆 盖 率 _ 达 标",
    ]),
    done("nothing to do", 60, &[
        "nothing _ to do", "nothing _ remains|remaining|left", "no _ work|tasks|items|stories left|remaining|remain|remains",
        "no changes _ needed|necessary|required", "no further|more _ work|changes|action|tasks",
        "no remaining|open|outstanding|unresolved|loose _ work|tasks|items|issues|points|ends|questions|bugs|steps|todos|changes",
        "nothing _ open|outstanding|missing|pending",
        "没 有 需 要 _ 的", "没 有 剩 余", "没 有|任 _ 遗 留|漏", "无 _ 遗 留|漏", "没 有 _ 待 办", "不 需|必|用 要|再 _ 改|动|做|处",
        "无 需|须 _ 后|再|继", "无 需 _ 修 改", "无 需 更 改", "无 事 可 做", "没 有 其 他 任 务",
    ]),
    // Statements about the whole are found by their form too.
    done(WHOLE_DONE, 70, &[
        "fully|completely|entirely covered|met|satisfied|implemented|delivered|addressed|resolved|settled|built",
        "that|this wraps _ up", "concludes|completes|finishes|closes _ task|work|job|plan|ticket|feature|request|project|list|implementation|migration",
        "come|came|comes to an end", "good to go", "can be closed|merged|shipped|released",
        "consider|considered|deem|regard _ closed|done|finished|complete|completed|settled",
        "finished|completed|delivered|implemented|built|did _ you|was|were asked|requested|wanted|ordered|described|listed",
        "到 此 结|完|为", "告 一 段 落", "收 工", "大 功 告 成", "可 以 关|验|交|上 闭|收|付|线",
    ]),
    done("already implemented", 60, &[
        "already implemented|complete|completed|done|finished",
        "已 经 实 现", "早 已 实 现", "此 前 已 实 现",
    ]),
    done("up to date", 40, &["up to date"]),
    done("no errors", 50, &[
        "no _ errors|error|failures|warnings", "without _ errors|error|failures", "zero|0 _ errors|failures|warnings",
        "没 有 _ 错 误", "无 错 误", "零 错 误", "没 有 报 错", "无 报 错",
    ]),
    done("complete", 60, &["complete|completed", "已 完 成", "已 经 完 成", "完 成 了", "完 毕", "完 成"]),
    done("done", 60, &["done", "做|干|忙|弄|办 完", "搞 定"]),
    done("finished", 60, &["finished", "结 束 了", "已 结 束"]),
    done("implemented", 50, &["implemented", "已 实 现", "实 现 了"]),
    done("ready", 50, &[
        "ready", "准 备 就 绪", "就 绪", "准 备 好 了", "可 以 合 并", "可 以 发 布",
    ]),
    not_yet("moving to next", 80, &[
        "moving|move|moves|proceeding|proceed _ next", "moving|move on to", "next up",
        "进 入 下 一", "转 到 下 一", "转 向 下 一", "继 续 下 一", "接 下 来", "下 一 步",
    ]),
    not_yet("now working on", 80, &[
        "now _ working on", "i'm|am|currently|still|start|started|begin|keep|continue working on", "working on _ next",
        "working on the|task|step|story", "currently working|implementing|writing|fixing", "work in progress", "wip",
        "in progress", "still working",
        "正 在 处 理", "正 在 开 发", "正 在 实 现", "正 在 进 行", "正 在 编 写", "进 行 中",
    ]),
    not_yet("still open", 80, &[
        "still _ fail|fails|failing|missing|pending|open|todo|broken|left|remain|remains|remaining|outstanding|need|needs|red",
        "left to do|implement|fix|finish", "remains|remain to be", "yet to be",
        "tests|test|checks are|is failing", "tests|test|checks|specs fail|fails", "next iteration|loop",
        "continue|continuing with|in|working|the", "to be continued", "not yet",
        "incomplete", "unfinished", "undone", "uncompleted", "unimplemented",
        "未 完 成", "尚 未", "还 没", "仍 然 失 败", "仍 有", "还 有 _ 未", "待 完 成", "有 待", "剩 余",
        "还|尚|仍 差|剩|缺|需|要|得|欠", "剩 下 的 _ 继|再|后|下|待|还|没|未", "下 一 轮",
    ]),
];

/// A compiled phrase: each step is a set of alternative words, or a gap.
pub(super) struct PhrasePattern {
    pub(super) steps: Vec<PatternStep>,
}

pub(super) enum PatternStep {
    Gap,
    OneOf(Vec<String>),
}

/// Reads a pattern of the table, or the user's words (in which nothing is special).
pub(super) fn pattern(text: &str) -> PhrasePattern {
    let step = |word: &str| match word {
        "_" => PatternStep::Gap,
        _ => PatternStep::OneOf(word.split('|').map(str::to_owned).collect()),
    };
    PhrasePattern { steps: text.split_whitespace().map(step).collect() }
}

/// The user's phrase, tokenised like a message; `None` if it contains no word.
pub(super) fn literal(text: &str) -> Option<PhrasePattern> {
    let mut words: Vec<String> = Vec::new();
    let mut joined = false;
    for c in text.chars() {
        let in_word = c.is_alphanumeric() || matches!(c, '\'' | '_' | '%');
        match words.last_mut().filter(|_| joined && in_word && !is_cjk(c)) {
            Some(word) => word.extend(c.to_lowercase()),
            None if in_word => words.push(c.to_lowercase().collect()),
            None => {}
        }
        joined = in_word && !is_cjk(c);
    }
    let steps: Vec<PatternStep> = words.into_iter().map(|it| PatternStep::OneOf(vec![it])).collect();
    (!steps.is_empty()).then_some(PhrasePattern { steps })
}
