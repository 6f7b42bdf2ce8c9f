//! Words, phrases and clauses that are inserted into the sentences of the [`grammar`](super::grammar), so that a word's
//! place does not tell its role. Some combinations of insertions are kept out of training.

use attune_core::fnv1a;
use attune_engine::numerics::rng::Generator;
use rand::RngExt;

use super::grammar::{COLOURS, DONE, Draw, KEPT_ONE_IN, PLACES, ROLES, SEEN, STATES, THINGS};

/// The insertions into a sentence.
#[derive(Default)]
pub struct Insertions {
    /// The probability of an insertion at each place.
    rate: f64,
    /// Each insertion: the kind and the place.
    pub made: Vec<String>,
    /// Words that would contradict the sentence.
    pub avoided: Vec<&'static str>,
}

impl Insertions {
    /// Makes the insertions of a sentence with none yet; `share` multiplies their probability. One sentence in six gets
    /// none.
    pub fn draw(rng: &mut Generator, share: f64) -> Self {
        const RATES: [f64; 6] = [0.0, 0.1, 0.2, 0.2, 0.3, 0.4];
        Self { rate: share * RATES[rng.random_range(0..RATES.len())], ..Self::default() }
    }

    /// Returns whether these insertions are kept out of training: each insertion in one form of sentence in seven, and
    /// one pair of insertions in fifteen in any sentence.
    pub fn are_kept(&self, form: &str) -> bool {
        const PAIRS_KEPT_ONE_IN: usize = 15;
        let is_one_in =
            |many: usize, a: &str, b: &str| fnv1a(format!("{a}, {b}").as_bytes()).is_multiple_of(many as u64);
        let pairs = || (0..self.made.len()).flat_map(|at| self.made[..at].iter().map(move |first| (first, at)));
        self.made.iter().any(|one| is_one_in(KEPT_ONE_IN, form, one))
            || pairs().any(|(first, at)| is_one_in(PAIRS_KEPT_ONE_IN, first, &self.made[at]))
    }
}

/// A kind of insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion {
    Adjective,
    Adverb,
    Time,
    Place,
    Owner,
    RelativeClause,
    Who,
    Clause,
    Report,
    Sentence,
}

use Insertion::{Adjective, Adverb, Clause, Owner, Place, RelativeClause, Report, Time, Who};

/// The place at the beginning of a sentence.
pub const IN_FRONT: &str = "in front";
/// The place at the end of one.
pub const AT_THE_END: &str = "at the end";

/// The kinds at the beginning of a sentence, ...
pub const FRONT: &[Insertion] = &[Insertion::Sentence, Clause, Report, Adverb, Time, Place, Time];
/// ... before a noun, ...
pub const BEFORE_NOUN: &[Insertion] = &[Adjective];
/// ... after a noun, ...
pub const AFTER_NOUN: &[Insertion] = &[Place, Owner, RelativeClause];
/// ... after a name, ...
pub const AFTER_NAME: &[Insertion] = &[Place, Who];
/// ... after a name at the end of a clause, ...
pub const AFTER_LAST_NAME: &[Insertion] = &[Time, Place, Who];
/// ... before a verb or a quality, ...
pub const BEFORE_VERB: &[Insertion] = &[Adverb];
/// ... within a sentence, before `because` or a comma, ...
pub const WITHIN: &[Insertion] = &[Time, Place];
/// ... and at the end.
pub const END: &[Insertion] = &[Time, Place, Clause, Insertion::Sentence];

const ADVERBS_IN_FRONT: &[&str] = &[
    "yesterday",
    "today",
    "later",
    "then",
    "once",
    "suddenly",
    "soon",
    "perhaps",
    "again",
    "here",
    "there",
    "clearly",
    "now",
    "often",
    "tonight",
];
const ADVERBS: &[&str] =
    &["really", "still", "suddenly", "often", "also", "clearly", "again", "soon", "just", "perhaps", "always", "now"];
const TIMES: &[&str] = &[
    "yesterday",
    "in the morning",
    "in the evening",
    "in the afternoon",
    "at noon",
    "at night",
    "at midnight",
    "on monday",
    "on tuesday",
    "on wednesday",
    "on thursday",
    "on friday",
    "on saturday",
    "on sunday",
    "last week",
    "last year",
    "last night",
    "one day",
    "that morning",
    "that day",
    "this morning",
    "this evening",
    "in winter",
    "in summer",
    "after the rain",
    "before noon",
    "two days ago",
    "an hour ago",
    "every day",
    "in january",
    "in june",
    "all day",
    "at dawn",
    "today",
    "tonight",
    "last month",
];
const MORE_PLACES: &[&str] = &[
    "street", "house", "room", "town", "village", "church", "hotel", "cellar", "tower", "field", "yard", "shop",
    "harbour", "castle", "hall", "barn", "stable", "square", "museum", "cave", "city", "hospital", "theatre", "attic",
    "corridor", "bathroom", "bedroom", "lake", "corner", "country",
];
const TIES: &[&str] =
    &["in the", "in the", "near the", "behind the", "beside the", "at the", "from the", "outside the"];
const SPOTS: &[&str] = &[
    "at home",
    "on the hill",
    "on the island",
    "on the floor",
    "under the tree",
    "by the sea",
    "on the grass",
    "upstairs",
];
const OTHER_ADJECTIVES: &[&str] = &[
    "old",
    "new",
    "clean",
    "dirty",
    "beautiful",
    "wooden",
    "round",
    "strange",
    "little",
    "quiet",
    "loud",
    "young",
    "brown",
    "grey",
    "poor",
    "rich",
    "big",
    "small",
    "heavy",
    "light",
    "cheap",
    "expensive",
    "broken",
    "pretty",
    "good",
    "bad",
    "long",
    "short",
    "wet",
    "dry",
    "cold",
    "warm",
    "famous",
    "tired",
    "happy",
    "hungry",
    "kind",
];
/// Those who see what follows.
const WITNESSES: &[&str] = &[
    "we",
    "they",
    "you",
    "i",
    "people",
    "everybody",
    "he",
    "she",
    "somebody",
    "the children",
    "the people",
    "my friend",
];
const NOTICED: &[&str] = &[
    "saw that",
    "knew that",
    "said that",
    "thought that",
    "heard that",
    "noticed that",
    "found that",
    "could see that",
    "was sure that",
    "told us that",
    "believed that",
    "learned that",
];
const REMARKS: &[&str] = &[
    "it was a warm day",
    "the sun was bright",
    "it was late",
    "there was a storm",
    "the birds sang",
    "nobody was there",
    "the weather was bad",
    "the bell rang",
    "the train was late",
    "it was cold outside",
];
/// Relative clauses without a number, which things and people can have.
const STOOD: &[&str] = &["that stood", "that lay", "that stayed", "that waited"];
const WHEN: &[&str] = &["when", "after", "before", "while", "because", "although", "as"];
const CAME: &[&str] = &[
    "came home",
    "left",
    "was there",
    "slept",
    "came",
    "was in town",
    "sang",
    "waited",
    "looked",
    "worked",
    "laughed",
];

impl Draw<'_> {
    /// Inserts something of one of these kinds, or nothing.
    pub fn insert(&mut self, place: &'static str, kinds: &[Insertion]) {
        let Some(insertions) = &self.insertions else { return };
        let rate = insertions.rate;
        if rate == 0.0 || !self.rng.random_bool(rate) {
            return;
        }
        let kind = self.even(kinds);
        match kind {
            Adjective => self.adjective(),
            Adverb if place == IN_FRONT => self.put_one(ADVERBS_IN_FRONT),
            Adverb => self.put_one(ADVERBS),
            Time => self.put_one(TIMES),
            Place => self.place(),
            Owner => {
                let owner = self.somebody();
                self.put_all(&["of", &owner]);
            }
            RelativeClause => self.relative_clause(),
            Who => {
                self.put(", who");
                self.put_one(CAME);
                self.put(",");
            }
            Clause if place == IN_FRONT => {
                self.subordinate();
                self.put(",");
            }
            Clause => self.subordinate(),
            Report => self.witness(),
            Insertion::Sentence if place == AT_THE_END => {
                self.put(".");
                self.remark();
            }
            Insertion::Sentence => {
                self.remark();
                self.put(".");
            }
        }
        // Only a clause is set off by a comma everywhere; a time or a place in front is so now and then.
        if matches!(kind, Time | Place | Adverb) && place == IN_FRONT && self.rng.random_bool(0.2) {
            self.put(",");
        }
        if let Some(insertions) = &mut self.insertions {
            insertions.made.push(format!("{kind:?} {place}"));
        }
    }

    /// Leaves out adjectives that would contradict the sentence.
    pub fn avoid(&mut self, lists: &[&[&'static str]]) {
        if let Some(insertions) = &mut self.insertions {
            insertions.avoided.extend(lists.iter().copied().flatten());
        }
    }

    /// Adds the words between the reason and the answer, such as `. we saw that the`, or others in their place.
    pub fn conclude(&mut self, words: &str) {
        let (mark, rest) = words.split_at(1);
        self.put(mark);
        if mark == "." {
            self.insert("before the second sentence", &[Adverb, Time, Place]);
        }
        match rest.trim_start() {
            "we saw that the" if self.is_changed("another subject") => {
                self.witness();
                self.put("the");
            }
            "the" if self.is_changed("a second subject") => {
                self.witness();
                self.put("the");
            }
            rest if mark == "," && self.is_changed("a subject after so") => {
                self.put("so");
                self.witness();
                self.put(rest.trim_start_matches("so "));
            }
            rest => self.put(rest),
        }
    }

    /// Adds the words of a pattern before its gap.
    pub fn pattern_begins(&mut self, before: &str) {
        let own = before.strip_prefix("we ").filter(|_| self.is_changed("another subject"));
        if own.is_some() {
            let who = if self.coin() { "they".to_owned() } else { self.somebody() };
            self.put(&who);
        }
        let before = own.unwrap_or(before);
        self.put(before);
        if before.trim_end().ends_with("the") {
            self.insert("before the word", &[Adjective]);
        }
    }

    /// Draws whether something is changed, and notes it.
    fn is_changed(&mut self, what: &str) -> bool {
        let Some(insertions) = &mut self.insertions else { return false };
        let is_changed = insertions.rate > 0.0 && self.rng.random_bool(insertions.rate);
        if is_changed {
            insertions.made.push(what.to_owned());
        }
        is_changed
    }

    /// Adds the subject and verb of those who see what follows.
    pub fn witness(&mut self) {
        let who = if self.coin() { self.even(WITNESSES).to_owned() } else { self.somebody() };
        let noticed = self.even(NOTICED);
        self.put_all(&[&who, noticed]);
    }

    fn put_one(&mut self, of: &[&str]) {
        let words = self.even(of);
        self.put(words);
    }

    /// Draws a person by name, by kin or by profession.
    fn somebody(&mut self) -> String {
        if self.rng.random_bool(0.3) { format!("the {}", self.one(ROLES)) } else { self.person().0 }
    }

    fn adjective(&mut self) {
        let adjective = loop {
            let list = self.even(&[COLOURS, OTHER_ADJECTIVES, OTHER_ADJECTIVES, STATES]);
            let adjective = self.even(list);
            if self.insertions.as_ref().is_none_or(|insertions| !insertions.avoided.contains(&adjective)) {
                break adjective;
            }
        };
        self.put(adjective);
    }

    fn place(&mut self) {
        if self.rng.random_bool(0.2) {
            return self.put_one(SPOTS);
        }
        let places = self.even(&[PLACES, MORE_PLACES, MORE_PLACES]);
        let (tie, place) = (self.even(TIES), self.even(places));
        self.put_all(&[tie, place]);
    }

    fn relative_clause(&mut self) {
        let (person, verbs) = (self.somebody(), self.even(&[SEEN, DONE]));
        let verb = self.one(verbs);
        match self.even(&[0, 1, 2, 3, 4]) {
            0 => {
                self.put_one(STOOD);
                self.place();
            }
            1 => self.put_all(&[", which", &person, verb, ","]),
            2 => {
                self.put_all(&["that", &person, verb]);
                self.place();
            }
            3 => {
                self.put_all(&["that", &person, verb]);
                self.put_one(TIMES);
            }
            _ => self.put_all(&["that", &person, verb]),
        }
    }

    fn subordinate(&mut self) {
        self.put_one(WHEN);
        self.remark();
    }

    /// Adds a sentence that has nothing to do with the others.
    fn remark(&mut self) {
        match self.even(&[0, 1, 2, 3]) {
            0 => self.put_one(REMARKS),
            1 => {
                let (who, thing, verb) = (self.somebody(), self.one(THINGS), self.one(DONE));
                self.put_all(&[&who, verb, "the", thing]);
            }
            2 => {
                let (who, state) = (self.somebody(), self.even(STATES));
                self.put_all(&[&who, "was", state]);
            }
            _ => {
                let who = self.somebody();
                self.put(&who);
                self.put_one(CAME);
            }
        }
    }
}

/// More patterns of the words with two senses, in the grammar's order, for sentences with insertions.
pub const MORE_PATTERNS: [[&[&str]; 2]; 6] = [
    [
        &[
            "the boat lay at the ~",
            "we slept on the ~ of the lake",
            "flowers bloom on the ~",
            "the duck sat on the ~",
            "the ~ was wet after the rain",
            "the children swam to the ~",
        ],
        &[
            "we asked the ~ for a loan",
            "the ~ lent us money",
            "the farmer paid the ~",
            "we sold the gold to the ~",
            "the ~ was closed and we had no money",
            "we put the gold in the ~",
        ],
    ],
    [
        &["the ~ flew out of the cave", "the cat followed the ~", "we saw a ~ in the tree", "the ~ ate a fly"],
        &["the boy broke the ~", "we bought a ~ and a ball", "the ~ was made of wood", "the player lost the ~"],
    ],
    [
        &["the ~ of the wolf was loud", "the ~ woke us", "we heard a ~ in the forest"],
        &["the ~ of the old tree was brown", "the beetle ate the ~", "we found a beetle in the ~"],
    ],
    [
        &["the ~ was wet and warm", "the birds came in ~", "we waited for the ~"],
        &["the ~ was made of steel", "the mechanic bent the ~", "we found the ~ of the clock"],
    ],
    [
        &["the ~ ate a fish", "the ~ slept on the ice", "we saw a ~ in the sea"],
        &["the king put the ~ on the letter", "the ~ on the letter was red", "the lawyer broke the ~ of the letter"],
    ],
    [
        &["the ~ ate a frog", "we saw the nest of the ~", "the ~ flew over the lake"],
        &["the ~ was made of steel", "the workers stopped the ~", "the engine of the ~ stopped"],
    ],
];

/// Returns every word of the insertions, so that each has a piece of its own.
pub fn words() -> Vec<String> {
    let lists = [
        ADVERBS_IN_FRONT,
        ADVERBS,
        TIMES,
        MORE_PLACES,
        TIES,
        SPOTS,
        OTHER_ADJECTIVES,
        WITNESSES,
        NOTICED,
        REMARKS,
        STOOD,
        &["who", "which"],
        WHEN,
        CAME,
    ];
    let patterns = MORE_PATTERNS.iter().flatten().copied().flatten();
    let texts = lists.iter().copied().flatten().chain(patterns);
    texts.flat_map(|text| text.split(' ')).filter(|word| *word != "~").map(str::to_owned).collect()
}
