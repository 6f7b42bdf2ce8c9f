//! Examination of a model's folder: its files, its tokenizer in comparison with its tensors, a pass through the engine,
//! and published results if there are any for this model. A file with the same bytes must give the same results here.

use super::folder::{ModelFolder, NoTokenizer};
use super::load::Pretrained;
use super::refusal::quoted;
use crate::messages::counted;
use crate::numerics::attention::Mask;
use crate::numerics::model::activations::Interventions;
use crate::numerics::model::cost::pass_bytes;
use crate::numerics::model::generate::NextWordChoice;
use crate::numerics::model::{Activations, Sequences};
use crate::numerics::rng::{Stream, stream};
use crate::numerics::vectors::{centroid, cosine};

/// The findings about a model, one line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelFindings {
    pub good: Vec<String>,
    pub faults: Vec<String>,
}

impl ModelFindings {
    fn push(&mut self, found: Result<String, String>) {
        match found {
            Ok(line) => self.good.push(line),
            Err(line) => self.faults.push(line),
        }
    }
}

/// Examines a model that was read from this folder: its tensors, its tokenizer, a pass, and published results if the
/// model is known.
pub fn examine(folder: &ModelFolder, read: &Pretrained) -> ModelFindings {
    let mut findings = ModelFindings::default();
    findings.good.extend(read.files.iter().map(ToString::to_string));
    match folder.tokenizer.as_ref().map_or_else(|_| Ok(Vec::new()), |_| folder.tokenizer_files()) {
        Ok(files) => findings.good.extend(files.iter().map(ToString::to_string)),
        Err(refusal) => findings.faults.push(refusal.to_string()),
    }
    findings.good.push(read.config.to_string());
    findings.good.push(tensors(read));
    findings.good.push(tokenizer(folder));
    findings.push(pass(read));
    if let Some((known, file)) = read.files.iter().find_map(|file| Some((of_sha256(&file.sha256)?, file))) {
        let compared = known.compare(read);
        let is = |line: String| format!("{}: this is {}: {line}", file.name, known.name);
        findings.push(compared.map(is).map_err(is));
    }
    findings
}

/// Returns a line about the tensors. All that the engine needs have the right shapes, as otherwise the model would not
/// have been read.
fn tensors(read: &Pretrained) -> String {
    let skipped = &read.origins.skipped;
    let used = read.origins.of.values().map(|origin| &origin.tensor).collect::<std::collections::BTreeSet<_>>().len();
    let names: Vec<String> = skipped.iter().map(|name| quoted(name)).collect();
    let left = if names.is_empty() { String::new() } else { format!("; not used: {}", names.join(", ")) };
    let head = if read.has_head { "" } else { "; no readout: it cannot name words" };
    let wrapper = read.origins.wrapper.as_deref().map_or_else(String::new, |wrapper| {
        format!(", their names after {}, which a program put before them", quoted(wrapper))
    });
    format!("{used} tensors{wrapper}, all with the shapes of the config{left}{head}")
}

/// Returns a line that compares the tokenizer's pieces with the rows of the table.
fn tokenizer(folder: &ModelFolder) -> String {
    let rows = folder.config.vocabulary;
    let tokenizer = match &folder.tokenizer {
        Ok(tokenizer) => tokenizer,
        Err(NoTokenizer::Missing) => return "no tokenizer: sentences are token ids".to_owned(),
        Err(why) => return format!("sentences are token ids: {why}"),
    };
    let beyond = (rows..tokenizer.len()).filter(|id| tokenizer.piece(*id as u32).is_some()).count();
    let beyond = if beyond == 0 { String::new() } else { format!("; {} without a row", counted(beyond, "piece")) };
    let nameless = (0..rows as u32).filter(|id| tokenizer.piece(*id).is_none()).count();
    let without = if nameless == 0 { String::new() } else { format!("; {} without a piece", counted(nameless, "row")) };
    format!("{} of the tokenizer for {rows} rows of the table{without}{beyond}", counted(tokenizer.len(), "piece"))
}

/// Checks a pass over words from all parts of the table: rows of weights sum to 1, no word sees what it must not, all
/// numbers are finite, and a second pass gives the same bits.
fn pass(read: &Pretrained) -> Result<String, String> {
    /// Number of words of the pass.
    const TOKENS: usize = 16;
    /// Largest difference of a sum of weights from 1 that counts as rounding.
    const TOLERANCE: f32 = 1e-5;
    /// Largest memory of the values that both passes keep. A model of few weights can have very wide heads.
    const BYTES_MAX: f64 = 256.0 * 1024.0 * 1024.0;
    let (model, rows) = (read.model(), read.config.vocabulary);
    let bytes = |tokens: usize| 2.0 * pass_bytes(&read.architecture, rows, tokens);
    let most = TOKENS.min(read.config.positions());
    let tokens = (1..=most).rev().find(|tokens| bytes(*tokens) <= BYTES_MAX).unwrap_or(1);
    let ids: Vec<usize> = (0..tokens).map(|i| i * rows / tokens).collect();
    let sentence = Sequences::one(&ids);
    let architecture = &read.architecture;
    // The words are both source and target.
    let source = architecture.has_source().then_some(&sentence);
    let run = || Activations::of(&model, &read.parameters, &sentence, source, &Interventions::default());
    let first = run();
    let logits = model.logits_of(&read.parameters, &first.output);
    let layer = |block: usize| match architecture.has_source() {
        true => architecture.block_name(block),
        false => format!("layer {}", block + 1),
    };
    let layers = first.blocks.iter().enumerate();
    let layers = layers.map(|(block, of)| (format!("the output of {}", layer(block)), of.output.flat()));
    let last = [("the final output", first.output.flat()), ("a logit", logits.flat())];
    let mut all = layers.chain(last.map(|(name, numbers)| (name.to_owned(), numbers)));
    if let Some((name, _)) = all.find(|(_, numbers)| !numbers.iter().all(|x| x.is_finite())) {
        return Err(failed(&format!("{name} is not finite")));
    }
    let place = |head: usize| {
        let (block, _, own) = architecture.head(head);
        format!("{}, head {}", layer(block), own + 1)
    };
    let mut worst = 0f32;
    for (head, of) in first.heads().enumerate() {
        for query in 0..tokens {
            let row = of.weights.row(query);
            let off = (row.iter().sum::<f32>() - 1.0).abs();
            if off.is_nan() || off > TOLERANCE {
                return Err(failed(&format!(
                    "{}: the attention weights of token {} sum to 1 only within {off:.1e}",
                    place(head),
                    query + 1
                )));
            }
            let ahead = row[query + 1..].iter().any(|&weight| weight != 0.0);
            if architecture.head(head).1.attention.mask == Mask::Causal && ahead {
                return Err(failed(&format!("{}: token {} looks at a later token", place(head), query + 1)));
            }
            worst = worst.max(off);
        }
    }
    if run() != first {
        return Err(failed("two passes gave different numbers"));
    }
    let heads = first.heads().count();
    Ok(format!(
        "self-test: {} through {}: weights sum to 1 within {worst:.1e}, all numbers finite, two passes identical",
        counted(tokens, "token"),
        counted(heads, "head")
    ))
}

fn failed(why: &str) -> String {
    format!("self-test: {why}; download the model again, and report this if it happens again")
}

/// A model for which others have published results.
#[derive(Debug)]
struct KnownModel {
    name: &'static str,
    /// SHA-256 of its weights.
    sha256: &'static str,
    published: Published,
}

/// Published results of a model.
#[derive(Debug)]
enum Published {
    /// Some of the logits of a sentence of ids, starting at a row and a class.
    Logits { ids: &'static [usize], row: usize, class: usize, logits: &'static [&'static [f32]] },
    /// Ids with which the model continues a sentence of ids, each the most likely one.
    Greedy { ids: &'static [usize], goes_on: &'static [usize] },
    /// Cosines between sentences of ids, each represented by the mean of its outputs: of the first with the second, the
    /// third and so on, then of the second with the later ones.
    Cosines { sentences: &'static [&'static [usize]], cosines: &'static [f32] },
}

/// Largest difference of logits from published ones, which have four decimals.
const TOLERANCE: f32 = 1e-3;
/// Largest difference of cosines from published ones, which have four decimals: half of the last digit, plus the
/// rounding of a pass.
const COSINE_TOLERANCE: f32 = 6e-5;

const KNOWN_MODELS: &[KnownModel] = &[
    KnownModel {
        name: "google-bert/bert-base-uncased",
        sha256: "68d45e234eb4a928074dfd868cead0219ab85354cc53d20e772753c6bb9169d3",
        // "the capital of france is [MASK]." in the tests of Bumblebee, which took the numbers from transformers.
        published: Published::Logits {
            ids: &[101, 1996, 3007, 1997, 2605, 2003, 103, 1012, 102],
            row: 1,
            class: 1,
            logits: &[&[-14.7240, -14.2120, -14.6434], &[-10.3125, -9.7459, -9.9923], &[-15.1105, -14.8048, -14.9276]],
        },
    },
    KnownModel {
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
    KnownModel {
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

/// Returns the model whose weights have this SHA-256, if it is known.
fn of_sha256(sha256: &str) -> Option<&'static KnownModel> {
    KNOWN_MODELS.iter().find(|model| model.sha256 == sha256)
}

impl KnownModel {
    /// Compares the model's results with the published ones and returns a line about them.
    ///
    /// # Errors
    /// A message, if they differ.
    fn compare(&self, read: &Pretrained) -> Result<String, String> {
        let model = read.model();
        let pass = |ids: &[usize]| {
            Activations::of(&model, &read.parameters, &Sequences::one(ids), None, &Interventions::default())
        };
        match &self.published {
            Published::Logits { ids, row, class, logits } => {
                let found = model.logits_of(&read.parameters, &pass(ids).output);
                let worst = logits.iter().enumerate().flat_map(|(i, logits)| {
                    let found = &found.row(row + i)[*class..][..logits.len()];
                    found.iter().zip(*logits).map(|(found, logit)| (found - logit).abs())
                });
                as_published("logits", "", worst.fold(0.0, f32::max), TOLERANCE)
            }
            Published::Greedy { ids, goes_on } => {
                let rng = &mut stream(0, Stream::Generation);
                match model.generate(&read.parameters, ids, None, goes_on.len(), NextWordChoice::Greedy, rng) {
                    Ok(found) if found == *goes_on => {
                        Ok(format!("it continues with the {} published words", goes_on.len()))
                    }
                    found => Err(format!("continues with {found:?}; expected {goes_on:?}, as published")),
                }
            }
            Published::Cosines { sentences, cosines } => {
                let mean = |ids: &&[usize]| centroid(&pass(ids).output, &(0..ids.len()).collect::<Vec<_>>());
                let means: Vec<Vec<f32>> = sentences.iter().map(mean).collect();
                let pairs =
                    means.iter().enumerate().flat_map(|(i, one)| means[i + 1..].iter().map(move |two| (one, two)));
                let found = pairs.map(|(one, two)| cosine(one, two));
                let worst = found.zip(*cosines).map(|(found, cosine)| (found - cosine).abs()).fold(0.0, f32::max);
                as_published("cosines", &format!(" of {} sentences", sentences.len()), worst, COSINE_TOLERANCE)
            }
        }
    }
}

/// Returns a line about results whose largest difference from the published ones is `worst`.
///
/// # Errors
/// A message, if that is more than `most`.
fn as_published(numbers: &str, of: &str, worst: f32, most: f32) -> Result<String, String> {
    if worst <= most {
        return Ok(format!("its {numbers}{of} are as published, within {worst:.1e}"));
    }
    Err(format!("found {numbers} that differ from the published ones by {worst:.1e}; expected at most {most:e}"))
}
