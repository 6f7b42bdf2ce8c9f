//! Attention in the sentence: its words in a line, with the source above, and the weights between two words as arcs.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use attune_core::kernel::sentence_pass::recorded::RecordedPass;
use attune_core::kernel::snapshot::sentence::token_labels;
use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot, StaticSpace, Token};
use attune_engine::quantity::{Entry, Quantity};

use super::attention::{HeadCells, Reading, Sinks};
use super::grid::{PatchMap, PatchPlaces};
use super::labels::{HeadLabels, Side};
use super::number;
pub use super::words::Pair;
use super::words::Words;
use crate::explain::walk::{first_of, lengths};

#[derive(Clone, Debug)]
pub struct SentenceArcs {
    /// The words of the sentence on the stage.
    pub words: Vec<ArcWord>,
    /// The words of its source; empty if there is none.
    pub source: Vec<ArcWord>,
    /// The layers in the order of computation; empty if each word attends only to itself.
    pub layers: Vec<ArcLayer>,
    /// The distance that each word moves through all layers.
    pub lengths: Vec<f32>,
    pub sinks: Sinks,
    /// Whether a word of the sentence consists of several pieces.
    pub has_pieces: bool,
    /// The pieces of each word, if whole words are shown; `None` if pieces are.
    pub folded: Option<Arc<Words>>,
    /// The grammatical subject of a sentence about hidden words, such as `The mask`.
    pub hides: &'static str,
    /// A measure of how much each word mattered, which the arcs show instead of the weights.
    pub measured: Option<MeasuredWords>,
    /// The places of the tokens in a picture, if they are its patches.
    pub patches: Option<PatchPlaces>,
    /// The recorded pass, which has the weights outside of the stretch that is shown; `None` without patches.
    recorded: Option<Arc<RecordedPass>>,
    alignment: Last<AlignmentOf, Arc<[WeightArc]>>,
    on_patches: Last<ShownArcs, Option<f32>>,
}

/// The choices on which an alignment depends: the layer, the head and the reading.
type AlignmentOf = (usize, Option<usize>, Reading);

/// A value that was computed last, with the choices that it depends on: the stage asks for it in every frame.
#[derive(Clone, Debug)]
struct Last<K, V>(Arc<Mutex<Option<(K, V)>>>);

impl<K, V> Default for Last<K, V> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: PartialEq, V: Clone> Last<K, V> {
    fn get(&self, of: K, compute: impl FnOnce() -> V) -> V {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = known.as_ref().filter(|(known, _)| *known == of) {
            return value.clone();
        }
        let value = compute();
        *known = Some((of, value.clone()));
        value
    }
}

/// A measure of how much each word mattered for an answer, as arcs from the place of the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredWords {
    /// The name of the measure.
    pub title: String,
    pub place: usize,
    /// The magnitude for each position relative to the largest one, and the values themselves.
    pub shares: Vec<f32>,
    pub values: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ArcWord {
    /// The label, such as `apple`, or `apple₂` if the sentence has the word more than once.
    pub label: String,
    pub text: String,
    /// The index of the word's group among the lesson's groups.
    pub group: Option<usize>,
    /// Whether this piece is not shown, because the first piece of its word stands for the whole word.
    pub is_part: bool,
    /// Whether the tokenizer added the token.
    pub is_added: bool,
}

impl MeasuredWords {
    fn number(&self, position: usize) -> String {
        self.values.get(position).map_or_else(String::new, |value| number(*value))
    }
}

/// The heads of one block, which all have the same queries and keys.
#[derive(Clone, Debug)]
pub struct ArcLayer {
    /// The title, such as `Layer 2` or `Cross-attention`; empty if there is only one layer.
    pub title: String,
    pub queries: Side,
    pub keys: Side,
    pub heads: Vec<ArcHead>,
}

impl ArcLayer {
    /// Returns the arc from a query to a key in one of the layer's heads.
    fn arc(&self, own: usize, [query, key]: [usize; 2], weight: f32) -> WeightArc {
        let ArcHead { head, is_enabled, .. } = self.heads[own];
        WeightArc {
            pair: Pair { head, query, key },
            own,
            from: WordAt { side: self.queries, position: query },
            to: WordAt { side: self.keys, position: key },
            weight,
            added: None,
            is_enabled,
        }
    }
}

#[derive(Clone, Debug)]
pub struct ArcHead {
    /// The index of the head, counted over all blocks.
    pub head: usize,
    /// The title, such as `Head 1`, with the layer if there are several.
    pub title: String,
    pub is_enabled: bool,
    /// The head's numbers, for the words in the order in which they are shown.
    pub cells: HeadCells,
}

/// A word, given by its line (the source or the sentence) and its position there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WordAt {
    pub side: Side,
    pub position: usize,
}

impl WordAt {
    pub fn in_sentence(position: usize) -> Self {
        Self { side: Side::Sentence, position }
    }

    pub fn in_source(position: usize) -> Self {
        Self { side: Side::Source, position }
    }

    /// Returns the position of a word in the sentence on the stage; `None` for a word of the source.
    pub fn token(self) -> Option<usize> {
        (self.side == Side::Sentence).then_some(self.position)
    }
}

/// The direction in which the weights of a word are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// The word as a query: its row of weights.
    #[default]
    LooksAt,
    /// The word as a key: its column of weights.
    SeenBy,
}

impl Direction {
    pub const ALL: [Self; 2] = [Self::LooksAt, Self::SeenBy];

    pub fn other(self) -> Self {
        match self {
            Self::LooksAt => Self::SeenBy,
            Self::SeenBy => Self::LooksAt,
        }
    }

    /// Returns a heading for a word's weights in this direction.
    pub fn heading(self, word: &str) -> String {
        match self {
            Self::LooksAt => format!("{word} looks at"),
            Self::SeenBy => format!("{word} is seen by"),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::LooksAt => "looks at",
            Self::SeenBy => "seen by",
        }
    }
}

/// A weight between two words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightArc {
    pub pair: Pair,
    /// The index of the head in its layer, which determines its hue.
    pub own: usize,
    pub from: WordAt,
    pub to: WordAt,
    /// The weight, which the width of the arc shows; if lengths are shown, the length relative to the longest one.
    pub weight: f32,
    /// The length of the contribution, if lengths are shown.
    pub added: Option<f32>,
    pub is_enabled: bool,
}

/// The number that is written at a word.
#[derive(Clone, Debug, PartialEq)]
pub struct WordNumber {
    pub at: WordAt,
    pub text: String,
    /// The index of the head in its layer; `None` for a mean over several heads.
    pub own: Option<usize>,
}

/// The choice of the arcs that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownArcs {
    /// The word whose weights are shown.
    pub word: WordAt,
    pub direction: Direction,
    pub layer: usize,
    /// The index of the head, counted over all blocks; `None` for all heads of the layer.
    pub head: Option<usize>,
    pub reading: Reading,
}

impl SentenceArcs {
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let (space, model) = (snapshot.space.as_ref()?, snapshot.model.as_ref()?);
        let patches = PatchPlaces::of(snapshot);
        let recorded = model.recorded.clone().filter(|_| patches.is_some());
        Some(Self { patches, recorded, ..Self::between(space, model, None)? })
    }

    /// Returns the arcs between whole words; `None` if there is no model, or if every word is a single piece. Each word
    /// is at the position of its first piece, and the other pieces are not shown.
    pub fn by_words(snapshot: &Snapshot) -> Option<Self> {
        let (space, model) = (snapshot.space.as_ref()?, snapshot.model.as_ref()?);
        let words = Arc::new(Words::of(&model.sentence)?);
        let mut arcs = Self::between(space, model, Some(words.clone()))?;
        let none = ArcWord { label: String::new(), text: String::new(), group: None, is_part: true, is_added: false };
        let pieces = std::mem::take(&mut arcs.words);
        arcs.words = vec![none; pieces.len()];
        for ((range, text), label) in words.pieces.iter().zip(&words.texts).zip(words.labels()) {
            let group = pieces[range.start].group;
            arcs.words[range.start] = ArcWord { label, text: text.clone(), group, is_part: false, is_added: false };
        }
        arcs.sinks = arcs.sinks.of_words(|piece| words.first(piece));
        Some(arcs)
    }

    fn between(space: &StaticSpace, model: &ModelSnapshot, folded: Option<Arc<Words>>) -> Option<Self> {
        let labels = HeadLabels::of(model);
        let sinks = Sinks::of(model, &labels);
        let layers = layers(model, &labels, &sinks, folded.as_ref());
        // If no word attends to another, there is nothing to draw or to describe.
        let is_alone = layers
            .iter()
            .all(|layer| layer.queries == layer.keys && layer.heads.iter().all(|head| head.cells.is_diagonal()));
        Some(Self {
            words: words(&model.sentence.tokens, space),
            source: model.sentence.source.as_deref().map(|source| words(source, space)).unwrap_or_default(),
            layers: if is_alone { Vec::new() } else { layers },
            lengths: lengths(model)?,
            sinks,
            has_pieces: folded.is_some() || Words::of(&model.sentence).is_some(),
            folded,
            measured: None,
            patches: None,
            recorded: None,
            alignment: Last::default(),
            on_patches: Last::default(),
            hides: if model.interventions.edges.is_empty() { "The mask" } else { "The mask or a removed edge" },
        })
    }

    /// Returns the index of each shown word in a head's numbers, with the position of the word.
    fn placed_words(&self, side: Side) -> impl Iterator<Item = (usize, usize)> {
        let words = self.line(side).iter().enumerate().filter(|(_, word)| !word.is_part);
        words.map(|(position, _)| position).enumerate()
    }

    /// Returns the index of a word in a head's numbers; `None` if the word is not shown.
    fn row_of(&self, side: Side, position: usize) -> Option<usize> {
        self.placed_words(side).find(|(_, placed)| *placed == position).map(|(row, _)| row)
    }

    /// Returns the share of the largest weight that each word of the sentence has among the arcs of a word, as a mean
    /// over the shown heads, with the head of its largest weight. Words without an arc have no share. If the words are
    /// patches, the largest weight is that of all patches, also of those that are not shown.
    pub fn shares(&self, shown: &ShownArcs) -> Vec<Option<(usize, f32)>> {
        let mut largest = vec![None::<(usize, f32)>; self.words.len()];
        let mut sums = vec![0.0; self.words.len()];
        for arc in self.drawn(shown) {
            let other = if shown.direction == Direction::LooksAt { arc.to } else { arc.from };
            let Some(position) = other.token().filter(|position| *position < sums.len()) else { continue };
            sums[position] += arc.weight;
            if largest[position].is_none_or(|(_, weight)| weight < arc.weight) {
                largest[position] = Some((arc.own, arc.weight));
            }
        }
        let of_shown = || sums.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let most = self.largest_on_patches(shown).unwrap_or_else(of_shown);
        largest.iter().zip(sums).map(|(found, sum)| found.map(|(own, _)| (own, sum / most))).collect()
    }

    /// Returns the largest weight of a row on any patch, as a sum over the shown heads that are on; `None` if the words
    /// are not patches, or for other numbers than weights.
    fn largest_on_patches(&self, shown: &ShownArcs) -> Option<f32> {
        let pass = self.recorded.as_deref()?;
        let is_row = shown.direction == Direction::LooksAt && shown.reading == Reading::default();
        let query = shown.word.token().filter(|_| is_row && self.measured.is_none())?;
        let heads = self.layers.get(shown.layer)?.heads.iter().filter(|head| head.is_enabled);
        let heads = heads.filter(|head| shown.head.is_none_or(|only| only == head.head));
        self.on_patches.get(*shown, || {
            let maps: Vec<PatchMap> = heads.filter_map(|head| PatchMap::of_pass(pass, (query, head.head))).collect();
            let sum = |patch: usize| maps.iter().map(|map| map.weights[patch]).sum::<f32>();
            (0..maps.first()?.weights.len()).map(sum).reduce(f32::max).filter(|largest| *largest > 0.0)
        })
    }

    pub fn line(&self, line: Side) -> &[ArcWord] {
        match line {
            Side::Source => &self.source,
            Side::Sentence => &self.words,
        }
    }

    pub fn word(&self, at: WordAt) -> Option<&ArcWord> {
        self.line(at.side).get(at.position)
    }

    /// Returns the position at which a word is shown: a piece is shown at the first piece of its word.
    pub fn placed(&self, at: WordAt) -> WordAt {
        let line = self.line(at.side).get(..=at.position).unwrap_or_default();
        WordAt { position: line.iter().rposition(|word| !word.is_part).unwrap_or(at.position), ..at }
    }

    /// Returns a pair at the positions at which its words are shown; `None` for a head without arcs.
    pub fn placed_pair(&self, Pair { head, query, key }: Pair) -> Option<Pair> {
        let layer = &self.layers[self.layer_of(head)?];
        let place = |side, position| self.placed(WordAt { side, position }).position;
        Some(Pair { head, query: place(layer.queries, query), key: place(layer.keys, key) })
    }

    /// Returns the entry that explains an arc; `None` if the arc combines several pieces or shows a measure.
    pub fn entry(&self, arc: &WeightArc) -> Option<Entry> {
        let is_of_one = |words: &Words, position: usize| {
            words.pieces.iter().all(|pieces| pieces.start != position || pieces.len() == 1)
        };
        let is_one = |at: WordAt| {
            at.side == Side::Source || self.folded.as_ref().is_none_or(|words| is_of_one(words, at.position))
        };
        let is_of_one = self.measured.is_none() && is_one(arc.from) && is_one(arc.to);
        is_of_one.then(|| Quantity::Weight.of_head(arc.pair.head, [arc.pair.query, arc.pair.key]))
    }

    pub fn label(&self, at: WordAt) -> &str {
        self.word(at).map_or("", |word| &word.label)
    }

    /// Returns the layer of a head, which is counted over all blocks; `None` if the head has no arcs.
    pub fn layer_of(&self, head: usize) -> Option<usize> {
        self.layers.iter().position(|layer| layer.heads.iter().any(|one| one.head == head))
    }

    /// Returns the word that the walk follows by default if a lesson is about the words `lit`; `None` if the sentence
    /// has none of them.
    pub fn first_lit(&self, lit: &[String]) -> Option<usize> {
        first_of(lit, self.words.iter().map(|word| word.text.as_str()), &self.lengths)
    }

    /// Returns the directions in which a word has weights in a layer.
    pub fn directions(&self, layer: usize, word: WordAt) -> Vec<Direction> {
        let Some(layer) = self.layers.get(layer) else { return Vec::new() };
        Direction::ALL.into_iter().filter(|direction| layer.line_of(*direction) == word.side).collect()
    }

    /// Returns the shown layer, the index of the word in the numbers of its heads, and the line of the other words;
    /// `None` if the word has no weights in this direction.
    fn chosen(&self, shown: &ShownArcs) -> Option<(&ArcLayer, usize, Side)> {
        let layer = self.layers.get(shown.layer).filter(|layer| layer.line_of(shown.direction) == shown.word.side)?;
        let mine = self.row_of(shown.word.side, shown.word.position)?;
        Some((layer, mine, layer.line_of(shown.direction.other())))
    }

    /// Returns the arcs of a measure, from the place of the answer.
    fn measured_arcs(&self, measured: &MeasuredWords, shown: &ShownArcs) -> Vec<WeightArc> {
        let from = self.placed(WordAt::in_sentence(measured.place));
        let head = self.layers.get(shown.layer).and_then(|layer| layer.heads.first()).map_or(0, |head| head.head);
        let is_shown = match shown.direction {
            Direction::LooksAt => shown.word == from,
            Direction::SeenBy => shown.word.side == Side::Sentence,
        };
        let positions = self.placed_words(Side::Sentence).map(|(_, position)| position).filter(|_| is_shown);
        let wanted = positions.filter(|at| shown.direction == Direction::LooksAt || *at == shown.word.position);
        let arc = |to: usize| {
            Some(WeightArc {
                pair: Pair { head, query: from.position, key: to },
                own: 0,
                from,
                to: WordAt::in_sentence(to),
                weight: *measured.shares.get(to)?,
                added: None,
                is_enabled: true,
            })
        };
        wanted.filter_map(arc).collect()
    }

    /// Returns the arcs of the shown weights, head by head in the order of the words.
    pub fn arcs(&self, shown: &ShownArcs) -> Vec<WeightArc> {
        if let Some(measured) = &self.measured {
            return self.measured_arcs(measured, shown);
        }
        let Some((layer, mine, others)) = self.chosen(shown) else { return Vec::new() };
        let heads = layer.heads.iter().enumerate();
        let heads = heads.filter(|(_, head)| shown.head.is_none_or(|only| only == head.head));
        let mut arcs: Vec<WeightArc> = heads
            .flat_map(|(own, head)| {
                self.placed_words(others).filter_map(move |(other, position)| {
                    let one = (mine, shown.word.position);
                    let ((row, query), (column, key)) = match shown.direction {
                        Direction::LooksAt => (one, (other, position)),
                        Direction::SeenBy => ((other, position), one),
                    };
                    if head.cells.is_hidden(row, column) && head.cells.weight(row, column) == 0.0 {
                        return None;
                    }
                    let weight = head.cells.shown(shown.reading, row, column)?;
                    let added = shown.reading.is_added.then_some(weight);
                    Some(WeightArc { added, ..layer.arc(own, [query, key], weight) })
                })
            })
            .collect();
        if shown.reading.is_added {
            let longest = arcs.iter().map(|arc| arc.weight).fold(f32::MIN_POSITIVE, f32::max);
            arcs.iter_mut().for_each(|arc| arc.weight /= longest);
        }
        arcs
    }

    /// Returns the arc of the largest weight of each query of a head that looks at the other sentence, which shows how
    /// the two sentences are aligned; empty for a head within one sentence, and while all heads are shown.
    pub fn alignment(&self, layer: usize, head: Option<usize>, reading: Reading) -> Arc<[WeightArc]> {
        if self.measured.is_some() {
            return Arc::default();
        }
        let of = (layer, head, reading);
        self.alignment.get(of, || self.aligned(of).into())
    }

    fn aligned(&self, (layer, head, reading): AlignmentOf) -> Vec<WeightArc> {
        let layer_of = &self.layers[layer];
        let is_alone = layer_of.heads.len() == 1;
        let is_shown = |one: &ArcHead| one.is_enabled && (is_alone || head == Some(one.head));
        let is_between = layer_of.queries != layer_of.keys && !reading.is_added;
        let Some((own, head)) = layer_of.heads.iter().enumerate().find(|(_, one)| is_between && is_shown(one)) else {
            return Vec::new();
        };
        // Many heads look at an added token when they look at nothing, so it is aligned with no word.
        let keys: Vec<(usize, usize)> = self.placed_words(layer_of.keys).collect();
        let is_word = |key: &&(usize, usize)| !self.line(layer_of.keys)[key.1].is_added;
        let words: Vec<(usize, usize)> = keys.iter().filter(is_word).copied().collect();
        let keys = if words.is_empty() { keys } else { words };
        let strongest = |(row, query): (usize, usize)| {
            let weights = keys.iter().filter_map(|&(column, key)| Some((head.cells.shown(reading, row, column)?, key)));
            let (weight, key) = weights.max_by(|a, b| a.0.total_cmp(&b.0))?;
            Some(layer_of.arc(own, [query, key], weight))
        };
        self.placed_words(layer_of.queries).filter_map(strongest).collect()
    }

    /// Returns the arcs of the heads that are on.
    pub fn drawn(&self, shown: &ShownArcs) -> Vec<WeightArc> {
        self.arcs(shown).into_iter().filter(|arc| arc.is_enabled).collect()
    }

    /// Returns the numbers at the other ends of the drawn arcs, the largest first: the weights of one head, or their
    /// means over several heads. Lengths of several heads have no such mean, and get no number.
    pub fn numbers(&self, shown: &ShownArcs) -> Vec<WordNumber> {
        /// The least number that is shown; smaller ones would be too close together to read.
        const LEAST: f32 = 0.095;
        let arcs = self.drawn(shown);
        if let Some(measured) = &self.measured {
            let large = arcs.iter().filter(|arc| arc.weight >= LEAST);
            let number = |arc: &WeightArc| WordNumber {
                at: if shown.direction == Direction::LooksAt { arc.to } else { arc.from },
                text: measured.number(arc.to.position),
                own: Some(arc.own),
            };
            return large.map(number).collect();
        }
        let own = arcs.first().map(|arc| arc.own).filter(|own| arcs.iter().all(|arc| arc.own == *own));
        let heads = arcs.chunk_by(|a, b| a.own == b.own).count() as f32;
        let other = |arc: &WeightArc| if shown.direction == Direction::LooksAt { arc.to } else { arc.from };
        let mut means: BTreeMap<WordAt, f32> = BTreeMap::new();
        arcs.iter().for_each(|arc| *means.entry(other(arc)).or_default() += arc.weight / heads);
        let mut means: Vec<(WordAt, f32)> = means.into_iter().filter(|(_, mean)| *mean >= LEAST).collect();
        means.sort_by(|a, b| b.1.total_cmp(&a.1));
        let text = |at: WordAt, mean: f32| match arcs.iter().find(|arc| other(arc) == at) {
            Some(arc) if own.is_some() => Some(arc.number()),
            _ => (!shown.reading.is_added).then(|| percent(mean)),
        };
        means.into_iter().filter_map(|(at, mean)| Some(WordNumber { at, text: text(at, mean)?, own })).collect()
    }

    /// Describes an arc: `apple₁ looks at launched: 38 % (head 2)` or `apple₁ receives from launched: 0.41`.
    pub fn say(&self, arc: &WeightArc) -> String {
        if let Some(measured) = &self.measured {
            return format!("{} of {}: {}", measured.title, self.label(arc.to), measured.number(arc.to.position));
        }
        let (from, to) = (self.label(arc.from), self.label(arc.to));
        let target = if arc.from == arc.to { "itself" } else { to };
        let verb = if arc.added.is_some() { "receives from" } else { "looks at" };
        format!("{from} {verb} {target}: {}{}", arc.number(), self.in_head(arc))
    }

    /// Returns ` (head 2)` if the layer has several heads, and whether the head is switched off.
    fn in_head(&self, arc: &WeightArc) -> String {
        let layer = self.layer_of(arc.pair.head).map(|layer| &self.layers[layer]);
        match layer.filter(|layer| layer.heads.len() > 1) {
            Some(_) if arc.is_enabled => format!(" (head {})", arc.own + 1),
            Some(_) => format!(" (head {}, switched off)", arc.own + 1),
            None if arc.is_enabled => String::new(),
            None => " (switched off)".to_owned(),
        }
    }

    /// Returns the largest weights as lines of text, the largest first, and a line on hidden words.
    pub fn card(&self, shown: &ShownArcs) -> Vec<String> {
        /// The largest number of weights that are listed; the map shows all of them.
        const LINES: usize = 4;
        let mut arcs = self.arcs(shown);
        arcs.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let mut lines: Vec<String> = arcs.iter().take(LINES).map(|arc| self.say(arc)).collect();
        let hidden = self.hidden(shown);
        if hidden > 0 {
            let (word, words) =
                (self.label(shown.word), if hidden == 1 { "1 word" } else { &format!("{hidden} words") });
            lines.push(match shown.direction {
                Direction::LooksAt => format!("{} hides {words} from {word}.", self.hides),
                Direction::SeenBy => format!("{} hides {word} from {words}.", self.hides),
            });
        }
        lines
    }

    /// Returns the number of words that a mask hides from the word, or from which it hides the word.
    fn hidden(&self, shown: &ShownArcs) -> usize {
        let Some((layer, mine, others)) = self.chosen(shown) else { return 0 };
        let Some(head) = layer.heads.first() else { return 0 };
        let is_hidden = |other: usize| match shown.direction {
            Direction::LooksAt => head.cells.is_hidden(mine, other),
            Direction::SeenBy => head.cells.is_hidden(other, mine),
        };
        self.placed_words(others).filter(|(other, _)| is_hidden(*other)).count()
    }

    /// Summarizes the shown weights in a line, such as `apple₁ looks most at launched, 38 %`; with several heads, the
    /// largest weight of each.
    pub fn summary(&self, shown: &ShownArcs) -> String {
        let most = self.most(shown);
        if let Some(measured) = &self.measured {
            let all: Vec<String> = most.iter().map(|arc| self.say(arc)).collect();
            let from = self.label(self.placed(WordAt::in_sentence(measured.place)));
            return match all.is_empty() {
                true => format!("{} is measured for the answer at {from}", measured.title),
                false => format!("For the answer at {from}: {}", all.join("; ")),
            };
        }
        let word = self.label(shown.word);
        let other = |arc: &WeightArc| {
            let other = if shown.direction == Direction::LooksAt { arc.to } else { arc.from };
            if other == shown.word { "itself".to_owned() } else { self.label(other).to_owned() }
        };
        let head = |arc: &WeightArc| if shown.head.is_none() { self.in_head(arc) } else { String::new() };
        let said = |arc: &WeightArc| format!("{}, {}{}", other(arc), arc.number(), head(arc));
        let all: Vec<String> = most.iter().map(said).collect();
        let (looks, seen) = match shown.reading.is_added {
            false => ("looks most at", "is seen most by"),
            true => ("receives most from", "gives most to"),
        };
        match (shown.direction, &all[..]) {
            (Direction::LooksAt, []) => format!("{word} looks at no word here"),
            (Direction::SeenBy, []) => format!("No word looks at {word} here"),
            (Direction::LooksAt, _) => format!("{word} {looks} {}", all.join("; ")),
            (Direction::SeenBy, _) => format!("{word} {seen} {}", all.join("; ")),
        }
    }

    /// Returns the summary for screen readers, with words instead of symbols.
    pub fn spoken(&self, shown: &ShownArcs) -> String {
        self.summary(shown).replace(" %", " percent").replace('<', "less than ")
    }

    /// Returns the largest weight of each shown head, for at most three.
    fn most(&self, shown: &ShownArcs) -> Vec<WeightArc> {
        const HEADS: usize = 3;
        let arcs = self.arcs(shown);
        let heads = arcs.chunk_by(|a, b| a.own == b.own);
        let largest =
            heads.filter_map(|arcs| arcs.iter().copied().reduce(|a, b| if b.weight > a.weight { b } else { a }));
        let mut most: Vec<WeightArc> = largest.filter(|arc| arc.weight > 0.0).collect();
        most.sort_by(|a, b| b.is_enabled.cmp(&a.is_enabled).then(a.own.cmp(&b.own)));
        most.truncate(HEADS);
        most
    }
}

impl WeightArc {
    /// Returns the weight as a percentage, or the length of the contribution if lengths are shown.
    pub fn number(&self) -> String {
        self.added.map_or_else(|| percent(self.weight), |length| format!("{length:.2}"))
    }
}

impl ArcLayer {
    /// Returns the line whose words have weights in this direction.
    pub fn line_of(&self, direction: Direction) -> Side {
        match direction {
            Direction::LooksAt => self.queries,
            Direction::SeenBy => self.keys,
        }
    }
}

/// Formats a weight as a percentage: `38 %`, `<1 %`.
pub fn percent(weight: f32) -> String {
    const HALF: f32 = 0.005;
    if weight > 0.0 && weight < HALF { "<1 %".to_owned() } else { format!("{:.0} %", weight * 100.0) }
}

fn words(tokens: &[Token], space: &StaticSpace) -> Vec<ArcWord> {
    let words = tokens.iter().zip(token_labels(tokens));
    let words = words.map(|(token, label)| ArcWord {
        label,
        text: token.text.clone(),
        group: token.word.and_then(|word| space.group_of[word]),
        is_part: false,
        is_added: token.is_added(),
    });
    words.collect()
}

fn layers(model: &ModelSnapshot, labels: &HeadLabels, sinks: &Sinks, words: Option<&Arc<Words>>) -> Vec<ArcLayer> {
    let mut cells = HeadCells::all(model, labels, sinks, words).into_iter().enumerate();
    let mut arc_heads = |heads: Range<usize>| -> Vec<ArcHead> {
        let arc_head =
            |(head, cells)| ArcHead { head, title: labels.title(head), is_enabled: model.is_enabled(head), cells };
        cells.by_ref().take(heads.len()).map(arc_head).collect()
    };
    let layer = |(block, _)| {
        let heads = model.architecture.heads_of(block);
        let first = heads.start;
        ArcLayer {
            title: labels.block(first),
            queries: Side::of_source(labels.is_of_source(first)),
            keys: Side::of_source(labels.keys_are_source(first)),
            heads: arc_heads(heads),
        }
    };
    model.architecture.numbered_blocks().map(layer).collect()
}
