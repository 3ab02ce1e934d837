//! Recognises what a sentence asks for: code, a text, or a report with sources.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::Task;
use crate::change_kind::ChangeKind;

/// What a task produces, which determines how its result is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkProduct {
    #[default]
    Code,
    Writing,
    Research,
}

/// An order to write a text, with the text as its object: a "blog engine" and an "email validator" are programs.
static WRITING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^\W*((please|let's|we\s+(need|should|want)(\s+to)?|i\s+(need|want)(\s+you)?(\s+to)?|(can|could)\s+you|you\s+should|help\s+me(\s+to)?|and)\s+)*
        (write|draft|compose|author|prepare|create|produce|pen|publish|outline|rewrite|edit|proofread|translate|(i|we)\s+(need|want))\s+
        (me\s+|us\s+)?((an?|the|my|our|its|one|two|three|four|five|\d+|some)\s+)?
        (
          ([\w'’,.-]+\s+){0,5}?
          ((blog|forum|linkedin|social\s+media|guest|launch|announcement|farewell|medium|substack)[-\s]?(posts?|articles?)|blogposts?|articles?|essays?|tutorials?|how-to(\s+guides?)?|guides?|stor(y|ies)|poems?|haikus?|sonnets?|newsletters?|white\s?papers?|press\s+releases?|speech(es)?|toasts?|eulog(y|ies)|novels?|novellas?|chapters?|books?|booklets?|ebooks?|columns?|op-eds?|editorials?|obituar(y|ies)|screenplays?|case\s+stud(y|ies)|cover\s+letters?|letters?|brochures?|product\s+descriptions?|biograph(y|ies)|lectures?|memos?|explainers?|summar(y|ies)|reviews?|reports?|proposals?|copy|drafts?)
          (\s+(about|on|for|that|which|explaining|describing|comparing|introducing|announcing|of|to|in|with|from|under|as|at|by|covering|titled|called|who|where|whose|and|into)\b|\s*[.,:;!?()\x22“]|\s*$|\s+\d)
        )",
    )
});

/// An order to find out, with sources or about several things.
static RESEARCH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^\W*((please|let's|we\s+(need|should|want)(\s+to)?|i\s+(need|want)(\s+you)?(\s+to)?|(can|could)\s+you|help\s+me(\s+to)?)\s+)*
        (
          (research|survey|investigate|look\s+into|find\s+out|study|explore|fact-?check)\s
          |(compare|evaluate|assess|benchmark|contrast|weigh|review|summari[sz]e|analy[sz]e|examine)\s
            (.*\b(with|and\s+cite|citing|from|list(ing)?|name|cite)\s+(\w+\s+){0,3}(sources?|references|citations|links)\b
            |((the\s+)?(two|three|four|five|six|seven|eight|nine|ten|\d+|several|different|popular|leading|common|available|current|best|top|major|existing|main)\s+)+([\w-]+\s+){0,3}?(databases|frameworks|librar(y|ies)|tools|vendors|providers|services|products|options|alternatives|approaches|solutions|engines|languages|editors|models|platforms|papers|studies|plans|competitors|papers|methods|techniques|clouds|hosts|stacks|systems|strategies|theories|markets|companies|licen[cs]es|agents)\b
            |(the\s+)?(literature|market|state\s+of\s+the\s+art|research|papers|studies|pros\s+and\s+cons|trade-?offs|options|alternatives|competitors|competition|evidence|history|causes|effects|impact)\b
            |[^.]+\s(vs\.?|versus)\s)
          |(write|prepare|create|produce|draft|compile|give)\s+(me\s+|us\s+)?(an?\s+|the\s+)?([\w-]+\s+){0,3}?(research|literature\s+review|comparison|survey|market\s+analysis|competitive\s+analysis|state\s+of\s+the\s+art|bibliograph(y|ies)|fact\s+sheet|(research|market|comparison|findings)\s+report)
            (\s+(of|on|about|for|between|with|report|paper|summary)\b|\s*[.,:;!?(]|\s*$)
          |(collect|gather|find|list|compile)\s+(\w+\s+){0,4}?(sources|references|evidence|papers|studies|statistics|citations)\b
          |(which|what)\s+(\w+\s+){0,4}?(are|is)\s+(the\s+)?(best|most|largest|main|leading)\b
        )",
    )
});

/// Words for parts of a program: "compare two functions" is work on code.
static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"`|\w\(\)|\b\w+_\w+\b|\w\.(rs|py|ts|js|tsx|jsx|go|java|c|h|cpp|rb|php|sh|sql|css|html|json|ya?ml|toml)\b|--\w
        |\b(function|method|endpoint|api|cli|unit\s+tests?|integration\s+tests?|test\s+suite|parser|crash(es)?|stack\s+trace|null|refactor|code\s?base|compil(er|es)|module|class(es)?|struct|schema|migration|bug|regression|flaky|fails?|failing|exception|error|failures?)\b
        |函数|接口|模块|代码|崩溃|报错|异常|单元测试|字段|组件",
    )
});

static CHINESE_WRITING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^\W*(请|帮我|帮忙|给我|我想|我要|我们要|需要|麻烦)*(再|来)?
        (写|撰写|起草|编写|创作|翻译|润色|改写|拟|准备|完成|写作|草拟)(出|好|成|作)?
        ([一二两三四五六\d]+(篇|首|封|章|则|段)
        |[^，。；,;]{0,30}(文章|博客|博文|教程|指南|随笔|散文|小说|故事|诗歌?|公众号|推文|演讲稿|发言稿|新闻稿|稿件?|白皮书|论文|信|书评|影评|读后感|文案|说明文|周报|年终总结|简报|软文|通讯|简介|倡议书|报告)($|[，。；,;：:！!（(]|，))",
    )
});

static CHINESE_RESEARCH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^\W*(请|帮我|帮忙|给我|我想|我要|我们要|需要|麻烦)*
        (调研|调查|综述|研究|搜集|收集资料|查找资料|查阅
        |(比较|对比|评估|分析|评测|总结|梳理|盘点)[^。]*(来源|引用|出处|参考文献|文献|优缺点|利弊|选型|现状|趋势|市场|竞品)
        |(比较|对比|评估|评测|盘点)[^，。]{0,8}([两二三四五六七八九十几多\d]|不同|主流|常见|各)(个|种|款|家|类|大)?
        |(写|撰写|起草|编写|准备|完成|出)[^，。]{0,20}(调研|调查|研究|对比|分析|综述|评估|选型|竞品)(报告|文章|综述)?($|[，。；：])
        |[^，。]{1,24}(调研|综述|研究报告|选型报告|对比报告)($|[，。]))",
    )
});

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(&format!("(?ix){text}")).ok()
}

impl WorkProduct {
    pub const ALL: [Self; 3] = [Self::Code, Self::Writing, Self::Research];

    /// Its name on the wire and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Writing => "writing",
            Self::Research => "research",
        }
    }

    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.word() == word)
    }

    /// What the words of a sentence ask for; code if they do not say.
    pub fn of_sentence(sentence: &str) -> Self {
        let says =
            |it: &LazyLock<Option<Regex>>| it.as_ref().is_some_and(|pattern| pattern.is_match(sentence));
        let is_code = says(&CODE);
        if (says(&RESEARCH) || says(&CHINESE_RESEARCH)) && !is_code {
            Self::Research
        } else if says(&WRITING) || says(&CHINESE_WRITING) {
            Self::Writing
        } else {
            Self::Code
        }
    }
}

/// The sentence that says what a task asks for: its title, or its first line of prose if that says more.
pub fn wanted_sentence(task: &Task) -> Option<String> {
    const GENERIC_TITLES: [&str; 12] = [
        "task",
        "prompt",
        "objective",
        "goal",
        "todo",
        "instructions",
        "overview",
        "ralph",
        "任务",
        "目标",
        "提示词",
        "需求",
    ];
    let is_prose = |it: &&str| it.starts_with(|first: char| first.is_alphabetic() || "\"'“(".contains(first));
    let prose = task.prompt.lines().map(str::trim).find(is_prose);
    let is_usual = |it: &str| {
        WorkProduct::of_sentence(it) == WorkProduct::Code
            && ChangeKind::of_sentence(it) == ChangeKind::Feature
    };
    let title = task.title.trim();
    let says_more = prose.is_some_and(|it| is_usual(title) && !is_usual(it));
    let is_title =
        !title.is_empty() && !GENERIC_TITLES.contains(&title.to_lowercase().as_str()) && !says_more;
    if is_title { Some(title.to_owned()) } else { prose.map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::WorkProduct::{self, *};
    use super::wanted_sentence;
    use crate::parse_inline_task;

    #[test]
    fn the_title_or_the_first_prose_says_what_is_wanted() {
        let check = |prompt: &str, expect: Option<&str>| {
            assert_eq!(wanted_sentence(&parse_inline_task(prompt, &[])).as_deref(), expect, "{prompt}");
        };
        check("# Sort the list\n\nIt is short.\n", Some("Sort the list"));
        check("# Task\n\nSort the list.\n", Some("Sort the list."));
        check("# 任务\n\n给列表排序。\n", Some("给列表排序。"));
        check("# Tides\n\nWrite an article about tides.\n", Some("Write an article about tides."));
        check("# Search\n\nMake it faster.\n", Some("Make it faster."));
        check("Sort the list.\n", Some("Sort the list."));
        check("- a\n", None);
        check("", None);
    }

    const SENTENCES: [(&str, WorkProduct); 64] = [
        ("Write a blog post about Rust's borrow checker", Writing),
        ("Draft an announcement post for version 2.0", Writing),
        ("Write a short story in which a lighthouse keeper finds a map", Writing),
        ("Please write a tutorial on building a CLI in Go", Writing),
        ("Write a 1200-word article that explains vector clocks", Writing),
        ("Prepare a press release announcing the new office", Writing),
        ("I need a cover letter for a senior engineer position", Writing),
        ("Compose a poem about autumn", Writing),
        ("Translate the article about tides into German", Writing),
        ("Write chapter 3 of the novel", Writing),
        ("Write a guide to migrating from Jest to Vitest", Writing),
        ("Write a report on last quarter's incidents", Writing),
        ("写一篇关于 Rust 所有权的博客", Writing),
        ("帮我写一篇介绍向量数据库的文章，2000 字", Writing),
        ("撰写产品发布的新闻稿", Writing),
        ("写一首关于秋天的诗", Writing),
        ("起草一封给客户的道歉信", Writing),
        ("Compare three vector databases with sources", Research),
        ("Compare Postgres vs MySQL for our workload", Research),
        ("Research the current state of WebGPU support", Research),
        ("Find out which licences our competitors use", Research),
        ("Evaluate the leading CI providers and list sources", Research),
        ("Survey approaches to differential privacy", Research),
        ("Write a literature review on sleep and memory", Research),
        ("Summarize the literature on spaced repetition", Research),
        ("Collect ten sources about urban heat islands", Research),
        ("Prepare a comparison of electric bikes under 3000 EUR", Research),
        ("Weigh the pros and cons of a four-day week", Research),
        ("What are the best open source speech models?", Research),
        ("调研主流向量数据库", Research),
        ("比较三种前端框架，给出来源", Research),
        ("写一份竞品分析报告", Research),
        ("对比不同云厂商的价格", Research),
        ("研究远程办公对效率的影响", Research),
        ("Write a blog engine in Rust", Code),
        ("Write an email validator", Code),
        ("Create a newsletter signup form", Code),
        ("Write a story parser for our format", Code),
        ("Write tests for the cart", Code),
        ("Write unit tests that cover the article model", Code),
        ("Create a book catalogue with search", Code),
        ("Compare two files by their hash in `sync.rs`", Code),
        ("Compare versions by semver rules in the update check", Code),
        ("Investigate why test_login is flaky and fix it", Code),
        ("Investigate the crash on an empty file", Code),
        ("Add a blog section to the site", Code),
        ("Add an article about caching to the docs site navigation", Code),
        ("Make parse_date accept ISO 8601 dates", Code),
        ("Fix the report export", Code),
        ("Implement a summary endpoint", Code),
        ("Create a report generator", Code),
        ("Create a tutorial mode for new players", Code),
        ("Evaluate arithmetic expressions with parentheses", Code),
        ("Review all TODO comments and resolve them", Code),
        ("Analyze log files and print the ten slowest requests", Code),
        ("Publish articles automatically when their date is reached", Code),
        ("写一个博客系统", Code),
        ("写一个解析日期的函数", Code),
        ("编写登录接口的单元测试", Code),
        ("比较两个文件的哈希值的函数", Code),
        ("修复文章列表的分页", Code),
        ("研究登录模块为什么崩溃并修复", Code),
        ("为书店实现购物车", Code),
        ("完成", Code),
    ];

    #[test]
    fn a_sentence_says_what_it_produces() {
        let is_misread = |it: &&(&str, WorkProduct)| WorkProduct::of_sentence(it.0) != it.1;
        assert_eq!(
            SENTENCES.iter().filter(is_misread).collect::<Vec<_>>(),
            Vec::<&(&str, WorkProduct)>::new()
        );
    }
}
