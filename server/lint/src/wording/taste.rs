//! Finds judgements of taste by their frame: an adjective of taste behind a verb such as `is` or `feels`, or before the
//! part of a product that it describes; people and what they feel. The frame tells "the layout is fresh" from "a fresh
//! clone", which a list of words alone cannot.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Adjectives that express an opinion wherever they are predicates or describe a part of a product.
const TASTE: &str = "
    adorable alluring amateurish amazing amusing annoying appealing artistic atmospheric attractive authentic awesome
    awkward beautiful believable bland boring breathtaking bright brilliant bulky busy calm calming captivating charming
    cheerful cheesy classy clever clumsy clunky cluttered coherent cohesive comfortable comforting compelling confident
    confusing convincing cool cosy cozy cramped creative crisp cute dated daunting dazzling delicate delightful
    distracting dramatic dreamy dull eerie elegant empathetic empowering enchanting encouraging engaging enjoyable
    entertaining enticing ergonomic evocative exciting exquisite expressive fancy fascinating flashy fluent fresh
    friendly frustrating fun funny futuristic garish gaudy gentle gimmicky gloomy gorgeous graceful gripping handsome
    harmonious harsh heartfelt heartwarming human humorous imaginative immersive impressive informative inspired
    inspiring insightful interesting intimidating intriguing intrusive intuitive inviting irritating jarring joyful
    lifeless lifelike lively likeable likable lovable lovely luxurious magical majestic memorable mesmerising
    mesmerizing minimalist modern monotonous moody motivating moving mysterious natural neat nice nostalgic obtrusive
    offputting old-fashioned opulent overwhelming painless patronising patronizing peaceful playful pleasant pleasing
    pleasurable poetic polished polite premium pretty professional punchy quirky reassuring refined refreshing relatable
    relaxed relaxing rewarding robotic romantic salesy satisfying scary serene shabby silly sincere sleek slick snappy
    silky soothing sophisticated soulful spectacular spooky stale stiff stilted striking stunning stylish sublime
    supportive suspenseful tacky tasteful tedious tempting tense terrific thoughtful thrilling timeless tiresome
    touching tranquil trendy trustworthy ugly unappealing uncluttered underwhelming unforgettable unobtrusive
    unprofessional upbeat uplifting vibrant vivid warm weird welcoming whimsical witty wonderful youthful
";
/// What a product consists of, in the eyes of those who use it.
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
/// What people are, or feel, of a product.
const FEELINGS: &str = "
    amazed amused annoyed bored charmed comfortable confident confused convinced delighted engaged enthusiastic excited
    frustrated happy impressed inspired intrigued irritated motivated moved overwhelmed pleased proud reassured relaxed
    satisfied surprised thrilled welcome
";
const PREFERENCES: &str = "love loves enjoy enjoys appreciate appreciates trust trusts admire admires";
const FIND: &str = "find finds found consider considers";
/// Adjectives that are a matter of opinion once somebody finds something so.
const FOUND: &str = "helpful useful easy clear simple readable understandable good great usable";

static WORDS: LazyLock<Words> = LazyLock::new(Words::new);

struct Words {
    taste: HashSet<&'static str>,
    parts: HashSet<&'static str>,
    copulas: HashSet<&'static str>,
    modifiers: HashSet<&'static str>,
    people: HashSet<&'static str>,
    feelings: HashSet<&'static str>,
    preferences: HashSet<&'static str>,
    find: HashSet<&'static str>,
    found: HashSet<&'static str>,
}

impl Words {
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
            find: set(FIND),
            found: set(FOUND),
        }
    }
}

/// A word in lower case, and where it is written.
struct Word {
    text: String,
    start: usize,
    end: usize,
}

/// The words of the first judgement, as they are written there.
pub(super) fn judgement(prose: &str) -> Option<&str> {
    let words = words_of(prose);
    let sentence = Sentence { words: &words, known: &WORDS };
    let (first, last) = (0..words.len()).find_map(|at| sentence.judgement_at(at))?;
    prose.get(words.get(first)?.start..words.get(last)?.end)
}

/// Words with their hyphens and apostrophes. Paths, options and identifiers are none.
fn words_of(prose: &str) -> Vec<Word> {
    let is_part = |it: char| it.is_alphanumeric() || "-'’_/.`@".contains(it);
    let mut words = Vec::new();
    let mut from = 0;
    while let Some(start) = prose.get(from..).and_then(|it| it.find(is_part)).map(|it| it + from) {
        let rest = prose.get(start..).unwrap_or_default();
        let end = start + rest.find(|it| !is_part(it)).unwrap_or(rest.len());
        let word = prose.get(start..end).unwrap_or_default().trim_end_matches(['.', '\'']);
        words.push(Word { text: word.to_lowercase().replace('’', "'"), start, end: start + word.len() });
        from = end;
    }
    words
}

struct Sentence<'a> {
    words: &'a [Word],
    known: &'a Words,
}

impl Sentence<'_> {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |it| &it.text)
    }

    /// The first and the last word of a judgement whose most important word is at this index.
    fn judgement_at(&self, at: usize) -> Option<(usize, usize)> {
        let word = self.word(at);
        let of_taste = || self.predicate(at).or_else(|| self.attribute(at));
        let frame = self.known.taste.contains(word).then(of_taste).flatten();
        let is_found = self.known.taste.contains(word) || self.known.found.contains(word);
        let frame = frame.or_else(|| is_found.then(|| self.finding(at)).flatten());
        let frame = frame.or_else(|| self.known.feelings.contains(word).then(|| self.feeling(at)).flatten());
        if frame.is_some() {
            return frame;
        }
        let is_preference = self.known.preferences.contains(word) && at > 0 && self.is_people(at - 1);
        is_preference.then(|| (at - 1, at))
    }

    /// "is calm", "feels warm and modern", "comes across as friendly".
    fn predicate(&self, at: usize) -> Option<(usize, usize)> {
        let known = |it: &str| self.known.modifiers.contains(it) || self.known.taste.contains(it);
        let verb = (0..at).rev().find(|it| !known(self.word(*it)))?;
        let is_as =
            self.word(verb + 1) == "as" && matches!(self.word(verb), "across" | "perceived" | "experienced");
        let is_copula = is_as || self.known.copulas.contains(self.word(verb));
        // "is natural language", "is cool down": a noun follows.
        let is_last = matches!(
            self.word(at + 1),
            "" | "and"
                | "or"
                | "but"
                | "to"
                | "for"
                | "on"
                | "in"
                | "at"
                | "with"
                | "when"
                | "while"
                | "even"
                | "from"
                | "enough"
                | "throughout"
                | "across"
                | "without"
                | "yet"
                | "as"
                | "after"
                | "during"
                | "by"
                | "rather"
        );
        (is_copula && is_last).then_some((verb, at))
    }

    /// "a calm layout", "fresh and modern visuals".
    fn attribute(&self, at: usize) -> Option<(usize, usize)> {
        const MAX_DISTANCE: usize = 3;
        // "The elegant theme" is the name of one.
        if at > 0 && self.word(at - 1) == "the" {
            return None;
        }
        let part = (at + 1..=at + MAX_DISTANCE).find(|it| self.known.parts.contains(self.word(*it)))?;
        // One word may name the part: "a playful error page".
        let others = (at + 1..part).filter(|it| {
            let word = self.word(*it);
            !self.known.modifiers.contains(word) && !self.known.taste.contains(word)
        });
        (others.count() <= 1).then_some((at, part))
    }

    /// "Support staff find the tool helpful".
    fn finding(&self, at: usize) -> Option<(usize, usize)> {
        let verb = (0..at).rev().find(|it| self.known.find.contains(self.word(*it)))?;
        (verb > 0 && self.is_people(verb - 1)).then_some((verb, at))
    }

    /// "Developers are happy with it", "readers come away inspired".
    fn feeling(&self, at: usize) -> Option<(usize, usize)> {
        const MAX_DISTANCE: usize = 6;
        let people = (at.saturating_sub(MAX_DISTANCE)..at).find(|it| self.is_people(*it))?;
        let known =
            ["are", "is", "be", "feel", "feels", "away", "stay", "leave", "get", "become", "never", "not"];
        let verb = at.checked_sub(1).map(|it| self.word(it))?;
        let is_framed = known.contains(&verb) || self.known.modifiers.contains(verb);
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
    use super::judgement;

    #[test]
    fn an_adjective_of_taste_counts_in_its_frame() {
        let rows = [
            ("The layout is not too busy", Some("is not too busy")),
            ("Sounds feel warm and natural", Some("feel warm")),
            ("The assistant comes across as friendly", Some("across as friendly")),
            ("A calm and fresh colour palette", Some("calm and fresh colour")),
            ("Support staff find the tool helpful", Some("find the tool helpful")),
            ("Developers are happy with the client", Some("Developers are happy")),
            ("Readers should come away inspired", Some("Readers should come away inspired")),
            ("Customers trust the payment page", Some("Customers trust")),
            ("A fresh clone builds", None),
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
            assert_eq!(judgement(prose), expect, "{prose}");
        }
    }
}
