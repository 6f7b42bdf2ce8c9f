//! Sentences drawn from a lesson's templates.

use std::collections::BTreeMap;

use attune_engine::numerics::rng::{Generator, Stream, stream};
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};

use super::schema::{Ambiguous, Corpus, Group, Topic};
use super::template::{Piece, pieces};
use super::text::tokenize;
use super::vocabulary::slot;

/// A sentence that training sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorpusSentence {
    pub words: Vec<String>,
    /// Index into [`Corpus::topics`], of the first clause.
    pub topic: usize,
}

/// The sentences that training sees. The same for one seed.
pub fn generate(corpus: &Corpus, groups: &[Group], seed: u64) -> Vec<Vec<String>> {
    sentences(corpus, groups, seed).into_iter().map(|sentence| sentence.words).collect()
}

/// The sentences that training sees, with their topics.
pub fn sentences(corpus: &Corpus, groups: &[Group], seed: u64) -> Vec<CorpusSentence> {
    if !corpus.drawn {
        let of_topic = |(topic, list): (usize, &Topic)| {
            list.templates.iter().map(move |text| CorpusSentence { words: tokenize(text), topic }).collect::<Vec<_>>()
        };
        return corpus.topics.iter().enumerate().flat_map(of_topic).collect();
    }
    let mut rng = stream(seed, Stream::Corpus);
    let topics = parsed(&corpus.topics);
    let senses = sense_rates(corpus, &uses(&topics));
    let draw = Draw { corpus, groups, topics, senses };
    (0..corpus.sentences).map(|_| draw.sentence(&mut rng)).collect()
}

/// The templates of a topic.
type ParsedTopic = Vec<Vec<Piece>>;

fn parsed(topics: &[Topic]) -> Vec<ParsedTopic> {
    let template = |template: &String| pieces(template).unwrap_or_default();
    topics.iter().map(|topic| topic.templates.iter().map(template).collect()).collect()
}

struct Draw<'a> {
    corpus: &'a Corpus,
    groups: &'a [Group],
    topics: Vec<ParsedTopic>,
    /// For each slot: words that may take its place, with the probability.
    senses: Vec<(&'a str, &'a str, f64)>,
}

impl Draw<'_> {
    fn sentence(&self, rng: &mut Generator) -> CorpusSentence {
        let mut words = Vec::new();
        let mut order: Vec<usize> = (0..self.topics.len()).collect();
        order.shuffle(rng);
        let topics = &self.topics;
        let topic = order[0];
        match &self.corpus.join {
            Some(join) if rng.random_bool(join.share) => {
                let second = *order.get(1).unwrap_or(&topic);
                self.clause(&topics[topic], rng, &mut words);
                words.extend(join.words.choose(rng).cloned());
                self.clause(&topics[second], rng, &mut words);
            }
            _ => self.clause(&topics[topic], rng, &mut words),
        }
        agree_articles(&mut words);
        CorpusSentence { words, topic }
    }

    fn clause(&self, topic: &ParsedTopic, rng: &mut Generator, words: &mut Vec<String>) {
        let Some(template) = topic.choose(rng) else { return };
        for piece in template {
            match piece {
                Piece::Word(word) => words.push(word.clone()),
                Piece::Slot(name) => words.extend(self.fill(name, rng)),
            }
        }
    }

    fn fill(&self, name: &str, rng: &mut Generator) -> Option<String> {
        // One draw decides among all words that may stand here, so that their rates do not interact.
        let mut left: f64 = rng.random();
        for &(_, word, rate) in self.senses.iter().filter(|(sense, _, _)| *sense == name) {
            if left < rate {
                return Some(word.to_owned());
            }
            left -= rate;
        }
        slot(name, self.corpus, self.groups)?.words.choose(rng).cloned()
    }
}

/// How often each sense's slot is filled with the ambiguous word, so that the word's occurrences
/// have the shares that the lesson asks for although the slots are not equally frequent.
fn sense_rates<'a>(corpus: &'a Corpus, uses: &BTreeMap<String, f64>) -> Vec<(&'a str, &'a str, f64)> {
    let mut rates = Vec::new();
    for Ambiguous { word, rate, shares } in &corpus.ambiguous {
        let uses = |group| uses.get(group).copied().unwrap_or(0.0);
        let raw: Vec<f64> = shares.iter().map(|(group, share)| share / uses(group).max(f64::MIN_POSITIVE)).collect();
        let mean = raw.iter().sum::<f64>() / raw.len().max(1) as f64;
        let highest = raw.iter().copied().fold(0.0, f64::max);
        // Scaled to the mean rate that is asked for, but never past certainty.
        let scale = (rate / mean).min(1.0 / highest);
        rates.extend(
            shares
                .iter()
                .zip(raw)
                .map(|((group, _), raw)| (group.as_str(), word.as_str(), (raw * scale).clamp(0.0, 1.0))),
        );
    }
    rates
}

/// Words of the longest sentence that can be drawn.
pub(super) fn longest(corpus: &Corpus) -> usize {
    let words = |template: &String| pieces(template).map_or(0, |pieces| pieces.len());
    let mut lengths: Vec<usize> =
        corpus.topics.iter().map(|topic| topic.templates.iter().map(words).max().unwrap_or(0)).collect();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    match (&corpus.join, &lengths[..]) {
        (Some(_), [first, second, ..]) => first + 1 + second,
        (_, lengths) => lengths.first().copied().unwrap_or(0),
    }
}

/// How often an ambiguous word fills the slot of each of its senses, before that is kept below certainty.
/// A sense whose slot is rare needs a higher rate there for its share.
pub(super) fn wanted_rates(ambiguous: &Ambiguous, uses: &BTreeMap<String, f64>) -> Vec<f64> {
    let Ambiguous { rate, shares, .. } = ambiguous;
    let weight = |(group, share): &(String, f64)| share / uses.get(group).copied().unwrap_or(0.0);
    let weights: Vec<f64> = shares.iter().map(weight).collect();
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    weights.into_iter().map(|weight| rate * weight / mean).collect()
}

/// The mean number of times that a sentence of one clause has each slot; slots that no template has
/// are not among them.
pub(super) fn uses_per_sentence(topics: &[Topic]) -> BTreeMap<String, f64> {
    uses(&parsed(topics))
}

fn uses(topics: &[ParsedTopic]) -> BTreeMap<String, f64> {
    let mut uses: BTreeMap<String, f64> = BTreeMap::new();
    for topic in topics {
        let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
        for piece in topic.iter().flatten() {
            if let Piece::Slot(name) = piece {
                *counts.entry(name).or_default() += 1;
            }
        }
        for (name, count) in counts {
            *uses.entry(name.clone()).or_default() += count as f64 / topic.len() as f64;
        }
    }
    uses.into_iter().map(|(name, sum)| (name, sum / topics.len() as f64)).collect()
}

/// Whether the article before the word is `an`.
pub(super) fn takes_an(word: &str) -> bool {
    word.starts_with(['a', 'e', 'i', 'o', 'u'])
}

/// `a` becomes `an` before a vowel.
fn agree_articles(words: &mut [String]) {
    for i in 1..words.len() {
        if words[i - 1] == "a" && takes_an(&words[i]) {
            words[i - 1].push('n');
        }
    }
}
