//! Settings with which a learner trains a lesson again from scratch: a few numbers, each within limits; and the sliders
//! that offer them, each with all positions that result in a valid lesson.

use std::collections::{BTreeMap, BTreeSet};

use attune_engine::numerics::attention::AttentionConfig;
use serde::{Deserialize, Serialize};

use crate::lesson::corpus::{longest, uses_per_sentence, wanted_rates};
use crate::lesson::read::budget::{RecipeChanges, fits_budget};
use crate::lesson::read::model::{LEARNING_RATE, is_learning_rate, shapes};
use crate::lesson::read::vectors::DIM_MIN;
use crate::lesson::schema::limits::{DIM_MAX, HEADS_MAX};
use crate::lesson::schema::{Ambiguous, Lesson, StaticEmbedding};

/// Tolerance of the sum of the shares of a word's senses.
const SHARES_TOLERANCE: f64 = 1e-6;

/// Changes to a lesson. A field that is `None` or empty keeps the lesson's value; the default changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recipe {
    /// Shares of the senses of each ambiguous word, in the lesson's order.
    pub shares: BTreeMap<String, Vec<f64>>,
    /// Number of heads of every block, `H`.
    pub heads: Option<usize>,
    /// Width of the embeddings, `D`.
    pub width: Option<usize>,
    /// Initial learning rate of the static vectors.
    pub static_rate: Option<f64>,
    /// Learning rate of the model.
    pub model_rate: Option<f64>,
    pub seed: Option<u64>,
    /// Names of the switches that are on.
    pub switches: BTreeSet<String>,
}

/// Sizes of a lesson that no recipe changes, computed once.
pub struct Measured<'l> {
    lesson: &'l Lesson,
    /// Number of words of the vocabulary.
    words: usize,
    longest: usize,
    uses: BTreeMap<String, f64>,
}

impl<'l> Measured<'l> {
    pub fn of(lesson: &'l Lesson) -> Self {
        let words = lesson.vocabulary().len();
        Self { lesson, words, longest: longest(&lesson.corpus), uses: uses_per_sentence(&lesson.corpus.topics) }
    }

    /// Checks that the lesson is valid with the recipe applied.
    ///
    /// # Errors
    /// A message for the learner if the lesson is not valid.
    pub fn check(&self, recipe: &Recipe) -> Result<(), String> {
        self.changed(recipe).map(|_| ())
    }

    /// Returns the lesson with the recipe applied.
    ///
    /// # Errors
    /// See [`Self::check`].
    pub fn apply(&self, recipe: &Recipe) -> Result<Lesson, String> {
        let RecipeChanges { ambiguous, static_embedding, model, seed, .. } = self.changed(recipe)?;
        let mut lesson = self.lesson.clone();
        lesson.corpus.ambiguous = ambiguous;
        lesson.switches.on.clone_from(&recipe.switches);
        lesson.axes.truncate(static_embedding.dim());
        Ok(Lesson { static_embedding, model, seed, ..lesson })
    }

    fn changed(&self, recipe: &Recipe) -> Result<RecipeChanges, String> {
        let Lesson { corpus, static_embedding, model, switches, seed, .. } = self.lesson;
        let model = if recipe.switches.is_empty() { model } else { switches.model(&recipe.switches)? };
        let mut changed = RecipeChanges {
            ambiguous: corpus.ambiguous.clone(),
            sentences: corpus.sentences,
            static_embedding: static_embedding.clone(),
            model: model.clone(),
            seed: recipe.seed.unwrap_or(*seed),
        };
        self.share(recipe, &mut changed.ambiguous)?;
        if let Some(rate) = recipe.static_rate {
            let StaticEmbedding::Word2Vec(config) = &mut changed.static_embedding else {
                return Err("the lesson gives its static vectors, so they have no learning rate".to_owned());
            };
            config.learning_rate = learning_rate(rate)?;
        }
        if let Some(rate) = recipe.model_rate {
            changed.model.schedule.learning_rate = learning_rate(rate)?;
        }
        if recipe.heads.is_some() || recipe.width.is_some() {
            resize(recipe, &mut changed)?;
        }
        if !fits_budget(&changed, self.words, corpus.topics.len(), self.longest) {
            return Err("this model is too large to be trained again in the window".to_owned());
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
                return Err(format!("“{word}” needs one share for each of its senses, and the shares must sum to 1"));
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
                // The lesson's own probability may exceed 1 by a rounding error.
                if *filled > 1.0 + SHARES_TOLERANCE {
                    return Err(format!("the probability that {{{group}}} is “{}” would be above 1", word.word));
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

    /// Returns whether both recipes train the same static vectors and differ only in the model.
    pub fn has_space_of(&self, other: &Recipe) -> bool {
        let model =
            |recipe: &Recipe| Recipe { heads: None, model_rate: None, switches: BTreeSet::new(), ..recipe.clone() };
        model(self) == model(other)
    }

    /// Returns the names of the settings that differ from another recipe's.
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
        changes.extend(self.switches.symmetric_difference(&other.switches).cloned());
        changes.extend(parts.iter().filter(|(_, is_other)| *is_other).map(|(name, _)| (*name).to_owned()));
        changes
    }

    /// Describes the changes to a lesson, as in `apple 60 % fruit, 40 % company, seed 9`; the text is empty if there
    /// are none.
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
        words.extend(self.switches.iter().map(|switch| format!("“{switch}” on")));
        words.join(", ")
    }
}

fn learning_rate(rate: f64) -> Result<f64, String> {
    if is_learning_rate(rate) { Ok(rate) } else { Err(format!("a learning rate must be {LEARNING_RATE}, not {rate}")) }
}

/// Changes the number of heads or the width. The widths of keys and values change too if they were `D / H`.
fn resize(recipe: &Recipe, changed: &mut RecipeChanges) -> Result<(), String> {
    let before = changed.model.architecture.width;
    let width = recipe.width.unwrap_or(before);
    if width != before {
        let StaticEmbedding::Word2Vec(config) = &mut changed.static_embedding else {
            return Err("the lesson gives its static vectors, so their width cannot change".to_owned());
        };
        if !(DIM_MIN..=DIM_MAX).contains(&width) {
            return Err(format!("a width must be from {DIM_MIN} to {DIM_MAX}, not {width}"));
        }
        config.dim = width;
        changed.model.architecture.width = width;
    }
    let architecture = &mut changed.model.architecture;
    for block in architecture.source_blocks.iter_mut().chain(&mut architecture.blocks) {
        resize_attention(&mut block.attention, width, recipe.heads)?;
    }
    let shapes = shapes(architecture);
    match changed.model.weights.iter().all(|(id, values)| shapes.contains(&(*id, values.rows(), values.cols()))) {
        true => Ok(()),
        false => Err("the lesson gives weights of its own, which fit only its own heads and width".to_owned()),
    }
}

fn resize_attention(layer: &mut AttentionConfig, width: usize, heads: Option<usize>) -> Result<(), String> {
    let heads = heads.unwrap_or(layer.heads);
    if !(1..=HEADS_MAX).contains(&heads) {
        return Err(format!("a model must have from 1 to {HEADS_MAX} heads, not {heads}"));
    }
    let is_share = |own: usize| own * layer.heads == layer.width;
    let of_share =
        |own: usize| if is_share(own) { width.is_multiple_of(heads).then_some(width / heads) } else { Some(own) };
    let (Some(key), Some(value)) = (of_share(layer.key_width), of_share(layer.value_width)) else {
        return Err(format!("a width of {width} cannot be divided evenly among {heads} heads"));
    };
    if !(layer.projected && layer.output) && heads * value != width {
        return Err(format!("{heads} heads of width {value} do not add up to a width of {width}"));
    }
    if !heads.is_multiple_of(layer.group_size) {
        return Err(format!("{heads} heads cannot be divided into groups of {}", layer.group_size));
    }
    if let Some(rotary) = &mut layer.rotary {
        // The rotated share of a head stays the same; the number of rotated columns is even.
        rotary.width = rotary.width * key / layer.key_width / 2 * 2;
        if rotary.width == 0 {
            return Err(format!("rotary positions rotate pairs of columns, but keys would be only {key} wide"));
        }
    }
    (layer.width, layer.heads, layer.key_width, layer.value_width) = (width, heads, key, value);
    Ok(())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Knob {
    /// The share of one sense of an ambiguous word.
    Share {
        word: String,
        group: String,
    },
    Heads,
    Width,
    StaticRate,
    ModelRate,
    Seed,
    /// One of the lesson's switches, by name: first off, then on.
    Switch(String),
}

/// A slider with its positions in order, or a switch.
#[derive(Clone, Debug, PartialEq)]
pub struct KnobOffer {
    pub knob: Knob,
    pub choices: Vec<RecipeChoice>,
    /// Index of the recipe's position among the choices, and of the lesson's.
    pub at: usize,
    pub own: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RecipeChoice {
    pub label: String,
    /// The recipe with this position, and with everything else unchanged.
    pub recipe: Recipe,
}

const WIDTHS: [usize; 15] = [2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96];
const RATES: [f64; 13] = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];
const SEEDS: std::ops::RangeInclusive<u64> = 0..=31;
/// Number of steps of a share from 0 to 1.
const SHARES: u32 = 20;
/// Difference below which two shares are equal, because it is a rounding error.
const SAME: f64 = 1e-9;

/// Returns all switches and sliders of a lesson, at the positions of a recipe. Sliders with only one position are left
/// out. A lesson that cannot be trained again has neither.
pub fn offers(lesson: &Lesson, recipe: &Recipe) -> Vec<KnobOffer> {
    let embedding = &lesson.static_embedding;
    if embedding.is_pretrained() || embedding.is_whole_file() || embedding.recording().is_some() {
        return Vec::new();
    }
    let slider = RecipeSlider { measured: &Measured::of(lesson), recipe };
    let mut offers = Vec::new();
    for ambiguous in &lesson.corpus.ambiguous {
        let senses = ambiguous.shares.len();
        // With two senses, one share determines the other.
        let knobs = if senses == 2 { 1 } else { senses };
        offers.extend((0..knobs).map(|sense| slider.share(ambiguous, sense)));
    }
    let heads = lesson.model.architecture.blocks.first().map_or(1, |block| block.attention.heads);
    offers.push(slider.numbers(Knob::Heads, 1..=HEADS_MAX, heads, recipe.heads, |r, x| r.heads = x));
    let width = lesson.static_embedding.dim();
    offers.push(slider.numbers(Knob::Width, WIDTHS, width, recipe.width, |r, x| r.width = x));
    if let StaticEmbedding::Word2Vec(config) = &lesson.static_embedding {
        let (own, now) = (config.learning_rate, recipe.static_rate);
        offers.push(slider.numbers(Knob::StaticRate, RATES, own, now, |r, x| r.static_rate = x));
    }
    let (own, now) = (lesson.model.schedule.learning_rate, recipe.model_rate);
    offers.push(slider.numbers(Knob::ModelRate, RATES, own, now, |r, x| r.model_rate = x));
    offers.push(slider.numbers(Knob::Seed, SEEDS, lesson.seed, recipe.seed, |r, x| r.seed = x));
    offers.retain(|offer| offer.choices.len() > 1);
    let switches = lesson.switches.list.iter().map(|switch| slider.switch(&switch.name));
    switches.chain(offers).collect()
}

struct RecipeSlider<'a> {
    measured: &'a Measured<'a>,
    recipe: &'a Recipe,
}

impl RecipeSlider<'_> {
    /// Returns a slider with the positions that result in a valid lesson, and with the present position of a switch in
    /// any case. `is_now` and `is_own` identify the positions of the recipe and of the lesson.
    fn offer<T: Copy>(
        &self,
        knob: Knob,
        values: impl IntoIterator<Item = T>,
        choice: impl Fn(T) -> RecipeChoice,
        is_now: impl Fn(T) -> bool,
        is_own: impl Fn(T) -> bool,
    ) -> KnobOffer {
        let is_switch = matches!(knob, Knob::Switch(_));
        let is_offered = |(value, choice): &(T, RecipeChoice)| {
            is_switch && is_now(*value) || self.measured.check(&choice.recipe).is_ok()
        };
        let choices = values.into_iter().map(|value| (value, choice(value))).filter(is_offered);
        let (values, choices): (Vec<T>, Vec<RecipeChoice>) = choices.unzip();
        let at = values.iter().position(|value| is_now(*value)).unwrap_or(0);
        let own = values.iter().position(|value| is_own(*value)).unwrap_or(0);
        KnobOffer { knob, choices, at, own }
    }

    /// Returns a switch with its two positions, or with the present position alone if the other does not result in a
    /// valid model.
    fn switch(&self, name: &str) -> KnobOffer {
        let is_on = self.recipe.switches.contains(name);
        let choice = |wanted: bool| {
            let mut recipe = self.recipe.clone();
            if wanted {
                recipe.switches.insert(name.to_owned())
            } else {
                recipe.switches.remove(name)
            };
            RecipeChoice { label: if wanted { "on" } else { "off" }.to_owned(), recipe }
        };
        self.offer(Knob::Switch(name.to_owned()), [false, true], choice, |wanted| wanted == is_on, |wanted| !wanted)
    }

    /// Returns a slider of numbers. `own` is the lesson's value, and `now` is the recipe's if it differs.
    fn numbers<T: Copy + PartialOrd + std::fmt::Display>(
        &self,
        knob: Knob,
        values: impl IntoIterator<Item = T>,
        own: T,
        now: Option<T>,
        set: fn(&mut Recipe, Option<T>),
    ) -> KnobOffer {
        let mut values: Vec<T> = values.into_iter().chain([own]).chain(now).collect();
        values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        values.dedup();
        let choice = |value: T| {
            let mut recipe = self.recipe.clone();
            set(&mut recipe, (value != own).then_some(value));
            RecipeChoice { label: value.to_string(), recipe }
        };
        let now = now.unwrap_or(own);
        self.offer(knob, values, choice, |value| value == now, |value| value == own)
    }

    /// Returns the slider of one sense's share. If it moves, the other shares keep their proportions.
    fn share(&self, ambiguous: &Ambiguous, sense: usize) -> KnobOffer {
        let word = &ambiguous.word;
        let own: Vec<f64> = ambiguous.shares.iter().map(|(_, share)| *share).collect();
        let known = self.recipe.shares.get(word).filter(|shares| shares.len() == own.len());
        let now = known.unwrap_or(&own);
        let grid = (0..=SHARES).map(|step| f64::from(step) / f64::from(SHARES));
        let mut values: Vec<f64> = grid.chain([own[sense], now[sense]]).collect();
        values.sort_by(f64::total_cmp);
        let is_same = |a: f64, b: f64| (a - b).abs() < SAME;
        values.dedup_by(|a, b| is_same(*a, *b));
        let choice = |value: f64| {
            let shares = if is_same(value, now[sense]) { now.clone() } else { with_share(now, sense, value) };
            let mut recipe = self.recipe.clone();
            if shares.iter().zip(&own).all(|(a, b)| is_same(*a, *b)) {
                recipe.shares.remove(word);
            } else {
                recipe.shares.insert(word.clone(), shares);
            }
            RecipeChoice { label: format!("{:.0} %", value * 100.0), recipe }
        };
        let knob = Knob::Share { word: word.clone(), group: ambiguous.shares[sense].0.clone() };
        self.offer(knob, values, choice, |value| is_same(value, now[sense]), |value| is_same(value, own[sense]))
    }
}

fn with_share(now: &[f64], sense: usize, value: f64) -> Vec<f64> {
    let others = now.iter().sum::<f64>() - now[sense];
    let left = 1.0 - value;
    let even = left / (now.len().max(2) - 1) as f64;
    let of = |(i, share): (usize, &f64)| match i {
        _ if i == sense => value,
        // If all other shares were 0, they become equal.
        _ if others < SAME => even,
        _ => left * share / others,
    };
    now.iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::parse;

    fn small() -> Lesson {
        parse("small.ron", include_str!("../../../tests/fixtures/small.ron")).expect("no issues")
    }

    #[test]
    fn every_place_of_every_slider_is_a_valid_lesson_and_the_present_one_is_there() {
        let lesson = small();
        let measured = Measured::of(&lesson);
        let mut recipe = Recipe::default();
        // The sliders start from any position to which they may have been dragged.
        for round in 0..4 {
            let all = offers(&lesson, &recipe);
            for offer in &all {
                assert_eq!(offer.choices[offer.at].recipe, recipe, "{:?}", offer.knob);
                assert!(offer.choices.iter().all(|choice| measured.apply(&choice.recipe).is_ok()));
            }
            let offer = &all[round % all.len()];
            recipe = offer.choices[(offer.at + 1) % offer.choices.len()].recipe.clone();
        }
        let own = offers(&lesson, &recipe).iter().fold(recipe, |recipe, offer| {
            let now = offers(&lesson, &recipe);
            let same = now.iter().find(|now| now.knob == offer.knob).expect("the same slider");
            same.choices[same.own].recipe.clone()
        });
        assert!(own.is_default(), "{own:?}");
    }

    #[test]
    fn shares_stay_shares() {
        assert_eq!(with_share(&[0.5, 0.3, 0.2], 0, 0.0), [0.0, 0.6, 0.4]);
        assert_eq!(with_share(&[1.0, 0.0, 0.0], 0, 0.5), [0.5, 0.25, 0.25]);
        assert_eq!(with_share(&[0.75, 0.25], 0, 0.5), [0.5, 0.5]);
    }
}
