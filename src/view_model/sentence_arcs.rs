//! Attention in the sentence: its words in a line, a source above them, and the weights between two words as arcs.

use std::sync::Arc;

use super::attention::lengths as term_lengths;
use super::head_labels::HeadLabels;
use super::models::Model;
use super::side::Side;
use super::sinks::{Reading, Sinks};
use super::walk::route::{first_of, lengths};
use super::words::Words;
use crate::kernel::data::token::token_labels;
use crate::kernel::snapshot::{ModelSnapshot, Snapshot, StaticSpace, Token};
use crate::numerics::model::activations::HeadActivations;
use crate::quantity::{Entry, Quantity};

#[derive(Clone, Debug, PartialEq)]
pub struct SentenceArcs {
    /// The sentence on the stage.
    pub words: Vec<ArcWord>,
    /// The sentence that it looks at; empty where there is none.
    pub source: Vec<ArcWord>,
    /// In the order in which they are computed; none where each word sees itself alone.
    pub layers: Vec<ArcLayer>,
    /// How far each word of the sentence moves.
    pub lengths: Vec<f32>,
    pub sinks: Sinks,
    /// A word of the sentence has several pieces.
    pub has_pieces: bool,
    /// The numbers of pieces of each word, where words are shown; else each word is one.
    pub pieces: Vec<usize>,
    /// The mask in words, at the beginning of a sentence.
    pub hides: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ArcWord {
    /// `apple` or, where the sentence has more than one, `apple₂`.
    pub label: String,
    pub text: String,
    /// Index into the lesson's groups.
    pub group: Option<usize>,
    /// A piece for which the first one of its word stands: it has no place.
    pub is_part: bool,
}

/// The heads of one block: all look from the same words at the same words.
#[derive(Clone, Debug, PartialEq)]
pub struct ArcLayer {
    /// `Layer 2`, `Cross-attention`; empty where there is only one.
    pub title: String,
    pub queries: Side,
    pub keys: Side,
    pub heads: Vec<ArcHead>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ArcHead {
    /// Counted over all blocks.
    pub head: usize,
    /// `Head 1`, with the layer where there are several.
    pub title: String,
    /// The same within its layer: `head 1`.
    pub name: String,
    pub is_enabled: bool,
    /// `weights[query][key]`; each row sums to 1.
    pub weights: Vec<Vec<f32>>,
    /// `lengths[query][key]` of what is added.
    pub lengths: Vec<Vec<f32>>,
    /// A mask hides this key from this query.
    pub hidden: Vec<Vec<bool>>,
}

/// A word where it stands.
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

    /// Position in the sentence on the stage.
    pub fn token(self) -> Option<usize> {
        (self.side == Side::Sentence).then_some(self.position)
    }
}

/// A query and a key of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Counted over all blocks.
    pub head: usize,
    pub query: usize,
    pub key: usize,
}

/// Which weights of a word are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Whom it looks at: its row.
    #[default]
    LooksAt,
    /// Who looks at it: its column.
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

    /// Over a word's weights in this direction.
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
    /// Place of the head in its layer: its hue.
    pub own: usize,
    pub from: WordAt,
    pub to: WordAt,
    /// As thick as it is drawn: the weight, or its share of the longest that is shown.
    pub weight: f32,
    /// The length of what is added, where that is shown.
    pub added: Option<f32>,
    pub is_enabled: bool,
}

/// Choice of the arcs to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The word whose weights they are.
    pub word: WordAt,
    pub direction: Direction,
    pub layer: usize,
    /// Counted over all blocks; none: all heads of the layer.
    pub head: Option<usize>,
    pub reading: Reading,
}

impl Model for SentenceArcs {
    type Choice = ();

    fn make(snapshot: &Arc<Snapshot>, _: &(), _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot)
    }
}

impl SentenceArcs {
    /// `None` until there is a model.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let (space, model) = (snapshot.space.as_ref()?, snapshot.model.as_ref()?);
        let layers = layers(model);
        // Nobody is looked at by another: there is nothing to draw, and nothing to say.
        let is_alone = layers.iter().all(|layer| layer.queries == layer.keys && layer.heads.iter().all(is_diagonal));
        Some(Self {
            words: words(&model.sentence.tokens, space),
            source: model.sentence.source.as_deref().map(|source| words(source, space)).unwrap_or_default(),
            layers: if is_alone { Vec::new() } else { layers },
            lengths: lengths(model)?,
            sinks: Sinks::of(model),
            has_pieces: Words::of(&model.sentence).is_some(),
            pieces: Vec::new(),
            hides: if model.interventions.edges.is_empty() { "The mask" } else { "The mask or a removed edge" },
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

    /// The same word at the place that it has: a piece of a word is where the first one is.
    pub fn placed(&self, at: WordAt) -> WordAt {
        let line = self.line(at.side).get(..=at.position).unwrap_or_default();
        WordAt { position: line.iter().rposition(|word| !word.is_part).unwrap_or(at.position), ..at }
    }

    /// The same pair at the places that its words have; `None` of a head that has no arcs.
    pub fn placed_pair(&self, Pair { head, query, key }: Pair) -> Option<Pair> {
        let layer = &self.layers[self.layer_of(head)?];
        let place = |side, position| self.placed(WordAt { side, position }).position;
        Some(Pair { head, query: place(layer.queries, query), key: place(layer.keys, key) })
    }

    /// The weight of an arc, as it can be asked where it comes from; `None` of one that is of several pieces.
    pub fn entry(&self, arc: &WeightArc) -> Option<Entry> {
        let is_one =
            |at: WordAt| at.side == Side::Source || self.pieces.get(at.position).is_none_or(|count| *count == 1);
        let is_of_one = is_one(arc.from) && is_one(arc.to);
        is_of_one.then(|| Quantity::Weight.of_head(arc.pair.head, [arc.pair.query, arc.pair.key]))
    }

    pub fn label(&self, at: WordAt) -> &str {
        self.word(at).map_or("", |word| &word.label)
    }

    /// The layer of a head that is counted over all blocks.
    pub fn layer_of(&self, head: usize) -> Option<usize> {
        self.layers.iter().position(|layer| layer.heads.iter().any(|one| one.head == head))
    }

    /// The word that the walk follows by default where a lesson speaks of these; none where it has none of them.
    pub fn first_lit(&self, lit: &[String]) -> Option<usize> {
        first_of(lit, self.words.iter().map(|word| word.text.as_str()), &self.lengths)
    }

    /// Directions in which a word has weights in a layer.
    pub fn directions(&self, layer: usize, word: WordAt) -> Vec<Direction> {
        let Some(layer) = self.layers.get(layer) else { return Vec::new() };
        Direction::ALL.into_iter().filter(|direction| layer.line_of(*direction) == word.side).collect()
    }

    /// The weights that are shown, the head's first, each head in the order of its words.
    pub fn arcs(&self, shown: &Shown) -> Vec<WeightArc> {
        let Some(layer) =
            self.layers.get(shown.layer).filter(|layer| layer.line_of(shown.direction) == shown.word.side)
        else {
            return Vec::new();
        };
        let mine = shown.word.position;
        let heads = layer.heads.iter().enumerate();
        let heads = heads.filter(|(_, head)| shown.head.is_none_or(|only| only == head.head));
        let mut arcs: Vec<WeightArc> = heads
            .flat_map(|(own, head)| {
                let others = match shown.direction {
                    Direction::LooksAt => head.weights.get(mine).map_or(0, Vec::len),
                    Direction::SeenBy => head.weights.len(),
                };
                (0..others).filter_map(move |other| {
                    let (query, key) = match shown.direction {
                        Direction::LooksAt => (mine, other),
                        Direction::SeenBy => (other, mine),
                    };
                    let weight = *head.weights.get(query)?.get(key)?;
                    let is_hidden = head.hidden[query][key] && weight == 0.0;
                    let pair = (head.head, query, key);
                    let weight = self.sinks.shown(shown.reading, pair, weight, head.lengths[query][key])?;
                    (!is_hidden).then_some(WeightArc {
                        pair: Pair { head: head.head, query, key },
                        own,
                        from: WordAt { side: layer.queries, position: query },
                        to: WordAt { side: layer.keys, position: key },
                        weight,
                        added: shown.reading.is_added.then_some(weight),
                        is_enabled: head.is_enabled,
                    })
                })
            })
            .collect();
        if shown.reading.is_added {
            let longest = arcs.iter().map(|arc| arc.weight).fold(f32::MIN_POSITIVE, f32::max);
            arcs.iter_mut().for_each(|arc| arc.weight /= longest);
        }
        arcs
    }

    /// The arcs of the heads that are on: nothing flows through the others.
    pub fn drawn(&self, shown: &Shown) -> Vec<WeightArc> {
        self.arcs(shown).into_iter().filter(|arc| arc.is_enabled).collect()
    }

    /// The words of an arc: `apple₁ looks at launched: 38 % (head 2)`; `apple₁ takes from launched: 0.41`.
    pub fn say(&self, arc: &WeightArc) -> String {
        let (from, to) = (self.label(arc.from), self.label(arc.to));
        let target = if arc.from == arc.to { "itself" } else { to };
        let verb = if arc.added.is_some() { "takes from" } else { "looks at" };
        format!("{from} {verb} {target}: {}{}", arc.number(), self.in_head(arc))
    }

    /// ` (head 2)` where its layer has several.
    fn in_head(&self, arc: &WeightArc) -> String {
        let layer = self.layers.iter().find(|layer| layer.heads.iter().any(|head| head.head == arc.pair.head));
        match layer.filter(|layer| layer.heads.len() > 1) {
            Some(layer) if arc.is_enabled => format!(" ({})", layer.heads[arc.own].name),
            Some(layer) => format!(" ({}, switched off)", layer.heads[arc.own].name),
            None if arc.is_enabled => String::new(),
            None => " (switched off)".to_owned(),
        }
    }

    /// The largest weights in words, one line each, the largest first.
    pub fn card(&self, shown: &Shown) -> Vec<String> {
        /// More is in the map.
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

    /// Words that a mask hides: from the word, or from which it is hidden.
    fn hidden(&self, shown: &Shown) -> usize {
        let Some(layer) = self.layers.get(shown.layer) else { return 0 };
        let Some(head) = layer.heads.first() else { return 0 };
        let mine = shown.word.position;
        let is_hidden = |other: usize| match shown.direction {
            Direction::LooksAt => head.hidden.get(mine).and_then(|row| row.get(other)),
            Direction::SeenBy => head.hidden.get(other).and_then(|row| row.get(mine)),
        };
        let others = self.line(layer.line_of(shown.direction.other())).iter().enumerate();
        others.filter(|(at, word)| !word.is_part && is_hidden(*at) == Some(&true)).count()
    }

    /// One line on what is shown: `apple₁ looks most at launched, 38 %`; of several heads, each.
    pub fn summary(&self, shown: &Shown) -> String {
        let most = self.most(shown);
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
            true => ("takes most from", "gives most to"),
        };
        match (shown.direction, &all[..]) {
            (Direction::LooksAt, []) => format!("{word} looks at nobody here"),
            (Direction::SeenBy, []) => format!("Nobody looks at {word} here"),
            (Direction::LooksAt, _) => format!("{word} {looks} {}", all.join("; ")),
            (Direction::SeenBy, _) => format!("{word} {seen} {}", all.join("; ")),
        }
    }

    /// The same for screen readers, with words for signs.
    pub fn spoken(&self, shown: &Shown) -> String {
        self.summary(shown).replace(" %", " percent").replace('<', "less than ")
    }

    /// The largest weight of each head that is shown, of at most three.
    fn most(&self, shown: &Shown) -> Vec<WeightArc> {
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
    /// The weight as people read it, or the length of what is added.
    pub fn number(&self) -> String {
        self.added.map_or_else(|| percent(self.weight), |length| format!("{length:.2}"))
    }
}

impl ArcLayer {
    /// The line whose words have weights in this direction.
    pub fn line_of(&self, direction: Direction) -> Side {
        match direction {
            Direction::LooksAt => self.queries,
            Direction::SeenBy => self.keys,
        }
    }
}

/// A weight as people read it: `38 %`, `<1 %`.
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
    });
    words.collect()
}

fn layers(model: &ModelSnapshot) -> Vec<ArcLayer> {
    let labels = HeadLabels::of(model);
    let heads: Vec<(usize, &HeadActivations<f32>)> = model.sentence.activations.heads().enumerate().collect();
    let block = |head: usize| model.architecture.head(head).0;
    let layer = |heads: &[(usize, &HeadActivations<f32>)]| {
        let first = heads[0].0;
        ArcLayer {
            title: labels.block(first),
            queries: Side::of_source(labels.is_of_source(first)),
            keys: Side::of_source(labels.keys_are_source(first)),
            heads: heads.iter().map(|(head, activations)| arc_head(*head, activations, model, &labels)).collect(),
        }
    };
    heads.chunk_by(|a, b| block(a.0) == block(b.0)).map(layer).collect()
}

fn arc_head(head: usize, activations: &HeadActivations<f32>, model: &ModelSnapshot, labels: &HeadLabels) -> ArcHead {
    let HeadActivations { weights, scores, .. } = activations;
    ArcHead {
        head,
        title: labels.title(head),
        name: format!("head {}", model.architecture.head(head).2 + 1),
        is_enabled: model.is_enabled(head),
        weights: (0..weights.rows()).map(|query| weights.row(query).to_vec()).collect(),
        lengths: term_lengths(model, head, weights.rows(), weights.cols()),
        hidden: (0..scores.rows())
            .map(|query| scores.row(query).iter().map(|score| *score == f32::NEG_INFINITY).collect())
            .collect(),
    }
}

fn is_diagonal(head: &ArcHead) -> bool {
    let rows = head.weights.iter().enumerate();
    rows.flat_map(|(query, row)| row.iter().enumerate().map(move |(key, weight)| (query == key, *weight)))
        .all(|(is_itself, weight)| is_itself || weight == 0.0)
}
