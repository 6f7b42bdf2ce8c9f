//! The language of a lesson: templates with slots, the sentences that are drawn from them, and the vocabulary, which is
//! computed before any sentence is drawn.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use attune_engine::numerics::rng::{Generator, Stream, stream};
use rand::RngExt;
use rand::seq::{IndexedRandom, IteratorRandom, SliceRandom};

use crate::lesson::reading::text::{is_word_char, tokenize};
use crate::lesson::schema::model::Objective;
use crate::lesson::schema::{Ambiguous, Corpus, Group, Lesson, StaticEmbedding, TargetForm, Topic};

/// One word of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePiece {
    Word(String),
    /// The name of a slot or a group.
    Slot(String),
}

/// An error in a template, with the text at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateError {
    /// A `{` without its `}`.
    Unclosed(String),
    /// A `}` without its `{`.
    Unopened(String),
    /// A slot that touches letters or another slot, as in `{fruit}s`.
    Touching(String),
    /// A slot without a name, `{}`.
    Unnamed,
}

/// Splits a template into its words and slots, in order. Each becomes exactly one word of the sentence.
///
/// # Errors
/// If a brace has no partner, or a slot has no name or touches another word.
pub fn pieces(template: &str) -> Result<Vec<TemplatePiece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (literal, from_open) = rest.split_at(open);
        push_words(literal, &mut pieces)?;
        let unclosed = || TemplateError::Unclosed(from_open.to_owned());
        let close = from_open.find('}').ok_or_else(unclosed)?;
        let inside = &from_open[1..close];
        if inside.contains('{') {
            return Err(unclosed());
        }
        let name = inside.trim();
        if name.is_empty() {
            return Err(TemplateError::Unnamed);
        }
        rest = &from_open[close + 1..];
        if literal.ends_with(is_word_char) || rest.starts_with(is_word_char) || rest.starts_with('{') {
            return Err(TemplateError::Touching(from_open[..=close].to_owned()));
        }
        pieces.push(TemplatePiece::Slot(name.to_owned()));
    }
    push_words(rest, &mut pieces)?;
    Ok(pieces)
}

fn push_words(literal: &str, pieces: &mut Vec<TemplatePiece>) -> Result<(), TemplateError> {
    if let Some(close) = literal.find('}') {
        return Err(TemplateError::Unopened(literal[..=close].to_owned()));
    }
    pieces.extend(tokenize(literal).into_iter().map(TemplatePiece::Word));
    Ok(())
}

/// A sentence of the training corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorpusSentence {
    pub words: Vec<String>,
    /// Index into [`Corpus::topics`] of the topic of the first clause.
    pub topic: usize,
}

/// Returns the sentences of the training corpus, which depend only on the corpus and the seed.
pub fn generate(corpus: &Corpus, groups: &[Group], seed: u64) -> Vec<Vec<String>> {
    sentences(corpus, groups, seed).into_iter().map(|sentence| sentence.words).collect()
}

/// Returns the sentences of the training corpus with their topics.
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
type ParsedTopic = Vec<Vec<TemplatePiece>>;

fn parsed(topics: &[Topic]) -> Vec<ParsedTopic> {
    let template = |template: &String| pieces(template).unwrap_or_default();
    topics.iter().map(|topic| topic.templates.iter().map(template).collect()).collect()
}

struct Draw<'a> {
    corpus: &'a Corpus,
    groups: &'a [Group],
    topics: Vec<ParsedTopic>,
    /// Senses of ambiguous words: the slot, the word that may fill it, and the probability that it does.
    senses: Vec<(&'a str, &'a str, f64)>,
}

impl Draw<'_> {
    fn sentence(&self, rng: &mut Generator) -> CorpusSentence {
        if self.corpus.repeats {
            return self.repeated(rng);
        }
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

    /// Draws different words in random order, followed by the same words in the same order.
    fn repeated(&self, rng: &mut Generator) -> CorpusSentence {
        let count = self.topics.iter().flatten().choose(rng).map_or(0, Vec::len);
        let slots = self.corpus.slots.iter().flat_map(|slot| slot.words.sample(rng, count));
        let once: Vec<String> = slots.cloned().collect();
        CorpusSentence { words: [&once[..], &once].concat(), topic: 0 }
    }

    fn clause(&self, topic: &ParsedTopic, rng: &mut Generator, words: &mut Vec<String>) {
        let Some(template) = topic.choose(rng) else { return };
        for piece in template {
            match piece {
                TemplatePiece::Word(word) => words.push(word.clone()),
                TemplatePiece::Slot(name) => words.extend(self.fill(name, rng)),
            }
        }
    }

    fn fill(&self, name: &str, rng: &mut Generator) -> Option<String> {
        // One draw decides between all words that may fill the slot, so that their rates do not interact.
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

/// Returns how often each sense's slot is filled with the ambiguous word. The rates are such that the word's
/// occurrences have the shares that the lesson asks for, although the slots are not equally frequent.
fn sense_rates<'a>(corpus: &'a Corpus, uses: &BTreeMap<String, f64>) -> Vec<(&'a str, &'a str, f64)> {
    let mut rates = Vec::new();
    for ambiguous in &corpus.ambiguous {
        let (raw, mean) = raw_rates(ambiguous, uses);
        let highest = raw.iter().copied().fold(0.0, f64::max);
        // The rates are scaled to the requested mean, but never above 1.
        let scale = (ambiguous.rate / mean).min(1.0 / highest);
        let scaled = raw.into_iter().map(|raw| (raw * scale).clamp(0.0, 1.0));
        let groups = ambiguous.shares.iter().map(|(group, _)| group.as_str());
        rates.extend(groups.zip(scaled).map(|(group, rate)| (group, ambiguous.word.as_str(), rate)));
    }
    rates
}

/// Returns the unscaled rates at which the slots of the senses are filled, and their mean. A sense whose slot is rare
/// needs a higher rate to reach its share.
fn raw_rates(Ambiguous { shares, .. }: &Ambiguous, uses: &BTreeMap<String, f64>) -> (Vec<f64>, f64) {
    let uses = |group| uses.get(group).copied().unwrap_or(0.0);
    let raw: Vec<f64> = shares.iter().map(|(group, share)| share / uses(group).max(f64::MIN_POSITIVE)).collect();
    let mean = raw.iter().sum::<f64>() / raw.len().max(1) as f64;
    (raw, mean)
}

/// Returns the number of words of the longest template of each topic, in descending order.
pub(super) fn lengths(topics: &[Topic]) -> Vec<usize> {
    let words = |template: &String| pieces(template).map_or(0, |pieces| pieces.len());
    let mut lengths: Vec<usize> =
        topics.iter().map(|topic| topic.templates.iter().map(words).max().unwrap_or(0)).collect();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    lengths
}

/// Returns the number of words of the longest sentence that can be drawn.
pub(super) fn longest(corpus: &Corpus) -> usize {
    let lengths = lengths(&corpus.topics);
    match (&corpus.join, &lengths[..]) {
        _ if corpus.repeats => 2 * lengths.first().copied().unwrap_or(0),
        (Some(_), [first, second, ..]) => first + 1 + second,
        (_, lengths) => lengths.first().copied().unwrap_or(0),
    }
}

/// Returns the rates at which an ambiguous word fills the slots of its senses, before they are limited to 1.
pub(super) fn wanted_rates(ambiguous: &Ambiguous, uses: &BTreeMap<String, f64>) -> Vec<f64> {
    let (raw, mean) = raw_rates(ambiguous, uses);
    raw.into_iter().map(|raw| ambiguous.rate * raw / mean).collect()
}

/// Returns the mean number of occurrences of each slot in a sentence of one clause. Slots that are in no template are
/// left out.
pub(super) fn uses_per_sentence(topics: &[Topic]) -> BTreeMap<String, f64> {
    uses(&parsed(topics))
}

fn uses(topics: &[ParsedTopic]) -> BTreeMap<String, f64> {
    let mut uses: BTreeMap<String, f64> = BTreeMap::new();
    for topic in topics {
        let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
        for piece in topic.iter().flatten() {
            if let TemplatePiece::Slot(name) = piece {
                *counts.entry(name).or_default() += 1;
            }
        }
        for (name, count) in counts {
            *uses.entry(name.clone()).or_default() += count as f64 / topic.len() as f64;
        }
    }
    uses.into_iter().map(|(name, sum)| (name, sum / topics.len() as f64)).collect()
}

/// Returns whether the article before a word is `an`, because the word begins with a vowel.
pub(super) fn takes_an(word: &str) -> bool {
    word.starts_with(['a', 'e', 'i', 'o', 'u'])
}

/// Changes the article `a` to `an` before a word that begins with a vowel.
fn agree_articles(words: &mut [String]) {
    for i in 1..words.len() {
        if words[i - 1] == "a" && takes_an(&words[i]) {
            words[i - 1].push('n');
        }
    }
}

impl Lesson {
    /// Returns the vocabulary: the tokens of a pretrained model, of a recording or of a whole file of vectors; or else
    /// the words of the corpus, then the words that the model writes in their place, then other words to which the
    /// lesson gives vectors.
    pub fn vocabulary(&self) -> Arc<[String]> {
        match &self.static_embedding {
            StaticEmbedding::Pretrained(model) => return model.vocabulary().into(),
            StaticEmbedding::Recording(model) => return model.vocabulary.clone(),
            StaticEmbedding::Given(given) if given.is_whole_file() => {
                return given.words.clone();
            }
            StaticEmbedding::Given(_) | StaticEmbedding::Word2Vec(_) => {}
        }
        let words = with_rewritten(vocabulary(&self.corpus, &self.groups), Some(&self.model.objective));
        with_given(words, Some(&self.static_embedding)).into()
    }
}

/// Adds the words that a sequence objective writes and that never occur in the corpus.
pub(super) fn with_rewritten(words: Vec<String>, objective: Option<&Objective>) -> Vec<String> {
    let Some(Objective::Sequence(TargetForm::ByRule(rewriting))) = objective else { return words };
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

/// Returns the words of a corpus in order of first appearance: first the templates, topic by topic, with the words of
/// each slot in its place; then ambiguous words; then joining words. The order depends neither on the seed nor on any
/// rate, so that a word keeps its row when the learner changes these.
pub fn vocabulary(corpus: &Corpus, groups: &[Group]) -> Vec<String> {
    let mut words =
        Ordered { articles: corpus.drawn && !corpus.repeats && draws_an(corpus, groups), ..Ordered::default() };
    let mut expanded = HashSet::new();
    for template in corpus.topics.iter().flat_map(|topic| &topic.templates) {
        for piece in pieces(template).unwrap_or_default() {
            match piece {
                TemplatePiece::Word(word) => words.push(&word),
                // A slot adds nothing the second time; skipping it keeps the work linear in the size of the lesson.
                TemplatePiece::Slot(name) => {
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

/// Returns the words that some groups stand for: those of the groups, and the ambiguous words with a sense among them.
pub fn words_among<'l>(
    among: &'l [String],
    corpus: &'l Corpus,
    groups: &'l [Group],
) -> impl Iterator<Item = &'l String> {
    let in_groups = groups.iter().filter(|group| among.contains(&group.name)).flat_map(|group| &group.words);
    let has_sense = |ambiguous: &&Ambiguous| ambiguous.shares.iter().any(|(group, _)| among.contains(group));
    in_groups.chain(corpus.ambiguous.iter().filter(has_sense).map(|ambiguous| &ambiguous.word))
}

/// Returns the word list that `{name}` draws from, or `None` if there is no such slot or group.
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

/// Returns whether a sentence can be drawn in which `a` precedes a word that changes it to `an`.
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
            TemplatePiece::Word(word) => PossibleWords::of([&word]),
            TemplatePiece::Slot(name) => *slots.entry(name).or_insert_with_key(|name| of_slot(name)),
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
    /// Whether `a` may become `an`, because drawn sentences have articles that agree with the next word.
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
    fn words_and_slots() {
        let word = |w: &str| TemplatePiece::Word(w.to_owned());
        let slot = |s: &str| TemplatePiece::Slot(s.to_owned());
        assert_eq!(
            pieces("She {eat} a { fruit }, then left."),
            Ok(vec![word("she"), slot("eat"), word("a"), slot("fruit"), word("then"), word("left")])
        );
        assert_eq!(pieces(""), Ok(vec![]));
        assert_eq!(pieces("a {b"), Err(TemplateError::Unclosed("{b".into())));
        assert_eq!(pieces("a {b {c}"), Err(TemplateError::Unclosed("{b {c}".into())));
        assert_eq!(pieces("a b}"), Err(TemplateError::Unopened("a b}".into())));
        assert_eq!(pieces("a {b}s"), Err(TemplateError::Touching("{b}".into())));
        assert_eq!(pieces("{a}{b}"), Err(TemplateError::Touching("{a}".into())));
        assert_eq!(pieces("a { }"), Err(TemplateError::Unnamed));
    }

    #[test]
    fn an_is_a_word_only_where_it_can_be_drawn() {
        let draws = |template: &str, fruit: &str, joining: &str| {
            let corpus = Corpus {
                sentences: 1,
                drawn: true,
                repeats: false,
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
    fn a_repeat_is_different_words_twice() {
        let word = |i: usize| format!("w{i}");
        let corpus = Corpus {
            sentences: 200,
            drawn: true,
            repeats: true,
            slots: vec![Group { name: "words".into(), words: (0..9).map(word).collect() }],
            topics: vec![Topic { name: "all".into(), templates: vec!["{words} ".repeat(3), "{words} ".repeat(5)] }],
            ..Corpus::default()
        };
        let mut halves = HashSet::new();
        for words in generate(&corpus, &[], 1) {
            let (first, second) = words.split_at(words.len() / 2);
            assert_eq!(first, second);
            assert_eq!(first.iter().collect::<HashSet<_>>().len(), first.len());
            halves.insert(first.to_vec());
        }
        assert!(halves.len() > 190, "hardly any two are the same");
        assert_eq!(halves.iter().map(Vec::len).collect::<HashSet<_>>(), HashSet::from([3, 5]));
        assert_eq!((longest(&corpus), vocabulary(&corpus, &[]).len()), (10, 9));
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
            repeats: false,
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
