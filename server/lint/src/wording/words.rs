//! Tables of vague words in English and Chinese.

use std::ops::Range;
use std::sync::LazyLock;

use loopkeeper_task::change_kind::ChangeKind;
use regex::Regex;

use super::{frames, judgement};

/// Measures without a number. Words with an innocent use count only in the phrases in which they measure.
const VAGUE: &str = r"
    works?\s(well|fine|great|nicely|properly|correctly|flawlessly|perfectly|reliably|smoothly|as\s(expected|intended|designed|before|it\sshould))
    | (behaves?|functions?|operates?|performs?|runs?|renders?|displays?|responds?|integrates?|scales?)\s(well|fine|great|properly|correctly|smoothly|reliably|flawlessly|perfectly|nicely|as\s(expected|intended))
    | as\s(expected|intended|needed|appropriate|necessary)
    | (where|if|when|whenever|wherever)\s(possible|necessary|needed|appropriate|applicable|it\smakes\ssense)
    | properly | proper | appropriate(ly)? | adequate(ly)? | sufficient(ly)? | reasonabl[ey] | suitabl[ey] | decent
    | graceful(ly)? | seamless(ly)? | smooth(ly)? | robust(ly|ness)? | flawless(ly)? | perfect(ly)? | effortless(ly)?
    | clean\s(code|architecture|codebase|separation|implementation|structure|abstractions?|api|history)
    | (code|codebase|implementation|architecture|structure|api|it)\s(is|are|stays|remains|looks)\s(clean|good|nice|simple|tidy|neat|solid|maintainable|in\sgood\sshape)
    | cleanly\s(structured|separated|organi[sz]ed|written|implemented)
    | well[-\s](structured|organi[sz]ed|documented|tested|designed|written|formed\scode|factored|commented|covered|optimi[sz]ed|handled|integrated)
    | (high|good|better|great|top|acceptable|improved|excellent|production)[-\s](quality|performance|coverage|shape|state|structure|design|readability|error\shandling|error\smessages?|test\scoverage|documentation|logging|practices?)
    | (code|overall|sufficient|adequate)\squality | best\spractices? | industry\sstandards? | coding\sstandards? | code\sstandards? | project\s(conventions|standards) | production[-\s]ready | enterprise[-\s](grade|ready)
    | readable | readability | maintainable | maintainability | scalable | scalability | performant | extensible | flexible | modular | reusable | future-proof | reliable | resilient | optimal | optimally | efficient(ly)?
    | (is|are|stays?|remains?|more|feels?|runs?|loads?|starts?|very|responds?|reasonably|be|becomes?)\s(fast|faster|quick|quicker|quickly|slow|responsive|snappy|stable|secure|safe|simple|simpler|easy|clear|concise|complete|consistent|accurate|correct|good|better|great|fine|ok|okay|ready|usable|improved|optimi[sz]ed|smaller|lightweight|minimal|up[-\s]to[-\s]date)
    | fast\s(enough|response|responses|loading|performance|and) | (quick|low)\s(response|responses|latency) | quickly | easily | easy\sto\s(maintain|extend|change|test|set\sup|install|configure|debug)
    | (secure|securely|accurately|consistently|correctly|reliably|efficiently|effectively|cleanly|clearly|thoroughly|comprehensively|completely|fully|significantly|noticeably|substantially)\s*$
    | accurate | clearly | stable\s(under|operation|behaviou?r)
    | (correctly|accurately|effectively|consistently|thoroughly|significantly|noticeably|substantially|securely)
    | comprehensive(ly)? | thorough | extensive | meaningful | relevant | useful | helpful | sensible | sane | solid | improved | enhanced | optimi[sz]ed | streamlined
    | (performance|security|quality|stability|usability|accessibility|readability|coverage|ux|speed|reliability)\s(is|are|has\sbeen)?\s*(improved|improves?|better|good|enhanced|optimi[sz]ed|acceptable|increased)
    | (improves?|increases?|enhances?|optimi[sz]es?|maximi[sz]es?|minimi[sz]es?)\s(the\s)?(\w+\s)?(performance|security|quality|stability|usability|readability|coverage|ux|speed|reliability|maintainability|experience|efficiency|code|structure|design)
    | (fully|completely)\s(functional|working|implemented|integrated|tested|documented|responsive|operational) | feature[-\s]complete
    | (no|without|free\sof|zero)\s(any\s)?(major\s|obvious\s|known\s|serious\s|critical\s|visible\s)?(bugs?|issues?|problems?|glitches|flaws|regressions\s(of\sany\skind)|hiccups) | bug[-\s]?free
    | (no|without)\s(noticeable|significant|unnecessary|obvious|major)\s\w+
    | (handles?|covers?|considers?|addresses|deals?\swith|test(s|ed)?)\s(all\s|any\s|the\s|every\s|most\s|common\s|various\s)*(error|errors|edge\scases?|corner\scases?|exceptions?|failures?|error\scases?|situations?|scenarios?)(\s(are|is)\s(handled|covered))?\s*$
    | (all|any|every|most|common|various)?\s*(edge|corner)[-\s]cases?(\sand\s\w+)?\s(are|is)\s(handled|covered|considered|addressed|tested)
    | (error|exception)[-\s]handling\s*(is|are|has\sbeen)?\s*(implemented|added|done|in\splace|complete|improved|present|there|good)?\s*$ | errors\s(are|get)\s(handled|dealt\swith|caught)\s*$
    | everything\s(still\s|just\s|continues\sto\s)?(works?|is\sfine|is\sok|runs|passes|is\s(verified|tested|covered|validated|in\splace)) | it\s(just\s)?works | all\s(features|functionality|functions|buttons|pages|endpoints|components|skills|tools|flows)\s(are\s)?work(s|ing)? | (works?|working)\s*$
    | documentation\s(is|are)\s(complete|good|clear|updated|improved|adequate|comprehensive|up[-\s]to[-\s]date) | docs\s(are|is)\s(good|complete|clear|improved)
    | ^works?\s(on|in|across|with)\s(\w+\s)?\w+$ | works?\send[-\s]to[-\s]end | responsive\s(layout|design|ui|page) | responsive$
    | scales?\s(horizontally\s|vertically\s)?to\s(meet|match|handle|support)\s[-\w\s]*(demand|load|traffic|growth|needs)
    | (no|without)\s(any\s)?(quality|style|code|formatting)\s(issues?|problems?)
    | follows?\s(the\s|all\s)?(existing|project|project's|established|current|team|common|usual|same)?\s?(code\s|coding\s)?(patterns?|conventions?|styles?|style\sguide|guidelines?)(\s(from|of|in|used\s(in|by))\s[-\w\s./]+)?$
    | (minimal|small)\s(changes|diff) | keep\sit\ssimple | no\s((performance|behaviou?ral|functional|visual)\s)?regressions?(\s(in|of|to|for|with)\s(the\s)?(existing|current|other|any|core)\s[-\w\s]+)?$ | (tests?|coverage)\sfor\s(all\s|the\s)?(edge|corner|important|relevant)[-\s](cases?|parts)
    | (refactor(ing)?|implementation|migration|feature|everything|task|work|integration|functionality|setup)\s(is\s)?(complete|completed|done|finished) | code\s(is\s)?reviewed | no\sknown\s([-\w]+\s)?(defects?|bugs?|issues?|problems?)(\sremains?)?
    | clear\s(and\s\w+\s|\w+\s)?(documentation|comments?|naming|names|structure|code|messages?|error\smessages?|feedback|instructions|separation|errors|ui) | good\s(documentation|comments?|naming|names|structure|code|messages?|feedback|tests|error|performance|coverage|results?|design|defaults) | good\senough
    | (is|are|be|becomes?|feels?|runs?|gets?)\s(smoother|cleaner|simpler|easier|clearer|safer|lighter|leaner|stronger|tidier|neater)\s*$ | actionable | well[-\s]researched
    | etc\.? | and\sso\son | and\smore\s*$ | as\smuch\sas\spossible | as\s(fast|small|simple|short|quick|few|many|soon)\sas\s(possible|it\scan)
    | up\sto\s(standards?|par|scratch) | state[-\s]of[-\s]the[-\s]art | modern\s(standards|practices|code|architecture) | looks\s(right|ok|okay|fine|correct) | makes\ssense | refactored\s(properly|for\s\w+)\s*$
    | (security|performance|accessibility|stability|usability)\s(issues?|problems?|concerns?|vulnerabilit(y|ies))\s(are|is|get)\s(addressed|handled|resolved|fixed|considered|dealt\swith)
    | cover(s|ed|ing)?\s(all\s)?the\s(important|main|relevant|key|critical|essential|major)\s(paths?|parts?|cases?|flows?|scenarios?|functionality|functions?|points?|topics?|aspects?|ideas?|arguments?)
    | (is|are|been|be|get|gets)\s(dealt\swith|taken\scare\sof|looked\safter)\s*$ | (is|are)\sdone\s(right|well|properly)
    | (all|most|any)\s(serious|major|known|critical|important|obvious|remaining)\s(bugs?|issues?|problems?|defects?)\s(are\s|have\sbeen\s|get\s)?(resolved|fixed|addressed|solved|gone)
    | (considerations?|concerns?|risks?|requirements?|aspects?)\s(are|is|have\sbeen|has\sbeen)\s(addressed|considered|met|handled|covered)
    | in\san?\s(consistent|efficient|secure|safe|proper|correct|reliable|structured|scalable|orderly|professional|appropriate|maintainable)\s(manner|way|fashion)
    | (keeps?|continues?|still)\s(on\s)?(to\s)?(work|working)\s(fine|well|properly|correctly|normally) | (edge|corner)[-\s]cases?\s(handled|covered|tested|considered)\s*$
    | \w+s\swell(\s(with|in|on|for|under|across|over|at)\s[-\w\s]+)?$ | quality\s(is|are|stays?|remains?)\s(high|good|fine) | (is|are)\sin\s(good\s)?order | copes?\swith
    | sensibly | rigorous(ly)? | dependable | dependably | trouble[-\s]free | hassle[-\s]free | viable | (is|are|stays?|remains?|kept|be|keep)\s(\w+\s){0,3}(low|minimal|small|acceptable|tolerable|manageable|reasonable)\s*$
    | (kept|keep|stays?|remains?|is|are)\s(low|minimal|acceptable|tolerable|manageable)\s(on|in|for|at|under|during)\s | (sound|strong|solid|good|basic)\s(\w+\s)?(validation|error\shandling|logging|monitoring|security|typing|testing|test\scoverage|strategy|foundation)
    | (similar|close)\senough | in\sa\s(good|clean|sensible|reasonable|timely)\s(way|manner|state|fashion) | user\sexperience\s(is\s)?(improved|good|better|smooth)
    | (technically|architecturally|conceptually)\ssound | (is|are)\s(viable|feasible|realistic|straightforward|sound|generic|specific|justified|logical) | (no|without)\s(jerky|janky|awkward|confusing)\s\w+
    | ^(improve|enhance|optimi[sz]e|streamline|moderni[sz]e|tidy\sup)\s\w+ | (is|are|been)\s(considered|taken\sinto\saccount|kept\sin\smind)
";

const VAGUE_CHINESE: &str = "正常工作|工作正常|运行正常|正常运行|正常使用|正常显示|功能正常|显示正常|正常|运行良好|表现良好|良好|合理|合适|适当|恰当|妥善|完善|健壮|鲁棒|稳定|可靠|高效|效率高|快速|迅速|流畅|顺畅|清晰|清楚|简洁|干净|整洁|易读|易懂|可读性|可维护|维护性|易于维护|易于扩展|可扩展|扩展性|高质量|质量高|质量好|高性能|性能好|性能优化|优化|提升|改善|改进|增强|更好|较好|很好|最好|足够|充分|充足|全面|尽量|尽可能|等等|差不多|基本可用|基本完成|最佳实践|代码规范|编码规范|符合规范|没有问题|没问题|无问题|没有bug|没有 bug|无bug|无 bug|无明显|没有明显|正确处理|正确显示|正确工作|正确运行|处理正确|显示正确|配置正确|结果正确|正确地|功能完整|内容完整|文档完整|信息完整|完美|到位|友好|安全可靠|生产级|可用性|更快|更稳|更顺|更简单|更清晰|健全|得当|主流浏览器|主流设备|常见浏览器|必要时|必要的|视情况|如有需要|适度|速度快|加载快|响应快|反应快|不卡顿|端可用|端可用性|齐全|齐备|质量(较|很|更|足够)高|表现正确|表现正常|易维护|易扩展|易于管理|满足(要求|需求|预期)|符合(要求|预期)|达到(要求|预期|理想)|理想|平稳|平滑|设计规范|命名规范|格式规范|书写规范|可控|有保障|得到保障|有保证|(都要|都|已|均|充分)考虑|严谨|科学合理|周全|周到|完备|不错|过得去|令人放心|处理好|做好|搞定|跟上|合乎|灵活|强大|优良|出色|精准|准确无误|万无一失|不出问题|不出错|无异常|没有异常|一切正常|顺利";

/// Matters of taste.
const SUBJECTIVE: &str = r"
    beautiful(ly)? | elegant(ly)? | elegance | nice(ly)? | pretty\s(ui|design|page|print(ed)?\sfor\shumans) | attractive | aesthetic(s|ally)? | gorgeous | stunning | cool | fancy
    | intuitive(ly)? | user[-\s]friendly | user[-\s]friendliness | developer[-\s]friendly | easy\sto\s(use|understand|read|follow|navigate|learn) | ease\sof\suse | convenient(ly)? | simple\sto\suse
    | (look|looks|looking|feel|feels|sounds?|reads?)\s(good|great|nice|nicer|better|well|clean|modern|professional|polished|natural|friendly|warm|confident|right|native|premium|snappy|consistent|fine|beautiful|like\sa)
    | look\sand\sfeel | delightful | pleasant | pleasing | polished | sleek | stylish | tasteful | visually\s\w+ | eye[-\s]catching
    | modern[-\s]?(looking|design|ui|look|interface|aesthetic|and) | clean[-\s,]*(and\s\w+\s)?(design|ui|layout|interface|look|and\s(modern|simple|minimal|elegant|readable|professional))
    | (good|great|excellent|better|improved|amazing|nice|nicer|cleaner|clearer|sleeker|fresher|more\smodern)\s(\w+\s)?(ux|ui|user\sexperience|developer\sexperience|dx|look|design) | professional(ly)?(\s(look|looking|design|tone|quality))?
    | gripping | playful | charming | witty | inspiring | thought[-\s]provoking | (friendly|warm|casual|confident|relaxed)(,?\s\w+)?\s(tone|voice)
    | engaging | compelling | captivating | impressive | catchy | creative | interesting | fun\sto\s\w+ | enjoyable | friendly\s(tone|error|messages?|ui|interface) | idiomatic | pythonic | rustic | wow
    | (feel|feels|felt)\s(and\s)?[a-z]+ | sounds?\s(like|right|human|robotic|good|natural) | (pleasing|easy|nice|gentle)\s(to|on)\s(the\s)?(eyes?|ears?)
    | (colou?rs?|palette|layout|spacing|typography|composition|proportions?|animations?|motion|icons?|visuals?|page|interface|ui|screen|dashboard|design|menu|form)\s(is|are|stays?|remains?|looks?)\s(not\s|never\s|too\s)*(balanced|fresh|busy|tidy|crowded|dated|warm|bright)
    | (tone|voice|style|mood|imagery|images|illustrations?|visuals|content|copy|text|design)\s(match(es)?|fits?|uses?|reflects?|suits?|is\sappropriate\sfor|is\sright\sfor|appropriate\sfor|stays?\strue\sto)\s(the\s|our\s)?(\w+\s)?(brand|voice|audience|persona|platform|character|readers?|tone|personality|identity)
    | brand\s(voice|identity|personality|feel) | visually\sconsistent
    | harmonious | cohesive\s(design|look|feel|style|story|narrative) | inviting | welcoming | memorable | distinctive\s(look|style|voice|design) | uncluttered | clutter[-\s]free | on[-\s]brand | heartfelt | relatable | persuasive | evocative | immersive | poetic | humorous | funny | touching | soothing
    | wow\sfactor | emotional(ly)?(\simpact|\sdepth)? | (fits?|match(es)?|captures?|conveys?|sets?)\sthe\s(right\s)?(mood|vibe|spirit|atmosphere|personality) | impress(es)?\s(the\s)?\w+
    | an?\s(joy|pleasure|delight|treat)\s(to|for)\s\w+ | (reads?|flows?|sounds?|looks?|feels?|moves?)\s(\w+\s)?(naturally|smoothly|nicely|effortlessly|beautifully|gracefully|pleasantly|fluently|crisply|warmly|confidently)
    | well[-\s](balanced|paced|crafted|proportioned|composed|phrased|worded|told|argued)
    | (report|essay|article|story|text|post|copy|prose|book|chapter|summary|letter|e?mail|speech|poem|novel|blog)s?\s(is|are)\s(\w+\s)?well[-\s]written
    | (strikes?|hits?|sets?|finds?|gets?|has)\sthe\sright\s(tone|note|chord|balance|mood|feel|register|pitch)
    | worth\s(reading|watching|seeing|hearing|sharing|playing) | goe?s?\swell\stogether | well[-\s]chosen | has\s(real\s)?(character|style|personality|charm|soul|flair) | tells\san?\s(\w+\s)?story | (looks?|sounds?|seems?)\s(trustworthy|sincere)
    | (pacing|rhythm|atmosphere|mood|ambience|vibe|humou?r|melody)\s(is|are|feels|stays)\s\w+
    | (delights?|charms?|captivates?|inspires?|thrills?|amazes?|bores?|overwhelms?|annoys?|excites?|convinces?|surprises?)\s(the\s|our\s|most\s|all\s)?(readers?|users?|visitors?|audience|customers?|players?|listeners?|viewers?|guests?|people|children)
    | (users|readers|visitors|people|customers|players|listeners|viewers|guests|children|everyone)\s(will\s|would\s)?(loves?|enjoys?|feels?)
    | (hooks?|grabs?|holds?|draws?|captures?|catches)\s(in\s)?(the\s|a\s)?(reader|attention|audience|viewer|eye|interest|imagination)('s)?
    | (makes?|leaves?|gives?)\san?\s(\w+\s)?impression | (in|good)\staste | lovely | cute | adorable | atmospheric | exciting | refreshing | soulful | ugly | cheesy | salesy | amateurish | dull
    | (too|overly|not\stoo)\s(technical|formal|casual|busy|dark|bright|loud|dry|wordy|pushy|stiff|salesy|preachy|academic) | easy\sto\s(grasp|digest|skim|like|pick\sup)
    | (tone|style|wording|voice|writing|prose)\s(is|are|feels)\s\w+ | natural[-\s]sounding | high[-\s]end
";

const SUBJECTIVE_CHINESE: &str = r"优雅|美观|好看|漂亮|精美|美丽|直观|易用|好用|易于使用|易于理解|用户友好|友好的界面|界面友好|体验好|体验良好|体验佳|用户体验|专业|大气|有吸引力|吸引人|生动|有趣|舒适|赏心悦目|现代感|现代化的界面|时尚|视觉效果|酷炫|炫酷|令人满意|自然流畅|文笔|引人入胜|看起来高级|高级感|高大上|动画自然|动效自然|过渡自然|显得专业|大方|流畅自然|朗朗上口|温馨|耳目一新|令人印象深刻|协调|和谐|舒服|感染力|亲切|凌乱|杂乱|拥挤|魅力|顺畅自然|自然过渡|效果自然|突兀|界面美化|页面美化|质感|调性|动人|打动|感人|幽默|风趣|贴心|人性化|养眼|氛围感|代入感|冲击力|好玩|好听|顺眼|地道|接地气|语气一致|语气统一|风格统一|风格一致|视觉一致|视觉统一|品牌感|视觉语言|顺手|符合(用户|直觉|人的)\p{Han}{0,2}(直觉|习惯)|丝滑|手感|愉悦|悦耳|悦目|体验(好|佳|顺|愉|舒|出色|优秀|一流)|(读|看|听|用|玩|摸|吃|喝|闻)起来|显得|感觉(很|良好|舒)|(用户|读者|让人)感觉|觉得|(写|做|画|排|讲|拍|唱|译|设计|布置)得(很|好|漂亮|精|自然|流|生动|美|棒|妙|细)|(有|富有|充满|缺乏|带来|营造|增强)\p{Han}{2,3}感($|\P{Han}|的)|(用户|读者|大家|孩子|客户|玩家|观众|听众)们?都?(喜欢|满意|喜爱|爱不释手)|可爱|诙谐|精致|细腻|典雅|雅致|唯美|沉闷|枯燥|生硬|别扭|刺眼|讨喜|有温度|温暖|俏皮|活泼|震撼|惊艳|耐看|过目不忘|印象深刻|说服力|有深度|品位|格调|灵动|清新|得体|激动人心|人心|心弦|恰到好处|动听|优美|意境|张力|辨识度|引人深思|眼球|礼貌|让(人|读者|观众|听众|玩家)(觉|感|信|放心|安心|舒|满|难忘|期待|喜)|(用户|读者|新手|客户|观众)(不会)?感到|感到(满意|舒|放心|安心|愉|惊|亲|自豪)|表示满意|满意度高|清爽|通俗易懂|浅显易懂|(容易|轻松|快速|便于)上手|上手(快|容易|简单)|不打扰|不(烦|闹|吵)人|打击感|节奏感|沉浸感|信任感|亲和力|画风统一|画风一致|顺畅舒|讨人喜欢|令人(愉|舒|赏|心|惊|难|动|放)|有(品味|个性|灵气|趣味|意思|格调|韵味|层次)|个性鲜明|栩栩如生|逼真|自然不|不(突兀|生硬|做作|单调|乏味|沉闷|刺眼|花哨)|单调|花哨|俗气|土气|老土|养眼|美感|艺术感|科技感|未来感|仪式感|松弛感|年轻化|娓娓|细致入微|趣味性|好记|好懂|爽快|爽感|过瘾|上头|治愈|柔和|明快|抓人|心动";

/// Words that make those before them a name: the Professional plan, a nice value.
const NAMED: &str = r"
    ^\s(nouns?|scroll|scrolling|\w+\sestimators?|estimators?|value|quotes?|commons|plan|edition|tier|licen[cs]e|theme|variant|mode|mascot|density|name|names|cloud|facts?|level\s\d|cache)\b
";

/// The same in Chinese: 专业版, 友好名称.
const NAMED_CHINESE: &str = r"^(版|路径|通道|排序|分支|开关|按钮|选项|字段|标签|标记|脚本|命令|参数|模式|名称|主题|术语|计划|档|改进计划|课|人员|人士|领域|学位|认证|技能|代码|目录|视图|用药|方向|分类|编号) | ^\p{Han}{0,3}(品牌|公司|商标|旗舰店|频道|学院|系列)";

/// A number with a unit or a comparison, a status, an exit code, or a quoted output: the sentence has a measure.
const MEASURE: &str = r#"
    \d+(\.\d+)?\sor\s(more|less|fewer|higher|lower|better|above|below) | \d+(\.\d+)?\s*(%|‰|dpi|ms|µs|s|sec|secs|seconds?|min|minutes?|h|hours?|days?|[kmg]i?b|bytes?|px|fps|hz|x|vw|rem|em|pt|times|errors?|warnings?|items?|rows?|entries|lines?|tests?|files?|characters?|chars?|words?|requests?|users?|attempts?|retries|columns?|pages?|results?|examples?|sections?|steps?|points?|cases?|sentences?|paragraphs?|sources?|秒|毫秒|分钟|小时|天|个|条|行|次|字|页|张|项|倍|字节|人|岁|种)(\b|[^a-z]|$)
    | [<>≤≥=]=?\s*\d | \d\s*[-–]\s*\d | (at\s(least|most)|more\sthan|less\sthan|fewer\sthan|up\sto|under|over|within|below|above|exactly|between|不超过|不少于|不低于|至少|最多|大于|小于|低于|高于|超过)\s*(about\s)?[$€]?(\d|one|two|three|four|five|six|seven|eight|nine|ten)
    | \b(return|returns|returned|status|code|http|respond|responds|with|a|an|gives?|获|返回|状态码)\s*(an?\s)?[1-5]\d\d\b | [1-5]\d\d\s(response|status|for|when|if|on|error|page)
    | exit(s|ed)?\s*(with\s)?(code|status)?\s*\d | non-?zero
    | (show|shows|showing|print|prints|printing|display|displays|say|says|reads?|contain|contains|containing|include|includes|return|returns|output|outputs|log|logs|labeled|labelled|titled|named|called|message|显示|输出|打印|返回|包含|提示)\s*(the\s)?(text|message|string|error|word|value|line|title|label)?\s*["'“‘「`][^"'”’」`]+["'”’」`]
    | (rfc|iso|wcag|cwe|owasp|cve|pep|es)[-\s]?\d | 100\s?% | lighthouse | (zero|no|without)\s(console\s|type\s|lint\s|compiler\s|syntax\s|build\s|runtime\s)?(errors?|warnings?|crash(es)?|failures?|panics?|exceptions?|leaks?)\b
"#;

/// More of something, in the sentence of a task. Words for speed are those of its kind of change.
const COMPARATIVE: &str = r"
    cleaner | better | nicer | neater | tidier | simpler | easier | smaller | lighter | leaner | cheaper | safer | smoother | prettier | friendlier | clearer | stronger | smarter
    | (more|less)\s(reliable|robust|stable|secure|readable|maintainable|efficient|responsive|consistent|modern|modular|flexible|scalable|testable|complex|verbose|flaky|confusing)
    | (clean|tidy)\s(\w+\s){0,3}up | (improve|optimi[sz]e|enhance|moderni[sz]e|simplify|polish)
";

const COMPARATIVE_CHINESE: &str = "更好|更干净|更整洁|更简单|更简洁|更小|更轻|更稳|更安全|更清晰|更清楚|更易|更容易|更高|更低|更少|更强|更顺|更流畅|更可靠|更漂亮|更美|更便宜|更智能|简化|清理一下|重构一下";

static COMPARATIVES: LazyLock<Option<Regex>> =
    LazyLock::new(|| bilingual_pattern(COMPARATIVE, COMPARATIVE_CHINESE));
static VAGUE_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| bilingual_pattern(VAGUE, VAGUE_CHINESE));
static SUBJECTIVE_WORDS: LazyLock<Option<Regex>> =
    LazyLock::new(|| bilingual_pattern(SUBJECTIVE, SUBJECTIVE_CHINESE));
static NAMES: LazyLock<Option<Regex>> =
    LazyLock::new(|| crate::pattern(&format!("{NAMED} | {NAMED_CHINESE}")));
static MEASURES: LazyLock<Option<Regex>> = LazyLock::new(|| crate::pattern(MEASURE));

fn bilingual_pattern(english: &str, chinese: &str) -> Option<Regex> {
    crate::pattern(&format!(r"\b(?:{english})(?:\b|$)|(?:{})", chinese.replace(' ', r"\ ")))
}

pub(super) fn is_measured(prose: &str) -> bool {
    MEASURES.as_ref().is_some_and(|it| it.is_match(prose))
}

pub(super) fn find_vague(prose: &str) -> Option<&str> {
    let listed = first_where(VAGUE_WORDS.as_ref()?, prose, |found| is_judgement(prose, found));
    listed.or_else(|| prose.get(frames::find_frame(prose, |found| is_judgement(prose, found))?))
}

pub(super) fn find_subjective(prose: &str) -> Option<&str> {
    let is_meant = |found: Range<usize>| {
        let is_process = prose.get(found.clone()) == Some("优雅") && frames::is_process(prose);
        !is_process && is_judgement(prose, found)
    };
    let listed = first_where(SUBJECTIVE_WORDS.as_ref()?, prose, is_meant);
    listed.or_else(|| prose.get(judgement::find_judgement(prose, |found| is_judgement(prose, found))?))
}

/// Whether the words judge the result: a name, and a label in quotes, do not.
fn is_judgement(prose: &str, found: Range<usize>) -> bool {
    let rest = prose.get(found.end..).unwrap_or_default();
    let is_name = NAMES.as_ref().is_some_and(|it| it.is_match(rest))
        || is_proper_name(prose, found.clone())
        || frames::is_definite_name(prose, &found);
    !is_name && !is_quoted(prose, found.start)
}

/// Whether a sentence asks for more of something.
pub(super) fn compares(sentence: &str) -> bool {
    ChangeKind::of_sentence(sentence) == ChangeKind::Speed
        || COMPARATIVES.as_ref().is_some_and(|it| first_match(it, sentence).is_some())
}

/// The first match that is not part of a longer technical word, such as `fast-forward` or `machine-readable`.
fn first_match<'a>(pattern: &Regex, prose: &'a str) -> Option<&'a str> {
    first_where(pattern, prose, |_| true)
}

/// The first such match that `is_meant` accepts.
fn first_where<'a>(
    pattern: &Regex,
    prose: &'a str,
    is_meant: impl Fn(Range<usize>) -> bool,
) -> Option<&'a str> {
    let technical = |end: usize| prose.get(end..).is_some_and(|it| it.starts_with(['-', '_', '/', '(']));
    let inside = |start: usize| prose.get(..start).is_some_and(|it| it.ends_with(['-', '_', '/', '.']));
    let mut found = pattern
        .find_iter(prose)
        .filter(|it| !technical(it.end()) && !inside(it.start()) && is_meant(it.range()));
    found.next().map(|it| it.as_str().trim())
}

/// Whether an opening quotation mark before `at` is closed after it.
fn is_quoted(prose: &str, at: usize) -> bool {
    const PAIRS: [(char, char); 5] = [('“', '”'), ('「', '」'), ('『', '』'), ('‘', '’'), ('《', '》')];
    let (before, rest) = prose.split_at_checked(at).unwrap_or((prose, ""));
    let is_open = |(open, close): &(char, char)| {
        before.rfind(*open).is_some_and(|it| !before.get(it..).unwrap_or_default().contains(*close))
            && rest.contains(*close)
    };
    PAIRS.iter().any(is_open) || before.matches('"').count() % 2 == 1 && rest.contains('"')
}

/// "Pleasant Hill", where lower case follows: not a title in which all words are capitalised, and no "Clean UI".
fn is_proper_name(prose: &str, found: Range<usize>) -> bool {
    let starts_upper = |it: &str| it.starts_with(|it: char| it.is_ascii_uppercase());
    let rest = prose.get(found.end..).unwrap_or_default();
    let mut words = rest.strip_prefix(' ').unwrap_or_default().split_whitespace();
    let next = words.next().unwrap_or_default();
    let is_acronym = next.chars().skip(1).any(|it| it.is_ascii_uppercase()) || next.len() < 2;
    starts_upper(prose.get(found).unwrap_or_default())
        && starts_upper(next)
        && !is_acronym
        && words.any(|it| it.starts_with(|it: char| it.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::{COMPARATIVES, MEASURES, NAMES, SUBJECTIVE_WORDS, VAGUE_WORDS};

    #[test]
    fn the_patterns_compile() {
        assert!(
            COMPARATIVES.is_some()
                && VAGUE_WORDS.is_some()
                && SUBJECTIVE_WORDS.is_some()
                && MEASURES.is_some()
                && NAMES.is_some()
        );
    }
}
