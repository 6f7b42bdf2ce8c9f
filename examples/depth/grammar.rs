//! A small language with long-range dependencies: pronouns that only the whole sentence resolves, agreement over a
//! distance, negation, relative clauses, and words with two senses. Every sentence is drawn from a seed.

use attune_engine::numerics::rng::Generator;
use rand::RngExt;

use super::insertions::{
    AFTER_LAST_NAME, AFTER_NAME, AFTER_NOUN, AT_THE_END, BEFORE_NOUN, BEFORE_VERB, END, FRONT, IN_FRONT, Insertions,
    MORE_PATTERNS, WITHIN,
};

/// A sentence as a list of words, with the question that can be asked about it.
#[derive(Clone, Debug)]
pub struct Sentence {
    /// The words and punctuation marks.
    pub words: Vec<String>,
    pub question: Option<Question>,
    /// What was inserted, and where.
    pub inserted: Vec<String>,
    /// Whether these insertions are kept out of training.
    pub is_new_combination: bool,
}

/// A question about a word that the rest of the sentence determines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub kind: Kind,
    /// The index of the word.
    pub at: usize,
    /// The right word; for a word with two senses, another word that has only this sense.
    pub right: String,
    /// The right word in a similar sentence with the opposite answer; for a word with two senses, a word that has only
    /// the other sense.
    pub wrong: String,
    /// For a word with two senses, the word itself and the pattern of its sentence.
    pub sense: Option<(&'static str, &'static str)>,
    pub cell: Cell,
    pub new: Option<New>,
}

/// A cell of an evaluation table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    pub row: String,
    pub column: String,
}

/// The new element of a sentence, which never occurs in training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum New {
    /// Two words in this order, in any context.
    Pair,
    /// A word in this role of a verb or quality.
    Word,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The noun that an earlier pronoun refers to.
    Referent,
    /// A verb in the number of its subject, after another noun.
    Agreement,
    /// The opposite of what was denied.
    Negation,
    /// A word with two senses.
    Sense,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Referent, Self::Agreement, Self::Negation, Self::Sense];
}

impl Sentence {
    /// Returns the sentence as a person writes it.
    pub fn text(&self) -> String {
        text(&self.words)
    }

    /// Returns whether the sentence has something new, and is therefore not used in training.
    pub fn is_kept_from_training(&self) -> bool {
        self.is_new_combination || self.question.as_ref().is_some_and(|question| question.new.is_some())
    }
}

/// Joins words and punctuation marks as a person writes them.
pub fn text(words: &[String]) -> String {
    let mut text = String::new();
    for word in words {
        if !text.is_empty() && !is_mark(word) {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

pub fn is_mark(word: &str) -> bool {
    word.chars().all(|mark| mark.is_ascii_punctuation())
}

/// One in this many words, pairs and names is kept out of training.
pub const KEPT_ONE_IN: usize = 7;

/// An offset that makes the words kept from the second role differ from those kept from the first.
const SECOND: usize = 3;

/// Returns whether two words in this order are kept out of training.
fn is_kept_pair(first: &str, second: &str) -> bool {
    attune_core::fnv1a(format!("{first} {second}").as_bytes()).is_multiple_of(KEPT_ONE_IN as u64)
}

/// Returns whether a word of a list is kept out of sentences with this number: one word in seven, different for each
/// number.
fn is_kept_word(of: &[&str], word: &str, number: usize) -> bool {
    let rank = of.iter().position(|other| *other == word);
    rank.is_some_and(|rank| (rank + number) % KEPT_ONE_IN == KEPT_ONE_IN - 1)
}

/// Draws a sentence of a fixed frame.
pub fn sentence(rng: &mut Generator) -> Sentence {
    let mut draw = Draw { rng, words: Vec::new(), question: None, insertions: None, verbs: &ALL_VERBS };
    match draw.rng.random_range(0..20) {
        0 => draw.clause(),
        1 => draw.joined(),
        2..4 => draw.agreement(),
        4..12 => draw.thing_referred_to(),
        12..16 => draw.person_referred_to(),
        16 => draw.negation(),
        _ => draw.sense(),
    }
    draw.end()
}

/// Draws a sentence with insertions, or with none.
pub fn varied_sentence(rng: &mut Generator) -> Sentence {
    varied(rng, 0, 1.0, &ALL_VERBS)
}

/// Draws a sentence for a model that has done this share of its training. In most, a pronoun stands for a noun.
///
/// What a pronoun stands for depends on the verb and the quality together, which no model of this size found within
/// thousands of steps when all verbs came at once. So the first sentences have one verb, which leaves the answer to the
/// quality; then come three, and then all. Insertions come last, and become more frequent.
pub fn graded_sentence(rng: &mut Generator, done: f64) -> Sentence {
    const PRONOUNS: usize = 20;
    const WITH_ONE_VERB: f64 = 0.08;
    const WITH_THREE_VERBS: f64 = 0.14;
    const WITHOUT_INSERTIONS: f64 = 0.3;
    const WITH_FEWER_INSERTIONS: f64 = 0.6;
    let rising = (done - WITHOUT_INSERTIONS) / (WITH_FEWER_INSERTIONS - WITHOUT_INSERTIONS);
    let verbs = if done < WITH_ONE_VERB {
        &VERBS_IN_TURN[..1]
    } else if done < WITH_THREE_VERBS {
        &VERBS_IN_TURN[..3]
    } else {
        &VERBS_IN_TURN
    };
    varied(rng, PRONOUNS, rising.clamp(0.0, 1.0), verbs)
}

/// Draws a sentence with these verbs; `pronouns` sentences in `20 + pronouns` are of the kinds with a pronoun, beside
/// those among the twenty. `share` multiplies the probability of each insertion.
fn varied(rng: &mut Generator, pronouns: usize, share: f64, verbs: &'static [usize]) -> Sentence {
    let insertions = Some(Insertions::draw(rng, share));
    let mut draw = Draw { rng, words: Vec::new(), question: None, insertions, verbs };
    draw.insert(IN_FRONT, FRONT);
    match draw.rng.random_range(0..20 + pronouns) {
        0 => draw.clause(),
        1 => draw.joined(),
        2..5 => draw.agreement(),
        5..11 => draw.thing_referred_to(),
        11..14 => draw.person_referred_to(),
        14..16 => draw.negation(),
        16..20 => draw.sense(),
        _ if draw.rng.random_bool(0.3) => draw.person_referred_to(),
        _ => draw.thing_referred_to(),
    }
    draw.insert(AT_THE_END, END);
    draw.end()
}

/// The share of sentences that end with a mark other than a full stop.
const OTHER_MARK: f64 = 0.08;

pub const WOMEN: &[&str] = &[
    "mary", "anna", "lucy", "emma", "sara", "julia", "nora", "clara", "alice", "helen", "laura", "rosa", "martha",
    "sofia", "ingrid", "paula",
];
pub const MEN: &[&str] = &[
    "john", "tom", "peter", "paul", "david", "mark", "adam", "simon", "martin", "oscar", "victor", "hugo", "felix",
    "bruno", "walter", "arthur",
];
pub const FEMALE: &[&str] = &["girl", "woman", "mother", "sister", "queen", "aunt", "actress", "princess"];
pub const MALE: &[&str] = &["boy", "man", "father", "brother", "king", "uncle", "actor", "prince"];
pub const ROLES: &[&str] =
    &["teacher", "doctor", "farmer", "student", "pilot", "baker", "singer", "painter", "sailor", "lawyer"];
pub const ANIMALS: &[&str] =
    &["dog", "cat", "horse", "fox", "wolf", "rabbit", "bird", "goat", "monkey", "tiger", "bear", "duck"];
pub const THINGS: &[&str] = &[
    "trophy", "book", "lamp", "clock", "vase", "ball", "doll", "guitar", "statue", "puzzle", "blanket", "radio",
    "helmet", "kettle", "mirror", "violin",
];
pub const CONTAINERS: &[&str] = &[
    "suitcase", "box", "bag", "drawer", "basket", "chest", "cupboard", "backpack", "barrel", "crate", "bucket", "jar",
];
pub const SUPPORTS: &[&str] =
    &["table", "shelf", "chair", "bench", "ladder", "bridge", "desk", "stool", "wall", "fence", "roof", "pillar"];
pub const CARTS: &[&str] =
    &["cart", "wagon", "sledge", "boat", "plough", "truck", "bus", "tractor", "van", "tram", "coach", "canoe"];
pub const PLACES: &[&str] =
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
pub const COLOURS: &[&str] = &["red", "green", "blue", "white", "black", "yellow"];
/// Verbs in the singular and the plural.
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
pub const SEEN: &[&str] = &["saw", "liked", "followed", "knew", "painted", "met", "watched", "found"];
pub const DONE: &[&str] = &["bought", "sold", "found", "lost", "carried", "cleaned", "broke", "painted"];

/// States of people.
pub const STATES: &[&str] = &["tired", "happy", "old", "hungry", "famous", "quiet"];

/// A verb with two nouns and a pronoun. The verb together with the quality determines which noun the pronoun refers to.
/// Each noun can be of either class, so that neither noun alone gives the answer away.
struct Reference {
    verb: &'static str,
    classes: [Class; 2],
    degree: &'static str,
    /// The qualities that refer to the first noun, and those that refer to the second.
    qualities: [&'static [&'static str]; 2],
}

/// The name of a class of nouns, and the nouns.
type Class = (&'static str, &'static [&'static str]);

const THING: Class = ("thing", THINGS);
const CONTAINER: Class = ("container", CONTAINERS);
const ANIMAL: Class = ("animal", ANIMALS);
const CART: Class = ("cart", CARTS);
const SUPPORT: Class = ("support", SUPPORTS);

const LARGE: &[&str] = &["big", "large", "wide"];
const LITTLE: &[&str] = &["small", "narrow", "tiny"];
const SLOW: &[&str] = &["slow", "tired", "lame"];
const FAST: &[&str] = &["fast", "quick", "strong"];
const HEAVY: &[&str] = &["heavy", "big", "large"];
const WEAK: &[&str] = &["weak", "thin", "old"];
const LIGHT: &[&str] = &["light", "small", "tiny"];
const MIGHTY: &[&str] = &["strong", "big", "large"];
const FEEBLE: &[&str] = &["weak", "small", "tired"];

/// Verbs come in pairs, in which the same quality refers to the other noun.
const REFERENCES: &[Reference] = &[
    Reference { verb: "did not fit in", classes: [THING, CONTAINER], degree: "too", qualities: [LARGE, LITTLE] },
    Reference { verb: "could not hold", classes: [THING, CONTAINER], degree: "too", qualities: [LITTLE, LARGE] },
    Reference { verb: "could not catch", classes: [ANIMAL, CART], degree: "too", qualities: [SLOW, FAST] },
    Reference { verb: "overtook", classes: [ANIMAL, CART], degree: "so", qualities: [FAST, SLOW] },
    Reference { verb: "broke", classes: [THING, SUPPORT], degree: "so", qualities: [HEAVY, WEAK] },
    Reference { verb: "broke under", classes: [THING, SUPPORT], degree: "so", qualities: [WEAK, HEAVY] },
    Reference { verb: "could not pull", classes: [ANIMAL, CART], degree: "too", qualities: [FEEBLE, HEAVY] },
    Reference { verb: "carried", classes: [ANIMAL, CART], degree: "so", qualities: [MIGHTY, LIGHT] },
];

const ALL_VERBS: [usize; REFERENCES.len()] = [0, 1, 2, 3, 4, 5, 6, 7];

/// The verbs in the order in which training adds them, as indices into [`REFERENCES`]: first one of each pair.
const VERBS_IN_TURN: [usize; REFERENCES.len()] = [0, 4, 2, 6, 1, 3, 5, 7];

/// An action of one person towards another, and reasons that refer to one of the two.
struct Deed {
    verb: &'static str,
    of_first: &'static [&'static str],
    of_second: &'static [&'static str],
}

const DEEDS: &[Deed] = &[
    Deed { verb: "thanked", of_first: &["was glad", "had won"], of_second: &["had helped", "had paid", "was kind"] },
    Deed { verb: "scolded", of_first: &["was angry", "was tired"], of_second: &["had lied", "had come late"] },
    Deed { verb: "visited", of_first: &["was lonely", "was free"], of_second: &["was ill", "was sad"] },
    Deed { verb: "helped", of_first: &["was kind", "was strong"], of_second: &["was weak", "was ill"] },
    Deed { verb: "envied", of_first: &["was poor", "was sad"], of_second: &["was rich", "was famous"] },
    Deed { verb: "called", of_first: &["had lied", "was lonely"], of_second: &["had won", "was famous"] },
];

/// A word with two senses. Each sense has a word with only this sense, and sentences in which `~` stands for either
/// word.
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

/// Openings of a sentence with an ambiguous word. Each pattern is kept out of training with one of them.
const OPENERS: &[&str] = &["", "yesterday", "one day", "last year", "that morning"];

pub struct Draw<'a> {
    pub rng: &'a mut Generator,
    words: Vec<String>,
    question: Option<Question>,
    /// `None` for sentences of a fixed frame.
    pub insertions: Option<Insertions>,
    /// The verbs with a pronoun that may be drawn, as indices into [`REFERENCES`]; and so many deeds.
    verbs: &'static [usize],
}

impl Draw<'_> {
    /// Returns the sentence with a mark at its end.
    fn end(mut self) -> Sentence {
        let mark = if self.rng.random_bool(OTHER_MARK) { self.even(&["!", "?", ";", ":"]) } else { "." };
        self.put(mark);
        let form = self.question.as_ref().map(|question| question.cell.row.as_str());
        let is_new = |insertions: &Insertions| form.is_some_and(|form| insertions.are_kept(form));
        let is_new_combination = self.insertions.as_ref().is_some_and(is_new);
        let inserted = self.insertions.map_or_else(Vec::new, |insertions| insertions.made);
        Sentence { words: self.words, question: self.question, inserted, is_new_combination }
    }

    pub fn put(&mut self, words: &str) {
        self.words.extend(words.split_whitespace().map(str::to_owned));
    }

    /// Adds words one after another.
    pub fn put_all(&mut self, words: &[&str]) {
        words.iter().for_each(|words| self.put(words));
    }

    /// Draws one of several with equal probability.
    pub fn even<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.random_range(0..of.len())]
    }

    /// Draws a word. Earlier words in the list are more frequent, as in natural language.
    pub fn one(&mut self, of: &[&'static str]) -> &'static str {
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

    pub fn coin(&mut self) -> bool {
        self.rng.random_bool(0.5)
    }

    /// Adds a question about the last word.
    fn ask(&mut self, kind: Kind, wrong: &str, cell: Cell, new: Option<New>) {
        let at = self.words.len() - 1;
        let right = self.words[at].clone();
        let new_column = new.map_or("", |new| if new == New::Pair { ", new pair" } else { ", new word" });
        let cell = Cell { column: cell.column + new_column, ..cell };
        self.question = Some(Question { kind, at, right, wrong: wrong.to_owned(), sense: None, cell, new });
    }

    /// Draws a person, and returns whether it is a woman.
    pub fn person(&mut self) -> (String, bool) {
        let is_woman = self.coin();
        let (names, nouns) = if is_woman { (WOMEN, FEMALE) } else { (MEN, MALE) };
        let named = self.coin();
        let word = self.one(if named { names } else { nouns });
        (if named { word.to_owned() } else { format!("the {word}") }, is_woman)
    }

    /// Draws a person or an animal, and returns it with the nouns of its kind.
    fn living(&mut self) -> (&'static str, &'static [&'static str]) {
        let kind = self.even(&[FEMALE, MALE, ROLES, ANIMALS]);
        (self.one(kind), kind)
    }

    fn clause(&mut self) {
        const NUMBERED: f64 = 0.15;
        const NUMBER_MAX: usize = 60;
        let (subject, _) = self.person();
        let (verb, thing, place) = (self.one(DONE), self.one(THINGS), self.one(PLACES));
        self.put_all(&[&subject, verb]);
        if self.rng.random_bool(NUMBERED) {
            let number = self.rng.random_range(2..=NUMBER_MAX).to_string();
            self.put_all(&[&number, &plural(thing)]);
        } else {
            let colour = if self.coin() { self.one(COLOURS) } else { "" };
            self.put_all(&["the", colour, thing]);
        }
        self.insert("after the first noun", AFTER_NOUN);
        if self.coin() {
            self.put_all(&["in the", place]);
        }
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

    /// Adds a noun between a subject and its verb. Returns the noun, whether it is plural, and how it is connected to
    /// the words before it.
    fn between(&mut self) -> (&'static str, bool, &'static str) {
        let ((noun, _), is_plural) = (self.living(), self.coin());
        let written = if is_plural { plural(noun) } else { noun.to_owned() };
        let (seen, place) = (self.one(SEEN), self.one(&["near", "behind", "beside"]));
        let tie = self.even(&["near it", "that it saw", "that saw it"]);
        match tie {
            "near it" => {
                self.put_all(&[place, "the"]);
                self.insert("before a noun between", BEFORE_NOUN);
                self.put(&written);
            }
            "that it saw" => {
                self.put("that the");
                self.insert("before a noun between", BEFORE_NOUN);
                self.put_all(&[&written, seen]);
            }
            _ => {
                self.put_all(&["that", seen, "the"]);
                self.insert("before a noun between", BEFORE_NOUN);
                self.put(&written);
            }
        }
        self.insert("after a noun between", WITHIN);
        (noun, is_plural, tie)
    }

    /// Adds a subject, one or two nouns after it, and a verb in the subject's number.
    fn agreement(&mut self) {
        const TWO_BETWEEN: f64 = 0.5;
        let ((subject, kind), is_plural) = (self.living(), self.coin());
        let written = if is_plural { plural(subject) } else { subject.to_owned() };
        self.put("the");
        self.insert("before the subject", BEFORE_NOUN);
        self.put(&written);
        self.insert("after the subject", AFTER_NOUN);
        let count = if self.rng.random_bool(TWO_BETWEEN) { 2 } else { 1 };
        let between: Vec<_> = (0..count).map(|_| self.between()).collect();
        if count == 1 && self.coin() {
            let place = self.one(PLACES);
            self.put_all(&["in the", place]);
        }
        self.insert("before the verb", BEFORE_VERB);
        let verb = self.rng.random_range(0..VERBS.len());
        let (one, several) = VERBS[verb];
        let (right, wrong) = if is_plural { (several, one) } else { (one, several) };
        self.put(right);
        let alike = |of_one: bool| if of_one == is_plural { "same number" } else { "other number" };
        let alike = between.iter().map(|&(_, of_one, _)| alike(of_one)).collect::<Vec<_>>().join(", ");
        let ties = if count == 1 { between[0].2 } else { "two nouns" };
        let new = if is_kept_word(kind, subject, verb) {
            Some(New::Word)
        } else {
            is_kept_pair(subject, between[0].0).then_some(New::Pair)
        };
        let cell =
            Cell { row: format!("{ties}: {alike}"), column: if is_plural { "plural" } else { "singular" }.to_owned() };
        self.ask(Kind::Agreement, wrong, cell, new);
        self.insert("after the verb", BEFORE_VERB);
        if matches!(one, "is" | "was") {
            let state = self.one(STATES);
            self.put(state);
        } else {
            let place = self.one(PLACES);
            self.put_all(&["in the", place]);
        }
    }

    fn thing_referred_to(&mut self) {
        let number = self.even(self.verbs);
        let Reference { verb, classes, degree, qualities } = &REFERENCES[number];
        let [(first_class, firsts), (second_class, seconds)] = [self.even(classes), self.even(classes)];
        let first = self.one(firsts);
        let second = self.other(seconds, first);
        let role = usize::from(self.coin());
        let quality = self.one(qualities[role]);
        let (right, wrong) = if role == 0 { (first, second) } else { (second, first) };
        let is_new_word = is_kept_word(firsts, first, number) || is_kept_word(seconds, second, number + SECOND);
        let new = if is_new_word { Some(New::Word) } else { is_kept_pair(first, second).then_some(New::Pair) };
        let cell = Cell { row: format!("{first_class} {verb} {second_class}"), column: column(role) };
        self.avoid(&[LARGE, LITTLE, SLOW, FAST, HEAVY, WEAK, LIGHT, MIGHTY, FEEBLE]);
        self.put("the");
        self.insert("before the first noun", BEFORE_NOUN);
        self.put(first);
        self.insert("after the first noun", AFTER_NOUN);
        self.insert("before the verb", BEFORE_VERB);
        self.put_all(&[verb, "the"]);
        self.insert("before the second noun", BEFORE_NOUN);
        self.put(second);
        self.insert("after the second noun", AFTER_NOUN);
        self.insert("before because", WITHIN);
        self.put("because");
        let before = self.even(&[", so it was the", ". the", ". we saw that the", ""]);
        if before.is_empty() {
            self.put("the");
        } else {
            self.put("it was");
            self.insert("before the quality", BEFORE_VERB);
            self.put_all(&[degree, quality]);
            self.insert("after the quality", WITHIN);
            self.conclude(before);
        }
        self.insert("before the answer", BEFORE_NOUN);
        self.put(right);
        self.ask(Kind::Referent, wrong, cell, new);
        self.insert("after the answer", AFTER_NOUN);
        self.put(if before.starts_with(',') { "that was" } else { "was" });
        self.insert("before the second quality", BEFORE_VERB);
        self.put_all(&[degree, quality]);
    }

    fn person_referred_to(&mut self) {
        let number = self.rng.random_range(0..DEEDS.len().min(self.verbs.len()));
        let Deed { verb, of_first, of_second } = &DEEDS[number];
        let names = |is_woman: bool| if is_woman { WOMEN } else { MEN };
        let (first_is_woman, second_is_woman) = (self.coin(), self.coin());
        let first = self.one(names(first_is_woman));
        let second = self.other(names(second_is_woman), first);
        let role = usize::from(self.coin());
        let reason = self.one(if role == 0 { of_first } else { of_second });
        let (right, wrong) = if role == 0 { (first, second) } else { (second, first) };
        let is_woman = if role == 0 { first_is_woman } else { second_is_woman };
        let is_new_word = is_kept_word(names(first_is_woman), first, number)
            || is_kept_word(names(second_is_woman), second, number + SECOND);
        let new = if is_new_word { Some(New::Word) } else { is_kept_pair(first, second).then_some(New::Pair) };
        let genders = if first_is_woman == second_is_woman { "one pronoun" } else { "two pronouns" };
        let cell = Cell { row: format!("name {verb} name, {genders}"), column: column(role) };
        let pronoun = if is_woman { "she" } else { "he" };
        self.put(first);
        self.insert("after the first name", AFTER_NAME);
        self.insert("before the verb", BEFORE_VERB);
        self.put_all(&[verb, second]);
        self.insert("after the second name", AFTER_LAST_NAME);
        self.put_all(&["because", pronoun]);
        self.insert("before the reason", BEFORE_VERB);
        self.put(reason);
        self.insert("after the reason", WITHIN);
        self.conclude(", so it was");
        self.put(right);
        self.ask(Kind::Referent, wrong, cell, new);
        self.put("who");
        self.insert("before the second reason", BEFORE_VERB);
        self.put(reason);
    }

    fn negation(&mut self) {
        let number = self.rng.random_range(0..OPPOSITES.len());
        let (a, b) = OPPOSITES[number];
        let side = usize::from(self.coin());
        let (one, other) = if side == 0 { (b, a) } else { (a, b) };
        let kind = self.even(&[THINGS, CONTAINERS, PLACES]);
        let noun = self.one(kind);
        self.avoid(&[&[a, b]]);
        self.put("the");
        self.insert("before the noun", BEFORE_NOUN);
        self.put(noun);
        self.insert("after the noun", AFTER_NOUN);
        let has_clause = self.coin();
        if has_clause {
            let (verb, seen_by) = (self.one(SEEN), self.one(ROLES));
            self.put_all(&["that the", seen_by, verb]);
            self.insert("after the clause", WITHIN);
        }
        let form = self.even(&[("was not", ", it was"), ("was", ", it was not"), ("was", ", and it stayed")]);
        let said = if form.1.ends_with("stayed") { other } else { one };
        self.put(form.0);
        self.insert("before the quality", BEFORE_VERB);
        self.put(said);
        self.insert("after the quality", WITHIN);
        self.put(form.1);
        self.insert("before the answer", BEFORE_VERB);
        self.put(other);
        let clause = if has_clause { ", with a clause" } else { "" };
        let cell = Cell { row: format!("{} this{} that{clause}", form.0, form.1), column: column(side) };
        let wrong = if said == other { one } else { said };
        self.ask(Kind::Negation, wrong, cell, is_kept_word(kind, noun, number).then_some(New::Word));
    }

    fn sense(&mut self) {
        let number = self.rng.random_range(0..TWO_SENSES.len());
        let TwoSenses { word, senses } = &TWO_SENSES[number];
        let which = usize::from(self.coin());
        let ((plain, patterns), (other, _)) = (&senses[which], &senses[1 - which]);
        let more = if self.insertions.is_some() { MORE_PATTERNS[number][which] } else { &[] };
        let of_pattern = self.rng.random_range(0..patterns.len() + more.len());
        let pattern =
            if of_pattern < patterns.len() { patterns[of_pattern] } else { more[of_pattern - patterns.len()] };
        // In half of the sentences, the unambiguous word is used.
        let is_plain = self.coin();
        let opener = self.rng.random_range(0..OPENERS.len());
        self.put(OPENERS[opener]);
        let (before, after) = pattern.split_once('~').unwrap_or((pattern, ""));
        self.pattern_begins(before);
        self.put(if is_plain { plain } else { word });
        let new = ((number + of_pattern + opener) % OPENERS.len() == 0).then_some(New::Pair);
        let cell = Cell { row: format!("{word}: {} or {}", senses[0].0, senses[1].0), column: column(which) };
        self.ask(Kind::Sense, other, cell, new);
        if let Some(question) = &mut self.question {
            (question.right, question.sense) = ((*plain).to_owned(), Some((*word, pattern)));
        }
        if !after.starts_with(" of") && !after.starts_with(" that") {
            self.insert("after the word", WITHIN);
        }
        self.put(after);
        if self.rng.random_bool(0.3) {
            let verb = self.one(SEEN);
            let (person, _) = self.person();
            self.put_all(&["and", &person, verb, "it"]);
        }
    }
}

fn column(role: usize) -> String {
    ["first", "second"][role].to_owned()
}

/// Returns the plural, by the rules of spelling.
fn plural(noun: &str) -> String {
    match noun {
        "woman" => "women".to_owned(),
        "man" => "men".to_owned(),
        _ if noun.ends_with(['s', 'x']) => format!("{noun}es"),
        _ if noun.ends_with("phy") => format!("{}ies", &noun[..noun.len() - 1]),
        _ if noun.ends_with('f') => format!("{}ves", &noun[..noun.len() - 1]),
        _ => format!("{noun}s"),
    }
}
