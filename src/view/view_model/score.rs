//! The reason why a query looks at a key: the score as a sum of products, each of a part of the query from one source
//! and a part of the key from one source.

use std::sync::Arc;

use attune_core::kernel::snapshot::Snapshot;
use attune_core::kernel::snapshot::scores::{ShownScore, ShownSplit, split_of, split_work};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::contributions::BlockPart;
use attune_engine::numerics::evidence::score::{Source, SourceValue, SplitScore};
use attune_engine::quantity::{Entry, Quantity};

use super::chains::ScoreChains;
use super::{Model, number, quoted, sentence};
use crate::explain::reader::{EntryReader, part_index};
use crate::explain::walk::Focus;

/// The split of an attention score into pairs, with the names of its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreModel {
    pub at: ShownScore,
    /// The title: the head, the query and the key, with the score and the weight.
    pub title: String,
    /// Sentences on how the sum becomes the score that the softmax reads; empty if the sum is the score.
    pub then: Vec<String>,
    /// The pairs whose values differ most from their mean over the keys.
    pub pairs: Vec<PairRow>,
    /// The number of all other pairs, and their sum.
    pub others: (usize, PairNumbers),
    pub whole: PairNumbers,
    /// The entry of the score; `None` if the sum is changed before the softmax.
    pub entry: Option<Entry>,
    /// The largest parts of the query and of the key, each multiplied by the whole other side; empty if a head's output
    /// is not a sum over words.
    pub query_parts: Vec<PartRow>,
    pub key_parts: Vec<PartRow>,
    /// The query and the key as arrows, and the factor of their product.
    pub chains: ScoreChains,
    pub scale: f64,
}

/// The numbers of a pair, or their sums over several pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairNumbers {
    /// The value minus its mean over all keys that the query sees.
    pub relative: f64,
    pub value: f64,
}

/// A product of the part of the query that a source contributed and the part of the key that a source contributed.
#[derive(Clone, Debug, PartialEq)]
pub struct PairRow {
    pub query: PartName,
    pub key: PartName,
    pub numbers: PairNumbers,
}

/// The name of a part of a query or a key, and the entry that a click on it explains.
#[derive(Clone, Debug, PartialEq)]
pub struct PartName {
    pub label: String,
    pub entry: Option<Entry>,
}

/// A part of the query or of the key, with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct PartRow {
    pub name: PartName,
    pub value: f64,
}

/// The number of pairs, and of parts, that are listed.
pub const LISTED: usize = 12;

/// The split of a score, or the reason why there is none, in words.
impl Model for Result<ScoreModel, String> {
    type Choice = ShownScore;

    fn make(snapshot: &Arc<Snapshot>, at: &ShownScore, _: Option<&Self>) -> Option<Self> {
        ScoreModel::of(snapshot, *at)
    }
}

impl ScoreModel {
    /// The largest number of multiplications that fit into a frame.
    const QUICK: usize = 8_000_000;

    /// Returns whether the split of a score of a head takes less than a frame.
    pub fn is_quick(snapshot: &Snapshot, head: usize) -> bool {
        split_work(snapshot, head) <= Self::QUICK
    }

    /// Splits a score; `None` until there is a model.
    ///
    /// # Errors
    /// If the score cannot be split; the reason is in words for the learner.
    pub fn of(snapshot: &Snapshot, at: ShownScore) -> Option<Result<Self, String>> {
        let shown = match split_of(snapshot, at)? {
            Ok(shown) => shown,
            Err(why) => return Some(Err(sentence(&why))),
        };
        Some(Ok(Self::named(&EntryReader::of(snapshot)?, at, &shown)))
    }

    fn named(reader: &EntryReader<'_>, at: ShownScore, shown: &ShownSplit) -> Self {
        let split = &shown.split;
        let names = PartNames { reader, at };
        let (mut pairs, all) = (largest(&split.relative), sum(split));
        pairs.truncate(LISTED);
        let numbers =
            |&(a, c): &(usize, usize)| PairNumbers { relative: split.relative.get(a, c), value: split.pairs.get(a, c) };
        let row = |pair: &(usize, usize)| PairRow {
            query: names.of_query(split.sources[pair.0], None),
            key: names.of_key(split.key_sources[pair.1], None),
            numbers: numbers(pair),
        };
        let listed = pairs.iter().map(numbers).fold(PairNumbers::default(), PairNumbers::plus);
        let part = |name: &dyn Fn(Source, Option<usize>) -> PartName, of: &SourceValue| PartRow {
            name: name(of.source, of.word),
            value: of.value,
        };
        let parts = |values: &[SourceValue], name: &dyn Fn(Source, Option<usize>) -> PartName| -> Vec<PartRow> {
            let count = if shown.opens_words { LISTED } else { 0 };
            values.iter().take(count).map(|value| part(name, value)).collect()
        };
        let is_score = split.added.is_none() && split.cap.is_none();
        Self {
            at,
            title: names.title(split),
            then: then(split),
            others: (split.pairs.flat().len() - pairs.len(), all.plus(listed.negative())),
            pairs: pairs.iter().map(row).collect(),
            whole: all,
            entry: is_score.then(|| Quantity::Score.of_head(at.head, [at.query, at.key])),
            chains: ScoreChains::of(
                &split.sources.iter().map(|source| source_name(*source)).collect::<Vec<_>>(),
                &split.query_parts,
                &split.key_parts,
            ),
            scale: split.scale,
            query_parts: parts(&split.query_words, &|source, word| names.of_query(source, word)),
            key_parts: parts(&split.key_words, &|source, word| names.of_key(source, word)),
        }
    }
}

impl PairNumbers {
    fn plus(self, other: Self) -> Self {
        Self { relative: self.relative + other.relative, value: self.value + other.value }
    }

    fn negative(self) -> Self {
        Self { relative: -self.relative, value: -self.value }
    }
}

fn sum(split: &SplitScore) -> PairNumbers {
    let sum = |table: &Matrix<f64>| table.flat().iter().sum();
    PairNumbers { relative: sum(&split.relative), value: sum(&split.pairs) }
}

/// Returns the rows and columns of a table's entries, those of the largest magnitude first.
pub fn largest(table: &Matrix<f64>) -> Vec<(usize, usize)> {
    let mut places: Vec<(usize, usize)> =
        (0..table.rows()).flat_map(|a| (0..table.cols()).map(move |c| (a, c))).collect();
    places.sort_by(|a, b| table.get(b.0, b.1).abs().total_cmp(&table.get(a.0, a.1).abs()));
    places
}

/// Says what is done to the sum before it is the score that softmax reads.
fn then(split: &SplitScore) -> Vec<String> {
    let capped = split.cap.map_or(split.score, |cap| cap * (split.score / cap).tanh());
    let bound = split.cap.map(|cap| {
        let (score, cap, bounded) = (number(split.score), number(cap), number(capped));
        format!("The model keeps its scores below {cap}: {cap} · tanh({score} / {cap}) = {bounded}.")
    });
    let distance = split.added.map(|added| format!("{} is then added for the distance.", number(added)));
    bound.into_iter().chain(distance).collect()
}

/// Returns the short name of a source, with layers and heads counted from 1: `head 1.3`.
pub fn source_name(source: Source) -> String {
    match source {
        Source::Word => "word".to_owned(),
        Source::Position => "position".to_owned(),
        Source::Head { block, head } => format!("head {}.{}", block + 1, head + 1),
        Source::FeedForward { block } => format!("feed-forward {}", block + 1),
        Source::Bias => "biases".to_owned(),
    }
}

/// The names of the parts of a query and a key.
struct PartNames<'a> {
    reader: &'a EntryReader<'a>,
    at: ShownScore,
}

impl PartNames<'_> {
    fn token(&self, place: usize) -> String {
        self.reader.labels.tokens.get(place).cloned().unwrap_or_default()
    }

    fn title(&self, split: &SplitScore) -> String {
        let ShownScore { head, query, key } = self.at;
        let (query, key) = (quoted(&self.token(query)), quoted(&self.token(key)));
        let [score, weight] = [split.score, split.weight].map(number);
        format!(
            "{}: {query} looks at {key}, with the score {score} and the weight {weight}.",
            self.reader.labels.title(head)
        )
    }

    fn of_query(&self, source: Source, word: Option<usize>) -> PartName {
        self.of(source, word, self.at.query)
    }

    fn of_key(&self, source: Source, word: Option<usize>) -> PartName {
        self.of(source, word, self.at.key)
    }

    /// Returns the name of the part that a source contributed to the vector of a token; `word` is the attended word, if
    /// a head's output is split into words.
    fn of(&self, source: Source, word: Option<usize>, place: usize) -> PartName {
        let from = word.map_or_else(String::new, |word| format!(" from {}", quoted(&self.token(word))));
        let own = match source {
            Source::Word => format!(" {}", quoted(&self.token(place))),
            _ => from,
        };
        PartName { label: format!("{}{own}", source_name(source)), entry: self.entry(source, word, place) }
    }

    /// Returns the entry of the part that a source contributed to a token: the part's length or, for static vectors and
    /// positions, the first number; `None` for biases.
    fn entry(&self, source: Source, word: Option<usize>, place: usize) -> Option<Entry> {
        Some(match source {
            Source::Word => self.reader.static_entry(self.reader.sentence.tokens.get(place)?.word?, 0),
            Source::Position => Quantity::Input.of_block(0, [place, 0]),
            Source::Head { block, head } => {
                let head = self.reader.model.architecture.heads_of(block).start + head;
                match word {
                    Some(word) => Quantity::TermLength.of_head(head, [place, word]),
                    None => Quantity::HeadLength.of_head(head, [place]),
                }
            }
            Source::FeedForward { block } => {
                Quantity::PartLength.of_block(block, [part_index(BlockPart::FeedForward), place])
            }
            Source::Bias => return None,
        })
    }
}

/// Returns the score that is explained by default: the one with the largest weight for the followed word in the last
/// layer's heads. The word itself and the first word are left out as keys, if there are enough others.
pub fn score_by_default(snapshot: &Snapshot, query: usize) -> Option<Focus> {
    let model = snapshot.model.as_ref()?;
    let blocks = &model.sentence.activations.blocks;
    let heads = model.architecture.heads_of(blocks.len().checked_sub(1)?);
    let mut best: Option<(f32, Focus)> = None;
    for (own, head) in heads.enumerate() {
        let weights = &blocks.last()?.heads[own].weights;
        let row = if query < weights.rows() { weights.row(query) } else { return None };
        for (key, weight) in row.iter().copied().enumerate().filter(|(key, _)| row.len() < 2 || *key != query) {
            let is_more = weight > best.map_or(0.0, |(most, _)| most);
            if is_more && (key > 0 || row.len() < 3) {
                best = Some((weight, Focus { query, head, key: Some(key) }));
            }
        }
    }
    best.map(|(_, focus)| focus)
}
