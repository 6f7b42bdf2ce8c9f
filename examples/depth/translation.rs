//! Sentences of a small English with their translations into a made-up language. The translations need the whole
//! source:
//!
//! - *Order*: the verb comes last in its clause, an adjective follows its noun, and an adverb of time, which ends an
//!   English clause, begins the other.
//! - *Agreement*: the words for *the*, *a*, *some* and *many*, and adjectives, agree with their noun in gender and
//!   number, and the verb with its subject in number. English does not show gender, and `the` comes before the noun
//!   that decides it.
//! - *Senses*: a word such as *bat* has one translation for the animal and another, of the other gender, for the thing;
//!   an adjective or the verb tells which.
//! - *Several words for one*: *does not see* is *ne vide*, and the *e* says what *does* says.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use attune_core::fnv1a;
use attune_engine::numerics::rng::Generator;
use rand::RngExt;

use super::grammar::KEPT_ONE_IN;

/// A sentence and its translation.
#[derive(Clone, Debug, Default)]
pub struct Pair {
    pub source: Vec<&'static str>,
    pub target: Vec<String>,
    /// For each word of the target, the place of the word of the source that it translates.
    pub from: Vec<usize>,
    /// Places in the target of words whose ending agrees with a noun.
    pub agreeing: Vec<usize>,
    /// Whether the sentence is kept out of training, because it has a pair of words that training never shows together.
    pub is_kept_from_training: bool,
}

impl Pair {
    /// Returns both sentences.
    pub fn text(&self) -> String {
        format!("{} | {}", self.source.join(" "), self.target.join(" "))
    }

    /// Adds a clause behind this sentence.
    fn push(&mut self, clause: Pair) {
        let (source, target) = (self.source.len(), self.target.len());
        self.from.extend(clause.from.iter().map(|from| source + from));
        self.agreeing.extend(clause.agreeing.iter().map(|place| target + place));
        self.source.extend(clause.source);
        self.target.extend(clause.target);
        self.is_kept_from_training |= clause.is_kept_from_training;
    }
}

/// The most insertions in a clause, clauses and words of a sentence of training. What has more is outside its
/// templates.
pub const INSERTIONS_MAX: usize = 3;
pub const CLAUSES_MAX: usize = 5;
pub const WORDS_MAX: usize = 48;
/// More pieces than the longest sentence of training has in either language, the end included.
pub const LONGEST: usize = 52;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Gender {
    O,
    A,
}
use Gender::{A, O};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Animate,
    Thing,
}

/// A noun: its two forms, its stem in the other language, and its gender there.
type Noun = (&'static str, &'static str, &'static str, Gender);

const PEOPLE: &[Noun] = &[
    ("doctor", "doctors", "medik", A),
    ("farmer", "farmers", "agrik", O),
    ("king", "kings", "rey", O),
    ("nurse", "nurses", "kurat", O),
    ("painter", "painters", "pintor", A),
    ("sailor", "sailors", "marin", O),
    ("teacher", "teachers", "maest", A),
    ("thief", "thieves", "ladr", O),
];
const ANIMALS: &[Noun] = &[
    ("bear", "bears", "ors", A),
    ("cat", "cats", "kat", O),
    ("cow", "cows", "vak", A),
    ("dog", "dogs", "perr", O),
    ("fox", "foxes", "zor", O),
    ("horse", "horses", "kaval", O),
    ("rabbit", "rabbits", "lepor", A),
    ("wolf", "wolves", "lup", A),
];
const THINGS: &[Noun] = &[
    ("boat", "boats", "nav", A),
    ("box", "boxes", "kest", O),
    ("cart", "carts", "karr", O),
    ("chair", "chairs", "sil", A),
    ("lamp", "lamps", "lamp", O),
    ("table", "tables", "mes", A),
    ("tower", "towers", "torr", O),
    ("wheel", "wheels", "rot", A),
];
const PLACES: &[Noun] = &[
    ("forest", "forests", "silv", A),
    ("garden", "gardens", "jard", O),
    ("house", "houses", "dom", A),
    ("lake", "lakes", "lag", O),
    ("river", "rivers", "riv", A),
    ("village", "villages", "pobl", O),
];
/// A sense of a word: its stem in the other language, which has a gender of its own.
type Sense = (&'static str, Gender);
/// Words with two senses, in both numbers: the animal, and the thing, which has the other gender.
const TWO_SENSES: &[(&str, &str, Sense, Sense)] = &[
    ("bat", "bats", ("pipist", A), ("klub", O)),
    ("crane", "cranes", ("gru", A), ("elevat", O)),
    ("jaguar", "jaguars", ("tigr", O), ("makin", A)),
    ("seal", "seals", ("fok", O), ("stamp", A)),
];

/// An adjective and its stem.
type Adjective = (&'static str, &'static str);
const PLAIN: &[Adjective] = &[
    ("big", "grand"),
    ("black", "negr"),
    ("green", "verd"),
    ("new", "nov"),
    ("red", "roj"),
    ("small", "petit"),
    ("strange", "stran"),
    ("white", "blank"),
];
const OF_ANIMATES: &[Adjective] = &[("hungry", "famin"), ("sleepy", "somn"), ("tame", "mans"), ("young", "juven")];
const OF_THINGS: &[Adjective] = &[("broken", "romp"), ("cheap", "barat"), ("rusty", "ferr"), ("wooden", "lign")];

/// A verb: without an ending, after one, in the past, and its stem in the other language.
type Verb = (&'static str, &'static str, &'static str, &'static str);
/// Verbs of which anything that lives can be the subject, and anything at all the object.
const OF_ALL: &[Verb] = &[
    ("find", "finds", "found", "trov"),
    ("follow", "follows", "followed", "sekv"),
    ("like", "likes", "liked", "am"),
    ("see", "sees", "saw", "vid"),
    ("want", "wants", "wanted", "vol"),
];
/// Verbs of which only something that lives can be the object.
const TO_ANIMATES: &[Verb] =
    &[("call", "calls", "called", "vok"), ("feed", "feeds", "fed", "nutr"), ("wake", "wakes", "woke", "despert")];
/// Verbs of which only a thing can be the object.
const TO_THINGS: &[Verb] = &[
    ("build", "builds", "built", "konstru"),
    ("paint", "paints", "painted", "pint"),
    ("repair", "repairs", "repaired", "repar"),
    ("sell", "sells", "sold", "vend"),
];

const TIMES: &[(&str, &str)] =
    &[("again", "denov"), ("often", "sovent"), ("today", "hodi"), ("yesterday", "jeri"), ("now", "nun")];
const PREPOSITIONS: &[(&str, &str)] = &[("behind", "malan"), ("in", "en"), ("near", "apud")];
const JOINTS: &[(&str, &str)] = &[("and", "e"), ("because", "kar"), ("but", "ma"), ("while", "dum")];

/// Determiners of one and of several, with the stem; an empty one is the whole word for both genders.
const OF_ONE: &[(&str, &str)] = &[("the", "l"), ("the", "l"), ("a", "un"), ("this", "est")];
const OF_SEVERAL: &[(&str, &str)] = &[("the", "l"), ("the", "l"), ("some", "un"), ("these", "est"), ("many", "mult")];

fn ending(gender: Gender, several: bool) -> &'static str {
    match (gender, several) {
        (O, false) => "o",
        (O, true) => "os",
        (A, false) => "a",
        (A, true) => "as",
    }
}

/// A noun of a sentence, with its sense.
#[derive(Clone, Copy)]
struct Chosen {
    word: [&'static str; 2],
    stem: &'static str,
    gender: Gender,
    kind: Kind,
    has_two_senses: bool,
}

impl Chosen {
    fn of(noun: &Noun, kind: Kind) -> Self {
        Self { word: [noun.0, noun.1], stem: noun.2, gender: noun.3, kind, has_two_senses: false }
    }
}

/// What is inserted into a clause.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Insertion {
    SubjectAdjective,
    ObjectAdjective,
    SubjectPlace,
    ObjectPlace,
    Time,
}
const INSERTIONS: [Insertion; 5] = {
    use Insertion::{ObjectAdjective, ObjectPlace, SubjectAdjective, SubjectPlace, Time};
    [SubjectAdjective, ObjectAdjective, SubjectPlace, ObjectPlace, Time]
};

/// Draws a sentence of so many clauses, each with a number of insertions from this range.
pub fn pair(rng: &mut Generator, insertions: RangeInclusive<usize>, clauses: usize) -> Pair {
    of_clauses(clauses, rng, |rng| Draw::clause(rng, &insertions, false))
}

/// Draws a sentence of so many clauses with an adjective beside each noun of a place, where training never has one.
pub fn pair_with_described_places(rng: &mut Generator, clauses: usize) -> Pair {
    of_clauses(clauses, rng, |rng| Draw::clause(rng, &(0..=INSERTIONS_MAX), true))
}

/// Draws a sentence of training. Short and long sentences are equally frequent, because the number of clauses is drawn
/// once: if a sentence that is too long were drawn again with another number, or one with a pair of words that is kept
/// out, hardly any would have many clauses.
pub fn sentence(rng: &mut Generator) -> Pair {
    let clauses = rng.random_range(1..=CLAUSES_MAX);
    loop {
        let pair = of_clauses(clauses, rng, clause_of_training);
        if pair.source.len() <= WORDS_MAX {
            return pair;
        }
    }
}

fn clause_of_training(rng: &mut Generator) -> Pair {
    loop {
        let clause = Draw::clause(rng, &(0..=INSERTIONS_MAX), false);
        if !clause.is_kept_from_training {
            return clause;
        }
    }
}

fn of_clauses(count: usize, rng: &mut Generator, mut clause: impl FnMut(&mut Generator) -> Pair) -> Pair {
    let mut pair = clause(rng);
    for _ in 1..count {
        let (english, other) = JOINTS[rng.random_range(0..JOINTS.len())];
        pair.from.push(pair.source.len());
        pair.source.push(english);
        pair.target.push(other.to_owned());
        pair.push(clause(rng));
    }
    pair
}

/// Returns the places, in a translation, of words that have two senses in English.
pub fn of_two_senses(target: &[String]) -> Vec<usize> {
    let stems = || TWO_SENSES.iter().flat_map(|(_, _, animal, thing)| [animal.0, thing.0]);
    let has_two =
        |word: &&String| stems().any(|stem| word.trim_end_matches('s').strip_suffix(['o', 'a']) == Some(stem));
    (0..target.len()).filter(|at| has_two(&&target[*at])).collect()
}

/// Returns whether an English word stands before a place.
pub fn is_preposition(word: &str) -> bool {
    PREPOSITIONS.iter().any(|(english, _)| *english == word)
}

/// Returns all words of both languages, in alphabetical order.
pub fn words() -> Vec<String> {
    let mut words: BTreeSet<String> = ["does", "do", "did", "not", "ne"].map(str::to_owned).into();
    let endings = [ending(O, false), ending(O, true), ending(A, false), ending(A, true)];
    let two_senses = TWO_SENSES.iter().flat_map(|&(one, several, animal, thing)| {
        [(one, several, animal.0, animal.1), (one, several, thing.0, thing.1)]
    });
    let nouns = [PEOPLE, ANIMALS, THINGS, PLACES].into_iter().flatten().copied().chain(two_senses);
    for (one, several, stem, gender) in nouns {
        words.extend([one, several].map(str::to_owned));
        words.extend([false, true].map(|many| format!("{stem}{}", ending(gender, many))));
    }
    for (english, stem) in [PLAIN, OF_ANIMATES, OF_THINGS, OF_ONE, OF_SEVERAL].into_iter().flatten() {
        words.insert((*english).to_owned());
        words.extend(endings.map(|ending| format!("{stem}{ending}")));
    }
    for (base, other, past, stem) in [OF_ALL, TO_ANIMATES, TO_THINGS].into_iter().flatten() {
        words.extend([base, other, past].map(|form| (*form).to_owned()));
        words.extend(VERB_ENDINGS.iter().flatten().map(|ending| format!("{stem}{ending}")));
    }
    for (english, other) in [TIMES, PREPOSITIONS, JOINTS].into_iter().flatten() {
        words.extend([(*english).to_owned(), (*other).to_owned()]);
    }
    words.into_iter().collect()
}

/// Endings of a verb in the present and in the past, after one and after several.
const VERB_ENDINGS: [[&str; 2]; 2] = [["e", "en"], ["i", "in"]];

/// The part of a sentence that is drawn.
struct Draw<'r> {
    rng: &'r mut Generator,
    pair: Pair,
    /// Whether the nouns of places have adjectives.
    describes_places: bool,
}

impl Draw<'_> {
    fn put(&mut self, word: &'static str) {
        self.pair.source.push(word);
    }

    /// Writes the translation of the last word that was put.
    fn write(&mut self, word: String) {
        self.pair.target.push(word);
        self.pair.from.push(self.pair.source.len() - 1);
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.random_range(0..of.len())]
    }

    /// Draws a noun of a kind; one in four has two senses.
    fn noun(&mut self, kind: Kind) -> Chosen {
        const TWO_SENSES_DRAWN: f64 = 0.25;
        if self.rng.random_bool(TWO_SENSES_DRAWN) {
            let (one, several, animal, thing) = self.one(TWO_SENSES);
            let (stem, gender) = if kind == Kind::Animate { animal } else { thing };
            return Chosen { word: [one, several], stem, gender, kind, has_two_senses: true };
        }
        let lists = if kind == Kind::Animate { self.one(&[PEOPLE, ANIMALS]) } else { THINGS };
        Chosen::of(&self.one(lists), kind)
    }

    /// Draws a clause with a number of insertions from this range.
    fn clause(rng: &mut Generator, insertions: &RangeInclusive<usize>, describes_places: bool) -> Pair {
        let mut draw = Draw { rng, pair: Pair::default(), describes_places };
        let count = draw.rng.random_range(insertions.clone());
        draw.put_clause(count);
        draw.pair
    }

    fn put_clause(&mut self, count: usize) {
        const NEGATED: f64 = 0.25;
        let mut inserted: Vec<Insertion> = INSERTIONS.to_vec();
        while inserted.len() > count {
            inserted.remove(self.rng.random_range(0..inserted.len()));
        }
        // What lives acts, so the verb tells the sense of its subject.
        let (object_kind, verbs) = match self.rng.random_range(0..3) {
            0 => (self.one(&[Kind::Animate, Kind::Thing]), OF_ALL),
            1 => (Kind::Animate, TO_ANIMATES),
            _ => (Kind::Thing, TO_THINGS),
        };
        let verb = self.one(verbs);
        let mut object = self.noun(object_kind);
        // Such a verb leaves the sense open; then an adjective has to tell it.
        if verbs == OF_ALL && object.has_two_senses && !inserted.contains(&Insertion::ObjectAdjective) {
            let list = if object_kind == Kind::Animate { ANIMALS } else { THINGS };
            object = Chosen::of(&self.one(list), object_kind);
        }
        let tells = verbs == OF_ALL && object.has_two_senses;
        let subject = self.noun(Kind::Animate);
        let said = Predicate {
            verb,
            many: self.rng.random_bool(0.5),
            is_past: self.rng.random_bool(0.5),
            is_negated: self.rng.random_bool(NEGATED),
        };
        let time = inserted.contains(&Insertion::Time).then(|| self.one(TIMES));
        if let Some((_, other)) = time {
            self.pair.target.push(other.to_owned());
            // Where it stands is set below: it is the last word of the clause.
            self.pair.from.push(usize::MAX);
        }
        self.phrase(subject, said.many, &inserted, [Insertion::SubjectAdjective, Insertion::SubjectPlace], false);
        self.pair.source.extend(said.english());
        let verb_at = self.pair.source.len() - 1;
        let several = self.rng.random_bool(0.5);
        self.phrase(object, several, &inserted, [Insertion::ObjectAdjective, Insertion::ObjectPlace], tells);
        let words = said.other();
        // The verb is the last of its words in both languages, and the negation stands before it.
        self.pair.from.extend((0..words.len()).rev().map(|before| verb_at - before));
        self.pair.target.extend(words);
        self.pair.agreeing.push(self.pair.target.len() - 1);
        if let Some((english, _)) = time {
            self.put(english);
            self.pair.from[0] = self.pair.source.len() - 1;
        }
        let is_kept = |role, noun: Chosen| is_kept_pair(role, noun.word[0], verb.0);
        self.pair.is_kept_from_training |= is_kept("subject", subject) || is_kept("object", object);
    }

    /// Puts a noun with what stands around it. `tells` asks for an adjective that tells the noun's sense.
    fn phrase(
        &mut self,
        noun: Chosen,
        several: bool,
        inserted: &[Insertion],
        [adjective, place]: [Insertion; 2],
        tells: bool,
    ) {
        let of_kind = if noun.kind == Kind::Animate { OF_ANIMATES } else { OF_THINGS };
        let is_of_kind = tells || self.rng.random_bool(0.5);
        let adjective = inserted.contains(&adjective).then(|| self.one(if is_of_kind { of_kind } else { PLAIN }));
        self.noun_phrase(noun, several, adjective);
        if inserted.contains(&place) {
            let (english, other) = self.one(PREPOSITIONS);
            self.put(english);
            self.write(other.to_owned());
            let (place, several) = (self.one(PLACES), self.rng.random_bool(0.5));
            let adjective = self.describes_places.then(|| self.one(PLAIN));
            self.noun_phrase(Chosen::of(&place, Kind::Thing), several, adjective);
        }
    }

    fn noun_phrase(&mut self, noun: Chosen, several: bool, adjective: Option<Adjective>) {
        let (english, stem) = self.one(if several { OF_SEVERAL } else { OF_ONE });
        let ending = ending(noun.gender, several);
        self.put(english);
        self.pair.agreeing.push(self.pair.target.len());
        self.write(format!("{stem}{ending}"));
        let adjective_at = self.pair.source.len();
        if let Some((english, _)) = adjective {
            self.put(english);
        }
        self.put(noun.word[usize::from(several)]);
        self.write(format!("{}{ending}", noun.stem));
        if let Some((_, stem)) = adjective {
            self.pair.agreeing.push(self.pair.target.len());
            self.pair.target.push(format!("{stem}{ending}"));
            self.pair.from.push(adjective_at);
        }
    }
}

/// A verb as a clause has it.
struct Predicate {
    verb: Verb,
    /// Whether the subject is several.
    many: bool,
    is_past: bool,
    is_negated: bool,
}

impl Predicate {
    fn english(&self) -> Vec<&'static str> {
        let (base, other, past, _) = self.verb;
        match (self.is_negated, self.is_past, self.many) {
            (true, true, _) => vec!["did", "not", base],
            (true, false, true) => vec!["do", "not", base],
            (true, false, false) => vec!["does", "not", base],
            (false, true, _) => vec![past],
            (false, false, true) => vec![base],
            (false, false, false) => vec![other],
        }
    }

    fn other(&self) -> Vec<String> {
        let verb = format!("{}{}", self.verb.3, VERB_ENDINGS[usize::from(self.is_past)][usize::from(self.many)]);
        self.is_negated.then(|| "ne".to_owned()).into_iter().chain([verb]).collect()
    }
}

/// Returns whether a noun and a verb are kept out of training in a role: one pair in seven.
fn is_kept_pair(role: &str, noun: &str, verb: &str) -> bool {
    fnv1a(format!("{role} {noun} {verb}").as_bytes()).is_multiple_of(KEPT_ONE_IN as u64)
}
