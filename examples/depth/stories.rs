//! Texts for the writer: sentences of the [`grammar`], repeated lists of words, and stories of two people with made-up
//! names. A name is drawn for each story, so only the story itself shows its spelling.

use attune_core::fnv1a;
use attune_engine::numerics::rng::Generator;
use rand::RngExt;

use super::grammar::{
    self, ANIMALS, CARTS, COLOURS, CONTAINERS, FEMALE, KEPT_ONE_IN, MALE, MEN, PLACES, ROLES, STATES, SUPPORTS, THINGS,
    WOMEN,
};

/// The words of lists.
const NOUNS: &[&[&str]] =
    &[WOMEN, MEN, FEMALE, MALE, ROLES, ANIMALS, THINGS, CONTAINERS, SUPPORTS, CARTS, PLACES, COLOURS];

/// A text as a list of words.
#[derive(Clone, Debug, Default)]
pub struct Text {
    pub words: Vec<String>,
    /// The positions of words that have occurred before: names in a story, words in a list.
    pub again: Vec<usize>,
    /// The positions among these at which only one word is possible: the second name of a sentence, and all words of a
    /// repeated list.
    pub decided: Vec<usize>,
    /// Whether the text is kept out of training: one in seven names and sequences of three words, and what the grammar
    /// keeps out.
    pub is_kept_from_training: bool,
}

impl Text {
    /// Returns the text as a person writes it.
    pub fn text(&self) -> String {
        grammar::text(&self.words)
    }
}

/// Draws a text.
pub fn text(rng: &mut Generator) -> Text {
    match rng.random_range(0..20) {
        0..11 => {
            let sentence = grammar::sentence(rng);
            let is_kept_from_training = sentence.is_kept_from_training();
            Text { words: sentence.words, is_kept_from_training, ..Text::default() }
        }
        11..18 => story(rng),
        _ => list(rng),
    }
}

/// Draws a list of a few words, repeated two or three times.
pub fn list(rng: &mut Generator) -> Text {
    let count = rng.random_range(2..=6);
    let once: Vec<&str> = (0..count).map(|_| one(NOUNS[rng.random_range(0..NOUNS.len())], rng)).collect();
    let times = if count > 4 { 2 } else { 3 };
    let words: Vec<String> = once.iter().cycle().take(count * times).map(|word| (*word).to_owned()).collect();
    let again: Vec<usize> = (count..words.len()).collect();
    // If a word occurs twice in the list, the words after it are not determined by it.
    let has_twice = (1..count).any(|at| once[..at].contains(&once[at]));
    let decided = if has_twice { Vec::new() } else { again[1..].to_vec() };
    let is_kept_from_training = words.windows(3).any(|three| is_kept(&three.join(" ")));
    Text { words, again, decided, is_kept_from_training }
}

/// The actions of two people; `A` and `B` stand for their names.
const EVENTS: &[&str] = &[
    "A met B",
    "A called B",
    "A saw B in the PLACE",
    "A gave B the THING",
    "A gave the THING to B",
    "A and B went to the PLACE",
    "then A sold the THING to B",
    "A was STATE and B was STATE",
    "A liked the THING of B",
    "in the PLACE A met B",
    "A followed B to the PLACE",
    "because A was STATE , B was STATE",
];

/// Draws two or three events in the life of two people. An event may be repeated.
pub fn story(rng: &mut Generator) -> Text {
    const TOLD_AGAIN: f64 = 0.3;
    let mut names = [name(rng), name(rng)];
    let is_kept_from_training = names.iter().any(|name| is_kept(name));
    let mut text = Text { is_kept_from_training, ..Text::default() };
    let mut event = one(EVENTS, rng);
    for sentence in 0..rng.random_range(2..=3) {
        if !rng.random_bool(TOLD_AGAIN) {
            event = one(EVENTS, rng);
            if rng.random_bool(0.5) {
                names.swap(0, 1);
            }
        }
        for word in event.split(' ') {
            let word = match word {
                "A" => &names[0],
                "B" => &names[1],
                "PLACE" => one(PLACES, rng),
                "THING" => one(THINGS, rng),
                "STATE" => one(STATES, rng),
                _ => word,
            };
            if sentence > 0 && names.iter().any(|name| name == word) {
                text.again.push(text.words.len());
                if word == names[1] {
                    text.decided.push(text.words.len());
                }
            }
            text.words.push(word.to_owned());
        }
        text.words.push(".".to_owned());
    }
    text
}

/// Draws a made-up name: syllables, or letters in any order.
fn name(rng: &mut Generator) -> String {
    const ANY_LETTERS: f64 = 0.25;
    const ONSETS: &[&str] = &[
        "b", "c", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "qu", "r", "s", "t", "v", "w", "x", "y", "z", "br",
        "dr", "kl", "th", "st", "sh", "ch", "gr", "pl",
    ];
    const VOWELS: &[&str] = &["a", "e", "i", "o", "u", "y", "ai", "ee", "ou"];
    const ENDS: &[&str] = &["", "", "", "n", "r", "x", "k", "s", "l", "m", "t", "d", "rn", "sk"];
    if rng.random_bool(ANY_LETTERS) {
        return (0..rng.random_range(2..=6)).map(|_| char::from(rng.random_range(b'a'..=b'z'))).collect();
    }
    let syllables = rng.random_range(1..=3);
    let parts = (0..syllables).flat_map(|_| [one(ONSETS, rng), one(VOWELS, rng)]).collect::<Vec<_>>();
    parts.concat() + one(ENDS, rng)
}

/// Returns whether a name, or three consecutive words of a list, is kept out of training: one in seven.
fn is_kept(words: &str) -> bool {
    fnv1a(words.as_bytes()).is_multiple_of(KEPT_ONE_IN as u64)
}

fn one<'a>(of: &[&'a str], rng: &mut Generator) -> &'a str {
    of[rng.random_range(0..of.len())]
}
