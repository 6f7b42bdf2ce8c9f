//! Settings with which a learner trains a lesson again from scratch: a few numbers, each within working limits.

use std::collections::BTreeMap;

use attune_engine::numerics::attention::AttentionConfig;
use serde::{Deserialize, Serialize};

use super::budget;
use super::corpus::{longest, uses_per_sentence, wanted_rates};
use super::limits::{DIM_MAX, HEADS_MAX};
use super::read_embedding::DIM_MIN;
use super::read_training::{LEARNING_RATE, is_learning_rate};
use super::read_weights::shapes;
use super::schema::{Ambiguous, Lesson, ModelConfig, StaticEmbedding};

/// How far the shares of a word's senses may be from a sum of 1.
const SHARES_TOLERANCE: f64 = 1e-6;

/// The changes; what is `None` or absent is as the lesson has it. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recipe {
    /// Shares of the senses of each ambiguous word, in the lesson's order.
    pub shares: BTreeMap<String, Vec<f64>>,
    /// `H` of every block.
    pub heads: Option<usize>,
    /// `D`
    pub width: Option<usize>,
    /// Learning rate of the static vectors, at the start.
    pub static_rate: Option<f64>,
    /// Learning rate of the model.
    pub model_rate: Option<f64>,
    pub seed: Option<u64>,
}

/// The parts of a lesson that a recipe changes.
pub(super) struct Changed {
    pub ambiguous: Vec<Ambiguous>,
    pub sentences: usize,
    pub static_embedding: StaticEmbedding,
    pub model: ModelConfig,
    pub seed: u64,
}

/// Sizes of a lesson that no recipe changes, measured once.
pub struct Measured<'l> {
    lesson: &'l Lesson,
    /// Words of the vocabulary.
    words: usize,
    longest: usize,
    uses: BTreeMap<String, f64>,
}

impl<'l> Measured<'l> {
    pub fn of(lesson: &'l Lesson) -> Self {
        let words = lesson.vocabulary().len();
        Self { lesson, words, longest: longest(&lesson.corpus), uses: uses_per_sentence(&lesson.corpus.topics) }
    }

    /// # Errors
    /// In words for the learner, if the lesson would not be valid.
    pub fn check(&self, recipe: &Recipe) -> Result<(), String> {
        self.changed(recipe).map(|_| ())
    }

    /// The lesson with the recipe applied.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn apply(&self, recipe: &Recipe) -> Result<Lesson, String> {
        let Changed { ambiguous, static_embedding, model, seed, .. } = self.changed(recipe)?;
        let mut lesson = self.lesson.clone();
        lesson.corpus.ambiguous = ambiguous;
        lesson.axes.truncate(static_embedding.dim());
        Ok(Lesson { static_embedding, model, seed, ..lesson })
    }

    fn changed(&self, recipe: &Recipe) -> Result<Changed, String> {
        let Lesson { corpus, static_embedding, model, seed, .. } = self.lesson;
        let mut changed = Changed {
            ambiguous: corpus.ambiguous.clone(),
            sentences: corpus.sentences,
            static_embedding: static_embedding.clone(),
            model: model.clone(),
            seed: recipe.seed.unwrap_or(*seed),
        };
        self.share(recipe, &mut changed.ambiguous)?;
        if let Some(rate) = recipe.static_rate {
            let StaticEmbedding::Word2Vec(config) = &mut changed.static_embedding else {
                return Err("the lesson gives its static vectors: they have no learning rate".to_owned());
            };
            config.learning_rate = learning_rate(rate)?;
        }
        if let Some(rate) = recipe.model_rate {
            changed.model.learning_rate = learning_rate(rate)?;
        }
        if recipe.heads.is_some() || recipe.width.is_some() {
            resize(recipe, &mut changed)?;
        }
        if !budget::fits(&changed, self.words, corpus.topics.len(), self.longest) {
            return Err("this model is too large to train beside a window".to_owned());
        }
        Ok(changed)
    }

    fn share(&self, recipe: &Recipe, ambiguous: &mut [Ambiguous]) -> Result<(), String> {
        for (word, shares) in &recipe.shares {
            let Some(known) = ambiguous.iter_mut().find(|known| known.word == *word) else {
                return Err("the lesson has no such ambiguous word".to_owned());
            };
            let is_share = |share: &f64| (0.0..=1.0).contains(share);
            let sum: f64 = shares.iter().sum();
            if shares.len() != known.shares.len()
                || !shares.iter().all(is_share)
                || (sum - 1.0).abs() > SHARES_TOLERANCE
            {
                return Err(format!("the shares of “{word}” are one for each of its senses, with a sum of 1"));
            }
            known.shares.iter_mut().zip(shares).for_each(|((_, share), new)| *share = new / sum);
        }
        if recipe.shares.is_empty() {
            return Ok(());
        }
        let mut filled: BTreeMap<&str, f64> = BTreeMap::new();
        for word in ambiguous.iter() {
            for ((group, _), rate) in word.shares.iter().zip(wanted_rates(word, &self.uses)) {
                let filled = filled.entry(group).or_default();
                *filled += rate;
                // The lesson's own may be 1 but for rounding.
                if *filled > 1.0 + SHARES_TOLERANCE {
                    return Err(format!("{{{group}}} cannot be “{}” more often than always", word.word));
                }
            }
        }
        Ok(())
    }
}

impl Recipe {
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether both train the same static vectors, and differ in the model alone.
    pub fn has_space_of(&self, other: &Recipe) -> bool {
        let model = |recipe: &Recipe| Recipe { heads: None, model_rate: None, ..recipe.clone() };
        model(self) == model(other)
    }

    /// Names of the settings that differ from another recipe's.
    pub fn changes_from(&self, other: &Recipe) -> Vec<String> {
        let words = self
            .shares
            .keys()
            .chain(other.shares.keys())
            .filter(|word| self.shares.get(*word) != other.shares.get(*word));
        let mut changes: Vec<String> = words.map(|word| format!("shares of {word}")).collect();
        changes.dedup();
        let parts = [
            ("heads", self.heads != other.heads),
            ("width", self.width != other.width),
            ("static learning rate", self.static_rate != other.static_rate),
            ("model learning rate", self.model_rate != other.model_rate),
            ("seed", self.seed != other.seed),
        ];
        changes.extend(parts.iter().filter(|(_, is_other)| *is_other).map(|(name, _)| (*name).to_owned()));
        changes
    }

    /// The changes to a lesson, such as `apple 60 % fruit, 40 % company, seed 9`; empty without changes.
    pub fn words(&self, lesson: &Lesson) -> String {
        let mut words = Vec::new();
        for ambiguous in &lesson.corpus.ambiguous {
            let Some(shares) = self.shares.get(&ambiguous.word) else { continue };
            let groups = ambiguous.shares.iter().map(|(group, _)| group);
            let sense = |(share, group): (&f64, &String)| format!("{:.0} % {group}", share * 100.0);
            let senses: Vec<String> = shares.iter().zip(groups).map(sense).collect();
            words.push(format!("{} {}", ambiguous.word, senses.join(", ")));
        }
        words.extend(self.heads.map(|heads| format!("heads {heads}")));
        words.extend(self.width.map(|width| format!("width {width}")));
        words.extend(self.static_rate.map(|rate| format!("static learning rate {rate}")));
        words.extend(self.model_rate.map(|rate| format!("model learning rate {rate}")));
        words.extend(self.seed.map(|seed| format!("seed {seed}")));
        words.join(", ")
    }
}

fn learning_rate(rate: f64) -> Result<f64, String> {
    if is_learning_rate(rate) { Ok(rate) } else { Err(format!("a learning rate is {LEARNING_RATE}, not {rate}")) }
}

/// Another number of heads, or another width; a head's own widths follow where they were its share of `D`.
fn resize(recipe: &Recipe, changed: &mut Changed) -> Result<(), String> {
    let before = changed.model.architecture.width;
    let width = recipe.width.unwrap_or(before);
    if width != before {
        let StaticEmbedding::Word2Vec(config) = &mut changed.static_embedding else {
            return Err("the lesson gives its static vectors: the width is theirs".to_owned());
        };
        if !(DIM_MIN..=DIM_MAX).contains(&width) {
            return Err(format!("a width is from {DIM_MIN} to {DIM_MAX}, not {width}"));
        }
        config.dim = width;
        changed.model.architecture.width = width;
    }
    let architecture = &mut changed.model.architecture;
    for block in architecture.source_blocks.iter_mut().chain(&mut architecture.blocks) {
        resize_attention(&mut block.attention, width, recipe.heads)?;
    }
    let shapes = shapes(architecture);
    let fits = |(id, values): &(_, attune_engine::numerics::Matrix<f32>)| {
        shapes.iter().any(|shape| *shape == (*id, values.rows(), values.cols()))
    };
    if changed.model.weights.iter().all(fits) {
        Ok(())
    } else {
        Err("the lesson gives weights of its own, which fit its heads and width alone".to_owned())
    }
}

fn resize_attention(layer: &mut AttentionConfig, width: usize, heads: Option<usize>) -> Result<(), String> {
    let heads = heads.unwrap_or(layer.heads);
    if !(1..=HEADS_MAX).contains(&heads) {
        return Err(format!("a model has from 1 to {HEADS_MAX} heads, not {heads}"));
    }
    let is_share = |own: usize| own * layer.heads == layer.width;
    let of_share =
        |own: usize| if is_share(own) { width.is_multiple_of(heads).then_some(width / heads) } else { Some(own) };
    let (Some(key), Some(value)) = (of_share(layer.key_width), of_share(layer.value_width)) else {
        return Err(format!("{heads} heads do not divide a width of {width}"));
    };
    if !(layer.projected && layer.output) && heads * value != width {
        return Err(format!("{heads} heads of width {value} do not make a width of {width}"));
    }
    (layer.width, layer.heads, layer.key_width, layer.value_width) = (width, heads, key, value);
    Ok(())
}
