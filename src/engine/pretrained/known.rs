//! Models whose numbers are published: a file of the same bytes must give the same numbers here.

use super::load::Pretrained;
use crate::numerics::model::activations::Interventions;
use crate::numerics::model::generate::Choice;
use crate::numerics::model::{Activations, Sequences};
use crate::numerics::rng::{Stream, stream};
use crate::numerics::vectors::{centroid, cosine};

/// A model that others have computed with.
#[derive(Debug)]
pub struct Known {
    pub name: &'static str,
    /// The SHA-256 of its weights.
    sha256: &'static str,
    published: Published,
}

/// Numbers of a model.
#[derive(Debug)]
enum Published {
    /// Some of the logits of a sentence of ids, from a row and a class on.
    Logits { ids: &'static [usize], row: usize, class: usize, logits: &'static [&'static [f32]] },
    /// The ids that it goes on with, each the likeliest.
    Greedy { ids: &'static [usize], goes_on: &'static [usize] },
    /// The cosines of sentences of ids, each the mean of its outputs: of the first with the second, with the third, and so
    /// on, then of the second.
    Cosines { sentences: &'static [&'static [usize]], cosines: &'static [f32] },
}

/// How far logits may be from published ones, whose last digit is the fourth behind the point.
const TOLERANCE: f32 = 1e-3;
/// The same of cosines, which are at most 1: half of that digit, and the roundings of a pass.
const COSINE_TOLERANCE: f32 = 6e-5;

const KNOWN: &[Known] = &[
    Known {
        name: "google-bert/bert-base-uncased",
        sha256: "68d45e234eb4a928074dfd868cead0219ab85354cc53d20e772753c6bb9169d3",
        // "the capital of france is [MASK]." in the tests of Bumblebee, which has them from transformers.
        published: Published::Logits {
            ids: &[101, 1996, 3007, 1997, 2605, 2003, 103, 1012, 102],
            row: 1,
            class: 1,
            logits: &[&[-14.7240, -14.2120, -14.6434], &[-10.3125, -9.7459, -9.9923], &[-15.1105, -14.8048, -14.9276]],
        },
    },
    Known {
        name: "openai-community/gpt2",
        sha256: "248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707",
        // "The dog": `test_lm_generate_gpt2` of transformers.
        published: Published::Greedy {
            ids: &[464, 3290],
            goes_on: &[
                373, 1043, 287, 257, 2214, 1474, 262, 16246, 286, 2688, 290, 2688, 27262, 13, 198, 198, 464, 3290,
            ],
        },
    },
    Known {
        name: "sentence-transformers/all-MiniLM-L6-v2",
        sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        // "The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.": the quickstart of
        // sentence-transformers.
        published: Published::Cosines {
            sentences: &[
                &[101, 1996, 4633, 2003, 8403, 2651, 1012, 102],
                &[101, 2009, 1005, 1055, 2061, 11559, 2648, 999, 102],
                &[101, 2002, 5225, 2000, 1996, 3346, 1012, 102],
            ],
            cosines: &[0.6660, 0.1046, 0.1411],
        },
    },
];

/// The model of these bytes, if it is known.
pub fn of_sha256(sha256: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.sha256 == sha256)
}

impl Known {
    /// A line on how the model's numbers compare with the published ones.
    ///
    /// # Errors
    /// In words, if they differ.
    pub fn compare(&self, read: &Pretrained) -> Result<String, String> {
        let model = read.model();
        match &self.published {
            Published::Logits { ids, row, class, logits } => {
                let (sentence, live) = (Sequences::one(ids), Interventions::default());
                let pass = Activations::of(&model, &read.parameters, &sentence, None, &live);
                let found = model.logits_of(&read.parameters, &pass.output);
                let worst = logits.iter().enumerate().flat_map(|(i, logits)| {
                    let found = &found.row(row + i)[*class..][..logits.len()];
                    found.iter().zip(*logits).map(|(found, logit)| (found - logit).abs())
                });
                let worst = worst.fold(0.0, f32::max);
                if worst <= TOLERANCE {
                    return Ok(format!("its published logits, within {worst:.1e}"));
                }
                Err(format!("found logits that differ from the published ones by {worst:.1e}; expected {TOLERANCE:e}"))
            }
            Published::Greedy { ids, goes_on } => {
                let rng = &mut stream(0, Stream::Generation);
                match model.generate(&read.parameters, ids, None, goes_on.len(), Choice::Greedy, rng) {
                    Ok(found) if found == *goes_on => {
                        Ok(format!("it goes on with the {} published words", goes_on.len()))
                    }
                    found => Err(format!("goes on with {found:?}; expected {goes_on:?}, as it is published")),
                }
            }
            Published::Cosines { sentences, cosines } => {
                let mean = |ids: &&[usize]| {
                    let (sentence, live) = (Sequences::one(ids), Interventions::default());
                    let pass = Activations::of(&model, &read.parameters, &sentence, None, &live);
                    centroid(&pass.output, &(0..ids.len()).collect::<Vec<_>>())
                };
                let means: Vec<Vec<f32>> = sentences.iter().map(mean).collect();
                let pairs =
                    means.iter().enumerate().flat_map(|(i, one)| means[i + 1..].iter().map(move |two| (one, two)));
                let found = pairs.map(|(one, two)| cosine(one, two));
                let worst = found.zip(*cosines).map(|(found, cosine)| (found - cosine).abs()).fold(0.0, f32::max);
                if worst <= COSINE_TOLERANCE {
                    return Ok(format!("its published cosines of {} sentences, within {worst:.1e}", sentences.len()));
                }
                Err(format!(
                    "found cosines that differ from the published ones by {worst:.1e}; expected {COSINE_TOLERANCE:e}"
                ))
            }
        }
    }
}
