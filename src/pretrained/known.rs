//! Models whose numbers are published: a file of the same bytes must give the same numbers here.

use super::load::Pretrained;
use crate::numerics::model::activations::Interventions;
use crate::numerics::model::generate::Choice;
use crate::numerics::model::{Activations, Sequences};
use crate::numerics::rng::{Stream, stream};

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
    /// None that attune computes.
    Nothing,
}

/// How far logits may be from published ones, whose last digit is the fourth behind the point.
const TOLERANCE: f32 = 1e-3;

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
        published: Published::Nothing,
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
            Published::Nothing => Ok("it has no published numbers to compare with".to_owned()),
        }
    }
}
