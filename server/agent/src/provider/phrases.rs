//! Recognises error names and sentences with which providers refuse requests, and text that merely mentions them. A
//! sentence counts at the start of a line, after error marks at most; error names count anywhere in an error.

use loopkeeper_text::pattern::ConstantPattern;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PhraseMeaning {
    /// A usage limit.
    Quota,
    /// Too many requests: a usage limit only where a long wait is announced.
    Limited,
    Login,
    /// No credit, or an unpaid bill.
    Billing,
    Transient,
    Refused,
}

/// Marks, timestamps and program names before the sentence of an error.
static PREFIX: ConstantPattern = ConstantPattern::new(
    r"(?x)^(?: \s+ | [^\x00-\x7f\p{L}]{1,3}\s+ | \[?\d{4}-\d\d-\d\d[T\s][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]?\s+ | \[?\d\d:\d\d:\d\d[.,\d]*\]?\s+
        | \[(?i:error|fatal|api\serror)(?:\]|:)\s* | (?i:fatal|api|stream|request|(?:llm\s)?provider|llm|model|internal|server|unexpected|unhandled|uncaught)?\s?(?i:error|fatal|failed|failure)(?:\s(?i:code))?\s?:\s+
        | (?i:claude|codex|gemini|opencode|amp|aider|copilot|droid|cursor(?:-agent)?|agent|qwen|goose)(?:\scode)?:\s+
        | (?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception)(?:\s\[\w+\])?(?::|\s-)\s+ | (?:[Hh][Tt][Tt][Pp][/\d.]*|status(?:\scode)?|code):?\s+\(?\d{3}\)?[\s:,-]+ | \(?\[?[45]\d\d\]?\)?(?:\s+|\s?[:-]\s*)
        | (?i:error\swhen\stalking\sto\sgemini\sapi\s(?:full\sreport\savailable\sat:\s\S+\s)?) | Ran\sinto\sthis\serror:\s+ | [a-zA-Z]:\s+ | [Ss]orry,\s+ | exception\s+
        | ERROR\s+ )+",
);
/// Error names as spelled by APIs.
static NAMES: [(ConstantPattern, PhraseMeaning); 6] = [
    (
        ConstantPattern::new(
            r"(?i)\b(?:insufficient_quota|usage_limit_reached|usage_not_included|quota_exceeded|billing_hard_limit_reached)\b",
        ),
        PhraseMeaning::Quota,
    ),
    (
        ConstantPattern::new(
            r"(?i)\b(?:authentication_error|authentication_failed|invalid_api_key|permission_error|UNAUTHENTICATED|PERMISSION_DENIED|API_KEY_INVALID)\b",
        ),
        PhraseMeaning::Login,
    ),
    (
        ConstantPattern::new(r"(?i)\b(?:billing_error|payment_required|insufficient_balance)\b"),
        PhraseMeaning::Billing,
    ),
    (
        ConstantPattern::new(
            r"(?i)\b(?:rate_limit_error|rate_limit_exceeded|rate_limit_reached_error|rate_limited|too_many_requests|RESOURCE_EXHAUSTED)\b|\b429 Too Many Requests\b|\bRateLimitError\b",
        ),
        PhraseMeaning::Limited,
    ),
    (
        ConstantPattern::new(
            r"(?i)\b(?:overloaded_error|server_error|api_error|internal_server_error|service_unavailable|timeout_error)\b|\b(?:500 Internal Server Error|502 Bad Gateway|503 Service Unavailable|504 Gateway Timeout|529)\b",
        ),
        PhraseMeaning::Transient,
    ),
    (
        ConstantPattern::new(
            r"(?i)\b(?:invalid_request_error|context_length_exceeded|model_not_found|not_found_error|request_too_large)\b",
        ),
        PhraseMeaning::Refused,
    ),
];
static SENTENCES: [(ConstantPattern, PhraseMeaning); 6] = [
    (
        ConstantPattern::new(
            r"(?ix)^(?: you(?:['’]ve|\shave)\s(?:hit|reached|exceeded|exhausted|used\s(?:up|all(?:\sof)?))\s(?:your|the)\s(?:[\w'’.-]+\s){0,4}?(?:limit|quota|allowance|credits|capacity)\b
                | you['’]?(?:re|\sare)\s(?:now\s)?out\sof\s(?:extra\s)?usage\b | (?:you['’]?re\s)?out\sof\sextra\susage\b | you\sexceeded\syour\scurrent\squota\b
                | your\susage\sallocation\shas\sbeen\sdisabled\b
                | (?:(?:claude|anthropic|codex|chatgpt|openai|gemini|copilot|cursor|amp|opencode|ai|code|free|go|pro|max|opus|sonnet|fable|your|the|api)\s){0,4}(?:usage|[0-9]+[\s-]hour|five[\s-]hour|hourly|weekly|session|daily|monthly|spend(?:ing)?|plan|premium\srequests?)\s(?:usage\s)?limit\s(?:has\sbeen\s|was\s|is\s)?(?:reached|hit|exceeded)\b
                | limit\sreached\b | (?:free\susage|(?:free|go|account)\s(?:usage\s)?limit)\s(?:exceeded|reached)\b | (?:daily\s|monthly\s|hour\s|api\s|current\s|your\s|free\s|qwen\s|oauth\s|allocated\s|token\s|request\s)*quota\s(?:has\sbeen\s)?(?:exceeded|exhausted)\b
                | (?:resource\shas\sbeen\s)?exhausted\s(?:your|daily|the)\s(?:\w+\s)?quota\b
                | [您你]?的?已经?(?:达到|超出|超过|用完|耗尽).{0,16}?(?:上限|限额|额度|配额) | [您你]?的?.{0,8}(?:额度|配额|用量)已?(?:用完|用尽|耗尽|超限) )",
        ),
        PhraseMeaning::Quota,
    ),
    (
        ConstantPattern::new(
            r"(?ix)^(?: not\slogged\sin\b | you\s(?:are|must\sbe)\s(?:not\s)?logged\s(?:in|out)\b | (?:your\s)?(?:invalid|incorrect|missing|expired)(?:\sor\s(?:missing|invalid))?\sapi[\s_-]?key\b | invalid\sx-api-key\b | (?:your\s|(?:warning:\s)?the\sprovided\s)?api\skey\s(?:is\s)?(?:not\svalid|invalid|expired|missing|not\s(?:set|found))\b
                | please\s(?:run\s/login|log\sin|login|sign\sin)\b | oauth\s(?:token|session)\s(?:has\s|is\s)?(?:expired|revoked|invalid)\b | (?:your\s)?(?:authentication|login|session|access)\s(?:token\s)?(?:has\s)?(?:failed|expired|required)\b
                | (?:401\s)?unauthorized\b | (?:403\s)?forbidden\b | you\sneed\sto\s(?:log|sign)\sin\b | (?:auth(?:entication)?|access|api|refresh|bearer)\stoken\s(?:has\s|is\s)?(?:expired|revoked|invalid)\b | missing\senvironment\svariable:\s`?\w*(?:KEY|TOKEN)\b`? | when\susing\s[\w\s]{1,30},\syou\smust\sspecify\sthe\s\w+_API_KEY\b | (?:no|missing)\s(?:api\skey|credentials|auth(?:entication)?\s(?:token|method|information))(?:\sfound)?\b | please\sset\san\sauth\smethod\sin\s.* | no\sauth\stype\sis\sselected\b | no\sproviders?\sconfigured\b | your\s(?:access|refresh)\stoken\scould\snot\sbe\srefreshed\b.* | access\sdenied\sby\spolicy\ssettings\b | \[unauthenticated\](?:\s.*)?$ | (?:the\s)?(?:security\s)?token\s(?:included\sin\sthe\srequest\s)?is\sexpired\b | could\snot\sload\sthe\sdefault\scredentials\b | failed\sto\sauthenticate\b | classic\spersonal\saccess\stokens\s\(ghp_\)\sare\snot\ssupported\b | unexpected\sstatus\s40[13]\b | (?:您|你)?(?:尚未|未)登录 | 请先?(?:重新)?登录 | 登录(?:状态)?已?(?:过期|失效) )",
        ),
        PhraseMeaning::Login,
    ),
    (
        ConstantPattern::new(
            r"(?ix)^(?: (?:your\s)?credit\sbalance\sis\stoo\slow\b | insufficient\s(?:credits?|balance|funds)\b | credits\sexhausted\b | (?:your\s(?:org(?:anization)?|workspace|team|group|account)\sis|you(?:['’]re|\sare))\sout\sof\s(?:usage\s)?credits\b | your\sorg(?:anization)?\sis\sout\sof\susage\b
                | you\shit\syour\sspend\scap\b(?:\sset\s(?:in|by)\s[\w\s]{1,40})? | to\suse\scodex\swith\syour\schatgpt\splan,\supgrade\b.* | access\sdenied,\splease\smake\ssure\syour\saccount\sis\sin\sgood\sstanding\b | (?:402\s)?payment\srequired\b | [您你]?的?(?:账户|账号)?余额不足 | [您你]?的?(?:账户|账号)已?欠费 )",
        ),
        PhraseMeaning::Billing,
    ),
    (
        ConstantPattern::new(
            r"(?ix)^(?: (?:api\s|request\s|your\s|the\s)*rate[\s-]limit(?:ed|\s(?:was\s|has\sbeen\s|is\s)?(?:reached|exceeded|hit))?(?:\b|$) | too\smany\srequests\b | you\s(?:have\sbeen|are\sbeing)\srate[\s-]limited\b | you\shave\sexceeded\syour\scopilot\stoken\susage\b | server\sis\stemporarily\slimiting\srequests\b(?:\s\(not\syour\susage\slimit\))? | \[resource_exhausted\](?:\s.*)?$ | exceeded\sretry\slimit,\slast\sstatus:\s429 | resource\shas\sbeen\sexhausted\b | this\srequest\swould\sexceed\s(?:your|the)\s.{0,60}rate\slimit | (?:429\s)too\smany\b | 请求(?:过于频繁|过多|频率超限) )",
        ),
        PhraseMeaning::Limited,
    ),
    (
        ConstantPattern::new(
            r"(?ix)^(?: overloaded\b | (?:the\s|selected\s)?(?:model|server|service|engine|provider|model\sprovider)\s(?:is\s)?(?:currently\s|temporarily\s)?(?:overloaded|unavailable|at\scapacity) | temporarily\soverloaded | repeated\s529\soverloaded\serrors\b | (?:codex|claude|gemini|opus|sonnet|haiku|fable|gpt[\w.-]*|(?:the\s|this\s)?model)\sis\s(?:currently\s)?experiencing\shigh\s(?:load|demand)\b | no\scapacity\savailable\sfor\s.* | streaming\s(?:setup\s)?timeout(?:\safter\s\d+s)?\b | unable\sto\sconnect\.(?:\sis\sthe\scomputer\s.*|$) | \[(?:unavailable|deadline_exceeded|aborted|internal)\](?:\s.*)?$ | internal\sserver\serror\b | service\s(?:temporarily\s)?unavailable | bad\sgateway | gateway\stime-?out
                | stream\sdisconnected(?:\sbefore\scompletion)? | connection\serror\.?$ | fetch\sfailed(?:\ssending\srequest)?\b | (?:connect|read|getaddrinfo)\s(?:ECONN\w+|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)\b(?:\s[\w.-]*[.:][\w.:-]*)? | socket\shang\sup\b | error\ssending\srequest\b | we['’]re\scurrently\sexperiencing\shigh\sdemand | request\stimed\sout\.?$ | unable\sto\sconnect\sto\sapi | couldn['’]t\sconnect\sto\sthe\s\w+\sserver\b | failed\sto\sfetch\s[\w\s]{1,40}:\snetwork\sfetch\sfailed\b | exceeded\sretry\slimit | json\sparsing\sfailed | model\sstream\sended\swith(?:out\sa\sfinish\sreason|\sempty\sresponse\stext)\b | incomplete\sjson\ssegment\b )",
        ),
        PhraseMeaning::Transient,
    ),
    (
        ConstantPattern::new(
            r"(?ix)^(?: prompt\sis\stoo\slong | input\sis\stoo\slong | (?:input\sexceeds\s(?:the\s)?)?context\s(?:length|window)(?:\slimit)?(?:\sexceeded|\sof\sthis\smodel)\b | model\s\S+\s(?:does\snot\sexist|not\sfound) | model\snot\sfound\b | the\srequested\smodel\sis\snot\ssupported\b
                | the\sinput\stoken\scount\s.{0,40}\sexceeds\b.* | codex\sran\sout\sof\sroom\sin\sthe\smodel['’]s\scontext\swindow\b | (?:this|your)\s(?:content|request|message|prompt)\s(?:was|has\sbeen)\sflagged\b | [\w.\s-]{1,30}['’]s\ssafeguards\sflagged\sthis\smessage\b | invalid\sprompt:\swe['’]ve\slimited\saccess\b.* | range\sof\sinput\slength\sshould\sbe\b )",
        ),
        PhraseMeaning::Refused,
    ),
];
/// Usage limits in the languages into which agents are translated.
static TRANSLATED_LIMITS: ConstantPattern = ConstantPattern::new(
    r"(?ix)^(?: voc[êe]\s(?:atingiu|excedeu|esgotou)\s(?:o|a|seu|sua)\s(?:\p{L}+\s){0,2}?(?:limite|cota)\b | limite\sde\suso\s(?:atingido|excedido|alcanzado|superado)\b
        | has\s(?:alcanzado|superado|agotado)\s(?:el|tu|su)\s(?:\p{L}+\s){0,2}?(?:l[íi]mite|cuota)\b
        | (?:la\s|votre\s)?limite\s(?:d['’]utilisation|d['’]usage|hebdomadaire|quotidienne)\s(?:a\s[ée]t[ée]\s|est\s)?(?:atteinte|d[ée]pass[ée]e)\b | vous\savez\s(?:atteint|d[ée]pass[ée]|[ée]puis[ée])\s(?:la|le|votre)\s(?:\p{L}+\s){0,2}?(?:limite|quota)\b
        | (?:das\s|dein\s|ihr\s)?(?:nutzungs|wochen|tages|sitzungs)(?:limit|kontingent)\s(?:ist\s|wurde\s)?(?:erreicht|überschritten|aufgebraucht|erschöpft)\b | (?:du\shast|sie\shaben)\s(?:das|dein|ihr)\s(?:\p{L}+\s)?\p{L}*(?:limit|kontingent)\s(?:erreicht|überschritten|aufgebraucht|erschöpft)\b
        | (?:使用量|利用|使用|利用量)(?:の?(?:上限|限度)|制限)に達し(?:ました|ています) | (?:사용|이용)(?:량)?\s?(?:한도|제한)(?:에\s도달|를\s초과)(?:했습니다|하였습니다) )[^.!。\n]{0,40}",
);
/// Unreadable answers as described by a parser; such a message alone could be about any file.
static UNREADABLE: ConstantPattern = ConstantPattern::new(
    r"(?is)^\[API Error: (?:un)?(?:expected|terminated|exponent|bad|no number)\b.*\bJSON\b",
);
/// How a provider's sentence continues; any other continuation is text about the error.
static SENTENCE_CONTINUATION: ConstantPattern = ConstantPattern::new(
    r"(?ix)^(?:\s*\]?$ | \s*[.!|:;,·∙•(\[{—–，。！；：、（-] | \s+(?:resets?|try|retry|please|until|for|at|on|upgrade|your|and\syou|contact|visit|or|wait|[45]\d\d|environment|by|in\s\d|to\s(?:proceed|access|continue)|with\sthe|retrying)\b)",
);
/// Lists, quotations, code, diffs, tests and their results.
static MENTION: ConstantPattern = ConstantPattern::new(
    r"(?x)^\s*(?:[-+*>|•]\s|[-+][^-\s]|//|/\*|\#|\d+[.)]\s|<|@@|[`'\x22“«])|::|=>|->|\|\||&&|[;\\]$|\b(?i:expect(?:ed|s)?|assert\w*|tests?|testing|tested|mock\w*|fixture\w*|spec|describe)\b\s*[('\x22`:]?|\bit\s?\(|\b(?:fn|def|func|function|class|const|let|var|return|throw|raise|import|case|match|if|grep|echo|printf?)\b\s*[\w('\x22]|\b(?i:retrying|reconnecting|attempt\s\d|handl(?:e|es|ed|ing)|implement\w*|documented|added|fixed|shows?|displays?|simulat\w*|whether|when\sthe|ok\s\d)\b|\b(?:PASS|FAIL)(?:ED)?\b|^error\[|\.(?:rs|py|js|ts|tsx|go|java|rb|md)\b",
);
static ADVICE: ConstantPattern = ConstantPattern::new(
    r"(?ix)^\W*(?: /?(?:upgrade|login|extra-usage|rate-limit-options)\b | (?:please\s)?(?:try|retry|wait|run|visit|see|update|upgrade|switch|contact|set|check|log\sin|sign\sin)\b | (?:your\s)?(?:limit|quota|usage|it|access)?\s?(?:will\s)?resets?\b | retry-after\b | (?:request[\s_-]?id|for\smore\sinformation|learn\smore|more\sinfo)\b | https?:// | what\sdo\syou\swant\sto\sdo )",
);
static STATUS: ConstantPattern = ConstantPattern::new(
    r"(?i)(?:^|\b(?:status(?:\s?code)?|error(?:\scode)?|http(?:/[\d.]+)?|api\serror|code|last\sstatus)\b)[\s:=\x22(]{0,3}(?P<status>[45]\d\d)(?:[\s:,)\x22-]|$)",
);
static ERROR: ConstantPattern = ConstantPattern::new(
    r"(?x)^\s*(?:[^\x00-\x7f]\s*)?(?:\[?(?i:error|fatal|panic|failed|failure)\b|\w*(?:Error|Exception)\b|Traceback|thread\s.*panicked|\S+:\s(?:error|fatal|command\snot\sfound))",
);

/// Classifies a line by an error name in it or by the sentence at its beginning.
pub(super) fn classify_line(line: &str) -> Option<PhraseMeaning> {
    let sentence = strip_error_prefix(line);
    let meaning_of = |(pattern, meaning): &(ConstantPattern, PhraseMeaning)| {
        let end = pattern.find(sentence)?.end();
        SENTENCE_CONTINUATION.is_match(sentence.get(end..)?).then_some(*meaning)
    };
    let named = || NAMES.iter().find(|(name, _)| name.is_match(line)).map(|(_, meaning)| *meaning);
    let is_one_word = !line.trim().contains([' ', '(', '{']);
    // A bullet or a number at the beginning does not make a line an error.
    let mark = line.get(..line.len() - sentence.len()).unwrap_or_default();
    let is_error = mark.contains(|char: char| char.is_ascii_alphabetic()) || is_one_word;
    let translated = || TRANSLATED_LIMITS.is_match(sentence).then_some(PhraseMeaning::Quota);
    SENTENCES
        .iter()
        .find_map(meaning_of)
        .or_else(translated)
        .or_else(|| if is_error || ERROR.is_match(line) || begins_with_name(line) { named() } else { None })
}

fn begins_with_name(line: &str) -> bool {
    NAMES.iter().any(|(name, _)| name.find(line.trim_start()).is_some_and(|found| found.start() == 0))
}

/// Removes error marks from the beginning of the line.
fn strip_error_prefix(line: &str) -> &str {
    let end = PREFIX.find(line).map_or(0, |it| it.end());
    line.get(end..).unwrap_or_default()
}

/// The numeric status in an error.
pub(super) fn parse_status(line: &str) -> Option<u16> {
    STATUS.captures(line)?.name("status")?.as_str().parse().ok()
}

/// Whether the message reports an unreadable provider answer.
pub(super) fn is_unreadable(words: &str) -> bool {
    UNREADABLE.is_match(words)
}

/// Whether the line contains the status of a provider's answer.
pub(super) fn is_answer(line: &str) -> bool {
    static ANSWER: ConstantPattern = ConstantPattern::new(
        r"(?i)^\W*(?:api error:? \(?[45]\d\d\b|(?:\w*error: )?(?:unexpected status|request failed with status code) [45]\d\d\b|[\w.]*error: error code: [45]\d\d - )",
    );
    ANSWER.is_match(line)
}

/// Whether the line is about errors or is not final.
pub(super) fn is_about(line: &str) -> bool {
    // Payloads of an API are not code.
    let text = line.split_once('{').map_or(line, |(text, _)| text);
    // Advice to wait is part of the error.
    MENTION.is_match(&text.replace(" before retrying", ""))
}

/// Whether the line advises what to do or when to retry.
pub(super) fn is_advice(line: &str) -> bool {
    ADVICE.is_match(line) && classify_line(line).is_none()
}

pub(super) fn is_error(line: &str) -> bool {
    ERROR.is_match(line)
}

/// Whether the line reports a failed request in the form of a known program (Aider, Goose).
pub(super) fn is_report(line: &str) -> bool {
    static REPORT: ConstantPattern = ConstantPattern::new(r"^(?:litellm\.\w+Error: |Ran into this error: )");
    REPORT.is_match(line)
}

/// Whether the line is what these programs print below the report.
pub(super) fn is_advice_of_report(line: &str) -> bool {
    static REPORT_FOOTER: ConstantPattern = ConstantPattern::new(
        r"^(?:The API provider\b|Please retry if you think this is a transient\b|https?://\S+$)",
    );
    REPORT_FOOTER.is_match(line)
}

/// Whether the sentence is the whole line, apart from a reset time and advice.
pub(super) fn is_alone(line: &str) -> bool {
    static RESET_OR_ADVICE: ConstantPattern = ConstantPattern::new(
        r"(?ix)^[\s.!|:;,·∙•()—–-]*(?:\d{10,13}\s*$|$|(?:(?:your\slimit\s)?resets?|try|retry|please|until|upgrade|visit|contact|/\w+|wait|for\s\S+\.?$)\b)",
    );
    let sentence = strip_error_prefix(line);
    let end = SENTENCES.iter().find_map(|(pattern, _)| pattern.find(sentence)).map(|it| it.end());
    !is_about(line)
        && end.and_then(|end| sentence.get(end..)).is_some_and(|rest| RESET_OR_ADVICE.is_match(rest))
}
