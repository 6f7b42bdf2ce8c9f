//! Sliders that train a lesson again: each with every position that makes a valid lesson.

use super::limits::HEADS_MAX;
use super::recipe::{Measured, Recipe};
use super::schema::{Ambiguous, Lesson, StaticEmbedding};

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
}

/// A slider, with its positions in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    pub knob: Knob,
    pub choices: Vec<Choice>,
    /// The recipe's position, and the lesson's.
    pub at: usize,
    pub own: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub label: String,
    /// The recipe at this position, with everything else unchanged.
    pub recipe: Recipe,
}

const WIDTHS: [usize; 15] = [2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96];
const RATES: [f64; 13] = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];
const SEEDS: std::ops::RangeInclusive<u64> = 0..=31;
/// The step from one share to the next.
const SHARES: u32 = 20;
/// Shares that differ by less count as equal: the difference is rounding.
const SAME: f64 = 1e-9;

/// All sliders of a lesson at a recipe's values; those with a single position are left out.
pub fn offers(lesson: &Lesson, recipe: &Recipe) -> Vec<Offer> {
    if lesson.static_embedding.is_pretrained() {
        return Vec::new();
    }
    let measured = Measured::of(lesson);
    let mut offers = Vec::new();
    for ambiguous in &lesson.corpus.ambiguous {
        let senses = ambiguous.shares.len();
        // With two senses, one share determines the other.
        let knobs = if senses == 2 { 1 } else { senses };
        offers.extend((0..knobs).map(|sense| share(&measured, recipe, ambiguous, sense)));
    }
    let slider = Slider { measured: &measured, recipe };
    let heads = lesson.model.architecture.blocks.first().map_or(1, |block| block.attention.heads);
    let of = |set: fn(&mut Recipe, Option<usize>)| set;
    offers.push(slider.offer(Knob::Heads, 1..=HEADS_MAX, heads, recipe.heads, of(|r, x| r.heads = x)));
    let width = lesson.static_embedding.dim();
    offers.push(slider.offer(Knob::Width, WIDTHS, width, recipe.width, of(|r, x| r.width = x)));
    let of_rate = |set: fn(&mut Recipe, Option<f64>)| set;
    if let StaticEmbedding::Word2Vec(config) = &lesson.static_embedding {
        let (own, now) = (config.learning_rate, recipe.static_rate);
        offers.push(slider.offer(Knob::StaticRate, RATES, own, now, of_rate(|r, x| r.static_rate = x)));
    }
    let (own, now) = (lesson.model.learning_rate, recipe.model_rate);
    offers.push(slider.offer(Knob::ModelRate, RATES, own, now, of_rate(|r, x| r.model_rate = x)));
    offers.push(slider.offer(Knob::Seed, SEEDS, lesson.seed, recipe.seed, |r, x| r.seed = x));
    offers.retain(|offer| offer.choices.len() > 1);
    offers
}

struct Slider<'a> {
    measured: &'a Measured<'a>,
    recipe: &'a Recipe,
}

impl Slider<'_> {
    /// `own` is the lesson's value, `now` another that the recipe has.
    fn offer<T: Copy + PartialOrd + std::fmt::Display>(
        &self,
        knob: Knob,
        values: impl IntoIterator<Item = T>,
        own: T,
        now: Option<T>,
        set: impl Fn(&mut Recipe, Option<T>),
    ) -> Offer {
        let mut values: Vec<T> = values.into_iter().chain([own]).chain(now).collect();
        values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        values.dedup();
        let choice = |value: T| {
            let mut recipe = self.recipe.clone();
            set(&mut recipe, (value != own).then_some(value));
            (value, Choice { label: value.to_string(), recipe })
        };
        let is_valid = |(_, choice): &(T, Choice)| self.measured.check(&choice.recipe).is_ok();
        let choices: Vec<(T, Choice)> = values.into_iter().map(choice).filter(is_valid).collect();
        let place = |wanted: T| choices.iter().position(|(value, _)| *value == wanted).unwrap_or(0);
        let (at, own) = (place(now.unwrap_or(own)), place(own));
        Offer { knob, choices: choices.into_iter().map(|(_, choice)| choice).collect(), at, own }
    }
}

/// The share of one sense; the others keep their proportions.
fn share(measured: &Measured, recipe: &Recipe, ambiguous: &Ambiguous, sense: usize) -> Offer {
    let word = &ambiguous.word;
    let own: Vec<f64> = ambiguous.shares.iter().map(|(_, share)| *share).collect();
    let known = recipe.shares.get(word).filter(|shares| shares.len() == own.len());
    let now = known.unwrap_or(&own).clone();
    let grid = (0..=SHARES).map(|step| f64::from(step) / f64::from(SHARES));
    let mut values: Vec<f64> = grid.chain([own[sense], now[sense]]).collect();
    values.sort_by(f64::total_cmp);
    values.dedup_by(|a, b| (*a - *b).abs() < SAME);
    let is_same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < SAME);
    let choice = |value: f64| {
        let shares = if (value - now[sense]).abs() < SAME { now.clone() } else { with_share(&now, sense, value) };
        let mut changed = recipe.clone();
        if is_same(&shares, &own) {
            changed.shares.remove(word);
        } else {
            changed.shares.insert(word.clone(), shares);
        }
        (value, Choice { label: format!("{:.0} %", value * 100.0), recipe: changed })
    };
    let is_valid = |(_, choice): &(f64, Choice)| measured.check(&choice.recipe).is_ok();
    let choices: Vec<(f64, Choice)> = values.into_iter().map(choice).filter(is_valid).collect();
    let place = |wanted: f64| choices.iter().position(|(value, _)| (value - wanted).abs() < SAME).unwrap_or(0);
    let (at, own) = (place(now[sense]), place(own[sense]));
    let knob = Knob::Share { word: word.clone(), group: ambiguous.shares[sense].0.clone() };
    Offer { knob, choices: choices.into_iter().map(|(_, choice)| choice).collect(), at, own }
}

fn with_share(now: &[f64], sense: usize, value: f64) -> Vec<f64> {
    let others = now.iter().sum::<f64>() - now[sense];
    let left = 1.0 - value;
    let even = left / (now.len().max(2) - 1) as f64;
    let of = |(i, share): (usize, &f64)| match i {
        _ if i == sense => value,
        // What was nothing gets its part again.
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
        // From wherever the sliders have been dragged to.
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
        let some = with_share(&[0.8, 0.2], 0, 0.35);
        assert!((some[1] - 0.65).abs() < 1e-12);
    }
}
