//! How well a translator translates sentences that training never saw.

use std::ops::RangeInclusive;

use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::generate::NextWordChoice;
use attune_engine::numerics::model::{Activations, Sequences};
use attune_engine::numerics::rng::{Stream, stream};

use rand::RngExt;

use super::evaluation::Asked;
use super::translation::{self, CLAUSES_MAX, INSERTIONS_MAX, Pair, WORDS_MAX};
use super::writing::Share;

/// Draws sentences of each kind that training never saw: with pairs of words that it never saw, with more insertions in
/// a clause, and longer ones.
pub fn kinds(count: usize, seed: u64) -> Vec<(&'static str, Vec<Pair>)> {
    const MORE: RangeInclusive<usize> = INSERTIONS_MAX + 1..=INSERTIONS_MAX + 2;
    const LONGER: RangeInclusive<usize> = WORDS_MAX + 1..=WORDS_MAX + 6;
    let rng = &mut stream(seed, Stream::Perturbation);
    let mut draw = |insertions: RangeInclusive<usize>, words: RangeInclusive<usize>, is_kept: bool| {
        let mut found = Vec::with_capacity(count);
        while found.len() < count {
            let clauses = rng.random_range(1..=CLAUSES_MAX);
            let pair = translation::pair(rng, insertions.clone(), clauses);
            if words.contains(&pair.source.len()) && (pair.is_kept_from_training || !is_kept) {
                found.push(pair);
            }
        }
        found
    };
    vec![
        ("in the frame, with new pairs of noun and verb", draw(0..=INSERTIONS_MAX, 0..=WORDS_MAX, true)),
        ("more insertions in a clause than training has", draw(MORE, 0..=WORDS_MAX, false)),
        ("longer sentences than training has", draw(0..=INSERTIONS_MAX, LONGER, false)),
    ]
}

/// Draws sentences that are farther outside its training: with more clauses, and with adjectives where it never has
/// one.
pub fn farther(count: usize, seed: u64) -> Vec<(&'static str, Vec<Pair>)> {
    let rng = &mut stream(seed, Stream::Perturbation);
    let mut clauses = |clauses| (0..count).map(|_| translation::pair(rng, 0..=INSERTIONS_MAX, clauses)).collect();
    let longer = [("six clauses", clauses(CLAUSES_MAX + 1)), ("seven clauses", clauses(CLAUSES_MAX + 2))];
    let mut described = Vec::with_capacity(count);
    while described.len() < count {
        let clauses = rng.random_range(1..=CLAUSES_MAX);
        let pair = translation::pair_with_described_places(rng, clauses);
        let has_place = pair.source.iter().any(|word| translation::is_preposition(word));
        if has_place && pair.source.len() <= WORDS_MAX {
            described.push(pair);
        }
    }
    longer.into_iter().chain([("adjectives beside the nouns of places", described)]).collect()
}

/// The translations of some sentences.
#[derive(Default)]
pub struct Translated {
    /// Sentences that are right word for word.
    pub right: Share,
    /// Words of two senses with the right sense, the article and the adjective beside them included.
    pub senses: Share,
    /// Articles, adjectives and verbs with the right ending, the rest of the word included.
    pub agreement: Share,
    /// Some that are wrong.
    pub examples: Vec<String>,
}

impl Asked<'_> {
    /// Translates sentences greedily, and compares.
    pub fn translated(&self, pairs: &[Pair]) -> Translated {
        const EXAMPLES: usize = 2;
        let mut translated = Translated::default();
        for pair in pairs {
            let written = self.translate(&pair.source.join(" "));
            let is_right = written == pair.target;
            translated.right.count(is_right);
            let has = |place: usize| written.get(place) == pair.target.get(place);
            for place in translation::of_two_senses(&pair.target) {
                translated.senses.count(has(place));
            }
            for place in &pair.agreeing {
                translated.agreement.count(has(*place));
            }
            if !is_right && translated.examples.len() < EXAMPLES {
                translated.examples.push(format!("{}, but written: {}", pair.text(), written.join(" ")));
            }
        }
        translated
    }

    /// Returns for each head of each cross-attention the share of words at whose place it looks most at the word of the
    /// source that they translate, in right translations.
    pub fn alignment(&self, pairs: &[Pair]) -> Vec<Vec<Share>> {
        let architecture = &self.model.architecture;
        let crossing = || architecture.numbered_blocks().filter(|(_, block)| block.attends_to_source());
        let mut shares: Vec<Vec<Share>> =
            crossing().map(|(_, block)| vec![Share::default(); block.attention.heads]).collect();
        let ids = |words: &str| -> Vec<usize> {
            let pieces = self.tokenizer.encode(words).expect("it knows all words").pieces;
            pieces.iter().map(|piece| piece.id as usize).collect()
        };
        for pair in pairs {
            let (source, target) = (ids(&pair.source.join(" ")), ids(&pair.target.join(" ")));
            let start = self.model.rules().start;
            let read = start.into_iter().chain(target.iter().copied().take(target.len() - 1)).collect::<Vec<_>>();
            let (sentence, of) = (Sequences::one(&read), Sequences::one(&source));
            let pass = Activations::of(self.model, self.parameters, &sentence, Some(&of), &Interventions::default());
            for (shares, (number, _)) in shares.iter_mut().zip(crossing()) {
                for (share, head) in shares.iter_mut().zip(&pass.blocks[number].heads) {
                    for (row, from) in pair.from.iter().enumerate() {
                        let weights = head.weights.row(row);
                        share.count(weights.iter().all(|weight| *weight <= weights[*from]));
                    }
                }
            }
        }
        shares
    }

    /// Writes the translation of a text.
    fn translate(&self, text: &str) -> Vec<String> {
        /// More words than any translation has.
        const WRITTEN_MAX: usize = 120;
        let pieces = self.tokenizer.encode(text).expect("it knows all words").pieces;
        let source: Vec<usize> = pieces.iter().map(|piece| piece.id as usize).collect();
        let rng = &mut stream(0, Stream::Generation);
        let words = self.model.generate(self.parameters, &[], Some(&source), WRITTEN_MAX, NextWordChoice::Greedy, rng);
        let piece = |id: usize| self.tokenizer.piece(id as u32).unwrap_or_default().to_owned();
        words.unwrap_or_default().into_iter().map(piece).collect()
    }
}
