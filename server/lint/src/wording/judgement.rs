//! Finds judgements of taste by their frame: an adjective of taste after a verb such as `is` or `feels`, or before the
//! part of a product that it describes; people and their feelings. The frame distinguishes "the layout is modern" from
//! "the modern build target", which a list of words alone cannot.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

/// Adjectives that express an opinion wherever they are predicates or describe a part of a product.
const TASTE: &str = "
    adorable airy alluring amateurish amazing amusing annoying appealing artistic astonishing atmospheric attractive
    awesome awkward beautiful believable bland boring breathtaking brilliant calm calming captivating charming cheeky
    cheerful cheesy cinematic classy clever clumsy clunky cluttered coherent cohesive comfortable comforting compelling
    confident confusing convincing cool cosy cozy cramped creative crisp cute daunting dazzling delicate delightful
    distracting dramatic dreamy dull edgy eerie elegant empathetic empowering enchanting encouraging engaging enjoyable
    entertaining enticing ergonomic evocative exciting expressive exquisite fancy fascinating flashy fluent friendly
    frustrating fun funny futuristic garish gaudy gentle gimmicky gloomy gorgeous graceful gripping handsome harmonious
    harsh heartfelt heartwarming human humorous imaginative immersive impressive informative insightful inspired
    inspiring interesting intimidating intriguing intrusive intuitive inviting irritating jarring joyful lifeless
    lifelike likable likeable lively lovable lovely luxurious magical majestic memorable mesmerising mesmerizing
    minimalist modern monotonous moody motivating mysterious natural neat nice nostalgic obtrusive offputting
    old-fashioned opulent overwhelming painless patronising patronizing peaceful playful pleasant pleasing pleasurable
    poetic polished polite premium pretty professional punchy quirky reassuring refined refreshing relatable relaxed
    relaxing rewarding robotic romantic salesy satisfying scary serene shabby shocking silky silly sincere sleek slick
    snappy soothing sophisticated soulful spectacular spooky stiff stilted striking stunning stylish sublime supportive
    suspenseful tacky tasteful tedious tempting terrific thoughtful thrilling timeless tiresome touching tranquil trendy
    trustworthy ugly unappealing uncluttered underwhelming unforgettable unobtrusive unprofessional upbeat uplifting
    vibrant vivid weird welcoming whimsical witty wonderful youthful
";
/// The parts of a product that its users see or hear.
const PRODUCT_PARTS: &str = "
    animation animations app appearance atmosphere avatar avatars background banner brand branding card cards character
    characters charts chart color colors colour colours content copy cover dashboard design details dialogue
    documentation effects ending experience feel feeling finish flow font fonts gameplay graphics gui headline homepage
    icon icons illustration illustrations image imagery images impression interaction interactions interface intro
    introduction layout logo look menu mood motion music narrative onboarding opening page pages palette
    personality photos pictures presentation prose scene scenes screen screens shadows site slides sound sounds spacing
    story storytelling style styling text theme title tone touch touches transition transitions typography ui ux vibe
    visuals voice wallpaper website wording writing
";
/// Verbs before an adjective that describes their subject.
const COPULAS: &str = "
    is are be was were been being isn't aren't stay stays remain remains feel feels felt look looks looked sound sounds
    seem seems read reads appear appears get gets become becomes
";
/// Words between the verb and its adjective, or between an adjective and its noun.
const MODIFIERS: &str = "
    not never too so very more less quite really truly especially rather always as both and or yet but overly equally
    consistently visually emotionally highly genuinely slightly a an still
";
const PEOPLE: &str = "
    user users reader readers reviewer reviewers customer customers developer developers visitor visitors player players
    audience viewer viewers listener listeners guest guests people children kids students learners everyone beginners
    newcomers stakeholders testers staff team editors managers patients drivers shoppers seniors
";
/// Adjectives for the feelings of people about a product.
const FEELINGS: &str = "
    amazed amused annoyed bored charmed comfortable confident confused convinced delighted engaged enthusiastic excited
    frustrated happy impressed inspired intrigued irritated motivated moved overwhelmed pleased proud reassured relaxed
    satisfied surprised thrilled welcome
";
const PREFERENCES: &str = "love loves enjoy enjoys appreciate appreciates trust trusts admire admires";
const OPINION_VERBS: &str = "find finds found consider considers";
/// Adjectives that express an opinion after one of these verbs only.
const OPINION_ADJECTIVES: &str = "helpful useful easy clear simple readable understandable good great usable";

/// Words after an adjective that ends its clause. A noun after it ("is natural language") makes it a part of a term.
const FOLLOWERS: &str = "
    and or but to for on in at with when while even from enough throughout across without yet as after during by rather
";
/// Maximum distance of the other words of a frame, so that the time is linear in the length of the sentence.
const MAX_DISTANCE: usize = 8;

static WORDS: LazyLock<JudgementWords> = LazyLock::new(JudgementWords::new);

struct JudgementWords {
    taste: HashSet<&'static str>,
    parts: HashSet<&'static str>,
    copulas: HashSet<&'static str>,
    modifiers: HashSet<&'static str>,
    people: HashSet<&'static str>,
    feelings: HashSet<&'static str>,
    preferences: HashSet<&'static str>,
    opinion_verbs: HashSet<&'static str>,
    opinion_adjectives: HashSet<&'static str>,
    followers: HashSet<&'static str>,
}

impl JudgementWords {
    fn new() -> Self {
        let set = |list: &'static str| list.split_whitespace().collect();
        Self {
            taste: set(TASTE),
            parts: set(PRODUCT_PARTS),
            copulas: set(COPULAS),
            modifiers: set(MODIFIERS),
            people: set(PEOPLE),
            feelings: set(FEELINGS),
            preferences: set(PREFERENCES),
            opinion_verbs: set(OPINION_VERBS),
            opinion_adjectives: set(OPINION_ADJECTIVES),
            followers: set(FOLLOWERS),
        }
    }
}

/// A word in lower case, and where it is written.
struct LocatedWord {
    text: String,
    start: usize,
    end: usize,
}

/// The range of the first judgement that `is_meant` accepts.
pub(super) fn find_judgement(prose: &str, is_meant: impl Fn(Range<usize>) -> bool) -> Option<Range<usize>> {
    let words = words_of(prose);
    let sentence = WordedSentence { words: &words, known: &WORDS };
    let mut frames = (0..words.len()).filter_map(|at| sentence.judgement_at(at));
    frames.find_map(|(first, last)| {
        let range = words.get(first)?.start..words.get(last)?.end;
        is_meant(range.clone()).then_some(range)
    })
}

/// Splits at blanks and punctuation. Hyphens, apostrophes, slashes and underscores belong to a word, so that a path or an
/// identifier matches no adjective.
fn words_of(prose: &str) -> Vec<LocatedWord> {
    let is_part = |it: char| it.is_alphanumeric() || "-'’_/.`@".contains(it);
    let mut words = Vec::new();
    let mut from = 0;
    while let Some(start) = prose.get(from..).and_then(|it| it.find(is_part)).map(|it| it + from) {
        let rest = prose.get(start..).unwrap_or_default();
        let end = start + rest.find(|it| !is_part(it)).unwrap_or(rest.len());
        let word = prose.get(start..end).unwrap_or_default().trim_end_matches(['.', '\'']);
        words.push(LocatedWord {
            text: word.to_lowercase().replace('’', "'"),
            start,
            end: start + word.len(),
        });
        from = end;
    }
    words
}

/// The indices before one that a frame may reach, the nearest first.
fn indices_before(at: usize) -> impl Iterator<Item = usize> {
    (at.saturating_sub(MAX_DISTANCE)..at).rev()
}

struct WordedSentence<'a> {
    words: &'a [LocatedWord],
    known: &'a JudgementWords,
}

impl WordedSentence<'_> {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |it| &it.text)
    }

    /// The first and the last word of a judgement whose most important word is at this index.
    fn judgement_at(&self, at: usize) -> Option<(usize, usize)> {
        let word = self.word(at);
        let is_taste = self.known.taste.contains(word);
        let frame = is_taste.then(|| self.predicate_at(at).or_else(|| self.attribute_at(at))).flatten();
        let is_opinion = is_taste || self.known.opinion_adjectives.contains(word);
        let frame = frame.or_else(|| is_opinion.then(|| self.opinion_at(at)).flatten());
        let frame =
            frame.or_else(|| self.known.feelings.contains(word).then(|| self.feeling_at(at)).flatten());
        if frame.is_some() {
            return frame;
        }
        let is_preference = self.known.preferences.contains(word) && at > 0 && self.is_people(at - 1);
        is_preference.then(|| (at - 1, at))
    }

    /// "is calm", "feels warm and modern", "comes across as friendly".
    fn predicate_at(&self, at: usize) -> Option<(usize, usize)> {
        let known = |it: &str| self.known.modifiers.contains(it) || self.known.taste.contains(it);
        let verb = indices_before(at).find(|it| !known(self.word(*it)))?;
        let is_as =
            self.word(verb + 1) == "as" && matches!(self.word(verb), "across" | "perceived" | "experienced");
        let is_copula = is_as || self.known.copulas.contains(self.word(verb));
        let next = self.word(at + 1);
        let is_last = next.is_empty() || self.known.followers.contains(next);
        (is_copula && is_last).then_some((verb, at))
    }

    /// "a calm layout", "fresh and modern visuals".
    fn attribute_at(&self, at: usize) -> Option<(usize, usize)> {
        const MAX_NOUN_DISTANCE: usize = 3;
        // "The elegant theme" is the name of one.
        if at > 0 && self.word(at - 1) == "the" {
            return None;
        }
        let part = (at + 1..=at + MAX_NOUN_DISTANCE).find(|it| self.known.parts.contains(self.word(*it)))?;
        // One word may name the part: "a playful error page".
        let others = (at + 1..part).filter(|it| {
            let word = self.word(*it);
            !self.known.modifiers.contains(word) && !self.known.taste.contains(word)
        });
        (others.count() <= 1).then_some((at, part))
    }

    /// "Support staff find the tool helpful".
    fn opinion_at(&self, at: usize) -> Option<(usize, usize)> {
        let verb = indices_before(at).find(|it| self.known.opinion_verbs.contains(self.word(*it)))?;
        (verb > 0 && self.is_people(verb - 1)).then_some((verb, at))
    }

    /// "Developers are happy with it", "readers come away inspired".
    fn feeling_at(&self, at: usize) -> Option<(usize, usize)> {
        let people = indices_before(at).filter(|it| self.is_people(*it)).last()?;
        let before = self.word(at.checked_sub(1)?);
        let is_framed = matches!(before, "away" | "leave" | "become")
            || self.known.copulas.contains(before)
            || self.known.modifiers.contains(before);
        is_framed.then_some((people, at))
    }

    fn is_people(&self, at: usize) -> bool {
        self.known.people.contains(self.word(at))
            || matches!(self.word(at), "will" | "should" | "must" | "would")
                && at > 0
                && self.known.people.contains(self.word(at - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::find_judgement;

    #[test]
    fn an_adjective_of_taste_counts_in_its_frame() {
        let rows = [
            ("The layout is not too dull", Some("is not too dull")),
            ("Sounds feel calm and natural", Some("feel calm")),
            ("The assistant comes across as friendly", Some("across as friendly")),
            ("A calm and crisp colour palette", Some("calm and crisp colour")),
            ("Support staff find the tool helpful", Some("find the tool helpful")),
            ("Developers are happy with the client", Some("Developers are happy")),
            ("Readers should come away inspired", Some("Readers should come away inspired")),
            ("Customers trust the payment page", Some("Customers trust")),
            ("A fresh clone builds", None),
            ("The worker is busy while it restarts", None),
            ("The cache is warm after the first request", None),
            ("The playful theme is listed", None),
            ("The modern build target is es2022", None),
            ("Natural language queries are parsed", None),
            ("The column is pretty-printed", None),
            ("`src/fun.rs` is removed", None),
            ("Users find the export button in the menu", None),
            ("The client trusts the certificate", None),
            ("The sort is natural order", None),
            ("The cool down is 3 turns", None),
        ];
        for (prose, expect) in rows {
            let found = find_judgement(prose, |_| true).and_then(|it| prose.get(it));
            assert_eq!(found, expect, "{prose}");
        }
    }
}
