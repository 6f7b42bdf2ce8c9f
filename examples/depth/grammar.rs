//! A small language with a long reach: pronouns that only the whole sentence resolves, agreement over distance,
//! negation, relative clauses, and words with two senses. Every sentence is drawn from a seed.

use attune_engine::numerics::rng::Generator;
use rand::RngExt;

/// A sentence, word by word, with what can be asked about it.
#[derive(Clone, Debug)]
pub struct Sentence {
    /// Words and punctuation marks.
    pub words: Vec<String>,
    pub question: Option<Question>,
}

/// A word of a sentence that the rest of it decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub kind: Kind,
    /// The place of the word.
    pub at: usize,
    /// The word that is right there; of a word with two senses a word that has this sense alone.
    pub right: String,
    /// The word that stands there in a sentence like it; a word that has the other sense alone.
    pub wrong: String,
    /// Of a word with two senses: the word itself, and the pattern of its sentence.
    pub sense: Option<(&'static str, &'static str)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The noun that a pronoun before it stands for.
    Referent,
    /// A verb in the number of its subject, with another noun between.
    Agreement,
    /// The opposite of what was denied.
    Negation,
    /// A word with two senses.
    Sense,
}

impl Sentence {
    /// As a person writes it.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for word in &self.words {
            if !text.is_empty() && !is_mark(word) {
                text.push(' ');
            }
            text.push_str(word);
        }
        text
    }

    /// One sentence in sixteen is kept for evaluation; training sees none of these.
    pub fn is_kept_from_training(&self) -> bool {
        const ONE_IN: u64 = 16;
        attune_core::fnv::fnv1a(self.text().as_bytes()).is_multiple_of(ONE_IN)
    }
}

pub fn is_mark(word: &str) -> bool {
    matches!(word, "." | ",")
}

/// Draws a sentence.
pub fn sentence(rng: &mut Generator) -> Sentence {
    let mut draw = Draw { rng, words: Vec::new(), question: None };
    match draw.rng.random_range(0..10) {
        0 => draw.plain(),
        1 => draw.joined(),
        2 | 3 => draw.agreement(),
        4 | 5 => draw.thing_referred_to(),
        6 => draw.person_referred_to(),
        7 => draw.negation(),
        _ => draw.sense(),
    }
    draw.put(".");
    Sentence { words: draw.words, question: draw.question }
}

const WOMEN: &[&str] = &[
    "mary", "anna", "lucy", "emma", "sara", "julia", "nora", "clara", "alice", "helen", "laura", "rosa", "martha",
    "sofia", "ingrid", "paula",
];
const MEN: &[&str] = &[
    "john", "tom", "peter", "paul", "david", "mark", "adam", "simon", "martin", "oscar", "victor", "hugo", "felix",
    "bruno", "walter", "arthur",
];
const FEMALE: &[&str] = &["girl", "woman", "mother", "sister", "queen", "aunt", "actress", "princess"];
const MALE: &[&str] = &["boy", "man", "father", "brother", "king", "uncle", "actor", "prince"];
const ROLES: &[&str] =
    &["teacher", "doctor", "farmer", "student", "pilot", "baker", "singer", "painter", "sailor", "lawyer"];
const ANIMALS: &[&str] =
    &["dog", "cat", "horse", "fox", "wolf", "rabbit", "bird", "goat", "monkey", "tiger", "bear", "duck"];
const THINGS: &[&str] = &[
    "trophy", "book", "lamp", "clock", "vase", "ball", "doll", "guitar", "statue", "puzzle", "blanket", "radio",
    "helmet", "kettle", "mirror", "violin",
];
const CONTAINERS: &[&str] = &["suitcase", "box", "bag", "drawer", "basket", "chest", "cupboard", "backpack"];
const SUPPORTS: &[&str] = &["table", "shelf", "chair", "bench", "ladder", "bridge"];
const CARTS: &[&str] = &["cart", "wagon", "sledge", "boat", "plough"];
const PLACES: &[&str] =
    &["kitchen", "garden", "park", "school", "forest", "market", "station", "office", "library", "valley"];
const OPPOSITES: &[(&str, &str)] = &[
    ("hot", "cold"),
    ("clean", "dirty"),
    ("full", "empty"),
    ("wet", "dry"),
    ("old", "new"),
    ("loud", "quiet"),
    ("open", "closed"),
    ("cheap", "expensive"),
    ("bright", "dark"),
    ("soft", "hard"),
];
const COLOURS: &[&str] = &["red", "green", "blue", "white", "black", "yellow"];
/// A verb with one subject, and with several.
const VERBS: &[(&str, &str)] = &[
    ("is", "are"),
    ("was", "were"),
    ("sleeps", "sleep"),
    ("waits", "wait"),
    ("sings", "sing"),
    ("stays", "stay"),
    ("works", "work"),
    ("runs", "run"),
];
const SEEN: &[&str] = &["saw", "liked", "followed", "knew", "painted", "met", "watched", "found"];
const DONE: &[&str] = &["bought", "sold", "found", "lost", "carried", "cleaned", "broke", "painted"];

/// Two nouns and a pronoun: which of them it is, the adjective decides together with the verb.
struct Reference {
    first: &'static [&'static str],
    verb: &'static str,
    second: &'static [&'static str],
    degree: &'static str,
    /// Adjectives that are said of the first, and of the second.
    of_first: &'static [&'static str],
    of_second: &'static [&'static str],
}

const REFERENCES: &[Reference] = &[
    Reference {
        first: THINGS,
        verb: "did not fit in the",
        second: CONTAINERS,
        degree: "too",
        of_first: &["big", "large", "wide"],
        of_second: &["small", "narrow", "tiny"],
    },
    Reference {
        first: ANIMALS,
        verb: "could not catch the",
        second: ANIMALS,
        degree: "too",
        of_first: &["slow", "tired", "small"],
        of_second: &["fast", "quick", "clever"],
    },
    Reference {
        first: THINGS,
        verb: "broke the",
        second: SUPPORTS,
        degree: "so",
        of_first: &["heavy", "big", "large"],
        of_second: &["weak", "thin", "old"],
    },
    Reference {
        first: ANIMALS,
        verb: "could not pull the",
        second: CARTS,
        degree: "too",
        of_first: &["weak", "small", "tired"],
        of_second: &["heavy", "big", "large"],
    },
];

/// What one person did to another, and the reason, which is said of one of the two.
struct Deed {
    verb: &'static str,
    of_first: &'static [&'static str],
    of_second: &'static [&'static str],
}

const DEEDS: &[Deed] = &[
    Deed { verb: "thanked", of_first: &[], of_second: &["had helped", "had paid", "was kind"] },
    Deed { verb: "scolded", of_first: &["was angry"], of_second: &["had lied", "had come late"] },
    Deed { verb: "visited", of_first: &["was lonely", "was free"], of_second: &["was ill", "was sad"] },
    Deed { verb: "helped", of_first: &["was kind", "was strong"], of_second: &["was weak", "was ill"] },
    Deed { verb: "envied", of_first: &["was poor"], of_second: &["was rich", "was famous"] },
    Deed { verb: "called", of_first: &["had lied", "was lonely"], of_second: &["had won", "was famous"] },
];

/// A word with two senses: for each a word that has it alone, and sentences that `~` stands for either of the two in.
struct TwoSenses {
    word: &'static str,
    senses: [(&'static str, &'static [&'static str]); 2],
}

const TWO_SENSES: &[TwoSenses] = &[
    TwoSenses {
        word: "bank",
        senses: [
            (
                "shore",
                &[
                    "we sat on the ~ of the river",
                    "the ~ that we saw was green and wet",
                    "the fish swam near the ~",
                    "the ~ was full of grass and flowers",
                    "after the rain the ~ was under water",
                ],
            ),
            (
                "lender",
                &[
                    "we put the money in the ~",
                    "the ~ that we saw was rich and famous",
                    "the lawyer called the ~",
                    "the ~ was full of gold and money",
                    "after the robbery the ~ was without money",
                ],
            ),
        ],
    },
    TwoSenses {
        word: "bat",
        senses: [
            (
                "raven",
                &[
                    "the ~ slept in the cave",
                    "at night the ~ flew over the forest",
                    "the ~ that we saw was hungry and ate a fly",
                    "the wings of the ~ were black",
                    "the ~ was alive",
                ],
            ),
            (
                "racket",
                &[
                    "the player held the ~",
                    "he hit the ball with the ~",
                    "the ~ that we saw was made of wood",
                    "the grip of the ~ was black",
                    "the ~ was for sale",
                ],
            ),
        ],
    },
    TwoSenses {
        word: "bark",
        senses: [
            (
                "howl",
                &[
                    "the ~ of the dog was loud",
                    "we heard the ~ at night",
                    "the ~ that we heard woke the baby",
                    "the wolf answered with a ~",
                ],
            ),
            (
                "rind",
                &[
                    "the ~ of the tree was thick",
                    "we touched the ~ at noon",
                    "the ~ that we touched was brown and rough",
                    "the beetle lived under the ~",
                ],
            ),
        ],
    },
    TwoSenses {
        word: "spring",
        senses: [
            (
                "autumn",
                &[
                    "in ~ the flowers bloom",
                    "the ~ was warm and the birds sang",
                    "after the winter came the ~",
                    "the farmer waited for the ~",
                ],
            ),
            (
                "coil",
                &[
                    "in the clock a ~ broke",
                    "the ~ was bent and the clock stopped",
                    "under the seat was the ~",
                    "the mechanic looked for the ~",
                ],
            ),
        ],
    },
    TwoSenses {
        word: "seal",
        senses: [
            (
                "otter",
                &[
                    "the ~ swam in the sea",
                    "the ~ that we saw ate a fish",
                    "on the ice lay a ~",
                    "the hunter followed the ~",
                ],
            ),
            (
                "stamp",
                &[
                    "the ~ lay on the letter",
                    "the ~ that we saw was made of wax",
                    "on the letter was a ~",
                    "the king broke the ~",
                ],
            ),
        ],
    },
    TwoSenses {
        word: "crane",
        senses: [
            (
                "stork",
                &[
                    "the ~ flew to the lake",
                    "the ~ built a nest",
                    "the wings of the ~ were white",
                    "the ~ that we saw ate a frog",
                ],
            ),
            (
                "digger",
                &[
                    "the ~ lifted the stones",
                    "the workers built a ~",
                    "the engine of the ~ was loud",
                    "the ~ that we saw was made of steel",
                ],
            ),
        ],
    },
];

struct Draw<'a> {
    rng: &'a mut Generator,
    words: Vec<String>,
    question: Option<Question>,
}

impl Draw<'_> {
    fn put(&mut self, words: &str) {
        self.words.extend(words.split(' ').map(str::to_owned));
    }

    /// Words in the front of a list are drawn oftener, as in every language.
    fn one(&mut self, of: &[&'static str]) -> &'static str {
        const FLATNESS: f64 = 6.0;
        let weight = |rank: usize| 1.0 / (rank as f64 + FLATNESS);
        let all: f64 = (0..of.len()).map(weight).sum();
        let mut left = self.rng.random_range(0.0..all);
        let rank = (0..of.len()).find(|&rank| {
            left -= weight(rank);
            left < 0.0
        });
        of[rank.unwrap_or(0)]
    }

    fn other(&mut self, of: &[&'static str], than: &str) -> &'static str {
        loop {
            let word = self.one(of);
            if word != than {
                return word;
            }
        }
    }

    fn coin(&mut self) -> bool {
        self.rng.random_bool(0.5)
    }

    /// Asks about the last word.
    fn ask(&mut self, kind: Kind, wrong: &str) {
        let at = self.words.len() - 1;
        let right = self.words[at].clone();
        self.question = Some(Question { kind, at, right, wrong: wrong.to_owned(), sense: None });
    }

    /// A person, and whether it is a woman.
    fn person(&mut self) -> (String, bool) {
        let is_woman = self.coin();
        let (names, nouns) = if is_woman { (WOMEN, FEMALE) } else { (MEN, MALE) };
        let named = self.coin();
        let word = self.one(if named { names } else { nouns });
        (if named { word.to_owned() } else { format!("the {word}") }, is_woman)
    }

    fn living(&mut self) -> &'static str {
        let kinds = [FEMALE, MALE, ROLES, ANIMALS];
        let kind = self.rng.random_range(0..kinds.len());
        self.one(kinds[kind])
    }

    fn clause(&mut self) {
        let (subject, _) = self.person();
        let (verb, thing, place) = (self.one(DONE), self.one(THINGS), self.one(PLACES));
        self.put(&subject);
        self.put(verb);
        self.put("the");
        if self.coin() {
            let colour = self.one(COLOURS);
            self.put(colour);
        }
        self.put(thing);
        if self.coin() {
            self.put("in the");
            self.put(place);
        }
    }

    fn plain(&mut self) {
        self.clause();
    }

    fn joined(&mut self) {
        let opener = self.one(&["when", "before", "while", "because"]);
        if self.coin() {
            self.put(opener);
            self.clause();
            self.put(",");
            self.clause();
        } else {
            self.clause();
            let link = if self.rng.random_bool(0.3) { opener } else { "and" };
            self.put(link);
            self.clause();
        }
    }

    /// A subject, something between, and a verb in the subject's number.
    fn agreement(&mut self) {
        let (is_plural, between_is_plural) = (self.coin(), self.coin());
        let number = |noun: &str, is_plural: bool| if is_plural { plural(noun) } else { noun.to_owned() };
        let subject = self.living();
        self.put("the");
        self.put(&number(subject, is_plural));
        let between = self.living();
        let between = number(between, between_is_plural);
        match self.rng.random_range(0..3) {
            0 => {
                let place = self.one(&["near", "behind", "beside"]);
                self.put(place);
                self.put("the");
                self.put(&between);
            }
            1 => {
                let seen = self.one(SEEN);
                self.put("that the");
                self.put(&between);
                self.put(seen);
            }
            _ => {
                let seen = self.one(SEEN);
                self.put("that");
                self.put(seen);
                self.put("the");
                self.put(&between);
            }
        }
        if self.rng.random_bool(0.3) {
            let place = self.one(PLACES);
            self.put("in the");
            self.put(place);
        }
        let (one, several) = VERBS[self.rng.random_range(0..VERBS.len())];
        let (right, wrong) = if is_plural { (several, one) } else { (one, several) };
        self.put(right);
        self.ask(Kind::Agreement, wrong);
        if matches!(one, "is" | "was") {
            let state = self.one(&["tired", "happy", "old", "hungry", "famous", "quiet"]);
            self.put(state);
        } else {
            let place = self.one(PLACES);
            self.put("in the");
            self.put(place);
        }
    }

    fn thing_referred_to(&mut self) {
        let Reference { first, verb, second, degree, of_first, of_second } =
            &REFERENCES[self.rng.random_range(0..REFERENCES.len())];
        let first = self.one(first);
        let second = self.other(second, first);
        let is_first = self.coin();
        let state = self.one(if is_first { of_first } else { of_second });
        let (right, wrong) = if is_first { (first, second) } else { (second, first) };
        self.put("the");
        self.put(first);
        self.put(verb);
        self.put(second);
        self.put("because it was");
        self.put(degree);
        self.put(state);
        match self.rng.random_range(0..3) {
            0 => {
                self.put(", so it was the");
                self.put(right);
                self.ask(Kind::Referent, wrong);
                self.put("that was");
            }
            1 => {
                self.put(". the");
                self.put(right);
                self.ask(Kind::Referent, wrong);
                self.put("was");
            }
            _ => {
                self.put(". we saw that the");
                self.put(right);
                self.ask(Kind::Referent, wrong);
                self.put("was");
            }
        }
        self.put(degree);
        self.put(state);
    }

    fn person_referred_to(&mut self) {
        let Deed { verb, of_first, of_second } = &DEEDS[self.rng.random_range(0..DEEDS.len())];
        let names = |is_woman: bool| if is_woman { WOMEN } else { MEN };
        let (first_is_woman, second_is_woman) = (self.coin(), self.coin());
        let first = self.one(names(first_is_woman));
        let second = self.other(names(second_is_woman), first);
        let is_first = !of_first.is_empty() && self.coin();
        let reason = self.one(if is_first { of_first } else { of_second });
        let (right, wrong) = if is_first { (first, second) } else { (second, first) };
        let is_woman = if is_first { first_is_woman } else { second_is_woman };
        self.put(first);
        self.put(verb);
        self.put(second);
        self.put("because");
        self.put(if is_woman { "she" } else { "he" });
        self.put(reason);
        self.put(", so it was");
        self.put(right);
        self.ask(Kind::Referent, wrong);
        self.put("who");
        self.put(reason);
    }

    fn negation(&mut self) {
        let (a, b) = OPPOSITES[self.rng.random_range(0..OPPOSITES.len())];
        let (denied, true_one) = if self.coin() { (a, b) } else { (b, a) };
        let kinds = [THINGS, CONTAINERS, PLACES];
        let kind = self.rng.random_range(0..kinds.len());
        let noun = self.one(kinds[kind]);
        self.put("the");
        self.put(noun);
        if self.coin() {
            let (verb, seen_by) = (self.one(SEEN), self.one(ROLES));
            self.put("that the");
            self.put(seen_by);
            self.put(verb);
        }
        if self.coin() {
            self.put("was not");
            self.put(denied);
            self.put(", it was");
            self.put(true_one);
            self.ask(Kind::Negation, denied);
        } else {
            self.put("was");
            self.put(true_one);
            self.put(", and it stayed");
            self.put(true_one);
            self.ask(Kind::Negation, denied);
        }
    }

    fn sense(&mut self) {
        let TwoSenses { word, senses } = &TWO_SENSES[self.rng.random_range(0..TWO_SENSES.len())];
        let which = usize::from(self.coin());
        let ((plain, patterns), (other, _)) = (&senses[which], &senses[1 - which]);
        let pattern = patterns[self.rng.random_range(0..patterns.len())];
        // Half of the time the word that has this sense alone.
        let is_plain = self.coin();
        if self.rng.random_bool(0.4) {
            let place = self.one(&["yesterday", "one day", "last year", "that morning"]);
            self.put(place);
        }
        for part in pattern.split(' ') {
            if part == "~" {
                self.put(if is_plain { plain } else { word });
                let (at, right, wrong) = (self.words.len() - 1, (*plain).to_owned(), (*other).to_owned());
                self.question = Some(Question { kind: Kind::Sense, at, right, wrong, sense: Some((word, pattern)) });
            } else {
                self.put(part);
            }
        }
        if self.rng.random_bool(0.3) {
            let verb = self.one(SEEN);
            let (person, _) = self.person();
            self.put("and");
            self.put(&person);
            self.put(verb);
            self.put("it");
        }
    }
}

/// The plural, by the rules of spelling.
fn plural(noun: &str) -> String {
    match noun {
        "woman" => "women".to_owned(),
        "man" => "men".to_owned(),
        _ if noun.ends_with(['s', 'x']) => format!("{noun}es"),
        _ if noun.ends_with('f') => format!("{}ves", &noun[..noun.len() - 1]),
        _ => format!("{noun}s"),
    }
}
