//! A model's folder, looked at from all sides: its files, its tokenizer against its tensors, a pass of its own through
//! the engine, and published numbers where it is a model that others have computed with.

use super::folder::ModelFolder;
use super::known::of_sha256;
use super::load::Pretrained;
use super::refusal::quoted;
use crate::numerics::model::activations::Interventions;
use crate::numerics::model::{Activations, Sequences};

/// Findings, a line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    pub good: Vec<String>,
    pub faults: Vec<String>,
}

impl Findings {
    fn push(&mut self, found: Result<String, String>) {
        match found {
            Ok(line) => self.good.push(line),
            Err(line) => self.faults.push(line),
        }
    }
}

/// Examines a model that was read from this folder.
pub fn examine(folder: &ModelFolder, read: &Pretrained) -> Findings {
    let mut findings = Findings::default();
    findings.good.extend(read.files.iter().map(ToString::to_string));
    match folder.tokenizer_files() {
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

/// Every tensor of the engine has its shape in the files, or the model would not have been read.
fn tensors(read: &Pretrained) -> String {
    let skipped = &read.origins.skipped;
    let used = read.origins.of.values().map(|origin| &origin.tensor).collect::<std::collections::BTreeSet<_>>().len();
    let names: Vec<String> = skipped.iter().map(|name| quoted(name)).collect();
    let left = if names.is_empty() { String::new() } else { format!("; not used: {}", names.join(", ")) };
    let head = if read.has_head { "" } else { "; without a head for guesses" };
    format!("{used} tensors, all of the shapes of the config{left}{head}")
}

/// The tokenizer's pieces against the rows of the table.
fn tokenizer(folder: &ModelFolder) -> String {
    let rows = folder.config.vocabulary;
    let Some(tokenizer) = &folder.tokenizer else { return "no tokenizer: token ids stand for words".to_owned() };
    let nameless = (0..rows as u32).filter(|id| tokenizer.piece(*id).is_none()).count();
    let without = if nameless == 0 { String::new() } else { format!("; {nameless} rows have no piece") };
    format!("{} pieces of the tokenizer for {rows} rows of the table{without}", tokenizer.len())
}

/// A pass over words from all of the table: rows of weights sum to 1, no word sees what it must not, all numbers are
/// finite, and a second pass has the same bits.
fn pass(read: &Pretrained) -> Result<String, String> {
    /// Words of the pass.
    const TOKENS: usize = 16;
    /// How far a sum of weights may be from 1: roundings of a longer row.
    const TOLERANCE: f32 = 1e-5;
    let (rows, tokens) = (read.config.vocabulary, TOKENS.min(read.config.positions));
    let ids: Vec<usize> = (0..tokens).map(|i| i * rows / tokens).collect();
    let (model, sentence) = (read.model(), Sequences::one(&ids));
    let run = || Activations::of(&model, &read.parameters, &sentence, None, &Interventions::default());
    let (first, logits) = {
        let first = run();
        let logits = model.logits_of(&read.parameters, &first.output);
        (first, logits)
    };
    let all = first.blocks.iter().map(|block| block.output.flat()).chain([first.output.flat(), logits.flat()]);
    if let Some(layer) = all.into_iter().position(|numbers| !numbers.iter().all(|x| x.is_finite())) {
        return Err(format!("self-test: behind layer {} there is a number that is not finite", layer + 1));
    }
    let mut worst = 0f32;
    for (head, of) in first.heads().enumerate() {
        for query in 0..tokens {
            let row = of.weights.row(query);
            let off = (row.iter().sum::<f32>() - 1.0).abs();
            if off.is_nan() || off > TOLERANCE {
                return Err(format!("self-test: the weights of word {query} in head {head} sum to 1 ± {off:.1e}"));
            }
            let ahead = row[query + 1..].iter().any(|&weight| weight != 0.0);
            if read.config.causal && ahead {
                return Err(format!("self-test: word {query} in head {head} sees a word behind it"));
            }
            worst = worst.max(off);
        }
    }
    if run() != first {
        return Err("self-test: a second pass has other numbers than the first".to_owned());
    }
    let heads = first.heads().count();
    Ok(format!(
        "self-test: {tokens} words through {heads} heads: weights sum to 1 within {worst:.1e}, all numbers finite, \
         twice the same"
    ))
}
