//! All words of a lesson, known before any sentence is drawn.

use std::collections::{HashMap, HashSet};

use super::corpus::takes_an;
use super::schema::{Corpus, Group, Lesson, Objective, StaticEmbedding};
use super::template::{Piece, pieces};

impl Lesson {
    /// The pieces of a pretrained model; else the words of the corpus, then those that the model writes in their places,
    /// then others that the lesson gives vectors of.
    pub fn vocabulary(&self) -> Vec<String> {
        if let StaticEmbedding::Pretrained(model) = &self.static_embedding {
            return model.vocabulary();
        }
        let words = with_rewritten(vocabulary(&self.corpus, &self.groups), Some(&self.model.objective));
        with_given(words, Some(&self.static_embedding))
    }
}

/// Adds the words that a sequence objective writes and that never occur in the corpus.
pub(super) fn with_rewritten(words: Vec<String>, objective: Option<&Objective>) -> Vec<String> {
    let Some(Objective::Sequence(rewriting)) = objective else { return words };
    let mut all = Ordered::default();
    words.iter().for_each(|word| all.push(word));
    rewriting.words.iter().for_each(|(_, written)| all.push(written));
    all.list
}

/// Adds the words that have a given vector and never occur in the corpus.
pub(super) fn with_given(mut words: Vec<String>, embedding: Option<&StaticEmbedding>) -> Vec<String> {
    if let Some(StaticEmbedding::Given(given)) = embedding {
        let seen: HashSet<String> = words.iter().cloned().collect();
        words.extend(given.words.iter().filter(|word| !seen.contains(*word)).cloned());
    }
    words
}

/// The words of a corpus in order of first appearance: the templates topic by topic, with the words of a slot
/// at its place; then ambiguous words; then joining words. It does not depend on the seed or on
/// any rate, so a word keeps its row while the learner changes those.
pub fn vocabulary(corpus: &Corpus, groups: &[Group]) -> Vec<String> {
    let mut words = Ordered { articles: corpus.drawn && draws_an(corpus, groups), ..Ordered::default() };
    let mut expanded = HashSet::new();
    for template in corpus.topics.iter().flat_map(|topic| &topic.templates) {
        for piece in pieces(template).unwrap_or_default() {
            match piece {
                Piece::Word(word) => words.push(&word),
                // A slot adds nothing the second time: work stays linear in the size of the lesson.
                Piece::Slot(name) => {
                    if let Some(slot) = slot(&name, corpus, groups)
                        && expanded.insert(name)
                    {
                        slot.words.iter().for_each(|word| words.push(word));
                    }
                }
            }
        }
    }
    corpus.ambiguous.iter().for_each(|ambiguous| words.push(&ambiguous.word));
    corpus.join.iter().flat_map(|join| &join.words).for_each(|word| words.push(word));
    words.list
}

/// The list that `{name}` draws from.
pub fn slot<'l>(name: &str, corpus: &'l Corpus, groups: &'l [Group]) -> Option<&'l Group> {
    corpus.slots.iter().chain(groups).find(|slot| slot.name == name)
}

/// Kinds of words that can fill one position of a template.
#[derive(Clone, Copy, Default)]
struct PossibleWords {
    a: bool,
    vowel: bool,
}

impl PossibleWords {
    fn of<'w>(words: impl IntoIterator<Item = &'w String>) -> PossibleWords {
        let add = |place: PossibleWords, word: &String| PossibleWords {
            a: place.a || word == "a",
            vowel: place.vowel || takes_an(word),
        };
        words.into_iter().fold(PossibleWords::default(), add)
    }
}

/// Whether a sentence can be drawn in which `a` stands before a word that makes it `an`.
fn draws_an(corpus: &Corpus, groups: &[Group]) -> bool {
    let ambiguous = |name: &str| {
        let has_sense = |shares: &[(String, f64)]| shares.iter().any(|(group, _)| group == name);
        corpus
            .ambiguous
            .iter()
            .filter(|ambiguous| has_sense(&ambiguous.shares))
            .map(|ambiguous| &ambiguous.word)
            .collect()
    };
    let of_slot = |name: &str| {
        let ambiguous: Vec<&String> = ambiguous(name);
        PossibleWords::of(slot(name, corpus, groups).into_iter().flat_map(|slot| &slot.words).chain(ambiguous))
    };
    let mut slots: HashMap<String, PossibleWords> = HashMap::new();
    let join = corpus.join.as_ref().map(|join| PossibleWords::of(&join.words));
    corpus.topics.iter().flat_map(|topic| &topic.templates).any(|template| {
        let place = |piece| match piece {
            Piece::Word(word) => PossibleWords::of([&word]),
            Piece::Slot(name) => *slots.entry(name).or_insert_with_key(|name| of_slot(name)),
        };
        let places: Vec<PossibleWords> = pieces(template).unwrap_or_default().into_iter().map(place).collect();
        let joined: Vec<PossibleWords> = join.into_iter().chain(places).chain(join).collect();
        joined.windows(2).any(|pair| pair[0].a && pair[1].vowel)
    })
}

#[derive(Default)]
struct Ordered {
    list: Vec<String>,
    seen: HashSet<String>,
    /// `a` can become `an`: in a drawn sentence the article agrees with the word after it.
    articles: bool,
}

impl Ordered {
    fn push(&mut self, word: &str) {
        if self.seen.insert(word.to_owned()) {
            self.list.push(word.to_owned());
            if self.articles && word == "a" {
                self.push("an");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::schema::{Ambiguous, Join, Topic};

    #[test]
    fn an_is_a_word_only_where_it_can_be_drawn() {
        let draws = |template: &str, fruit: &str, joining: &str| {
            let corpus = Corpus {
                sentences: 1,
                drawn: true,
                slots: vec![Group { name: "fruit".into(), words: vec!["pear".into(), fruit.into()] }],
                topics: vec![Topic { name: "all".into(), templates: vec!["the {fruit}".into(), template.into()] }],
                ambiguous: vec![Ambiguous { word: "orange".into(), rate: 0.1, shares: vec![("colour".into(), 1.0)] }],
                join: Some(Join { share: 0.5, words: vec![joining.into()] }),
            };
            let colour = Group { name: "colour".into(), words: vec!["red".into()] };
            vocabulary(&corpus, &[colour]).iter().any(|word| word == "an")
        };
        assert!(!draws("a {fruit}", "plum", "while"));
        assert!(draws("a {fruit}", "apple", "while"));
        assert!(draws("a {colour} {fruit}", "plum", "while"), "an orange plum");
        assert!(draws("eat a", "plum", "and"));
        assert!(!draws("eat a", "plum", "while"));
        assert!(draws("an {fruit}", "plum", "while"), "it is written");
    }

    #[test]
    fn order_of_first_appearance() {
        let group = |name: &str, words: &[&str]| Group {
            name: name.into(),
            words: words.iter().map(|w| (*w).into()).collect(),
        };
        let corpus = Corpus {
            sentences: 10,
            drawn: true,
            slots: vec![group("eat", &["ate", "eats"])],
            topics: vec![
                Topic { name: "fruit".into(), templates: vec!["She {eat} a {fruit}".into(), "the {fruit}".into()] },
                Topic { name: "company".into(), templates: vec!["the {unknown} fell".into()] },
            ],
            ambiguous: vec![Ambiguous { word: "apple".into(), rate: 0.1, shares: vec![] }],
            join: Some(Join { share: 0.5, words: vec!["while".into(), "the".into()] }),
        };
        let groups = [group("fruit", &["banana", "ate"]), group("never", &["unused"])];
        assert_eq!(
            vocabulary(&corpus, &groups),
            ["she", "ate", "eats", "a", "an", "banana", "the", "fell", "apple", "while"]
        );
    }
}
